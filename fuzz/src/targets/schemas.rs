//! Descriptions of payloads, and what becomes of payloads by them.

use std::sync::Arc;

use conversion::decode::ColumnNames;
use etl2parquet::{Guid, TypeOptions};
use schema::budget::Budget;
use schema::event_info::{EventInfo, EventInfoSet};
use schema::eventsource::{ChunkLocation, ChunkPayloads, ChunkResult, Delivery, EventSourceManifests, Standing};
use schema::facts::Facts;
use schema::harvest::{Harvest, of_file};
use schema::lock::SchemaLock;
use schema::manifest::{Manifest, ProviderSchemas};
use schema::model::EventSchema;
use schema::mof::{Mof, is_mof};
use schema::pack;
use schema::tmf::Tmf;
use schema::tracelogging::{parse_metadata, parse_traits};
use schema::wpp::{ArgumentStatus, CompiledMessage, HeaderValues, Renderer};

use super::decode::rows;
use crate::bytes::Bytes;
use crate::digest::Digest;
use crate::oracle;

/// Descriptions of one input that are tried on payloads.
const TRIED: usize = 6;

/// Decodes some bytes by the first of the schemas found.
fn try_all(schemas: &[&EventSchema], payload: &[u8], digest: &mut Digest) {
    let tried = &schemas[..schemas.len().min(TRIED)];
    if !tried.is_empty() {
        let payloads: Vec<(usize, &[u8])> = (0..tried.len()).map(|number| (number, payload)).collect();
        rows(tried, &payloads, TypeOptions::default(), digest);
    }
}

/// The last bytes of an input, which is how payloads come into an input that is a description.
fn tail(input: &[u8]) -> &[u8] {
    &input[input.len().saturating_sub(64)..]
}

/// TraceLogging: the traits of a provider, and the metadata of an event with a payload.
///
/// Oracles: those of decoding; metadata that are there again behind a second copy of themselves say the same.
pub fn tracelogging(input: &[u8], digest: &mut Digest) {
    digest.add_shown(&parse_traits(input));
    let found = parse_metadata(input);
    digest.add_shown(&found);
    oracle::same(&parse_metadata(input), &found);
    let Ok(schema) = found else { return };
    assert!(schema.fields.len() <= input.len(), "tracelogging: a field takes a byte or more");
    try_all(&[&schema], tail(input), digest);
}

/// `TRACE_EVENT_INFO` and `EVENT_MAP_INFO`: a list of blobs, each behind its length in 16 bits, of either kind.
///
/// Oracles: those of decoding; of equal blobs one is kept; no more is kept than there is room for.
pub fn event_info(input: &[u8], digest: &mut Digest) {
    let mut bytes = Bytes::new(input);
    let room = if bytes.u8() & 1 == 0 { 1 << 20 } else { 4096 };
    let (mut set, mut budget) = (EventInfoSet::new(), Budget::new(room));
    let mut added = 0;
    while !bytes.is_empty() && added < 64 {
        let len = bytes.u16();
        let blob = bytes.take((len & 0x7FFF).into());
        let result =
            if len & 0x8000 == 0 { set.add_event_info(blob, &mut budget) } else { set.add_map_info(blob, &mut budget) };
        let again = if len & 0x8000 == 0 { set.add_event_info(blob, &mut budget) } else { Ok(()) };
        assert!(result.is_err() || again.is_ok() || budget.is_spent(), "event_info: what is known is no news");
        digest.add(result.is_ok());
        added += 1;
    }
    let events = set.finish();
    assert!(events.len() <= added, "event_info: {} descriptions of {added} blobs", events.len());
    let kept: usize = events.iter().map(EventInfo::footprint).sum();
    digest.add((events.len(), kept));
    let schemas: Vec<&EventSchema> = events.iter().map(|event| &event.schema).collect();
    try_all(&schemas, tail(input), digest);
}

/// An instrumentation manifest.
///
/// Oracles: those of decoding; events are in the order in which they are looked up; what is found by its id and version is
/// what stands there.
pub fn manifest(input: &[u8], digest: &mut Digest) {
    let manifest = match Manifest::parse(input, None) {
        Ok(manifest) => manifest,
        Err(error) => return digest.add(error.to_string()),
    };
    digest.add((manifest.providers.len(), manifest.rejected.len()));
    for provider in &manifest.providers {
        declared(provider, tail(input), digest);
    }
}

