//! Names of folders: what a provider or a trace is called on disk.
//!
//! A folder name keeps the spelling of what it stands for, except where a file system, a shell, a glob or a reader of
//! `key=value` folders would misread it. All rules depend on the name alone, so the same trace gets the same folders
//! everywhere; only two providers of one name look at each other.

use crate::words;
use std::cmp::Reverse;
use std::collections::HashMap;
use std::ffi::OsStr;
use std::fmt::Write as _;

use unicode_normalization::UnicodeNormalization;

use crate::guid::Guid;
use crate::readable::printable::{is_invisible, is_unsafe};

/// Names are cut to this many bytes, which leaves room for prefixes and suffixes within the 255 bytes of a file name.
const MAX_NAME_BYTES: usize = 120;

/// Characters with a meaning to globs, to Windows, or to the readers of `key=value` folders.
const SPECIAL: &str = "{}[]*?\\/:\"<>|%=";

/// Device names that Windows reserves in every folder, with any extension, in any case.
const RESERVED: [&str; 6] = ["CON", "PRN", "AUX", "NUL", "CONIN$", "CONOUT$"];

/// What parts an archive from its member in a `source`.
const MEMBER: &str = "!/";

/// Endings of what traces are packed in, which the stem of a name goes without.
const PACKED: [&str; 11] =
    [".etlgz", ".diagsession", ".zip", ".7z", ".cab", ".gz", ".gzip", ".zst", ".zstd", ".xz", ".bz2"];

/// Where a trace takes its name from (`--name-from`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum NameFrom {
    /// The file name without its extension.
    #[default]
    Stem,
    /// The path below the input named on the command line, without extension, with `/` as `.`.
    Path,
}

words! { NameFrom {
    Stem = "stem": "The file's name without its extension",
    Path = "path": "Its path below INPUT, with . for /",
} }

/// Makes any text safe as one folder or file name; what is safe already stays as it is.
///
/// Special and control characters, those that turn text around and those that nobody sees become `_xHH_` with their code in
/// hexadecimal, so do trailing dots and blanks (Windows drops them) and the first letter of a reserved Windows name. An over-long name is cut and gets `~` and 8 hexadecimal
/// digits of the BLAKE3 hash of the whole name.
///
/// ```
/// use etl2parquet_base::names::safe_name;
/// assert_eq!(safe_name("Microsoft-Windows-DNS-Client"), "Microsoft-Windows-DNS-Client");
/// assert_eq!(safe_name("a/b"), "a_x2F_b");
/// assert_eq!(safe_name("NUL"), "_x4E_UL");
/// ```
pub fn safe_name(name: &str) -> String {
    if is_cut(name) {
        return name.to_owned();
    }
    let body = name.trim_end_matches(['.', ' ']).len();
    let mut safe = String::with_capacity(name.len());
    for (at, c) in name.char_indices() {
        let first_of_reserved = at == 0 && is_reserved(name);
        if is_special(c) || at >= body || first_of_reserved {
            push_escaped(&mut safe, c);
        } else {
            safe.push(c);
        }
    }
    if safe.len() > MAX_NAME_BYTES {
        safe.truncate(char_boundary_up_to(&safe, MAX_NAME_BYTES));
        let _ = write!(safe, "~{}", short_hash(name));
    }
    safe
}

/// Whether a name is what [`safe_name`] leaves of an over-long one.
fn is_cut(name: &str) -> bool {
    let Some((stem, hash)) = name.rsplit_once('~').filter(|(stem, _)| stem.len() <= MAX_NAME_BYTES) else {
        return false;
    };
    let is_hash = hash.len() == 8 && hash.bytes().all(|byte| byte.is_ascii_hexdigit());
    // The last character may have taken several bytes.
    is_hash && name.len() > MAX_NAME_BYTES && stem.len() + 12 > MAX_NAME_BYTES && safe_name(stem) == stem
}

