//! Records of several tables, brought into the one order of all events.
//!
//! Each table is in that order by itself, so its records are a run; runs lie in a temporary file without a name one behind the other, and
//! are merged from there. In memory are [`ROOM`] bytes of all runs together, and of each one record at least.
//!
//! ```text
//! seq i64 │ length u32 │ bytes          little-endian, one record behind the other
//! ```

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::fs::File;
use std::io::{self, Read as _, Seek as _, SeekFrom, Write as _};

use base::error::{Error, ErrorKind, Result};
use base::progress::{Progress, stop_if_cancelled};

/// Bytes of all runs that are in memory while they are merged.
const ROOM: usize = 32 << 20;
/// Bytes of a run that are read at a time, at least and at most.
const CHUNK: (usize, usize) = (4 << 10, 256 << 10);
/// Runs that are merged. What is not sorted in a table, against what a dataset promises, is a run each time; behind that many it stays
/// where it is.
const MOST_RUNS: usize = 1 << 14;
/// Bytes in front of a record.
const HEAD: usize = 12;
/// Records between two looks at whether to stop.
const BETWEEN: u64 = 1 << 14;

/// Records while they are gathered.
#[derive(Debug)]
pub(crate) struct Sorted {
    file: File,
    waiting: Vec<u8>,
    /// Bytes that are in the file or wait for it.
    length: u64,
    /// Where each run begins.
    runs: Vec<u64>,
    last: Option<i64>,
}

impl Sorted {
    /// Makes the temporary file.
    ///
    /// # Errors
    /// [`ErrorKind::Output`] when it cannot be made.
    pub(crate) fn begin() -> Result<Sorted> {
        let file = tempfile::tempfile().map_err(failure)?;
        Ok(Sorted { file, waiting: Vec::new(), length: 0, runs: Vec::new(), last: None })
    }

    /// Adds a record.
    ///
    /// # Errors
    /// [`ErrorKind::Output`] when the temporary file cannot be written, or a record has 4 GiB.
    pub(crate) fn add(&mut self, seq: i64, record: &[u8]) -> Result<()> {
        if self.last.is_none_or(|last| seq < last && self.runs.len() < MOST_RUNS) {
            self.runs.push(self.length);
        }
        self.last = Some(seq);
        let length = u32::try_from(record.len()).map_err(|_| failure(io::ErrorKind::FileTooLarge.into()))?;
        self.waiting.extend_from_slice(&seq.to_le_bytes());
        self.waiting.extend_from_slice(&length.to_le_bytes());
        self.waiting.extend_from_slice(record);
        let added = u64::from(length).saturating_add(u64::try_from(HEAD).unwrap_or(u64::MAX));
        self.length = self.length.saturating_add(added);
        if self.waiting.len() >= CHUNK.1 { self.write() } else { Ok(()) }
    }

    fn write(&mut self) -> Result<()> {
        self.file.write_all(&self.waiting).map_err(failure)?;
        self.waiting.clear();
        Ok(())
    }

    /// Hands over all records in their order; of equal ones first those that were added first.
    ///
    /// # Errors
    /// [`ErrorKind::Output`] when the temporary file cannot be read, [`ErrorKind::Interrupted`] when the caller asked to stop, and those
    /// of `each`.
    pub(crate) fn each(mut self, progress: &dyn Progress, mut each: impl FnMut(&[u8]) -> Result<()>) -> Result<()> {
        self.write()?;
        let chunk = ROOM.checked_div(self.runs.len()).unwrap_or(0).clamp(CHUNK.0, CHUNK.1);
        let ends = self.runs.iter().skip(1).copied().chain([self.length]);
        let mut runs: Vec<Run> = self.runs.iter().zip(ends).map(|(begin, end)| Run::new(*begin, end, chunk)).collect();
        let mut next = BinaryHeap::new();
        for (number, run) in runs.iter_mut().enumerate() {
            next.extend(run.head(&mut self.file)?.map(|seq| Reverse((seq, number))));
        }
        let mut count = 0u64;
        while let Some(Reverse((_, number))) = next.pop() {
            if count.is_multiple_of(BETWEEN) {
                stop_if_cancelled(progress)?;
            }
            count = count.wrapping_add(1);
            let Some(run) = runs.get_mut(number) else { continue };
            each(run.record(&mut self.file)?)?;
            next.extend(run.head(&mut self.file)?.map(|seq| Reverse((seq, number))));
        }
        Ok(())
    }
}

/// A run that is read.
#[derive(Debug)]
struct Run {
    /// Where the bytes lie that are not read yet, and where the run ends.
    at: u64,
    end: u64,
    chunk: usize,
    /// Bytes that are read, and how many of them are taken.
    bytes: Vec<u8>,
    taken: usize,
}

