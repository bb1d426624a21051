//! A symbol server: what it has is kept in a folder as debuggers keep it, and what it has not is not asked for again on the same day.
//!
//! ```text
//! <folder>/<file>/<id>/<file>            what came
//! <folder>/<file>/<id>/<file with _>     packed
//! <folder>/<file>/<id>/msfz0/<file>      as MSFZ
//! <folder>/<file>/<id>/<server>.absent   an empty file: the server has none
//! ```

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::fs;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, Once, PoisonError};
use std::time::Duration;

use base::remote::{self, Accept, Objects, Stop};
use tempfile::NamedTempFile;

use super::candidate::Candidate;
use super::folder::packed_name;
use crate::container::msfz::MAGIC;
use crate::found::Reason;

/// Bytes of a file that is taken from a server.
const MOST: u64 = 4 << 30;

/// How the file is called of which not all has come.
const PART: (&str, &str) = (".etl2parquet-", ".part");

/// How long it is believed that a server has no such file, and that somebody still waits for the rest of one.
const DAY: Duration = Duration::from_secs(24 * 60 * 60);

/// Requests that fail one after another until a server is not asked any more.
const FAILURES: u32 = 3;

/// A server, and where files of it are kept.
#[derive(Debug)]
pub(super) struct Server {
    url: String,
    client: Arc<dyn Objects>,
    folder: PathBuf,
    /// Held during the first request: one tells whether the server answers.
    standing: Mutex<Standing>,
    /// By `<file>/<id>`.
    answers: Mutex<HashMap<String, Answer>>,
    /// Whether parts of earlier runs are removed.
    swept: Once,
}

/// How a server has answered until now.
#[derive(Debug, Default)]
struct Standing {
    has_answered: bool,
    failures: u32,
    /// Why it is not asked any more.
    given_up: Option<String>,
}

#[derive(Clone, Debug)]
enum Answer {
    /// Another thread waits for it.
    Coming,
    Kept(Candidate),
    Absent,
    Failed(Reason),
}

impl Server {
    /// A server whose files are kept in `folder`.
    ///
    /// # Errors
    /// Those of [`remote::client`].
    pub(super) fn new(url: &str, folder: PathBuf) -> base::error::Result<Server> {
        let url = url.trim_end_matches('/').to_owned();
        let client = remote::client(&url)?;
        Ok(Server { url, client, folder, standing: Mutex::default(), answers: Mutex::default(), swept: Once::new() })
    }

    /// What came of a file, if it was asked for.
    pub(super) fn candidates(&self, name: &str, id: &str) -> Option<Candidate> {
        match self.answers().get(&key(name, id))? {
            Answer::Kept(candidate) => Some(candidate.clone()),
            Answer::Failed(reason) => Some(Candidate::Told(remote::shown(&self.url), reason.clone())),
            Answer::Coming | Answer::Absent => None,
        }
    }

    /// Why the server is not asked any more, with its address; `None` while it answers.
    pub(super) fn trouble(&self) -> Option<String> {
        let given_up = self.standing().given_up.clone()?;
        Some(format!("{} is not asked any more: {given_up}", self.url))
    }

    /// Asks for a file, once. It is kept where `is_it` says that it is the one.
    pub(super) fn ask(&self, (name, id): (&str, &str), stop: &Stop, is_it: &dyn Fn(&Candidate) -> bool) {
        if !is_asked_for(name) {
            return;
        }
        self.swept.call_once(|| sweep(&self.folder));
        match self.answers().entry(key(name, id)) {
            Entry::Occupied(_) => return,
            Entry::Vacant(entry) => _ = entry.insert(Answer::Coming),
        }
        let place = self.folder.join(name).join(id);
        let answer =
            if self.is_known_absent(&place) { Answer::Absent } else { self.fetch((name, id), &place, stop, is_it) };
        self.answers().insert(key(name, id), answer);
    }

    fn fetch(&self, (name, id): (&str, &str), place: &Path, stop: &Stop, is_it: &dyn Fn(&Candidate) -> bool) -> Answer {
        let (packed, mut is_absent) = (packed_name(name), true);
        for (file, accept) in [(name, Accept::Msfz), (&packed, Accept::Any)] {
            let came = part(&self.folder).map_err(Failure::Folder);
            let came = came.and_then(|came| self.request(&format!("{name}/{id}/{file}"), (accept, stop), came));
            match came {
                Ok(Came::File(came)) => return kept(came, (place, file), file != name, is_it),
                Ok(Came::Nothing) => {}
                Ok(Came::Forbidden) => is_absent = false,
                Err(failure) => return Answer::Failed(failure.reason()),
            }
        }
        if is_absent {
            // Without the mark the server is asked again the next time.
            let _ = fs::create_dir_all(place).and_then(|()| fs::write(self.mark(place), []));
        }
        Answer::Absent
    }

