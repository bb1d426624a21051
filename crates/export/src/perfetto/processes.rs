//! Processes and threads, each when it became known.

use base::error::Result;
use conversion::read_columns;
use conversion::sidecar::dimensions::{ProcessRow, ThreadRow};

use super::packets::{Packets, Sequence, id};
use crate::cut::cut;
use crate::opened::Opened;
use crate::protobuf::Message;

/// `TracePacket.process_tree`.
const PROCESS_TREE: u64 = 2;
/// Fields of `ProcessTree` and of its `Process` and `Thread`.
const PROCESSES: u64 = 1;
const THREADS: u64 = 2;
const PID: u64 = 1;
const PPID: u64 = 2;
const CMDLINE: u64 = 3;
const TID: u64 = 1;
const THREAD_NAME: u64 = 2;
const TGID: u64 = 3;
/// Bytes of a name.
const MOST_NAME: usize = 1024;

read_columns! {
    /// A span of a process id.
    struct ProcessSpan<'b> of ProcessRow<'static> {
        process_id: i64,
        parent_process_id: Option<i64>,
        image_name: Option<&'b str>,
        from_ns: i64,
        machine: i64,
    }
}

read_columns! {
    /// A span of a thread id.
    struct ThreadSpan<'b> of ThreadRow<'static> {
        thread_id: i64,
        process_id: Option<i64>,
        name: Option<&'b str>,
        from_ns: i64,
        machine: i64,
    }
}

/// Writes the processes and threads of a trace.
///
/// # Errors
/// [`ErrorKind::Output`](base::error::ErrorKind::Output) when a table cannot be read, or the packets cannot be written.
pub(super) fn processes(opened: &Opened<'_>, packets: &mut Packets<'_, '_>) -> Result<()> {
    let mut done = Ok(());
    opened.source.sidecar::<ProcessSpan<'_>>(|row| {
        let Some(pid) = id(Some(row.process_id)).filter(|_| done.is_ok()) else { return };
        let mut process = Message::default().value(PID, pid).maybe(PPID, id(row.parent_process_id));
        if let Some(name) = row.image_name {
            process = process.bytes(CMDLINE, cut(name, MOST_NAME).as_bytes());
        }
        done = put(packets, row.machine, row.from_ns, &Message::default().message(PROCESSES, &process));
    })?;
    opened.source.sidecar::<ThreadSpan<'_>>(|row| {
        let ids = id(Some(row.thread_id)).zip(id(row.process_id));
        let Some((tid, pid)) = ids.filter(|_| done.is_ok()) else { return };
        let mut thread = Message::default().value(TID, tid).value(TGID, pid);
        if let Some(name) = row.name.filter(|name| !name.is_empty()) {
            thread = thread.bytes(THREAD_NAME, cut(name, MOST_NAME).as_bytes());
        }
        done = put(packets, row.machine, row.from_ns, &Message::default().message(THREADS, &thread));
    })?;
    done
}

fn put(packets: &mut Packets<'_, '_>, machine: i64, from: i64, tree: &Message) -> Result<()> {
    packets.put(Sequence::Names, machine, Some(from), Message::default().message(PROCESS_TREE, tree))
}