/// A name of the file system as text: bytes that are no UTF-8 become `_xHH_`, so that names that differ in them stay apart.
pub fn text_of(name: &OsStr) -> String {
    let mut text = String::new();
    for chunk in name.as_encoded_bytes().utf8_chunks() {
        text.push_str(chunk.valid());
        chunk.invalid().iter().for_each(|byte| push_escaped_code(&mut text, (*byte).into()));
    }
    text
}

/// 8 hexadecimal digits that distinguish a text from others.
pub fn short_hash(text: &str) -> String {
    blake3::hash(text.as_bytes()).to_hex()[..8].to_owned()
}

/// What a dataset may be called.
#[derive(Clone, Copy, Debug)]
pub struct Naming<'a> {
    /// The provider, if it is one.
    pub guid: Option<Guid>,
    /// Its name, if anything names it.
    pub name: Option<&'a str>,
    /// Its right to the name.
    pub claim: Claim,
    /// Whether the name is another provider's, be it there or not: then this one cannot keep it.
    pub is_anothers: bool,
}

/// Who keeps a name that several providers have: the greatest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Claim {
    /// By what right.
    pub right: Right,
    /// Events with this name in the trace.
    pub events: u64,
}

/// Why a provider is called what it is called.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Right {
    /// The trace says so.
    Claimed,
    /// It is registered under the name.
    Registered,
    /// A lock says so.
    Locked,
    /// The name is one of this program's own.
    Own,
}

