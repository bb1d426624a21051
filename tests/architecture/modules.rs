//! The modules of all crates: what each defines, imports and uses, and to which file a path leads.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use crate::paths::{Import, imports, qualified};
use crate::text::{code_only, without_blank_lines, without_tests};

/// Re-exports behind one another that are followed.
const MAX_HOPS: usize = 16;

/// One source file.
pub(crate) struct Source {
    /// Path relative to the source folder of its crate, with `/`; of a crate but the first with the crate's name before it.
    pub(crate) name: String,
    /// Its module, from the name of the crate.
    pub(crate) path: Vec<String>,
    /// Product code; empty for a file that holds tests only.
    pub(crate) code: String,
    defines: BTreeSet<String>,
    /// Whether macros define more than can be seen.
    has_macros: bool,
    imports: Vec<Import>,
}

impl Source {
    pub(crate) fn new(of: &str, name: String, text: &str) -> Source {
        let only_tests = name.ends_with("/tests.rs") || name.contains("/tests/");
        let code = without_blank_lines(&without_tests(&code_only(text)));
        let code = if only_tests { String::new() } else { inline_modules_flattened(&code) };
        let (defines, imports) = (definitions(&code), imports(&code));
        let has_macros = code.lines().any(is_macro_call);
        let path = [of.to_owned()].into_iter().chain(module_path(&name)).collect();
        let name = if of == FIRST { name } else { format!("{of}/{name}") };
        Source { name, path, code, defines, has_macros, imports }
    }

    /// Whether it is the root of a crate.
    pub(crate) fn is_root(&self) -> bool {
        self.path.len() == 1
    }

    /// Whether it only hands on the names of other files.
    pub(crate) fn is_folder(&self) -> bool {
        self.name.ends_with("/mod.rs")
    }

    /// The crate that it belongs to.
    pub(crate) fn of(&self) -> &str {
        &self.path[0]
    }

    /// The top-level module that it belongs to.
    pub(crate) fn room(&self) -> &str {
        self.path.get(1).map_or("", String::as_str)
    }

    /// The types among the names that it imports, for itself or for others.
    pub(crate) fn imported_types(&self) -> BTreeSet<&str> {
        let names = self.imports.iter().filter_map(|import| import.name.as_deref());
        names.filter(|name| name.starts_with(char::is_uppercase)).collect()
    }

    /// What it defines itself, modules aside.
    pub(crate) fn definitions(&self) -> &BTreeSet<String> {
        &self.defines
    }
}

/// `a::b` of `a/b.rs` and of `a/b/mod.rs`.
fn module_path(name: &str) -> Vec<String> {
    let name = name.strip_suffix(".rs").unwrap_or(name);
    let name = name.strip_suffix("/mod").unwrap_or(name);
    match name {
        "lib" | "main" => Vec::new(),
        _ => name.split('/').map(str::to_owned).collect(),
    }
}

/// The names of items that stand at the left margin, and `impl` for implementations.
fn definitions(code: &str) -> BTreeSet<String> {
    code.lines().filter_map(definition).collect()
}

fn definition(line: &str) -> Option<String> {
    let line = match line.strip_prefix("pub(") {
        Some(rest) => rest.split_once(") ")?.1,
        None => line.strip_prefix("pub ").unwrap_or(line),
    };
    let mut words =
        line.split(|c: char| !(c.is_alphanumeric() || c == '_' || c == '!')).filter(|word| !word.is_empty());
    let qualifiers = ["unsafe", "async", "extern", "default"];
    let mut word = words.by_ref().find(|word| !qualifiers.contains(word))?;
    if line.starts_with(char::is_whitespace) {
        return None;
    }
    if word == "const" && line.contains("const fn ") {
        word = words.next()?;
    }
    match word {
        "impl" => Some("impl".to_owned()),
        "mod" if line.ends_with('{') => words.next().map(str::to_owned),
        "fn" | "struct" | "enum" | "trait" | "type" | "const" | "static" | "union" | "macro_rules!" => {
            words.next().filter(|name| *name != "_").map(str::to_owned)
        }
        _ => None,
    }
}

/// Whether a macro is used where items stand: `include!(..)`.
fn is_macro_call(line: &str) -> bool {
    let name = line.split('!').next().unwrap_or_default();
    line.contains('!')
        && name != "macro_rules"
        && !name.is_empty()
        && name.chars().all(|c| c.is_alphanumeric() || c == '_')
}

/// What stands in `mod name { .. }` belongs to the file: there, `super` is the file itself.
fn inline_modules_flattened(code: &str) -> String {
    let mut inside = false;
    let mut flat = String::new();
    for line in code.lines() {
        let begins = !line.starts_with(' ') && line.contains("mod ") && line.ends_with('{');
        inside |= begins;
        if inside && line.starts_with(' ') {
            let one_less = line.replace("super::super::", "super:::").replace("super::", "self::");
            flat += &one_less.replace("super:::", "super::").replace("self:::", "super::");
        } else {
            flat += line;
        }
        inside &= line != "}";
        flat.push('\n');
    }
    flat
}

