//! Pauses of .NET, a track for each process.

use std::collections::HashMap;

use base::error::Result;
use published::gc_pauses::gc_pauses;

use super::packets::{Packets, Sequence, id};
use crate::cut::cut;
use crate::exported::Exported;
use crate::opened::Opened;
use crate::protobuf::Message;

/// Fields of `TracePacket`.
pub(super) const TRACK_EVENT: u64 = 11;
pub(super) const TRACK_DESCRIPTOR: u64 = 60;
/// Fields of `TrackEvent`, and its types.
pub(super) const TYPE: u64 = 9;
pub(super) const TRACK_UUID: u64 = 11;
const EVENT_NAME: u64 = 23;
const SLICE_BEGIN: u64 = 1;
const SLICE_END: u64 = 2;
/// Fields of `TrackDescriptor`, and of its `ProcessDescriptor`.
const UUID: u64 = 1;
const NAME: u64 = 2;
const PROCESS: u64 = 3;
const PARENT_UUID: u64 = 5;
const PID: u64 = 1;
/// Bytes of a name.
const MOST_NAME: usize = 256;

/// Writes the pauses that are asked for; how many.
///
/// # Errors
/// [`ErrorKind::Output`](base::error::ErrorKind::Output) when a table cannot be read, or the packets cannot be written.
pub(super) fn pauses(opened: &Opened<'_>, packets: &mut Packets<'_, '_>, exported: &mut Exported) -> Result<u64> {
    let found = gc_pauses(&opened.source, opened.filter.as_deref())?;
    exported.warn_of(found.left_out, "begins and ends of pauses are left out: there are too many");
    let mut tracks = HashMap::<(i64, u64), u64>::new();
    let mut count = 0u64;
    for pause in &found.pauses {
        let Some(pid) = id(pause.process) else { continue };
        let next = u64::try_from(tracks.len()).unwrap_or(u64::MAX).saturating_mul(2).saturating_add(1);
        let track = *tracks.entry((pause.machine, pid)).or_insert(next);
        if track == next {
            describe(packets, pause.machine, pid, track)?;
        }
        let reason = found.reason(pause).map(|reason| format!(": {reason}")).unwrap_or_default();
        let name = format!("GC pause{reason}");
        let begin = Message::default().value(TYPE, SLICE_BEGIN).bytes(EVENT_NAME, cut(&name, MOST_NAME).as_bytes());
        let end = Message::default().value(TYPE, SLICE_END);
        for (time, event) in [(pause.from, begin), (pause.to, end)] {
            let fields = Message::default().message(TRACK_EVENT, &event.value(TRACK_UUID, track));
            packets.put(Sequence::Tracks, pause.machine, Some(time), fields)?;
        }
        count = count.saturating_add(1);
    }
    Ok(count)
}

/// Describes the track of a process, and that of its pauses below it: the one behind, the other with an odd number.
fn describe(packets: &mut Packets<'_, '_>, machine: i64, pid: u64, track: u64) -> Result<()> {
    let parent = track.saturating_add(1);
    let process = Message::default().value(UUID, parent).message(PROCESS, &Message::default().value(PID, pid));
    let pauses = Message::default().value(UUID, track).value(PARENT_UUID, parent).bytes(NAME, b"GC pauses");
    for descriptor in [process, pauses] {
        let fields = Message::default().message(TRACK_DESCRIPTOR, &descriptor);
        packets.put(Sequence::Tracks, machine, None, fields)?;
    }
    Ok(())
}
