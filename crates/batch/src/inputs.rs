//! From what was typed as INPUT to traces.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::ffi::{OsStr, OsString};
use std::fs;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use base::error::{Error, ErrorKind, Result};
use base::listing::entries;
use base::names::{is_packed_name, is_tar_name, is_trace_name, text_of};
use base::remote;
use columnar::output::folder::{is_lake, is_of_output};
use columnar::output::remote_output::check_writable;
use conversion::convert::{InputFile, Recording};
use etl::input::{Address, OpenOptions, STDIN, SharedMembers, read_stdin};
use glob::MatchOptions;

use crate::contents::{self, Asked, Contents};
use crate::list::{self, LineOptions};
use crate::passed_over::{PassedOver, Reason};
use crate::remote_inputs;

/// The traces of each recording that lists name.
pub type Merged = BTreeMap<String, Vec<InputFile>>;

/// What the inputs of a command line stand for.
#[derive(Debug, Default)]
pub struct FoundInputs {
    /// The traces, each once, sorted by `source`, then by path.
    pub inputs: Vec<InputFile>,
    /// Those of which a list says what trace they become, by its name; sorted likewise, and not among the others.
    pub merged: Merged,
    /// Those of which a list says anything, until all are found.
    listed: Vec<ListedInput>,
    /// Of members of archives the number of the archive and where in it they lie.
    lie_at: HashMap<Address, (usize, (usize, u64))>,
    /// Inputs that lead nowhere.
    pub problems: Vec<Error>,
    /// What lies in the searched folders and is called like what describes events, by name and path, in the order of names.
    pub schemas: Vec<(String, PathBuf)>,
    /// What was not taken: once for every folder and archive, by reason.
    pub notes: Vec<String>,
    /// How they are opened, with standard input where that is one of them.
    pub open: OpenOptions,
}

/// A trace of which a list says something.
#[derive(Debug)]
struct ListedInput {
    input: InputFile,
    said: LineOptions,
    /// The list and the line.
    place: (PathBuf, usize),
}

/// Finds the traces behind the inputs. `open` names the folder that standard input is kept in.
pub fn find(arguments: &[OsString], open: OpenOptions) -> FoundInputs {
    let mut found = FoundInputs { open, ..FoundInputs::default() };
    for argument in arguments {
        match list_of(argument) {
            Some(list) => found.add_list(&list),
            None => found.add(argument),
        }
    }
    let by_name = |a: &InputFile, b: &InputFile| (&a.source, &a.address).cmp(&(&b.source, &b.address));
    found.inputs.sort_by(by_name);
    let mut seen = found.settle_listed();
    found.inputs.retain(|input| seen.insert(input.address.canonical()));
    for ListedInput { input, said, .. } in std::mem::take(&mut found.listed) {
        match said.merge {
            Some(name) => found.merged.entry(name).or_default().push(input),
            None => found.inputs.push(input),
        }
    }
    found.inputs.sort_by(by_name);
    found.merged.values_mut().for_each(|inputs| inputs.sort_by(by_name));
    found.schemas.sort();
    let mut seen = HashSet::new();
    found.schemas.retain(|(_, path)| seen.insert(Address::from(path).canonical()));
    found.open.shared = Arc::new(SharedMembers::of(found.all().iter().map(|input| &input.address)));
    found
}

/// The path behind `@`.
fn list_of(argument: &OsStr) -> Option<PathBuf> {
    let path = Path::new(argument);
    let rest = path.to_str()?.strip_prefix('@')?;
    Some(PathBuf::from(rest))
}

impl FoundInputs {
    /// A file that names one input per line; blank lines and those that begin with `#` say nothing.
    fn add_list(&mut self, list: &Path) {
        let text = match fs::read(list) {
            Ok(bytes) => decode(&bytes),
            Err(cause) => return self.problems.push(unreadable(list, cause)),
        };
        let Some(text) = text else {
            return self.problems.push(nothing("the list is neither UTF-8 nor UTF-16 text", list));
        };
        let lines = (1..).zip(text.lines().map(str::trim));
        let mut lines = lines.filter(|(_, line)| !line.is_empty() && !line.starts_with('#')).peekable();
        if lines.peek().is_none() {
            self.problems.push(nothing("this list names no inputs", list));
        }
        for (number, line) in lines {
            let before = self.problems.len();
            self.add_line(line, (list, number));
            for problem in self.problems.split_off(before) {
                let line = format!("line {number} of {}", list.display());
                let hint = problem.hint().map_or_else(|| line.clone(), |hint| format!("{line}; {hint}"));
                self.problems.push(problem.with_hint(hint));
            }
        }
    }

