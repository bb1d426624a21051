//! Records of a plan, in files of their own in its folder.

use std::io::Read;
use std::path::Path;

use base::error::{Error, ErrorKind, Result};
use base::progress::{Progress, stop_if_cancelled};
use columnar::output::Store;
use columnar::output::store::StoreReader;
use serde::{Deserialize, Serialize};
use spill::{Record, SpillSpace, Spilled};
use zerocopy::IntoBytes;

/// Bytes that are read at a time.
const BLOCK: usize = 1 << 20;

/// What a file of records must be.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct StoredRecords {
    /// How many records it holds.
    pub count: u64,
    /// BLAKE3 of its bytes in lower-case hexadecimal.
    pub blake3: String,
}

impl StoredRecords {
    /// What the file of these records must be.
    pub(super) fn of<T: Record>(records: &[T]) -> Self {
        StoredRecords { count: records.len() as u64, blake3: blake3::hash(records.as_bytes()).to_hex().to_string() }
    }

    /// Reads the records of a file of a plan; `what` they are called. `is_sound` says whether those that come next can be right.
    ///
    /// # Errors
    /// [`ErrorKind::Output`] when they are not there, or not those of the plan, [`ErrorKind::Interrupted`] when the caller
    /// asked to stop.
    pub(super) fn read<T: Record>(
        &self,
        plan: &dyn Store,
        path: &str,
        what: &str,
        space: &SpillSpace,
        progress: &dyn Progress,
        mut is_sound: impl FnMut(&[T]) -> bool,
    ) -> Result<Spilled<T>> {
        let unreadable = |cause| unreadable(&plan.location(path), what, cause);
        let changed = || changed(&plan.location(path));
        let mut file = StoreReader::new(plan.open(path).map_err(unreadable)?, 0);
        let (mut hasher, mut records) = (blake3::Hasher::new(), space.records());
        let together = (BLOCK / size_of::<T>()).max(1);
        let mut left = self.count;
        while left > 0 {
            stop_if_cancelled(progress)?;
            let count = usize::try_from(left).unwrap_or(together).min(together);
            let mut block = vec![T::new_zeroed(); count];
            file.read_exact(block.as_mut_bytes()).map_err(unreadable)?;
            hasher.update(block.as_bytes());
            if !is_sound(&block) {
                return Err(changed());
            }
            records.extend(&block)?;
            left -= count as u64;
        }
        if hasher.finalize().to_hex().as_str() != self.blake3 {
            return Err(changed());
        }
        records.finish()
    }
}

/// What is to be done where the folder of a plan is not as it was left.
pub(super) const PLAN_ANEW: &str = "plan anew: somebody has changed the folder";

/// A file of the folder that is not as it should be.
pub(super) fn foreign(path: &Path, message: impl Into<String>) -> Error {
    Error::new(ErrorKind::Output, message).in_file(path)
}

pub(super) fn unreadable(path: &Path, what: &str, cause: std::io::Error) -> Error {
    let hint = "check the folder and its permissions, or plan anew";
    foreign(path, format!("cannot read {what}")).caused_by(cause).with_hint(hint)
}

pub(super) fn changed(path: &Path) -> Error {
    foreign(path, "this file is not the one that was planned").with_hint(PLAN_ANEW)
}
