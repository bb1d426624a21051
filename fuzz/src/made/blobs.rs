//! Seeds for targets that read a part of a trace.

use super::Seed;
use crate::random::Random;
use crate::synth::*;

pub(super) fn all() -> Vec<Seed> {
    let mut seeds = walks();
    seeds.extend(items_of_events());
    seeds.extend(scans());
    seeds.extend(streams());
    seeds.extend(values());
    seeds.extend(schemas());
    seeds.extend(tracelogging_blobs());
    seeds.extend(described());
    seeds.extend(eventsource_chunks());
    seeds
}

/// The data of a buffer.
fn data(buffer: &Buffer) -> Vec<u8> {
    buffer.on_disk()[0x48..buffer.filled()].to_vec()
}

/// An event of each header family.
pub(super) fn families() -> Buffer {
    let class = guid("3d6fa8d1-fe05-11d0-9dda-00c04fd7ba7c");
    let texts = payload().wstr("name").u32(7).astr("eight bit").guid(class);
    buffer(0x1000)
        .event(
            event64(class, 1, 2, T0 + 1)
                .item(Item::sid(5, &[18]))
                .item(Item::stack64(7, &[1, 2, 3]))
                .payload(texts.clone()),
        )
        .event(event32(class, 2, 0, T0 + 2).item(Item::ts_id(3)).payload(texts.clone()))
        .event(event64(class, 3, 0, T0 + 3).string_only("a text of its own"))
        .event(system64(0x0501, T0 + 4).version(3).payload(vec![3; 40]))
        .event(compact32(0x0501, T0 + 5).payload(vec![4; 20]))
        .event(perfinfo64(0x0F2E, T0 + 6).pmc(&[1, 2]).pebs(3).payload(vec![5; 16]))
        .event(full64(class, 1, 3, T0 + 7).payload(texts.clone()))
        .event(full32(class, 2, 3, T0 + 8).payload(texts.clone()))
        .event(instance64(class, 2, 3, T0 + 9).instance(1, 2, class).payload(vec![6; 8]))
        .event(message(10).sequence(1).guid(class).time(T0 + 10).system_info(4, 8).arguments(texts.clone()))
        .event(message(11).component(9).arguments(vec![7; 9]))
        .event(message::timed(3, T0 + 11, &[8; 5]))
        .event(message::opaque(0x0D, &[9; 12]))
}

fn walks() -> Vec<Seed> {
    let mut damaged = data(&families());
    damaged.extend([0xFF, 0x7F, 0x13, 0xC0, 0, 0, 0, 0]);
    let inner = perfinfo64(0x0F2E, T0 + 6).payload(vec![5; 16]).on_disk();
    let swallowing = perfinfo64(0x0F2E, T0 + 5).payload([vec![0; 8], inner.clone(), inner].concat()).on_disk();
    vec![
        Seed::new("walk", "families", data(&families())),
        Seed::new("walk", "damaged", damaged),
        Seed::new("walk", "swallowing", swallowing),
    ]
}

fn items_of_events() -> Vec<Seed> {
    let items = [
        Item::related_activity([1; 16]),
        Item::sid(5, &[21, 1, 2]),
        Item::ts_id(1),
        Item::instance_info(1, 2, [3; 16]),
        Item::stack32(1, &[2, 3]),
        Item::stack64(1, &[2, 3]),
        Item::pebs(1),
        Item::pmc(&[1, 2]),
        Item::psm_key(&[1, 2, 3]),
        Item::event_key(9),
        Item::process_start_key(5),
        Item::qpc_delta(-4),
        Item::container_id(b"{0}"),
    ];
    let last = items.len() - 1;
    let chain = items.iter().enumerate().fold(payload(), |to, (n, item)| item.write(to, n == last));
    let broken = Item::ts_id(1).size(9).write(payload(), false);
    let endless = Item::ts_id(1).linkage(1).write(payload(), true);
    let short = Item::sid(5, &[18]).data_size(400).write(payload(), true);
    vec![
        Seed::new("items", "chain", chain.u64(1).u64(2)),
        Seed::new("items", "broken", broken.u64(1)),
        Seed::new("items", "without_end", endless),
        Seed::new("items", "data_too_long", short),
    ]
}