/// The dataset (folder) names of all providers of a trace, in the order given.
///
/// Without a name (or with an empty one) a provider is called by its GUID in lower case. Of providers whose names agree,
/// ignoring case, the one with the greatest claim keeps the name, of equal claims that of the lowest GUID; the others get
/// `~` and the first 8 digits of their GUID; should that not part them, the whole GUID, and finally their position. Every
/// returned name is unique ignoring case.
pub fn dataset_names(providers: &[Naming<'_>]) -> Vec<String> {
    let lowest = |i: usize| Reverse((providers[i].guid, i));
    let detail = providers.iter().map(|provider| u8::from(provider.is_anothers)).collect();
    unique(providers, detail, detailed_name, |same| {
        same.iter().copied().max_by_key(|&i| (providers[i].claim, lowest(i)))
    })
}

/// The folder names of all events of a provider, in the order given: each has a name and what distinguishes it from another
/// event of that name. Names that agree, ignoring case, get `~` and the latter; should that not part them, the position
/// too.
pub fn event_names(events: &[(String, String)]) -> Vec<String> {
    let name = |position: usize, (name, suffix): &(String, String), detail| match detail {
        0 => safe_name(name),
        1 => format!("{}~{suffix}", safe_name(name)),
        _ => format!("{}~{suffix}~{position}", safe_name(name)),
    };
    unique(events, vec![0; events.len()], name, |_| None)
}

/// Gives every item a name with as little detail as it takes for all to be unique ignoring case. Of those that want the
/// same name without detail, `keeper` names the one that keeps it, if any does. `detail` is what each has at least.
fn unique<T>(
    items: &[T],
    mut detail: Vec<u8>,
    name: impl Fn(usize, &T, u8) -> String,
    keeper: impl Fn(&[usize]) -> Option<usize>,
) -> Vec<String> {
    loop {
        let names: Vec<String> =
            items.iter().zip(&detail).enumerate().map(|(i, (item, &d))| name(i, item, d)).collect();
        let mut of_name: HashMap<String, Vec<usize>> = HashMap::new();
        for (i, name) in names.iter().enumerate() {
            of_name.entry(folded(name)).or_default().push(i);
        }
        let mut settled = true;
        for same in of_name.into_values().filter(|same| same.len() > 1) {
            let plain: Vec<usize> = same.iter().copied().filter(|&i| detail[i] == 0).collect();
            let others = same.iter().any(|&i| 0 < detail[i] && detail[i] < MAX_DETAIL) || plain.len() > 1;
            // Where no other can give way, the keeper does.
            let kept = if others { keeper(&plain) } else { None };
            for i in same.into_iter().filter(|&i| Some(i) != kept) {
                settled &= detail[i] == MAX_DETAIL;
                detail[i] = (detail[i] + 1).min(MAX_DETAIL);
            }
        }
        if settled {
            return names;
        }
    }
}

/// The highest level of detail of a unique name.
const MAX_DETAIL: u8 = 3;

/// A provider's folder name with as much of its identity as it takes to be unique.
fn detailed_name(position: usize, &Naming { guid, name, .. }: &Naming<'_>, detail: u8) -> String {
    let guid = guid.unwrap_or(Guid::ZERO).to_string();
    let base = match name {
        Some(name) if !name.is_empty() => safe_name(name),
        _ => guid.clone(),
    };
    match detail {
        0 => base,
        1 => format!("{base}~{}", &guid[..8]),
        2 => format!("{base}~{guid}"),
        _ => format!("{base}~{guid}~{position}"),
    }
}

/// The name of the trace that an input becomes; `source` is its path below the input named on the command line, with
/// `/` between the parts, and with `!/` before the path of a member in its archive. A trace that is alone in its archive
/// has its own name, in a `.diagsession`, where all have the same, that of the archive; see [`trace_name_of_several`].
///
/// ```
/// use etl2parquet_base::names::{NameFrom, trace_name};
/// assert_eq!(trace_name("lab1/boot.etl", NameFrom::Stem), "boot");
/// assert_eq!(trace_name("lab1/boot.etl", NameFrom::Path), "lab1.boot");
/// assert_eq!(trace_name("2026-11-20.etl", NameFrom::Stem), "t_2026-11-20");
/// assert_eq!(trace_name("lab1/all.zip!/x/boot.etl", NameFrom::Stem), "boot");
/// ```
pub fn trace_name(source: &str, from: NameFrom) -> String {
    match (source.split_once(MEMBER), from) {
        (Some((archive, _)), NameFrom::Stem) if ends_with(archive, ".diagsession") => trace_name(archive, from),
        (Some((_, member)), NameFrom::Stem) => checked_trace_name(&plain_name(member, from)),
        (Some(_), NameFrom::Path) => trace_name_of_several(source, from),
        (None, _) => checked_trace_name(&plain_name(source, from)),
    }
}

/// The name of a trace of which its archive holds more than one: that of the archive and its own.
///
/// ```
/// use etl2parquet_base::names::{NameFrom, trace_name_of_several};
/// assert_eq!(trace_name_of_several("lab1/all.zip!/x/boot.etl", NameFrom::Stem), "all.boot");
/// assert_eq!(trace_name_of_several("lab1/all.zip!/x/boot.etl", NameFrom::Path), "lab1.all.x.boot");
/// ```
pub fn trace_name_of_several(source: &str, from: NameFrom) -> String {
    let parts = source.splitn(2, MEMBER).map(|part| plain_name(part, from));
    checked_trace_name(&parts.collect::<Vec<_>>().join("."))
}

/// The name that a path gives.
fn plain_name(source: &str, from: NameFrom) -> String {
    let source = source.trim_matches('/');
    match from {
        NameFrom::Stem => stem(source.rsplit('/').next().unwrap_or(source)),
        NameFrom::Path => stem(source).replace('/', "."),
    }
}

/// Whether a file is called like a trace: `*.etl`, or one of a series, `*.etl.003` or `*.etl.merged`.
pub fn is_trace_name(name: &str) -> bool {
    ends_with(name, ".etl") || of_series(name).is_some()
}

/// Whether a file is called like a tar archive, compressed or not.
pub fn is_tar_name(name: &str) -> bool {
    let stem = PACKED.iter().find_map(|ending| without(name, ending)).unwrap_or(name);
    [".tar", ".tgz", ".tbz2", ".txz", ".tzst"].iter().any(|ending| ends_with(stem, ending))
}

/// Whether a file is called like something that traces are packed in.
pub fn is_packed_name(name: &str) -> bool {
    PACKED.iter().any(|ending| ends_with(name, ending))
}

/// The stem of a series and what distinguishes its members.
fn of_series(name: &str) -> Option<(&str, &str)> {
    let (stem, member) = name.rsplit_once('.')?;
    let is_member = member.eq_ignore_ascii_case("merged")
        || (!member.is_empty() && member.bytes().all(|byte| byte.is_ascii_digit()));
    Some((without(stem, ".etl")?, member)).filter(|_| is_member)
}

fn ends_with(name: &str, ending: &str) -> bool {
    without(name, ending).is_some()
}

/// A name without an ending, in any case of it.
fn without<'a>(name: &'a str, ending: &str) -> Option<&'a str> {
    let (stem, tail) = name.split_at_checked(name.len().checked_sub(ending.len())?)?;
    tail.eq_ignore_ascii_case(ending).then_some(stem)
}

