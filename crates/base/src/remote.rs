//! Objects that lie in a store reached over a network: S3, Azure, Google Cloud Storage, a web server.
//!
//! Who links a client of such stores [installs](install) it; everybody else asks [`client`] for it, by the URL of what is wanted. So
//! inputs and outputs know nothing of requests, and a program without a client has none of their cost.

pub mod memory;

use std::fmt::{self, Debug};
use std::io;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, PoisonError, RwLock};

use serde::Serialize;

use crate::error::{Error, ErrorKind, Result};

/// A client of stores. Calls may come from any thread, wait for the network, and repeat what failed for a moment.
///
/// An error is of the kind [`io::ErrorKind::NotFound`] where there is no such object, [`io::ErrorKind::PermissionDenied`] where the
/// store does not let this caller have it, and [`io::ErrorKind::StaleNetworkFileHandle`] where the object is another one than it was.
/// None of them says anything of the caller's credentials.
pub trait Objects: Send + Sync + Debug {
    /// What is known of an object.
    ///
    /// # Errors
    /// See [`Objects`].
    fn head(&self, url: &str, stop: &Stop) -> io::Result<ObjectFacts>;

    /// Some ranges of bytes of an object that is still the one of `facts`, side by side.
    ///
    /// # Errors
    /// See [`Objects`].
    fn read(&self, url: &str, ranges: &[Range<u64>], facts: &ObjectFacts, stop: &Stop) -> io::Result<Vec<Vec<u8>>>;

    /// All objects below a URL, `deep` ones by their paths; else those in it, and the names of folders.
    ///
    /// # Errors
    /// See [`Objects`]. Where nothing is below it there is nothing in the list.
    fn list(&self, url: &str, deep: bool, stop: &Stop) -> io::Result<Vec<ListedObject>>;

    /// Writes a small object whole. Returns its new tag, or `None` where the condition does not hold.
    ///
    /// # Errors
    /// See [`Objects`].
    fn put(&self, url: &str, content: &[u8], when: PutWhen<'_>, stop: &Stop) -> io::Result<Option<String>>;

    /// Writes the bytes of a local file as an object, in the place of what is there; in parts where they are many.
    ///
    /// # Errors
    /// See [`Objects`], and those of reading the file.
    fn put_file(&self, url: &str, file: &Path, stop: &Stop) -> io::Result<()>;

    /// Removes an object, if it is there.
    ///
    /// # Errors
    /// See [`Objects`].
    fn remove(&self, url: &str, stop: &Stop) -> io::Result<()>;

    /// Writes an object whole into a local file, in the place of what is there; returns its size in bytes.
    ///
    /// # Errors
    /// See [`Objects`]; [`io::ErrorKind::FileTooLarge`] where the object has more bytes than `most`, and those of writing the file.
    fn fetch(&self, url: &str, accept: Accept, file: &Path, most: u64, stop: &Stop) -> io::Result<u64>;
}

/// Which media types a web server is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Accept {
    /// Any.
    Any,
    /// `application/msfz0`, a compressed PDB; who has none sends what there is.
    Msfz,
}

/// What is known of an object without reading it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ObjectFacts {
    /// Bytes.
    pub size: u64,
    /// When it was last written, Unix nanoseconds; `None` where the store does not say.
    pub modified: Option<i64>,
    /// What changes with its bytes (`ETag`); `None` where the store has none.
    pub tag: Option<String>,
}

/// What lies below a URL.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListedObject {
    /// Its path below that URL, `/`-separated.
    pub path: String,
    /// `None` for a folder: objects lie below it.
    pub facts: Option<ObjectFacts>,
}

/// When an object may be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PutWhen<'a> {
    /// Whatever is there.
    Always,
    /// Where there is none.
    Absent,
    /// Where the one that is there has this tag.
    Is(&'a str),
}

/// Whether whoever waits for the network is to stop waiting.
#[derive(Clone, Default)]
pub struct Stop(Option<Arc<dyn Fn() -> bool + Send + Sync>>);

impl Stop {
    /// Stops when `is_asked` says so.
    pub fn when(is_asked: impl Fn() -> bool + Send + Sync + 'static) -> Stop {
        Stop(Some(Arc::new(is_asked)))
    }

    /// Whether it can ever be time to stop.
    pub fn can_be_asked(&self) -> bool {
        self.0.is_some()
    }

    /// Whether it is time to stop.
    pub fn is_asked(&self) -> bool {
        self.0.as_ref().is_some_and(|is_asked| is_asked())
    }
}

impl Debug for Stop {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Stop").field(&self.is_asked()).finish()
    }
}

static CLIENT: RwLock<Option<Arc<dyn Objects>>> = RwLock::new(None);

static STOP: RwLock<Stop> = RwLock::new(Stop(None));