/// Behind the choices of the target (`targets::buffers::scan`), which zeros answer with the smallest buffers.
fn scans() -> Vec<Seed> {
    let small =
        |sequence: i64| buffer(0x200).sequence(sequence).event(perfinfo64(0x0F2E, T0 + sequence).payload([1; 8]));
    let bytes = |size| trace(header().buffer_size(size));
    let plain = bytes(0x200).buffers((1..6).map(small)).to_bytes();
    let mut hole = plain.clone();
    hole[0x400..0x600].fill(0);
    let mut tail = plain.clone();
    damage::zero_tail(&mut tail, 0x300);
    let compressed = bytes(0x200).buffers((1..6).map(|sequence| small(sequence).compressed())).to_bytes();
    let choices = |first: u8, trace: Vec<u8>| [vec![first], vec![0; 15], trace].concat();
    vec![
        Seed::new("scan", "plain", choices(0, plain)),
        Seed::new("scan", "hole", choices(0, hole)),
        Seed::new("scan", "tail", choices(0, tail)),
        Seed::new("scan", "compressed", choices(1, compressed)),
    ]
}

fn streams() -> Vec<Seed> {
    let mut random = Random::new(7);
    let words = ["alpha ", "beta ", "gamma ", "delta "];
    let text: String = (0..200).map(|_| *random.pick(&words)).collect();
    let noise: Vec<u8> = (0..200).map(|_| random.any() as u8).collect();
    let long = [b"abc".repeat(2000), noise.clone()].concat();
    let stream = |bytes: &[u8]| payload().u16(payload::len16(bytes.len())).bytes(&xpress::compress(bytes));
    vec![
        Seed::new("xpress", "text", stream(text.as_bytes())),
        Seed::new("xpress", "noise", stream(&noise)),
        Seed::new("xpress", "long_matches", stream(&long)),
        Seed::new("xpress_round_trip", "text", text),
        Seed::new("xpress_round_trip", "noise", noise),
        Seed::new("xpress_round_trip", "long_matches", long),
    ]
}

fn values() -> Vec<Seed> {
    let clock = |kind: u8, frequency: i64, first: i64| {
        let head = payload().u8(kind).i64(frequency).u32(3000).i64(START).i64(START - 36_000_000_000).i64(first);
        let head = head.u32(156_250).u32(26_100).u8(0).u16(0);
        (0..8).fold(head, |to, n| to.i64(first + n * 1_000_003))
    };
    let names = |texts: &[&str]| {
        let head = payload().u8(u8::try_from(texts.len() - 1).expect("a few"));
        texts.iter().fold(head, |to, text| to.u8(text.len() as u8).bytes(text.as_bytes()))
    };
    let sid = payload().i64(1_735_689_600_000_000_001).i64(-3).i64(7).guid([7; 16]).sid(5, &[21, 1, 2, 3]);
    let time = payload().zeros(40).bytes(b"2025-01-01T00:00:00.123456789Z");
    vec![
        Seed::new("clock", "qpc", clock(1, 10_000_000, T0)),
        Seed::new("clock", "qpc_odd", clock(1, 3_579_545, T0)),
        Seed::new("clock", "system_time", clock(2, 10_000_000, START)),
        Seed::new("clock", "cycles", clock(3, 10_000_000, T0)),
        Seed::new("clock", "unscaled", clock(1, 0, T0)),
        Seed::new(
            "names",
            "reserved",
            names(&["NUL", "con.txt", "a.", "a ", "COM1", "trace=1", "x/y\\z", "2025-01-01"]),
        ),
        Seed::new("names", "alike", names(&["Name", "name", "NAME~1", "name", "", "\u{130}", "i\u{307}"])),
        Seed::new("texts", "sid", sid),
        Seed::new("texts", "time", time),
        Seed::new("string_events", "texts", payload().u8(0).u8(10).wstr("text").u8(3).bytes(&[0xD8, 0, 0xDC]).u8(0)),
    ]
}

