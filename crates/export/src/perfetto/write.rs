//! A trace of Perfetto from its clocks to its counters.

use base::error::Result;

use super::counters::counters;
use super::packets::{Packets, Sequence, unix};
use super::pauses::pauses;
use super::processes::processes;
use super::samples::samples;
use super::scheduling::scheduling;
use super::slices::{activities, file_operations};
use super::tracks::Tracks;
use crate::exported::Exported;
use crate::opened::Opened;
use crate::output::Output;
use crate::protobuf::Message;

/// `TracePacket.clock_snapshot`, its fields, and those of `ClockSnapshot.Clock`.
const CLOCK_SNAPSHOT: u64 = 6;
const CLOCKS: u64 = 1;
const PRIMARY_CLOCK: u64 = 2;
const CLOCK_ID: u64 = 1;
const CLOCK_TIME: u64 = 2;
/// `BUILTIN_CLOCK_REALTIME`, `BUILTIN_CLOCK_BOOTTIME`: packets have the latter, and here both say the same.
const REALTIME: u64 = 1;
const BOOTTIME: u64 = 6;

/// Writes a trace for Perfetto.
///
/// # Errors
/// [`ErrorKind::Usage`](base::error::ErrorKind::Usage) when there are more samples than there is room for;
/// [`ErrorKind::Output`](base::error::ErrorKind::Output) when the trace cannot be read, or the packets cannot be written.
pub(crate) fn perfetto(opened: &Opened<'_>, output: &mut Output<'_>) -> Result<Exported> {
    let mut exported = Exported::default();
    let mut packets = Packets::to(output);
    packets.put(Sequence::Names, 0, None, clocks(opened.source.start_ns()?))?;
    processes(opened, &mut packets)?;
    let mut tracks = Tracks::default();
    let counts = [
        scheduling(opened, &mut packets)?,
        samples(opened, &mut packets, &mut exported)?,
        pauses(opened, &mut packets, &mut tracks, &mut exported)?,
        activities(opened, &mut packets, &mut tracks, &mut exported)?,
        file_operations(opened, &mut packets, &mut tracks, &mut exported)?,
        counters(opened, &mut packets)?,
    ];
    exported.events = counts.into_iter().fold(0, u64::saturating_add);
    Ok(exported)
}

/// Times are those of the calendar.
fn clocks(start: i64) -> Message {
    let clock = |id| Message::default().value(CLOCK_ID, id).value(CLOCK_TIME, unix(start));
    let snapshot = Message::default().message(CLOCKS, &clock(REALTIME)).message(CLOCKS, &clock(BOOTTIME));
    Message::default().message(CLOCK_SNAPSHOT, &snapshot.value(PRIMARY_CLOCK, BOOTTIME))
}
