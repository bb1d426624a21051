//! `sidecar/manifest.json`: the commit record of a trace.

use std::collections::BTreeMap;

use base::error::{Error, ErrorKind, Result};
use base::guid::Guid;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use sha2::{Digest, Sha256};

use super::sink::hex;
use super::store::Store;

/// Where the manifest lies below `trace=<name>`.
pub const MANIFEST_PATH: &str = "sidecar/manifest.json";

/// Where the manifest of a lake lies in its folder.
pub const LAKE_PATH: &str = "lake.json";

/// The folders that the files of a lake are in.
pub const LAKE_FOLDERS: [&str; 3] = ["events", "manifests", "sidecar"];

/// Whether a file of a lake has the name of one that a run gives: a bucket, a number, and 16 digits of a hash.
pub fn is_lake_file(name: &str) -> bool {
    let parts: Option<(&str, &str)> = name.strip_suffix(".parquet").and_then(|name| name.rsplit_once('-'));
    parts.is_some_and(|(rest, hash)| is_short_hash(hash) && rest.contains("-b"))
}

/// Whether a word is 16 hexadecimal digits, as attempts, and the beginnings of hashes that are in names, are.
pub fn is_short_hash(word: &str) -> bool {
    word.len() == 16 && word.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// Bytes of a manifest that are read.
pub const MAX_MANIFEST: u64 = 1 << 30;

/// The version of the output contract; readers of another one cannot rely on names and meanings.
pub const FORMAT_VERSION: u32 = 5;

/// The oldest version that is read: what its files lack is NULL.
pub const OLDEST_FORMAT_VERSION: u32 = 3;

/// What was converted, how, and what came of it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CommitRecord {
    /// The name in `trace=<name>`.
    pub trace: String,
    /// [`FORMAT_VERSION`].
    pub format_version: u32,
    /// The version of the program.
    pub tool_version: String,
    /// The options in effect, as a JSON object.
    pub options: Value,
    /// [`options_hash`] of the options.
    pub options_hash: String,
    /// The input files, in the order of `sessions.parquet`.
    pub inputs: Vec<InputEntry>,
    /// What became of the events.
    pub events: EventCounts,
    /// Rows by `<decode_source>/<decode_status>`.
    pub decode: BTreeMap<String, u64>,
    /// What the recording itself lost.
    pub lost: LossCounts,
    /// Every file but the manifest, sorted by path.
    pub files: Vec<FileEntry>,
    /// Whatever varies from run to run.
    pub run: RunInfo,
}

/// One input file.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct InputEntry {
    /// The path below the input named on the command line, `/`-separated.
    pub source: String,
    /// The length in bytes.
    pub size: u64,
    /// The BLAKE3 hash in lower-case hexadecimal.
    pub blake3: String,
}

/// The conservation proof: `found = written + filtered + damaged`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct EventCounts {
    /// Events that the survey found.
    pub found: u64,
    /// Rows in the footers of the event files.
    pub written: u64,
    /// Events that a filter left out.
    pub filtered: u64,
    /// Events recognised but damaged.
    pub damaged: u64,
    /// Bytes in which no events could be counted.
    pub damaged_bytes: u64,
}

impl EventCounts {
    /// Whether anything that the inputs hold could not be read.
    pub fn has_damage(&self) -> bool {
        self.damaged > 0 || self.damaged_bytes > 0
    }

    /// Whether every event found is accounted for.
    pub fn is_conserved(&self) -> bool {
        let parts = [self.written, self.filtered, self.damaged];
        parts.iter().try_fold(0u64, |sum, &part| sum.checked_add(part)) == Some(self.found)
    }
}

/// What the recording says it lost; `None` is "not recorded".
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LossCounts {
    /// Events.
    pub events_lost: Option<u64>,
    /// Buffers.
    pub buffers_lost: Option<u64>,
    /// Why nobody can know what was lost, or whether that is all.
    #[serde(default)]
    pub unknown_because: Option<String>,
}

/// One file: Parquet, but for the scripts of views and the names that depend on a lock, which have no rows.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileEntry {
    /// The path below `trace=<name>`, `/`-separated.
    pub path: String,
    /// The provider of an event file that has one.
    #[serde(with = "guid_text")]
    pub provider_id: Option<Guid>,
    /// Its name.
    pub provider_name: Option<String>,
    /// The rows, from the footer.
    pub rows: u64,
    /// The length in bytes.
    pub bytes: u64,
    /// The SHA-256 hash in lower-case hexadecimal.
    pub sha256: String,
    /// The smallest `timestamp_ns`, if there are rows and such a column.
    pub min_timestamp_ns: Option<i64>,
    /// The largest `timestamp_ns`.
    pub max_timestamp_ns: Option<i64>,
}

