//! The schema lock of an output folder, `OUT/schema.lock`: read once by a run, and extended by it at its end, beside other runs.
//!
//! Of two runs neither loses what the other has added: see [`Store::change`]. What a run that was killed has not added stands in
//! the sidecars of its traces, and the next run that passes over them adds it.

use std::collections::{HashMap, HashSet};

use base::error::{Error, ErrorKind, Result};
use columnar::output::Store;
use schema::extend::Additions;
use schema::lock::{MAX_LOCK, SchemaLock};
use schema::used::UsedNames;

use crate::sidecar::NAMES_PATH;

/// The lock in an output folder.
pub const LOCK_NAME: &str = "schema.lock";

/// Bytes of a lock that are read.
const MOST: u64 = MAX_LOCK as u64;

/// The names that a published trace uses of providers whose names a lock settles, as its sidecar has them.
pub fn names_of(trace: &dyn Store) -> Option<UsedNames> {
    UsedNames::read(&trace.get(NAMES_PATH, MOST).ok()?).ok()
}

/// Adds what traces use to the lock of an output folder; returns how many lines it has gained. A folder without a lock stays
/// without one.
///
/// # Errors
/// [`ErrorKind::Output`] when the lock cannot be read or written, is none any more, or is held by others all the time.
pub fn extend(out: &dyn Store, additions: &Additions) -> Result<usize> {
    let mut gained = 0;
    out.change(LOCK_NAME, MOST, &mut |before| {
        let (lines, text) = extended(before, additions)?;
        gained = lines;
        Ok(text)
    })
    .map_err(|error| if error.hint().is_some() { error } else { error.with_hint(LATER) })?;
    Ok(gained)
}

/// How many lines a lock gains, and its text then; `None` where it gains none.
fn extended(before: &[u8], additions: &Additions) -> Result<(usize, Option<Vec<u8>>)> {
    let failure = |what: &str| Error::new(ErrorKind::Output, what);
    let lock = SchemaLock::read(before)
        .map_err(|fault| failure("expected a schema lock").caused_by(fault.to_string()).with_hint(MEND))?;
    let extended = lock.extended(additions);
    if extended == lock {
        return Ok((0, None));
    }
    let (old, new) = (lock.text(), extended.text());
    let text = with_comments(&String::from_utf8_lossy(before), &new);
    if text.len() > MAX_LOCK {
        return Err(failure(&format!("expected {MAX_LOCK} bytes at most, found {}", text.len())));
    }
    Ok((lines(&new).difference(&lines(&old)).count(), Some(text.into_bytes())))
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
const LATER: &str = "the next run adds what this one's traces use";

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

#[cfg(test)]
mod tests {
    use std::fs;

    use columnar::output::{LocalStore, MemoryStore};

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
        let (out, file) = (&LocalStore::new(folder.path()), folder.path().join(LOCK_NAME));
        assert_eq!(extend(out, &additions("N\tA\tint\n")).unwrap(), 0);
        assert!(!file.exists(), "a folder without a lock stays so");
        let before = lock("# money\nN\tB\tint\n# the end\n").replace("\n\nP", "\n# ours\n\nP");
        fs::write(&file, &before).unwrap();
        assert_eq!(extend(out, &additions("N\tb\tint\n")).unwrap(), 0);
        assert_eq!(fs::read_to_string(&file).unwrap(), before, "what gains nothing is left as it is");
        assert_eq!(extend(out, &additions("N\tA\tint\nN\tB\ttext\nE\t1\t0\tSale\n")).unwrap(), 3);
        let after = lock("N\tA\tint\n# money\nN\tB\tint\ttext\nE\t1\t0\tSale\n# the end\n");
        assert_eq!(fs::read_to_string(&file).unwrap(), after.replace("\n\nP", "\n# ours\n\nP"));
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1, "neither guard nor staged file is left");
    }

    #[test]
    fn what_is_no_lock_is_left_alone() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join(LOCK_NAME);
        fs::write(&file, "mine\n").unwrap();
        let error = extend(&LocalStore::new(folder.path()), &additions("N\tA\tint\n")).unwrap_err();
        assert_eq!((error.kind(), error.location().file.clone()), (ErrorKind::Output, fs::canonicalize(&file).ok()));
        assert_eq!(fs::read_to_string(&file).unwrap(), "mine\n");
    }

    /// What a run that was killed has left does not stand in the way, nor does any run lose what another adds.
    #[test]
    fn runs_side_by_side_lose_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join(LOCK_NAME);
        fs::write(&file, lock("")).unwrap();
        fs::write(folder.path().join(".schema.lock.guard"), "").unwrap();
        fs::write(folder.path().join(".schema.lock.tmp"), "half").unwrap();
        run_side_by_side(&LocalStore::new(folder.path()));
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
        let memory = MemoryStore::default();
        memory.put(LOCK_NAME, lock("").as_bytes()).unwrap();
        run_side_by_side(&memory);
    }

    fn run_side_by_side(out: &dyn Store) {
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
        assert_eq!(out.get(LOCK_NAME, MOST).unwrap(), lock(&all).as_bytes());
    }
}