    fn add_line(&mut self, line: &str, (list, number): (&Path, usize)) {
        if line.starts_with('@') {
            let message = format!("a list cannot name another list: {line}");
            return self.problems.push(Error::new(ErrorKind::Input, message));
        }
        let (input, said) = match list::parse(line) {
            Ok(parsed) => parsed,
            Err(message) => return self.problems.push(Error::new(ErrorKind::Usage, message)),
        };
        let before = self.inputs.len();
        self.add(OsStr::new(&input));
        if said != LineOptions::default() {
            for input in self.inputs.split_off(before) {
                let input = InputFile { offset_ns: said.offset_ns.unwrap_or_default(), ..input };
                self.listed.push(ListedInput { input, said: said.clone(), place: (list.to_owned(), number) });
            }
        }
    }

    /// Each trace that a list has options for, once; an error where lists have different options for one. Returns all of them.
    fn settle_listed(&mut self) -> HashSet<PathBuf> {
        let mut first = HashMap::<PathBuf, (LineOptions, (PathBuf, usize))>::new();
        let mut contradicted = HashSet::new();
        let mut kept = Vec::new();
        for listed in std::mem::take(&mut self.listed) {
            let address = listed.input.address.canonical();
            let Some((said, place)) = first.get(&address) else {
                first.insert(address, (listed.said.clone(), listed.place.clone()));
                kept.push(listed);
                continue;
            };
            if *said != listed.said && contradicted.insert(address.clone()) {
                let [first, other] =
                    [place, &listed.place].map(|(list, line)| format!("line {line} of {}", list.display()));
                let message = format!("the options in {other} are not those in {first}");
                self.problems.push(Error::new(ErrorKind::Usage, message).in_file(&listed.input.address));
            }
        }
        kept.retain(|listed| !contradicted.contains(&listed.input.address.canonical()));
        self.listed = kept;
        first.into_keys().collect()
    }

    /// All traces, whatever they become.
    pub fn all(&self) -> Vec<InputFile> {
        let mut all: Vec<InputFile> = self.inputs.iter().chain(self.merged.values().flatten()).cloned().collect();
        all.sort_by(|a, b| (&a.source, &a.address).cmp(&(&b.source, &b.address)));
        all
    }

    /// Standard input, a file, a folder or a member of an archive if there is one of this name, else a pattern.
    fn add(&mut self, argument: &OsStr) {
        let (path, address) = (Path::new(argument), Address::from(argument));
        if address.is_stdin() {
            return self.add_stdin();
        }
        if path.is_dir() {
            return self.add_folder(path, path);
        }
        let split = address.split();
        if split.is_none() && address.scheme().is_some() && !path.exists() {
            return self.add_remote(&address);
        }
        if let Some((archive, member)) = split {
            let source = relative(&archive, archive.parent().unwrap_or(Path::new("")));
            return match contents::of_members(&archive, &source, &member, &self.open) {
                Ok(members) => self.keep(members),
                Err(problem) => self.problems.push(problem),
            };
        }
        match argument.to_str().filter(|_| !path.exists() && path.components().any(|part| !is_plain(&part))) {
            Some(pattern) => self.add_pattern(pattern),
            None if path.exists() => self.push(&as_stored(path), path.parent().unwrap_or(Path::new(""))),
            None => self.problems.push(nothing("there is no such file or folder", path)),
        }
    }

    /// What lies in a store: one object, or those below an address.
    fn add_remote(&mut self, address: &Address) {
        let found = match remote_inputs::find(address) {
            Ok(found) => found,
            Err(problem) => return self.problems.push(problem),
        };
        let asked = if found.is_named { Asked::ByName } else { Asked::InFolder };
        let mut passed = PassedOver::default();
        for (object, source) in found.objects {
            if let Err(reason) = self.take(&object, &source, asked) {
                passed.add(reason, &source);
            }
        }
        self.notes.extend(passed.note(address));
    }

    /// What comes through standard input, which is read once.
    fn add_stdin(&mut self) {
        if self.open.stdin.is_none() {
            match read_stdin(&mut std::io::stdin().lock(), &self.open) {
                Ok(input) => self.open.stdin = Some(input),
                Err(problem) => return self.problems.push(problem),
            }
        }
        self.push(Path::new(STDIN), Path::new(""));
    }

    /// All traces below a folder; their names are relative to `base`.
    fn add_folder(&mut self, folder: &Path, base: &Path) {
        if is_lake(folder) {
            let error = nothing("expected traces, found a lake", folder);
            return self.problems.push(error.with_hint("ask it with query, or name the folder that it was made of"));
        }
        let before = (self.inputs.len(), self.problems.len());
        let mut passed = PassedOver::default();
        self.walk(folder, base, &mut passed);
        if before != (self.inputs.len(), self.problems.len()) {
            return self.notes.extend(passed.note(folder));
        }
        let error = nothing("there is no trace in this folder", folder);
        self.problems.push(match passed.text() {
            Some(text) => error.with_hint(text),
            None => error,
        });
    }