impl FileEntry {
    /// Whether it is a table, with a footer, and no script.
    pub fn is_table(&self) -> bool {
        self.path.ends_with(".parquet")
    }
}

/// Bytes that were read of all inputs, by phase. What is read twice counts twice.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct BytesRead {
    /// To find the events, and for the hash.
    pub survey: u64,
    /// To find schemas, what ids meant, stacks, and where to cut.
    pub plan: u64,
    /// To convert the events.
    pub convert: u64,
}

/// Everything that may differ between two runs with the same result.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct RunInfo {
    /// What the caller calls the run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// When the run began, RFC 3339 in UTC.
    pub created: String,
    /// How long it took.
    pub duration_ms: u64,
    /// The threads it used.
    pub threads: u64,
    /// Its memory budget in bytes.
    pub memory_bytes: u64,
    /// What was read of the inputs, of a run in one process.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bytes_read: Option<BytesRead>,
    /// The machine's name.
    pub host: Option<String>,
    /// The absolute path of the output folder.
    pub output: String,
    /// The absolute paths of the inputs, in the order of `inputs`.
    pub inputs: Vec<String>,
    /// When each input was last written, RFC 3339 in UTC; `null` where nobody knows.
    #[serde(default)]
    pub modified: Vec<Option<String>>,
    /// The options in effect that decide nothing about the other files, as a JSON object.
    #[serde(default, skip_serializing_if = "Value::is_null")]
    pub options: Value,
    /// BLAKE3 of the plan, of a run in steps.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plan: Option<String>,
    /// The folder that the files lie in, beside the folder of the manifest, of a trace in a store.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub data: Option<String>,
}

impl CommitRecord {
    /// The text of the file, with its own hash at the end: two runs with the same result differ below `run` at most.
    ///
    /// # Errors
    /// [`ErrorKind::Internal`] when JSON cannot express the options.
    pub fn to_json(&self) -> Result<String> {
        let mut sorted = self.clone();
        sorted.files.sort_by(|a, b| a.path.cmp(&b.path));
        sorted.options = sorted_keys(&self.options);
        let text = serde_json::to_string_pretty(&sorted);
        let text = text.map_err(|cause| Error::bug("cannot write the manifest").caused_by(cause))?;
        sealed(&text).ok_or_else(|| Error::bug("the manifest does not end with `run`"))
    }

    /// Reads the manifest of a published trace, given its folder `trace=<name>`.
    ///
    /// # Errors
    /// [`ErrorKind::Output`] when it is not there or not a manifest.
    pub fn read(trace: &dyn Store) -> Result<Self> {
        let path = trace.location(MANIFEST_PATH);
        let failure = |what: &str| Error::new(ErrorKind::Output, format!("{what} the manifest")).in_file(&path);
        let text = trace.get(MANIFEST_PATH, MAX_MANIFEST).map_err(|cause| failure("cannot read").caused_by(cause))?;
        serde_json::from_slice(&text).map_err(|cause| failure("cannot understand").caused_by(cause))
    }

    /// Whether the files are laid out as this program reads them, now or in an older format version.
    pub fn is_readable(&self) -> bool {
        (OLDEST_FORMAT_VERSION..=FORMAT_VERSION).contains(&self.format_version)
    }

    /// Why the files cannot be read: in which format version they are, and what helps.
    pub fn unreadable(&self) -> Error {
        let found = self.format_version;
        let message = format!("expected format_version {OLDEST_FORMAT_VERSION} to {FORMAT_VERSION}, found {found}");
        let hint = if found > FORMAT_VERSION { "a newer etl2parquet wrote it" } else { "convert the trace again" };
        Error::new(ErrorKind::Output, message).with_hint(hint)
    }

    /// Whether the files of a trace have a manifest of this program, of whatever version.
    pub fn is_in(trace: &dyn Store) -> bool {
        let manifest = trace.get(MANIFEST_PATH, MAX_MANIFEST).ok();
        let manifest = manifest.and_then(|text| serde_json::from_slice::<Value>(&text).ok());
        manifest.is_some_and(|manifest| manifest["trace"].is_string() && manifest["format_version"].is_u64())
    }
}

