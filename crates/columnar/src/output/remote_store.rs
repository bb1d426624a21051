//! A store whose files are objects reached over a network.

use std::io;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use base::error::{Error, ErrorKind, Result};
use base::remote::{self, ObjectFacts, Objects, PutWhen, Stop};
use serde_json::Value;

use super::errors::output_error;
use super::local_store::LocalStore;
use super::manifest::{MANIFEST_PATH, MAX_MANIFEST};
use super::store::{Change, EntryKind, Store, StoreEntry, StoredFile, joined};

/// Bytes that are asked for at a time where fewer are wanted: a footer comes with what it describes last.
const AHEAD: u64 = 1 << 20;

/// How often a file is changed anew where others change it meanwhile.
const CHANGES: usize = 20;

/// The files below a folder, or below the address of a store.
pub fn store_at(path: &Path) -> Arc<dyn Store> {
    let Some(url) = remote::url_of(path) else { return LocalStore::shared(path) };
    RemoteStore::new(&url).shared()
}

/// What became of an object that was to be written under a condition.
#[derive(Debug)]
pub enum PutEnd {
    /// It is there.
    Done,
    /// The condition does not hold: somebody else was faster.
    Refused,
    /// It is not there.
    Failed(Error),
    /// Nobody knows: the store does not answer.
    Unknown(Error),
}

/// Objects below a URL. A folder is there while an object is below it.
#[derive(Clone, Debug)]
pub struct RemoteStore {
    url: String,
    stop: Stop,
}

impl RemoteStore {
    /// The objects below a URL.
    pub fn new(url: &str) -> RemoteStore {
        RemoteStore { url: url.trim_end_matches('/').to_owned(), stop: remote::stop_of_process() }
    }

    /// The same, for whoever may want to stop waiting.
    #[must_use]
    pub fn with_stop(self, stop: Stop) -> RemoteStore {
        RemoteStore { stop, ..self }
    }

    /// The same, to be shared; of a trace its files by their paths in it.
    fn shared(self) -> Arc<dyn Store> {
        let is_trace = self.url.rsplit('/').next().is_some_and(|name| name.starts_with("trace="));
        if is_trace { Arc::new(RemoteTrace::new(self)) } else { Arc::new(self) }
    }

    /// The URL of a path.
    pub(super) fn url(&self, path: &str) -> String {
        if path.is_empty() { self.url.clone() } else { format!("{}/{path}", self.url) }
    }

    pub(super) fn client(&self) -> io::Result<Arc<dyn Objects>> {
        remote::client(&self.url).map_err(io::Error::other)
    }

    pub(super) fn stop(&self) -> &Stop {
        &self.stop
    }

    /// Asks the client for something about a path.
    pub(super) fn ask<T>(&self, path: &str, ask: impl FnOnce(&dyn Objects, &str) -> io::Result<T>) -> io::Result<T> {
        ask(&*self.client()?, &self.url(path))
    }

    /// As [`RemoteStore::ask`], of what writes.
    ///
    /// # Errors
    /// [`ErrorKind::Output`], and [`ErrorKind::Interrupted`] where the caller asked to stop.
    pub(super) fn write<T>(
        &self,
        (doing, path): (&str, &str),
        ask: impl FnOnce(&dyn Objects, &str) -> io::Result<T>,
    ) -> Result<T> {
        self.ask(path, ask).map_err(|cause| self.failed(doing, path, cause))
    }

    pub(super) fn failed(&self, doing: &str, path: &str, cause: io::Error) -> Error {
        if self.stop.is_asked() {
            return Error::new(ErrorKind::Interrupted, "interrupted");
        }
        output_error(doing, &self.location(path), cause)
    }

    fn open_object(&self, path: &str) -> io::Result<RemoteFile> {
        let facts = self.facts(path)?.ok_or(io::ErrorKind::NotFound)?;
        Ok(RemoteFile { store: self.clone(), path: path.to_owned(), facts, last: Mutex::default() })
    }

    /// What is known of an object; `None` where there is none.
    pub(super) fn facts(&self, path: &str) -> io::Result<Option<ObjectFacts>> {
        match self.ask(path, |client, url| client.head(url, &self.stop)) {
            Err(cause) if cause.kind() == io::ErrorKind::NotFound => Ok(None),
            found => found.map(Some),
        }
    }

    /// What changes with the bytes of an object; `None` where there is none.
    ///
    /// # Errors
    /// [`ErrorKind::Output`] when the store cannot be asked.
    pub fn tag(&self, path: &str) -> Result<Option<String>> {
        let facts = self.facts(path).map_err(|cause| self.failed("read", path, cause))?;
        Ok(facts.map(|facts| facts.tag.unwrap_or_default()))
    }

    /// Writes the bytes of a local file, in the place of what is there.
    ///
    /// # Errors
    /// [`ErrorKind::Output`] when that fails, [`ErrorKind::Interrupted`] when the caller asked to stop.
    pub fn send(&self, path: &str, file: &Path) -> Result<()> {
        let put = |client: &dyn Objects, url: &str| client.put_file(url, file, &self.stop);
        self.write(("write", path), put)
    }