    /// Those of a folder, in which there need be none.
    fn add_below(&mut self, folder: &Path, base: &Path) {
        let mut passed = PassedOver::default();
        self.walk(folder, base, &mut passed);
        self.notes.extend(passed.note(folder));
    }

    /// Links to folders are not followed, so the walk ends. What this program has written is no input, and is not looked into.
    fn walk(&mut self, folder: &Path, base: &Path, passed: &mut PassedOver) {
        let entries = match entries(folder) {
            Ok(entries) => entries,
            Err(cause) => return self.problems.push(unreadable(folder, cause)),
        };
        for entry in entries {
            match entry.file_type() {
                Ok(kind) if kind.is_dir() && is_of_output(&entry.path()) => {}
                Ok(kind) if kind.is_dir() => self.walk(&entry.path(), base, passed),
                Ok(_) => self.add_found(&entry.path(), base, passed),
                Err(cause) => self.problems.push(unreadable(folder, cause)),
            }
        }
    }

    /// A file of a folder, if it is called like something that is read.
    fn add_found(&mut self, path: &Path, base: &Path, passed: &mut PassedOver) {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        if is_tar_name(&name) || !is_trace_name(&name) && !is_packed_name(&name) {
            let reason = Reason::of_name(&name);
            if reason == Reason::Schema {
                self.schemas.push((relative(path, base), path.to_owned()));
            }
            return passed.add(reason, &name);
        }
        match fs::metadata(path) {
            Ok(found) if found.is_file() => {
                if let Err(reason) = self.take(&Address::from(path), &relative(path, base), Asked::InFolder) {
                    passed.add(reason, &name);
                }
            }
            // Links to folders are not followed.
            Ok(found) if found.is_dir() => {}
            Ok(_) => passed.add(Reason::NoFile, &name),
            Err(cause) => self.problems.push(unreadable(path, cause)),
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
        let address = Address::from(path);
        let source = if address.is_stdin() { "stdin".to_owned() } else { relative(path, base) };
        // What was named is never passed over.
        let _ = self.take(&address, &source, Asked::ByName);
    }

    /// Takes the traces that a file stands for.
    ///
    /// # Errors
    /// Why it is passed over.
    fn take(&mut self, path: &Address, source: &str, asked: Asked) -> std::result::Result<(), Reason> {
        let found = contents::of_file(path, source, asked, &self.open)?;
        self.notes.extend(found.passed.note(path));
        self.keep(found);
        Ok(())
    }

    fn keep(&mut self, found: Contents) {
        let archive = self.lie_at.len();
        let places = found.inputs.iter().zip(found.lie_at);
        self.lie_at.extend(places.map(|(input, place)| (input.address.clone(), (archive, place))));
        self.inputs.extend(found.inputs);
        self.problems.extend(found.problems);
    }

    /// Puts recordings from one archive, where they stand side by side, into the order in which their members lie there, so that it is
    /// read from its start to its end; says of all other inputs that nobody asks for them.
    pub fn settle(&self, recordings: &mut [Recording]) {
        let lies_at = |recording: &Recording| self.lie_at.get(&recording.inputs.first()?.address).copied();
        let archive = |recording: &Recording| lies_at(recording).map(|(archive, _)| archive);
        let of_archives = recordings.chunk_by_mut(|one, next| archive(one).is_some() && archive(one) == archive(next));
        of_archives.for_each(|of_archive| of_archive.sort_by_cached_key(lies_at));
        let asked_for: HashSet<&Address> = recordings.iter().flat_map(Recording::addresses).collect();
        let all = self.all();
        let others = all.iter().map(|input| &input.address).filter(|address| !asked_for.contains(address));
        self.open.shared.forget(others);
    }
}

/// Refuses an output that nobody can write: an address without a client for it.
///
/// # Errors
/// [`ErrorKind::Usage`].
pub fn check_output(output: &Path) -> Result<()> {
    remote::url_of(output).map_or(Ok(()), |url| check_writable(&url))
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

/// The folders of a pattern before the first part with a wildcard.
fn base_of(pattern: &str) -> PathBuf {
    Path::new(pattern).components().take_while(is_plain).collect()
}

/// Whether a part of a path has no wildcard; that of `\\?\C:` is none.
fn is_plain(part: &Component<'_>) -> bool {
    !matches!(part, Component::Normal(name) if name.to_string_lossy().contains(['*', '?', '[']))
}

/// The path with the name that the folder has for it. Where case does not count, and trailing dots do not either, it may
/// be typed in another spelling, and what a trace is called must not depend on that.
fn as_stored(path: &Path) -> PathBuf {
    let is_loose = cfg!(any(windows, target_vendor = "apple"));
    let is_link = || fs::symlink_metadata(path).is_ok_and(|found| found.is_symlink());
    // A link has its own name, not that of what it leads to.
    let stored = if is_loose && !is_link() { fs::canonicalize(path).ok() } else { None };
    match stored.as_deref().and_then(Path::file_name) {
        Some(name) => path.with_file_name(name),
        None => path.to_owned(),
    }
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
    let names: Vec<_> = below.iter().map(text_of).collect();
    names.join("/")
}

fn nothing(message: &str, path: &Path) -> Error {
    Error::new(ErrorKind::Input, message).in_file(path)
}

fn unreadable(path: &Path, cause: std::io::Error) -> Error {
    Error::new(ErrorKind::Input, "cannot be read").in_file(path).caused_by(cause)
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

    fn find_in(root: &tempfile::TempDir, arguments: &[&str]) -> FoundInputs {
        find(
            &arguments.iter().map(|argument| root.path().join(argument).into_os_string()).collect::<Vec<_>>(),
            OpenOptions::default(),
        )
    }

    fn sources(found: &FoundInputs) -> Vec<&str> {
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
        // Where names of files have no case, patterns have none.
        t("lab/*.etl", if cfg!(windows) { &["a.ETL", "b.etl"] } else { &["b.etl"] });
        t("lab/**/*.etl", if cfg!(windows) { &["a.ETL", "b.etl", "x/c.etl"] } else { &["b.etl", "x/c.etl"] });
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
            let found = find(&[OsString::from(format!("@{}", at("list.txt")))], OpenOptions::default());
            assert_eq!(sources(&found), ["a.etl", "b.etl", "c.etl"]);
            assert_eq!(found.problems.len(), 1);
            assert!(found.problems[0].to_string().contains("a list cannot name another list: @other.txt"));
        }
    }

    #[test]
    fn what_leads_nowhere_is_said() {
        let root = folder(&["empty/note.txt", "lake/lake.json", "lake/events/a.etl"]);
        let t = |argument: &str, expected: &str| {
            let found = find_in(&root, &[argument]);
            assert!(found.inputs.is_empty());
            let messages: Vec<String> = found.problems.iter().map(Error::to_string).collect();
            assert_eq!(messages, [format!("{}: {expected}", root.path().join(argument).display())]);
        };
        t("missing.etl", "there is no such file or folder");
        t(
            "empty",
            "there is no trace in this folder (1 file is not read: not called like a trace or an archive (note.txt))",
        );
        t("lake", "expected traces, found a lake (ask it with query, or name the folder that it was made of)");
        t("*.etl", "nothing matches this pattern");
        t("missing/*.etl", "nothing matches this pattern");
        let list = root.path().join("empty/note.txt");
        let found = find(&[OsString::from(format!("@{}", list.display()))], OpenOptions::default());
        assert_eq!(found.problems[0].to_string(), format!("{}: this list names no inputs", list.display()));
    }

    #[test]
    fn what_a_folder_holds_besides_is_said_once() {
        let files = ["a.etl", "a.etl.001", "b.ETL.002", "sub/c.etl.merged", "f.etl.txt", "sub/g.md", "h.json", "i"];
        let root = folder(&files);
        let found = find_in(&root, &["."]);
        assert_eq!(sources(&found), ["a.etl", "a.etl.001", "b.ETL.002", "sub/c.etl.merged"]);
        assert_eq!(found.notes.len(), 1, "{:?}", found.notes);
        let said = ": 4 files are not read: not called like a trace or an archive (f.etl.txt, g.md, h.json and 1 more)";
        assert!(found.notes[0].ends_with(said), "{}", found.notes[0]);
        assert!(find_in(&root, &["a.etl.001"]).notes.is_empty());
    }

    #[test]
    fn an_output_folder_among_the_inputs_is_passed_over() {
        let root = folder(&[
            "a.etl",
            "out/trace=a/sidecar/manifest.json",
            "out/trace=a/events/A/part-00000-00000.parquet",
            "out/.etl2parquet/b.json",
            "out/.etl2parquet-c/lock",
            "trace=d/d.etl",
            "out/e.etl",
        ]);
        let found = find_in(&root, &["."]);
        assert_eq!(sources(&found), ["a.etl", "out/e.etl", "trace=d/d.etl"]);
        assert!(found.notes.is_empty(), "{:?}", found.notes);
    }

    #[test]
    fn addresses_are_no_paths() {
        assert_eq!(check_output(Path::new("gs://b/out")).unwrap_err().kind(), ErrorKind::Usage);
        assert_eq!(check_output(Path::new("https://h/out")).unwrap_err().kind(), ErrorKind::Usage);
        let found = find(&[OsString::from("s3://bucket/*.etl")], OpenOptions::default());
        let text = found.problems[0].to_string();
        assert!(text.contains("expected a path of this system, found an address (s3://)"), "{text}");
        assert!(text.contains("built without a client"), "{text}");
    }
}
