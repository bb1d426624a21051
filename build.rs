//! Packs the schema texts of `schemas/` into the binary: each file one zstd frame, and a sorted index beside them.
//!
//! The texts stay the one source of truth; the output depends on them alone. Format: `schemas/README.md`.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs};

/// One section of a text: a provider (`P`) or a classic class (`C`), with its place in the file.
struct Section {
    guid: String,
    names: Vec<String>,
    shard: usize,
    start: usize,
    end: usize,
}

fn main() {
    println!("cargo::rerun-if-changed=schemas");
    println!("cargo::rerun-if-changed=build.rs");
    let out = PathBuf::from(env::var("OUT_DIR").expect("cargo sets OUT_DIR for build scripts"));
    let schemas = Path::new(&env::var("CARGO_MANIFEST_DIR").expect("cargo sets CARGO_MANIFEST_DIR")).join("schemas");
    let mut files: Vec<PathBuf> = read_folder(&schemas.join("providers"));
    files.extend([schemas.join("classes.txt"), schemas.join("overrides.txt")]);
    let (mut shards, mut providers, mut classes, mut overrides) = (String::new(), vec![], vec![], vec![]);
    for (shard, file) in files.iter().enumerate() {
        let text = fs::read_to_string(file).unwrap_or_else(|e| panic!("{}: {e}", file.display()));
        let frame = zstd::bulk::compress(text.as_bytes(), 19).expect("zstd compresses any bytes");
        let path = out.join(format!("schemas-{shard}.zst"));
        fs::write(&path, frame).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
        writeln!(shards, "    (include_bytes!({path:?}), {}),", text.len()).expect("strings take any text");
        let target = match file.file_name().and_then(|n| n.to_str()) {
            Some("classes.txt") => &mut classes,
            Some("overrides.txt") => &mut overrides,
            _ => &mut providers,
        };
        target.extend(sections(&text, shard));
    }
    let mut code = format!(
        "/// The texts, each a zstd frame, with its expanded length.\nstatic SHARDS: &[(&[u8], usize)] = &[\n{shards}];\n"
    );
    for (name, list) in [("PROVIDERS", &mut providers), ("CLASSES", &mut classes), ("OVERRIDES", &mut overrides)] {
        list.sort_by(|a, b| a.guid.cmp(&b.guid));
        writeln!(code, "static {name}: &[Section] = &[\n{}];", list.iter().map(section_code).collect::<String>())
            .unwrap();
    }
    code += &names_code(&schemas.join("names.txt"));
    code += &hooks_code(&schemas.join("hooks.txt"));
    fs::write(out.join("schema_index.rs"), code).expect("OUT_DIR is writable");
}

fn read_folder(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap_or_else(|e| panic!("{}: {e}", folder.display()));
    let mut files: Vec<PathBuf> = entries.map(|e| e.expect("a readable folder entry").path()).collect();
    files.retain(|f| f.extension().is_some_and(|e| e == "txt"));
    files.sort();
    files
}

/// The sections of a text; each runs from its first line to the next section's.
fn sections(text: &str, shard: usize) -> Vec<Section> {
    let mut found: Vec<Section> = vec![];
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        let cells: Vec<&str> = line.trim_end().split('\t').collect();
        if matches!(cells[0], "P" | "C") {
            if let Some(last) = found.last_mut() {
                last.end = at;
            }
            let names = cells[2..].iter().map(|c| (*c).to_owned()).collect();
            found.push(Section { guid: cells[1].to_owned(), names, shard, start: at, end: text.len() });
        }
        at += line.len();
    }
    found
}

fn section_code(s: &Section) -> String {
    let event_prefix = s.names.get(1).map_or("", String::as_str);
    format!(
        "    Section {{ guid: {}, name: {:?}, event_prefix: {event_prefix:?}, shard: {}, start: {}, end: {} }},\n",
        guid_code(&s.guid),
        s.names[0],
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

/// The names of providers without events here.
fn names_code(file: &Path) -> String {
    let text = fs::read_to_string(file).unwrap_or_else(|e| panic!("{}: {e}", file.display()));
    let mut rows: Vec<(&str, &str)> =
        text.lines().filter(|l| !l.starts_with('#')).map(|l| l.split_once('\t').expect("GUID, tab, name")).collect();
    rows.sort_unstable();
    let rows: String = rows.iter().map(|(guid, name)| format!("    ({}, {name:?}),\n", guid_code(guid))).collect();
    format!("static NAMES: &[(Guid, &str)] = &[\n{rows}];\n")
}

/// The kernel's hook groups and generic event names.
fn hooks_code(file: &Path) -> String {
    let text = fs::read_to_string(file).unwrap_or_else(|e| panic!("{}: {e}", file.display()));
    let (mut groups, mut names) = (String::new(), String::new());
    for line in text.lines() {
        let cells: Vec<&str> = line.split('\t').collect();
        match cells[..] {
            ["G", group, guid, class] => {
                writeln!(groups, "    (0x{group}, {}, {class:?}, \"Kernel-{class}\"),", guid_code(guid)).unwrap();
            }
            ["N", group, kind, name] => writeln!(names, "    (0x{group}, 0x{kind}, {name:?}),").unwrap(),
            _ => assert!(line.starts_with('#'), "{}: {line}", file.display()),
        }
    }
    format!(
        "static HOOK_GROUPS: &[(u8, Guid, &str, &str)] = &[\n{groups}];\n\
         static HOOK_NAMES: &[(u8, u8, &str)] = &[\n{names}];\n"
    )
}
