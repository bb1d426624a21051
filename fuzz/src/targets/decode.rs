//! Payloads decoded by schemas of every origin.

use std::sync::{Arc, LazyLock, OnceLock};

use arrow_array::ArrayRef;
use columnar::columns::{ColumnBuffers, gather};
use conversion::decode::{MessageProgram, MessageScratch, NoClock, PayloadColumn, Program, assign_columns};
use etl2parquet::{GuidType, IntegerType, TimestampType, TypeOptions};
use schema::message::MAX_TEXT_BYTES;
use schema::model::{Count, EventSchema, Field, FieldKind, FieldRef, Length, MapKind, Meaning, ValueMap, Wire};
use schema::pack::{EventFacts, Pack, meanings, wire_types};
use schema::registry;

use crate::bytes::Bytes;
use crate::digest::Digest;
use crate::oracle;

/// Decodes each payload by the schema of its number, with both pointer sizes.
///
/// Oracles: names unique; `consumes` = `decode`, whether columns are filled or not; arrays valid in full; equal rows for
/// the columns as they are and for those that the schemas present need; messages are text with an end.
pub fn rows(schemas: &[&EventSchema], payloads: &[(usize, &[u8])], options: TypeOptions, digest: &mut Digest) {
    let table = assign_columns(schemas, &["trace", "timestamp"], options);
    oracle::unique(table.columns.iter().map(PayloadColumn::name).chain(["trace", "timestamp"]));
    for (number, schema) in schemas.iter().enumerate() {
        let listed = table.field_columns(number, schema, EventFacts::default()).len();
        assert!(listed >= schema.fields.len(), "decode: {listed} rows for {} fields", schema.fields.len());
    }
    for pointer_size in [4, 8] {
        let program = |&schema: &&EventSchema, number| Program::compile(schema, &table, number, pointer_size);
        let programs: Vec<Program> = schemas.iter().zip(0..).map(|(schema, number)| program(schema, number)).collect();
        let mut buffers = ColumnBuffers::new(table.columns.iter().map(PayloadColumn::data_type));
        // Between the rows are some that have no values.
        let mut row = 0;
        for &(schema, payload) in payloads {
            let number = schema % schemas.len();
            let before = buffers.weight();
            let outcome = programs[number].decode(payload, row, &mut buffers, &NoClock);
            let weight = buffers.weight() - before;
            let consumed = programs[number].consumes(payload);
            assert_eq!(outcome.status, consumed, "decode: `consumes` says what `decode` says");
            let measured = Program::measuring(schemas[number], pointer_size).consumes(payload);
            assert_eq!(outcome.status, measured, "decode: columns do not decide what fits");
            assert!(outcome.status.is_whole() || outcome.keep_payload, "decode: what is not whole is kept");
            in_words(schemas[number], pointer_size, payload);
            row += 2;
            digest.add((outcome.status.as_str(), outcome.keep_payload, weight));
        }
        let values = buffers.finish();
        for (index, column) in
            table.columns.iter().enumerate().filter(|(index, _)| values.has_values(*index, &(0..row)))
        {
            let array: ArrayRef = gather(&[(&values, 0..row)], index, column.data_type()).expect("decode: it is small");
            assert_eq!(array.data_type(), column.data_type(), "decode: a column has its type");
            oracle::valid_in_full(&array, row as usize);
            digest.add(array.null_count());
        }
    }
}

/// Renders a payload under a template that is made of its own bytes, and one that inserts the first fields twice.
fn in_words(schema: &EventSchema, pointer_size: u8, payload: &[u8]) {
    let own = String::from_utf8_lossy(payload);
    for template in [own.as_ref(), "%1|%2|%3!8.4s!|%1!x!%n%%1%0"] {
        let program = MessageProgram::compile(template, Some(schema), pointer_size);
        let mut scratch = MessageScratch::default();
        let text = std::str::from_utf8(program.render(payload, &mut scratch)).expect("decode: a message is text");
        assert!(text.len() <= MAX_TEXT_BYTES, "decode: a message has an end");
        let again = program.render(payload, &mut scratch).to_vec();
        assert!(
            again == program.render(payload, &mut MessageScratch::default()),
            "decode: what was before is forgotten"
        );
    }
}

/// Options of column types.
pub fn options(bytes: &mut Bytes<'_>) -> TypeOptions {
    let choices = bytes.u8();
    TypeOptions {
        integers: if choices & 1 == 0 { IntegerType::Exact } else { IntegerType::Portable },
        guid: [GuidType::String, GuidType::Uuid, GuidType::Binary][usize::from(choices >> 1) % 3],
        timestamps: if choices & 8 == 0 { TimestampType::Micros } else { TimestampType::Nanos },
    }
}