/// What a provider declares, whatever it is declared in.
pub(super) fn declared(provider: &ProviderSchemas, payload: &[u8], digest: &mut Digest) {
    oracle::monotone(provider.events.iter().map(|event| (event.id, event.version)));
    oracle::monotone(provider.tasks.iter().map(|task| task.value));
    for event in provider.events.iter().take(TRIED) {
        let same = provider.events_of(event.id, event.version);
        assert!(same.contains(event), "manifest: an event is found by its id and version");
    }
    digest.add((provider.guid.0, &provider.name, provider.events.len(), &provider.keywords));
    let schemas: Vec<&EventSchema> = provider.events.iter().map(|event| &*event.schema).collect();
    try_all(&schemas, payload, digest);
}

/// EventSource manifests in chunks: a list of deliveries, each of a process and behind its length in 16 bits.
///
/// Oracles: those of manifests; a provider's standing agrees with what is found of it; a text that comes in one chunk gives
/// what the text by itself gives.
pub fn eventsource(input: &[u8], digest: &mut Digest) {
    let mut bytes = Bytes::new(input);
    let (mut manifests, mut budget) = (EventSourceManifests::new(), Budget::new(16 << 20));
    let payloads = ChunkPayloads::default();
    let providers = [Guid([1; 16]), Guid([2; 16])];
    let mut completed = 0;
    for number in 0..64 {
        if bytes.is_empty() {
            break;
        }
        let choice = bytes.u8();
        let len = bytes.u16();
        let provider = providers[usize::from(choice & 1)];
        let payload = payloads.share(provider, bytes.take(len.into()));
        let delivery = Delivery {
            provider,
            process_id: u32::from(choice >> 6),
            location: ChunkLocation { input: 0, buffer: number, ticks: number as i64 },
            payload: &payload,
        };
        let result = manifests.push(&delivery, &mut budget);
        completed += u32::from(result == ChunkResult::Completed);
        digest.add_shown(&result);
    }
    manifests.finish();
    for provider in providers {
        let found: Vec<&Arc<ProviderSchemas>> = (0..4).flat_map(|id| manifests.candidates(provider, id)).collect();
        match manifests.standing(&provider) {
            Standing::Known => assert!(!found.is_empty(), "eventsource: what is known is found"),
            Standing::Absent | Standing::Unusable(_) => {
                assert!(found.is_empty(), "eventsource: what is found is known");
            }
        }
        assert!(found.is_empty() || completed > 0, "eventsource: what is found was completed");
        for schemas in found.iter().take(2) {
            assert_eq!(schemas.guid, provider, "eventsource: nobody describes another");
            declared(schemas, tail(input), digest);
        }
    }
    for issue in manifests.take_issues() {
        digest.add(issue.fault.to_string());
    }
}

/// A TMF file, and messages by it.
///
/// Oracles: no more arguments are handed out than are declared, and no more bytes read than are there; a message that fits
/// exactly is read to its end; equal bytes make equal texts.
pub fn tmf(input: &[u8], digest: &mut Digest) {
    let tmf = Tmf::parse(input);
    digest.add((tmf.messages.len(), tmf.rejected.len()));
    let payload = tail(input);
    let mut renderer = Renderer::new();
    for format in tmf.messages.into_iter().take(TRIED) {
        let format = Arc::new(format);
        let declared = format.arguments.len();
        let plan = CompiledMessage::new(Arc::clone(&format));
        for (pointer_size, bytes) in [(4, payload), (8, payload), (8, &payload[..payload.len() / 2])] {
            let header = HeaderValues { thread_id: Some(7), timestamp_ns: Some(-1), ..HeaderValues::default() };
            let (mut text, mut count) = ("before ".to_owned(), 0);
            let rendered = renderer.render(&plan, bytes, pointer_size, &header, &mut text, |_| count += 1);
            assert!(text.starts_with("before "), "tmf: a text is appended");
            assert!(text.len() <= (256 << 10) + 7, "tmf: a text of {} bytes", text.len());
            assert!(count == rendered.arguments && count <= declared, "tmf: {count} of {declared} arguments");
            assert!(rendered.consumed <= bytes.len(), "tmf: no more is read than is there");
            let is_read = rendered.consumed == bytes.len();
            assert!(rendered.status != ArgumentStatus::Exact || is_read, "tmf: an exact message is read to its end");
            let mut again = "before ".to_owned();
            Renderer::new().render(&plan, bytes, pointer_size, &header, &mut again, |_| ());
            oracle::same(&again, &text);
            digest.add((text, rendered.faithful, rendered.consumed));
        }
    }
}