/// Schemas and payloads, as the target reads them out of any bytes; small numbers are frequent.
fn schemas() -> Vec<Seed> {
    let any = |name, seed, small: usize| {
        let mut random = Random::new(seed);
        let byte = |random: &mut Random| if random.one_in(small) { random.any() as u8 } else { random.below(9) as u8 };
        Seed::new("any_schema", name, (0..400).map(|_| byte(&mut random)).collect::<Vec<u8>>())
    };
    vec![any("wild", 1, 1), any("mixed", 2, 2), any("small", 3, 4)]
}

/// Metadata with a field of every form.
pub(super) fn every_field() -> Vec<u8> {
    use tracelogging::{field, out, schema, structure, ty};
    let members = [field("x", ty::INT32), field("name", ty::COUNTED_UTF16)];
    let schema =
        schema("Everything").tags(&[0x81, 1]).field(field("u", ty::UTF16Z)).field(field("a", ty::ANSIZ).out(out::UTF8));
    let schema = schema.field(field("n", ty::UINT8).variable()).field(field("three", ty::INT16).constant(3));
    let schema = schema.field(structure("pair", members)).field(field("p", ty::POINTER).out(out::CODE_POINTER));
    let schema =
        schema.field(field("ft", ty::FILETIME)).field(field("st", ty::SYSTEMTIME)).field(field("sid", ty::SID));
    let schema = schema.field(field("ip", ty::UINT32).out(out::IPV4)).field(field("blob", ty::BINARY).tags(&[3]));
    schema.field(field("own", ty::NULL).custom(&[1, 2, 3])).field(field("err", ty::UINT32).out(out::WIN32_ERROR)).into()
}

/// A payload for [`every_field`].
pub(super) fn every_value() -> Payload {
    let values = payload().wstr("text").astr("acht").u16(2).u8(1).u8(2).i16(-1).i16(0).i16(1);
    let values = values.i32(7).counted_wstr("in").u64(0x7FF6_0000_1000).i64(START).u16(2025).u16(1).u16(3).u16(1);
    let values = values.u16(0).u16(0).u16(0).u16(0).sid(5, &[18]).bytes(&[127, 0, 0, 1]).counted(&[9, 9]);
    values.counted(b"custom").u32(5)
}

fn tracelogging_blobs() -> Vec<Seed> {
    let traits: Vec<u8> = tracelogging::traits("Some.Provider").group([1; 16]).decode([2; 16]).entry(9, &[1]).into();
    let plain: Vec<u8> =
        tracelogging::schema("Plain").field(tracelogging::field("only", tracelogging::ty::INT8)).into();
    vec![
        Seed::new("tracelogging", "every_field", every_field()),
        Seed::new("tracelogging", "traits", traits),
        Seed::new("tracelogging", "plain", plain),
    ]
}

/// A `TRACE_EVENT_INFO` as the recording machine lays it out: header of 112 bytes, properties of 24, then the names.
pub(crate) struct EventInfo {
    bytes: Vec<u8>,
    names: Vec<(usize, &'static str)>,
    properties: u32,
}

impl EventInfo {
    pub(crate) fn new(provider: Guid, id: u16) -> Self {
        let mut bytes = vec![0; 112];
        bytes[..16].copy_from_slice(&provider);
        bytes[32..34].copy_from_slice(&id.to_le_bytes());
        EventInfo { bytes, names: Vec::new(), properties: 0 }
    }

    pub(crate) fn name(mut self, at: usize, name: &'static str) -> Self {
        self.names.push((at, name));
        self
    }

    /// Flags, in-type, out-type, count (or where it stands), length (or where it stands).
    pub(crate) fn property(
        mut self,
        name: &'static str,
        flags: u32,
        types: (u16, u16),
        count: u16,
        length: u16,
    ) -> Self {
        let at = self.bytes.len();
        let property = payload().u32(flags).u32(0).u16(types.0).u16(types.1).u32(0).u16(count).u16(length).u32(0);
        self.bytes.extend(Vec::from(property));
        self.properties += 1;
        self.name(at + 4, name)
    }

    /// Names the map of the last property.
    pub(crate) fn map(self, name: &'static str) -> Self {
        let at = self.bytes.len() - 12;
        self.name(at, name)
    }

