//! Buffer numbers that a file lacks.
//!
//! A session numbers its buffers in one row over all processors, from 1; the header buffer has 0. A number that is
//! missing may be a buffer that was lost, or one that was never filled: healthy traces lack some.

use std::collections::HashSet;

use base::error::Result;
use base::progress::{Progress, stop_if_cancelled};
use etl::layout::logfile::mode;

use super::buffer_summary::BufferSummary;
use super::result::FileSurvey;
use super::sort::{Threads, sort_by_key};

/// Successive numbers that no buffer has, between two that buffers have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SequenceGap {
    /// The first number that is missing.
    pub first: i64,
    /// How many are.
    pub missing: u64,
    /// How many stretches of missing numbers this stands for: one, unless there are very many.
    pub stretches: u64,
    /// The buffer (number in file order) numbered before them; the header buffer if there is none.
    pub from_buffer: u64,
    /// The buffer numbered behind them.
    pub to_buffer: u64,
    /// The latest time of the last buffer before them that has events.
    pub from_ticks: Option<i64>,
    /// The earliest time of the first buffer behind them that has events.
    pub to_ticks: Option<i64>,
}

/// Stretches of missing numbers that are listed one by one; all behind them are listed together.
const LISTED: usize = 10_000;

/// The missing numbers below the highest one of each session, in order.
///
/// Counted from 1, but from the lowest number present where the numbers before it are accounted for otherwise: in a
/// successor of a series of files they are in the files before, in a ring that has been full they were overwritten.
///
/// # Errors
/// [`ErrorKind::Interrupted`](base::error::ErrorKind::Interrupted) when the caller asked to stop.
pub fn sequence_gaps(file: &FileSurvey, progress: &dyn Progress) -> Result<Vec<SequenceGap>> {
    let has_been_full = file.session.has_mode(mode::CIRCULAR) && !file.has_room();
    let starts_late = has_been_full || file.session.has_mode(mode::NEWFILE | mode::BUFFERING);
    let mut search = Search::default();
    each_session(file, progress, |session| {
        let first = session.first().filter(|_| starts_late).map_or(1, |first| first.extent.sequence);
        search.session(session, first, progress)
    })?;
    Ok(search.gaps)
}

/// The search for missing numbers, from buffer to buffer.
#[derive(Default)]
struct Search {
    gaps: Vec<SequenceGap>,
    /// Index of the first gap behind which there was no event yet.
    open: usize,
    from_buffer: u64,
    from_ticks: Option<i64>,
}

impl Search {
    /// Adds what is missing among the buffers of a session, by number, of which the first should have the number
    /// `expected`.
    fn session(&mut self, buffers: &[&BufferSummary], mut expected: i64, progress: &dyn Progress) -> Result<()> {
        for buffer in buffers {
            stop_if_cancelled(progress)?;
            let (sequence, to_buffer) = (buffer.extent.sequence, buffer.extent.ordinal);
            if sequence > expected {
                self.gap(expected, sequence.abs_diff(expected), to_buffer);
            }
            expected = sequence.saturating_add(1);
            self.from_buffer = to_buffer;
            if buffer.events > 0 {
                self.from_ticks = Some(buffer.last_ticks);
                self.gaps[self.open..].iter_mut().for_each(|gap| gap.to_ticks = Some(buffer.first_ticks));
                self.open = self.gaps.len();
            }
        }
        Ok(())
    }

    fn gap(&mut self, first: i64, missing: u64, to_buffer: u64) {
        if self.gaps.len() == LISTED {
            return self.further_gap(missing, to_buffer);
        }
        let (from_buffer, from_ticks) = (self.from_buffer, self.from_ticks);
        let gap = SequenceGap { first, missing, stretches: 1, from_buffer, to_buffer, from_ticks, to_ticks: None };
        self.gaps.push(gap);
    }

    /// One more stretch for the last of the gaps.
    fn further_gap(&mut self, missing: u64, to_buffer: u64) {
        self.open = self.open.min(self.gaps.len().saturating_sub(1));
        if let Some(last) = self.gaps.last_mut() {
            last.missing = last.missing.saturating_add(missing);
            (last.stretches, last.to_buffer, last.to_ticks) = (last.stretches + 1, to_buffer, None);
        }
    }
}

/// The lowest and the highest number of a data buffer.
pub fn sequence_range(file: &FileSurvey) -> Option<(i64, i64)> {
    let numbers = || data_buffers(file).map(|buffer| buffer.extent.sequence);
    numbers().min().zip(numbers().max())
}

/// Visits the data buffers of each session of the file, by number. A session that was appended begins where a number
/// comes back.
fn each_session<'a>(
    file: &'a FileSurvey,
    progress: &dyn Progress,
    mut visit: impl FnMut(&[&'a BufferSummary]) -> Result<()>,
) -> Result<()> {
    let mut known = HashSet::new();
    let mut session: Vec<&BufferSummary> = Vec::new();
    let mut end = |session: &mut Vec<&'a BufferSummary>| -> Result<()> {
        let key = |buffer: &&BufferSummary| (buffer.extent.sequence, buffer.extent.ordinal);
        sort_by_key(session, &key, Threads::One, progress)?;
        visit(session)?;
        session.clear();
        Ok(())
    };
    for buffer in data_buffers(file) {
        stop_if_cancelled(progress)?;
        if file.session.is_appended() && !known.insert(buffer.extent.sequence) {
            end(&mut session)?;
            known = HashSet::from([buffer.extent.sequence]);
        }
        session.push(buffer);
    }
    end(&mut session)
}

fn data_buffers(file: &FileSurvey) -> impl Iterator<Item = &BufferSummary> {
    file.buffers.iter().filter(|buffer| buffer.extent.ordinal > 0 && buffer.extent.sequence > 0)
}
