//! `lost_events`: the loss ledger of every input.

use std::borrow::Cow;

use super::row::sidecar_row;
use crate::survey::FileFacts;
use crate::survey::loss::LossKind;

sidecar_row! {
    /// Evidence that something is missing from the recording.
    "lost_events" LossRow {
        /// The path relative to the input named by the user, with `/`.
        source: String,
        /// What kind of evidence it is.
        kind: LossKind,
        /// The processor; `None` where it is not known, or where it is all of them.
        cpu: Option<u16>,
        /// When the gap begins at the earliest, Unix nanoseconds.
        from_time_ns: Option<i64>,
        /// When it ends at the latest.
        to_time_ns: Option<i64>,
        /// The last buffer before it, numbered in file order.
        from_buffer: Option<u64>,
        /// The first buffer behind it.
        to_buffer: Option<u64>,
        /// How much was lost; `None` where nothing says.
        count: Option<u64>,
        /// What is counted: `events`, `buffers`, `bytes` or `files`.
        unit: Cow<'static, str>,
        /// Whether more may have been lost than the count says.
        is_lower_bound: bool,
        /// Whether the row states a fact; else it is a possible loss.
        is_certain: bool,
        /// Where in the file that is written.
        evidence: String,
        /// What else there is to know.
        note: Option<Cow<'static, str>>,
    }
}

impl LossRow {
    /// Whether the row is that of a counter, which every input has.
    pub fn is_counter(&self) -> bool {
        self.kind.is_counter()
    }
}

/// The rows of an input.
pub fn rows(file: &FileFacts) -> impl Iterator<Item = LossRow> {
    file.ledger.rows.iter().map(|loss| LossRow {
        source: file.source.clone(),
        kind: loss.kind,
        cpu: loss.cpu,
        from_time_ns: loss.from_ns,
        to_time_ns: loss.to_ns,
        from_buffer: loss.from_buffer,
        to_buffer: loss.to_buffer,
        count: loss.count,
        unit: loss.unit.into(),
        is_lower_bound: loss.is_lower_bound,
        is_certain: loss.is_certain,
        evidence: loss.evidence.clone(),
        note: Some(loss.note).filter(|note| !note.is_empty()).map(Cow::Borrowed),
    })
}
