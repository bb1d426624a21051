//! Gathers what traces say of payloads into the schema store.

use std::path::{Path, PathBuf};

use base::error::Result;
use schema::harvest::Harvest;
use schema::store::Store;
use serde::Serialize;

use super::schemas::open_store;

/// Layouts beyond which what is gathered goes into the store before the next trace is read.
const MAX_LAYOUTS: usize = 100_000;

/// Gathers what traces say of payloads.
#[derive(Debug)]
pub struct Harvester {
    store: Store,
    gathered: Harvest,
    report: Harvested,
}

/// What came of it.
#[derive(Debug, Default, Serialize)]
pub struct Harvested {
    /// Traces that were read.
    pub traces: u64,
    /// Providers and classes that they describe, or name.
    pub providers: u64,
    /// Layouts that they have of their events.
    pub layouts: u64,
    /// Files of the store that are new or have become others, one for each provider.
    pub new: u64,
    /// Files that it has now.
    pub stored: u64,
    /// The folder of the store.
    pub store: PathBuf,
    /// What of the traces' descriptions is not used, and why.
    pub skipped: Vec<String>,
}

impl Harvester {
    /// Gathers for the store in the folder that is named, or where the system has a place for it.
    ///
    /// # Errors
    /// [`ErrorKind::Usage`](base::error::ErrorKind::Usage) when there is no store.
    pub fn open(store: Option<&Path>) -> Result<Harvester> {
        Ok(Harvester { store: open_store(store)?, gathered: Harvest::default(), report: Harvested::default() })
    }

    /// Adds what a trace says, and what of it is not used.
    ///
    /// # Errors
    /// When the store cannot be written.
    pub fn add(&mut self, trace: &str, found: (Harvest, Vec<String>)) -> Result<()> {
        let (harvest, issues) = found;
        self.report.traces += 1;
        self.report.skipped.extend(issues.into_iter().map(|issue| format!("{trace}: {issue}")));
        self.gathered.merge(harvest);
        if self.gathered.layouts() > MAX_LAYOUTS { self.keep() } else { Ok(()) }
    }

    fn keep(&mut self) -> Result<()> {
        let gathered = std::mem::take(&mut self.gathered);
        self.report.providers += gathered.len() as u64;
        self.report.layouts += gathered.layouts() as u64;
        if !gathered.is_empty() {
            self.report.new += self.store.import(&gathered.into_files())? as u64;
        }
        Ok(())
    }

    /// Brings what was gathered into the store.
    ///
    /// # Errors
    /// When the store cannot be written; it then is as it was before.
    pub fn finish(mut self) -> Result<Harvested> {
        self.keep()?;
        let (stored, store) = (self.store.files().len() as u64, self.store.folder().to_owned());
        Ok(Harvested { stored, store, ..self.report })
    }
}