impl Run {
    fn new(at: u64, end: u64, chunk: usize) -> Run {
        Run { at, end, chunk, bytes: Vec::new(), taken: 0 }
    }

    /// The number of the next record.
    fn head(&mut self, file: &mut File) -> Result<Option<i64>> {
        let left = self.bytes.len().saturating_sub(self.taken);
        if left == 0 && self.at >= self.end {
            return Ok(None);
        }
        let seq = self.peek(file, HEAD)?.first_chunk().copied();
        Ok(seq.map(i64::from_le_bytes))
    }

    /// The bytes of the record whose number was asked for.
    fn record(&mut self, file: &mut File) -> Result<&[u8]> {
        let length = self.peek(file, HEAD)?.get(8..).and_then(|bytes| bytes.first_chunk().copied());
        let length = usize::try_from(length.map_or(0, u32::from_le_bytes)).unwrap_or(usize::MAX);
        let whole = HEAD.saturating_add(length);
        self.peek(file, whole)?;
        let begin = self.taken.saturating_add(HEAD);
        self.taken = self.taken.saturating_add(whole);
        Ok(self.bytes.get(begin..self.taken).unwrap_or_default())
    }

    /// The next bytes, read from the file where they are not there yet.
    fn peek(&mut self, file: &mut File, count: usize) -> Result<&[u8]> {
        let left = self.bytes.len().saturating_sub(self.taken);
        if left < count {
            self.bytes.drain(..self.taken);
            self.taken = 0;
            let unread = usize::try_from(self.end.saturating_sub(self.at)).unwrap_or(usize::MAX);
            let more = count.saturating_sub(left).max(self.chunk).min(unread);
            self.bytes.resize(left.saturating_add(more), 0);
            file.seek(SeekFrom::Start(self.at)).map_err(failure)?;
            file.read_exact(self.bytes.get_mut(left..).unwrap_or_default()).map_err(failure)?;
            self.at = self.at.saturating_add(u64::try_from(more).unwrap_or(u64::MAX));
        }
        let end = self.taken.saturating_add(count);
        self.bytes.get(self.taken..end).ok_or_else(|| failure(io::ErrorKind::UnexpectedEof.into()))
    }
}

fn failure(cause: io::Error) -> Error {
    let message = "cannot bring the events into their order in a temporary file";
    Error::new(ErrorKind::Output, message)
        .caused_by(cause)
        .with_hint("free some space in the system's folder for temporary files, or name another one with TMPDIR")
}

#[cfg(test)]
mod tests {
    use base::progress::NoProgress;

    use super::*;

    fn sorted(records: &[(i64, &[u8])]) -> Vec<Vec<u8>> {
        let mut sorted = Sorted::begin().unwrap();
        records.iter().for_each(|(seq, record)| sorted.add(*seq, record).unwrap());
        let mut found = Vec::new();
        sorted
            .each(&NoProgress, |record| {
                found.push(record.to_vec());
                Ok(())
            })
            .unwrap();
        found
    }

    #[test]
    fn runs_are_merged_by_their_numbers() {
        let found = sorted(&[(1, b"a"), (4, b"d"), (-9, b"first"), (2, b""), (4, b"later"), (3, b"c")]);
        assert_eq!(found, [&b"first"[..], b"a", b"", b"c", b"d", b"later"]);
        assert_eq!(sorted(&[]), Vec::<Vec<u8>>::new());
    }

    #[test]
    fn records_are_longer_and_shorter_than_what_is_read_at_a_time() {
        let long: Vec<Vec<u8>> = (0..9u8).map(|n| vec![n; 100_000 * usize::from(n) + 1]).collect();
        let order = [8u8, 0, 3, 7, 1, 2, 4, 6, 5];
        let records: Vec<(i64, &[u8])> = order.into_iter().map(|n| (i64::from(n), &long[usize::from(n)][..])).collect();
        assert_eq!(sorted(&records), long);
    }

    #[test]
    fn many_small_runs_come_back_in_order() {
        let count = 20_000i64;
        let bytes: Vec<[u8; 8]> = (0..count).rev().map(i64::to_le_bytes).collect();
        let records: Vec<(i64, &[u8])> = bytes.iter().map(|b| (i64::from_le_bytes(*b), &b[..])).collect();
        // Behind the runs that are merged, what is not sorted stays as it is, and nothing is lost.
        let found = sorted(&records);
        assert_eq!(found.len(), records.len());
        assert_eq!(found[0], (count - i64::try_from(MOST_RUNS).unwrap()).to_le_bytes());
    }
}
