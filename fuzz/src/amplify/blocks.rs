//! The blocks that are repeated.

use super::sources::{declared_values, described, manifest, message_formats, message_values, provider, provider_text};
use crate::made::blobs::flag_names;
use crate::synth::tracelogging::{field, schema, structure, traits, ty};
use crate::synth::*;

/// Something that a trace, or what describes it, may hold any number of.
#[derive(Clone, Copy, Debug)]
pub struct Block {
    /// What it is.
    pub name: &'static str,
    /// A trace of so many of them.
    pub make: fn(usize) -> Made,
    /// How many of them count as one.
    pub unit: usize,
    /// Bytes that may be on the heap at a time for each further byte of input, while there are too few for any cap: a third
    /// more than there are; of one block in one machine they differ by less than a tenth. What is a table, a column or a
    /// description has its price; caps and the budget bound their number.
    pub memory: usize,
    /// Bytes that may be allocated for each further byte of input: a third more than are, which are the same in every run.
    pub work: usize,
}

/// The inputs of a conversion.
#[derive(Clone, Debug, Default)]
pub struct Made {
    /// The trace.
    pub trace: Vec<u8>,
    /// Schema files of the user, by name.
    pub schemas: Vec<(String, Vec<u8>)>,
    /// Providers whose events are filtered out.
    pub excluded: Vec<String>,
}

impl Block {
    const fn new(name: &'static str, unit: usize, make: fn(usize) -> Made, memory: usize, work: usize) -> Block {
        Block { name, make, unit, memory, work }
    }
}

/// All blocks.
pub const BLOCKS: &[Block] = &[
    Block::new("an event", 2000, |n| events(n, |n| kernel(n).on_disk()), 6, 14),
    Block::new("a TraceLogging description", 64, |n| events(n, tracelogging_event), 28, 320),
    Block::new("a TraceLogging event of wide lists", 64, |n| events(n, wide_lists), 42, 220),
    Block::new(
        "an event shape",
        256,
        |n| events(n, |n| event64(provider(0), n as u16, (n >> 16) as u8, at(n)).on_disk()),
        20,
        125,
    ),
    Block::new("a provider", 64, |n| events(n, |n| event64(provider(n), 1, 0, at(n)).on_disk()), 135, 4600),
    Block::new("a provider with columns", 64, |n| events(n, columned_provider), 170, 4300),
    Block::new("a filtered provider", 256, filtered_providers, 45, 160),
    Block::new("a manifest in the trace", 16, manifests, 24, 580),
    Block::new("an event of a manifest in the trace", 256, one_manifest, 14, 120),
    Block::new("a TRACE_EVENT_INFO", 32, event_infos, 12, 76),
    Block::new("an EVENT_MAP_INFO", 256, |n| events(n, map_info), 7, 22),
    Block::new("a stack walk", 2048, stack_walks, 3, 17),
    Block::new("a stack walk with a key", 64, stack_keys, 270, 450),
    Block::new("a stack item", 64, |n| events(n, stack), 6, 12),
    Block::new(
        "a WPP message GUID",
        256,
        |n| events(n, |n| message(1).guid(provider(n)).time(at(n)).arguments([1; 4]).on_disk()),
        70,
        420,
    ),
    Block::new("a TMF file", 32, message_files, 9, 34),
    Block::new("a message of a TMF file", 256, one_message_file, 14, 67),
    Block::new("a manifest of the user", 32, user_manifests, 21, 540),
    Block::new("an event of a manifest of the user", 256, one_user_manifest, 9, 89),
    Block::new(
        "a string event",
        256,
        |n| events(n, |n| event64(provider(0), 9, 0, at(n)).string_only(&format!("text {n}")).on_disk()),
        5,
        12,
    ),
    Block::new("a buffer", 256, |n| buffers(n, |n| small(n, 0)), 2, 12),
    Block::new("a compressed buffer", 128, compressed, 740, 1600),
    Block::new("a damaged spot", 256, |n| buffers(n, damaged), 5, 25),
    Block::new("a missing buffer", 256, |n| buffers(n, |n| small(2 * n, 0)), 3, 17),
    Block::new("a notice of loss", 256, |n| events(n, |n| classic::lost_event(32, at(n)).on_disk()), 4, 10),
    Block::new("a processor", 256, |n| buffers(n, |n| small(n, n as u16)), 2, 12),
    Block::new("a buffer that is there twice", 128, |n| buffers(n, |n| small(n / 2, 0)), 2, 12),
    Block::new("a buffer in no order", 128, |n| buffers(n, disordered), 2, 13),
    Block::new("a name of an image", 256, |n| events(n, debug_id), 10, 22),
];

