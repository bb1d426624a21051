//! The schema lock of an output folder, `OUT/schema.lock`: read once by a run, and extended by it at its end, beside other runs.
//!
//! Who extends it holds the guard beside it, reads the file again, adds what it lacks and puts the whole in its place by one
//! rename: a reader sees the file before or after, and of two runs neither loses what the other has added. What a run that was
//! killed has not added stands in the sidecars of its traces, and the next run that passes over them adds it.

use std::collections::{HashMap, HashSet};
use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::thread::sleep;
use std::time::{Duration, Instant};

use base::disk;
use base::error::{Error, ErrorKind, Result};
use columnar::output::errors::output_error;
use columnar::output::folder::{sync_folder, take_file};
use schema::extend::Additions;
use schema::lock::{MAX_LOCK, SchemaLock};
use schema::used::UsedNames;

use crate::sidecar::NAMES_PATH;

/// The lock in an output folder.
pub const LOCK_NAME: &str = "schema.lock";

/// What others hold while they extend a lock, beside it; and what is to be it.
const GUARD: &str = ".schema.lock.guard";
const STAGED: &str = ".schema.lock.tmp";

/// How long others may hold a lock, which takes them milliseconds.
const PATIENCE: Duration = Duration::from_secs(60);
const PAUSE: Duration = Duration::from_millis(10);

/// The content of a lock file, and no more of it than a lock may have.
///
/// # Errors
/// Those of the system.
pub fn content(file: &Path) -> io::Result<Vec<u8>> {
    let mut content = Vec::new();
    File::open(file)?.take(MAX_LOCK as u64 + 1).read_to_end(&mut content)?;
    Ok(content)
}

/// The names that a published trace uses of providers whose names a lock settles, as its sidecar has them.
pub fn names_of(trace: &Path) -> Option<UsedNames> {
    UsedNames::read(&content(&trace.join(NAMES_PATH)).ok()?).ok()
}

/// Adds what traces use to the lock of an output folder; returns how many lines it has gained. A folder without a lock stays
/// without one.
///
/// # Errors
/// [`ErrorKind::Output`] when the lock cannot be read or written, is none any more, or is held by others all the time.
pub fn extend(out: &Path, additions: &Additions) -> Result<usize> {
    // Where it is a link, what it leads to is extended.
    let file = match fs::canonicalize(out.join(LOCK_NAME)) {
        Err(cause) if cause.kind() == io::ErrorKind::NotFound => return Ok(0),
        found => found.map_err(|cause| output_error("find", &out.join(LOCK_NAME), cause))?,
    };
    let guard = Guard::take(file.with_file_name(GUARD))?;
    let extended = extend_held(&file, additions);
    guard.release();
    extended
}

fn extend_held(file: &Path, additions: &Additions) -> Result<usize> {
    let failure = |what: &str| Error::new(ErrorKind::Output, what).in_file(file);
    let before = content(file).map_err(|cause| output_error("read", file, cause))?;
    let lock = SchemaLock::read(&before)
        .map_err(|fault| failure("expected a schema lock").caused_by(fault.to_string()).with_hint(MEND))?;
    let extended = lock.extended(additions);
    if extended == lock {
        return Ok(0);
    }
    let (old, new) = (lock.text(), extended.text());
    let text = with_comments(&String::from_utf8_lossy(&before), &new);
    if text.len() > MAX_LOCK {
        return Err(failure(&format!("expected {MAX_LOCK} bytes at most, found {}", text.len())));
    }
    replace(file, text.as_bytes())?;
    Ok(lines(&new).difference(&lines(&old)).count())
}

/// The lines of a lock, each with its provider.
fn lines(text: &str) -> HashSet<(&str, &str)> {
    let mut provider = "";
    let line = |line| {
        provider = if str::starts_with(line, "P\t") { line } else { provider };
        (provider, line)
    };
    text.lines().filter(|line| !line.is_empty()).map(line).collect()
}

const MEND: &str = "mend it or remove it; the next run adds what this one's traces use";

/// Puts a text in the place of a file, whole or not at all.
fn replace(file: &Path, text: &[u8]) -> Result<()> {
    let staged = file.with_file_name(STAGED);
    let write = || {
        let mut new = File::create(&staged)?;
        new.write_all(text)?;
        disk::sync(&new)?;
        fs::set_permissions(&staged, fs::metadata(file)?.permissions())?;
        drop(new);
        disk::rename(&staged, file)
    };
    if let Err(cause) = write() {
        let _ = fs::remove_file(&staged);
        return Err(output_error("write", file, cause));
    }
    sync_folder(file.parent().unwrap_or(Path::new("")))
}

/// The lines of `new` with the comments of `old`, each in front of the line that it stood in front of; those in front of all
/// lines stay there, and those of lines that have gone stand at the end.
fn with_comments(old: &str, new: &str) -> String {
    let mut comments: HashMap<String, Vec<&str>> = HashMap::new();
    let (mut head, mut waiting, mut provider) = (Vec::new(), Vec::new(), String::new());
    for line in old.lines().filter(|line| !line.is_empty() && *line != SchemaLock::FIRST_LINE) {
        if line.starts_with('#') {
            waiting.push(line);
        } else if provider.is_empty() {
            head.append(&mut waiting);
            key(line, &mut provider);
        } else if !waiting.is_empty() {
            comments.entry(key(line, &mut provider)).or_default().append(&mut waiting);
        } else {
            key(line, &mut provider);
        }
    }
    if provider.is_empty() {
        head.append(&mut waiting);
    }
    let mut text = String::with_capacity(old.len() + new.len());
    let mut push = |line: &str| {
        text.push_str(line);
        text.push('\n');
    };
    provider.clear();
    let (first, rest) = new.split_once('\n').unwrap_or((new, ""));
    [first].into_iter().chain(head).for_each(&mut push);
    for line in rest.lines() {
        let own = if line.is_empty() { None } else { comments.remove(&key(line, &mut provider)) };
        own.into_iter().flatten().for_each(&mut push);
        push(line);
    }
    let mut left: Vec<(String, Vec<&str>)> = comments.into_iter().collect();
    left.sort();
    left.into_iter().flat_map(|(_, lines)| lines).chain(waiting).for_each(&mut push);
    text
}

