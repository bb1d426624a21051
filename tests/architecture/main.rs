//! Holds the source tree to its own plan: dependencies point one way, and no file grows past reading size.
//!
//! The text of `src/` is read as text. That is coarser than a compiler and quite enough: module paths start with
//! `crate::`, and rustfmt keeps the shape of items predictable.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// The modules in the order of the pipeline: each may use those before it, none behind it.
const ORDER: [&str; 22] = [
    "error", "guid", "sid", "calendar", "clock", "names", "layout", "input", "spill", "buffer", "event", "schema",
    "columns", "decode", "table", "output", "dataset", "survey", "plan", "convert", "sidecar", "cli",
];

/// Uses of a later module that remain to be untied, as file and module; nothing may be added.
const STILL_BACKWARDS: [(&str, &str); 1] = [("convert/run.rs", "sidecar")];

/// Lines of code that one file may hold, not counting blank lines, comments, tests and constant tables.
const MAX_LINES_OF_CODE: usize = 400;

#[test]
fn dependencies_point_one_way() {
    let sources = sources();
    let exports = root_exports(&sources);
    let mut findings = BTreeSet::new();
    for source in sources.iter().filter(|source| !source.is_root()) {
        let user = source.module();
        let Some(rank) = rank(user) else {
            findings.insert(format!("{}: module `{user}` has no place in ORDER", source.name));
            continue;
        };
        for name in crate_paths(&source.product_code()) {
            let used = exports.get(&name).unwrap_or(&name);
            let finding = match self::rank(used) {
                Some(other) if other <= rank => continue,
                Some(_) if STILL_BACKWARDS.contains(&(source.name.as_str(), used)) => continue,
                Some(_) => format!("{}: `{user}` uses `{used}`, which comes later", source.name),
                None => format!("{}: `crate::{name}` is no module in ORDER", source.name),
            };
            findings.insert(finding);
        }
    }
    assert!(findings.is_empty(), "{}", Vec::from_iter(findings).join("\n"));
}

#[test]
fn no_file_outgrows_its_reader() {
    let mut findings = Vec::new();
    for source in sources() {
        let lines = without_tables(&source.product_code()).lines().count();
        if lines > MAX_LINES_OF_CODE {
            findings.push(format!("{}: {lines} lines of code, at most {MAX_LINES_OF_CODE}", source.name));
        }
    }
    assert!(findings.is_empty(), "{}", findings.join("\n"));
}

/// One file under `src/`.
struct Source {
    /// Path relative to `src/`, with `/`.
    name: String,
    text: String,
}

impl Source {
    fn is_root(&self) -> bool {
        matches!(self.name.as_str(), "lib.rs" | "main.rs")
    }

    /// The top-level module that the file belongs to.
    fn module(&self) -> &str {
        let first = self.name.split('/').next().unwrap_or_default();
        first.strip_suffix(".rs").unwrap_or(first)
    }

    /// The file without blank lines, comments and test modules; empty for a file that holds tests only.
    fn product_code(&self) -> String {
        let only_tests = self.name.ends_with("/tests.rs") || self.name.contains("/tests/");
        if only_tests { String::new() } else { without_tests(&without_comments(&self.text)) }
    }
}

fn sources() -> Vec<Source> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut files = Vec::new();
    collect(&root, &mut files);
    files.sort();
    assert!(!files.is_empty(), "no source file under {}", root.display());
    let source = |path: PathBuf| Source {
        name: path.strip_prefix(&root).expect("found below the root").to_string_lossy().replace('\\', "/"),
        text: fs::read_to_string(&path).expect("source files are readable UTF-8"),
    };
    files.into_iter().map(source).collect()
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).expect("the source folder is readable") {
        let path = entry.expect("the source folder is readable").path();
        if path.is_dir() {
            collect(&path, files);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            files.push(path);
        }
    }
}

fn rank(module: &str) -> Option<usize> {
    ORDER.iter().position(|&name| name == module)
}