fn at(n: usize) -> i64 {
    T0 + 10 + n as i64
}

/// A trace of so many events, in buffers of 64 KiB.
fn events(count: usize, event: impl Fn(usize) -> Vec<u8>) -> Made {
    let mut session = Session::new(1, 0x1_0000);
    (0..count).for_each(|n| session.log(0, at(n), event(n)));
    written(session, count)
}

fn written(session: Session, count: usize) -> Made {
    let header = header().buffer_size(0x1_0000);
    Made { trace: trace(header).buffers(session.finish(at(count))).to_bytes(), ..Made::default() }
}

/// A trace of so many buffers of 512 bytes.
fn buffers(count: usize, buffer: impl Fn(usize) -> Buffer) -> Made {
    let all = trace(header().buffer_size(0x200).processors(u32::MAX >> 16)).buffers((0..count).map(buffer));
    Made { trace: all.to_bytes(), ..Made::default() }
}

fn kernel(n: usize) -> Kernel {
    perfinfo64(0x0F2E, at(n)).payload(payload().u64(n as u64).u32(7).u32(1))
}

fn small(sequence: usize, cpu: u16) -> Buffer {
    buffer(0x200).sequence(1 + sequence as i64).cpu(cpu).event(kernel(sequence))
}

/// An event of its own name, with fields of their own.
fn tracelogging_event(n: usize) -> Vec<u8> {
    let fields = (0..12).map(|k| field(&format!("f{:x}", n * 12 + k), [ty::UINT32, ty::UTF16Z][k % 2]));
    let schema = fields.fold(schema(&format!("E{n}")), |schema, field| schema.field(field));
    let values = (0..6_u32).fold(payload(), |to, k| to.u32(k).wstr("v"));
    event64(provider(0), 0, 0, at(n)).tracelogging(traits("Own"), schema).payload(values).on_disk()
}

/// An event of its own provider, with as many fields as fit into little room.
fn columned_provider(n: usize) -> Vec<u8> {
    let schema = (0..100).fold(schema("E"), |schema, k| schema.field(field(&format!("{k:x}"), ty::UINT8)));
    event64(provider(n), 0, 0, at(n)).tracelogging(traits(&format!("P{n}")), schema).payload([1; 100]).on_disk()
}

/// An event of its own name, with structures in structures and lists of values that take little room or none.
fn wide_lists(n: usize) -> Vec<u8> {
    let inner = structure("i", (0..8).map(|k| field(&format!("f{k}"), ty::UINT8).variable()));
    let outer = structure("o", [inner, field("none", ty::NULL).constant(500)]);
    let schema = schema(&format!("E{n}")).field(outer).field(field("flags", ty::BOOL32).constant(8));
    let values = (0..8).fold(payload(), |to, _| to.u16(0)).zeros(32);
    event64(provider(0), 0, 0, at(n)).tracelogging(traits("Own"), schema).payload(values).on_disk()
}

fn filtered_providers(count: usize) -> Made {
    let made = events(count, |n| event64(provider(n / 2), 1, 0, at(n)).on_disk());
    // One provider is left, and half of the others are there.
    Made { excluded: (1..count).map(provider_text).collect(), ..made }
}

fn manifests(count: usize) -> Made {
    let mut session = Session::new(1, 0x1_0000);
    for n in 0..count {
        for event in eventsource_manifest(provider(n), at(n), &manifest(n, 4), 4000) {
            session.log(0, at(n), event);
        }
        session.log(0, at(n), event64(provider(n), 1, 0, at(n)).payload(declared_values(n)));
    }
    written(session, count)
}

fn one_manifest(count: usize) -> Made {
    let mut session = Session::new(1, 0x1_0000);
    for event in eventsource_manifest(provider(0), T0 + 5, &manifest(0, count), 0xFF00) {
        session.log(0, T0 + 5, event);
    }
    for n in 0..count {
        session.log(0, at(n), event64(provider(0), n as u16, 0, at(n)).payload(declared_values(n)));
    }
    written(session, count)
}

fn event_infos(count: usize) -> Made {
    let mut session = Session::new(1, 0x1_0000);
    for n in 0..count {
        session.log(0, at(n), classic::event_info(at(n), described(n as u16, 100)));
        session.log(0, at(n), event64([1; 16], n as u16, 0, at(n)).payload([1; 400]));
    }
    session.log(0, at(count), classic::event_map_info(at(count), [1; 16], &flag_names().0[16..]));
    written(session, count)
}

