//! Pauses of .NET, a track for each process.

use std::collections::HashMap;

use base::error::Result;
use published::gc_pauses::gc_pauses;

use super::packets::{Packets, Sequence, id};
use super::tracks::Tracks;
use crate::cut::cut;
use crate::exported::Exported;
use crate::opened::Opened;
use crate::protobuf::Message;

/// `TracePacket.track_event`.
pub(super) const TRACK_EVENT: u64 = 11;
/// Fields of `TrackEvent`, and its types.
pub(super) const TYPE: u64 = 9;
pub(super) const TRACK_UUID: u64 = 11;
const EVENT_NAME: u64 = 23;
pub(super) const SLICE_BEGIN: u64 = 1;
pub(super) const SLICE_END: u64 = 2;
/// Bytes of a name.
const MOST_NAME: usize = 256;

/// Writes the pauses that are asked for; how many.
///
/// # Errors
/// [`ErrorKind::Output`](base::error::ErrorKind::Output) when a table cannot be read, or the packets cannot be written.
pub(super) fn pauses(
    opened: &Opened<'_>,
    packets: &mut Packets<'_, '_>,
    tracks: &mut Tracks,
    exported: &mut Exported,
) -> Result<u64> {
    let found = gc_pauses(&opened.source, opened.filter.as_deref())?;
    exported.warn_of(found.left_out, "begins and ends of pauses are left out: there are too many");
    let mut known = HashMap::<(i64, u64), u64>::new();
    let mut count = 0u64;
    for pause in &found.pauses {
        let Some(pid) = id(pause.process) else { continue };
        let track = if let Some(track) = known.get(&(pause.machine, pid)) {
            *track
        } else {
            let track = tracks.add(packets, pause.machine, Some(pid), "GC pauses")?;
            known.insert((pause.machine, pid), track);
            track
        };
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
