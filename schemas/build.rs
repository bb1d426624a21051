//! Packs the schema texts: neighbouring sections together in zstd frames, and a sorted index beside them.
//!
//! The texts stay the one source of truth; the output depends on them alone. Format: `README.md`.

use std::path::{Path, PathBuf};
use std::{env, fs};

/// One section of a text: a provider (`P`) or a classic class (`C`), with its place in its frame.
struct Section {
    guid: String,
    /// The cells behind the GUID.
    cells: Vec<String>,
    shard: usize,
    start: usize,
    end: usize,
}

/// Bytes of text from which on a frame is closed. Whoever asks for a provider expands its frame, so they are small; the
/// providers of a family stand together and share most of their words.
const FRAME_BYTES: usize = 128 << 10;

/// The frames that are written.
struct Frames {
    out: PathBuf,
    /// The text of the open frame.
    open: String,
    /// The rows that refer to the closed ones: frame, expanded length.
    rows: Vec<String>,
}

impl Frames {
    /// Adds a section's text; gives the frame and the place in it.
    fn add(&mut self, text: &str) -> (usize, usize, usize) {
        let start = self.open.len();
        self.open += text;
        let place = (self.rows.len(), start, self.open.len());
        if self.open.len() >= FRAME_BYTES {
            self.close();
        }
        place
    }

    fn close(&mut self) {
        if self.open.is_empty() {
            return;
        }
        let frame = zstd::bulk::compress(self.open.as_bytes(), 19).expect("zstd compresses any bytes");
        let name = format!("schemas-{}.zst", self.rows.len());
        fs::write(self.out.join(&name), frame).expect("OUT_DIR is writable");
        let len = self.open.len();
        self.rows.push(format!("    (include_bytes!(concat!(env!(\"OUT_DIR\"), \"/{name}\")), {len}),\n"));
        self.open.clear();
    }

    /// Adds a text as a frame of its own; gives its number.
    fn add_whole(&mut self, text: &str) -> usize {
        self.close();
        let (number, ..) = self.add(text);
        self.close();
        number
    }
}

fn main() {
    println!("cargo::rerun-if-changed=.");
    let out = PathBuf::from(env::var("OUT_DIR").expect("cargo sets OUT_DIR for build scripts"));
    let schemas = PathBuf::from(env::var("CARGO_MANIFEST_DIR").expect("cargo sets CARGO_MANIFEST_DIR"));
    let mut frames = Frames { out: out.clone(), open: String::new(), rows: vec![] };
    let releases = Releases::read(&read(&schemas.join("releases.txt")));
    fs::write(out.join("schema_releases.rs"), releases.code()).expect("OUT_DIR is writable");
    let mut code = String::new();
    for (table, files) in [
        ("PROVIDERS", folder(&schemas.join("providers"))),
        ("CLASSES", vec![schemas.join("classes.txt")]),
        ("OVERRIDES", vec![schemas.join("overrides.txt")]),
        ("KEPT", vec![schemas.join("kept.txt")]),
        ("FIELDS", vec![schemas.join("fields.txt")]),
        ("TEXTS", vec![schemas.join("texts.txt")]),
    ] {
        let mut list: Vec<Section> = files.iter().flat_map(|file| sections(&read(file), &mut frames)).collect();
        frames.close();
        list.sort_by(|a, b| a.guid.cmp(&b.guid));
        let is_class = table == "CLASSES";
        code += &static_code(table, "Section", list.iter().map(|section| section_code(section, is_class, &releases)));
    }
    code += &codes_code(frames.add_whole(&read(&schemas.join("codes.txt"))));
    code += &static_code("SHARDS", "(&[u8], usize)", frames.rows.into_iter());
    code += &names_code(&read(&schemas.join("names.txt")), &releases);
    code += &hooks_code(&read(&schemas.join("hooks.txt")));
    code += &identity_code(&schemas);
    fs::write(out.join("schema_index.rs"), code).expect("OUT_DIR is writable");
}

/// A hash that distinguishes these schemas from others.
fn identity_code(schemas: &Path) -> String {
    let texts = ["classes", "overrides", "kept", "recurring", "fields", "texts", "codes", "names", "hooks", "releases"];
    let texts = texts.map(|name| schemas.join(name).with_extension("txt"));
    let content: String = folder(&schemas.join("providers")).iter().chain(&texts).map(|file| read(file)).collect();
    format!(
        "/// A hash that distinguishes these schemas from others.\npub const IDENTITY: u64 = 0x{:016X};\n",
        fnv(content.as_bytes())
    )
}

/// FNV-1a: it distinguishes sets of schemas, and needs no crate.
fn fnv(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xCBF2_9CE4_8422_2325, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x100_0000_01B3))
}

/// The builds of Windows in order, with what is gathered of each and its name.
struct Releases(Vec<[String; 3]>);

impl Releases {
    fn read(text: &str) -> Releases {
        let rows = text.lines().filter(|line| !line.starts_with('#'));
        let cells = |line: &str| line.splitn(3, '\t').map(str::to_owned).collect::<Vec<_>>();
        Releases(rows.map(|line| cells(line).try_into().expect("build, kinds, name")).collect())
    }

    fn code(&self) -> String {
        let row = |[build, kinds, name]: &[String; 3]| {
            let (listed, dumped) = (kinds.contains('l'), kinds.contains('d'));
            format!("    Release {{ build: {build}, name: {name:?}, listed: {listed}, dumped: {dumped} }},\n")
        };
        static_code("RELEASES", "Release", self.0.iter().map(row))
    }

