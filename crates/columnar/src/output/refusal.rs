//! What `--if-exists update` keeps of inputs that became no trace: one small file each, so that the next run need not read them
//! again, and can return the same.
//!
//! ```text
//! OUT/.etl2parquet/<name>.json
//! ```

use std::path::Path;

use base::error::Result;
use serde::{Deserialize, Serialize};

use super::manifest::InputEntry;
use super::store::{Store, joined};

/// The folder in the output folder for what runs keep for later ones. Names of staging folders go on with a dash.
pub const FOLDER: &str = ".etl2parquet";

/// Why an input became no trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RefusalKind {
    /// It is no trace.
    Unreadable,
    /// The filters pass no event of it.
    Empty,
    /// A condition of publishing was not met.
    Gated,
}

/// An input that became no trace, and all that this depends on.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Refusal {
    /// The name in `trace=<name>`.
    pub trace: String,
    /// The version of the output contract.
    pub format_version: u32,
    /// The version of the program.
    pub tool_version: String,
    /// The hash of the options that decide what is written.
    pub options_hash: String,
    /// The conditions of publishing, as JSON.
    pub checks: serde_json::Value,
    /// The input files; of one that is no trace the hash is not known, and empty.
    pub inputs: Vec<InputEntry>,
    /// When each was last written, RFC 3339 in UTC.
    pub modified: Vec<Option<String>>,
    /// Why it became no trace.
    pub kind: RefusalKind,
    /// The same for people.
    pub reason: String,
}

impl Refusal {
    /// What is kept of a trace; `None` where nothing is, or nothing that can be understood.
    pub fn read(out: &dyn Store, trace: &str) -> Option<Refusal> {
        let refusal: Refusal = serde_json::from_slice(&out.get(&path(trace), MAX_REFUSAL).ok()?).ok()?;
        (refusal.trace == trace).then_some(refusal)
    }

    /// Keeps this in the place of what was kept of the trace, whole or not at all.
    ///
    /// # Errors
    /// [`ErrorKind::Output`](base::error::ErrorKind::Output) when it cannot be written.
    pub fn write(&self, out: &dyn Store) -> Result<()> {
        let path = path(&self.trace);
        let text = serde_json::to_string_pretty(self).unwrap_or_default() + "\n";
        out.put(&path, text.as_bytes())
    }

    /// Removes what runs have left that were killed while they wrote. Where one is still at work and loses its own, its next
    /// run finds again what it would have kept.
    pub fn clear_leftovers(out: &dyn Store) {
        let left = out
            .list(FOLDER)
            .into_iter()
            .flatten()
            .filter(|entry| Path::new(&entry.name).extension().is_some_and(|ending| ending == "tmp"));
        left.for_each(|entry| drop(out.remove(&joined(FOLDER, &entry.name))));
    }

    /// Keeps nothing of a trace any more.
    pub fn forget(out: &dyn Store, trace: &str) {
        let _ = out.remove(&path(trace));
    }
}

/// Bytes of a file that are read.
const MAX_REFUSAL: u64 = 1 << 28;

fn path(trace: &str) -> String {
    format!("{FOLDER}/{trace}.json")
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::output::local_store::LocalStore;
    use crate::output::memory_store::MemoryStore;

    fn refusal(trace: &str) -> Refusal {
        Refusal {
            trace: trace.to_owned(),
            format_version: 3,
            tool_version: "1.2.3".to_owned(),
            options_hash: "ab".to_owned(),
            checks: serde_json::json!({ "loss": true }),
            inputs: vec![InputEntry { source: "a.etl".to_owned(), size: 7, blake3: String::new() }],
            modified: vec![Some("2026-11-20T16:00:00.000000001Z".to_owned()), None],
            kind: RefusalKind::Gated,
            reason: "3 events lost".to_owned(),
        }
    }

    #[test]
    fn what_is_kept_is_read_back_replaced_and_forgotten() {
        let folder = tempfile::tempdir().unwrap();
        let stores: [&dyn Store; 2] = [&LocalStore::new(folder.path().join("out")), &MemoryStore::default()];
        for out in stores {
            assert_eq!(Refusal::read(out, "a"), None);
            for kind in [RefusalKind::Gated, RefusalKind::Empty, RefusalKind::Unreadable] {
                let kept = Refusal { kind, ..refusal("a") };
                kept.write(out).unwrap();
                assert_eq!(Refusal::read(out, "a"), Some(kept));
            }
            refusal("b").write(out).unwrap();
            assert_eq!(out.list(FOLDER).unwrap().len(), 2);
            Refusal::forget(out, "a");
            assert_eq!((Refusal::read(out, "a"), Refusal::read(out, "b")), (None, Some(refusal("b"))));
            Refusal::forget(out, "b");
            assert!(out.kind(FOLDER).is_err());
        }
    }

    #[test]
    fn what_killed_runs_have_left_goes() {
        let folder = tempfile::tempdir().unwrap();
        let (out, kept) = (&LocalStore::new(folder.path()), folder.path().join(FOLDER));
        Refusal::clear_leftovers(out);
        fs::create_dir(&kept).unwrap();
        fs::write(kept.join("a.17.tmp"), "{").unwrap();
        Refusal::clear_leftovers(out);
        assert!(!kept.exists());
        refusal("a.tmp").write(out).unwrap();
        fs::write(kept.join("b.18.tmp"), "{").unwrap();
        Refusal::clear_leftovers(out);
        assert_eq!(Refusal::read(out, "a.tmp"), Some(refusal("a.tmp")));
        assert_eq!(fs::read_dir(&kept).unwrap().count(), 1);
    }

    #[test]
    fn what_cannot_be_understood_is_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let out = &LocalStore::new(folder.path());
        refusal("a").write(out).unwrap();
        out.put(&path("b"), &out.get(&path("a"), MAX_REFUSAL).unwrap()).unwrap();
        assert_eq!(Refusal::read(out, "b"), None, "of another trace");
        out.put(&path("a"), b"{").unwrap();
        assert_eq!(Refusal::read(out, "a"), None);
    }
}
