//! The traces of a bucket, with what is known of their tables.

use std::collections::hash_map::Entry;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use base::error::{Error, ErrorKind, Result};
use base::progress::{Progress, stop_if_cancelled};
use columnar::output::manifest::{CommitRecord, FileEntry, MANIFEST_PATH, MAX_MANIFEST, Seal, seal};
use columnar::output::sink::hex;
use published::lake_manifest::{LAKE_PATH, LakeTrace, MANIFESTS, table_of};
use published::{LakePart, PublishedLake, PublishedTrace};
use sha2::{Digest, Sha256};

use super::columns::{TableColumn, TraceTable, tables_of};
use super::sources::SourceFile;

/// A trace that the lake is to have.
#[derive(Clone, Debug)]
pub(crate) struct Member {
    /// Its place in the lake.
    pub trace: LakeTrace,
    /// Where its rows are; `None` where the lake has them.
    pub folder: Option<PublishedTrace>,
}

/// A trace whose manifest is read.
#[derive(Debug)]
pub(crate) struct LoadedMember {
    /// Its name.
    pub name: String,
    /// Where its rows are; `None` where the lake has them.
    pub folder: Option<PublishedTrace>,
    /// Of a trace that the lake does not have: its manifest, and its tables as a text, which most traces have in common.
    pub manifest: Option<(String, Arc<str>)>,
    /// By the folder of the table.
    pub tables: BTreeMap<String, MemberTable>,
}

/// A table of a trace.
#[derive(Debug)]
pub(crate) struct MemberTable {
    /// Its columns and provider.
    pub table: TraceTable,
    /// The provider's name.
    pub provider_name: Option<String>,
    /// Its rows.
    pub rows: u64,
    /// The bytes of its files.
    pub bytes: u64,
    /// The files, in the order of their rows.
    pub files: Vec<SourceFile>,
}

/// The columns of the tables of a trace, by the folder of the table.
type Tables = BTreeMap<String, Arc<Vec<TableColumn>>>;

/// Reads a manifest, with its hash.
///
/// # Errors
/// [`ErrorKind::Output`] when it cannot be read, or is of a format version that is not.
pub(crate) fn read_manifest(trace: &PublishedTrace) -> Result<(String, String, CommitRecord)> {
    let path = trace.location(MANIFEST_PATH);
    let failure = |what: &str| Error::new(ErrorKind::Output, what).in_file(&path);
    let text = trace.store.get(MANIFEST_PATH, MAX_MANIFEST);
    let hint = "convert the trace again, or move it away: verify names all that are not whole";
    let text = text.map_err(|cause| failure("cannot read the manifest").caused_by(cause).with_hint(hint))?;
    let hash = hex(&Sha256::digest(&text));
    if seal(&text) == Seal::Broken {
        let error = failure("the manifest has been changed: its hash is another one");
        return Err(error.with_hint("convert the trace again"));
    }
    let text = String::from_utf8(text).map_err(|cause| failure("cannot understand the manifest").caused_by(cause))?;
    let record = record_of(&text).map_err(|error| error.in_file(&path))?;
    Ok((text, hash, record))
}

fn record_of(text: &str) -> Result<CommitRecord> {
    let failure = |cause| Error::new(ErrorKind::Output, "cannot understand the manifest").caused_by(cause);
    let record: CommitRecord = serde_json::from_str(text).map_err(failure)?;
    if record.is_readable() { Ok(record) } else { Err(record.unreadable()) }
}

