//! What processes read, wrote, sent and received. The definitions are those of the views `disk_io` and `network`.

use base::error::Result;
use conversion::read_columns;

use super::axis::Axis;
use super::starts::Starts;
use super::tally::{Amounts, Counters, Most, Ranked, Tally};
use super::zoom::{MOST_IN_SLICE, Slice, Zoom};
use crate::event_names::NETWORK;
use crate::source::Source;
use crate::who::Who;

read_columns! {
    /// A row of `Kernel-DiskIo`.
    struct DiskOperation<'b> {
        name: Option<&'b str> = "event_name",
        time: Option<i64> = "timestamp_ns",
        thread: Option<i64> = "thread_id",
        issuing_thread: Option<i64> = "IssuingThreadId",
        bytes: Option<u64> = "TransferSize",
        took_ns: Option<u64> = "HighResResponseTime_ns",
        input: Option<i64> = "input",
    }
}

/// What a finished disk operation adds up to: bytes read, bytes written, operations, nanoseconds, operations whose time is known and
/// operations whose size is not. `None` of other events.
pub(super) fn operation(name: Option<&str>, size: Option<u64>, took_ns: Option<u64>) -> Option<Counters> {
    let (bytes, took) = (size.unwrap_or(0), took_ns.unwrap_or(0));
    let (is_timed, is_unsized) = (u64::from(took_ns.is_some()), u64::from(size.is_none()));
    match name? {
        "DiskIo/Read" => Some([bytes, 0, 1, took, is_timed, is_unsized]),
        "DiskIo/Write" => Some([0, bytes, 1, took, is_timed, is_unsized]),
        "DiskIo/FlushBuffers" => Some([0, 0, 1, took, is_timed, 0]),
        _ => None,
    }
}

/// Reads finished disk operations by process: bytes, with what [`operation`] has as counters; and bytes in slices of the time. `None` where
/// there are none.
///
/// # Errors
/// [`ErrorKind::Output`](base::error::ErrorKind::Output) when a table cannot be read.
pub(super) fn disk(
    source: &Source<'_>,
    axis: &Axis,
    who: &Who,
    starts: &mut Starts,
    most: Most,
) -> Result<Option<(Ranked, Vec<Slice>)>> {
    let (mut tally, mut zoom, mut is_there) = (Tally::default(), Zoom::new(axis, most.slices), false);
    source.events::<DiskOperation<'_>>("Kernel-DiskIo", |row| {
        let Some((counters, time)) = operation(row.name, row.bytes, row.took_ns).zip(row.time) else { return };
        is_there = true;
        let (machine, thread) = (source.machine(row.input), row.thread.or(row.issuing_thread));
        let (name, [read, written, ..]) = (who.name(machine, None, thread, time), counters);
        add(tally.of(&name), axis, time, counters);
        zoom.add(&name, time, read.saturating_add(written));
        starts.transfer(machine, who.process(machine, None, thread, time), time, [read, written]);
    })?;
    Ok(is_there.then(|| (tally.ranked(most.processes), zoom.ranked(MOST_IN_SLICE))))
}

/// Adds an operation; the first two counters are bytes.
fn add(amounts: &mut Amounts, axis: &Axis, time: i64, counters: Counters) {
    let [there, back, ..] = counters;
    let bytes = there.saturating_add(back);
    amounts.count(bytes, counters);
    if let Some(bin) = axis.bin(time) {
        amounts.draw(bin, bytes);
    }
}

read_columns! {
    /// A row of one of the datasets of [`NETWORK`].
    struct Transfer<'b> {
        name: Option<&'b str> = "event_name",
        time: Option<i64> = "timestamp_ns",
        process: Option<i64> = "PID",
        bytes: Option<u64> = "size",
        input: Option<i64> = "input",
    }
}

/// Reads what was sent and received by process: bytes, with bytes sent, bytes received, events, nothing twice and events whose size is not
/// known as counters. `None` where there is nothing.
///
/// # Errors
/// [`ErrorKind::Output`](base::error::ErrorKind::Output) when a table cannot be read.
pub(super) fn network(source: &Source<'_>, axis: &Axis, who: &Who, most: Most) -> Result<Option<Ranked>> {
    let (mut tally, mut is_there) = (Tally::default(), false);
    for dataset in NETWORK {
        source.events::<Transfer<'_>>(dataset, |row| {
            let Some(direction) = row.name.and_then(Direction::of) else { return };
            let Transfer { time: Some(time), bytes: size, .. } = row else { return };
            let (bytes, is_unsized) = (size.unwrap_or(0), u64::from(size.is_none()));
            let counters = match direction {
                Direction::Sent => [bytes, 0, 1, 0, 0, is_unsized],
                Direction::Received => [0, bytes, 1, 0, 0, is_unsized],
            };
            is_there = true;
            let name = who.name(source.machine(row.input), row.process, None, time);
            add(tally.of(&name), axis, time, counters);
        })?;
    }
    Ok(is_there.then(|| tally.ranked(most.processes)))
}

/// Which way bytes went.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Direction {
    Sent,
    Received,
}

impl Direction {
    /// That of an event; `None` where it carries no bytes.
    fn of(event: &str) -> Option<Direction> {
        let has = |words: [&str; 2]| words.iter().any(|word| event.contains(word));
        if has(["Send", "OPCODE_SEND"]) {
            Some(Direction::Sent)
        } else if has(["Recv", "OPCODE_RECV"]) {
            Some(Direction::Received)
        } else {
            None
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_have_a_direction_by_their_names() {
        let t = |event, expected| assert_eq!(Direction::of(event), expected, "{event}");
        t("TcpIp/SendIPV4", Some(Direction::Sent));
        t("UdpIp/RecvIPV6", Some(Direction::Received));
        t("KERNEL_NETWORK_TASK_TCPIP/KERNEL_NETWORK_OPCODE_SENDIPV6", Some(Direction::Sent));
        t("TcpIp/ConnectIPV4", None);
    }
}
