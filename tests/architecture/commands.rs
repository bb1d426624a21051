//! Commands of cargo in scripts, documents and comments: each takes the crates of the lock file.

use std::fs;
use std::path::{Path, PathBuf};

/// The subcommands that look for crates.
const BUILDING: [&str; 9] = ["bench", "build", "check", "clippy", "doc", "fetch", "metadata", "run", "test"];

/// Where commands stand, beside the files of the root.
const FOLDERS: [&str; 8] = [".ci", ".github", "docs", "examples", "fuzz/src", "fuzz/tests", "scripts", "tests/python"];

/// The commands with options of which `--locked` is not the first.
fn unlocked(text: &str) -> Vec<String> {
    let is_between = |c: char| c.is_whitespace() || "\"'`,[]();$".contains(c);
    let words: Vec<&str> = text.split(is_between).filter(|word| !word.is_empty()).collect();
    let commands = words.windows(3).filter(|words| words[0] == "cargo" && BUILDING.contains(&words[1]));
    let unlocked = commands.filter(|words| words[2].starts_with('-') && words[2] != "--locked");
    unlocked.map(|words| words.join(" ")).collect()
}

/// The files of a folder, and those of its folders if asked.
fn files(folder: &Path, is_deep: bool) -> Vec<PathBuf> {
    // A hidden one is no part of a package.
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
    let paths = entries.map(|entry| entry.expect("it can be listed").path());
    let below = |path: PathBuf| match path.is_dir() {
        true if is_deep => files(&path, true),
        true => Vec::new(),
        false => vec![path],
    };
    paths.flat_map(below).collect()
}

#[test]
fn every_command_of_cargo_takes_the_lock_file() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut files: Vec<PathBuf> = FOLDERS.iter().flat_map(|folder| files(&root.join(folder), true)).collect();
    files.extend(self::files(root, false));
    assert!(files.iter().any(|path| path.ends_with("scripts/test")), "{files:?}");
    let texts = files.iter().filter_map(|path| Some((path, fs::read_to_string(path).ok()?)));
    let faults: Vec<_> = texts.flat_map(|(path, text)| unlocked(&text).into_iter().map(move |it| (path, it))).collect();
    assert!(faults.is_empty(), "{faults:#?}");
}

#[test]
fn what_is_not_locked_is_found() {
    let t = |text: &str, expected: &[&str]| assert_eq!(unlocked(text), expected, "{text}");
    t("cargo build --locked --release", &[]);
    t("`cargo build` and `cargo test` leave it alone", &[]);
    t("cargo fmt --all --check", &[]);
    t("$(cargo run --release)", &["cargo run --release"]);
    t("[\"cargo\", \"test\", \"-p\", \"etl2parquet-fuzz\"]", &["cargo test -p"]);
    t("`cargo test -p\netl2parquet-fuzz`", &["cargo test -p"]);
}
