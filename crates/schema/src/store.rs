//! The user's schema store: a folder that keeps imported files for all later conversions.
//!
//! Every file keeps its bytes, under the hash of its content; an index names where it came from. Nothing in it depends
//! on time or machine, so a store can be copied or kept under version control. Files rank by their names.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};

use base::disk;
use base::error::{Error, ErrorCode, ErrorKind, Result};
use serde::{Deserialize, Serialize};

use super::files::{SchemaContent, SchemaFile};
use super::load::SchemaSet;

const INDEX: &str = "index.json";
/// Version of the index's form.
const FORMAT: u32 = 1;

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
    /// The name under which it was first imported.
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
}

impl StoredFile {
    fn file_name(&self) -> String {
        let extension = match self.kind {
            StoredType::Manifest => "man",
            StoredType::Tmf => "tmf",
            StoredType::Wevt => "wevt",
            StoredType::Mof => "mof",
        };
        format!("{}.{extension}", self.blake3)
    }

    fn of(file: &SchemaFile) -> StoredFile {
        let kind = match file.content {
            SchemaContent::Manifest(_) => StoredType::Manifest,
            SchemaContent::Messages(_) => StoredType::Tmf,
            SchemaContent::Binary(_) => StoredType::Wevt,
            SchemaContent::Classes(_) => StoredType::Mof,
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

    /// Copies files into the store; those that are there already stay as they are. Returns how many are new.
    ///
    /// # Errors
    /// [`ErrorKind::Output`] when the store cannot be written; it then is as it was before.
    pub fn import(&mut self, files: &[SchemaFile]) -> Result<usize> {
        let unwritable = |cause| {
            Error::new(ErrorKind::Output, "the schema store cannot be written").in_file(&self.folder).caused_by(cause)
        };
        fs::create_dir_all(&self.folder).map_err(unwritable)?;
        // Held to the end, so that of two imports at a time neither forgets the other's files.
        let lock = File::create(self.folder.join(".lock")).map_err(unwritable)?;
        lock.lock().map_err(unwritable)?;
        let mut index = read_index(&self.folder)?;
        let mut new = 0;
        for file in files {
            let stored = StoredFile::of(file);
            if index.files.iter().any(|known| known.blake3 == stored.blake3) {
                continue;
            }
            write(&self.folder, &stored.file_name(), &file.bytes).map_err(unwritable)?;
            index.files.push(stored);
            new += 1;
        }
        index.files.sort();
        if new > 0 {
            let json = serde_json::to_string_pretty(&index).expect("texts and numbers are valid JSON") + "\n";
            write(&self.folder, INDEX, json.as_bytes()).map_err(unwritable)?;
        }
        self.index = index;
        Ok(new)
    }

    /// What the files declare, with messages in a language where they have them in it. What was rejected at their import is not reported again.
    ///
    /// # Errors
    /// [`ErrorKind::Usage`] when a file is missing or is not what was imported.
    pub fn load(&self, language: Option<&str>) -> Result<SchemaSet> {
        let mut loaded = SchemaSet::default();
        for stored in &self.index.files {
            let path = self.folder.join(stored.file_name());
            let damaged = |message: &str| {
                let hint = "import its files anew into another folder, or use --no-store";
                Error::new(ErrorKind::Usage, message)
                    .with_code(ErrorCode::UnusableSchema)
                    .in_file(&path)
                    .with_hint(hint)
            };
            let bytes = fs::read(&path).map_err(|cause| damaged("the schema store is damaged").caused_by(cause))?;
            let file = SchemaFile::parse(&format!("store/{}", stored.origin), bytes, language);
            let file = file.map_err(|reason| damaged("the schema store is damaged").caused_by(reason))?;
            if file.hash() != stored.blake3 {
                return Err(damaged("the schema store is damaged: this is not the file that was imported"));
            }
            let _ = loaded.add(file);
        }
        Ok(loaded)
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
        assert_eq!(store.import(&[manifest("b", 2)]).unwrap(), 1);
        assert_eq!(store.import(&[manifest("a", 1)]).unwrap(), 1);
        let read = |folder: &Path| fs::read_to_string(folder.join(INDEX)).unwrap();
        assert_eq!(read(&one), read(&other));
        let hash = |folder: &Path| Store::open(folder).unwrap().load(None).unwrap().hash();
        assert_eq!(hash(&one), hash(&other));
        assert!(hash(&one).is_some());
        let origins: Vec<_> = store.files().iter().map(|file| file.origin.as_str()).collect();
        assert_eq!(origins, ["a", "b"]);
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
