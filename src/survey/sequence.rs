//! Buffer numbers that a file lacks.
//!
//! A session numbers its buffers in one row over all processors, from 1; the header buffer has 0. A number that is
//! missing may be a buffer that was lost, or one that was never filled: healthy traces lack some.

use super::file::FileSurvey;
use super::record::BufferRecord;
use crate::layout::logfile::mode;

/// Successive numbers that no buffer has, between two that buffers have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SequenceGap {
    /// The first number that is missing.
    pub first: i64,
    /// How many are.
    pub missing: u64,
    /// The buffer (number in file order) numbered before them; the header buffer if there is none.
    pub from_buffer: u64,
    /// The buffer numbered behind them.
    pub to_buffer: u64,
    /// The latest time of the last buffer before them that has events.
    pub from_ticks: Option<i64>,
    /// The earliest time of the first buffer behind them that has events.
    pub to_ticks: Option<i64>,
}

/// The missing numbers below the highest one, in order.
///
/// Counted from 1, but from the lowest number present where the numbers before it are accounted for otherwise: in a
/// successor of a series of files they are in the files before, in a ring they were overwritten.
pub fn sequence_gaps(file: &FileSurvey) -> Vec<SequenceGap> {
    let numbered = numbered(file);
    let starts_late = file.session.has_mode(mode::NEWFILE | mode::CIRCULAR | mode::BUFFERING);
    let mut expected = match numbered.first() {
        Some(first) if starts_late => first.frame.sequence,
        _ => 1,
    };
    let (mut gaps, mut open): (Vec<SequenceGap>, usize) = (Vec::new(), 0);
    let (mut from_buffer, mut from_ticks) = (0, None);
    for buffer in numbered {
        let sequence = buffer.frame.sequence;
        if sequence > expected {
            let missing = sequence.abs_diff(expected);
            let to_buffer = buffer.frame.ordinal;
            gaps.push(SequenceGap { first: expected, missing, from_buffer, to_buffer, from_ticks, to_ticks: None });
        }
        expected = sequence.saturating_add(1);
        from_buffer = buffer.frame.ordinal;
        if buffer.events > 0 {
            from_ticks = Some(buffer.last_ticks);
            gaps[open..].iter_mut().for_each(|gap| gap.to_ticks = Some(buffer.first_ticks));
            open = gaps.len();
        }
    }
    gaps
}

/// The lowest number of a data buffer.
pub fn lowest_sequence(file: &FileSurvey) -> Option<i64> {
    data_buffers(file).map(|buffer| buffer.frame.sequence).min()
}

fn data_buffers(file: &FileSurvey) -> impl Iterator<Item = &BufferRecord> {
    file.buffers.iter().filter(|buffer| buffer.frame.ordinal > 0 && buffer.frame.sequence > 0)
}

fn numbered(file: &FileSurvey) -> Vec<&BufferRecord> {
    let mut numbered: Vec<_> = data_buffers(file).collect();
    numbered.sort_unstable_by_key(|buffer| (buffer.frame.sequence, buffer.frame.ordinal));
    numbered
}