    /// Writes an object where none is, or where the one that is there has a tag.
    pub fn put_when(&self, path: &str, content: &[u8], tag: Option<&str>) -> PutEnd {
        let when = tag.map_or(PutWhen::Absent, PutWhen::Is);
        let put = |client: &dyn Objects, url: &str| client.put(url, content, when, &self.stop);
        let put = self.write(("write", path), put);
        if matches!(put, Ok(Some(_))) {
            return PutEnd::Done;
        }
        match self.get(path, content.len() as u64) {
            // The answer was lost, or is that to a second request.
            Ok(there) if there == content => PutEnd::Done,
            Err(cause) if cause.kind() != io::ErrorKind::NotFound => {
                PutEnd::Unknown(put.err().unwrap_or_else(|| self.failed("read", path, cause)))
            }
            _ => put.err().map_or(PutEnd::Refused, PutEnd::Failed),
        }
    }

    /// Where the files of a published trace lie, from a folder on: those of one in a store have a folder by the attempt that wrote
    /// them, which its manifest names.
    pub(super) fn data_of(&self, trace: &str) -> io::Result<Option<String>> {
        let manifest = match self.get(&joined(trace, MANIFEST_PATH), MAX_MANIFEST) {
            Err(cause) if cause.kind() == io::ErrorKind::NotFound => return Ok(None),
            manifest => manifest?,
        };
        // What cannot be understood names nothing, and leaves nobody free to remove what it may have named.
        let manifest: Value = serde_json::from_slice(&manifest)?;
        let data = manifest["run"]["data"].as_str().unwrap_or_default();
        Ok(Some(if base::names::is_safe_component(data) { data.to_owned() } else { String::new() }))
    }
}

impl Store for RemoteStore {
    fn location(&self, path: &str) -> PathBuf {
        self.url(path).into()
    }

    fn below(&self, folder: &str) -> Arc<dyn Store> {
        RemoteStore { url: self.url(folder), stop: self.stop.clone() }.shared()
    }

    fn kind(&self, path: &str) -> io::Result<EntryKind> {
        if !path.is_empty() && self.facts(path)?.is_some() {
            return Ok(EntryKind::File);
        }
        self.list(path).map(|_| EntryKind::Folder)
    }

    fn list(&self, folder: &str) -> io::Result<Vec<StoreEntry>> {
        let listed = self.ask(folder, |client, url| client.list(url, false, &self.stop))?;
        if listed.is_empty() {
            return Err(io::ErrorKind::NotFound.into());
        }
        let entry = |kind, name| StoreEntry { name, kind };
        let kind = |facts: Option<_>| facts.map_or(EntryKind::Folder, |_: ObjectFacts| EntryKind::File);
        Ok(listed.into_iter().map(|object| entry(kind(object.facts), object.path)).collect())
    }

    fn open(&self, path: &str) -> io::Result<Arc<dyn StoredFile>> {
        Ok(Arc::new(self.open_object(path)?))
    }

    fn put(&self, path: &str, content: &[u8]) -> Result<()> {
        let put = |client: &dyn Objects, url: &str| client.put(url, content, PutWhen::Always, &self.stop);
        self.write(("write", path), put).map(drop)
    }

    fn put_first(&self, path: &str, parts: &[&[u8]]) -> Result<bool> {
        match self.put_when(path, &parts.concat(), None) {
            PutEnd::Done => Ok(true),
            PutEnd::Refused => Ok(false),
            PutEnd::Failed(error) | PutEnd::Unknown(error) => Err(error),
        }
    }

    fn change(&self, path: &str, most: u64, change: &mut Change<'_>) -> Result<()> {
        let failed = |cause| self.failed("read", path, cause);
        for _ in 0..CHANGES {
            let file = match self.open_object(path) {
                Err(cause) if cause.kind() == io::ErrorKind::NotFound => return Ok(()),
                file => file.map_err(failed)?,
            };
            let shown = usize::try_from(file.len().min(most.saturating_add(1))).unwrap_or(usize::MAX);
            let mut content = vec![0; shown];
            match file.read_exact_at(0, &mut content) {
                // Another process was faster.
                Err(cause) if cause.kind() == io::ErrorKind::StaleNetworkFileHandle => continue,
                read => read.map_err(failed)?,
            }
            let in_place =
                |error: Error| if error.location().file.is_some() { error } else { error.in_file(self.location(path)) };
            let Some(changed) = change(&content).map_err(in_place)? else { return Ok(()) };
            let when = PutWhen::Is(file.facts.tag.as_deref().unwrap_or_default());
            let put = |client: &dyn Objects, url: &str| client.put(url, &changed, when, &self.stop);
            if self.write(("write", path), put)?.is_some() {
                return Ok(());
            }
        }
        let message = "others have been changing this object all the time";
        Err(Error::new(ErrorKind::Output, message).in_file(self.location(path)).with_hint("run again"))
    }