/// Names that the crate root re-exports, each with the module it comes from.
fn root_exports(sources: &[Source]) -> BTreeMap<String, String> {
    let root = sources.iter().find(|source| source.name == "lib.rs").expect("src/lib.rs exists");
    let code = without_comments(&root.text);
    let mut exports = BTreeMap::new();
    for statement in code.split(';') {
        let Some((_, path)) = statement.split_once("pub use ") else { continue };
        let Some((module, names)) = path.split_once("::") else { continue };
        for name in names.split(|c: char| !(c.is_alphanumeric() || c == '_')).filter(|name| !name.is_empty()) {
            exports.insert(name.to_owned(), module.trim().to_owned());
        }
    }
    exports
}

/// The first segments behind every `crate::` of some code, also of grouped imports.
fn crate_paths(code: &str) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    for tail in code.split("crate::").skip(1) {
        match tail.strip_prefix('{') {
            Some(group) => names.extend(group_heads(group)),
            None => names.extend(identifier(tail)),
        }
    }
    names
}

/// The first segment of each path in `a::b, c::{d, e}, F}`.
fn group_heads(group: &str) -> Vec<String> {
    let (mut depth, mut heads, mut head_follows) = (0_usize, Vec::new(), true);
    for (at, character) in group.char_indices() {
        match character {
            '}' if depth == 0 => break,
            '}' => depth -= 1,
            '{' => depth += 1,
            ',' if depth == 0 => head_follows = true,
            c if head_follows && !c.is_whitespace() => {
                heads.extend(identifier(&group[at..]));
                head_follows = false;
            }
            _ => {}
        }
    }
    heads
}

fn identifier(text: &str) -> Option<String> {
    let name: String = text.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
    (!name.is_empty()).then_some(name)
}

/// Drops blank lines and whole-line comments, documentation included.
fn without_comments(text: &str) -> String {
    let is_code = |line: &&str| !line.trim().is_empty() && !line.trim_start().starts_with("//");
    lines_where(text, is_code)
}

/// Drops each item behind `#[cfg(test)]`: a module with its body, or one statement.
fn without_tests(code: &str) -> String {
    skip_items(code, |line| line.trim() == "#[cfg(test)]")
}

/// Drops constants and statics, whose length is data and not control flow.
fn without_tables(code: &str) -> String {
    let starts = ["const ", "static ", "pub const ", "pub static ", "pub(crate) const ", "pub(crate) static "];
    skip_items(code, |line| starts.iter().any(|start| line.trim_start().starts_with(start)) && !line.contains(" fn "))
}

/// Drops every item that begins at a line which `begins` picks.
///
/// Rustfmt ends an item on a line of the same indentation that closes it: `}`, `];`, `);`, or on its only line.
fn skip_items(code: &str, begins: impl Fn(&str) -> bool) -> String {
    let indentation = |line: &str| line.len() - line.trim_start().len();
    let mut skipped: Option<usize> = None;
    let keep = |line: &&str| {
        if skipped.is_none() && begins(line) {
            skipped = Some(indentation(line));
        }
        let Some(depth) = skipped else { return true };
        let attribute = line.trim_start().starts_with("#[");
        if indentation(line) == depth && !attribute && line.ends_with(['}', ';']) {
            skipped = None;
        }
        false
    };
    lines_where(code, keep)
}

fn lines_where(text: &str, mut keep: impl FnMut(&&str) -> bool) -> String {
    text.lines().filter(|line| keep(line)).fold(String::new(), |code, line| code + line + "\n")
}

#[test]
fn paths_are_found_in_single_and_grouped_imports() {
    let code = "use crate::guid::Guid;\nuse crate::{\n    clock::{Clock, Ticks},\n    Error, survey,\n};\nlet x = crate::plan::cut();\n";
    assert_eq!(Vec::from_iter(crate_paths(code)), ["Error", "clock", "guid", "plan", "survey"]);
}

#[test]
fn comments_tests_and_tables_do_not_count() {
    let text = "\
//! Uses crate::cli in words only.
use crate::guid::Guid;
const TABLE: [u8; 2] = [
    1,
    2,
];
pub const fn one() -> u8 {
    1
}

#[cfg(test)]
mod tests {
    use crate::cli;
}
fn last() {}
";
    let code = without_tests(&without_comments(text));
    assert_eq!(Vec::from_iter(crate_paths(&code)), ["guid"]);
    let expected = "use crate::guid::Guid;\npub const fn one() -> u8 {\n    1\n}\nfn last() {}\n";
    assert_eq!(without_tables(&code), expected);
}
