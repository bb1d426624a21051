//! From what was typed as INPUT to files, and from files to recordings.

use std::collections::{HashMap, HashSet};
use std::ffi::{OsStr, OsString};
use std::fs;
use std::path::{Component, Path, PathBuf};

use glob::MatchOptions;

use crate::convert::job::{InputFile, Recording};
use crate::error::{Error, ErrorKind, Result};
use crate::names::{NameFrom, checked_trace_name, fold_case, trace_name};

/// What the inputs of a command line stand for.
#[derive(Debug, Default)]
pub(super) struct Found {
    /// The files, each once, sorted by `source`, then by path.
    pub inputs: Vec<InputFile>,
    /// Inputs that lead nowhere.
    pub problems: Vec<Error>,
    /// What looks like a trace and was not taken: once for every folder.
    pub notes: Vec<String>,
}

/// Finds the files behind the inputs.
pub(super) fn find(arguments: &[OsString]) -> Found {
    let mut found = Found::default();
    for argument in arguments {
        match list_of(argument) {
            Some(list) => found.add_list(&list),
            None => found.add(argument),
        }
    }
    found.inputs.sort_by(|a, b| (&a.source, &a.path).cmp(&(&b.source, &b.path)));
    let mut seen = HashSet::new();
    found.inputs.retain(|input| seen.insert(fs::canonicalize(&input.path).unwrap_or_else(|_| input.path.clone())));
    found
}

/// The path behind `@`.
fn list_of(argument: &OsStr) -> Option<PathBuf> {
    let path = Path::new(argument);
    let rest = path.to_str()?.strip_prefix('@')?;
    Some(PathBuf::from(rest))
}

impl Found {
    /// A file that names one input per line; blank lines and those that begin with `#` say nothing.
    fn add_list(&mut self, list: &Path) {
        let text = match fs::read(list) {
            Ok(bytes) => decode(&bytes),
            Err(cause) => return self.problems.push(unreadable(list, cause)),
        };
        let Some(text) = text else {
            return self.problems.push(nothing("the list is neither UTF-8 nor UTF-16 text", list));
        };
        let mut lines =
            text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#')).peekable();
        if lines.peek().is_none() {
            self.problems.push(nothing("this list names no inputs", list));
        }
        for line in lines {
            if line.starts_with('@') {
                self.problems.push(nothing(&format!("a list cannot name another list: {line}"), list));
            } else {
                self.add(OsStr::new(line));
            }
        }
    }

    /// A file or folder if there is one of this name, else a pattern.
    fn add(&mut self, argument: &OsStr) {
        let path = Path::new(argument);
        if path.is_dir() {
            return self.add_folder(path, path);
        }
        if let Some(scheme) = url_scheme(path).filter(|_| !path.exists()) {
            let error = nothing(&format!("{scheme} addresses cannot be read"), path);
            return self.problems.push(error.with_hint("bring the trace to this system first"));
        }
        match argument.to_str().filter(|text| !path.exists() && text.contains(['*', '?', '['])) {
            Some(pattern) => self.add_pattern(pattern),
            None if path.exists() => self.push(path, path.parent().unwrap_or(Path::new(""))),
            None => self.problems.push(nothing("there is no such file or folder", path)),
        }
    }

    /// All traces below a folder; their names are relative to `base`.
    fn add_folder(&mut self, folder: &Path, base: &Path) {
        let before = (self.inputs.len(), self.problems.len());
        self.add_below(folder, base);
        if before == (self.inputs.len(), self.problems.len()) {
            self.problems.push(nothing("there is no .etl file in this folder", folder));
        }
    }

    /// Those of a folder, in which there need be none.
    fn add_below(&mut self, folder: &Path, base: &Path) {
        let mut passed = PassedOver::default();
        self.walk(folder, base, &mut passed);
        self.notes.extend(passed.note(folder));
    }

    /// Links to folders are not followed, so the walk ends.
    fn walk(&mut self, folder: &Path, base: &Path, passed: &mut PassedOver) {
        let entries = match fs::read_dir(folder) {
            Ok(entries) => entries,
            Err(cause) => return self.problems.push(unreadable(folder, cause)),
        };
        for entry in entries {
            match entry.and_then(|entry| Ok((entry.path(), entry.file_type()?))) {
                Ok((path, kind)) if kind.is_dir() => self.walk(&path, base, passed),
                Ok((path, _)) if is_trace(&path) => match fs::metadata(&path) {
                    Ok(found) if found.is_file() => self.push(&path, base),
                    Ok(_) => {}
                    Err(cause) => self.problems.push(unreadable(&path, cause)),
                },
                Ok((path, _)) => passed.look_at(&path),
                Err(cause) => self.problems.push(unreadable(folder, cause)),
            }
        }
    }

