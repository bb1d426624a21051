//! Providers that describe each event in the event: texts, numbers, a GUID, a structure, activities.

use super::Recorder;
use crate::synth::event::{Event, event64};
use crate::synth::payload::{Guid, payload};
use crate::synth::session::Random;
use crate::synth::tracelogging::{field, out, schema, structure, traits, ty};

const PROVIDERS: u32 = 6;

pub(super) fn record(recorder: &mut Recorder) {
    let schemas: Vec<Provider> = (0..PROVIDERS).map(Provider::new).collect();
    while recorder.goes_on() {
        let (time, random) = (recorder.time, &mut recorder.random);
        let provider = &schemas[random.below(PROVIDERS) as usize];
        let event = match random.below(4_u8) {
            0 => provider.request(time, random),
            1 => provider.progress(time, random),
            _ => provider.log_line(time, random),
        };
        recorder.log(event.pid(2000 + 4 * provider.number).tid(8 * (1 + provider.number)));
    }
}

/// What a provider says of itself and its events.
struct Provider {
    number: u32,
    id: Guid,
    traits: Vec<u8>,
    request: Vec<u8>,
    progress: Vec<u8>,
    log_line: Vec<u8>,
}

impl Provider {
    fn new(number: u32) -> Provider {
        let place = [field("line", ty::UINT32), field("function", ty::ANSIZ)];
        let request = schema("Request").field(field("url", ty::UTF16Z)).field(field("requestId", ty::GUID));
        let progress = schema("Progress").field(field("done", ty::UINT64)).field(field("total", ty::UINT64));
        let log_line = schema("Log").field(field("text", ty::UTF16Z)).field(structure("place", place));
        let mut id = crate::synth::bulk::provider_guid(number);
        id[15] = 0x77;
        Provider {
            number,
            id,
            traits: traits(&format!("Synth.Kind.{number}")).into(),
            request: request.field(field("status", ty::UINT32).out(out::HRESULT)).into(),
            progress: progress.field(field("rate", ty::DOUBLE)).field(field("sizes", ty::UINT32).variable()).into(),
            log_line: log_line.field(field("level", ty::UINT8)).into(),
        }
    }

    fn event(&self, time: i64, schema: &[u8]) -> Event {
        event64(self.id, 0, 0, time).keyword(1).tracelogging(self.traits.as_slice(), schema)
    }

    fn request(&self, time: i64, random: &mut Random) -> Event {
        let (first, second) = (random.next(), random.next());
        let activity = [first.to_le_bytes(), second.to_le_bytes()].concat().try_into().expect("two halves");
        let status = if first % 9 == 0 { 0x8007_0005 } else { 0 };
        let body = payload().wstr(&format!("/items/{}?page={}", first % 300, second % 9)).guid(activity).u32(status);
        self.event(time, &self.request).opcode(1).activity(activity).payload(body)
    }

    fn progress(&self, time: i64, random: &mut Random) -> Event {
        let total = 1_000_000 * (1 + random.below(5_u64));
        let done = random.below(total);
        let sizes = random.below(5_u16);
        let body = payload().u64(done).u64(total).f64(f64::from(random.below(4000_u32)) / 8.0).u16(sizes);
        let body = (0..sizes).fold(body, |body, n| body.u32(4096 << n));
        self.event(time, &self.progress).payload(body)
    }

    fn log_line(&self, time: i64, random: &mut Random) -> Event {
        let line = random.below(80_u32);
        let text = format!("attempt {} of step {line} took longer than the limit", random.below(50_u8));
        let body = payload().wstr(&text).u32(100 + line).astr(&format!("Synth::Step{line}::Run")).u8(4);
        self.event(time, &self.log_line).payload(body)
    }
}
