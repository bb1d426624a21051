//! BLAKE3 of a file by all threads at once.
//!
//! BLAKE3 is a tree. The file is hashed in subtrees of one size, each by one thread, and what comes of them is joined at
//! the end as the BLAKE3 paper says in section 2.1: the left side of every node is the largest complete tree that
//! leaves something for the right side.

use base::error::Result;
use base::progress::{Progress, Step, stop_if_cancelled, timed};
use blake3::hazmat::{ChainingValue, HasherExt, Mode, merge_subtrees_non_root, merge_subtrees_root};
use etl::input::Input;
use rayon::prelude::*;

/// Bytes of a subtree: a power of two of BLAKE3's chunks, and few enough that a window has some for every thread.
const SUBTREE: u64 = 1 << 20;

/// Bytes between two looks whether to stop.
const WINDOW: u64 = 64 << 20;

/// The hash of a file of which more and more is read.
#[derive(Debug, Default)]
pub(super) struct FileHash {
    /// What comes of the first subtrees. The last one of the file, whole or not, is hashed when all others are known.
    subtrees: Vec<ChainingValue>,
}

impl FileHash {
    /// Hashes what is new up to the offset `end`, in whole subtrees.
    pub(super) fn extend(&mut self, input: &dyn Input, end: u64, progress: &dyn Progress) -> Result<()> {
        let before_last = input.size().saturating_sub(1);
        let (first, next) = (self.subtrees.len() as u64, end.min(before_last) / SUBTREE);
        let more: Vec<ChainingValue> = (first..next)
            .into_par_iter()
            .map_init(Vec::new, |scratch, number| {
                timed(progress, Step::Hash, || Ok(subtree(input, number, scratch)?.finalize_non_root()))
            })
            .collect::<Result<_>>()?;
        self.subtrees.extend(more);
        Ok(())
    }

    /// The hash of the whole file in lower-case hexadecimal.
    pub(super) fn finish(mut self, input: &dyn Input, progress: &dyn Progress) -> Result<String> {
        self.extend(input, input.size(), progress)?;
        timed(progress, Step::Hash, || {
            let last = subtree(input, self.subtrees.len() as u64, &mut Vec::new())?;
            if self.subtrees.is_empty() {
                return Ok(last.finalize().to_hex().to_string());
            }
            self.subtrees.push(last.finalize_non_root());
            let (left, right) = halves(&self.subtrees);
            Ok(merge_subtrees_root(&joined(left), &joined(right), Mode::Hash).to_hex().to_string())
        })
    }
}

/// The BLAKE3 hash of a file in lower-case hexadecimal. Its parts are hashed by the threads of the current pool.
///
/// # Errors
/// When the file cannot be read, or [`ErrorKind::Interrupted`](base::error::ErrorKind::Interrupted).
pub fn hash(input: &dyn Input, progress: &dyn Progress) -> Result<String> {
    let mut hash = FileHash::default();
    let mut end = 0_u64;
    while end < input.size() {
        stop_if_cancelled(progress)?;
        end = end.saturating_add(WINDOW);
        hash.extend(input, end, progress)?;
    }
    hash.finish(input, progress)
}

/// Has hashed the subtree with this number, which may be shorter at the end of the file.
fn subtree(input: &dyn Input, number: u64, scratch: &mut Vec<u8>) -> Result<blake3::Hasher> {
    let start = number * SUBTREE;
    let len = usize::try_from(SUBTREE.min(input.size().saturating_sub(start))).unwrap_or(0);
    let bytes = input.bytes(start, len, scratch)?;
    let mut hasher = blake3::Hasher::new();
    hasher.set_input_offset(start).update(bytes);
    Ok(hasher)
}

/// What comes of several subtrees that stand below one node.
fn joined(subtrees: &[ChainingValue]) -> ChainingValue {
    match subtrees {
        [one] => *one,
        several => {
            let (left, right) = halves(several);
            merge_subtrees_non_root(&joined(left), &joined(right), Mode::Hash)
        }
    }
}

/// Both sides of a node above two subtrees or more.
fn halves(subtrees: &[ChainingValue]) -> (&[ChainingValue], &[ChainingValue]) {
    subtrees.split_at(subtrees.len().next_power_of_two() / 2)
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;
    use base::progress::NoProgress;

    #[test]
    fn the_hash_is_that_of_all_bytes_in_a_row() {
        let whole = usize::try_from(SUBTREE).unwrap();
        let bytes: Vec<u8> = (0..=250u8).cycle().take(7 * whole + 1).collect();
        let lengths =
            [1, 1025, whole - 1, whole, whole + 1, 2 * whole, 3 * whole - 5, 4 * whole, 5 * whole, 7 * whole + 1];
        for len in lengths {
            let mut file = tempfile::NamedTempFile::new().unwrap();
            file.write_all(&bytes[..len]).unwrap();
            let input = etl::input::LocalFile::open(file.path()).unwrap();
            let mut hash = FileHash::default();
            for end in [len / 3, len / 2, len] {
                hash.extend(&input, end as u64, &NoProgress).unwrap();
            }
            let expected = blake3::hash(&bytes[..len]).to_hex();
            assert_eq!(hash.finish(&input, &NoProgress).unwrap(), expected.as_str(), "{len} bytes");
        }
    }
}
