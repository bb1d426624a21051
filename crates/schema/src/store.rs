//! The user's schema store: a folder that keeps imported files for all later conversions.
//!
//! Every file keeps its bytes, under the hash of its content; an index names where it came from. Nothing in it depends
//! on time or machine, so a store can be copied or kept under version control. Files rank by their names. What was
//! harvested of traces is one document for each provider, which grows.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};

use base::disk;
use base::error::{Error, ErrorCode, ErrorKind, Result};
use serde::{Deserialize, Serialize};

use super::files::{SchemaContent, SchemaFile};
use super::harvest::{self, Harvest};
use super::load::SchemaSet;

const INDEX: &str = "index.json";
/// Version of the index's form.
const FORMAT: u32 = 1;
/// How often a store is read anew that somebody changes meanwhile.
const MAX_ATTEMPTS: usize = 16;

/// A schema store; the folder need not be there.
#[derive(Clone, Debug)]
pub struct Store {
    folder: PathBuf,
    index: Index,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Index {
    format: u32,
    files: Vec<StoredFile>,
}

/// A file of the store.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct StoredFile {
    /// The name under which it was imported; of several the first in the order of bytes.
    pub origin: String,
    /// BLAKE3 of its bytes, in hexadecimal; with the extension its name in the store.
    pub blake3: String,
    /// What it holds.
    pub kind: StoredType,
    /// How many of its declarations were rejected.
    pub rejected: usize,
}

/// What a file of the store holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum StoredType {
    /// An instrumentation manifest.
    Manifest,
    /// Formats of WPP messages.
    Tmf,
    /// The resources of a binary.
    Wevt,
    /// Classes of classic events.
    Mof,
    /// A document of `schema export`, or what was harvested of traces in that form.
    Facts,
}

impl StoredType {
    /// The word for it.
    pub fn name(self) -> &'static str {
        match self {
            StoredType::Manifest => "manifest",
            StoredType::Tmf => "tmf",
            StoredType::Wevt => "wevt",
            StoredType::Mof => "mof",
            StoredType::Facts => "facts",
        }
    }
}

impl StoredFile {
    fn file_name(&self) -> String {
        let extension = match self.kind {
            StoredType::Manifest => "man",
            StoredType::Tmf => "tmf",
            StoredType::Wevt => "wevt",
            StoredType::Mof => "mof",
            StoredType::Facts => "json",
        };
        format!("{}.{extension}", self.blake3)
    }

    fn of(file: &SchemaFile) -> StoredFile {
        let kind = match file.content {
            SchemaContent::Manifest(_) => StoredType::Manifest,
            SchemaContent::Messages(_) => StoredType::Tmf,
            SchemaContent::Binary(_) => StoredType::Wevt,
            SchemaContent::Classes(_) => StoredType::Mof,
            SchemaContent::Facts(_) => StoredType::Facts,
        };
        StoredFile { origin: file.name.clone(), blake3: file.hash(), kind, rejected: file.faults().len() }
    }
}