/// A trace name given by the user (`--merge`) made safe: as [`safe_name`], with the prefix `t_` when a reader of
/// `trace=<name>` would take it for a number, a date or NULL.
pub fn checked_trace_name(name: &str) -> String {
    safe_name(&if reads_as_a_value(name) { format!("t_{name}") } else { name.to_owned() })
}

/// What two names of folders are compared by: case does not count on Windows and macOS, nor on macOS whether an accent is a
/// character of its own.
///
/// ```
/// use etl2parquet_base::names::folded;
/// assert_eq!(folded("Lab"), folded("LAB"));
/// // Capitals first: a letter may have two small forms.
/// assert_eq!(folded("ΛΟΓΟΣ"), folded("λογος"));
/// assert_eq!(folded("\u{E9}"), folded("E\u{301}"));
/// ```
pub fn folded(name: &str) -> String {
    // Character by character, as file systems do: a sigma at the end of a word is none to them.
    name.nfd().flat_map(char::to_uppercase).flat_map(char::to_lowercase).nfd().collect()
}

/// Whether the name can be one part of a path as it is: not empty, no special or control characters.
pub fn is_safe_component(name: &str) -> bool {
    !name.is_empty() && !name.contains(is_special)
}

/// Whether a path with `/` between its parts stays below whatever it is joined to, on every system.
pub fn stays_below(path: &str) -> bool {
    path.split('/').all(|part| is_safe_component(part) && part != "." && part != "..")
}

/// The file name without the endings of a trace and of what it may be packed in; members of a series keep what distinguishes
/// them.
fn stem(name: &str) -> String {
    let packed = PACKED.iter().find_map(|ending| without(name, ending));
    let name = packed.unwrap_or(name);
    match (without(name, ".etl"), of_series(name)) {
        (Some(stem), _) => stem.to_owned(),
        (None, Some((stem, member))) => format!("{stem}.{member}"),
        (None, None) if packed.is_some() => name.to_owned(),
        (None, None) => name.rsplit_once('.').map_or(name, |(stem, _)| stem).to_owned(),
    }
}

/// Whether `DuckDB` or Spark, which guess the type of a `key=value` folder, could see anything but text in the value.
///
/// Wider than either of them: whatever begins like a number and holds nothing but digits, blanks, number and date
/// punctuation and the letters that occur in numbers and time stamps; and the special words of both.
fn reads_as_a_value(name: &str) -> bool {
    const WORDS: [&str; 6] = ["nan", "inf", "infinity", "epoch", "null", "__hive_default_partition__"];
    let text = name.trim().to_lowercase();
    let unsigned = text.trim_start_matches(['+', '-']);
    if unsigned.is_empty() || WORDS.contains(&unsigned) {
        return true;
    }
    let begins = unsigned.starts_with(|c: char| c.is_numeric() || c == '.');
    begins && unsigned.chars().all(|c| c.is_numeric() || " +-._,:()tzutcbcxedflh".contains(c))
}

/// Whether Windows takes the name for a device: a reserved word, alone or before the first dot.
fn is_reserved(name: &str) -> bool {
    let word = name.split('.').next().unwrap_or_default().trim_end().to_uppercase();
    let port = word.strip_prefix("COM").or_else(|| word.strip_prefix("LPT"));
    let is_port = port.is_some_and(|p| {
        let mut digits = p.chars();
        digits.next().is_some_and(|c| c.is_ascii_digit() || "¹²³".contains(c)) && digits.next().is_none()
    });
    is_port || RESERVED.contains(&word.as_str())
}