    /// The blob, with so many properties outside of structures.
    pub(crate) fn finish(mut self, top: u32) -> Vec<u8> {
        for (at, name) in std::mem::take(&mut self.names) {
            let offset = payload::len32(self.bytes.len());
            self.bytes[at..at + 4].copy_from_slice(&offset.to_le_bytes());
            self.bytes.extend(Vec::from(payload().wstr(name)));
        }
        self.bytes[100..104].copy_from_slice(&self.properties.to_le_bytes());
        self.bytes[104..108].copy_from_slice(&top.to_le_bytes());
        self.bytes
    }
}

/// A description with numbers, a map, a list of structures and a text of given length.
pub(super) fn process_start() -> Vec<u8> {
    let head =
        EventInfo::new([1; 16], 1).name(52, "Some-Provider ").name(56, "win:Informational ").name(68, "ProcessStart");
    let fields =
        head.name(72, "win:Start ").property("ProcessID", 0, (8, 20), 1, 4).property("Flags", 0, (8, 18), 1, 4);
    let fields = fields.map("FlagNames").property("Count", 0, (6, 0), 1, 2).property("Items", 5, (7, 2), 2, 0);
    let fields = fields.property("Text", 2, (1, 0), 1, 2).property("Size", 0, (6, 0), 1, 2);
    fields.property("Inner", 2, (14, 0), 1, 5).finish(5)
}

pub(crate) fn flag_names() -> Payload {
    let entries = payload().u32(32).u32(0x2).u32(2).u32(0).u32(52).u32(1).u32(58).u32(2);
    payload().guid([1; 16]).bytes(&entries.0).wstr("FlagNames").wstr("on").wstr("off")
}

fn described() -> Vec<Seed> {
    let blob = |kind: u16, blob: &[u8]| payload().u16(kind | payload::len16(blob.len())).bytes(blob);
    let both = payload().u8(0).bytes(&blob(0, &process_start()).0).bytes(&blob(0x8000, &flag_names().0).0);
    let little_room = payload().u8(1).bytes(&blob(0, &process_start()).0).bytes(&blob(0, &process_start()).0);
    vec![
        Seed::new("event_info", "event_and_map", both.u32(4711).u32(3).u16(1).u16(7).zeros(20)),
        Seed::new("event_info", "little_room", little_room),
    ]
}

/// An instrumentation manifest of one event, for a provider of this GUID.
pub(super) fn small_manifest(provider: &str) -> String {
    format!(
        "<instrumentationManifest><instrumentation><events><provider name=\"Own\" guid=\"{{{provider}}}\" symbol=\"Own\">\
         <tasks><task name=\"Work\" value=\"1\"/></tasks><templates><template tid=\"W\"><data name=\"Text\" \
         inType=\"win:UnicodeString\"/><data name=\"N\" inType=\"win:UInt32\"/></template></templates><events><event \
         value=\"1\" version=\"0\" task=\"Work\" template=\"W\"/></events></provider></events></instrumentation>\
         </instrumentationManifest>"
    )
}

fn eventsource_chunks() -> Vec<Seed> {
    let xml = small_manifest("02020202-0202-0202-0202-020202020202");
    let delivered = |size: usize, choice: u8| {
        let chunks: Vec<&[u8]> = xml.as_bytes().chunks(size).collect();
        let total = payload::len16(chunks.len());
        chunks.into_iter().zip(0..).fold(payload(), |to, (part, number)| {
            let chunk = payload().u8(1).u8(1).u8(0).u8(0x5B).u16(total).u16(number).bytes(part);
            to.u8(choice).u16(payload::len16(chunk.len())).bytes(&chunk.0)
        })
    };
    let bulk = bulk::manifest(2);
    let envelope = payload().u8(1).u8(1).u8(0).u8(0x5B).u16(1).u16(0).bytes(bulk.as_bytes());
    vec![
        Seed::new("eventsource", "one_chunk", delivered(4000, 1).wstr("text").u32(5)),
        Seed::new("eventsource", "four_chunks", delivered(200, 1)),
        Seed::new("eventsource", "of_another", payload().u8(0).u16(payload::len16(envelope.len())).bytes(&envelope.0)),
    ]
}