/// The folder of the store where the user names none: `etl2parquet/schemas` in the system's place for data of programs.
/// `None` when the environment names no such folder.
pub fn default_folder(environment: impl Fn(&str) -> Option<OsString>) -> Option<PathBuf> {
    let path = |name: &str| environment(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let unix = || path("XDG_DATA_HOME").or_else(|| Some(path("HOME")?.join(".local/share")));
    let data = if cfg!(windows) { path("APPDATA") } else { unix() };
    Some(data?.join("etl2parquet").join("schemas"))
}

impl Store {
    /// Opens the store in a folder; it is empty where there is none.
    ///
    /// # Errors
    /// [`ErrorKind::Usage`] when there is something else in its place.
    pub fn open(folder: impl Into<PathBuf>) -> Result<Store> {
        let folder = folder.into();
        let index = read_index(&folder)?;
        Ok(Store { folder, index })
    }

    /// The folder.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// The files by rank.
    pub fn files(&self) -> &[StoredFile] {
        &self.index.files
    }

    /// Copies files into the store; of those that are there already the first name stands. What was harvested joins what the store
    /// has of the same providers. Returns how many files are new or have become others.
    ///
    /// # Errors
    /// [`ErrorKind::Output`] when the store cannot be written; it then is as it was before. Those of [`Store::load`].
    pub fn import(&mut self, files: &[SchemaFile]) -> Result<usize> {
        fs::create_dir_all(&self.folder).map_err(|cause| self.unwritable(cause))?;
        let _lock = self.lock()?;
        let before = read_index(&self.folder)?;
        let mut change = Change { index: before.clone(), written: Vec::new(), new: 0 };
        let mut gathered = Harvest::default();
        for file in files {
            match harvest::of_file(file) {
                Some(own) => gathered.merge(own),
                None => change.add(file),
            }
        }
        if !gathered.is_empty() {
            self.join(gathered, &mut change)?;
        }
        self.apply(&before, change)
    }

    /// Joins what was harvested with what the store has of the same providers.
    fn join(&self, mut gathered: Harvest, change: &mut Change) -> Result<()> {
        let mut replaced = Vec::new();
        for stored in change.index.files.iter().filter(|stored| harvest::is_name(&stored.origin)) {
            let Some(own) = harvest::of_file(&self.read(stored, &stored.origin, None)?) else { continue };
            if own.shares(&gathered) {
                gathered.merge(own);
                replaced.push(stored.blake3.clone());
            }
        }
        let joined = gathered.into_files();
        let is_kept = |stored: &StoredFile| joined.iter().any(|file| StoredFile::of(file) == *stored);
        change.index.files.retain(|stored| !replaced.contains(&stored.blake3) || is_kept(stored));
        joined.iter().for_each(|file| change.add(file));
        Ok(())
    }

    /// Takes files out of the store whose names are meant, and returns them.
    ///
    /// # Errors
    /// [`ErrorKind::Output`] when the store cannot be written; it then is as it was before.
    pub fn remove(&mut self, is_meant: impl Fn(&str) -> bool) -> Result<Vec<StoredFile>> {
        if !self.index.files.iter().any(|stored| is_meant(&stored.origin)) {
            return Ok(Vec::new());
        }
        let _lock = self.lock()?;
        let before = read_index(&self.folder)?;
        let (removed, files) = before.files.iter().cloned().partition(|stored| is_meant(&stored.origin));
        let index = Index { format: FORMAT, files };
        self.apply(&before, Change { index, written: Vec::new(), new: 0 })?;
        Ok(removed)
    }

    fn unwritable(&self, cause: std::io::Error) -> Error {
        Error::new(ErrorKind::Output, "the schema store cannot be written").in_file(&self.folder).caused_by(cause)
    }

    /// Held to the end of a change, so that of two at a time neither forgets the other's files.
    fn lock(&self) -> Result<File> {
        let lock = File::create(self.folder.join(".lock")).map_err(|cause| self.unwritable(cause))?;
        lock.lock().map_err(|cause| self.unwritable(cause))?;
        Ok(lock)
    }

    /// Writes what has changed: new files, then the index, which is the change, and then takes away what it no longer has.
    fn apply(&mut self, before: &Index, mut change: Change) -> Result<usize> {
        change.index.files.sort();
        let is_there = |stored: &StoredFile| before.files.iter().any(|known| known.blake3 == stored.blake3);
        for (stored, bytes) in change.written.iter().filter(|(stored, _)| !is_there(stored)) {
            write(&self.folder, &stored.file_name(), bytes).map_err(|cause| self.unwritable(cause))?;
        }
        if change.index != *before {
            let json = serde_json::to_string_pretty(&change.index).expect("texts and numbers are valid JSON") + "\n";
            write(&self.folder, INDEX, json.as_bytes()).map_err(|cause| self.unwritable(cause))?;
        }
        let is_left = |stored: &&StoredFile| !change.index.files.iter().any(|kept| kept.blake3 == stored.blake3);
        for stored in before.files.iter().filter(is_left) {
            // One that stays behind harms nobody: no index names it.
            let _ = fs::remove_file(self.folder.join(stored.file_name()));
        }
        self.index = change.index;
        Ok(change.new)
    }

    /// A file of the store, under a name of the caller's choice.
    fn read(&self, stored: &StoredFile, name: &str, language: Option<&str>) -> Result<SchemaFile> {
        let path = self.folder.join(stored.file_name());
        let damaged = |message: &str| {
            let hint = "import its files anew into another folder, or use --no-store";
            Error::new(ErrorKind::Usage, message).with_code(ErrorCode::UnusableSchema).in_file(&path).with_hint(hint)
        };
        let bytes = fs::read(&path).map_err(|cause| damaged("the schema store is damaged").caused_by(cause))?;
        let file = SchemaFile::parse(name, bytes, language);
        let file = file.map_err(|reason| damaged("the schema store is damaged").caused_by(reason))?;
        if file.hash() != stored.blake3 {
            return Err(damaged("the schema store is damaged: this is not the file that was imported"));
        }
        Ok(file)
    }

    /// Hands each file to `take`, in order of rank, each under the name that `name` makes of its origin.
    fn each(
        &self,
        language: Option<&str>,
        name: fn(&str) -> String,
        mut take: impl FnMut(&StoredFile, SchemaFile),
    ) -> Result<()> {
        for stored in &self.index.files {
            take(stored, self.read(stored, &name(&stored.origin), language)?);
        }
        Ok(())
    }

    /// What `read` makes of the store. Where that fails because somebody changes the store meanwhile, it begins again.
    fn unchanged<T>(&self, read: impl Fn(&Store) -> Result<T>) -> Result<T> {
        let mut store = self.clone();
        for _ in 0..MAX_ATTEMPTS {
            let failure = match read(&store) {
                Err(failure) => failure,
                read => return read,
            };
            let now = read_index(&self.folder)?;
            if now == store.index {
                return Err(failure);
            }
            store.index = now;
        }
        read(&store)
    }

    /// Its files, by rank, under the names that they were imported by.
    ///
    /// # Errors
    /// Those of [`Store::load`].
    pub fn contents(&self) -> Result<Vec<(StoredFile, SchemaFile)>> {
        self.unchanged(|store| {
            let mut all = Vec::new();
            store.each(None, str::to_owned, |stored, file| all.push((stored.clone(), file)))?;
            Ok(all)
        })
    }

    /// What the files declare, with messages in a language where they have them in it. What was rejected at their import is not reported again.
    ///
    /// # Errors
    /// [`ErrorKind::Usage`] when a file is missing or is not what was imported.
    pub fn load(&self, language: Option<&str>) -> Result<SchemaSet> {
        self.unchanged(|store| {
            let mut loaded = SchemaSet::default();
            store.each(
                language,
                |origin| format!("store/{origin}"),
                |_, file| {
                    let _ = loaded.add(file);
                },
            )?;
            Ok(loaded)
        })
    }
}

/// Whether a folder is that of a store.
pub fn is_store(folder: &Path) -> bool {
    folder.join(INDEX).is_file() && read_index(folder).is_ok()
}

/// What is to become of a store.
struct Change {
    index: Index,
    /// Files that may not be there yet.
    written: Vec<(StoredFile, Vec<u8>)>,
    /// How many of them the store did not have.
    new: usize,
}

impl Change {
    /// Adds a file, or its name where that comes first.
    fn add(&mut self, file: &SchemaFile) {
        let stored = StoredFile::of(file);
        if let Some(known) = self.index.files.iter_mut().find(|known| known.blake3 == stored.blake3) {
            if stored.origin < known.origin {
                known.origin = stored.origin;
            }
            return;
        }
        self.written.push((stored.clone(), file.bytes.clone()));
        self.index.files.push(stored);
        self.new += 1;
    }
}

fn read_index(folder: &Path) -> Result<Index> {
    let path = folder.join(INDEX);
    let refused =
        |message: &str| Error::new(ErrorKind::Usage, message).with_code(ErrorCode::UnusableSchema).in_file(&path);
    let bytes = match fs::read(&path) {
        Ok(bytes) => bytes,
        Err(cause) if cause.kind() == std::io::ErrorKind::NotFound => {
            return Ok(Index { format: FORMAT, files: Vec::new() });
        }
        Err(cause) => return Err(refused("the schema store cannot be read").caused_by(cause)),
    };
    let index: Index = serde_json::from_slice(&bytes)
        .map_err(|cause| refused("expected the index of a schema store").caused_by(cause))?;
    let is_hash = |text: &str| text.len() == 64 && text.bytes().all(|digit| digit.is_ascii_hexdigit());
    if index.format != FORMAT || !index.files.iter().all(|file| is_hash(&file.blake3)) {
        return Err(refused("expected the index of a schema store of format 1"));
    }
    Ok(index)
}

/// Writes a file so that readers see it whole or not at all.
fn write(folder: &Path, name: &str, bytes: &[u8]) -> std::io::Result<()> {
    let unfinished = folder.join(format!(".{name}.tmp"));
    let mut file = File::create(&unfinished)?;
    file.write_all(bytes)?;
    disk::sync(&file)?;
    drop(file);
    disk::rename(&unfinished, &folder.join(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn manifest(name: &str, event: u16) -> SchemaFile {
        let provider = "<provider name='Lab' guid='{11111111-2222-3333-4444-555555555555}'>";
        let text = format!("<e>{provider}<events><event value='{event}'/></events></provider></e>");
        SchemaFile::parse(name, text.into_bytes(), None).unwrap()
    }

    #[test]
    fn the_order_of_imports_does_not_matter() {
        let folder = tempfile::tempdir().unwrap();
        let (one, other) = (folder.path().join("one"), folder.path().join("other/deep"));
        let mut store = Store::open(&one).unwrap();
        assert!(store.load(None).unwrap().hash().is_none());
        assert_eq!(store.import(&[manifest("a", 1), manifest("b", 2)]).unwrap(), 2);
        assert_eq!(store.import(&[manifest("c", 1)]).unwrap(), 0);
        let mut store = Store::open(&other).unwrap();
        assert_eq!(store.import(&[manifest("c", 1)]).unwrap(), 1);
        assert_eq!(store.import(&[manifest("b", 2)]).unwrap(), 1);
        assert_eq!(store.import(&[manifest("a", 1)]).unwrap(), 0);
        let read = |folder: &Path| fs::read_to_string(folder.join(INDEX)).unwrap();
        assert_eq!(read(&one), read(&other));
        let hash = |folder: &Path| Store::open(folder).unwrap().load(None).unwrap().hash();
        assert_eq!(hash(&one), hash(&other));
        assert!(hash(&one).is_some());
        let origins: Vec<_> = store.files().iter().map(|file| file.origin.as_str()).collect();
        assert_eq!(origins, ["a", "b"]);
    }

    #[test]
    fn files_are_taken_out_by_their_names() {
        let folder = tempfile::tempdir().unwrap();
        let mut store = Store::open(folder.path()).unwrap();
        assert_eq!(store.remove(|_| true).unwrap(), []);
        store.import(&[manifest("a", 1), manifest("b", 2)]).unwrap();
        let one = fs::read(folder.path().join(INDEX)).unwrap();
        store.import(&[manifest("c", 3)]).unwrap();
        // Another's view of it is older; so is that of one who reads it just then.
        let (mut other, reader) = (Store::open(folder.path()).unwrap(), Store::open(folder.path()).unwrap());
        store.import(&[manifest("d", 4)]).unwrap();
        let removed = other.remove(|origin| origin == "c" || origin == "d").unwrap();
        assert_eq!(removed.iter().map(|file| file.origin.as_str()).collect::<Vec<_>>(), ["c", "d"]);
        assert_eq!(fs::read(folder.path().join(INDEX)).unwrap(), one);
        assert_eq!(reader.load(None).unwrap().len(), 2, "what is gone meanwhile is no damage");
        let names = fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name());
        assert_eq!(names.filter(|name| name.to_string_lossy().ends_with(".man")).count(), 2);
    }

    #[test]
    fn what_was_harvested_joins() {
        let harvested = |event: u16| {
            let mut harvest = Harvest::default();
            let SchemaContent::Manifest(declared) = &manifest("a", event).content else { panic!("a manifest") };
            harvest.add_manifest(&declared.providers[0]);
            harvest.into_files()
        };
        let folder = tempfile::tempdir().unwrap();
        let (one, other) = (folder.path().join("one"), folder.path().join("other"));
        let (mut here, mut there) = (Store::open(&one).unwrap(), Store::open(&other).unwrap());
        assert_eq!(here.import(&harvested(1)).unwrap(), 1);
        assert_eq!(here.import(&harvested(2)).unwrap(), 1);
        assert_eq!(here.import(&harvested(1)).unwrap(), 0);
        assert_eq!(there.import(&harvested(2)).unwrap(), 1);
        let merged: Vec<_> = here.contents().unwrap().into_iter().map(|(_, file)| file).collect();
        assert_eq!(there.import(&merged).unwrap(), 1);
        let read = |folder: &Path| fs::read_to_string(folder.join(INDEX)).unwrap();
        assert_eq!(read(&one), read(&other));
        let [only] = here.files() else { panic!("one file for a provider") };
        assert_eq!((only.origin.as_str(), only.kind), ("harvest/Lab.json", StoredType::Facts));
        let guid = "11111111-2222-3333-4444-555555555555".parse().unwrap();
        let loaded = here.load(None).unwrap();
        let ids: Vec<u16> = loaded.schemas.manifests(guid).flat_map(|(own, _)| &own.events).map(|one| one.id).collect();
        assert_eq!(ids, [1, 2]);
    }

    #[test]
    fn imports_and_removals_beside_each_other_lose_nothing() {
        let folder = tempfile::tempdir().unwrap();
        Store::open(folder.path()).unwrap().import(&[manifest("base", 99)]).unwrap();
        std::thread::scope(|scope| {
            for part in 0..4_u16 {
                let folder = folder.path();
                scope.spawn(move || {
                    for number in 0..8 {
                        let name = format!("{part}/{number}");
                        let mut store = Store::open(folder).unwrap();
                        store.import(&[manifest(&name, 100 * part + number)]).unwrap();
                        assert!(store.load(None).is_ok());
                        if number % 2 == 1 {
                            assert_eq!(Store::open(folder).unwrap().remove(|origin| origin == name).unwrap().len(), 1);
                        }
                    }
                });
            }
        });
        let store = Store::open(folder.path()).unwrap();
        assert_eq!((store.files().len(), store.load(None).unwrap().len()), (17, 17));
    }

    #[test]
    fn damage_is_reported() {
        let folder = tempfile::tempdir().unwrap();
        let mut store = Store::open(folder.path()).unwrap();
        store.import(&[manifest("a", 1)]).unwrap();
        let file = folder.path().join(store.files()[0].file_name());
        let fault = || Store::open(folder.path()).and_then(|store| store.load(None)).unwrap_err();
        fs::write(&file, manifest("a", 7).bytes).unwrap();
        assert!(fault().to_string().contains("this is not the file that was imported"), "{}", fault());
        fs::remove_file(&file).unwrap();
        assert!(fault().to_string().contains("the schema store is damaged"), "{}", fault());
        for text in ["", "{}", r#"{"format":2,"files":[]}"#] {
            fs::write(folder.path().join(INDEX), text).unwrap();
            assert!(fault().to_string().contains("expected the index of a schema store"), "{}", fault());
        }
        let escape = r#"{"format":1,"files":[{"origin":"a","blake3":"../../x","kind":"tmf","rejected":0}]}"#;
        fs::write(folder.path().join(INDEX), escape).unwrap();
        assert!(fault().to_string().contains("of format 1"), "{}", fault());
    }

    #[cfg(not(windows))]
    #[test]
    fn the_usual_folder() {
        let folder = |variables: &[(&str, &str)]| {
            let find = |name: &str| variables.iter().find(|(key, _)| *key == name).map(|(_, value)| value.into());
            default_folder(find).map(|path| path.display().to_string())
        };
        let expected = |text: &str| Some(text.to_owned());
        assert_eq!(folder(&[("HOME", "/h")]), expected("/h/.local/share/etl2parquet/schemas"));
        assert_eq!(folder(&[("HOME", "/h"), ("XDG_DATA_HOME", "/x")]), expected("/x/etl2parquet/schemas"));
        assert_eq!(folder(&[("HOME", "/h"), ("XDG_DATA_HOME", "x")]), expected("/h/.local/share/etl2parquet/schemas"));
        assert_eq!(folder(&[]), None);
    }
}
