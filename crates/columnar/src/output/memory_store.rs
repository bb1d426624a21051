//! A store in memory, for tests and for whoever wants no folder.

use std::collections::BTreeMap;
use std::io;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use base::error::Result;

use super::errors::output_error;
use super::store::{Change, EntryKind, Store, StoreEntry, StoredFile, joined};

/// Files in memory; a folder is there while a file is below it. Clones and stores below share the files.
#[derive(Clone, Debug, Default)]
pub struct MemoryStore {
    files: Arc<Mutex<BTreeMap<String, Arc<[u8]>>>>,
    root: String,
}

impl MemoryStore {
    fn files(&self) -> MutexGuard<'_, BTreeMap<String, Arc<[u8]>>> {
        self.files.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The names of what lies in a folder, with what each is.
    fn names(&self, folder: &str) -> BTreeMap<String, EntryKind> {
        let prefix = match joined(&self.root, folder) {
            root if root.is_empty() => root,
            folder => folder + "/",
        };
        let files = self.files();
        let below = files.range(prefix.clone()..).map_while(|(path, _)| path.strip_prefix(&prefix));
        let entry = |path: &str| match path.split_once('/') {
            Some((folder, _)) => (folder.to_owned(), EntryKind::Folder),
            None => (path.to_owned(), EntryKind::File),
        };
        below.map(entry).collect()
    }
}

impl Store for MemoryStore {
    fn location(&self, path: &str) -> PathBuf {
        joined(&self.root, path).into()
    }

    fn below(&self, folder: &str) -> Arc<dyn Store> {
        Arc::new(MemoryStore { files: Arc::clone(&self.files), root: joined(&self.root, folder) })
    }

    fn kind(&self, path: &str) -> io::Result<EntryKind> {
        if self.files().contains_key(&joined(&self.root, path)) {
            return Ok(EntryKind::File);
        }
        if self.names(path).is_empty() { Err(io::ErrorKind::NotFound.into()) } else { Ok(EntryKind::Folder) }
    }

    fn list(&self, folder: &str) -> io::Result<Vec<StoreEntry>> {
        let names = self.names(folder);
        if names.is_empty() {
            return Err(io::ErrorKind::NotFound.into());
        }
        Ok(names.into_iter().map(|(name, kind)| StoreEntry { name, kind }).collect())
    }

    fn open(&self, path: &str) -> io::Result<Arc<dyn StoredFile>> {
        let content = self.files().get(&joined(&self.root, path)).map(Arc::clone);
        Ok(Arc::new(MemoryFile(content.ok_or(io::ErrorKind::NotFound)?)))
    }

    fn put(&self, path: &str, content: &[u8]) -> Result<()> {
        self.files().insert(joined(&self.root, path), content.into());
        Ok(())
    }

    fn put_first(&self, path: &str, parts: &[&[u8]]) -> Result<bool> {
        let (mut files, path) = (self.files(), joined(&self.root, path));
        let is_first = !files.contains_key(&path);
        if is_first {
            files.insert(path, parts.concat().into());
        }
        Ok(is_first)
    }

    fn change(&self, path: &str, most: u64, change: &mut Change<'_>) -> Result<()> {
        let (mut files, path) = (self.files(), joined(&self.root, path));
        let Some(content) = files.get_mut(&path) else { return Ok(()) };
        let shown = usize::try_from(most.saturating_add(1)).unwrap_or(usize::MAX).min(content.len());
        if let Some(changed) = change(&content[..shown])? {
            *content = changed.into();
        }
        Ok(())
    }

    fn remove(&self, path: &str) -> Result<()> {
        let removed = self.files().remove(&joined(&self.root, path));
        removed.map(drop).ok_or_else(|| output_error("remove", &self.location(path), io::ErrorKind::NotFound.into()))
    }
}

/// The content of a file when it was opened.
#[derive(Debug)]
pub struct MemoryFile(Arc<[u8]>);

impl MemoryFile {
    /// One with this content.
    pub fn new(content: Vec<u8>) -> Self {
        MemoryFile(content.into())
    }
}

impl StoredFile for MemoryFile {
    fn len(&self) -> u64 {
        self.0.len() as u64
    }

    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<usize> {
        let rest = usize::try_from(offset).ok().and_then(|offset| self.0.get(offset..)).unwrap_or_default();
        let read = rest.len().min(buffer.len());
        buffer[..read].copy_from_slice(&rest[..read]);
        Ok(read)
    }
}

#[cfg(test)]
mod tests {
    use base::error::Error;

    use super::*;
    use crate::output::local_store::LocalStore;