/// From now on whoever waits and was given no other [`Stop`] stops by this one: that of a program that does one thing.
pub fn stop_by(stop: Stop) {
    *STOP.write().unwrap_or_else(PoisonError::into_inner) = stop;
}

/// What [`stop_by`] was given last; until then it is never time to stop.
pub fn stop_of_process() -> Stop {
    STOP.read().unwrap_or_else(PoisonError::into_inner).clone()
}

/// From now on addresses are reached by this client.
pub fn install(client: Arc<dyn Objects>) {
    *CLIENT.write().unwrap_or_else(PoisonError::into_inner) = Some(client);
}

/// Whether this program has a client of stores.
pub fn has_client() -> bool {
    CLIENT.read().unwrap_or_else(PoisonError::into_inner).is_some()
}

/// The client for a URL.
///
/// # Errors
/// [`ErrorKind::Usage`] for a URL of a kind that is not known, one that contains credentials, and in a program without a client.
pub fn client(url: &str) -> Result<Arc<dyn Objects>> {
    check(url)?;
    let installed = CLIENT.read().unwrap_or_else(PoisonError::into_inner).clone();
    installed.map(|client| Arc::new(Counted(client)) as Arc<dyn Objects>).ok_or_else(|| {
        let message =
            format!("expected a path of this system, found an address ({}://)", scheme(url).unwrap_or_default());
        let hint = "this program was built without a client for it (feature cloud): copy it here";
        Error::new(ErrorKind::Usage, message).in_file(shown(url)).with_hint(hint)
    })
}

/// A client whose requests are counted.
#[derive(Debug)]
struct Counted(Arc<dyn Objects>);

impl Objects for Counted {
    fn head(&self, url: &str, stop: &Stop) -> io::Result<ObjectFacts> {
        Requests { requests: 1, ..Requests::default() }.count();
        self.0.head(url, stop)
    }

    fn read(&self, url: &str, ranges: &[Range<u64>], facts: &ObjectFacts, stop: &Stop) -> io::Result<Vec<Vec<u8>>> {
        Requests { requests: ranges.len() as u64, ..Requests::default() }.count();
        let read = self.0.read(url, ranges, facts, stop)?;
        let bytes_read = read.iter().map(|bytes| bytes.len() as u64).sum();
        Requests { bytes_read, ..Requests::default() }.count();
        Ok(read)
    }

    fn list(&self, url: &str, deep: bool, stop: &Stop) -> io::Result<Vec<ListedObject>> {
        Requests { requests: 1, ..Requests::default() }.count();
        self.0.list(url, deep, stop)
    }

    fn put(&self, url: &str, content: &[u8], when: PutWhen<'_>, stop: &Stop) -> io::Result<Option<String>> {
        Requests { requests: 1, bytes_written: content.len() as u64, ..Requests::default() }.count();
        self.0.put(url, content, when, stop)
    }

    fn put_file(&self, url: &str, file: &Path, stop: &Stop) -> io::Result<()> {
        Requests { requests: 1, bytes_written: std::fs::metadata(file)?.len(), ..Requests::default() }.count();
        self.0.put_file(url, file, stop)
    }

    fn remove(&self, url: &str, stop: &Stop) -> io::Result<()> {
        Requests { requests: 1, ..Requests::default() }.count();
        self.0.remove(url, stop)
    }

    fn fetch(&self, url: &str, accept: Accept, file: &Path, most: u64, stop: &Stop) -> io::Result<u64> {
        Requests { requests: 1, ..Requests::default() }.count();
        let bytes_read = self.0.fetch(url, accept, file, most, stop)?;
        Requests { bytes_read, ..Requests::default() }.count();
        Ok(bytes_read)
    }
}

/// Schemes of URLs that are read; the last two are not written.
const SCHEMES: [&str; 9] = ["s3", "s3a", "az", "abfs", "abfss", "azure", "gs", "http", "https"];

/// Refuses what would be written down with the credentials in it.
fn check(url: &str) -> Result<()> {
    let scheme = scheme(url).unwrap_or_default();
    let fail = |message: &str, hint: &str| {
        Err(Error::new(ErrorKind::Usage, message.to_owned()).in_file(shown(url)).with_hint(hint.to_owned()))
    };
    if !SCHEMES.contains(&scheme) {
        let message = format!("expected a path, or an address that begins with one of {}", SCHEMES.join(", "));
        return fail(&message, "copy it here, and name the copy");
    }
    if has_user(url) || url.contains(['?', '#']) {
        let hint = "addresses are written into what is made of them: give credentials by variables or profiles";
        return fail("expected an address without user, query or fragment, found one that has some", hint);
    }
    Ok(())
}

/// The scheme of a URL; `None` of a path.
pub fn scheme(text: &str) -> Option<&str> {
    let (scheme, _) = text.split_once("://")?;
    let is_scheme = scheme.len() > 1 && scheme.bytes().all(|c| c.is_ascii_alphanumeric() || b"+-.".contains(&c));
    is_scheme.then_some(scheme)
}