/// Whether a manifest is the text that was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Seal {
    /// Its hash is that of the text before it, and nothing stands behind it.
    Intact,
    /// It is not.
    Broken,
    /// There is no hash where it should be.
    Missing,
}

/// Between what is hashed and the hash.
const SEAL: &str = ",\n    \"manifest_sha256\": \"";

/// Behind the hash.
const SEAL_END: &str = "\"\n  }\n}\n";

/// The text of an object, as `serde_json` writes it over several lines, with the hash of all of it as the last key of the object that
/// is its last value, as `run` is of a manifest; `None` where that is none.
pub fn sealed(text: &str) -> Option<String> {
    let text = text.strip_suffix("\n  }\n}")?;
    Some(format!("{text}{SEAL}{}{SEAL_END}", hex(&Sha256::digest(text))))
}

/// Holds a manifest against the hash at its end.
pub fn seal(text: &[u8]) -> Seal {
    let Some(text) = text.strip_suffix(SEAL_END.as_bytes()) else { return Seal::Missing };
    let Some((text, hash)) = text.split_at_checked(text.len().saturating_sub(64)) else { return Seal::Missing };
    let Some(text) = text.strip_suffix(SEAL.as_bytes()) else { return Seal::Missing };
    if hex(&Sha256::digest(text)).as_bytes() == hash { Seal::Intact } else { Seal::Broken }
}

/// What two runs must agree in to have the same result: the BLAKE3 hash, in lower-case hexadecimal, of the options that
/// decide what is written.
///
/// `options` is a JSON object with one key per such option. The order of keys does not matter, absent and `null` are the
/// same.
pub fn options_hash(options: &Value) -> String {
    let mut counted = Map::new();
    for (key, value) in options.as_object().into_iter().flatten() {
        if !value.is_null() {
            counted.insert(key.clone(), value.clone());
        }
    }
    blake3::hash(sorted_keys(&Value::Object(counted)).to_string().as_bytes()).to_hex().to_string()
}

/// The same value with the keys of all objects in alphabetical order.
fn sorted_keys(value: &Value) -> Value {
    match value {
        Value::Object(object) => {
            let ordered: BTreeMap<_, _> = object.iter().collect();
            Value::Object(ordered.into_iter().map(|(key, value)| (key.clone(), sorted_keys(value))).collect())
        }
        Value::Array(items) => Value::Array(items.iter().map(sorted_keys).collect()),
        other => other.clone(),
    }
}

/// A GUID as its text, none as `null`.
mod guid_text {
    use base::guid::Guid;
    use serde::{Deserialize, Deserializer, Serializer, de::Error as _};

