//! From what was typed as INPUT to files, and from files to recordings.

use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet};
use std::ffi::{OsStr, OsString};
use std::fs;
use std::path::{Component, Path, PathBuf};

use glob::MatchOptions;

use crate::convert::job::{Input, Job};
use crate::dataset::names::{NameFrom, checked_trace_name, fold_case, trace_name};
use crate::error::{Error, ErrorKind, Result};

/// What the inputs of a command line stand for.
#[derive(Debug, Default)]
pub(super) struct Found {
    /// The files, each once, sorted by `source`, then by path.
    pub inputs: Vec<Input>,
    /// Inputs that lead nowhere.
    pub problems: Vec<Error>,
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
        match argument.to_str().filter(|text| !path.exists() && text.contains(['*', '?', '['])) {
            Some(pattern) => self.add_pattern(pattern),
            None if path.exists() => self.push(path, path.parent().unwrap_or(Path::new(""))),
            None => self.problems.push(nothing("there is no such file or folder", path)),
        }
    }

    /// All traces below a folder; their names are relative to `base`.
    fn add_folder(&mut self, folder: &Path, base: &Path) {
        let before = (self.inputs.len(), self.problems.len());
        self.walk(folder, base);
        if before == (self.inputs.len(), self.problems.len()) {
            self.problems.push(nothing("there is no .etl file in this folder", folder));
        }
    }

    /// Links to folders are not followed, so the walk ends.
    fn walk(&mut self, folder: &Path, base: &Path) {
        let entries = match fs::read_dir(folder) {
            Ok(entries) => entries,
            Err(cause) => return self.problems.push(unreadable(folder, cause)),
        };
        for entry in entries {
            match entry.and_then(|entry| Ok((entry.path(), entry.file_type()?))) {
                Ok((path, kind)) if kind.is_dir() => self.walk(&path, base),
                Ok((path, _)) if is_trace(&path) && path.is_file() => self.push(&path, base),
                Ok(_) => {}
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
                Ok(path) if path.is_dir() => self.walk(&path, &base),
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
        self.inputs.push(Input { path: path.to_owned(), source: relative(path, base) });
    }
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

/// One recording per file, or with a name for the merged recording one of all files.
///
/// # Errors
/// [`ErrorKind::Usage`] when two recordings would have the same name, ignoring case.
pub(super) fn jobs(inputs: Vec<Input>, merge: Option<&str>, name_from: NameFrom) -> Result<Vec<Job>> {
    match merge {
        Some(_) if inputs.is_empty() => return Ok(Vec::new()),
        Some(name) => return Ok(vec![Job { name: checked_trace_name(name), inputs }]),
        None => {}
    }
    let jobs: Vec<Job> = separate_jobs(inputs, name_from);
    let mut taken: HashMap<String, &Job> = HashMap::new();
    for job in &jobs {
        match taken.entry(fold_case(&job.name)) {
            Entry::Occupied(other) => return Err(same_name(other.get(), job, name_from)),
            Entry::Vacant(free) => {
                free.insert(job);
            }
        }
    }
    Ok(jobs)
}

/// One recording per file, whatever their names.
pub(super) fn separate_jobs(inputs: Vec<Input>, name_from: NameFrom) -> Vec<Job> {
    let job = |input: Input| Job { name: trace_name(&input.source, name_from), inputs: vec![input] };
    inputs.into_iter().map(job).collect()
}

fn same_name(one: &Job, other: &Job, name_from: NameFrom) -> Error {
    let path = |job: &Job| job.inputs.first().map_or_else(String::new, |input| input.path.display().to_string());
    let message = format!("{} and {} would both become trace={}", path(one), path(other), other.name);
    Error::new(ErrorKind::Usage, message).with_hint(match name_from {
        NameFrom::Stem => {
            "use --name-from path to name traces after their paths, or --merge NAME to make them one trace"
        }
        NameFrom::Path => "name one folder above both as INPUT, convert them apart, or use --merge NAME for one trace",
    })
}

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

    fn input(path: &str, source: &str) -> Input {
        Input { path: PathBuf::from(path), source: source.to_owned() }
    }

    #[test]
    fn each_file_is_a_recording_or_all_are_one() {
        let inputs = vec![input("lab/a.etl", "a.etl"), input("lab/x/b.etl", "x/b.etl")];
        let names = |merge, from| -> Vec<String> {
            jobs(inputs.clone(), merge, from).unwrap().into_iter().map(|job| job.name).collect()
        };
        assert_eq!(names(None, NameFrom::Stem), ["a", "b"]);
        assert_eq!(names(None, NameFrom::Path), ["a", "x.b"]);
        assert_eq!(names(Some("2026"), NameFrom::Stem), ["t_2026"]);
        assert_eq!(jobs(inputs.clone(), Some("all"), NameFrom::Stem).unwrap()[0].inputs, inputs);
    }

    #[test]
    fn two_recordings_of_one_name_are_refused() {
        let inputs = vec![input("lab/a/boot.etl", "a/boot.etl"), input("lab/b/Boot.etl", "b/Boot.etl")];
        let error = jobs(inputs.clone(), None, NameFrom::Stem).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Usage);
        assert_eq!(
            error.to_string(),
            "lab/a/boot.etl and lab/b/Boot.etl would both become trace=Boot (use --name-from path to name traces after \
             their paths, or --merge NAME to make them one trace)"
        );
        assert!(jobs(inputs, None, NameFrom::Path).is_ok());
    }
}
