//! Paths of the registry's keys by their control blocks, which other events name as handles.

use std::collections::HashMap;

use base::error::Result;
use conversion::read_columns;

use super::machines::Machines;
use crate::cut::cut;
use crate::opened::Opened;
use crate::paths::{MOST_TEXT, Spans};

/// Control blocks that are told apart.
const MOST_BLOCKS: usize = 1 << 18;

read_columns! {
    /// An event about a control block.
    struct Block<'b> {
        name: Option<&'b str> = "event_name",
        time: Option<i64> = "timestamp_ns",
        input: Option<i64> = "input",
        handle: Option<i64> = "KeyHandle",
        path: Option<&'b str> = "KeyName",
    }
}

/// What is known of a control block: since when it has a path, or that it has none since.
struct Since {
    from: i64,
    path: Option<String>,
}

/// The paths that control blocks had: from their creation, or from the list at the begin, until they are deleted. What the list
/// at the end has alone was there from the begin, or since the block before it was deleted.
///
/// # Errors
/// [`ErrorKind::Output`](base::error::ErrorKind::Output) when the events cannot be read.
pub(super) fn keys(opened: &Opened<'_>, machines: &Machines) -> Result<Spans> {
    let mut spans = Spans::default();
    let mut blocks = HashMap::<(i64, i64), Since>::new();
    opened.source.events::<Block<'_>>("Kernel-Registry", |row| {
        let Some(((time, handle), name)) = row.time.zip(row.handle).zip(row.name) else { return };
        let id = (machines.of(row.input), handle);
        let from = match name {
            "Registry/KCBCreate" | "Registry/RunDown" | "Registry/KCBDelete" => time,
            // Of blocks that were there before: nothing else has said what they are since they were deleted last.
            "Registry/KCBRundownBegin" | "Registry/KCBRundownEnd" => match blocks.get(&id) {
                Some(Since { path: Some(_), .. }) => return,
                Some(since) => since.from,
                None => i64::MIN,
            },
            _ => return,
        };
        if blocks.len() >= MOST_BLOCKS && !blocks.contains_key(&id) {
            spans.left_out = spans.left_out.saturating_add(1);
            return;
        }
        let path = row.path.filter(|path| !path.is_empty() && name != "Registry/KCBDelete");
        let path = path.map(|path| cut(path, MOST_TEXT).to_owned());
        if let Some(Since { from, path: Some(path) }) = blocks.insert(id, Since { from, path }) {
            spans.add(id, (from, time), &path);
        }
    })?;
    let mut open: Vec<((i64, i64), Since)> = blocks.into_iter().collect();
    open.sort_by_key(|(id, _)| *id);
    for (id, since) in open {
        if let Some(path) = since.path {
            spans.add(id, (since.from, i64::MAX), &path);
        }
    }
    spans.settle();
    Ok(spans)
}
