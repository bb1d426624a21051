//! Reads back the events that schemas are made of, and those that candidates are held against.

use crate::error::Result;
use crate::event::items::Items;
use crate::event::view::Event;
use crate::event::{FileContext, Identity, RawEvent};
use crate::guid::Guid;
use crate::layout::extended::item_type;
use crate::layout::hook;
use crate::schema::event_info::{EventInfo, EventInfoSet, OPCODE_EVENT_INFO, OPCODE_MAP_INFO};
use crate::schema::eventsource::EventSourceManifests;
use crate::schema::tracelogging::{self, ProviderTraits};
use crate::survey::{FileSurvey, Finding, Interest, OrderKey, Progress, Severity, recall_all};

/// An event of a shape, kept to hold candidates against.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sample {
    /// The payload.
    pub payload: Vec<u8>,
    /// The writing process.
    pub process_id: Option<u32>,
    /// Whether the event says that its payload is one string.
    pub string_only: bool,
    /// The provider's traits.
    pub traits: Option<ProviderTraits>,
}

impl Sample {
    fn of(event: &Event<'_>) -> Sample {
        Sample {
            payload: event.payload.to_vec(),
            process_id: event.process_id,
            string_only: event.string_only,
            traits: traits(&event.items),
        }
    }
}

/// Bytes of samples that are kept; beyond that, shapes get fewer.
const MAX_SAMPLE_BYTES: usize = 64 << 20;

/// The schemas that a recording carries.
#[derive(Debug, Default)]
pub struct Descriptions {
    /// Manifests that providers wrote.
    pub eventsource: EventSourceManifests,
    /// Descriptions that merging tools appended.
    pub event_info: Vec<EventInfo>,
    /// What is wrong with them, per file.
    pub findings: Vec<Vec<Finding>>,
}

/// Reads every description of a recording, file by file in the order of time, because the chunks of a manifest come
/// in that order.
///
/// # Errors
/// When a file cannot be read.
pub fn descriptions(files: &[FileSurvey], progress: &dyn Progress) -> Result<Descriptions> {
    let mut found = Descriptions::default();
    let mut infos = EventInfoSet::new();
    for file in files {
        let mut keys: Vec<OrderKey> =
            file.memorable.iter().filter(|m| m.interest == Interest::Schema).map(|m| m.at).collect();
        keys.sort_unstable();
        let mut events: Vec<Option<Description>> = keys.iter().map(|_| None).collect();
        let context = file.ground().context;
        let read = |raw: &RawEvent<'_>| Description::of(raw, &context);
        recall_all(file, &keys, progress, read, |index, description| events[index] = Some(description))?;
        let mut findings = Vec::new();
        for (description, key) in events.into_iter().zip(&keys) {
            let outcome = description.map_or(Ok(()), |description| description.add(&mut found.eventsource, &mut infos));
            if let Err(message) = outcome {
                let finding = Finding::new(Severity::Warning, "bad_schema_description", message);
                findings.push(Finding { buffer: Some(key.ordinal), ticks: Some(key.ticks), ..finding });
            }
        }
        found.findings.push(findings);
    }
    found.event_info = infos.finish();
    Ok(found)
}

struct Description {
    provider: Guid,
    opcode: u8,
    process_id: u32,
    payload: Vec<u8>,
}

impl Description {
    fn of(raw: &RawEvent<'_>, context: &FileContext) -> Description {
        let (event, identity) = (Event::of(raw, context), Identity::of(raw, context));
        Description {
            provider: identity.provider,
            opcode: identity.opcode,
            process_id: event.process_id.unwrap_or(0),
            payload: event.payload.to_vec(),
        }
    }

    fn add(self, eventsource: &mut EventSourceManifests, infos: &mut EventInfoSet) -> Result<(), String> {
        match self.opcode {
            OPCODE_EVENT_INFO if self.provider == hook::EVENT_METADATA_CLASS => infos.add_event_info(&self.payload),
            OPCODE_MAP_INFO if self.provider == hook::EVENT_METADATA_CLASS => infos.add_map_info(&self.payload),
            _ => {
                eventsource.offer(self.provider, self.process_id, &self.payload);
                Ok(())
            }
        }
        .map_err(|error| format!("a schema description is not used: {error}"))
    }
}

/// Reads sample events of every shape of a file, in file order; the index is that of [`FileSurvey::shapes`].
///
/// # Errors
/// When the file cannot be read.
pub fn samples(file: &FileSurvey, progress: &dyn Progress) -> Result<Vec<Vec<Sample>>> {
    let wanted = file.shapes.iter().enumerate();
    let wanted = wanted.flat_map(|(shape, (_, tally))| tally.samples.iter().map(move |&at| (shape, at)));
    let (shapes, keys): (Vec<usize>, Vec<OrderKey>) = wanted.unzip();
    let mut samples: Vec<Vec<Sample>> =
        file.shapes.iter().map(|(_, tally)| Vec::with_capacity(tally.samples.len())).collect();
    let context = file.ground().context;
    let mut bytes = 0;
    let read = |raw: &RawEvent<'_>| Sample::of(&Event::of(raw, &context));
    recall_all(file, &keys, progress, read, |index, sample| {
        let kept = &mut samples[shapes[index]];
        // Every shape keeps one.
        if bytes < MAX_SAMPLE_BYTES || kept.is_empty() {
            bytes += sample.payload.len();
            kept.push(sample);
        }
    })?;
    Ok(samples)
}

fn traits(items: &Items<'_>) -> Option<ProviderTraits> {
    let item = items.clone().find(|item| item.kind == item_type::PROVIDER_TRAITS)?;
    tracelogging::parse_traits(item.data).ok()
}