/// Reads what is known of the traces of a bucket, in the order of their names.
///
/// # Errors
/// [`ErrorKind::Output`] when a trace cannot be read, or has changed since the run began.
pub(crate) fn load(
    bucket: &str,
    members: &[&Member],
    lake: Option<&PublishedLake>,
    progress: &dyn Progress,
) -> Result<Vec<LoadedMember>> {
    let mut loaded = BTreeMap::new();
    let mut shared: HashMap<Arc<str>, Arc<Tables>> = HashMap::new();
    for member in members {
        stop_if_cancelled(progress)?;
        let Some(folder) = &member.folder else { continue };
        let (text, hash, record) = read_manifest(folder)?;
        if hash != member.trace.manifest_sha256 {
            let error = Error::new(ErrorKind::Output, "the trace was converted anew meanwhile");
            return Err(error.in_file(folder.folder()).with_hint("run it again"));
        }
        let part = LakePart::of(folder, &record)?;
        let part_text =
            serde_json::to_string(&part).map_err(|cause| Error::bug("no JSON of columns").caused_by(cause))?;
        let tables = shared_tables(part_text, &part, &mut shared).map_err(|error| error.in_file(folder.folder()))?;
        let (part_text, tables) = tables;
        let name = member.trace.trace.clone();
        let tables = member_tables(&tables, &record);
        let manifest = Some((text, part_text));
        loaded.insert(name.clone(), LoadedMember { name, folder: Some(folder.clone()), manifest, tables });
    }
    if let Some(lake) = lake {
        load_kept(bucket, members, lake, progress, &mut loaded)?;
    }
    match members.iter().find(|member| !loaded.contains_key(&member.trace.trace)) {
        Some(lost) => {
            let message = format!("expected trace={} in the lake, found nothing of it", lost.trace.trace);
            let error = Error::new(ErrorKind::Output, message).with_hint("compact all traces into another folder");
            Err(match lake {
                Some(lake) => error.in_file(lake.store.location(LAKE_PATH)),
                None => error,
            })
        }
        None => Ok(loaded.into_values().collect()),
    }
}

/// The tables of a trace with their text, which all traces share that have the same.
fn shared_tables(
    text: String,
    part: &LakePart,
    shared: &mut HashMap<Arc<str>, Arc<Tables>>,
) -> Result<(Arc<str>, Arc<Tables>)> {
    if let Some((text, tables)) = shared.get_key_value(&*text) {
        return Ok((Arc::clone(text), Arc::clone(tables)));
    }
    let (text, tables): (Arc<str>, _) = (text.into(), Arc::new(tables_of(part)?));
    shared.insert(Arc::clone(&text), Arc::clone(&tables));
    Ok((text, tables))
}

/// Those that the lake has.
fn load_kept(
    bucket: &str,
    members: &[&Member],
    lake: &PublishedLake,
    progress: &dyn Progress,
    loaded: &mut BTreeMap<String, LoadedMember>,
) -> Result<()> {
    let kept = members.iter().filter(|member| member.folder.is_none()).map(|member| member.trace.trace.as_str());
    let kept: BTreeSet<&str> = kept.collect();
    if kept.is_empty() {
        return Ok(());
    }
    let in_lake = |error: Error| error.in_file(lake.store.location(MANIFESTS));
    // Each part stays where it is for as long as this holds it.
    let mut shared: HashMap<*const LakePart, (Arc<LakePart>, Arc<Tables>)> = HashMap::new();
    lake.traces(Some(bucket), true, progress, |known| {
        if !kept.contains(known.trace.as_str()) {
            return Ok(());
        }
        let tables = match shared.entry(Arc::as_ptr(&known.tables)) {
            Entry::Occupied(known) => Arc::clone(&known.get().1),
            Entry::Vacant(new) => {
                let tables = Arc::new(tables_of(&known.tables).map_err(in_lake)?);
                Arc::clone(&new.insert((Arc::clone(&known.tables), tables)).1)
            }
        };
        let record = record_of(&known.manifest.unwrap_or_default()).map_err(in_lake)?;
        let (name, tables) = (known.trace, member_tables(&tables, &record));
        loaded.insert(name.clone(), LoadedMember { name, folder: None, manifest: None, tables });
        Ok(())
    })
}

/// The tables of a trace, with what its manifest says of their files.
fn member_tables(columns: &Tables, record: &CommitRecord) -> BTreeMap<String, MemberTable> {
    let mut tables: BTreeMap<String, MemberTable> = BTreeMap::new();
    for entry in record.files.iter().filter(|entry| entry.is_table()) {
        let Some((name, columns)) = table_of(&entry.path).and_then(|table| columns.get_key_value(table)) else {
            continue;
        };
        let table = tables.entry(name.clone()).or_insert_with(|| MemberTable {
            table: TraceTable {
                columns: Arc::clone(columns),
                provider: entry.provider_id.map(|id| id.to_string()).unwrap_or_default(),
            },
            provider_name: entry.provider_name.clone(),
            rows: 0,
            bytes: 0,
            files: Vec::new(),
        });
        table.rows = table.rows.saturating_add(entry.rows);
        table.bytes = table.bytes.saturating_add(entry.bytes);
        let FileEntry { path, bytes, sha256, .. } = entry.clone();
        table.files.push(SourceFile { path, bytes, sha256 });
    }
    tables
}