/// Schemas made of bytes, and payloads for them.
pub fn any_schema(input: &[u8], digest: &mut Digest) {
    let mut bytes = Bytes::new(input);
    let options = options(&mut bytes);
    let schemas: Vec<EventSchema> = (0..=bytes.below(3)).map(|_| schema(&mut bytes)).collect();
    let payloads: Vec<(usize, &[u8])> = (0..=bytes.below(4)).map(|_| (bytes.u8().into(), bytes.short())).collect();
    rows(&schemas.iter().collect::<Vec<_>>(), &payloads, options, digest);
}

static WIRES: LazyLock<Vec<Wire>> = LazyLock::new(|| wire_types().collect());
static MEANINGS: LazyLock<Vec<Meaning>> = LazyLock::new(|| [Meaning::Plain].into_iter().chain(meanings()).collect());

/// A schema of up to 7 fields.
fn schema(bytes: &mut Bytes<'_>) -> EventSchema {
    let fields = (0..bytes.below(8)).map(|_| field(bytes, 3)).collect();
    EventSchema { fields, ..EventSchema::default() }
}

fn field(bytes: &mut Bytes<'_>, depth: usize) -> Field {
    const NAMES: &[&str] = &["a", "A", "b", "a__2", "a_label", "B_filetime", "", "timestamp", "\u{1F600}"];
    let flags = bytes.u8();
    let name = if flags & 0x30 == 0 { bytes.text() } else { (*bytes.pick(NAMES)).to_owned() };
    let kind = if depth > 0 && flags & 7 == 7 {
        FieldKind::Struct((0..bytes.below(5)).map(|_| field(bytes, depth - 1)).collect())
    } else {
        let meaning = if flags & 0x40 == 0 { Meaning::Plain } else { *bytes.pick(&MEANINGS) };
        FieldKind::Value { wire: *bytes.pick(&WIRES), meaning, length: length(bytes) }
    };
    let map = (flags & 0x88 == 0x88).then(|| Arc::new(map(bytes)));
    let optional = bytes.below(8) == 0;
    Field {
        kind,
        count: count(bytes),
        map,
        optional,
        hidden: optional && flags & 1 == 0,
        ..Field::value(name, Wire::Null)
    }
}

fn map(bytes: &mut Bytes<'_>) -> ValueMap {
    let kind = *bytes.pick(&[MapKind::Values, MapKind::Bits]);
    let entries = (0..bytes.below(6)).map(|_| (bytes.u16().into(), bytes.text())).collect();
    ValueMap::new("m", kind, entries)
}

fn reference(bytes: &mut Bytes<'_>) -> FieldRef {
    FieldRef { up: bytes.u8() % 3, index: u16::from(bytes.u8() % 5) }
}

fn length(bytes: &mut Bytes<'_>) -> Length {
    match bytes.below(8) {
        0 => Length::Fixed(bytes.u8().into()),
        1 => Length::Fixed(bytes.u32()),
        2 | 3 => Length::Field(reference(bytes)),
        _ => Length::Natural,
    }
}

fn count(bytes: &mut Bytes<'_>) -> Count {
    match bytes.below(16) {
        0 => Count::Fixed(bytes.u8().into()),
        1 => Count::Fixed(bytes.u32()),
        2 => Count::Field(reference(bytes)),
        3 | 4 => Count::Prefixed,
        5 => Count::Rest,
        _ => Count::One,
    }
}

/// Every layout of the built-in pack, in an order of its own.
fn pack_layouts() -> &'static [&'static EventSchema] {
    static ALL: OnceLock<Vec<&'static EventSchema>> = OnceLock::new();
    ALL.get_or_init(|| {
        let pack = Pack::builtin();
        let providers = pack.providers().collect::<Vec<_>>();
        let declared = providers.iter().filter_map(|guid| pack.provider(guid)).flat_map(|provider| provider.all());
        let overriding =
            providers.iter().filter_map(|guid| pack.override_pack(guid)).flat_map(|provider| provider.all());
        let classes = pack.classes().collect::<Vec<_>>();
        let classic = classes.iter().filter_map(|guid| pack.class(guid)).flat_map(|class| class.all());
        declared.chain(overriding).chain(classic).map(|layout| &*layout.schema).collect()
    })
}

/// How many layouts the pack has.
pub fn pack_layout_count() -> usize {
    pack_layouts().len()
}

/// The layout of the pack whose number comes first, and a payload for it.
pub fn pack_layout(input: &[u8], digest: &mut Digest) {
    let mut bytes = Bytes::new(input);
    let all = pack_layouts();
    let schema = all[bytes.u32() as usize % all.len()];
    let options = options(&mut bytes);
    let whole = bytes.rest();
    let half = &whole[..whole.len() / 2];
    rows(&[schema], &[(0, whole), (0, half), (0, &[])], options, digest);
}

/// Events that are one string.
pub fn string_events(input: &[u8], digest: &mut Digest) {
    let candidate = registry::string_candidate();
    let mut bytes = Bytes::new(input);
    let options = options(&mut bytes);
    let payloads: Vec<(usize, &[u8])> = (0..4).map(|_| (0, bytes.short())).collect();
    rows(&[&candidate.schema], &payloads, options, digest);
}
