//! Large traces for benches: kernel, manifest and TraceLogging events of several CPUs, the same bytes for the same seed.

use super::event::{Event, event64, eventsource_manifest};
use super::header::{Header, header};
use super::kernel::{Kernel, perfinfo64, system64};
use super::payload::{Guid, guid, payload};
use super::session::{Random, Session};
use super::trace::{Trace, trace};
use super::tracelogging::{Schema, field, out, schema, structure, traits, ty};
use super::{FREQUENCY, START, T0};

/// What a bulk trace shall hold.
#[derive(Clone, Debug)]
pub struct Bulk {
    /// Generated events, beside the header events and the manifests.
    pub events: u64,
    /// Even ones write manifest-style events, described by an EventSource manifest in the trace; odd ones TraceLogging.
    pub providers: u32,
    pub cpus: u16,
    pub seed: u64,
    /// 64 KiB.
    pub buffer_size: u32,
    /// false.
    pub compressed: bool,
}

/// The trace of so many events; of 16 events about 11 are the kernel's.
pub fn bulk(events: u64, providers: u32, cpus: u16, seed: u64) -> Bulk {
    assert!(providers > 0 && cpus > 0, "somebody must write the events, somewhere");
    Bulk { events, providers, cpus, seed, buffer_size: 0x1_0000, compressed: false }
}

impl Bulk {
    setters! { buffer_size: u32, compressed: bool }

    /// The trace, ready to be written.
    pub fn trace(&self) -> Trace {
        let mut session = Session::new(self.cpus, self.buffer_size as usize);
        if self.compressed {
            session = session.compressed();
        }
        for (provider, time) in (0..self.providers).step_by(2).zip(T0 + 1..) {
            for event in eventsource_manifest(provider_guid(provider), time, &manifest(provider), 0xFF00) {
                session.log(0, time, event.pid(1000 + provider * 4).tid(2000));
            }
        }
        let last = self.log_events(&mut session);
        trace(self.header(last)).buffers(session.finish(last + 1))
    }

    pub fn to_bytes(&self) -> Vec<u8> {
        self.trace().to_bytes()
    }

    fn header(&self, last: i64) -> Header {
        let (layout, mode) = if self.compressed { ([10, 0, 2, 0], 0x0400_0001) } else { ([10, 0, 1, 5], 0x0000_0001) };
        let seconds = (last - T0) / FREQUENCY + 1;
        let header = header().buffer_size(self.buffer_size).version(layout).log_file_mode(mode);
        header.processors(self.cpus.into()).end_time(START + seconds * 10_000_000).session("synth bulk")
    }

    /// Returns the last event's time. CPUs work in bursts, so that a buffer of one spans many turns of the others.
    fn log_events(&self, session: &mut Session) -> i64 {
        let mut random = Random::new(self.seed);
        let schemas =
            (0..self.providers).map(|provider| tracelogging_schema(provider).into()).collect::<Vec<Vec<u8>>>();
        let mut time = T0 + 1000;
        let mut cpu = 0;
        let mut threads = vec![0_u32; usize::from(self.cpus)];
        for _ in 0..self.events {
            time += 1 + i64::from(random.below(400_u32));
            if random.below(8_u8) == 0 {
                cpu = random.below(self.cpus);
            }
            let thread = &mut threads[usize::from(cpu)];
            match random.below(16_u8) {
                0..6 => session.log(cpu, time, context_switch(time, thread, &mut random)),
                6..8 => session.log(cpu, time, sample(time, *thread, &mut random)),
                8..10 => session.log(cpu, time, disk_io(time, *thread, &mut random)),
                10 => session.log(cpu, time, thread_start(time, *thread, &mut random)),
                _ => session.log(cpu, time, provider_event(self.providers, &schemas, time, *thread, &mut random)),
            }
        }
        time
    }
}

/// CSwitch, version 4.
pub(super) fn context_switch(time: i64, running: &mut u32, random: &mut Random) -> Kernel {
    let next = 4 * random.below(600);
    let old = std::mem::replace(running, next);
    let states = payload().i8(8).i8(9).u8(1).i8(0).i8(6).i8(1).i8(5).i8(2).u32(random.below(50)).u32(0);
    perfinfo64(0x0524, time).version(4).payload(payload().u32(next).u32(old).bytes(&states.0))
}

/// SampledProfile, version 2.
pub(super) fn sample(time: i64, thread: u32, random: &mut Random) -> Kernel {
    let address = 0xFFFF_F800_0000_0000 + 0x10 * random.below(0x2_0000);
    perfinfo64(0x0F2E, time).payload(payload().u64(address).u32(thread).u16(1).u16(0))
}

/// DiskIo read or write, version 3.
pub(super) fn disk_io(time: i64, thread: u32, random: &mut Random) -> Kernel {
    let request = payload().u32(0).u32(0x0006_0043).u32(0x1000 << random.below(5_u8)).u32(0);
    let place = request.u64(0x1000 * random.below(1 << 24)).u64(0xFFFF_C000_0000_0000 + 0x40 * random.below(4096));
    let irp = place.u64(0xFFFF_D000_0000_0000 + 0x100 * random.below(64)).u64(500 + random.below(90_000));
    perfinfo64(0x010A + random.below(2_u16), time).version(3).payload(irp.u32(thread))
}

