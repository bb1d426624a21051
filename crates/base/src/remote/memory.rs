//! Objects in memory, for tests: they fail as those of a network do, on demand.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::ops::Range;
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::{Accept, ListedObject, ObjectFacts, Objects, PutWhen, Stop};

/// What becomes of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// It is refused before anything happens.
    Refused,
    /// It is done, and the answer is lost.
    AnswerLost,
    /// A read brings one byte less than was asked for.
    CutShort,
    /// It and all after it are refused: whoever asks has lost the network.
    NetworkGone,
    /// It is refused for want of permission.
    Forbidden,
}

/// Objects by their URLs.
#[derive(Debug, Default)]
pub struct MemoryObjects {
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    objects: BTreeMap<String, (Vec<u8>, u64)>,
    versions: u64,
    /// Requests until now.
    requests: u64,
    bytes_read: u64,
    fault: Option<(u64, Fault)>,
    /// An object that somebody else writes before a request.
    other: Option<(u64, String, Vec<u8>)>,
}

impl MemoryObjects {
    /// Lets the request that comes after `requests` others from now fail.
    pub fn fail_after(&self, requests: u64, fault: Fault) {
        let mut state = self.state();
        state.fault = Some((state.requests + requests, fault));
    }

    /// Lets nothing fail any more.
    pub fn heal(&self) {
        self.state().fault = None;
    }

    /// Requests and bytes of objects that were read until now.
    pub fn counts(&self) -> (u64, u64) {
        let state = self.state();
        (state.requests, state.bytes_read)
    }

    /// All objects.
    pub fn all(&self) -> BTreeMap<String, Vec<u8>> {
        self.state().objects.iter().map(|(url, (content, _))| (url.clone(), content.clone())).collect()
    }

    /// Puts an object there, whatever is to fail.
    pub fn set(&self, url: &str, content: &[u8]) {
        self.state().write(url, content);
    }

    /// Puts an object there before the request that comes after `requests` others from now, as somebody else would.
    pub fn set_after(&self, requests: u64, url: &str, content: &[u8]) {
        let mut state = self.state();
        state.other = Some((state.requests + requests, url.to_owned(), content.to_owned()));
    }

    /// Removes all objects below a URL, whatever is to fail.
    pub fn clear(&self, url: &str) {
        self.state().objects.retain(|key, _| !key.starts_with(url));
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Does something as the next request.
    fn ask<T>(&self, work: impl FnOnce(&mut State) -> io::Result<T>) -> io::Result<T> {
        let mut state = self.state();
        let number = state.requests;
        state.requests += 1;
        if let Some((_, url, content)) = state.other.take_if(|(at, ..)| *at <= number) {
            state.write(&url, &content);
        }
        let refused = |kind: io::ErrorKind| Err(io::Error::new(kind, "503 Slow Down"));
        match state.fault {
            Some((at, Fault::NetworkGone)) if at <= number => refused(io::ErrorKind::ConnectionReset),
            Some((at, Fault::Refused)) if at == number => refused(io::ErrorKind::ConnectionReset),
            Some((at, Fault::Forbidden)) if at == number => refused(io::ErrorKind::PermissionDenied),
            Some((at, Fault::AnswerLost)) if at == number => {
                let _ = work(&mut state);
                refused(io::ErrorKind::TimedOut)
            }
            _ => work(&mut state),
        }
    }
}

impl State {
    fn write(&mut self, url: &str, content: &[u8]) -> String {
        self.versions += 1;
        self.objects.insert(url.to_owned(), (content.to_owned(), self.versions));
        self.versions.to_string()
    }

    fn facts(&self, url: &str) -> Option<ObjectFacts> {
        let (content, version) = self.objects.get(url)?;
        let modified = i64::try_from(*version).ok();
        Some(ObjectFacts { size: content.len() as u64, modified, tag: Some(version.to_string()) })
    }
}

impl Objects for MemoryObjects {
    fn head(&self, url: &str, _stop: &Stop) -> io::Result<ObjectFacts> {
        self.ask(|state| state.facts(url).ok_or_else(|| io::ErrorKind::NotFound.into()))
    }

    fn read(&self, url: &str, ranges: &[Range<u64>], facts: &ObjectFacts, _stop: &Stop) -> io::Result<Vec<Vec<u8>>> {
        let mut read = Vec::new();
        for range in ranges {
            read.push(self.ask(|state| {
                let now = state.facts(url).ok_or(io::ErrorKind::NotFound)?;
                if now.tag != facts.tag {
                    return Err(io::ErrorKind::StaleNetworkFileHandle.into());
                }
                let bounds = usize::try_from(range.start).ok().zip(usize::try_from(range.end).ok());
                let bytes = bounds.and_then(|(start, end)| state.objects.get(url)?.0.get(start..end));
                let mut bytes = bytes.ok_or(io::ErrorKind::UnexpectedEof)?.to_vec();
                let number = state.requests - 1;
                if matches!(state.fault, Some((at, Fault::CutShort)) if at == number) {
                    bytes.pop();
                }
                state.bytes_read += bytes.len() as u64;
                Ok(bytes)
            })?);
        }
        Ok(read)
    }

    fn list(&self, url: &str, deep: bool, _stop: &Stop) -> io::Result<Vec<ListedObject>> {
        self.ask(|state| {
            let prefix = format!("{url}/");
            let below = state.objects.keys().filter_map(|key| Some((key, key.strip_prefix(&prefix)?)));
            let mut folders = BTreeSet::new();
            let mut listed = Vec::new();
            for (key, path) in below {
                match path.split_once('/') {
                    Some((folder, _)) if !deep => drop(folders.insert(folder.to_owned())),
                    _ => listed.push(ListedObject { path: path.to_owned(), facts: state.facts(key) }),
                }
            }
            listed.extend(folders.into_iter().map(|path| ListedObject { path, facts: None }));
            Ok(listed)
        })
    }

    fn put(&self, url: &str, content: &[u8], when: PutWhen<'_>, _stop: &Stop) -> io::Result<Option<String>> {
        self.ask(|state| {
            let holds = match (when, state.facts(url)) {
                (PutWhen::Always, _) | (PutWhen::Absent, None) => true,
                (PutWhen::Is(tag), Some(there)) => there.tag.as_deref() == Some(tag),
                (PutWhen::Absent, Some(_)) | (PutWhen::Is(_), None) => false,
            };
            Ok(holds.then(|| state.write(url, content)))
        })
    }

    fn put_file(&self, url: &str, file: &Path, _stop: &Stop) -> io::Result<()> {
        let content = std::fs::read(file)?;
        self.ask(|state| {
            state.write(url, &content);
            Ok(())
        })
    }

    fn remove(&self, url: &str, _stop: &Stop) -> io::Result<()> {
        self.ask(|state| {
            state.objects.remove(url);
            Ok(())
        })
    }

    fn fetch(&self, url: &str, _accept: Accept, file: &Path, most: u64, _stop: &Stop) -> io::Result<u64> {
        let (content, is_cut) = self.ask(|state| {
            let mut content = state.objects.get(url).ok_or(io::ErrorKind::NotFound)?.0.clone();
            let number = state.requests - 1;
            let is_cut = matches!(state.fault, Some((at, Fault::CutShort)) if at == number);
            content.truncate(content.len() - usize::from(is_cut));
            state.bytes_read += content.len() as u64;
            Ok((content, is_cut))
        })?;
        let size = content.len() as u64;
        if size > most {
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        std::fs::write(file, content)?;
        if is_cut { Err(io::ErrorKind::ConnectionAborted.into()) } else { Ok(size) }
    }
}
