//! `lake.json`: what a lake is made of. Who reads a lake reads it first, and no file that it does not name.

use base::error::{Error, ErrorKind, Result};
use base::names::stays_below;
use base::readable::printable::printable;
use base::words;
use base::words::Words;
use columnar::output::Store;
pub use columnar::output::manifest::LAKE_PATH;
use columnar::output::manifest::{Seal, seal, sealed};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// The version of the layout of lakes.
pub const LAKE_FORMAT_VERSION: u32 = 1;

/// Bytes of it that are read.
const MAX_BYTES: u64 = 1 << 30;

/// The table of a lake that has the manifests of its traces, and what tables each has.
pub const MANIFESTS: &str = "manifests";

/// What besides a hash of their names traces are put into buckets by (`--by`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum By {
    /// The day.
    #[default]
    Day,
    /// Nothing.
    None,
}

words! { By {
    Day = "day": "The day of the first event, in UTC",
    None = "none": "Nothing else",
} }

impl Serialize for By {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        serializer.serialize_str(self.word())
    }
}

impl<'de> Deserialize<'de> for By {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        let word = String::deserialize(deserializer)?;
        By::of_word(&word).ok_or_else(|| serde::de::Error::custom(format!("expected day or none, found {word}")))
    }
}

/// What a lake is made of: the same traces give the same text, whenever and in whatever order they came.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LakeManifest {
    /// [`LAKE_FORMAT_VERSION`].
    pub format_version: u32,
    /// Buckets by the hash of a name, as many as there are for each day.
    pub buckets: u32,
    /// What besides the hash decides on the bucket.
    pub by: By,
    /// A file ends before it would have more bytes.
    pub target_size: u64,
    /// The traces, sorted by name.
    pub traces: Vec<LakeTrace>,
    /// The files, sorted by path.
    pub files: Vec<LakeFile>,
    /// Who wrote it.
    pub written_by: Writer,
}

/// A trace of a lake.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct LakeTrace {
    /// Its name, as in `trace=<name>`.
    pub trace: String,
    /// The day of its first event, `YYYY-MM-DD` in UTC; `None` where it has none, or the lake does not go by it.
    pub day: Option<String>,
    /// Its bucket within the day.
    pub bucket: u32,
    /// SHA-256 of the manifest that it was published with.
    pub manifest_sha256: String,
}

impl LakeTrace {
    /// The day and the number of its bucket, as the names of files begin: `2026-01-31-b03`.
    pub fn bucket_name(&self) -> String {
        bucket_name(self.day.as_deref(), self.bucket)
    }
}

/// What the names of the files of a bucket begin with.
pub fn bucket_name(day: Option<&str>, bucket: u32) -> String {
    format!("{}-b{bucket:02}", day.unwrap_or("all"))
}

/// A file of a lake.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct LakeFile {
    /// Below the folder of the lake, `/`-separated: its table, and a name of its own with digits of its hash.
    pub path: String,
    /// The bucket, as the name begins.
    pub bucket: String,
    /// Of a table whose columns have several types in the traces of the bucket: which of these the file has.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub variant: Option<String>,
    /// The first trace of which it has rows.
    pub first_trace: String,
    /// The last one.
    pub last_trace: String,
    /// The rows, from the footer.
    pub rows: u64,
    /// The length in bytes.
    pub bytes: u64,
    /// The SHA-256 hash in lower-case hexadecimal.
    pub sha256: String,
}

impl LakeFile {
    /// The table: `events/<dataset>`, with a folder for an event where there is one, `sidecar/<table>`, or [`MANIFESTS`].
    pub fn table(&self) -> &str {
        self.path.rsplit_once('/').map_or("", |(table, _)| table)
    }
}

/// The table that a file of a trace is of, given its path in the trace: its folder, or that of the sidecar's table. `None` of a file that
/// is none.
pub fn table_of(path: &str) -> Option<&str> {
    let table = path.strip_suffix(".parquet")?;
    if path.starts_with("events/") { table.rsplit_once('/').map(|(folder, _)| folder) } else { Some(table) }
}

/// A program that wrote a lake.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Writer {
    /// Its version.
    pub tool_version: String,
}