    /// What every store does, asked of one.
    fn check(store: &dyn Store) {
        let names = |store: &dyn Store, folder: &str| {
            let mut names: Vec<_> =
                store.list(folder).unwrap().into_iter().map(|entry| (entry.name, entry.kind)).collect();
            names.sort_by(|a, b| a.0.cmp(&b.0));
            names
        };
        let is_missing = |done: io::Result<()>| done.unwrap_err().kind() == io::ErrorKind::NotFound;
        let (file, folder) = (EntryKind::File, EntryKind::Folder);
        store.put("a/b/one", b"first").unwrap();
        store.put("a/b/one", b"0123456789").unwrap();
        store.put("a/two", b"").unwrap();
        store.put("ab", b"x").unwrap();
        assert_eq!(names(store, ""), [("a".to_owned(), folder), ("ab".to_owned(), file)]);
        assert_eq!(names(store, "a"), [("b".to_owned(), folder), ("two".to_owned(), file)]);
        assert_eq!(names(&*store.below("a"), "b"), [("one".to_owned(), file)]);
        assert_eq!((store.kind("a").unwrap(), store.kind("a/two").unwrap()), (folder, file));
        assert!(is_missing(store.kind("b").map(drop)) && is_missing(store.list("b").map(drop)));
        assert!(is_missing(store.open("a/one").map(drop)));
        assert_eq!(store.remove("c").unwrap_err().location().file, Some(store.location("c")));
        assert!(store.has("a/two") && !store.has("a") && !store.has("a/three"));
        assert_eq!(store.get("a/b/one", u64::MAX).unwrap(), b"0123456789");
        assert_eq!(store.get("a/b/one", 3).unwrap(), b"0123", "one more than allowed");
        assert_eq!(store.get("a/two", 3).unwrap(), b"");
        let open = store.below("a/b").open("one").unwrap();
        assert_eq!((open.len(), open.is_empty()), (10, false));
        let mut buffer = [0; 4];
        assert_eq!((open.read_at(8, &mut buffer).unwrap(), &buffer[..2]), (2, b"89".as_slice()));
        assert_eq!((open.read_at(10, &mut buffer).unwrap(), open.read_at(99, &mut buffer).unwrap()), (0, 0));
        assert_eq!(open.read_exact_at(7, &mut buffer).unwrap_err().kind(), io::ErrorKind::UnexpectedEof);
        open.read_exact_at(6, &mut buffer).unwrap();
        assert_eq!(&buffer, b"6789");
        // Who has a file open keeps it, whatever takes its place.
        store.put("a/b/one", b"another").unwrap();
        open.read_exact_at(0, &mut buffer).unwrap();
        assert_eq!((&buffer, store.get("a/b/one", 99).unwrap().as_slice()), (b"0123", b"another".as_slice()));
        // Of several that write it first one stands, and a change is made of what is there.
        assert!(
            !store.put_first("a/two", &[b"late"]).unwrap() && store.put_first("a/c/new", &[b"in ", b"parts"]).unwrap()
        );
        assert_eq!((store.get("a/two", 9).unwrap(), store.get("a/c/new", 9).unwrap()), (vec![], b"in parts".to_vec()));
        let mut seen = Vec::new();
        let mut change = |path: &str, most, new: Option<&[u8]>| {
            store.change(path, most, &mut |old| {
                seen.push(old.to_vec());
                Ok(new.map(<[u8]>::to_vec))
            })
        };
        change("a/none", 9, Some(b"x")).unwrap();
        change("a/c/new", 9, None).unwrap();
        change("a/c/new", 3, Some(b"changed")).unwrap();
        assert_eq!(seen, [b"in parts".to_vec(), b"in p".to_vec()]);
        assert!(store.change("ab", 9, &mut |_| Err(Error::bug("refused"))).is_err());
        assert_eq!(
            (store.get("a/c/new", 9).unwrap(), store.get("ab", 9).unwrap()),
            (b"changed".to_vec(), b"x".to_vec())
        );
        assert!(!store.has("a/none"));
        store.remove("a/c/new").unwrap();
        assert_eq!(names(store, "a"), [("b".to_owned(), folder), ("two".to_owned(), file)], "nothing else is left");
        store.remove("a/b/one").unwrap();
        assert!(is_missing(store.kind("a/b").map(drop)), "a folder goes with its last file");
    }

    #[test]
    fn stores_are_alike() {
        check(&MemoryStore::default());
        check(&*MemoryStore::default().below("deep/down"));
        let folder = tempfile::tempdir().unwrap();
        check(&LocalStore::new(folder.path()));
        check(&LocalStore::new(folder.path().join("not/there/yet")));
    }

    #[test]
    fn a_folder_is_no_file_and_a_link_is_neither() {
        let folder = tempfile::tempdir().unwrap();
        let store = LocalStore::new(folder.path());
        store.put("a/one", b"x").unwrap();
        assert!(store.open("a").is_err() && !store.has("a"));
        #[cfg(unix)]
        {
            std::os::unix::fs::symlink("a", folder.path().join("link")).unwrap();
            assert_eq!(store.kind("link").unwrap(), EntryKind::Other);
            assert!(store.has("link/one"));
        }
        #[cfg(target_os = "linux")]
        {
            rustix::fs::mkfifoat(rustix::fs::CWD, folder.path().join("pipe"), 0o600.into()).unwrap();
            assert!(!store.has("pipe"), "nobody waits for the other end of a pipe");
        }
    }
}
