//! Events by provider and by name: how many, when, which their providers call errors, and what is not decoded.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use base::error::Result;
use conversion::read_columns;
use conversion::sidecar::catalog::CatalogRow;

use super::axis::Axis;
use super::tally::{Ranked, Tally};
use crate::source::Source;

/// Providers that are shown one by one.
const MOST_PROVIDERS: usize = 24;
/// Events that are not decoded, and shown one by one.
const MOST_UNDECODED: usize = 20;
/// Events that are shown by name.
const MOST_EVENTS: usize = 20;
/// Errors that are shown by name.
const MOST_ERRORS: usize = 12;
/// Levels of events: the gravest have the least number, and 0 is that of all that have none.
const ERRORS: std::ops::RangeInclusive<i64> = 1..=2;

/// Events by provider.
#[derive(Debug, Default)]
pub(super) struct Providers {
    /// Events by dataset; the first counter has those that are decoded whole, the second those outside of the axis.
    pub by_dataset: Ranked,
    /// Events by name, most rows first.
    pub by_event: Vec<Event>,
    /// How many more names there are.
    pub more_events: usize,
    /// Events that are not decoded whole, most of such rows first.
    pub undecoded: Vec<Event>,
    /// How many more of these there are.
    pub more_undecoded: usize,
    /// Events that their providers call errors or critical, by name; the first counter has them.
    pub errors: Ranked,
}

/// The rows of an event.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Event {
    /// The dataset.
    pub dataset: String,
    /// Its name, else its number.
    pub name: String,
    /// Rows.
    pub rows: u64,
    /// Rows that are decoded whole.
    pub whole: u64,
    /// What would help those that are not.
    pub hint: Option<String>,
}

impl Event {
    /// Rows that are not decoded whole.
    pub(super) fn undecoded(&self) -> u64 {
        self.rows.saturating_sub(self.whole)
    }
}

read_columns! {
    /// An event of any dataset.
    struct CountedEvent<'b> {
        time: Option<i64> = "timestamp_ns",
        level: Option<i64> = "level",
        name: Option<&'b str> = "event_name",
        id: Option<i64> = "event_id",
        opcode: Option<i64> = "opcode",
    }
}

read_columns! {
    /// An event shape, and what was counted of it.
    struct ShapeCount<'b> of CatalogRow<'static> {
        dataset: &'b str,
        event_name: Option<&'b str>,
        event_id: Option<i64>,
        opcode: Option<i64>,
        rows: Option<u64>,
        ok_rows: Option<u64>,
        fix_hint: Option<&'b str>,
    }
}

/// Counts events.
///
/// # Errors
/// [`ErrorKind::Output`](base::error::ErrorKind::Output) when a table cannot be read.
pub(super) fn providers(source: &Source<'_>, axis: &Axis) -> Result<Providers> {
    let (mut tally, mut errors) = (Tally::<String>::default(), Tally::<String>::default());
    source.all_events::<CountedEvent<'_>>(|dataset, row| {
        let amounts = tally.of(dataset);
        let bin = row.time.and_then(|time| axis.bin(time));
        amounts.count(1, [0, u64::from(bin.is_none()), 0, 0, 0, 0]);
        if let Some(bin) = bin {
            amounts.draw(bin, 1);
        }
        if row.level.is_some_and(|level| ERRORS.contains(&level)) {
            let name = format!("{dataset}: {}", event(row.name, row.id, row.opcode));
            errors.of(name.as_str()).count_one(1);
        }
    })?;
    let events = events(source, |dataset, whole| tally.of(dataset).count(0, [whole, 0, 0, 0, 0, 0]))?;
    let mut undecoded: Vec<Event> = events.iter().filter(|event| event.undecoded() > 0).cloned().collect();
    undecoded.sort_by_key(|event| Reverse(event.undecoded()));
    let more_undecoded = undecoded.len().saturating_sub(MOST_UNDECODED);
    undecoded.truncate(MOST_UNDECODED);
    let mut by_event = events;
    by_event.sort_by_key(|event| Reverse(event.rows));
    let more_events = by_event.len().saturating_sub(MOST_EVENTS);
    by_event.truncate(MOST_EVENTS);
    let by_dataset = tally.ranked(MOST_PROVIDERS);
    Ok(Providers { by_dataset, by_event, more_events, undecoded, more_undecoded, errors: errors.ranked(MOST_ERRORS) })
}

/// The events of the catalog by dataset and name; hands over how many rows of a dataset are decoded whole.
fn events(source: &Source<'_>, mut whole_of: impl FnMut(&str, u64)) -> Result<Vec<Event>> {
    let mut events = BTreeMap::<(String, String), Event>::new();
    source.sidecar::<ShapeCount<'_>>(|row| {
        let (rows, whole) = (row.rows.unwrap_or(0), row.ok_rows.unwrap_or(0));
        let Some(dataset) = row.dataset.split('/').next().filter(|_| rows > 0) else { return };
        whole_of(dataset, whole);
        let event = event(row.event_name, row.event_id, row.opcode);
        let one = events.entry((dataset.to_owned(), event.clone())).or_default();
        (one.dataset, one.name) = (dataset.to_owned(), event);
        one.rows = one.rows.saturating_add(rows);
        one.whole = one.whole.saturating_add(whole);
        one.hint = one.hint.take().or_else(|| row.fix_hint.map(str::to_owned));
    })?;
    Ok(events.into_values().collect())
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
