//! Tracks of processes, and those below them.

use std::collections::HashMap;

use base::error::Result;

use super::packets::{Packets, Sequence};
use crate::protobuf::Message;

/// `TracePacket.track_descriptor`.
pub(super) const TRACK_DESCRIPTOR: u64 = 60;
/// Fields of `TrackDescriptor`, and of its `ProcessDescriptor`.
pub(super) const UUID: u64 = 1;
pub(super) const NAME: u64 = 2;
const PROCESS: u64 = 3;
const PARENT_UUID: u64 = 5;
const PID: u64 = 1;

/// The tracks that are described. A process has one, however many are below it: by a second one the viewer would take it for two.
#[derive(Debug, Default)]
pub(super) struct Tracks {
    processes: HashMap<(i64, u64), u64>,
    last: u64,
}

impl Tracks {
    /// Describes a track with a name below that of a process, or below none; its number. They are too few to reach those of counters.
    ///
    /// # Errors
    /// [`ErrorKind::Output`](base::error::ErrorKind::Output) when the packets cannot be written.
    pub(super) fn add(
        &mut self,
        packets: &mut Packets<'_, '_>,
        machine: i64,
        pid: Option<u64>,
        name: &str,
    ) -> Result<u64> {
        let parent = match pid {
            Some(pid) => Some(self.process(packets, machine, pid)?),
            None => None,
        };
        let uuid = self.next();
        let track = Message::default().value(UUID, uuid).maybe(PARENT_UUID, parent).bytes(NAME, name.as_bytes());
        describe(packets, machine, &track)?;
        Ok(uuid)
    }

    fn process(&mut self, packets: &mut Packets<'_, '_>, machine: i64, pid: u64) -> Result<u64> {
        if let Some(known) = self.processes.get(&(machine, pid)) {
            return Ok(*known);
        }
        let uuid = self.next();
        let track = Message::default().value(UUID, uuid).message(PROCESS, &Message::default().value(PID, pid));
        describe(packets, machine, &track)?;
        self.processes.insert((machine, pid), uuid);
        Ok(uuid)
    }

    fn next(&mut self) -> u64 {
        self.last = self.last.saturating_add(1);
        self.last
    }
}

/// Writes a description of a track.
///
/// # Errors
/// [`ErrorKind::Output`](base::error::ErrorKind::Output) when the packets cannot be written.
pub(super) fn describe(packets: &mut Packets<'_, '_>, machine: i64, track: &Message) -> Result<()> {
    packets.put(Sequence::Tracks, machine, None, Message::default().message(TRACK_DESCRIPTOR, track))
}
