//! The processes that ran while the trace was recorded, by name.

use std::collections::BTreeMap;

use base::error::Result;
use conversion::read_columns;
use conversion::sidecar::dimensions::ProcessRow;

use super::axis::Axis;
use crate::source::Source;

/// Names that are shown.
const MOST_SHOWN: usize = 20;
/// Names that are distinguished; processes of others are counted.
const MOST_NAMES: usize = 4096;
/// Ids of a name that are shown.
const MOST_IDS: usize = 6;

/// The processes of one name.
#[derive(Debug, Default)]
pub(super) struct Named {
    /// The name; `None` of processes without one.
    pub name: Option<String>,
    /// The first of their ids.
    pub ids: Vec<i64>,
    /// How many they are.
    pub count: u64,
    /// How many started while the trace was recorded.
    pub started: u64,
    /// How many ended.
    pub ended: u64,
}

/// Processes by name.
#[derive(Debug, Default)]
pub(super) struct Processes {
    /// Those that started or ended most, then those with most processes.
    pub shown: Vec<Named>,
    /// How many more names there are.
    pub more: usize,
    /// Processes of names that there was no room for.
    pub left_out: u64,
    /// How many had ended before: only their objects were left.
    pub defunct: u64,
}

read_columns! {
    /// A process.
    struct NamedProcess<'b> of ProcessRow<'static> {
        image_name: Option<&'b str>,
        process_id: i64,
        started_ns: Option<i64>,
        ended_ns: Option<i64>,
        is_defunct: Option<bool>,
    }
}

/// Reads the processes.
///
/// # Errors
/// [`ErrorKind::Output`](base::error::ErrorKind::Output) when a table cannot be read.
pub(super) fn processes(source: &Source<'_>, axis: &Axis) -> Result<Processes> {
    let mut by_name = BTreeMap::<Option<String>, Named>::new();
    let mut processes = Processes::default();
    source.sidecar::<NamedProcess<'_>>(|process| {
        if process.is_defunct == Some(true) {
            processes.defunct = processes.defunct.saturating_add(1);
            return;
        }
        let name = process.image_name.map(str::to_owned);
        if by_name.len() >= MOST_NAMES && !by_name.contains_key(&name) {
            processes.left_out = processes.left_out.saturating_add(1);
            return;
        }
        let is_within = |time: Option<i64>| time.is_some_and(|time| axis.bin(time).is_some());
        let named = by_name.entry(name).or_default();
        named.count += 1;
        named.started += u64::from(is_within(process.started_ns));
        named.ended += u64::from(is_within(process.ended_ns));
        if named.ids.len() < MOST_IDS {
            named.ids.push(process.process_id);
        }
    })?;
    let mut all: Vec<Named> = by_name.into_iter().map(|(name, named)| Named { name, ..named }).collect();
    all.sort_by_key(|named| std::cmp::Reverse((named.started + named.ended, named.count)));
    processes.more = all.len().saturating_sub(MOST_SHOWN);
    all.truncate(MOST_SHOWN);
    processes.shown = all;
    Ok(processes)
}
