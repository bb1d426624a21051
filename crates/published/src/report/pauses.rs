//! How long .NET kept the threads of processes stopped. The definition is that of the view `gc_pauses`.

use std::collections::HashMap;

use base::error::Result;
use conversion::read_columns;

use super::axis::Axis;
use super::tally::{Ranked, Tally};
use crate::source::Source;
use crate::who::Who;

/// Marks that are kept, to bring them into order.
const MOST_MARKS: usize = 1 << 21;
/// Processes that are shown one by one.
const MOST_PROCESSES: usize = 12;
/// Pauses that are shown one by one, the longest ones.
const MOST_PAUSES: usize = 10;

/// Pauses of .NET.
#[derive(Debug, Default)]
pub(super) struct Pauses {
    /// Nanoseconds by process; the first counter has the pauses.
    pub by_process: Ranked,
    /// The longest ones, longest first.
    pub longest: Vec<Pause>,
    /// Marks that the report had no room for.
    pub left_out: u64,
}

/// A pause.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Pause {
    /// When it began.
    pub from: i64,
    /// Its length in nanoseconds.
    pub length: u64,
    /// The process.
    pub process: String,
    /// Why.
    pub reason: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Begin,
    End,
}

#[derive(Clone, Copy, Debug)]
struct Mark {
    seq: i64,
    time: i64,
    machine: i64,
    process: Option<i64>,
    runtime: Option<i64>,
    kind: Kind,
    reason: Option<usize>,
}

read_columns! {
    /// A row of .NET.
    struct MarkEvent<'b> {
        name: Option<&'b str> = "event_name",
        time: Option<i64> = "timestamp_ns",
        seq: Option<i64> = "seq",
        process: Option<i64> = "process_id",
        runtime: Option<i64> = "ClrInstanceID",
        reason: Option<&'b str> = "Reason_label",
        input: Option<i64> = "input",
    }
}

/// Reads pauses; `None` where there are none.
///
/// # Errors
/// [`ErrorKind::Output`](base::error::ErrorKind::Output) when a table cannot be read.
pub(super) fn pauses(source: &Source<'_>, axis: &Axis, who: &Who) -> Result<Option<Pauses>> {
    let (mut marks, mut reasons, mut left_out) = (Vec::new(), Vec::<String>::new(), 0_u64);
    source.events::<MarkEvent<'_>>("Microsoft-Windows-DotNETRuntime", |row| {
        let kind = match row.name {
            Some("GarbageCollection/GCSuspendEEBegin") => Kind::Begin,
            Some("GarbageCollection/GCRestartEEEnd") => Kind::End,
            _ => return,
        };
        let Some((time, seq)) = row.time.zip(row.seq) else { return };
        if marks.len() >= MOST_MARKS {
            left_out = left_out.saturating_add(1);
            return;
        }
        let reason = row.reason.and_then(|reason| number_of(&mut reasons, reason));
        let machine = source.machine(row.input);
        marks.push(Mark { seq, time, machine, process: row.process, runtime: row.runtime, kind, reason });
    })?;
    marks.sort_by_key(|mark| mark.seq);
    let mut tally = Tally::default();
    let mut all: Vec<(u64, i64, Mark)> = Vec::new();
    for (begin, end) in matched(&marks) {
        let length = end.checked_sub(begin.time).and_then(|ns| u64::try_from(ns).ok()).unwrap_or(0);
        let amounts = tally.of(&who.name(begin.machine, begin.process, None, begin.time));
        amounts.count_one(length);
        axis.spread(begin.time, end, |bin, ns| amounts.draw(bin, ns));
        all.push((length, begin.time, begin));
    }
    all.sort_by_key(|(length, time, mark)| (std::cmp::Reverse(*length), *time, mark.seq));
    let longest = all.iter().take(MOST_PAUSES).map(|(length, from, mark)| Pause {
        from: *from,
        length: *length,
        process: who.name(mark.machine, mark.process, None, mark.time).to_string(),
        reason: mark.reason.and_then(|reason| reasons.get(reason).cloned()),
    });
    let longest: Vec<Pause> = longest.collect();
    Ok((!longest.is_empty()).then(|| Pauses { by_process: tally.ranked(MOST_PROCESSES), longest, left_out }))
}

/// Reasons that are distinguished: there are nine.
const MOST_REASONS: usize = 64;

fn number_of(reasons: &mut Vec<String>, reason: &str) -> Option<usize> {
    if let Some(number) = reasons.iter().position(|known| known == reason) {
        return Some(number);
    }
    (reasons.len() < MOST_REASONS).then(|| {
        reasons.push(reason.to_owned());
        reasons.len() - 1
    })
}

/// The last begin before each end of a process and runtime, and the time of the end; an end that follows another without a
/// begin between them is none.
fn matched(marks: &[Mark]) -> Vec<(Mark, i64)> {
    let mut open = HashMap::<(i64, Option<i64>, Option<i64>), Mark>::new();
    let mut found = Vec::new();
    for mark in marks {
        let key = (mark.machine, mark.process, mark.runtime);
        match mark.kind {
            Kind::Begin => drop(open.insert(key, *mark)),
            Kind::End => found.extend(open.remove(&key).map(|begin| (begin, mark.time))),
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_end_belongs_to_the_last_begin_of_its_process() {
        let mark = |seq, process, kind| Mark {
            seq,
            time: seq * 10,
            machine: 0,
            process: Some(process),
            runtime: Some(1),
            kind,
            reason: None,
        };
        let marks = [
            mark(1, 5, Kind::End),
            mark(2, 5, Kind::Begin),
            mark(3, 5, Kind::Begin),
            mark(4, 6, Kind::Begin),
            mark(5, 5, Kind::End),
            mark(6, 5, Kind::End),
            mark(7, 6, Kind::End),
        ];
        let found: Vec<_> = matched(&marks).iter().map(|(begin, end)| (begin.seq, *end)).collect();
        assert_eq!(found, [(3, 50), (4, 70)]);
    }
}