    fn remove(&self, path: &str) -> Result<()> {
        let there = self.facts(path).map_err(|cause| self.failed("remove", path, cause))?;
        if there.is_none() {
            return Err(self.failed("remove", path, io::ErrorKind::NotFound.into()));
        }
        self.write(("remove", path), |client, url| client.remove(url, &self.stop))
    }
}

/// An object that is open: another one in its place is none of it.
#[derive(Debug)]
struct RemoteFile {
    store: RemoteStore,
    path: String,
    facts: ObjectFacts,
    /// What came last, and from where on.
    last: Mutex<(u64, Vec<u8>)>,
}

impl RemoteFile {
    fn fetch(&self, range: Range<u64>) -> io::Result<Vec<u8>> {
        let wanted = range.end - range.start;
        let read = self.store.ask(&self.path, |client, url| {
            client.read(url, std::slice::from_ref(&range), &self.facts, &self.store.stop)
        })?;
        let bytes = read.into_iter().next().unwrap_or_default();
        if bytes.len() as u64 == wanted { Ok(bytes) } else { Err(io::ErrorKind::UnexpectedEof.into()) }
    }
}

impl StoredFile for RemoteFile {
    fn len(&self) -> u64 {
        self.facts.size
    }

    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<usize> {
        if offset >= self.facts.size || buffer.is_empty() {
            return Ok(0);
        }
        // A block is whole or none; who waits for it wants it next.
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        let is_in =
            |(start, bytes): &(u64, Vec<u8>)| *start <= offset && offset < start.saturating_add(bytes.len() as u64);
        if !is_in(&last) {
            let len = AHEAD.max(buffer.len() as u64);
            let end = offset.saturating_add(len).min(self.facts.size);
            // Who asks for the end will ask for what is before it.
            let start = if end == self.facts.size { offset.min(end.saturating_sub(len)) } else { offset };
            *last = (start, self.fetch(start..end)?);
        }
        let (start, bytes) = &*last;
        let rest = usize::try_from(offset - start).ok().and_then(|at| bytes.get(at..)).unwrap_or_default();
        let read = rest.len().min(buffer.len());
        buffer[..read].copy_from_slice(&rest[..read]);
        Ok(read)
    }
}

/// A published trace in a store, its files by their paths in it.
#[derive(Debug)]
pub(super) struct RemoteTrace {
    root: RemoteStore,
    data: OnceLock<String>,
}

impl RemoteTrace {
    pub(super) fn new(root: RemoteStore) -> RemoteTrace {
        RemoteTrace { root, data: OnceLock::new() }
    }

    /// Where its files lie, asked once where it is published.
    fn data(&self) -> io::Result<&str> {
        if let Some(data) = self.data.get() {
            return Ok(data);
        }
        let data = self.root.data_of("")?.ok_or(io::ErrorKind::NotFound)?;
        Ok(self.data.get_or_init(|| data))
    }

    fn at(&self, path: &str) -> io::Result<String> {
        Ok(if path == MANIFEST_PATH { path.to_owned() } else { joined(self.data()?, path) })
    }

    fn written(&self, path: &str) -> Result<String> {
        self.at(path).map_err(|cause| self.root.failed("find", path, cause))
    }
}

impl Store for RemoteTrace {
    fn location(&self, path: &str) -> PathBuf {
        let at = if path.is_empty() { None } else { self.at(path).ok() };
        self.root.location(at.as_deref().unwrap_or(path))
    }

    fn below(&self, folder: &str) -> Arc<dyn Store> {
        self.root.below(self.at(folder).as_deref().unwrap_or(folder))
    }

    fn kind(&self, path: &str) -> io::Result<EntryKind> {
        self.root.kind(&self.at(path)?)
    }

    fn list(&self, folder: &str) -> io::Result<Vec<StoreEntry>> {
        let mut entries = self.root.list(&self.at(folder)?)?;
        if let Some((_, name)) = MANIFEST_PATH.rsplit_once('/').filter(|(parent, _)| *parent == folder) {
            entries.push(StoreEntry { name: name.to_owned(), kind: EntryKind::File });
        }
        Ok(entries)
    }

    fn open(&self, path: &str) -> io::Result<Arc<dyn StoredFile>> {
        self.root.open(&self.at(path)?)
    }

    fn put(&self, path: &str, content: &[u8]) -> Result<()> {
        self.root.put(&self.written(path)?, content)
    }

    fn put_first(&self, path: &str, parts: &[&[u8]]) -> Result<bool> {
        self.root.put_first(&self.written(path)?, parts)
    }

    fn change(&self, path: &str, most: u64, change: &mut Change<'_>) -> Result<()> {
        self.root.change(&self.written(path)?, most, change)
    }

    fn remove(&self, path: &str) -> Result<()> {
        self.root.remove(&self.written(path)?)
    }
}