    /// Asks for one file.
    fn request(&self, path: &str, (accept, stop): (Accept, &Stop), came: NamedTempFile) -> Result<Came, Failure> {
        let url = format!("{}/{path}", self.url);
        let mut standing = self.standing();
        if standing.given_up.is_some() {
            return Err(Failure::Silent);
        }
        // Until one request was answered the others wait for it.
        let alone = if standing.has_answered {
            drop(standing);
            None
        } else {
            Some(standing)
        };
        let answer = self.client.fetch(&url, accept, came.path(), MOST, stop);
        standing = alone.unwrap_or_else(|| self.standing());
        let answer = match answer {
            Ok(_) => Ok(Came::File(came)),
            Err(error) => match error.kind() {
                io::ErrorKind::NotFound => Ok(Came::Nothing),
                io::ErrorKind::PermissionDenied => Ok(Came::Forbidden),
                io::ErrorKind::FileTooLarge => Err(Failure::TooLarge),
                io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => return Err(Failure::Folder(error)),
                _ => return Err(standing.failed(&error)),
            },
        };
        (standing.has_answered, standing.failures) = (true, 0);
        answer
    }

    fn is_known_absent(&self, place: &Path) -> bool {
        age(&self.mark(place)).is_some_and(|age| age < DAY)
    }

    /// The file that says that the server has none.
    fn mark(&self, place: &Path) -> PathBuf {
        let (_, rest) = self.url.split_once("://").unwrap_or_default();
        let name: String = rest.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect();
        place.join(format!("{name}.absent"))
    }

    fn standing(&self) -> MutexGuard<'_, Standing> {
        self.standing.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn answers(&self) -> MutexGuard<'_, HashMap<String, Answer>> {
        self.answers.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Standing {
    /// Counts a request that failed.
    fn failed(&mut self, error: &io::Error) -> Failure {
        self.failures += 1;
        if !self.has_answered || self.failures >= FAILURES {
            self.given_up = Some(error.to_string());
        }
        Failure::Silent
    }
}

/// What a server has answered.
enum Came {
    File(NamedTempFile),
    /// It has no such file.
    Nothing,
    /// It has none for this user; some servers forbid to read what they do not have.
    Forbidden,
}

/// Why a file did not come.
enum Failure {
    /// The server does not answer.
    Silent,
    TooLarge,
    /// It cannot be kept.
    Folder(io::Error),
}

impl Failure {
    fn reason(self) -> Reason {
        Reason::damaged(match self {
            Failure::Silent => "the server does not answer".to_owned(),
            Failure::TooLarge => format!("the server has a file of more than {MOST} bytes"),
            Failure::Folder(error) => format!("what the server sends cannot be kept: {error}"),
        })
    }
}

/// Puts what came where debuggers look for it, unless it is another file: a page that says to log in, or half of it.
fn kept(
    came: NamedTempFile,
    (place, file): (&Path, &str),
    is_packed: bool,
    is_it: &dyn Fn(&Candidate) -> bool,
) -> Answer {
    let candidate = |path: PathBuf| if is_packed { Candidate::Cabinet(path) } else { Candidate::File(path) };
    if !is_it(&candidate(came.path().to_owned())) {
        return Answer::Failed(Reason::damaged("the server sent another file than the one that was asked for"));
    }
    let folder = if is_msfz(came.path()) { place.join("msfz0") } else { place.to_owned() };
    let target = folder.join(file);
    let moved = fs::create_dir_all(&folder).and_then(|()| came.persist(&target).map_err(|error| error.error));
    match moved {
        Ok(_) => Answer::Kept(candidate(target)),
        Err(error) => Answer::Failed(Failure::Folder(error).reason()),
    }
}

/// Whether a file is a compressed PDB.
fn is_msfz(path: &Path) -> bool {
    let mut first = [0; MAGIC.len()];
    fs::File::open(path).and_then(|mut file| file.read_exact(&mut first)).is_ok_and(|()| first == MAGIC)
}

/// A file for what comes, in the folder, which is made where it is not there yet.
fn part(folder: &Path) -> io::Result<NamedTempFile> {
    fs::create_dir_all(folder)?;
    let mut builder = tempfile::Builder::new();
    builder.prefix(PART.0).suffix(PART.1);
    // Others may share the folder: as any file, and not as a temporary one.
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    builder.tempfile_in(folder)
}

/// Removes what runs that were killed have left: parts to which nothing was added for a day.
fn sweep(folder: &Path) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let is_part = name.to_str().is_some_and(|name| name.starts_with(PART.0) && name.ends_with(PART.1));
        if is_part && age(&entry.path()).is_some_and(|age| age > DAY) {
            // Another run may have removed it.
            let _ = fs::remove_file(entry.path());
        }
    }
}

/// How long ago a file was written; `None` where there is none, and of one of later than now.
fn age(path: &Path) -> Option<Duration> {
    fs::metadata(path).and_then(|file| file.modified()).ok()?.elapsed().ok()
}

fn key(name: &str, id: &str) -> String {
    format!("{name}/{id}")
}

/// Whether a name can stand in an address as it is.
fn is_asked_for(name: &str) -> bool {
    !name.contains(['?', '#', '%', '*', '<', '>', '|', '"']) && !name.contains(char::is_control)
}