/// The crate of the command line.
pub(crate) const FIRST: &str = "etl2parquet";

/// The crates, by the names that code uses, and their source folders.
const CRATES: [(&str, &str); 17] = [
    (FIRST, "src"),
    ("base", "crates/base/src"),
    ("spill", "crates/spill/src"),
    ("etl", "crates/etl/src"),
    ("symbols", "crates/symbols/src"),
    ("schemas", "schemas/src"),
    ("schema", "crates/schema/src"),
    ("columnar", "crates/columnar/src"),
    ("conversion", "crates/conversion/src"),
    ("batch", "crates/batch/src"),
    ("published", "crates/published/src"),
    ("compaction", "crates/compaction/src"),
    ("export", "crates/export/src"),
    ("cloud", "cloud/src"),
    ("etl2parquet_native", "python/src"),
    ("etl2parquet_duckdb", "duckdb/src"),
    ("etl2parquet_fuzz", "fuzz/src"),
];

/// All source files.
pub(crate) struct Tree {
    pub(crate) sources: Vec<Source>,
    by_path: BTreeMap<Vec<String>, usize>,
}

/// A use of a file by another.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Use {
    pub(crate) user: String,
    pub(crate) used: String,
    /// The path that stands in the user.
    pub(crate) path: String,
}

impl Tree {
    /// The tree of this project.
    pub(crate) fn read() -> Tree {
        Tree::new(CRATES.iter().flat_map(|(of, folder)| Tree::of_crate(of, folder)).collect())
    }

    fn of_crate(of: &str, folder: &str) -> Vec<Source> {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join(folder);
        let mut files = Vec::new();
        collect(&root, &mut files);
        files.sort();
        assert!(!files.is_empty(), "no source file under {}", root.display());
        let source = |path: &PathBuf| {
            let name = path.strip_prefix(&root).expect("found below the root").to_string_lossy().replace('\\', "/");
            Source::new(of, name, &fs::read_to_string(path).expect("source files are readable UTF-8"))
        };
        files.iter().map(source).collect()
    }

    pub(crate) fn new(sources: Vec<Source>) -> Tree {
        let is_program = |source: &Source| source.name == "main.rs" || source.room() == "bin";
        let named = sources.iter().enumerate().filter(|(_, source)| !is_program(source));
        let by_path = named.map(|(index, source)| (source.path.clone(), index)).collect();
        Tree { sources, by_path }
    }

    pub(crate) fn source(&self, path: &[String]) -> Option<&Source> {
        self.by_path.get(path).map(|&index| &self.sources[index])
    }

    /// Every use of a file by another, and the paths that lead nowhere. A folder's `mod.rs` is neither: it hands on what
    /// is behind it.
    pub(crate) fn uses(&self) -> (BTreeSet<Use>, Vec<String>) {
        let (mut uses, mut lost) = (BTreeSet::new(), Vec::new());
        for source in self.sources.iter().filter(|source| !source.is_root()) {
            let imported = source.imports.iter().map(|import| import.path.clone());
            for path in imported.chain(qualified(&source.code)) {
                let shown = path.join("::");
                let is_own = matches!(path[0].as_str(), "crate" | "self" | "super");
                match self.target(&source.path, &path, 0) {
                    Some(used) if used.name == source.name || used.is_folder() || used.is_root() => {}
                    Some(_) if source.is_folder() => {}
                    Some(used) => {
                        uses.insert(Use { user: source.name.clone(), used: used.name.clone(), path: shown });
                    }
                    None if is_own && !self.leads_out(&source.path, &path) => {
                        lost.push(format!("{}: {shown}", source.name));
                    }
                    None => {}
                }
            }
        }
        (uses, lost)
    }

    /// Whether a path leads to a name that a module of the crate imports from another crate.
    fn leads_out(&self, module: &[String], path: &[String]) -> bool {
        let Some((name, [.., parent])) = path.split_last() else { return false };
        let module = match parent.as_str() {
            "self" => self.source(module),
            _ => self.target(module, &path[..path.len() - 1], 0),
        };
        module.is_some_and(|module| module.imports.iter().any(|import| import.name.as_ref() == Some(name)))
    }

    /// The file that a path leads to from a module; `None` where it leads out of the crate.
    fn target(&self, module: &[String], path: &[String], hops: usize) -> Option<&Source> {
        let (first, rest) = path.split_first()?;
        match first.as_str() {
            "crate" => self.follow(&module[..1], rest, hops),
            of if CRATES.iter().any(|(name, _)| *name == of) => self.follow(&path[..1], rest, hops),
            "self" => self.follow(module, rest, hops),
            "super" => {
                let (_, parent) = module.split_last()?;
                match rest.first().map(String::as_str) {
                    Some("super") => self.target(parent, rest, hops),
                    _ => self.follow(parent, rest, hops),
                }
            }
            _ => self.follow(module, path, hops),
        }
    }

