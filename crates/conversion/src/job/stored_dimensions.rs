//! What ids meant, as a plan keeps it for its commit.
//!
//! ```text
//! dimensions-processes   spans, 136 bytes each; of threads, images, files and methods alike
//! dimensions-texts       their texts
//! ```

use base::error::Result;
use base::progress::Progress;
use columnar::output::Store;
use serde::{Deserialize, Serialize};
use spill::{SpillSpace, Spilled};
use zerocopy::IntoBytes;

use super::records::StoredRecords;
use crate::dimensions::{Dimensions, DosPaths, Span, Texts};

/// What the files of the dimension tables must be.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct StoredDimensions {
    processes: StoredRecords,
    threads: StoredRecords,
    images: StoredRecords,
    files: StoredRecords,
    methods: StoredRecords,
    texts: StoredRecords,
    /// Each with the number of its machine.
    volumes: Vec<(u16, (String, String))>,
}

const PROCESSES: &str = "dimensions-processes";
const THREADS: &str = "dimensions-threads";
const IMAGES: &str = "dimensions-images";
const FILES: &str = "dimensions-files";
const METHODS: &str = "dimensions-methods";
const TEXTS: &str = "dimensions-texts";

impl StoredDimensions {
    /// What the files must be.
    pub(super) fn of(dimensions: &Dimensions) -> Self {
        StoredDimensions {
            processes: StoredRecords::of(&dimensions.processes),
            threads: StoredRecords::of(&dimensions.threads),
            images: StoredRecords::of(&dimensions.images),
            files: StoredRecords::of(&dimensions.files),
            methods: StoredRecords::of(&dimensions.methods),
            texts: StoredRecords::of(dimensions.texts.bytes()),
            volumes: dimensions.paths.volumes().map(|(machine, volume)| (machine, volume.clone())).collect(),
        }
    }

    /// Writes the files.
    ///
    /// # Errors
    /// [`ErrorKind::Output`](base::error::ErrorKind::Output) when one cannot be written.
    pub(super) fn write(dimensions: &Dimensions, plan: &dyn Store) -> Result<()> {
        let spans = [
            (PROCESSES, &dimensions.processes),
            (THREADS, &dimensions.threads),
            (IMAGES, &dimensions.images),
            (FILES, &dimensions.files),
            (METHODS, &dimensions.methods),
        ];
        for (name, spans) in spans {
            plan.put_first(name, &[spans.as_bytes()])?;
        }
        plan.put_first(TEXTS, &[dimensions.texts.bytes()]).map(drop)
    }

    /// Reads the files.
    ///
    /// # Errors
    /// Those of [`StoredRecords::read`].
    pub(super) fn read(&self, plan: &dyn Store, space: &SpillSpace, progress: &dyn Progress) -> Result<Dimensions> {
        let spans = |stored: &StoredRecords, name| read_spans(stored, (plan, name), space, progress);
        let owners = self.read_owners(plan, space, progress)?;
        let paths = DosPaths::new(self.volumes.iter().cloned());
        let (images, files) = (spans(&self.images, IMAGES)?, spans(&self.files, FILES)?);
        Ok(Dimensions { images, files, methods: spans(&self.methods, METHODS)?, paths, ..owners })
    }

    /// Reads what says whose an event is: processes and threads.
    ///
    /// # Errors
    /// Those of [`StoredRecords::read`].
    pub(super) fn read_owners(
        &self,
        plan: &dyn Store,
        space: &SpillSpace,
        progress: &dyn Progress,
    ) -> Result<Dimensions> {
        let spans = |stored: &StoredRecords, name| read_spans(stored, (plan, name), space, progress);
        let texts = self.texts.read(plan, TEXTS, "the texts of what ids meant", space, progress, |_| true)?;
        let (processes, threads) = (spans(&self.processes, PROCESSES)?, spans(&self.threads, THREADS)?);
        Ok(Dimensions { processes, threads, texts: Texts::of(texts), ..Dimensions::default() })
    }
}

fn read_spans(
    stored: &StoredRecords,
    (plan, name): (&dyn Store, &str),
    space: &SpillSpace,
    progress: &dyn Progress,
) -> Result<Spilled<Span>> {
    stored.read(plan, name, "what ids meant", space, progress, |_| true)
}
