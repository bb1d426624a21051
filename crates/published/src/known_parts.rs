//! What traces add to the tables of many, kept from one call to the next.
//!
//! ```text
//! OUT/.etl2parquet/views    JSON: the manifests of traces by hash, and what each adds; traces that add the same share it
//! ```

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use base::error::{Error, ErrorKind, Result};
use columnar::output::Store;
use columnar::output::manifest::{MANIFEST_PATH, MAX_MANIFEST};
use columnar::output::refusal::FOLDER;
use serde::{Deserialize, Serialize};

use super::lake_part::LakePart;
use super::trace::PublishedTrace;

/// The file in that folder; what is kept of inputs there ends in `.json`.
const FILE: &str = "views";

/// What is written by another version of the program may mean something else.
const VERSION: &str = concat!(env!("CARGO_PKG_VERSION"), " 1");

/// What is kept.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct KnownParts {
    version: String,
    /// By hash of the manifest, the number of the part.
    traces: BTreeMap<String, usize>,
    parts: Vec<Arc<LakePart>>,
}

/// What a trace adds, with the hash of its manifest.
pub(super) type KnownPart = (String, Arc<LakePart>);

impl KnownParts {
    /// What an output folder has; nothing where there is nothing that can be understood.
    pub(super) fn read(out: &dyn Store) -> Self {
        let kept = out.get(&path(), MAX_BYTES).ok();
        let kept: Option<KnownParts> = kept.and_then(|text| serde_json::from_slice(&text).ok());
        kept.filter(|kept| kept.version == VERSION).unwrap_or_default()
    }

    /// What a trace adds, as it is kept, else as `read` finds it.
    ///
    /// # Errors
    /// [`ErrorKind::Output`] when the manifest cannot be read, and those of `read`.
    pub(super) fn part_or(&self, trace: &PublishedTrace, read: impl FnOnce() -> Result<LakePart>) -> Result<KnownPart> {
        let path = trace.location(MANIFEST_PATH);
        let failure = |cause| Error::new(ErrorKind::Output, "cannot read").in_file(&path).caused_by(cause);
        let manifest = trace.store.get(MANIFEST_PATH, MAX_MANIFEST).map_err(failure)?;
        let hash = blake3::hash(&manifest).to_hex().to_string();
        let kept = self.traces.get(&hash).and_then(|&number| self.parts.get(number));
        let part = kept.map_or_else(|| read().map(Arc::new), |part| Ok(Arc::clone(part)))?;
        Ok((hash, part))
    }

    /// What is to be kept of these traces, unless it is what is kept already; and what they add, each part once, in their order.
    pub(super) fn replaced_by(self, traces: Vec<KnownPart>) -> (Option<Self>, Vec<Arc<LakePart>>) {
        let mut new = KnownParts { version: VERSION.to_owned(), ..KnownParts::default() };
        // Parts are compared by their text, and those that were kept or have been seen by where they lie.
        let (mut by_text, mut by_place) = (HashMap::new(), HashMap::new());
        for (hash, part) in traces {
            let number = *by_place.entry(Arc::as_ptr(&part)).or_insert_with(|| {
                let text = serde_json::to_string(&part).unwrap_or_default();
                *by_text.entry(text).or_insert_with(|| {
                    new.parts.push(Arc::clone(&part));
                    new.parts.len() - 1
                })
            });
            new.traces.insert(hash, number);
        }
        let parts = new.parts.clone();
        ((new != self).then_some(new), parts)
    }

    /// Keeps it in an output folder, where that can be written to: without it the next call takes longer.
    pub(super) fn write(&self, out: &dyn Store) {
        let text = serde_json::to_string(self).unwrap_or_default();
        let _ = out.put(&path(), text.as_bytes());
    }
}

/// Bytes of the file that are read.
const MAX_BYTES: u64 = 1 << 30;

fn path() -> String {
    format!("{FOLDER}/{FILE}")
}