/// The URL that a path is the text of; `None` where it is a path of the system.
pub fn url_of(path: &Path) -> Option<String> {
    let text = path.to_str()?;
    scheme(text)?;
    // Who joins paths on Windows joins them by its own separators.
    let text = if cfg!(windows) { text.replace('\\', "/") } else { text.to_owned() };
    Some(text.trim_end_matches('/').to_owned())
}

/// A URL as it may be shown: without what may be secret.
pub fn shown(url: &str) -> PathBuf {
    let url = &url[..url.find(['?', '#']).unwrap_or(url.len())];
    match scheme(url).filter(|_| has_user(url)) {
        None => url.into(),
        Some(scheme) => format!("{scheme}://{}", &url[url.rfind('@').map_or(url.len(), |at| at + 1)..]).into(),
    }
}

/// Whether a URL has a user, or what may be one: a password with a slash in it ends what is before the path.
fn has_user(url: &str) -> bool {
    let Some((scheme, rest)) = url.split_once("://") else { return false };
    let authority = rest.split('/').next().unwrap_or_default();
    let has_port = |port: &str| port.bytes().all(|byte| byte.is_ascii_digit());
    // A container stands there before the account.
    let is_container = scheme.starts_with("abfs") && !authority.contains(':');
    let is_plain = is_container || authority.starts_with('[');
    !is_plain && (authority.contains('@') || authority.split_once(':').is_some_and(|(_, port)| !has_port(port)))
}

/// What was asked of stores since the process began.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Requests {
    /// Requests, without those that a client repeats by itself; an object that is sent in parts is one.
    pub requests: u64,
    /// Bytes of objects that came.
    pub bytes_read: u64,
    /// Of these, bytes that had come before.
    pub bytes_read_again: u64,
    /// Bytes of objects that went.
    pub bytes_written: u64,
}

static REQUESTS: AtomicU64 = AtomicU64::new(0);
static BYTES_READ: AtomicU64 = AtomicU64::new(0);
static BYTES_READ_AGAIN: AtomicU64 = AtomicU64::new(0);
static BYTES_WRITTEN: AtomicU64 = AtomicU64::new(0);

impl Requests {
    /// Those of this process until now.
    pub fn so_far() -> Requests {
        Requests {
            requests: REQUESTS.load(Ordering::Relaxed),
            bytes_read: BYTES_READ.load(Ordering::Relaxed),
            bytes_read_again: BYTES_READ_AGAIN.load(Ordering::Relaxed),
            bytes_written: BYTES_WRITTEN.load(Ordering::Relaxed),
        }
    }

    /// Those that came after `before`.
    #[must_use]
    pub fn since(self, before: Requests) -> Requests {
        Requests {
            requests: self.requests.saturating_sub(before.requests),
            bytes_read: self.bytes_read.saturating_sub(before.bytes_read),
            bytes_read_again: self.bytes_read_again.saturating_sub(before.bytes_read_again),
            bytes_written: self.bytes_written.saturating_sub(before.bytes_written),
        }
    }

    /// Counts these, too.
    pub fn count(self) {
        REQUESTS.fetch_add(self.requests, Ordering::Relaxed);
        BYTES_READ.fetch_add(self.bytes_read, Ordering::Relaxed);
        BYTES_READ_AGAIN.fetch_add(self.bytes_read_again, Ordering::Relaxed);
        BYTES_WRITTEN.fetch_add(self.bytes_written, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_with_credentials_are_refused_without_showing_them() {
        let t = |url: &str, expected: &str| {
            let error = client(url).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Usage);
            let text = error.to_string();
            assert!(text.starts_with(expected), "{text}");
            assert!(!text.contains("secret"), "{text}");
        };
        t("https://h/a.etl?X-Amz-Signature=secret", "https://h/a.etl: expected an address without user");
        t("https://me:secret@h/a.etl", "https://h/a.etl: expected an address without user");
        t("https://me:secret/with+slash@h/a.etl", "https://h/a.etl: expected an address without user");
        t("https://me:secret/with+slash/a.etl", "https://: expected an address without user");
        t("s3://secret@b/a.etl", "s3://b/a.etl: expected an address without user");
        t("ftp://h/a.etl", "ftp://h/a.etl: expected a path, or an address that begins with one of s3");
        t("s3://b/a.etl", "s3://b/a.etl: expected a path of this system, found an address (s3://)");
        t("abfss://c@a.dfs.core.windows.net/x", "abfss://c@a.dfs.core.windows.net/x: expected a path of this system");
    }

    #[test]
    fn paths_are_no_urls() {
        let t = |path: &str, url: Option<&str>| assert_eq!(url_of(Path::new(path)).as_deref(), url);
        t("s3://bucket/a/", Some("s3://bucket/a"));
        t("s3:/bucket", None);
        t("c://lab", None);
        t("a.etl", None);
    }
}