    /// The bits of runs as `10240-17134 28000`.
    fn bits(&self, runs: &str) -> u32 {
        let at = |build: &str| self.0.iter().position(|row| row[0] == build).unwrap_or_else(|| panic!("build {build}"));
        let run = |run: &str| {
            let (first, last) = run.split_once('-').unwrap_or((run, run));
            (at(first)..=at(last)).fold(0, |bits, at| bits | 1 << at)
        };
        runs.split_whitespace().map(run).fold(0, |all, bits| all | bits)
    }
}

fn read(file: &Path) -> String {
    fs::read_to_string(file).unwrap_or_else(|e| panic!("{}: {e}", file.display()))
}

fn static_code(name: &str, element: &str, rows: impl Iterator<Item = String>) -> String {
    let rows: Vec<String> = rows.collect();
    format!("/// See `schemas/README.md`.\npub static {name}: &[{element}] = &[\n{}];\n", rows.concat())
}

/// The texts of a folder, by name.
fn folder(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap_or_else(|e| panic!("{}: {e}", folder.display()));
    let mut files: Vec<PathBuf> = entries.map(|e| e.expect("a readable folder entry").path()).collect();
    files.retain(|f| f.extension().is_some_and(|e| e == "txt"));
    files.sort();
    files
}

/// The sections of a text; each runs from its first line to the next section's.
fn sections(text: &str, frames: &mut Frames) -> Vec<Section> {
    let is_first = |line: &str| line.starts_with("P\t") || line.starts_with("C\t");
    let mut texts: Vec<String> = vec![];
    for line in text.split_inclusive('\n') {
        if is_first(line) {
            texts.push(String::new());
        }
        if let Some(text) = texts.last_mut() {
            *text += line;
        }
    }
    let section = |text: String| {
        let cells: Vec<&str> = text.lines().next().unwrap_or_default().split('\t').collect();
        let (shard, start, end) = frames.add(&text);
        let (guid, cells) = (cells[1].to_owned(), cells[2..].iter().map(|c| (*c).to_owned()).collect());
        Section { guid, cells, shard, start, end }
    };
    texts.into_iter().map(section).collect()
}

/// The third cell of a class is what stands before its events' names, that of a provider the builds that register it.
fn section_code(s: &Section, is_class: bool, releases: &Releases) -> String {
    let third = s.cells.get(1).map_or("", String::as_str);
    let (event_prefix, builds) = if is_class { (third, 0) } else { ("", releases.bits(third)) };
    format!(
        "    Section {{ guid: {}, name: {:?}, event_prefix: {event_prefix:?}, releases: Releases({builds}), shard: {}, start: {}, \
         end: {} }},\n",
        guid_code(&s.guid),
        s.cells[0],
        s.shard,
        s.start,
        s.end
    )
}

/// A GUID as a constant expression.
fn guid_code(text: &str) -> String {
    let parts: Vec<&str> = text.split('-').collect();
    assert!(text.len() == 36 && parts.len() == 5, "{text}: not a GUID");
    format!("Guid::from_parts(0x{}, 0x{}, 0x{}, 0x{}{})", parts[0], parts[1], parts[2], parts[3], parts[4])
}

/// Which file holds the status codes.
fn codes_code(shard: usize) -> String {
    format!("/// The frame of the status codes.\npub const CODES_SHARD: usize = {shard};\n")
}

/// The names of GUIDs without events here.
fn names_code(text: &str, releases: &Releases) -> String {
    let mut rows: Vec<Vec<&str>> =
        text.lines().filter(|l| !l.starts_with('#')).map(|line| line.split('\t').collect()).collect();
    rows.sort_unstable();
    let row = |cells: &Vec<&str>| {
        let kind = match cells[2] {
            "manifest" => "Manifest",
            "classic" => "Classic",
            "tracelogging" => "TraceLogging",
            "derived" => "Derived",
            "provider" => "Provider",
            "label" => "Label",
            other => panic!("names.txt: kind {other}"),
        };
        let builds = releases.bits(cells.get(3).unwrap_or(&""));
        let guid = guid_code(cells[0]);
        format!(
            "    Named {{ guid: {guid}, name: {:?}, kind: NameKind::{kind}, releases: Releases({builds}) }},\n",
            cells[1]
        )
    };
    static_code("NAMES", "Named", rows.iter().map(row))
}

/// The kernel's hook groups and generic event names, in the order of the file.
fn hooks_code(text: &str) -> String {
    let (mut groups, mut names) = (vec![], vec![]);
    for line in text.lines() {
        let cells: Vec<&str> = line.split('\t').collect();
        match cells[..] {
            ["G", group, guid, class] => {
                groups.push(format!("    (0x{group}, {}, {class:?}, \"Kernel-{class}\"),\n", guid_code(guid)));
            }
            ["N", group, kind, name] => names.push(format!("    (0x{group}, 0x{kind}, {name:?}),\n")),
            _ => assert!(line.starts_with('#'), "hooks.txt: {line}"),
        }
    }
    static_code("HOOK_GROUPS", "(u8, Guid, &str, &str)", groups.into_iter())
        + &static_code("HOOK_NAMES", "(u8, u8, &str)", names.into_iter())
}