/// MOF.
///
/// Oracles: those of decoding; events are in the order in which they are looked up, and found by opcode and version, also in place of a
/// version above.
pub fn mof(input: &[u8], digest: &mut Digest) {
    let mof = Mof::parse(input);
    digest.add((mof.classes.len(), mof.rejected.len(), is_mof(&String::from_utf8_lossy(input))));
    oracle::monotone(mof.classes.iter().map(|class| class.guid));
    for class in &mof.classes {
        declared(class, tail(input), digest);
        for event in class.events.iter().take(TRIED) {
            let same = class.newest_up_to(event.id, event.version.into());
            assert!(same.contains(event), "mof: an event is found by its opcode and version");
            let above = class.newest_up_to(event.id, u16::MAX);
            assert!(above.iter().all(|found| found.version >= event.version), "mof: the newest version is found");
        }
    }
}

/// A document of `schema export`.
///
/// Oracles: those of manifests; what was harvested of it is written, and read again as the same.
pub fn facts(input: &[u8], digest: &mut Digest) {
    let facts = match Facts::parse_within(input, 16 << 20) {
        Ok(facts) => facts,
        Err(error) => return digest.add(error.to_string()),
    };
    digest.add((facts.providers.len(), facts.classes.len(), facts.messages.len(), facts.rejected.len()));
    for provider in facts.providers.iter().chain(&facts.classes) {
        oracle::monotone(provider.events.iter().map(|event| (event.id, event.version)));
        let schemas: Vec<&EventSchema> = provider.events.iter().map(|event| &*event.schema).collect();
        try_all(&schemas, tail(input), digest);
    }
    let mut harvest = Harvest::default();
    harvest.add_facts(&facts);
    for file in harvest.into_files() {
        let again = of_file(&file).expect("facts: what was written is read");
        let written: Vec<_> = again.into_files().into_iter().map(|again| (again.name, again.bytes)).collect();
        assert!(written == [(file.name, file.bytes)], "facts: what is read is written again");
    }
}

/// A schema lock.
///
/// Oracles: what is read is written again, and read again as the same; the names of columns take it and give it back.
pub fn lock(input: &[u8], digest: &mut Digest) {
    let lock = match SchemaLock::read(input) {
        Ok(lock) => lock,
        Err(error) => return digest.add(error.to_string()),
    };
    let text = lock.text();
    oracle::same(&SchemaLock::read(text.as_bytes()).map(|lock| lock.text()), &Ok(text));
    digest.add((lock.len(), lock.hash()));
    for (_, settled) in lock.providers() {
        let mut names = ColumnNames::new(&["timestamp"]);
        names.adopt(settled);
        let adopted = names.settled(true);
        names.add_undeclared();
        assert_eq!(names.settled(true).len(), adopted.len(), "lock: every name is there once");
        digest.add(adopted.len());
    }
}

/// A section of the pack's text.
///
/// Oracles: those of decoding; events are in the order in which they are looked up.
pub fn pack_text(input: &[u8], digest: &mut Digest) {
    // A pack lives as long as the program.
    let text: &'static str = String::from_utf8_lossy(input).into_owned().leak();
    let section = match pack::text::parse_section(text, "Class") {
        Ok(section) => section,
        Err(error) => return digest.add(error.to_string()),
    };
    oracle::monotone(section.layouts.iter().map(|layout| (layout.id, layout.version)));
    digest.add((section.layouts.len(), section.keywords.len(), section.tasks.len(), section.opcodes.len()));
    let schemas: Vec<&EventSchema> = section.layouts.iter().map(|layout| &*layout.schema).collect();
    try_all(&schemas, tail(input), digest);
}
