//! Where published traces lie, and what runs keep beside them: a folder, memory, or whatever else names files by paths.
//!
//! [`Output`](super::Output) writes a trace, and publishes it in one step; a store reads what is published, and reads and writes
//! small files beside it. Who reads a trace asks the store for its manifest first, which names every other file.

use std::fmt::Debug;
use std::io::{self, Read};
use std::path::PathBuf;
use std::sync::Arc;

use base::error::Result;

/// Makes the new content of a file from what it has: `None` leaves the file as it is.
pub type Change<'c> = dyn FnMut(&[u8]) -> Result<Option<Vec<u8>>> + 'c;

/// Files by their `/`-separated paths below a root; the path of the root is empty. Calls may come from any thread.
///
/// A caller may assume that a file is the one that it has opened until it opens it again, whatever becomes of its name, and
/// that a file that was put is there whole or not at all.
pub trait Store: Send + Sync + Debug {
    /// What a path is called in messages: a path of the system, or the text of an address.
    fn location(&self, path: &str) -> PathBuf;

    /// The store whose root is a folder of this one, whether it is there or not.
    fn below(&self, folder: &str) -> Arc<dyn Store>;

    /// What lies at a path; a link is none of the things that it leads to.
    ///
    /// # Errors
    /// [`io::ErrorKind::NotFound`] where nothing does, and those of the system.
    fn kind(&self, path: &str) -> io::Result<EntryKind>;

    /// What lies in a folder, in no order.
    ///
    /// # Errors
    /// As [`Store::kind`].
    fn list(&self, folder: &str) -> io::Result<Vec<StoreEntry>>;

    /// Opens a file.
    ///
    /// # Errors
    /// As [`Store::kind`].
    fn open(&self, path: &str) -> io::Result<Arc<dyn StoredFile>>;

    /// Writes a small file whole, in the place of what is there; folders above it are made.
    ///
    /// # Errors
    /// [`ErrorKind::Output`](base::error::ErrorKind::Output) when it cannot be written; then what was there is there still.
    fn put(&self, path: &str, content: &[u8]) -> Result<()>;

    /// Writes a file whole, its `parts` one after another, unless one is there: the first one stands. Returns whether it was
    /// written; folders above it are made.
    ///
    /// # Errors
    /// [`ErrorKind::Output`](base::error::ErrorKind::Output) when it cannot be written.
    fn put_first(&self, path: &str, parts: &[&[u8]]) -> Result<bool>;

    /// Puts what `change` makes of a file in its place: of two processes that do so neither loses what the other has
    /// changed. A file that is not there, or of which `change` makes nothing, stays as it is; `change` is given `most` bytes
    /// and one more of a file that is longer, and may be called again where another process was faster.
    ///
    /// # Errors
    /// [`ErrorKind::Output`](base::error::ErrorKind::Output) when the file cannot be read or written, or others change it all
    /// the time, and those of `change`.
    fn change(&self, path: &str, most: u64, change: &mut Change<'_>) -> Result<()>;

    /// Removes a file, and the folder that it was the last one in.
    ///
    /// # Errors
    /// [`ErrorKind::Output`](base::error::ErrorKind::Output) when it is not there, or cannot be removed.
    fn remove(&self, path: &str) -> Result<()>;

    /// All bytes of a file, and no more than `most` and one: that one byte shows that the file is longer.
    ///
    /// # Errors
    /// As [`Store::kind`].
    fn get(&self, path: &str, most: u64) -> io::Result<Vec<u8>> {
        let file = self.open(path)?;
        let wanted = usize::try_from(file.len().min(most.saturating_add(1))).unwrap_or(usize::MAX);
        let mut content = vec![0; wanted];
        file.read_exact_at(0, &mut content)?;
        Ok(content)
    }

    /// Whether a file lies at a path, or a link to one.
    fn has(&self, path: &str) -> bool {
        self.open(path).is_ok()
    }
}

/// A file that is read at any place, by any thread.
pub trait StoredFile: Send + Sync + Debug {
    /// Its bytes.
    fn len(&self) -> u64;

    /// Whether it has none.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Reads some bytes at a place into the start of `buffer`; says how many, 0 at the end alone.
    ///
    /// # Errors
    /// Those of the system.
    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<usize>;

    /// Fills `buffer` with the bytes at a place.
    ///
    /// # Errors
    /// [`io::ErrorKind::UnexpectedEof`] where there are fewer, and those of the system.
    fn read_exact_at(&self, offset: u64, mut buffer: &mut [u8]) -> io::Result<()> {
        let mut offset = offset;
        while !buffer.is_empty() {
            match self.read_at(offset, buffer) {
                Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
                Ok(read) => {
                    offset += read as u64;
                    buffer = buffer.get_mut(read..).unwrap_or_default();
                }
                Err(cause) if cause.kind() == io::ErrorKind::Interrupted => {}
                Err(cause) => return Err(cause),
            }
        }
        Ok(())
    }
}

/// What lies at a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EntryKind {
    /// A file.
    File,
    /// A folder.
    Folder,
    /// A link, or something else that only a file system has.
    Other,
}

/// What lies in a folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoreEntry {
    /// Its name in the folder.
    pub name: String,
    /// What it is.
    pub kind: EntryKind,
}

/// A path below a folder; the folder itself may be the root.
pub fn joined(folder: &str, path: &str) -> String {
    match (folder.is_empty(), path.is_empty()) {
        (true, _) => path.to_owned(),
        (_, true) => folder.to_owned(),
        _ => format!("{folder}/{path}"),
    }
}

/// Reads a file of a store from a place on.
#[derive(Clone, Debug)]
pub struct StoreReader {
    file: Arc<dyn StoredFile>,
    offset: u64,
}

impl StoreReader {
    /// Reads from `offset` on.
    pub fn new(file: Arc<dyn StoredFile>, offset: u64) -> StoreReader {
        StoreReader { file, offset }
    }
}

impl Read for StoreReader {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.file.read_at(self.offset, buffer)?;
        self.offset = self.offset.saturating_add(read as u64);
        Ok(read)
    }
}
