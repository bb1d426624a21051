//! A store that is a folder of the system.

use std::fs::{self, File};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use base::disk;
use base::error::Result;
use base::listing::{entries, uninterrupted};

use super::errors::output_error;
use super::local_change;
use super::store::{Change, EntryKind, Store, StoreEntry, StoredFile};

/// The files below a folder.
#[derive(Clone, Debug)]
pub struct LocalStore {
    root: PathBuf,
}

impl LocalStore {
    /// The files below a folder, whether it is there or not.
    pub fn new(root: impl Into<PathBuf>) -> LocalStore {
        LocalStore { root: root.into() }
    }

    /// The same, to be shared.
    pub fn shared(root: impl Into<PathBuf>) -> Arc<dyn Store> {
        Arc::new(LocalStore::new(root))
    }
}

impl Store for LocalStore {
    fn location(&self, path: &str) -> PathBuf {
        if path.is_empty() { self.root.clone() } else { self.root.join(path) }
    }

    fn below(&self, folder: &str) -> Arc<dyn Store> {
        LocalStore::shared(self.location(folder))
    }

    fn kind(&self, path: &str) -> io::Result<EntryKind> {
        let found = uninterrupted(|| fs::symlink_metadata(self.location(path)))?;
        Ok(kind_of(found.file_type()))
    }

    fn list(&self, folder: &str) -> io::Result<Vec<StoreEntry>> {
        let found = entries(&self.location(folder))?;
        let entry = |entry: fs::DirEntry| {
            let kind = entry.file_type().map_or(EntryKind::Other, kind_of);
            StoreEntry { name: entry.file_name().to_string_lossy().into_owned(), kind }
        };
        Ok(found.into_iter().map(entry).collect())
    }

    fn open(&self, path: &str) -> io::Result<Arc<dyn StoredFile>> {
        let location = self.location(path);
        if !fs::metadata(&location)?.is_file() {
            // To open a pipe waits for its other end.
            return Err(io::Error::new(
                io::ErrorKind::InvalidInput,
                "expected a file, found a folder, a pipe or a device",
            ));
        }
        let file = File::open(location)?;
        Ok(Arc::new(LocalFile { bytes: file.metadata()?.len(), file: Mutex::new(file) }))
    }

    fn put(&self, path: &str, content: &[u8]) -> Result<()> {
        let file = self.location(path);
        disk::replace(&file, content).map_err(|cause| output_error("write", &file, cause))
    }

    fn put_first(&self, path: &str, parts: &[&[u8]]) -> Result<bool> {
        let file = self.location(path);
        let written = || {
            let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
            fs::create_dir_all(folder)?;
            let mut builder = tempfile::Builder::new();
            builder.suffix(".tmp");
            #[cfg(unix)]
            builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
            let mut staged = builder.tempfile_in(folder)?;
            parts.iter().try_for_each(|part| staged.write_all(part))?;
            disk::sync(staged.as_file())?;
            match staged.persist_noclobber(&file) {
                Err(refused) if refused.error.kind() == io::ErrorKind::AlreadyExists => Ok(false),
                named => named.map(|_| true).map_err(|refused| refused.error),
            }
        };
        written().map_err(|cause| output_error("write", &file, cause))
    }

    fn change(&self, path: &str, most: u64, change: &mut Change<'_>) -> Result<()> {
        local_change::change(&self.location(path), most, change)
    }

    fn remove(&self, path: &str) -> Result<()> {
        let file = self.location(path);
        fs::remove_file(&file).map_err(|cause| output_error("remove", &file, cause))?;
        // Where it was the last one.
        let _ = file.parent().filter(|folder| *folder != self.root).map(fs::remove_dir);
        Ok(())
    }
}

fn kind_of(found: fs::FileType) -> EntryKind {
    match (found.is_file(), found.is_dir()) {
        (true, _) => EntryKind::File,
        (_, true) => EntryKind::Folder,
        _ => EntryKind::Other,
    }
}

/// A file of the system, with the place at which it is read.
#[derive(Debug)]
struct LocalFile {
    bytes: u64,
    file: Mutex<File>,
}

impl StoredFile for LocalFile {
    fn len(&self) -> u64 {
        self.bytes
    }

    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<usize> {
        let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        file.seek(SeekFrom::Start(offset))?;
        file.read(buffer)
    }
}