/// What a line is of: its provider, and its column or event, whatever it says of that.
fn key(line: &str, provider: &mut String) -> String {
    let mut cells = line.split('\t');
    let (kind, of, versions) = (cells.next(), cells.next().unwrap_or_default(), cells.next());
    if kind == Some("P") {
        *provider = of.to_lowercase();
    }
    let first = versions.filter(|_| matches!(kind, Some("E" | "V"))).and_then(|versions| versions.split('-').next());
    [provider.as_str(), kind.unwrap_or_default(), &of.to_lowercase(), first.unwrap_or_default()].join("\t")
}

/// A file that one run holds at a time; the system lets go of it when a run is killed.
struct Guard {
    path: PathBuf,
    file: File,
}

impl Guard {
    fn take(path: PathBuf) -> Result<Guard> {
        let end = Instant::now() + PATIENCE;
        loop {
            match take_file(&path).map_err(|cause| output_error("lock", &path, cause))? {
                Some(file) => return Ok(Guard { path, file }),
                None if Instant::now() >= end => {
                    let message = "another run has been extending the schema lock for a minute";
                    let hint = "the next run adds what this one's traces use";
                    return Err(Error::new(ErrorKind::Output, message).in_file(path).with_hint(hint));
                }
                None => sleep(PAUSE),
            }
        }
    }

    /// Removes the file while it is held, so that it is nobody else's.
    fn release(self) {
        let _ = fs::remove_file(&self.path);
        drop(self.file);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SHOP: &str = "21111111-2222-3333-4444-555555555555";

    fn lock(lines: &str) -> String {
        format!("{}\n\nP\t{SHOP}\tShop\n{lines}", SchemaLock::FIRST_LINE)
    }

    fn additions(lines: &str) -> Additions {
        let mut additions = Additions::default();
        additions.add(&UsedNames::read(lock(lines).as_bytes()).unwrap());
        additions
    }

    #[test]
    fn a_lock_gains_what_it_lacks_and_keeps_its_comments() {
        let folder = tempfile::tempdir().unwrap();
        let (out, file) = (folder.path(), folder.path().join(LOCK_NAME));
        assert_eq!(extend(out, &additions("N\tA\tint\n")).unwrap(), 0);
        assert!(!file.exists(), "a folder without a lock stays so");
        let before = lock("# money\nN\tB\tint\n# the end\n").replace("\n\nP", "\n# ours\n\nP");
        fs::write(&file, &before).unwrap();
        assert_eq!(extend(out, &additions("N\tb\tint\n")).unwrap(), 0);
        assert_eq!(fs::read_to_string(&file).unwrap(), before, "what gains nothing is left as it is");
        assert_eq!(extend(out, &additions("N\tA\tint\nN\tB\ttext\nE\t1\t0\tSale\n")).unwrap(), 3);
        let after = lock("N\tA\tint\n# money\nN\tB\tint\ttext\nE\t1\t0\tSale\n# the end\n");
        assert_eq!(fs::read_to_string(&file).unwrap(), after.replace("\n\nP", "\n# ours\n\nP"));
        assert_eq!(fs::read_dir(out).unwrap().count(), 1, "neither guard nor staged file is left");
    }

    #[test]
    fn what_is_no_lock_is_left_alone() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join(LOCK_NAME);
        fs::write(&file, "mine\n").unwrap();
        let error = extend(folder.path(), &additions("N\tA\tint\n")).unwrap_err();
        assert_eq!((error.kind(), error.location().file.clone()), (ErrorKind::Output, fs::canonicalize(&file).ok()));
        assert_eq!(fs::read_to_string(&file).unwrap(), "mine\n");
    }

    /// What a run that was killed has left does not stand in the way, nor does any run lose what another adds.
    #[test]
    fn runs_side_by_side_lose_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let (out, file) = (folder.path(), folder.path().join(LOCK_NAME));
        fs::write(&file, lock("")).unwrap();
        fs::write(out.join(GUARD), "").unwrap();
        fs::write(out.join(STAGED), "half").unwrap();
        std::thread::scope(|scope| {
            for run in 0..8 {
                scope.spawn(move || {
                    for name in 0..8 {
                        assert_eq!(extend(out, &additions(&format!("N\tA{run}{name}\tint\n"))).unwrap(), 1);
                    }
                });
            }
        });
        let lines: Vec<String> = (0..64).map(|name| format!("N\tA{}{}\tint\n", name / 8, name % 8)).collect();
        let all = lines.concat();
        assert_eq!(fs::read_to_string(&file).unwrap(), lock(&all));
        assert_eq!(fs::read_dir(out).unwrap().count(), 1);
    }
}
