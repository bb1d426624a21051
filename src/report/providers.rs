//! Events by provider: how many, when, and what is not decoded.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use super::axis::Axis;
use super::source::Source;
use super::tally::{Ranked, Tally};
use crate::error::Result;

/// Providers that are shown one by one.
const MOST_PROVIDERS: usize = 24;
/// Events that are not decoded, and shown one by one.
const MOST_UNDECODED: usize = 20;

/// Events by provider.
#[derive(Debug, Default)]
pub(super) struct Providers {
    /// Events by dataset; the first counter has those that are decoded whole, the second those outside of the axis.
    pub by_dataset: Ranked,
    /// Events that are not decoded whole, most rows first.
    pub undecoded: Vec<Undecoded>,
    /// How many more of these there are.
    pub more_undecoded: usize,
}

/// Rows of an event that are not decoded whole.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Undecoded {
    /// The dataset.
    pub dataset: String,
    /// The event: its name, else its number.
    pub event: String,
    /// Rows that are not decoded.
    pub rows: u64,
    /// What would help.
    pub hint: Option<String>,
}

/// Counts events.
///
/// # Errors
/// [`ErrorKind::Output`](crate::ErrorKind::Output) when a table cannot be read.
pub(super) fn providers(source: &Source<'_>, axis: &Axis) -> Result<Providers> {
    let mut tally = Tally::default();
    source.all_events(&["timestamp_ns"], |dataset, batch, row| {
        let amounts = tally.of(dataset);
        let bin = batch.integer(0, row).and_then(|time| axis.bin(time));
        amounts.count(1, [0, u64::from(bin.is_none()), 0, 0]);
        if let Some(bin) = bin {
            amounts.draw(bin, 1);
        }
    })?;
    let mut undecoded = BTreeMap::<(String, String), Undecoded>::new();
    let columns = ["dataset", "event_name", "event_id", "opcode", "rows", "ok_rows", "fix_hint"];
    source.sidecar("catalog", &columns, |batch, row| {
        let count = |column| batch.integer(column, row).and_then(|rows| u64::try_from(rows).ok()).unwrap_or(0);
        let (rows, whole) = (count(4), count(5));
        let Some(dataset) = batch.text(0, row).and_then(|dataset| dataset.split('/').next()).filter(|_| rows > 0)
        else {
            return;
        };
        tally.of(dataset).count(0, [whole, 0, 0, 0]);
        if whole >= rows {
            return;
        }
        let event = event(batch.text(1, row), batch.integer(2, row), batch.integer(3, row));
        let one = undecoded.entry((dataset.to_owned(), event.clone())).or_default();
        (one.dataset, one.event) = (dataset.to_owned(), event);
        one.rows = one.rows.saturating_add(rows - whole);
        one.hint = one.hint.take().or_else(|| batch.text(6, row).map(str::to_owned));
    })?;
    let mut undecoded: Vec<Undecoded> = undecoded.into_values().collect();
    undecoded.sort_by_key(|one| Reverse(one.rows));
    let more_undecoded = undecoded.len().saturating_sub(MOST_UNDECODED);
    undecoded.truncate(MOST_UNDECODED);
    Ok(Providers { by_dataset: tally.ranked(MOST_PROVIDERS), undecoded, more_undecoded })
}

/// What an event is called.
fn event(name: Option<&str>, id: Option<i64>, opcode: Option<i64>) -> String {
    match (name, id, opcode) {
        (Some(name), ..) => name.to_owned(),
        (None, Some(id), _) => format!("event {id}"),
        (None, None, Some(opcode)) => format!("opcode {opcode}"),
        (None, None, None) => "events without a number".to_owned(),
    }
}
