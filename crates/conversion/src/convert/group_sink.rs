//! Where the row groups of a conversion go: the interface of whoever takes them.

use std::fmt;

use base::error::Result;
use base::progress::Progress;
use columnar::output::FileEntry;

use crate::table::CompletedRowGroup;

/// Takes the row groups of a conversion: into files, or to a reader.
///
/// The pipeline asks for a [`GroupSink::Part`] for each partition, in their order, hands over the row groups of the
/// partition, and at last the part itself. Tables are called by their numbers in the plan.
pub trait GroupSink: Sync {
    /// What takes the row groups of one partition.
    type Part: Send + Sync;

    /// Bytes of memory that the sink holds from the first row group to the last.
    fn reserve(&self) -> u64;

    /// What takes the row groups of the partition with this number.
    fn part(&self, partition: u32) -> Self::Part;

    /// Takes a row group. The pipeline starts no further slices while too many bytes are charged, so a sink that keeps a row
    /// group keeps the charge beside it.
    ///
    /// Threads of the pool call this, for several row groups at a time and in any order: it must not wait for anybody.
    ///
    /// # Errors
    /// Whatever keeps the row group from being taken; it ends the conversion.
    fn take(&self, part: &Self::Part, group: CompletedRowGroup, charge: Charge, progress: &dyn Progress) -> Result<()>;

    /// Ends a partition, all of whose row groups were taken. Returns the files that were written of it.
    ///
    /// # Errors
    /// Whatever keeps the partition from being whole; it ends the conversion.
    fn finish(&self, part: Self::Part, progress: &dyn Progress) -> Result<Vec<FileEntry>>;
}

/// Bytes of the memory budget that a row group takes: dropping the charge gives them back.
pub struct Charge(Option<Box<dyn FnOnce() + Send + Sync>>);

impl Charge {
    /// A charge that calls a function once, when it is dropped, on whatever thread that happens.
    pub fn new(give_back: impl FnOnce() + Send + Sync + 'static) -> Charge {
        Charge(Some(Box::new(give_back)))
    }
}

impl Drop for Charge {
    fn drop(&mut self) {
        if let Some(give_back) = self.0.take() {
            give_back();
        }
    }
}

impl fmt::Debug for Charge {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Charge").finish_non_exhaustive()
    }
}
