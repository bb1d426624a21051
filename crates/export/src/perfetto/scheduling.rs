//! Which thread ran on each processor: context switches, and threads that became ready, as Perfetto takes them from Windows.

use base::error::Result;
use conversion::read_columns;

use super::packets::{Packets, Sequence, id, unix};
use crate::opened::Opened;
use crate::protobuf::Message;

/// `TracePacket.etw_events`.
const ETW_EVENTS: u64 = 95;
/// `EtwTraceEventBundle.event`.
const EVENT: u64 = 2;
/// Fields of `EtwTraceEvent`.
const TIMESTAMP: u64 = 1;
const C_SWITCH: u64 = 2;
const READY_THREAD: u64 = 3;
const CPU: u64 = 4;
const THREAD_ID: u64 = 5;
/// Fields of `CSwitchEtwEvent`: those with names for their numbers have one for numbers without a name beside them.
const NEW_THREAD: u64 = 1;
const OLD_THREAD: u64 = 2;
const NEW_PRIORITY: u64 = 3;
const OLD_PRIORITY: u64 = 4;
const PREVIOUS_C_STATE: u64 = 5;
const WAIT_REASON: u64 = 6;
const WAIT_REASON_NUMBER: u64 = 11;
const STATE: u64 = 8;
const STATE_NUMBER: u64 = 13;
/// The last numbers that have a name: `WR_RUNDOWN`, `DEFERRED_READY`.
const LAST_WAIT_REASON: i64 = 36;
const LAST_STATE: i64 = 7;
/// `ReadyThreadEtwEvent.t_thread_id`.
const READY_ID: u64 = 1;

read_columns! {
    /// A row of `Kernel-Thread`.
    struct ThreadEvent<'b> {
        name: Option<&'b str> = "event_name",
        time: Option<i64> = "timestamp_ns",
        input: Option<i64> = "input",
        cpu: Option<u16> = "cpu",
        header_thread: Option<i64> = "thread_id",
        attribution: Option<&'b str> = "attribution",
        new_thread: Option<i64> = "NewThreadId",
        old_thread: Option<i64> = "OldThreadId",
        new_priority: Option<i64> = "NewThreadPriority",
        old_priority: Option<i64> = "OldThreadPriority",
        c_state: Option<u8> = "PreviousCState",
        wait_reason: Option<i64> = "OldThreadWaitReason",
        state: Option<i64> = "OldThreadState",
        ready: Option<i64> = "TThreadId",
    }
}

/// Writes the context switches that are asked for; how many.
///
/// # Errors
/// [`ErrorKind::Output`](base::error::ErrorKind::Output) when the table cannot be read, or the packets cannot be written.
pub(super) fn scheduling(opened: &Opened<'_>, packets: &mut Packets<'_, '_>) -> Result<u64> {
    let (mut count, mut done) = (0u64, Ok(()));
    opened.events::<ThreadEvent<'_>>("Kernel-Thread", |row| {
        let Some((time, cpu)) = row.time.zip(row.cpu).filter(|_| done.is_ok()) else { return };
        let event = match row.name {
            Some("Thread/CSwitch") => switch(&row).map(|switch| Message::default().message(C_SWITCH, &switch)),
            Some("Thread/ReadyThread") => ready(&row),
            _ => None,
        };
        let Some(event) = event else { return };
        count = count.saturating_add(1);
        let event = event.value(TIMESTAMP, unix(time)).value(CPU, cpu.into());
        let bundle = Message::default().message(EVENT, &event);
        let fields = Message::default().message(ETW_EVENTS, &bundle);
        done = packets.put(Sequence::Scheduling, opened.source.machine(row.input), Some(time), fields);
    })?;
    done.map(|()| count)
}

fn switch(row: &ThreadEvent<'_>) -> Option<Message> {
    let mut switch = Message::default().value(NEW_THREAD, id(row.new_thread)?).value(OLD_THREAD, id(row.old_thread)?);
    for (field, value) in [(NEW_PRIORITY, row.new_priority), (OLD_PRIORITY, row.old_priority)] {
        if let Some(value) = value.and_then(|value| i32::try_from(value).ok()) {
            switch = switch.signed(field, value.into());
        }
    }
    switch = switch.maybe(PREVIOUS_C_STATE, row.c_state.map(Into::into));
    if let Some(reason) = row.wait_reason.and_then(|reason| i32::try_from(reason).ok()).map(i64::from) {
        let is_named = (0..=LAST_WAIT_REASON).contains(&reason);
        switch = switch.value(if is_named { WAIT_REASON } else { WAIT_REASON_NUMBER }, reason.cast_unsigned());
    }
    Some(match row.state.and_then(|state| i32::try_from(state).ok()).map(i64::from) {
        Some(state) if (0..=LAST_STATE).contains(&state) => switch.value(STATE, state.unsigned_abs()),
        Some(state) => switch.signed(STATE_NUMBER, state),
        None => switch,
    })
}

fn ready(row: &ThreadEvent<'_>) -> Option<Message> {
    let event = Message::default().message(READY_THREAD, &Message::default().value(READY_ID, id(row.ready)?));
    // Who made it ready: where the header does not say it, the column has the thread that became so.
    let by = id(row.header_thread).filter(|_| row.attribution == Some("header"));
    Some(event.maybe(THREAD_ID, by))
}