/// Whether a character stands in no folder name as it is.
fn is_special(c: char) -> bool {
    is_unsafe(c) || is_invisible(c) || SPECIAL.contains(c)
}

fn push_escaped(out: &mut String, c: char) {
    push_escaped_code(out, u32::from(c));
}

fn push_escaped_code(out: &mut String, code: u32) {
    // Writing to a string cannot fail.
    let _ = write!(out, "_x{code:02X}_");
}

/// The last character boundary at or before `index`; `str::floor_char_boundary` is newer than the oldest Rust this
/// crate builds on.
fn char_boundary_up_to(text: &str, index: usize) -> usize {
    (0..=index.min(text.len())).rev().find(|&at| text.is_char_boundary(at)).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn what_turns_text_around_or_is_not_seen_is_written_out() {
        assert_eq!(safe_name("a\u{202E}lte"), "a_x202E_lte");
        assert_eq!(safe_name("z\u{200B}z\u{FEFF}"), "z_x200B_z_xFEFF_");
        assert_eq!(safe_name("größe é"), "größe é");
    }

    #[cfg(unix)]
    #[test]
    fn names_that_differ_in_bytes_that_are_no_text_stay_apart() {
        use std::os::unix::ffi::OsStrExt;

        let text = |bytes: &[u8]| text_of(OsStr::from_bytes(bytes));
        assert_eq!(text(b"a\xFF.etl"), "a_xFF_.etl");
        assert_eq!(text(b"a\xFE\xC3.etl"), "a_xFE__xC3_.etl");
        assert_eq!(text("größe.etl".as_bytes()), "größe.etl");
    }

    #[test]
    fn tar_archives_are_known_by_their_names() {
        for name in ["a.tar", "a.TAR.gz", "a.tgz", "a.tar.zst", "a.etl.tar"] {
            assert!(is_tar_name(name), "{name}");
        }
        assert!(!is_tar_name("tar.gz") && !is_tar_name("a.etl.gz"));
    }

    #[test]
    fn names_are_safe_and_otherwise_keep_their_spelling() {
        let t = |name: &str, expected: &str| assert_eq!(safe_name(name), expected, "{name:?}");
        t("Microsoft-Windows-DNS-Client", "Microsoft-Windows-DNS-Client");
        t(".NET Common Language Runtime", ".NET Common Language Runtime");
        t("Ünïcode 名前", "Ünïcode 名前");
        t("{}[]*?", "_x7B__x7D__x5B__x5D__x2A__x3F_");
        t("\\/:\"<>|%=", "_x5C__x2F__x3A__x22__x3C__x3E__x7C__x25__x3D_");
        t("a\0b\n\u{7f}\u{85}", "a_x00_b_x0A__x7F__x85_");
        t("dots..", "dots_x2E__x2E_");
        t("blank ", "blank_x20_");
        t(" .x", " .x");
        t("..", "_x2E__x2E_");
        t("CON", "_x43_ON");
        t("nul.txt", "_x6E_ul.txt");
        t("Com1", "_x43_om1");
        t("LPT²", "_x4C_PT²");
        t("COM", "COM");
        t("COM10", "COM10");
        t("CONSOLE", "CONSOLE");
    }

    #[test]
    fn an_over_long_name_is_cut_and_has_its_hash() {
        let (a, b) = (safe_name(&("é".repeat(100) + "a")), safe_name(&("é".repeat(100) + "b")));
        assert_ne!(a, b);
        for name in [&a, &b] {
            let (cut, hash) = name.rsplit_once('~').unwrap();
            assert_eq!(cut, "é".repeat(60));
            assert_eq!(hash.len(), 8);
        }
        assert_eq!(safe_name(&"a".repeat(120)), "a".repeat(120));
        assert_eq!(safe_name(&"a".repeat(121)).len(), 129);
    }

    fn guid(first: u32) -> Guid {
        Guid::from_parts(first, 0x89ab, 0xcdef, 0x0123_4567_89ab_cdef)
    }

    #[test]
    fn providers_of_one_name_are_distinguished_by_guid() {
        let t = |providers: &[(Option<Guid>, Option<&str>)], expected: &[&str]| {
            assert_eq!(named(providers), expected);
        };
        t(&[(Some(guid(1)), Some("A")), (Some(guid(2)), Some("B"))], &["A", "B"]);
        t(
            &[(Some(guid(0xABC)), None), (Some(guid(2)), Some(""))],
            &["00000abc-89ab-cdef-0123-456789abcdef", "00000002-89ab-cdef-0123-456789abcdef"],
        );
        t(
            &[(Some(guid(1)), Some("Foo")), (Some(guid(2)), Some("bar")), (Some(guid(3)), Some("FOO"))],
            &["Foo", "bar", "FOO~00000003"],
        );
        // An escaped name that meets a plain one.
        t(&[(Some(guid(1)), Some("a/b")), (Some(guid(2)), Some("a_x2F_b"))], &["a_x2F_b", "a_x2F_b~00000002"]);
    }

    fn named(providers: &[(Option<Guid>, Option<&str>)]) -> Vec<String> {
        let claim = Claim { right: Right::Claimed, events: 1 };
        let naming = |&(guid, name): &(Option<Guid>, _)| Naming { guid, name, claim, is_anothers: false };
        dataset_names(&providers.iter().map(naming).collect::<Vec<_>>())
    }

    #[test]
    fn the_greatest_claim_keeps_the_name() {
        use Right::{Claimed, Own, Registered};
        let t = |claims: [(Right, u64); 3], expected: [&str; 3]| {
            let naming = |(number, (right, events))| Naming {
                guid: Some(guid(number)),
                name: Some("A"),
                claim: Claim { right, events },
                is_anothers: false,
            };
            assert_eq!(dataset_names(&(1..).zip(claims).map(naming).collect::<Vec<_>>()), expected);
        };
        t([(Claimed, 1), (Claimed, 9), (Claimed, 9)], ["A~00000001", "A", "A~00000003"]);
        t([(Claimed, 9), (Registered, 1), (Claimed, 9)], ["A~00000001", "A", "A~00000003"]);
        t([(Claimed, 9), (Registered, 1), (Own, 0)], ["A~00000001", "A~00000002", "A"]);
    }

    #[test]
    fn no_names_can_be_chosen_to_meet() {
        let twin = Guid::from_parts(1, 0, 0, 0);
        let names = named(&[
            (Some(guid(1)), Some("x")),
            (Some(twin), Some("X")),
            (Some(guid(5)), Some("x~00000001")),
            (None, Some("WPP")),
            (None, Some("wpp")),
        ]);
        assert_eq!(names, ["x~00000001-89ab-cdef-0123-456789abcdef", "X", "x~00000001", "WPP", "wpp~00000000",]);
    }

    #[test]
    fn events_of_one_name_are_distinguished() {
        let t = |events: &[(&str, &str)], expected: &[&str]| {
            let events: Vec<_> = events.iter().map(|&(name, suffix)| (name.to_owned(), suffix.to_owned())).collect();
            assert_eq!(event_names(&events), expected);
        };
        t(&[("Start", "1"), ("Stop", "2")], &["Start", "Stop"]);
        t(&[("Start", "1"), ("START", "2"), ("Stop", "3")], &["Start~1", "START~2", "Stop"]);
        t(&[("Start", "1"), ("start", "2"), ("Start~1", "4")], &["Start~1~0", "start~2", "Start~1~4"]);
        t(&[("Start", "1"), ("Start", "1")], &["Start~1~0", "Start~1~1"]);
        t(&[("a?", "1")], &["a_x3F_"]);
        t(&[("\u{C5}", "1"), ("a\u{30A}", "2"), ("\u{212B}", "3")], &["\u{C5}~1", "a\u{30A}~2", "\u{212B}~3"]);
    }

    #[test]
    fn a_trace_is_called_by_its_stem_or_path() {
        let t = |source: &str, stem: &str, path: &str| {
            assert_eq!(trace_name(source, NameFrom::Stem), stem, "{source}");
            assert_eq!(trace_name(source, NameFrom::Path), path, "{source}");
        };
        t("boot.etl", "boot", "boot");
        t("lab/day.1/boot.ETL", "boot", "lab.day.1.boot");
        t("x/a.etl.zip", "a", "x.a");
        t("x/a.etlgz", "a", "x.a");
        t("a.b.diagsession", "a.b", "a.b");
        t("trace.001", "trace", "trace");
        t("x/a.etl.003", "a.003", "x.a.003");
        t("a.ETL.merged", "a.merged", "a.merged");
        t("a.etl.002.gz", "a.002", "a.002");
        t("a_000001.etl", "a_000001", "a_000001");
        t("x/a.zip!/y/b.etl", "b", "x.a.y.b");
        t("x/a.diagsession!/y/data.etl", "a", "x.a.y.data");
        t("plain", "plain", "plain");
        t("a=b.etl", "a_x3D_b", "a_x3D_b");
        t("7/8.etl", "t_8", "t_7.8");
        t(".etl", "t_", "t_");
    }

    #[test]
    fn traces_of_one_archive_are_called_after_it_too() {
        let t = |source: &str, stem: &str, path: &str| {
            assert_eq!(trace_name_of_several(source, NameFrom::Stem), stem, "{source}");
            assert_eq!(trace_name_of_several(source, NameFrom::Path), path, "{source}");
        };
        t("x/a.etl.zip!/y/b.etl.001", "a.b.001", "x.a.y.b.001");
        t("x/a.diagsession!/y/data.etl", "a.data", "x.a.y.data");
        t("1.zip!/2.etl", "t_1.2", "t_1.2");
    }

    #[test]
    fn traces_and_containers_are_known_by_their_endings() {
        let t = |name: &str, expected: (bool, bool)| {
            assert_eq!((is_trace_name(name), is_packed_name(name)), expected, "{name}");
        };
        t("a.etl", (true, false));
        t("A.ETL.002", (true, false));
        t("a.etl.merged", (true, false));
        t("a.etl.txt", (false, false));
        t("a.etl.", (false, false));
        t("a.etlgz", (false, true));
        t("a.Cab", (false, true));
        t("a.json.gz", (false, true));
        t("ü", (false, false));
    }

    #[test]
    fn a_trace_name_is_never_a_number_a_date_or_null() {
        let as_value = [
            "123",
            "007",
            "+5",
            "-5",
            "1.5",
            ".5",
            "5.",
            "1e5",
            "1E400",
            "NaN",
            "-inf",
            "Infinity",
            "2026-11-20",
            "2026-11",
            "2026 11 20",
            "2026.11.20",
            "20261120T101010Z",
            "2026-11-20 (BC)",
            "epoch",
            "NULL",
            "12 ",
            "1_000",
            "٣",
            "0x10",
            "__HIVE_DEFAULT_PARTITION__",
            "",
            "7d",
            "2026-11-20 10_20",
        ];
        for name in as_value {
            assert!(checked_trace_name(name).starts_with("t_"), "{name:?}");
        }
        for name in ["boot", "2026-11-20-boot", "5_machines", "null2", "t_5", "info", "v1.5"] {
            assert_eq!(checked_trace_name(name), name);
        }
    }

    proptest! {
        #[test]
        fn safe_names_stay_safe(name in any::<String>()) {
            let safe = safe_name(&name);
            prop_assert!(!safe.contains(is_special));
            prop_assert!(!safe.ends_with(['.', ' ']) && safe.len() <= MAX_NAME_BYTES + 9);
            if safe.len() <= MAX_NAME_BYTES {
                prop_assert_eq!(safe_name(&safe), safe);
            }
        }

        #[test]
        fn dataset_names_are_unique_ignoring_case(names in prop::collection::vec("[aAb/~]{0,3}", 0..12)) {
            let providers: Vec<_> = (0u32..).zip(&names).map(|(i, n)| (Some(guid(i % 3)), Some(n.as_str()))).collect();
            let mut folded: Vec<_> = named(&providers).iter().map(|n| folded(n)).collect();
            folded.sort();
            folded.dedup();
            prop_assert_eq!(folded.len(), names.len());
        }
    }
}
