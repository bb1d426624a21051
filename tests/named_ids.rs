//! The places at which kernel events name threads and processes, against the built-in layouts of their classes.

#![allow(clippy::unwrap_used, reason = "a test may stop at what should not happen")]

use etl::event::EventIdentity;
use etl::event::named_ids::NamedIds;
use etl::layout::header::HeaderFamily;
use schema::model::{Count, Field, FieldKind, Wire};
use schema::pack::Pack;

/// Fields that name what an event is about; of a switch, the thread that runs from then on.
const THREADS: [&str; 6] = ["threadid", "tthreadid", "newthreadid", "ttid", "issuingthreadid", "stackthread"];
const PROCESSES: [&str; 3] = ["processid", "pid", "stackprocess"];

fn width(field: &Field, pointer: usize) -> Option<usize> {
    let FieldKind::Value { wire, .. } = &field.kind else { return None };
    if field.count != Count::One {
        return None;
    }
    Some(match wire {
        Wire::Int8 | Wire::UInt8 | Wire::AnsiChar => 1,
        Wire::Int16 | Wire::UInt16 => 2,
        Wire::Int32 | Wire::UInt32 | Wire::HexInt32 => 4,
        Wire::Int64 | Wire::UInt64 | Wire::HexInt64 | Wire::FileTime | Wire::TraceTime => 8,
        Wire::Pointer | Wire::SizeT => pointer,
        _ => return None,
    })
}

/// Where a field stands, by the layout.
fn offset(fields: &[Field], names: &[&str], pointer: usize) -> Option<usize> {
    let mut at = 0;
    for field in fields {
        if names.contains(&field.name.to_lowercase().as_str()) {
            return Some(at);
        }
        at += width(field, pointer)?;
    }
    None
}

#[test]
fn places_are_those_of_the_layouts() {
    let payload: Vec<u8> = (0..=255).collect();
    let id_at = |offset: usize| u32::from_le_bytes(payload[offset..offset + 4].try_into().unwrap());
    let mut compared = 0;
    for class in Pack::builtin().classes() {
        for layout in Pack::builtin().class(&class).unwrap().all() {
            for pointer_size in [4, 8] {
                let identity = EventIdentity {
                    provider: class,
                    group: 0,
                    id: 0,
                    version: layout.version,
                    opcode: u8::try_from(layout.id).unwrap(),
                    property: 0,
                    pointer_size,
                    family: HeaderFamily::System64,
                };
                let Some(named) = NamedIds::of(&identity) else { continue };
                let ids = named.read(&payload);
                let fields = &layout.schema.fields;
                let place = |names: &[&str]| offset(fields, names, usize::from(pointer_size)).map(id_at);
                let what = format!("{class} {} {}, {pointer_size}", layout.id, layout.version);
                assert_eq!(ids.thread, place(&THREADS), "{what}");
                assert_eq!(ids.process, place(&PROCESSES), "{what}");
                assert!(ids.thread.is_some() || ids.process.is_some(), "{what}");
                compared += 1;
            }
        }
    }
    assert!(compared > 100, "{compared}");
}
