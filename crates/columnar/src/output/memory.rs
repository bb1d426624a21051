//! Files in memory, for tests and for whoever wants no folder.

use std::collections::BTreeMap;
use std::io;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use base::error::{Error, ErrorKind, Result};
use base::progress::Progress;

use super::errors::output_error;
use super::interface::{IfExists, Output, OutputFile, PlanOutput, Published, StagedFile, StagedName};
use super::memory_store::MemoryStore;
use super::store::Store;

/// Keeps the files of a trace, and of its plan, in memory. Clones share them.
#[derive(Clone, Debug)]
pub struct MemoryOutput {
    attempt: String,
    files: Arc<Mutex<Files>>,
    plan: MemoryStore,
}

#[derive(Debug, Default)]
struct Files {
    staged: BTreeMap<StagedName, Vec<u8>>,
    published: Option<BTreeMap<String, Vec<u8>>>,
}

#[derive(Debug)]
struct MemoryFile {
    name: StagedName,
    location: PathBuf,
    files: Arc<Mutex<Files>>,
}

impl MemoryOutput {
    /// Without files.
    pub fn new(attempt: &str) -> Self {
        MemoryOutput { attempt: attempt.to_owned(), files: Arc::default(), plan: MemoryStore::default() }
    }

    /// Another attempt at the same trace.
    #[must_use]
    pub fn another(&self, attempt: &str) -> Self {
        MemoryOutput { attempt: attempt.to_owned(), ..self.clone() }
    }

    /// The published trace by path, if it has been published.
    pub fn published(&self) -> Option<BTreeMap<String, Vec<u8>>> {
        lock(&self.files).published.clone()
    }
}

impl Output for MemoryOutput {
    fn attempt(&self) -> &str {
        &self.attempt
    }

    fn create(&self, path: &str) -> Result<Box<dyn OutputFile>> {
        let name = self.own(path);
        let mut files = lock(&self.files);
        if files.staged.contains_key(&name) {
            return Err(output_error("create the file", Path::new(path), io::ErrorKind::AlreadyExists.into()));
        }
        files.staged.insert(name.clone(), Vec::new());
        Ok(Box::new(MemoryFile { name, location: path.into(), files: Arc::clone(&self.files) }))
    }

    fn read(&self, file: &StagedName, range: Range<u64>) -> Result<Vec<u8>> {
        let missing = |kind: io::ErrorKind| output_error("read", Path::new(&file.path), kind.into());
        let files = lock(&self.files);
        let content = files.staged.get(file).ok_or_else(|| missing(io::ErrorKind::NotFound))?;
        let bounds = usize::try_from(range.start).ok().zip(usize::try_from(range.end).ok());
        let bytes = bounds.and_then(|(start, end)| content.get(start..end));
        Ok(bytes.ok_or_else(|| missing(io::ErrorKind::UnexpectedEof))?.to_vec())
    }

    fn list(&self) -> Result<Vec<StagedFile>> {
        let files = lock(&self.files);
        let staged = files.staged.iter().map(|(name, content)| StagedFile {
            path: name.path.clone(),
            attempt: Some(name.attempt.clone()),
            bytes: content.len() as u64,
        });
        Ok(staged.collect())
    }

    fn remove(&self, file: &StagedName) -> Result<()> {
        lock(&self.files).staged.remove(file);
        Ok(())
    }

    fn publish(&self, names: &[StagedName], if_exists: IfExists, _progress: &dyn Progress) -> Result<Published> {
        let mut files = lock(&self.files);
        if files.published.is_some() && !if_exists.replaces() {
            return Err(Error::new(ErrorKind::Output, "this trace is there already"));
        }
        let content = names.iter().map(|name| match files.staged.get(name) {
            Some(content) => Ok((name.path.clone(), content.clone())),
            None => Err(output_error("publish", Path::new(&name.path), io::ErrorKind::NotFound.into())),
        });
        files.published = Some(content.collect::<Result<_>>()?);
        files.staged.clear();
        Ok(Published { folder: PathBuf::new(), warnings: Vec::new() })
    }
}

impl PlanOutput for MemoryOutput {
    fn files(&self) -> &dyn Store {
        &self.plan
    }

    fn vouch_first(&self, path: &str, content: &[u8], _progress: &dyn Progress) -> Result<bool> {
        self.plan.put_first(path, &[content])
    }

    fn keep(&self) {}
}

impl OutputFile for MemoryFile {
    fn location(&self) -> &Path {
        &self.location
    }

    fn append(&mut self, bytes: &[u8]) -> io::Result<()> {
        let mut files = lock(&self.files);
        files.staged.get_mut(&self.name).ok_or(io::ErrorKind::NotFound)?.extend_from_slice(bytes);
        Ok(())
    }

    fn release(&mut self) {}

    fn close(self: Box<Self>) -> io::Result<()> {
        Ok(())
    }
}

fn lock(files: &Mutex<Files>) -> MutexGuard<'_, Files> {
    // Each change is one call; a poisoned lock leaves the files whole.
    files.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use base::progress::NoProgress;

    use super::*;

    #[test]
    fn the_files_that_are_named_are_published_and_no_others() {
        let a = MemoryOutput::new("a");
        let b = a.another("b");
        let own = a.write("x", b"of a").unwrap();
        assert_eq!(own, a.own("x"));
        let other = b.write("x", b"of b").unwrap();
        assert!(a.create("x").is_err());
        assert_eq!(b.read(&own, 1..4).unwrap(), b"f a");
        assert!(b.read(&own, 1..5).is_err());
        let backwards = std::ops::Range { start: 3, end: 2 };
        assert!(b.read(&own, backwards).is_err());
        assert_eq!(a.list().unwrap().len(), 2);
        assert!(a.publish(&[own, a.own("y")], IfExists::Error, &NoProgress).is_err());
        assert_eq!(a.published(), None);
        b.publish(std::slice::from_ref(&other), IfExists::Error, &NoProgress).unwrap();
        assert_eq!(a.published().unwrap(), BTreeMap::from([("x".to_owned(), b"of b".to_vec())]));
        assert!(b.publish(&[], IfExists::Error, &NoProgress).is_err());
        assert!(b.read(&other, 0..1).is_err());
    }
}
