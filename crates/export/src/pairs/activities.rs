//! Activities: starts and stops with an activity id. The definition is that of the view `activities`, on each machine by itself.

use base::error::Result;
use base::guid::Guid;
use conversion::read_columns;

use super::marks::{Again, Key, Mark, Pairs};
use crate::opened::Opened;

/// `win:Start`, `win:Stop`.
const START: i64 = 1;
const STOP: i64 = 2;
/// The dataset of events of unknown providers, which has a column of their ids.
const OTHER: &str = "Other";

/// What an activity is related to: the activity that it is a part of.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Related(pub(crate) Option<Guid>);

read_columns! {
    /// A row of any dataset.
    struct ActivityEvent<'b> {
        seq: Option<i64> = "seq",
        time: Option<i64> = "timestamp_ns",
        name: Option<&'b str> = "event_name",
        input: Option<i64> = "input",
        process: Option<i64> = "process_id",
        thread: Option<i64> = "thread_id",
        opcode: Option<i64> = "opcode",
        task: Option<i64> = "task",
        activity: Option<&'b str> = "activity_id",
        related: Option<&'b str> = "related_activity_id",
        provider: Option<&'b str> = "provider_id",
    }
}

/// Reads the activities whose start is asked for.
///
/// # Errors
/// [`ErrorKind::Output`](base::error::ErrorKind::Output) when a table cannot be read.
pub(crate) fn activities(opened: &Opened<'_>) -> Result<Pairs<Related>> {
    let mut pairs = Pairs::new();
    for dataset in opened.source.datasets() {
        opened.source.events_passing::<ActivityEvent<'_>>(dataset, opened.filter.as_deref(), |passes, row| {
            let is_begin = match row.opcode {
                Some(START) => true,
                Some(STOP) => false,
                _ => return,
            };
            let Some((seq, time)) = row.seq.zip(row.time) else { return };
            let Some(activity) = row.activity.and_then(|activity| activity.parse().ok()) else { return };
            let provider = row.provider.filter(|_| dataset == OTHER).unwrap_or(dataset);
            let Some(provider) = pairs.texts.number(provider) else { return pairs.leave_out() };
            let key = Key { provider: Some(provider), activity, number: row.task };
            let name = row.name.filter(|_| is_begin).map(|name| name.strip_suffix("/Start").unwrap_or(name));
            let mark = Mark {
                seq,
                time,
                machine: opened.source.machine(row.input),
                process: row.process,
                thread: row.thread,
                name: name.and_then(|name| pairs.texts.number(name)),
                key,
                is_begin,
                passes,
                detail: Related(row.related.and_then(|related| related.parse().ok())),
            };
            pairs.add(mark);
        })?;
    }
    pairs.settle(Again::Within);
    Ok(pairs)
}
