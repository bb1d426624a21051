//! `TASK`: the tasks of a provider.

use super::reader::Reader;
use crate::manifest::TaskName;

/// Bytes of an element: the task, the message, the class of its events, the name.
const TASK: u32 = 28;

/// The tasks by number, the first of each.
pub(super) fn read(reader: &mut Reader<'_>, list: u32) -> Vec<TaskName> {
    let mut tasks = Vec::new();
    for at in reader.elements(*b"TASK", list, TASK) {
        let value = reader.u32(at).and_then(|value| u16::try_from(value).ok());
        let (message, name) = (reader.u32(at.saturating_add(4)), reader.u32(at.saturating_add(24)));
        let class = reader.guid(at.saturating_add(8)).filter(|class| !class.is_zero());
        let (Some(value), Some(message), Some(name)) = (value, message, name) else {
            reader.report(at, "expected a task of 16 bits");
            continue;
        };
        if !reader.is_standard(name) {
            tasks.extend(reader.shown(name, message).map(|name| TaskName { value, name, class }));
        }
    }
    tasks.sort_by_key(|task| task.value);
    tasks.dedup_by_key(|task| task.value);
    tasks
}