impl LakeManifest {
    /// The manifest of a lake without traces.
    pub fn empty(buckets: u32, by: By, target_size: u64) -> LakeManifest {
        LakeManifest {
            format_version: LAKE_FORMAT_VERSION,
            buckets,
            by,
            target_size,
            traces: Vec::new(),
            files: Vec::new(),
            written_by: Writer { tool_version: env!("CARGO_PKG_VERSION").to_owned() },
        }
    }

    /// Reads that of the lake in a folder.
    ///
    /// # Errors
    /// [`ErrorKind::Output`] when it is not there, was changed, or is of another version.
    pub fn read(lake: &dyn Store) -> Result<LakeManifest> {
        let failure = |what: &str| Error::new(ErrorKind::Output, what).in_file(lake.location(LAKE_PATH));
        let text = lake.get(LAKE_PATH, MAX_BYTES).map_err(|cause| failure("cannot read").caused_by(cause))?;
        let found: LakeManifest = serde_json::from_slice(&text)
            .map_err(|cause| failure("expected the manifest of a lake").caused_by(cause))?;
        if found.format_version != LAKE_FORMAT_VERSION {
            let found = found.format_version;
            let message = format!("expected the lake format {LAKE_FORMAT_VERSION}, found {found}");
            return Err(failure(&message).with_hint("another version of etl2parquet wrote it"));
        }
        if seal(&text) != Seal::Intact {
            let hint = "restore it, or compact the traces into another folder";
            return Err(failure("the manifest of the lake was changed: its hash is another one").with_hint(hint));
        }
        if let Some(file) = found.files.iter().find(|file| !stays_below(&file.path)) {
            let error = failure(&format!("expected paths of files in the lake, found {}", printable(&file.path)));
            return Err(error.with_hint("compact the traces into another folder"));
        }
        Ok(found)
    }

    /// The text of the file, with its own hash at the end.
    ///
    /// # Errors
    /// [`ErrorKind::Internal`], where JSON has another form than it should.
    pub fn to_json(&self) -> Result<String> {
        let text = serde_json::to_string_pretty(self);
        let text = text.map_err(|cause| Error::bug("cannot write the manifest of a lake").caused_by(cause))?;
        sealed(&text).ok_or_else(|| Error::bug("the manifest of a lake does not end with an object"))
    }
}

#[cfg(test)]
mod tests {
    use columnar::output::MemoryStore;

    use super::*;

    #[test]
    fn files_of_a_trace_are_of_tables() {
        let t = |path, expected| assert_eq!(table_of(path), expected, "{path}");
        t("events/A/X/part-00000-00000.parquet", Some("events/A/X"));
        t("sidecar/clock.parquet", Some("sidecar/clock"));
        t("sidecar/views.sql", None);
    }

    #[test]
    fn what_is_written_is_read_and_a_changed_byte_is_found() {
        let mut manifest = LakeManifest::empty(8, By::Day, 1 << 28);
        manifest.traces.push(LakeTrace {
            trace: "boot".to_owned(),
            day: Some("2026-01-31".to_owned()),
            bucket: 3,
            manifest_sha256: "ab".to_owned(),
        });
        assert_eq!(manifest.traces[0].bucket_name(), "2026-01-31-b03");
        let text = manifest.to_json().unwrap();
        let store = MemoryStore::default();
        store.put(LAKE_PATH, text.as_bytes()).unwrap();
        assert_eq!(LakeManifest::read(&store).unwrap(), manifest);
        for path in ["../secret", "/etc/passwd", "events//x", "C:/x"] {
            let file = LakeFile { path: path.to_owned(), ..LakeFile::default() };
            let outside = LakeManifest { files: vec![file], ..manifest.clone() };
            store.put(LAKE_PATH, outside.to_json().unwrap().as_bytes()).unwrap();
            let error = LakeManifest::read(&store).unwrap_err().to_string();
            assert!(error.contains(&format!("expected paths of files in the lake, found {path}")), "{error}");
        }
        store.put(LAKE_PATH, text.replace("boot", "root").as_bytes()).unwrap();
        assert!(LakeManifest::read(&store).unwrap_err().to_string().contains("was changed"));
        store.put(LAKE_PATH, text.replace("\"format_version\": 1", "\"format_version\": 2").as_bytes()).unwrap();
        assert!(LakeManifest::read(&store).unwrap_err().to_string().contains("found 2"));
    }
}