/// Descriptions of values that nothing uses, under one name.
fn map_info(n: usize) -> Vec<u8> {
    classic::event_map_info(at(n), provider(n % 3), &flag_names().0[16..]).on_disk()
}

fn stack(n: usize) -> Vec<u8> {
    let addresses: Vec<u64> = (0..190).map(|k| 0xFFFF_F800_0000_0000 + (n * 190 + k) as u64 * 16).collect();
    event64(provider(0), 1, 0, at(n)).item(Item::stack64(n as u64, &addresses)).on_disk()
}

/// Samples, each with a walk of its own, which comes a while later.
fn stack_walks(n: usize) -> Made {
    events(2 * n, |place| {
        let of = place / 2;
        if place % 2 == 0 {
            return kernel(place).on_disk();
        }
        let walk = payload().i64(at(2 * (of - of % 16))).u32(4).u32(7);
        let addresses = (0..30).map(|k| 0xFFFF_F800_0000_0000 + (of * 30 + k) as u64 * 16);
        perfinfo64(0x1820, at(place)).payload(addresses.fold(walk, Payload::u64)).on_disk()
    })
}

/// Samples, each with a walk that names the one key of many addresses.
fn stack_keys(n: usize) -> Made {
    let addresses: Vec<u64> = (0..1000).map(|k| 0x7FF0_0000_0000 + k * 16).collect();
    events(2 * n + 1, |place| match place.checked_sub(1) {
        None => {
            let walk = addresses.iter().fold(payload().u64(0xA0), |walk, &address| walk.u64(address));
            perfinfo64(0x1822, at(0)).payload(walk).on_disk()
        }
        Some(before) if before % 2 == 0 => kernel(place).on_disk(),
        Some(_) => {
            let walk = payload().i64(at(place - 1)).u32(4).u32(7).u64(0xA0);
            perfinfo64(0x1826, at(place)).payload(walk).on_disk()
        }
    })
}

/// Messages of so many providers, one of each.
fn messages(count: usize, of: impl Fn(usize) -> (usize, usize)) -> Made {
    events(count, |n| {
        let (file, number) = of(n);
        message((10 + number) as u16).guid(provider(file)).time(at(n)).arguments(message_values(n)).on_disk()
    })
}

fn message_files(count: usize) -> Made {
    let files = (0..count).map(|n| (format!("{n}.tmf"), message_formats(n, 4).into_bytes()));
    Made { schemas: files.collect(), ..messages(count, |n| (n, 0)) }
}

fn one_message_file(count: usize) -> Made {
    let file = ("all.tmf".to_owned(), message_formats(0, count).into_bytes());
    Made { schemas: vec![file], ..messages(count, |n| (0, n)) }
}

fn user_manifests(count: usize) -> Made {
    let files = (0..count).map(|n| (format!("{n}.man"), manifest(n, 4).into_bytes()));
    let made = events(count, |n| event64(provider(n), 1, 0, at(n)).payload(declared_values(n)).on_disk());
    Made { schemas: files.collect(), ..made }
}

fn one_user_manifest(count: usize) -> Made {
    let file = ("all.man".to_owned(), manifest(0, count).into_bytes());
    let made = events(count, |n| event64(provider(0), n as u16, 0, at(n)).payload(declared_values(n)).on_disk());
    Made { schemas: vec![file], ..made }
}

/// Buffers of a hundred bytes or so that expand to 64 KiB.
fn compressed(count: usize) -> Made {
    let event = event64(provider(0), 1, 0, T0 + 50).payload(vec![0; 4000]);
    let full = |n: usize| buffer(0x1_0000).sequence(1 + n as i64).events((0..15).map(|_| event.clone())).compressed();
    let header = header().buffer_size(0x1_0000).version([10, 0, 2, 0]).log_file_mode(0x0400_0001);
    Made { trace: trace(header).buffers((0..count).map(full)).to_bytes(), ..Made::default() }
}

/// A buffer whose second event is none.
fn damaged(n: usize) -> Buffer {
    let mut buffer = small(n, 0);
    buffer.push(&[0xFF, 0x7F, 0x13, 0xC0, 0, 0, 0, 0]);
    buffer
}

/// A buffer with an early and a late event, in the wrong order.
fn disordered(n: usize) -> Buffer {
    let late = perfinfo64(0x0F22, at(n) + 1_000_000).payload([0; 8]);
    buffer(0x200).sequence(1 + n as i64).event(late).event(kernel(n))
}

fn debug_id(n: usize) -> Vec<u8> {
    header::debug_id(at(n), provider(n), 1, &format!("{n}.pdb")).on_disk()
}
