//! Packs the schema texts of `schemas/` into the binary: each file one zstd frame, and a sorted index beside them.
//!
//! The texts stay the one source of truth; the output depends on them alone. Format: `schemas/README.md`.

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
    let mut code = String::new();
    let mut shards = String::new();
    let mut count = 0;
    for (table, files) in [
        ("PROVIDERS", folder(&schemas.join("providers"))),
        ("CLASSES", vec![schemas.join("classes.txt")]),
        ("OVERRIDES", vec![schemas.join("overrides.txt")]),
    ] {
        let mut list = vec![];
        for file in files {
            let text = read(&file);
            list.extend(sections(&text, count));
            shards += &write_shard(&text, &out, count);
            count += 1;
        }
        list.sort_by(|a, b| a.guid.cmp(&b.guid));
        code += &static_code(table, "Section", list.iter().map(section_code));
    }
    code += &codes_code(count);
    shards += &write_shard(&read(&schemas.join("codes.txt")), &out, count);
    code += &static_code("SHARDS", "(&[u8], usize)", [shards].into_iter());
    code += &names_code(&read(&schemas.join("names.txt")));
    code += &hooks_code(&read(&schemas.join("hooks.txt")));
    fs::write(out.join("schema_index.rs"), code).expect("OUT_DIR is writable");
}

fn read(file: &Path) -> String {
    fs::read_to_string(file).unwrap_or_else(|e| panic!("{}: {e}", file.display()))
}

/// Compresses a text into a file of its own, and gives the row that refers to it: frame, expanded length.
fn write_shard(text: &str, out: &Path, number: usize) -> String {
    let frame = zstd::bulk::compress(text.as_bytes(), 19).expect("zstd compresses any bytes");
    let name = format!("schemas-{number}.zst");
    fs::write(out.join(&name), frame).expect("OUT_DIR is writable");
    format!("    (include_bytes!(concat!(env!(\"OUT_DIR\"), \"/{name}\")), {}),\n", text.len())
}

fn static_code(name: &str, element: &str, rows: impl Iterator<Item = String>) -> String {
    let rows: Vec<String> = rows.collect();
    format!("pub(super) static {name}: &[{element}] = &[\n{}];\n", rows.concat())
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

/// Which file holds the status codes.
fn codes_code(shard: usize) -> String {
    format!("pub(super) const CODES_SHARD: usize = {shard};\n")
}

/// The names of providers without events here.
fn names_code(text: &str) -> String {
    let lines = text.lines().filter(|l| !l.starts_with('#'));
    let mut rows: Vec<_> = lines.map(|l| l.split_once('\t').expect("GUID, tab, name")).collect();
    rows.sort_unstable();
    let rows = rows.iter().map(|(guid, name)| format!("    ({}, {name:?}),\n", guid_code(guid)));
    static_code("NAMES", "(Guid, &str)", rows)
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
