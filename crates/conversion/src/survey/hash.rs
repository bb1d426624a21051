//! BLAKE3 of a file by all threads at once.
//!
//! BLAKE3 is a tree. The file is hashed in subtrees of one size, each by one thread, and what comes of them is joined at
//! the end as the BLAKE3 paper says in section 2.1: the left side of every node is the largest complete tree that
//! leaves something for the right side.

use std::ops::Range;

use base::error::Result;
use base::progress::{Progress, Step, stop_if_cancelled, timed};
use blake3::hazmat::{ChainingValue, HasherExt, Mode, merge_subtrees_non_root, merge_subtrees_root};
use etl::input::Input;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

/// Bytes of a subtree: a power of two of BLAKE3's chunks, and few enough that a window has some for every thread.
pub(super) const SUBTREE: u64 = 1 << 20;

/// Bytes between two looks whether to stop.
const WINDOW: u64 = 64 << 20;

/// The hash of a file of which more and more is read, or of a part of it.
#[derive(Debug, Default)]
pub(super) struct FileHash {
    /// The number of the first one; 0 but in a part of the file.
    first: u64,
    /// What comes of the subtrees so far, but for the last one of the file.
    subtrees: Vec<ChainingValue>,
    /// The last one, whole or not: what becomes of it depends on whether there are others.
    last: Option<blake3::Hasher>,
}

impl FileHash {
    /// The numbers of the subtrees that end at the offset `end` or before it, and are not hashed yet.
    pub(super) fn next(&self, input: &dyn Input, end: u64) -> Range<u64> {
        let next = if end < input.size() { end / SUBTREE } else { last(input) + 1 };
        self.first + self.subtrees.len() as u64 + u64::from(self.last.is_some())..next
    }

    /// Hashes the next subtree, the one with this number; returns its bytes.
    pub(super) fn read<'s>(&mut self, input: &dyn Input, number: u64, scratch: &'s mut Vec<u8>) -> Result<&'s [u8]> {
        let len = usize::try_from(SUBTREE).unwrap_or(usize::MAX);
        let bytes = input.bytes(number * SUBTREE, len, scratch)?;
        let mut hasher = blake3::Hasher::new();
        hasher.set_input_offset(number * SUBTREE).update(bytes);
        if number == last(input) {
            self.last = Some(hasher);
        } else {
            self.subtrees.push(hasher.finalize_non_root());
        }
        Ok(bytes)
    }

    /// Takes over what another worker has hashed behind it.
    pub(super) fn append(&mut self, behind: FileHash) {
        self.subtrees.extend(behind.subtrees);
        self.last = behind.last.or(self.last.take());
    }

    /// Hashes what is new up to the offset `end`, in whole subtrees.
    fn extend(&mut self, input: &dyn Input, end: u64, progress: &dyn Progress) -> Result<()> {
        let more = self
            .next(input, end)
            .into_par_iter()
            .try_fold(
                || (FileHash::default(), Vec::new()),
                |(mut hash, mut scratch), number| {
                    timed(progress, Step::Hash, || hash.read(input, number, &mut scratch).map(drop))?;
                    Ok((hash, scratch))
                },
            )
            .map(|hash| hash.map(|(hash, _)| hash))
            .try_reduce(FileHash::default, |mut a, b| {
                a.append(b);
                Ok(a)
            })?;
        self.append(more);
        Ok(())
    }

    /// The hash of the whole file in lower-case hexadecimal.
    pub(super) fn finish(mut self, input: &dyn Input, progress: &dyn Progress) -> Result<String> {
        self.extend(input, input.size(), progress)?;
        let last = self.last.unwrap_or_default();
        if self.subtrees.is_empty() {
            return Ok(last.finalize().to_hex().to_string());
        }
        self.subtrees.push(last.finalize_non_root());
        let (left, right) = halves(&self.subtrees);
        Ok(merge_subtrees_root(&joined(left), &joined(right), Mode::Hash).to_hex().to_string())
    }
}

/// The number of the last subtree of a file.
fn last(input: &dyn Input) -> u64 {
    input.size().saturating_sub(1) / SUBTREE
}

/// What comes of the subtrees that begin in a stretch of a file, but for the last one of the file.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct StretchHash {
    first: u64,
    subtrees: Vec<ChainingValue>,
}

impl StretchHash {
    /// The numbers of the subtrees that begin in these bytes of a file, but for its last one.
    fn numbers(bytes: &Range<u64>, input: &dyn Input) -> Range<u64> {
        bytes.start.div_ceil(SUBTREE)..bytes.end.div_ceil(SUBTREE).min(last(input))
    }

    /// Whether it may be that of these bytes: what comes from a file is not believed.
    pub(super) fn is_of(&self, bytes: &Range<u64>, input: &dyn Input) -> bool {
        let numbers = StretchHash::numbers(bytes, input);
        let count = numbers.end.saturating_sub(numbers.start);
        self.first == numbers.start && self.subtrees.len() as u64 == count
    }
}

impl FileHash {
    /// For the subtrees that begin in these bytes of a file.
    pub(super) fn of_stretch(bytes: &Range<u64>) -> Self {
        FileHash { first: bytes.start.div_ceil(SUBTREE), ..FileHash::default() }
    }

    /// What comes of the subtrees that begin in these bytes of a file.
    pub(super) fn finish_stretch(
        mut self,
        bytes: &Range<u64>,
        input: &dyn Input,
        progress: &dyn Progress,
    ) -> Result<StretchHash> {
        let numbers = StretchHash::numbers(bytes, input);
        if !numbers.is_empty() {
            self.extend(input, numbers.end * SUBTREE, progress)?;
        }
        let count = usize::try_from(numbers.end.saturating_sub(numbers.start)).unwrap_or(usize::MAX);
        self.subtrees.truncate(count);
        Ok(StretchHash { first: self.first, subtrees: self.subtrees })
    }

    /// Takes over what was hashed of a stretch, and hashes what is missing in front of it.
    pub(super) fn join(&mut self, stretch: &StretchHash, input: &dyn Input, progress: &dyn Progress) -> Result<()> {
        if stretch.subtrees.is_empty() {
            return Ok(());
        }
        if (self.subtrees.len() as u64) < stretch.first {
            self.extend(input, stretch.first * SUBTREE, progress)?;
        }
        let known = (self.subtrees.len() as u64).saturating_sub(stretch.first);
        self.subtrees.extend(stretch.subtrees.iter().skip(usize::try_from(known).unwrap_or(usize::MAX)));
        Ok(())
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

    #[test]
    fn the_hash_of_stretches_is_that_of_the_whole() {
        let whole = usize::try_from(SUBTREE).unwrap();
        for len in [0, 1, whole, whole + 1, 5 * whole, 5 * whole + 7] {
            let bytes: Vec<u8> = (0..=250u8).cycle().take(len).collect();
            let input = etl::input::MemoryInput::new("a.etl", bytes);
            let expected = hash(&input, &NoProgress).unwrap();
            for (count, missing) in [(1, 9), (3, 9), (3, 0), (3, 1), (3, 2), (16, 9), (16, 7)] {
                let mut joined = FileHash::default();
                for number in (0..count).filter(|&number| number != missing) {
                    let range = (len as u64 * number / count)..(len as u64 * (number + 1) / count);
                    let hash = FileHash::of_stretch(&range).finish_stretch(&range, &input, &NoProgress).unwrap();
                    assert!(hash.is_of(&range, &input));
                    joined.join(&hash, &input, &NoProgress).unwrap();
                }
                assert_eq!(joined.finish(&input, &NoProgress).unwrap(), expected, "{len} {count} {missing}");
            }
        }
    }
}
