//! Paths in the code of a file: those of `use` statements, and those in expressions and types.

/// What a `use` statement brings: a path, and the name it gets here; none for `*`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Import {
    pub(crate) path: Vec<String>,
    pub(crate) name: Option<String>,
}

/// The imports of some code.
pub(crate) fn imports(code: &str) -> Vec<Import> {
    let mut found = Vec::new();
    for statement in statements(code) {
        expand(statement, &[], &mut found);
    }
    found
}

/// What stands between `use` and `;`.
fn statements(code: &str) -> impl Iterator<Item = &str> {
    let starts = code.match_indices("use ").filter(|(at, _)| {
        let before = &code[..*at];
        before.is_empty() || before.ends_with([' ', '\n'])
    });
    starts.filter_map(|(at, word)| code[at + word.len()..].split_once(';').map(|(statement, _)| statement))
}

/// Adds the imports of one tree: `a::{self, b as c, d::*}`.
fn expand(tree: &str, prefix: &[String], found: &mut Vec<Import>) {
    let tree = tree.trim();
    let Some((head, group)) = tree.split_once('{') else {
        found.extend(single(tree, prefix));
        return;
    };
    let path: Vec<String> = prefix.iter().cloned().chain(segments(head)).collect();
    let group = group.trim_end().strip_suffix('}').unwrap_or(group);
    for branch in branches(group) {
        expand(branch, &path, found);
    }
}

fn single(tree: &str, prefix: &[String]) -> Option<Import> {
    let (path, alias) = match tree.split_once(" as ") {
        Some((path, alias)) => (path, Some(alias.trim().to_owned())),
        None => (tree, None),
    };
    let mut path: Vec<String> = prefix.iter().cloned().chain(segments(path)).collect();
    match path.last()?.as_str() {
        "*" => {
            path.pop();
            Some(Import { path, name: None })
        }
        "self" if path.len() > 1 => {
            path.pop();
            let name = alias.or_else(|| path.last().cloned());
            Some(Import { path, name })
        }
        _ => {
            let name = alias.or_else(|| path.last().cloned());
            Some(Import { path, name })
        }
    }
}

/// The parts of a group that commas at its own level separate.
fn branches(group: &str) -> Vec<&str> {
    let (mut depth, mut start, mut parts) = (0_usize, 0, Vec::new());
    for (at, c) in group.char_indices() {
        match c {
            '{' => depth += 1,
            '}' => depth = depth.saturating_sub(1),
            ',' if depth == 0 => {
                parts.push(&group[start..at]);
                start = at + 1;
            }
            _ => {}
        }
    }
    parts.push(&group[start..]);
    parts.into_iter().filter(|part| !part.trim().is_empty()).collect()
}

fn segments(path: &str) -> impl Iterator<Item = String> {
    path.split("::").map(str::trim).filter(|segment| !segment.is_empty()).map(str::to_owned)
}

/// Every `a::b::c` of some code, and nothing of a single name. Exported macros, which all stand at the root of their crate
/// whatever their file is, are left out.
pub(crate) fn qualified(code: &str) -> Vec<Vec<String>> {
    let is_name = |c: char| c.is_alphanumeric() || c == '_';
    let mut found = Vec::new();
    let mut rest = code;
    while let Some(at) = rest.find(is_name) {
        let mut path = Vec::new();
        rest = &rest[at..];
        loop {
            let end = rest.find(|c| !is_name(c)).unwrap_or(rest.len());
            path.push(rest[..end].to_owned());
            rest = &rest[end..];
            match rest.strip_prefix("::") {
                Some(behind) if behind.starts_with(is_name) => rest = behind,
                _ => break,
            }
        }
        let is_macro = path.len() == 2 && path[0] == "crate" && rest.starts_with('!');
        if path.len() > 1 && !is_macro {
            found.push(path);
        }
    }
    found
}

#[test]
fn imports_are_taken_apart() {
    let code =
        "use crate::guid::Guid;\npub(crate) use super::{\n    a::{self, B as C},\n    d::*,\n};\nlet because = 1;\n";
    let shown = |import: &Import| format!("{} {}", import.path.join("::"), import.name.as_deref().unwrap_or("*"));
    let found: Vec<String> = imports(code).iter().map(shown).collect();
    assert_eq!(found, ["crate::guid::Guid Guid", "super::a a", "super::a::B C", "super::d *"]);
}

#[test]
fn qualified_names_are_whole_paths() {
    let code = "let x = crate::plan::cut(a::B::<c::D>::new(), crate::words!(x));";
    let found: Vec<String> = qualified(code).iter().map(|path| path.join("::")).collect();
    assert_eq!(found, ["crate::plan::cut", "a::B", "c::D"]);
}
