//! Counters: bytes that a disk has read and written, and that the network has sent and received, so far.

use std::collections::BTreeMap;

use base::error::Result;
use conversion::read_columns;

use super::packets::{Packets, Sequence};
use super::pauses::{TRACK_EVENT, TRACK_UUID, TYPE};
use super::tracks::{NAME, UUID, describe};
use crate::opened::Opened;
use crate::protobuf::Message;

/// `TrackDescriptor.counter`, a field of `CounterDescriptor`, and `UNIT_SIZE_BYTES`.
const COUNTER: u64 = 8;
const UNIT: u64 = 3;
const SIZE_BYTES: u64 = 3;
/// `TrackEvent.counter_value`, and its type.
const COUNTER_VALUE: u64 = 30;
const TYPE_COUNTER: u64 = 4;
/// The number of the first track of a counter: those of slices lie before.
const FIRST: u64 = 1 << 32;
/// Counters that are told apart: a computer has few disks.
const MOST_COUNTERS: usize = 1 << 10;

/// What is counted, by machine: of disks with their numbers.
type Key = (i64, &'static str, Option<u64>);

read_columns! {
    /// A row of `Kernel-DiskIo`.
    struct DiskEvent<'b> {
        name: Option<&'b str> = "event_name",
        time: Option<i64> = "timestamp_ns",
        input: Option<i64> = "input",
        disk: Option<u64> = "DiskNumber",
        bytes: Option<u64> = "TransferSize",
    }
}

read_columns! {
    /// A row of `Kernel-TcpIp` or `Kernel-UdpIp`.
    struct NetworkEvent<'b> {
        name: Option<&'b str> = "event_name",
        time: Option<i64> = "timestamp_ns",
        input: Option<i64> = "input",
        bytes: Option<u64> = "size",
    }
}

/// Writes the counters of a trace, of the events that are asked for; how many events.
///
/// # Errors
/// [`ErrorKind::Output`](base::error::ErrorKind::Output) when a table cannot be read, or the packets cannot be written.
pub(super) fn counters(opened: &Opened<'_>, packets: &mut Packets<'_, '_>) -> Result<u64> {
    let mut counters = Counters { packets, known: BTreeMap::new(), count: 0, done: Ok(()) };
    opened.events::<DiskEvent<'_>>("Kernel-DiskIo", |row| {
        let name = match row.name {
            Some("DiskIo/Read") => "bytes read",
            Some("DiskIo/Write") => "bytes written",
            _ => return,
        };
        counters.add((opened.source.machine(row.input), name, row.disk), row.time, row.bytes);
    })?;
    for (dataset, sent, received) in [
        ("Kernel-TcpIp", "TCP: bytes sent", "TCP: bytes received"),
        ("Kernel-UdpIp", "UDP: bytes sent", "UDP: bytes received"),
    ] {
        opened.events::<NetworkEvent<'_>>(dataset, |row| {
            let operation = row.name.and_then(|name| name.split_once('/')).map(|(_, operation)| operation);
            let name = match operation {
                Some("SendIPV4" | "SendIPV6") => sent,
                Some("RecvIPV4" | "RecvIPV6") => received,
                _ => return,
            };
            counters.add((opened.source.machine(row.input), name, None), row.time, row.bytes);
        })?;
    }
    counters.done.map(|()| counters.count)
}

struct Counters<'a, 'p, 'o> {
    packets: &'a mut Packets<'p, 'o>,
    /// The track of each, and the sum so far.
    known: BTreeMap<Key, (u64, u64)>,
    count: u64,
    done: Result<()>,
}

impl Counters<'_, '_, '_> {
    fn add(&mut self, key: Key, time: Option<i64>, bytes: Option<u64>) {
        let Some((time, bytes)) = time.zip(bytes).filter(|_| self.done.is_ok()) else { return };
        if !self.known.contains_key(&key) {
            if self.known.len() >= MOST_COUNTERS {
                return;
            }
            let uuid = FIRST.saturating_add(u64::try_from(self.known.len()).unwrap_or(0));
            self.known.insert(key, (uuid, 0));
            self.done = self.describe(key, uuid);
        }
        let Some((uuid, sum)) = self.known.get_mut(&key) else { return };
        *sum = sum.saturating_add(bytes);
        let value = (*sum).min(i64::MAX.unsigned_abs());
        let event = Message::default().value(TYPE, TYPE_COUNTER).value(TRACK_UUID, *uuid).value(COUNTER_VALUE, value);
        self.count = self.count.saturating_add(1);
        if self.done.is_ok() {
            let fields = Message::default().message(TRACK_EVENT, &event);
            self.done = self.packets.put(Sequence::Tracks, key.0, Some(time), fields);
        }
    }

    fn describe(&mut self, key: Key, uuid: u64) -> Result<()> {
        let (machine, what, disk) = key;
        let name = disk.map_or_else(|| what.to_owned(), |disk| format!("disk {disk}: {what}"));
        let name = if what.starts_with("bytes") && disk.is_none() { format!("disk: {what}") } else { name };
        let counter = Message::default().value(UNIT, SIZE_BYTES);
        let track = Message::default().value(UUID, uuid).bytes(NAME, name.as_bytes()).message(COUNTER, &counter);
        describe(self.packets, machine, &track)
    }
}