    fn add_pattern(&mut self, pattern: &str) {
        let options = MatchOptions {
            case_sensitive: cfg!(not(windows)),
            require_literal_separator: true,
            require_literal_leading_dot: false,
        };
        let matches = match glob::glob_with(pattern, options) {
            Ok(matches) => matches,
            Err(cause) => {
                let error = nothing("this is no valid pattern", Path::new(pattern));
                return self.problems.push(error.caused_by(cause));
            }
        };
        let base = base_of(pattern);
        let before = (self.inputs.len(), self.problems.len());
        for path in matches {
            match path {
                Ok(path) if path.is_dir() => self.add_below(&path, &base),
                Ok(path) => self.push(&path, &base),
                Err(cause) => {
                    let folder = cause.path().to_owned();
                    self.problems.push(unreadable(&folder, cause.into()));
                }
            }
        }
        if before == (self.inputs.len(), self.problems.len()) {
            self.problems.push(nothing("nothing matches this pattern", Path::new(pattern)));
        }
    }

    fn push(&mut self, path: &Path, base: &Path) {
        self.inputs.push(InputFile { path: path.to_owned(), source: relative(path, base) });
    }
}

/// Files of a folder that hold traces and are not named `*.etl`.
#[derive(Debug, Default)]
struct PassedOver {
    count: usize,
    named: Vec<String>,
}

impl PassedOver {
    /// Names that are told; the rest is a number.
    const NAMED: usize = 3;

    fn look_at(&mut self, path: &Path) {
        let Some(name) = path.file_name().map(OsStr::to_string_lossy).filter(|name| may_hold_trace(name)) else {
            return;
        };
        self.count += 1;
        // In any order of the folder the same ones.
        let place = self.named.partition_point(|named| named.as_str() < &*name);
        self.named.insert(place, name.into_owned());
        self.named.truncate(Self::NAMED);
    }

    fn note(&self, folder: &Path) -> Option<String> {
        let more = self.count.checked_sub(self.named.len()).filter(|more| *more > 0);
        let more = more.map_or(String::new(), |more| format!(" and {more} more"));
        let (folder, count, named) = (folder.display(), self.count, self.named.join(", "));
        (count > 0).then(|| {
            format!(
                "{folder}: files that may hold traces and are not called .etl are passed over: {named}{more} (name files \
                 of a series as INPUT, unpack archives)"
            )
        })
    }
}

/// Members of a series (`a.etl.003`), what `merge` tools write, and containers of traces.
fn may_hold_trace(name: &str) -> bool {
    const CONTAINERS: [&str; 9] =
        [".diagsession", ".etlgz", ".zip", ".7z", ".cab", ".etl.gz", ".etl.zst", ".etl.xz", ".etl.bz2"];
    let name = name.to_ascii_lowercase();
    let is_member =
        |number: &str| number == "merged" || (!number.is_empty() && number.bytes().all(|c| c.is_ascii_digit()));
    name.rsplit_once(".etl.").is_some_and(|(_, number)| is_member(number))
        || CONTAINERS.iter().any(|ending| name.ends_with(ending))
}

/// The `s3` of `s3://…`. One letter may be a drive.
fn url_scheme(path: &Path) -> Option<&str> {
    let (scheme, _) = path.to_str()?.split_once("://")?;
    let is_scheme = scheme.len() > 1 && scheme.bytes().all(|c| c.is_ascii_alphanumeric() || b"+-.".contains(&c));
    is_scheme.then_some(scheme)
}

/// Refuses an output folder that is an address, for which a folder `s3:` would be made here.
///
/// # Errors
/// [`ErrorKind::Usage`].
pub(super) fn check_no_url(output: &Path) -> Result<()> {
    let Some(scheme) = url_scheme(output) else { return Ok(()) };
    let message = format!("expected a folder of this system, found an {scheme} address");
    let hint = "convert into a folder and copy it there";
    Err(Error::new(ErrorKind::Usage, message).in_file(output).with_hint(hint))
}