    #[allow(clippy::ref_option, reason = "`#[serde(with)]` calls it with this type")]
    pub(super) fn serialize<S: Serializer>(guid: &Option<Guid>, serializer: S) -> Result<S::Ok, S::Error> {
        match guid {
            Some(guid) => serializer.collect_str(guid),
            None => serializer.serialize_none(),
        }
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Guid>, D::Error> {
        let text = Option::<String>::deserialize(deserializer)?;
        text.map(|text| text.parse().map_err(D::Error::custom)).transpose()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::output::memory_store::MemoryStore;

    fn entry(path: &str) -> FileEntry {
        FileEntry {
            path: path.to_owned(),
            provider_id: "e13c0d23-ccbc-4e12-931b-d9cc2eee27e4".parse().ok(),
            provider_name: Some(".NET Common Language Runtime".to_owned()),
            rows: 3,
            bytes: 1000,
            sha256: "00".repeat(32),
            min_timestamp_ns: Some(-1),
            max_timestamp_ns: Some(i64::MAX),
        }
    }

    fn manifest() -> CommitRecord {
        CommitRecord {
            trace: "boot".to_owned(),
            format_version: FORMAT_VERSION,
            tool_version: "0.1.0".to_owned(),
            options: json!({ "raw": "needed", "compression": "zstd(3)" }),
            options_hash: "ab".to_owned(),
            inputs: vec![InputEntry { source: "boot.etl".to_owned(), size: 65536, blake3: "cd".to_owned() }],
            events: EventCounts { found: 6, written: 3, filtered: 2, damaged: 1, damaged_bytes: 72 },
            decode: BTreeMap::from([("pack/ok".to_owned(), 2), ("none/no_schema".to_owned(), 1)]),
            lost: LossCounts { events_lost: Some(0), buffers_lost: None, unknown_because: Some("why".to_owned()) },
            files: vec![entry("events/b/part-00000-00000.parquet"), entry("events/a/part-00000-00000.parquet")],
            run: RunInfo { created: "2026-11-20T16:00:00Z".to_owned(), threads: 2, ..RunInfo::default() },
        }
    }

    #[test]
    fn the_manifest_has_the_keys_of_the_contract_in_a_fixed_order() {
        let text = manifest().to_json().unwrap();
        let value: Value = serde_json::from_str(&text).unwrap();
        let keys = |value: &Value| value.as_object().unwrap().keys().cloned().collect::<Vec<_>>().join(" ");
        assert_eq!(
            keys(&value),
            "trace format_version tool_version options options_hash inputs events decode lost files run"
        );
        assert_eq!(keys(&value["options"]), "compression raw");
        assert_eq!(keys(&value["inputs"][0]), "source size blake3");
        assert_eq!(keys(&value["events"]), "found written filtered damaged damaged_bytes");
        assert_eq!(keys(&value["decode"]), "none/no_schema pack/ok");
        assert_eq!(value["lost"], json!({ "events_lost": 0, "buffers_lost": null, "unknown_because": "why" }));
        assert_eq!(
            keys(&value["files"][0]),
            "path provider_id provider_name rows bytes sha256 min_timestamp_ns max_timestamp_ns"
        );
        assert_eq!(value["files"][0]["path"], "events/a/part-00000-00000.parquet");
        assert_eq!(value["files"][0]["provider_id"], "e13c0d23-ccbc-4e12-931b-d9cc2eee27e4");
        assert!(text.ends_with("}\n"));
    }

    #[test]
    fn a_manifest_reads_back_as_it_was_written() {
        let store = MemoryStore::default();
        let mut expected = manifest();
        store.put(MANIFEST_PATH, expected.to_json().unwrap().as_bytes()).unwrap();
        expected.files.reverse();
        assert_eq!(CommitRecord::read(&store).unwrap(), expected);
    }

    #[test]
    fn a_missing_or_broken_manifest_is_an_output_failure_that_names_the_file() {
        let store = MemoryStore::default();
        assert_eq!(CommitRecord::read(&store).unwrap_err().kind(), ErrorKind::Output);
        store.put(MANIFEST_PATH, b"{\"trace\": 1}").unwrap();
        let error = CommitRecord::read(&store).unwrap_err();
        let location = store.location(MANIFEST_PATH);
        assert_eq!((error.kind(), error.location().file.as_ref()), (ErrorKind::Output, Some(&location)));
    }

    #[test]
    fn every_changed_byte_breaks_the_seal() {
        let text = manifest().to_json().unwrap().into_bytes();
        assert_eq!(seal(&text), Seal::Intact);
        for at in 0..text.len() {
            let mut changed = text.clone();
            changed[at] ^= 1;
            assert_ne!(seal(&changed), Seal::Intact, "byte {at}");
            assert_ne!(seal(&text[..at]), Seal::Intact, "cut at {at}");
        }
        assert_eq!(seal(&[&text[..], b" "].concat()), Seal::Missing);
        assert_eq!(seal(&[b" ", &text[..]].concat()), Seal::Broken);
        assert_eq!(seal(b""), Seal::Missing);
    }

    #[test]
    fn the_options_hash_sees_every_option_and_no_order_of_keys() {
        let hash = |options: Value| options_hash(&options);
        let plain = hash(json!({ "raw": "needed", "filter": { "pid": [1, 2], "level": 3 } }));
        assert_eq!(plain.len(), 64);
        assert_eq!(plain, hash(json!({ "filter": { "level": 3, "pid": [1, 2] }, "raw": "needed" })));
        assert_eq!(plain, hash(json!({ "raw": "needed", "filter": { "pid": [1, 2], "level": 3 }, "from": null })));
        assert_ne!(plain, hash(json!({ "raw": "always", "filter": { "pid": [1, 2], "level": 3 } })));
        assert_ne!(plain, hash(json!({ "raw": "needed", "filter": { "pid": [2, 1], "level": 3 } })));
        assert_ne!(plain, hash(json!({ "raw": "needed", "filter": { "pid": [1, 2], "level": 3 }, "guid": "uuid" })));
    }

    #[test]
    fn conservation_is_an_exact_sum() {
        let t = |found, written, filtered, damaged| {
            EventCounts { found, written, filtered, damaged, damaged_bytes: 9 }.is_conserved()
        };
        assert!(t(6, 3, 2, 1));
        assert!(t(0, 0, 0, 0));
        assert!(!t(7, 3, 2, 1));
        assert!(!t(0, u64::MAX, 1, 0));
    }
}
