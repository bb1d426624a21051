//! Traces of one provider with very many fields: a table that is mostly NULL.

use super::event::{Event, event64};
use super::header::{Header, header};
use super::payload::{Guid, Payload, guid, payload};
use super::session::Session;
use super::trace::{Trace, trace};
use super::tracelogging::{Field, Schema, field, schema, traits, ty};
use super::{FREQUENCY, START, T0};

/// Of the one provider.
pub const WIDE: Guid = guid("5e5e5e5e-5b1c-4b0e-9d3a-0123456789ab");
/// Its name.
pub const WIDE_NAME: &str = "Synth.Wide";
/// Fields of every event but the last kind's, which has what remains.
pub const FIELDS_PER_EVENT: u32 = 30;

const BUFFER_SIZE: u32 = 0x1_0000;
const CPUS: u16 = 4;
/// Of one CPU, before the next one takes over.
const BURST: u64 = 16;
/// Ticks from one event to the next.
const STEP: i64 = 200;

/// What a wide trace shall hold.
#[derive(Clone, Copy, Debug)]
pub struct Wide {
    /// Beside the header event.
    pub events: u64,
    /// Of all kinds of events together; no two have a field in common.
    pub fields: u32,
}

/// A trace of so many events, which take turns: event `e` (from 0) has the fields of kind `e` modulo the kinds, named
/// `f0000` and on, and field `n` has the value `e + n` in the form that its type gives it.
pub fn wide(events: u64, fields: u32) -> Wide {
    assert!(fields > 0, "an event without fields makes no column");
    Wide { events, fields }
}

impl Wide {
    /// The trace, ready to be written.
    pub fn trace(self) -> Trace {
        let mut session = Session::new(CPUS, BUFFER_SIZE as usize);
        let schemas: Vec<Vec<u8>> = (0..self.kinds()).map(|kind| self.schema(kind)).collect();
        let mut time = T0;
        for (number, kind) in (0..self.events).zip((0..self.kinds()).cycle()) {
            time += STEP;
            let cpu = u16::try_from(number / BURST % u64::from(CPUS)).expect("below CPUS, which has 16 bits");
            session.log(cpu, time, self.event(number, kind, time, &schemas[kind as usize]));
        }
        trace(header_until(time)).buffers(session.finish(time + 1))
    }

    pub fn to_bytes(self) -> Vec<u8> {
        self.trace().to_bytes()
    }

    fn kinds(&self) -> u32 {
        self.fields.div_ceil(FIELDS_PER_EVENT)
    }

    /// The numbers of a kind's fields.
    fn fields_of(&self, kind: u32) -> std::ops::Range<u32> {
        let first = kind * FIELDS_PER_EVENT;
        first..self.fields.min(first + FIELDS_PER_EVENT)
    }

    fn schema(&self, kind: u32) -> Vec<u8> {
        self.fields_of(kind).map(numbered_field).fold(schema(&format!("Kind{kind:02}")), Schema::field).into()
    }

    fn event(&self, number: u64, kind: u32, time: i64, schema: &[u8]) -> Event {
        let values = self.fields_of(kind).fold(payload(), |values, n| put_value(values, n, number + u64::from(n)));
        event64(WIDE, 0, 0, time).tracelogging(traits(WIDE_NAME), schema).pid(1000).tid(2000).keyword(1).payload(values)
    }
}

/// Fields of eight types take turns.
fn numbered_field(n: u32) -> Field {
    let types = [ty::UINT8, ty::INT16, ty::UINT32, ty::INT64, ty::DOUBLE, ty::UTF16Z, ty::ANSIZ, ty::HEX64];
    field(&format!("f{n:04}"), types[n as usize % types.len()])
}

/// Signed fields have the negative value, doubles a quarter of it, small ones its low bits; of UTF-16 texts there are a
/// hundred, of the others one for each value.
fn put_value(to: Payload, n: u32, value: u64) -> Payload {
    let low = |bytes: usize| value.to_le_bytes()[..bytes].to_vec();
    match n % 8 {
        0 => to.bytes(&low(1)),
        1 => to.bytes(&value.wrapping_neg().to_le_bytes()[..2]),
        2 => to.bytes(&low(4)),
        3 => to.u64(value.wrapping_neg()),
        4 => to.f64(f64::from(u32::try_from(value).expect("a trace has fewer events")) / 4.0),
        5 => to.wstr(&format!("text {}", value % 100)),
        6 => to.astr(&format!("item {value}")),
        _ => to.u64(value),
    }
}

fn header_until(last: i64) -> Header {
    let seconds = (last - T0) / FREQUENCY + 1;
    let header = header().buffer_size(BUFFER_SIZE).version([10, 0, 1, 5]).log_file_mode(0x0000_0001);
    header.processors(CPUS.into()).end_time(START + seconds * 10_000_000).session("synth wide")
}
