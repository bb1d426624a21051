//! A lake, read again.

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::{Array, RecordBatch};
use base::error::{Error, ErrorKind, Result};
use base::progress::{Progress, stop_if_cancelled};
use columnar::output::{Store, store_at};
use conversion::views::Lake;

use super::binding::Binding;
use super::lake::add_newer_columns;
use super::lake_manifest::{LAKE_PATH, LakeManifest, MANIFESTS};
use super::lake_part::LakePart;
use super::table::TableFile;

/// The columns of the table [`MANIFESTS`], behind `trace`: the manifest of a trace as it was published, and what it adds to tables.
pub const MANIFEST_COLUMNS: [&str; 2] = ["manifest", "tables"];

/// The files of a lake, and its manifest.
#[derive(Clone, Debug)]
pub struct PublishedLake {
    /// The files.
    pub store: Arc<dyn Store>,
    /// What it is made of.
    pub manifest: LakeManifest,
}

/// A trace of a lake, and what the lake knows of it.
#[derive(Clone, Debug)]
pub struct KnownTrace {
    /// Its name.
    pub trace: String,
    /// The manifest that it was published with, where it was asked for.
    pub manifest: Option<String>,
    /// Its tables; traces that have the same share it.
    pub tables: Arc<LakePart>,
}

impl PublishedLake {
    /// Whether a folder is a lake.
    pub fn is_at(folder: &Path) -> bool {
        store_at(folder).has(LAKE_PATH)
    }

    /// The lake in a folder.
    ///
    /// # Errors
    /// Those of [`LakeManifest::read`].
    pub fn open(folder: &Path) -> Result<PublishedLake> {
        let store = store_at(folder);
        Ok(PublishedLake { manifest: LakeManifest::read(&*store)?, store })
    }

    /// Hands over what is known of its traces, or of those in one bucket, in the order of files.
    ///
    /// # Errors
    /// [`ErrorKind::Output`] when a file of the lake cannot be read, or holds something else;
    /// [`ErrorKind::Interrupted`] when the caller asked to stop.
    pub fn traces(
        &self,
        bucket: Option<&str>,
        with_manifests: bool,
        progress: &dyn Progress,
        mut each: impl FnMut(KnownTrace) -> Result<()>,
    ) -> Result<()> {
        let mut known: HashMap<String, Arc<LakePart>> = HashMap::new();
        let files = self.manifest.files.iter().filter(|file| file.table() == MANIFESTS);
        for file in files.filter(|file| bucket.is_none_or(|bucket| bucket == file.bucket)) {
            let failure = |what: &str| Error::new(ErrorKind::Output, what).in_file(self.store.location(&file.path));
            let [manifest, tables] = MANIFEST_COLUMNS;
            let columns: &[&str] = if with_manifests { &["trace", tables, manifest] } else { &["trace", tables] };
            for batch in TableFile::open(&*self.store, &file.path)?.read_in(64, Some(columns))? {
                stop_if_cancelled(progress)?;
                let batch = batch.map_err(|cause| failure("cannot read").caused_by(cause))?;
                for row in 0..batch.num_rows() {
                    let value = |name| text(&batch, name, row).ok_or_else(|| failure("expected text in each row"));
                    let tables =
                        shared(&mut known, value(tables)?, &|cause| failure("cannot understand").caused_by(cause))?;
                    let manifest = with_manifests.then(|| value(manifest).map(str::to_owned)).transpose()?;
                    each(KnownTrace { trace: value("trace")?.to_owned(), manifest, tables })?;
                }
            }
        }
        Ok(())
    }

    /// Its tables, for views: those that the traces had, with their columns in the order in which a folder of these has them.
    ///
    /// # Errors
    /// Those of [`PublishedLake::traces`].
    pub fn tables(&self, progress: &dyn Progress) -> Result<Lake> {
        let mut parts: Vec<(String, Arc<LakePart>)> = Vec::new();
        let mut seen: HashMap<*const LakePart, usize> = HashMap::new();
        self.traces(None, false, progress, |known| {
            match seen.get(&Arc::as_ptr(&known.tables)).and_then(|&place| parts.get_mut(place)) {
                Some((first, _)) if known.trace < *first => *first = known.trace,
                Some(_) => {}
                None => {
                    seen.insert(Arc::as_ptr(&known.tables), parts.len());
                    parts.push((known.trace, known.tables));
                }
            }
            Ok(())
        })?;
        parts.sort_by(|(one, _), (other, _)| one.cmp(other));
        let mut lake = Lake::default();
        parts.iter().for_each(|(_, part)| part.add_to(&mut lake));
        lake.set_of_one_machine(parts.iter().all(|(_, part)| part.is_of_one_machine));
        add_newer_columns(&mut lake);
        let files = self.manifest.files.iter().filter(|file| file.table() != MANIFESTS);
        lake.set_files(files.map(|file| file.path.as_str()));
        Ok(lake)
    }

    /// What keeps the traces from reading as one table: columns that have several types, spellings or members.
    ///
    /// # Errors
    /// Those of [`PublishedLake::traces`].
    pub fn binding(&self, progress: &dyn Progress) -> Result<Binding> {
        let mut binding = Binding::default();
        self.traces(None, false, progress, |known| {
            let label = format!("trace={}", known.trace);
            for (path, columns) in known.tables.files() {
                binding.add_columns(&label, path, columns);
            }
            Ok(())
        })?;
        Ok(binding)
    }
}

/// What a text says of the tables of a trace; traces that have the same share it.
fn shared(
    known: &mut HashMap<String, Arc<LakePart>>,
    text: &str,
    failure: &dyn Fn(serde_json::Error) -> Error,
) -> Result<Arc<LakePart>> {
    if let Some(tables) = known.get(text) {
        return Ok(Arc::clone(tables));
    }
    let tables: Arc<LakePart> = Arc::new(serde_json::from_str(text).map_err(failure)?);
    known.insert(text.to_owned(), Arc::clone(&tables));
    Ok(tables)
}

/// A text of a batch.
fn text<'a>(batch: &'a RecordBatch, column: &str, row: usize) -> Option<&'a str> {
    let values = batch.column_by_name(column)?.as_string_opt::<i32>()?;
    values.is_valid(row).then(|| values.value(row))
}