/// Text in UTF-8, or in UTF-16 with the mark that Windows tools put before it.
fn decode(bytes: &[u8]) -> Option<String> {
    match bytes {
        [0xFF, 0xFE, rest @ ..] => utf16(rest, u16::from_le_bytes),
        [0xFE, 0xFF, rest @ ..] => utf16(rest, u16::from_be_bytes),
        [0xEF, 0xBB, 0xBF, rest @ ..] => String::from_utf8(rest.to_owned()).ok(),
        _ => String::from_utf8(bytes.to_owned()).ok(),
    }
}

fn utf16(bytes: &[u8], unit: fn([u8; 2]) -> u16) -> Option<String> {
    let (pairs, rest) = bytes.as_chunks::<2>();
    let units: Vec<u16> = pairs.iter().map(|pair| unit(*pair)).collect();
    String::from_utf16(&units).ok().filter(|_| rest.is_empty())
}

fn is_trace(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("etl"))
}

/// The folders of a pattern before the first part with a wildcard.
fn base_of(pattern: &str) -> PathBuf {
    let plain = |part: &Component<'_>| !part.as_os_str().to_string_lossy().contains(['*', '?', '[']);
    Path::new(pattern).components().take_while(plain).collect()
}

/// The path below `base`, with `/`; the file's name where it does not lie below.
fn relative(path: &Path, base: &Path) -> String {
    let parts = |path: &Path| {
        let parts = path.components().filter(|part| *part != Component::CurDir);
        parts.map(|part| part.as_os_str().to_owned()).collect::<PathBuf>()
    };
    let (path, base) = (parts(path), parts(base));
    let below = match path.strip_prefix(&base) {
        Ok(below) => below,
        Err(_) => path.file_name().map_or(path.as_path(), Path::new),
    };
    let names: Vec<_> = below.iter().map(OsStr::to_string_lossy).collect();
    names.join("/")
}

fn nothing(message: &str, path: &Path) -> Error {
    Error::new(ErrorKind::Input, message).in_file(path)
}

fn unreadable(path: &Path, cause: std::io::Error) -> Error {
    Error::new(ErrorKind::Input, "cannot be read").in_file(path).caused_by(cause)
}

/// Files of one recording; rows say by a number of 16 bits which one they are from.
const MOST_MERGED: usize = 1 << 16;

/// One recording per file, or with a name for the merged recording one of all files. Files whose recordings would have
/// the same name, ignoring case, are none; each such name is an error.
///
/// # Errors
/// [`ErrorKind::Usage`] when the merged recording would have too many files.
pub(super) fn jobs(
    inputs: Vec<InputFile>,
    merge: Option<&str>,
    name_from: NameFrom,
) -> Result<(Vec<Recording>, Vec<Error>)> {
    match merge {
        Some(_) if inputs.is_empty() => return Ok((Vec::new(), Vec::new())),
        Some(_) if inputs.len() > MOST_MERGED => {
            let message = format!("expected at most {MOST_MERGED} files in one recording, found {}", inputs.len());
            return Err(Error::new(ErrorKind::Usage, message).with_hint("merge parts of them"));
        }
        Some(name) => return Ok((vec![Recording { name: checked_trace_name(name), inputs }], Vec::new())),
        None => {}
    }
    let mut names: Vec<String> = Vec::new();
    let mut of_name: HashMap<String, Vec<Recording>> = HashMap::new();
    for job in separate_jobs(inputs, name_from) {
        let name = fold_case(&job.name);
        let jobs = of_name.entry(name.clone()).or_default();
        if jobs.is_empty() {
            names.push(name);
        }
        jobs.push(job);
    }
    let (mut jobs, mut clashes) = (Vec::new(), Vec::new());
    for name in names {
        match of_name.remove(&name).unwrap_or_default() {
            of_name if of_name.len() > 1 => clashes.push(same_name(&of_name, name_from)),
            of_name => jobs.extend(of_name),
        }
    }
    Ok((jobs, clashes))
}

/// One recording per file, whatever their names.
pub(super) fn separate_jobs(inputs: Vec<InputFile>, name_from: NameFrom) -> Vec<Recording> {
    let job = |input: InputFile| Recording { name: trace_name(&input.source, name_from), inputs: vec![input] };
    inputs.into_iter().map(job).collect()
}

fn same_name(jobs: &[Recording], name_from: NameFrom) -> Error {
    let paths = jobs.iter().flat_map(|job| &job.inputs).map(|input| input.path.display().to_string());
    let mut named: Vec<String> = paths.take(SHOWN_CLASHING).collect();
    let more = jobs.len() - named.len();
    if more > 0 {
        named.push(format!("{more} more"));
    }
    let last = named.pop().unwrap_or_default();
    let name = jobs.first().map_or("", |job| &job.name);
    let message = format!("{} and {last} would all become trace={name}: none of them is converted", named.join(", "));
    Error::new(ErrorKind::Usage, message).with_hint(match name_from {
        NameFrom::Stem => {
            "use --name-from path to name traces after their paths, or --merge NAME to make them one trace"
        }
        NameFrom::Path => "name one folder above them as INPUT, convert them apart, or use --merge NAME for one trace",
    })
}

/// Inputs of one name that are told; the rest is a number.
const SHOWN_CLASHING: usize = 4;

#[cfg(test)]
mod tests {
    use super::*;

    /// A folder with empty files.
    fn folder(files: &[&str]) -> tempfile::TempDir {
        let root = tempfile::tempdir().unwrap();
        for file in files {
            let path = root.path().join(file);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "").unwrap();
        }
        root
    }

    fn find_in(root: &tempfile::TempDir, arguments: &[&str]) -> Found {
        find(&arguments.iter().map(|argument| root.path().join(argument).into_os_string()).collect::<Vec<_>>())
    }

    fn sources(found: &Found) -> Vec<&str> {
        found.inputs.iter().map(|input| input.source.as_str()).collect()
    }

    #[test]
    fn files_folders_and_patterns_give_relative_names() {
        let root = folder(&["lab/b.etl", "lab/a.ETL", "lab/x/c.etl", "lab/x/note.txt", "odd[1].etl"]);
        let t = |argument: &str, expected: &[&str]| {
            let found = find_in(&root, &[argument]);
            assert_eq!(sources(&found), expected, "{argument}");
            assert!(found.problems.is_empty(), "{argument}: {:?}", found.problems);
        };
        t("lab/b.etl", &["b.etl"]);
        t("lab/x/note.txt", &["note.txt"]);
        t("lab", &["a.ETL", "b.etl", "x/c.etl"]);
        t("lab/", &["a.ETL", "b.etl", "x/c.etl"]);
        t("./lab/.", &["a.ETL", "b.etl", "x/c.etl"]);
        t("lab/*.etl", &["b.etl"]);
        t("lab/**/*.etl", &["b.etl", "x/c.etl"]);
        t("l?b/x/*.etl", &["lab/x/c.etl"]);
        t("l[a]b", &["lab/a.ETL", "lab/b.etl", "lab/x/c.etl"]);
        t("odd[1].etl", &["odd[1].etl"]);
    }

    #[test]
    fn a_file_named_twice_counts_once() {
        let root = folder(&["lab/a.etl", "lab/b.etl"]);
        assert_eq!(
            sources(&find_in(&root, &["lab/b.etl", "lab", "lab/*.etl", "lab/../lab/a.etl"])),
            ["a.etl", "b.etl"]
        );
    }

    #[test]
    fn a_list_names_inputs_line_by_line() {
        let root = folder(&["lab/a.etl", "lab/b.etl", "c.etl"]);
        let at = |path: &str| root.path().join(path).display().to_string();
        let text = format!("# nightly\r\n\r\n  {}  \n{}\n@other.txt\n", at("lab/*.etl"), at("c.etl"));
        let utf16: Vec<u8> = std::iter::once(0xFEFF).chain(text.encode_utf16()).flat_map(u16::to_le_bytes).collect();
        for bytes in [text.clone().into_bytes(), utf16] {
            fs::write(root.path().join("list.txt"), bytes).unwrap();
            let found = find(&[OsString::from(format!("@{}", at("list.txt")))]);
            assert_eq!(sources(&found), ["a.etl", "b.etl", "c.etl"]);
            assert_eq!(found.problems.len(), 1);
            assert!(found.problems[0].to_string().contains("a list cannot name another list: @other.txt"));
        }
    }

    #[test]
    fn what_leads_nowhere_is_said() {
        let root = folder(&["empty/note.txt"]);
        let t = |argument: &str, expected: &str| {
            let found = find_in(&root, &[argument]);
            assert!(found.inputs.is_empty());
            let messages: Vec<String> = found.problems.iter().map(Error::to_string).collect();
            assert_eq!(messages, [format!("{}: {expected}", root.path().join(argument).display())]);
        };
        t("missing.etl", "there is no such file or folder");
        t("empty", "there is no .etl file in this folder");
        t("*.etl", "nothing matches this pattern");
        t("missing/*.etl", "nothing matches this pattern");
        let list = root.path().join("empty/note.txt");
        let found = find(&[OsString::from(format!("@{}", list.display()))]);
        assert_eq!(found.problems[0].to_string(), format!("{}: this list names no inputs", list.display()));
    }

    fn input(path: &str, source: &str) -> InputFile {
        InputFile { path: PathBuf::from(path), source: source.to_owned() }
    }

    #[test]
    fn each_file_is_a_recording_or_all_are_one() {
        let inputs = vec![input("lab/a.etl", "a.etl"), input("lab/x/b.etl", "x/b.etl")];
        let names = |merge, from| -> Vec<String> {
            jobs(inputs.clone(), merge, from).unwrap().0.into_iter().map(|job| job.name).collect()
        };
        assert_eq!(names(None, NameFrom::Stem), ["a", "b"]);
        assert_eq!(names(None, NameFrom::Path), ["a", "x.b"]);
        assert_eq!(names(Some("2026"), NameFrom::Stem), ["t_2026"]);
        assert_eq!(jobs(inputs.clone(), Some("all"), NameFrom::Stem).unwrap().0[0].inputs, inputs);
    }

    #[test]
    fn two_recordings_of_one_name_are_refused_and_others_are_not() {
        let inputs =
            vec![input("lab/a/boot.etl", "a/boot.etl"), input("lab/b/Boot.etl", "b/Boot.etl"), input("z.etl", "z.etl")];
        let (left, clashes) = jobs(inputs.clone(), None, NameFrom::Stem).unwrap();
        assert_eq!(left.iter().map(|job| job.name.as_str()).collect::<Vec<_>>(), ["z"]);
        assert_eq!(clashes.len(), 1);
        assert_eq!(
            clashes[0].to_string(),
            "lab/a/boot.etl and lab/b/Boot.etl would all become trace=boot: none of them is converted (use --name-from \
             path to name traces after their paths, or --merge NAME to make them one trace)"
        );
        assert_eq!(jobs(inputs, None, NameFrom::Path).unwrap().1.len(), 0);
        let many = (0..9).map(|n| input(&format!("{n}/a.etl"), &format!("{n}/a.etl"))).collect();
        let (_, clashes) = jobs(many, None, NameFrom::Stem).unwrap();
        assert!(clashes[0].to_string().starts_with("0/a.etl, 1/a.etl, 2/a.etl, 3/a.etl and 5 more would all become"));
    }

    #[test]
    fn a_recording_has_as_many_files_as_rows_can_tell() {
        let many = |count: usize| vec![input("a.etl", "a.etl"); count];
        assert_eq!(jobs(many(65_536), Some("m"), NameFrom::Stem).unwrap().0[0].inputs.len(), 65_536);
        let error = jobs(many(65_537), Some("m"), NameFrom::Stem).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Usage);
        assert!(error.to_string().contains("at most 65536 files in one recording, found 65537"), "{error}");
    }

    #[test]
    fn what_a_folder_holds_besides_is_said_once() {
        let files =
            ["a.etl", "a.etl.001", "b.ETL.002", "sub/c.etl.merged", "d.diagsession", "e.zip", "f.etl.txt", "g.gz"];
        let root = folder(&files);
        let found = find_in(&root, &["."]);
        assert_eq!(sources(&found), ["a.etl"]);
        assert_eq!(found.notes.len(), 1, "{:?}", found.notes);
        let said = "are passed over: a.etl.001, b.ETL.002, c.etl.merged and 2 more (";
        assert!(found.notes[0].contains(said), "{}", found.notes[0]);
        assert!(find_in(&root, &["a.etl.001"]).notes.is_empty());
    }

    #[test]
    fn addresses_are_no_paths() {
        let t = |path: &str, scheme: Option<&str>| assert_eq!(url_scheme(Path::new(path)), scheme, "{path}");
        t("s3://bucket/a.etl", Some("s3"));
        t("abfss://x@y/z", Some("abfss"));
        t("file:///tmp", Some("file"));
        t("c://lab", None);
        t("lab/://x", None);
        t("s3:/bucket", None);
        assert_eq!(check_no_url(Path::new("gs://b/out")).unwrap_err().kind(), ErrorKind::Usage);
        let found = find(&[OsString::from("s3://bucket/*.etl")]);
        assert!(found.problems[0].to_string().contains("s3 addresses cannot be read"), "{:?}", found.problems);
    }
}
