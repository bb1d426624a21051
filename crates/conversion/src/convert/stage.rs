//! The stages of a conversion, and who hears of them.

use columnar::output::folder::CleanupRegistry;

/// The stage of a job, for a progress display.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// Unpacking members of containers.
    Unpack {
        /// Bytes of what is packed.
        bytes: u64,
    },
    /// Surveying so many bytes.
    Survey {
        /// Bytes of all files.
        bytes: u64,
    },
    /// Planning.
    Plan,
    /// Converting so many events.
    Convert {
        /// Events of all files.
        events: u64,
    },
    /// Writing the sidecar and publishing.
    Publish,
}

/// Where a job reports how far it is.
pub trait JobProgress: base::progress::Progress {
    /// A stage begins; [`base::progress::Progress::advance`] now counts in its unit.
    fn stage(&self, stage: Stage);

    /// Who can remove what a job has begun to write, should the process have to end at once.
    fn cleanup(&self) -> CleanupRegistry {
        CleanupRegistry::default()
    }
}

impl JobProgress for base::progress::NoProgress {
    fn stage(&self, _stage: Stage) {}
}
