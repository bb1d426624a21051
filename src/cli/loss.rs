//! What a recording lost, in numbers and in words.

use std::collections::BTreeMap;

use indicatif::HumanCount;
use serde::Serialize;

use crate::error::Result;
use crate::layout::logfile::mode;
use crate::survey::FileSurvey;
use crate::survey::loss::{LossRow, ledger};

/// What is said where the counters of the header mean nothing.
const NEVER_CLOSED: &str = "unknown: the session was never closed";
const MERGED: &str = "unknown: a merged file does not keep its sources' counters";

/// The losses of a file.
#[derive(Debug, Serialize)]
pub(super) struct LossFacts {
    #[serde(flatten)]
    pub totals: LossTotals,
    /// The ledger, as in `lost_events.parquet`.
    pub ledger: Vec<GapFacts>,
}

/// The losses of one or several files, added up.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(super) struct LossTotals {
    /// As the header says; `None` when a session was never closed.
    pub events_lost: Option<u64>,
    /// As the header says; `None` when a session was never closed.
    pub buffers_lost: Option<u64>,
    /// Rows of the ledger that are no counters of the header, by kind.
    pub gaps: BTreeMap<&'static str, u64>,
    /// Whether a file is a merge of others, which does not keep their counters. The ledger's notes say the same.
    #[serde(skip)]
    pub is_merged: bool,
}

/// A row of the ledger.
#[derive(Debug, Serialize)]
pub(super) struct GapFacts {
    pub kind: &'static str,
    pub cpu: Option<u16>,
    pub from_time_ns: Option<i64>,
    pub to_time_ns: Option<i64>,
    pub from_buffer: Option<u64>,
    pub to_buffer: Option<u64>,
    pub count: Option<u64>,
    pub unit: &'static str,
    pub is_lower_bound: bool,
    pub is_certain: bool,
    pub evidence: String,
    pub note: String,
}

impl LossFacts {
    /// The losses of a file.
    ///
    /// # Errors
    /// When events that tell of losses cannot be read.
    pub(super) fn of(file: &FileSurvey) -> Result<Self> {
        let ledger: Vec<GapFacts> = ledger(file)?.into_iter().map(GapFacts::of).collect();
        let counter = |value: u32| file.session.is_closed().then_some(u64::from(value));
        let totals = LossTotals {
            events_lost: counter(file.session.events_lost),
            buffers_lost: counter(file.session.buffers_lost),
            gaps: gaps(&ledger),
            is_merged: file.session.has_mode(mode::RELOG),
        };
        Ok(LossFacts { totals, ledger })
    }
}

impl GapFacts {
    fn of(row: LossRow) -> Self {
        GapFacts {
            kind: row.kind,
            cpu: row.cpu,
            from_time_ns: row.from_ns,
            to_time_ns: row.to_ns,
            from_buffer: row.from_buffer,
            to_buffer: row.to_buffer,
            count: row.count,
            unit: row.unit,
            is_lower_bound: row.is_lower_bound,
            is_certain: row.is_certain,
            evidence: row.evidence,
            note: row.note.to_owned(),
        }
    }

    /// Whether this is one of the rows that every file has.
    pub(super) fn is_header_counter(&self) -> bool {
        matches!(self.kind, "events_lost" | "buffers_lost" | "real_time_buffers_lost")
    }
}

fn gaps(ledger: &[GapFacts]) -> BTreeMap<&'static str, u64> {
    let mut gaps = BTreeMap::new();
    for row in ledger.iter().filter(|row| !row.is_header_counter()) {
        *gaps.entry(row.kind).or_default() += 1;
    }
    gaps
}

impl LossTotals {
    /// Nothing lost of nothing.
    pub(super) fn none() -> Self {
        LossTotals { events_lost: Some(0), buffers_lost: Some(0), gaps: BTreeMap::new(), is_merged: false }
    }

    /// Adds the losses of another file; unknown stays unknown.
    pub(super) fn add(&mut self, other: &LossTotals) {
        let sum = |a: Option<u64>, b: Option<u64>| Some(a?.saturating_add(b?));
        self.events_lost = sum(self.events_lost, other.events_lost);
        self.buffers_lost = sum(self.buffers_lost, other.buffers_lost);
        self.is_merged |= other.is_merged;
        for (kind, rows) in &other.gaps {
            *self.gaps.entry(kind).or_default() += rows;
        }
    }

    /// One line: `12 events, 0 buffers; 3 sequence_gap`.
    pub(super) fn words(&self) -> String {
        let counted = match (self.events_lost, self.buffers_lost) {
            (Some(0), Some(0)) if self.is_merged => MERGED.to_owned(),
            (Some(0), Some(0)) if self.gaps.is_empty() => return "nothing".to_owned(),
            (Some(events), Some(buffers)) => format!("{} events, {} buffers", HumanCount(events), HumanCount(buffers)),
            _ => NEVER_CLOSED.to_owned(),
        };
        let gaps = self.gaps.iter().map(|(kind, rows)| format!("{} {kind}", HumanCount(*rows)));
        std::iter::once(counted).chain(gaps).collect::<Vec<_>>().join("; ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn totals(events: Option<u64>, gaps: &[(&'static str, u64)]) -> LossTotals {
        LossTotals {
            events_lost: events,
            buffers_lost: events.map(|_| 0),
            gaps: gaps.iter().copied().collect(),
            is_merged: false,
        }
    }

    #[test]
    fn losses_read_as_one_line() {
        let t = |totals: &LossTotals, words: &str| assert_eq!(totals.words(), words);
        t(&totals(Some(0), &[]), "nothing");
        t(
            &LossTotals { is_merged: true, ..totals(Some(0), &[]) },
            "unknown: a merged file does not keep its sources' counters",
        );
        t(&totals(Some(1234), &[]), "1,234 events, 0 buffers");
        t(
            &totals(Some(0), &[("sequence_gap", 2), ("truncated_tail", 1)]),
            "0 events, 0 buffers; 2 sequence_gap; 1 truncated_tail",
        );
        t(&totals(None, &[]), "unknown: the session was never closed");
    }

    #[test]
    fn unknown_and_something_is_unknown() {
        let mut sum = LossTotals::none();
        sum.add(&totals(Some(3), &[("sequence_gap", 1)]));
        sum.add(&totals(Some(4), &[("sequence_gap", 2)]));
        assert_eq!(sum, totals(Some(7), &[("sequence_gap", 3)]));
        sum.add(&totals(None, &[]));
        assert_eq!(sum, totals(None, &[("sequence_gap", 3)]));
    }
}
