//! Pauses of .NET, from the begin of a suspension to the end of the restart. The definition is that of the view `gc_pauses`.

use std::collections::HashMap;

use base::error::Result;
use conversion::read_columns;

use crate::row_filter::RowFilter;
use crate::source::Source;

/// Marks that are kept, to bring them into order.
const MOST_MARKS: usize = 1 << 21;

/// A time in which .NET kept the threads of a process stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GcPause {
    /// The number of the event that begins it.
    pub seq: i64,
    /// When it began, Unix nanoseconds.
    pub from: i64,
    /// When it ended.
    pub to: i64,
    /// The machine.
    pub machine: i64,
    /// The process.
    pub process: Option<i64>,
    reason: Option<usize>,
}

impl GcPause {
    /// Nanoseconds from its begin to its end; 0 where these are not in the order of their times.
    pub fn length(&self) -> u64 {
        self.to.checked_sub(self.from).and_then(|ns| u64::try_from(ns).ok()).unwrap_or(0)
    }
}

/// All pauses of a trace.
#[derive(Clone, Debug, Default)]
pub struct GcPauses {
    /// The pauses, in the order of their ends.
    pub pauses: Vec<GcPause>,
    reasons: Vec<String>,
    /// Begins and ends that there was no room for.
    pub left_out: u64,
}

impl GcPauses {
    /// Why a pause was made, where the trace says it.
    pub fn reason(&self, pause: &GcPause) -> Option<&str> {
        self.reasons.get(pause.reason?).map(String::as_str)
    }
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
    passes: bool,
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

/// Reads pauses: those whose begin the filter passes.
///
/// # Errors
/// [`ErrorKind::Output`](base::error::ErrorKind::Output) when a table cannot be read.
pub fn gc_pauses(source: &Source<'_>, filter: Option<&RowFilter>) -> Result<GcPauses> {
    let (mut marks, mut found) = (Vec::new(), GcPauses::default());
    source.events_passing::<MarkEvent<'_>>("Microsoft-Windows-DotNETRuntime", filter, |passes, row| {
        let kind = match row.name {
            Some("GarbageCollection/GCSuspendEEBegin") => Kind::Begin,
            Some("GarbageCollection/GCRestartEEEnd") => Kind::End,
            _ => return,
        };
        let Some((time, seq)) = row.time.zip(row.seq) else { return };
        if marks.len() >= MOST_MARKS {
            found.left_out = found.left_out.saturating_add(1);
            return;
        }
        let reason = row.reason.and_then(|reason| number_of(&mut found.reasons, reason));
        let machine = source.machine(row.input);
        marks.push(Mark { seq, time, machine, process: row.process, runtime: row.runtime, kind, reason, passes });
    })?;
    marks.sort_by_key(|mark| mark.seq);
    let passing = matched(&marks).into_iter().filter(|(begin, _)| begin.passes);
    let pauses = passing.map(|(Mark { seq, time: from, machine, process, reason, .. }, to)| GcPause {
        seq,
        from,
        to,
        machine,
        process,
        reason,
    });
    found.pauses = pauses.collect();
    Ok(found)
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
            passes: true,
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
