//! The packets of a trace, `TracePacket`.

use base::error::Result;

use crate::output::Output;
use crate::protobuf::Message;

/// `Trace.packet`.
const PACKET: u64 = 1;
/// Fields of every packet.
const TIMESTAMP: u64 = 8;
const SEQUENCE_ID: u64 = 10;
const MACHINE_ID: u64 = 98;

/// Who writes packets: names that are given numbers are known within a sequence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sequence {
    /// Clocks, processes and threads.
    Names = 1,
    /// Context switches.
    Scheduling = 2,
    /// Samples.
    Samples = 3,
    /// Slices and counters.
    Tracks = 4,
}

/// The packets that are written.
#[derive(Debug)]
pub(super) struct Packets<'a, 'o> {
    output: &'a mut Output<'o>,
}

impl<'a, 'o> Packets<'a, 'o> {
    /// Writes packets to an output.
    pub(super) fn to(output: &'a mut Output<'o>) -> Packets<'a, 'o> {
        Packets { output }
    }

    /// Writes a packet with these fields.
    ///
    /// # Errors
    /// [`ErrorKind::Output`](base::error::ErrorKind::Output) when it cannot be written.
    pub(super) fn put(&mut self, sequence: Sequence, machine: i64, time: Option<i64>, fields: Message) -> Result<()> {
        let fields = fields
            .maybe(TIMESTAMP, time.map(unix))
            .value(SEQUENCE_ID, sequence as u64)
            .number(MACHINE_ID, machine.unsigned_abs());
        self.output.put(Message::default().message(PACKET, &fields).as_bytes())
    }
}

/// A time as the format has it: none is before 1970.
pub(super) fn unix(time: i64) -> u64 {
    u64::try_from(time).unwrap_or(0)
}

/// The id of a process or thread, as the format has it.
pub(super) fn id(id: Option<i64>) -> Option<u64> {
    // Some fields are `int32`.
    u64::try_from(id?).ok().filter(|id| *id <= i32::MAX.unsigned_abs().into())
}