/// Thread start, version 3 without a name.
pub(super) fn thread_start(time: i64, thread: u32, random: &mut Random) -> Kernel {
    let stack = 0xFFFF_F580_0000_0000 + 0x8000 * random.below(1 << 16);
    let ids = payload().u32(thread / 8).u32(4 * random.below(600));
    let stacks = ids.u64(stack + 0x8000).u64(stack + 0x2000).u64(0x7F_0010_0000).u64(0x7F_000F_8000);
    let rest = stacks.u64(0xFF).u64(0x7FFB_1234_5670).u64(0x7F_0020_0000).u32(0).u8(8).u8(5).u8(2).u8(0);
    system64(0x0501, time).version(3).tid(thread).pid(thread / 8).payload(rest)
}

fn provider_event(providers: u32, schemas: &[Vec<u8>], time: i64, thread: u32, random: &mut Random) -> Event {
    let provider = random.below(providers);
    let id = random.below(3_u16) + 1;
    let base = if provider.is_multiple_of(2) {
        event64(provider_guid(provider), id, 0, time).task(0xFFFE - id).payload(manifest_payload(id, random))
    } else {
        let names: Vec<u8> = traits(&format!("Synth.Bulk.{provider}")).into();
        let event = event64(provider_guid(provider), 0, 0, time);
        event.tracelogging(names, schemas[provider as usize].clone()).payload(tracelogging_payload(random))
    };
    base.tid(thread).pid(1000 + provider * 4).keyword(1)
}

/// The GUID of the n-th bulk provider: n in the first group.
pub fn provider_guid(n: u32) -> Guid {
    let mut bytes = guid("00000000-5b1c-4b0e-9d3a-0123456789ab");
    bytes[..4].copy_from_slice(&n.to_le_bytes());
    bytes
}

/// Request(UnicodeString Url, UInt32 Status, UInt64 Bytes), Queue(UInt32 Length, Double Seconds), Done(GUID Request).
fn manifest_payload(id: u16, random: &mut Random) -> Vec<u8> {
    let number = random.below(1000);
    match id {
        1 => {
            payload().wstr(&format!("/items/{}", number % 50)).u32(200 + 204 * (number & 1)).u64(random.below(1 << 20))
        }
        2 => payload().u32(number).f64(f64::from(number) / 8.0),
        _ => payload().guid(provider_guid(number)),
    }
    .into()
}

/// The manifest of an even provider.
pub fn manifest(n: u32) -> String {
    let guid = format!("{n:08x}-5b1c-4b0e-9d3a-0123456789ab");
    let kinds = [("Request", 1), ("Queue", 2), ("Done", 3)];
    let task = |(name, id)| format!("<task name=\"{name}\" value=\"{}\"/>", 0xFFFE - id);
    let event = |(name, id)| {
        format!(
            "<event value=\"{id}\" version=\"0\" level=\"win:Informational\" symbol=\"{name}\" task=\"{name}\" \
             keywords=\"All\" template=\"{name}Args\"/>"
        )
    };
    let (tasks, events) = (kinds.map(task).concat(), kinds.map(event).concat());
    format!(
        "<instrumentationManifest xmlns=\"http://schemas.microsoft.com/win/2004/08/events\"><instrumentation><events>\
         <provider name=\"Synth-Bulk-{n}\" guid=\"{{{guid}}}\" resourceFileName=\"bulk.dll\" \
         messageFileName=\"bulk.dll\" symbol=\"SynthBulk{n}\">\
         <keywords><keyword name=\"All\" mask=\"0x1\"/></keywords><tasks>{tasks}</tasks>\
         <templates>{TEMPLATES}</templates><events>{events}</events>\
         </provider></events></instrumentation></instrumentationManifest>"
    )
}

/// Of [`manifest_payload`].
const TEMPLATES: &str = "<template tid=\"RequestArgs\"><data name=\"Url\" inType=\"win:UnicodeString\"/>\
    <data name=\"Status\" inType=\"win:UInt32\"/><data name=\"Bytes\" inType=\"win:UInt64\"/></template>\
    <template tid=\"QueueArgs\"><data name=\"Length\" inType=\"win:UInt32\"/>\
    <data name=\"Seconds\" inType=\"win:Double\"/></template>\
    <template tid=\"DoneArgs\"><data name=\"RequestId\" inType=\"win:GUID\"/></template>";

/// Sale(UTF-16 item, u32 count, f64 price, u16[] sizes, struct where {u8 aisle, hex32 shelf}).
fn tracelogging_schema(provider: u32) -> Schema {
    schema(&format!("Sale{provider}"))
        .field(field("item", ty::UTF16Z))
        .field(field("count", ty::UINT32))
        .field(field("price", ty::DOUBLE))
        .field(field("sizes", ty::UINT16).variable())
        .field(structure("where", [field("aisle", ty::UINT8), field("shelf", ty::HEX32).out(out::HEX)]))
}

fn tracelogging_payload(random: &mut Random) -> Vec<u8> {
    let item = random.below(40);
    let sizes = random.below(4_u16);
    let start = payload().wstr(&format!("item {item}")).u32(1 + item % 7).f64(f64::from(item) * 0.25).u16(sizes);
    (0..sizes).fold(start, |sizes, size| sizes.u16(10 * size)).u8(3).u32(0x100 + item).into()
}