    fn follow(&self, module: &[String], path: &[String], hops: usize) -> Option<&Source> {
        let source = self.source(module)?;
        let Some((first, rest)) = path.split_first() else { return Some(source) };
        let child: Vec<String> = module.iter().cloned().chain([first.clone()]).collect();
        if self.by_path.contains_key(&child) {
            return self.follow(&child, rest, hops);
        }
        if source.defines.contains(first) {
            return Some(source);
        }
        let found = if hops < MAX_HOPS { self.imported(source, path, hops) } else { None };
        found.or_else(|| source.has_macros.then_some(source))
    }

    /// The file that a path leads to from a module whose first name is imported there.
    fn imported(&self, source: &Source, path: &[String], hops: usize) -> Option<&Source> {
        let (first, rest) = path.split_first()?;
        let onward = |import: &Import, rest: &[String]| {
            let path: Vec<String> = import.path.iter().cloned().chain(rest.iter().cloned()).collect();
            // A name that is imported from itself would never end.
            (path != [first.clone()]).then(|| self.target(&source.path, &path, hops + 1))?
        };
        let named = source.imports.iter().filter(|import| import.name.as_ref() == Some(first));
        let found = named.into_iter().find_map(|import| onward(import, rest));
        found.or_else(|| {
            let globs = source.imports.iter().filter(|import| import.name.is_none());
            globs.into_iter().find_map(|import| onward(import, path))
        })
    }
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

/// Files that use one another, directly or through others: each circle with the uses inside it.
pub(crate) fn circles(uses: &BTreeSet<Use>) -> Vec<Vec<Use>> {
    let mut reach: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for one in uses {
        reach.entry(&one.user).or_default().insert(&one.used);
    }
    let from = |start: &str| {
        let (mut seen, mut open) = (BTreeSet::new(), vec![start]);
        while let Some(file) = open.pop() {
            for &next in reach.get(file).into_iter().flatten() {
                if seen.insert(next) {
                    open.push(next);
                }
            }
        }
        seen
    };
    let all: BTreeMap<&str, BTreeSet<&str>> = reach.keys().map(|&file| (file, from(file))).collect();
    let meets = |a: &str, b: &str| {
        let leads = |from: &str, to: &str| all.get(from).is_some_and(|reached| reached.contains(to));
        leads(a, b) && leads(b, a)
    };
    let mut circles: Vec<Vec<Use>> = Vec::new();
    for one in uses.iter().filter(|one| meets(&one.user, &one.used)) {
        match circles.iter_mut().find(|circle| meets(&circle[0].user, &one.user)) {
            Some(circle) => circle.push(one.clone()),
            None => circles.push(vec![one.clone()]),
        }
    }
    circles
}

#[test]
fn a_path_leads_through_reexports_to_the_file_that_defines() {
    let source = |name: &str, text: &str| Source::new(FIRST, name.to_owned(), text);
    let tree = Tree::new(vec![
        source("lib.rs", "pub mod a;\npub mod b;\npub use a::Thing;\n"),
        source("a/mod.rs", "mod deep;\npub use self::deep::Thing;\npub use self::deep as other;\n"),
        source("a/deep.rs", "use crate::b::run;\npub struct Thing;\n"),
        source(
            "b.rs",
            "use crate::a;\nuse crate::Thing;\npub(crate) fn run() -> a::other::Thing { std::mem::take() }\n",
        ),
    ]);
    let (uses, lost) = tree.uses();
    assert_eq!(lost, Vec::<String>::new());
    let shown: Vec<String> = uses.iter().map(|one| format!("{} {} {}", one.user, one.used, one.path)).collect();
    let expected = ["a/deep.rs b.rs crate::b::run", "b.rs a/deep.rs a::other::Thing", "b.rs a/deep.rs crate::Thing"];
    assert_eq!(shown, expected);
    assert_eq!(circles(&uses).len(), 1);
    assert!(tree.source(&[FIRST.to_owned(), "a".to_owned()]).is_some_and(|folder| folder.definitions().is_empty()));
}

#[test]
fn the_parent_of_an_inline_module_is_the_file() {
    let source = Source::new(
        FIRST,
        "a/b.rs".to_owned(),
        "mod c {\n    use super::X;\n    use super::super::Y;\n}\nuse super::Z;\n",
    );
    let paths: Vec<String> = source.imports.iter().map(|import| import.path.join("::")).collect();
    assert_eq!(paths, ["self::X", "super::Y", "super::Z"]);
}

#[test]
fn definitions_differ_from_other_lines() {
    let code = "pub(crate) const fn one() -> u8 {\npub const TWO: u8 = 2;\nimpl One {\n    fn inner() {}\n}\npub mod x;\nuse a::B;\n";
    assert_eq!(Vec::from_iter(definitions(code)), ["TWO", "impl", "one"]);
}
