//! Reads back the events that schemas are made of.

use base::error::Result;
use base::guid::Guid;
use base::progress::{Progress, stop_if_cancelled};
use etl::event::view::Event;
use etl::event::{EventIdentity, FileContext, RawEvent};
use etl::input::{Input, InputId, Inputs};
use etl::layout::kernel;
use schema::budget::Budget;
use schema::event_info::{AddError, EventInfo, EventInfoSet, OPCODE_EVENT_INFO, OPCODE_MAP_INFO};
use schema::eventsource::{
    ChunkLocation, ChunkPayload, ChunkPayloads, Delivery, EventSourceManifests, Flaw, ManifestIssue,
};

use crate::survey::{FileKey, FileSurvey, Issue, IssueCode, Issues, Mark, Severity, read_back_parallel};

/// What all descriptions of a recording may take. Traces of whole machines need a tenth of it.
pub(super) const MAX_KEPT_BYTES: usize = 32 << 20;

/// Bytes of payloads that wait to be brought into the order of time.
pub(super) const WINDOW_BYTES: usize = 32 << 20;

/// The schemas that a recording carries.
#[derive(Debug, Default)]
pub struct TraceSchemas {
    /// Manifests that providers wrote.
    pub eventsource: EventSourceManifests,
    /// Descriptions that merging tools appended.
    pub event_info: Vec<EventInfo>,
    /// What is wrong with them, per file.
    pub issues: Vec<Issues>,
}

/// Reads every description of a recording, file by file. The chunks of a manifest come in the order of time, so that
/// payloads are brought into that order: a file's all together, or where they are more than 32 MiB, in windows of that
/// many in file order. `language` is that of messages, where a manifest has them in it.
///
/// # Errors
/// When a file cannot be read; of the kind `Interrupted` when the caller asked to stop.
pub fn descriptions(
    files: &[FileSurvey],
    inputs: &Inputs,
    language: Option<&str>,
    progress: &dyn Progress,
) -> Result<TraceSchemas> {
    let mut collector = Collector::new(files.len(), language);
    let payloads = ChunkPayloads::default();
    for (file, id) in files.iter().zip((0..).map(InputId)) {
        let read = |raw: &RawEvent<'_>| Description::of(raw, &file.rules().context, &payloads);
        collector.read(id.index(), file, &*inputs.get(id)?, progress, read)?;
    }
    Ok(collector.finish())
}

/// What is made of descriptions, one after the other.
struct Collector {
    budget: Budget,
    eventsource: EventSourceManifests,
    infos: EventInfoSet,
    issues: Vec<Issues>,
    /// Those that are not yet in the order of time, and the bytes of their payloads.
    window: Vec<(FileKey, Description)>,
    window_bytes: usize,
}

impl Collector {
    fn new(files: usize, language: Option<&str>) -> Collector {
        Collector {
            budget: Budget::new(MAX_KEPT_BYTES),
            eventsource: EventSourceManifests::new().in_language(language),
            infos: EventInfoSet::new(),
            issues: vec![Issues::default(); files],
            window: Vec::new(),
            window_bytes: 0,
        }
    }

    fn read(
        &mut self,
        input: usize,
        file: &FileSurvey,
        from: &dyn Input,
        progress: &dyn Progress,
        read: impl Fn(&RawEvent<'_>) -> Description + Sync,
    ) -> Result<()> {
        let described = file.marked.iter().filter(|marked| marked.mark == Mark::Schema);
        let keys: Vec<FileKey> = described.map(|marked| marked.at).collect();
        let mut outcome = Ok(());
        read_back_parallel(file, from, &keys, progress, read, |index, description| {
            self.window_bytes += description.content.len();
            self.window.push((keys[index], description));
            if self.window_bytes > WINDOW_BYTES && outcome.is_ok() {
                outcome = self.take_window(input, progress);
            }
        })?;
        outcome.and_then(|()| self.take_window(input, progress))
    }

    /// Takes what waits, in the order of time.
    fn take_window(&mut self, input: usize, progress: &dyn Progress) -> Result<()> {
        let mut window = std::mem::take(&mut self.window);
        self.window_bytes = 0;
        window.sort_by_key(|(key, _)| *key);
        for (key, description) in window {
            stop_if_cancelled(progress)?;
            self.add(input, key, &description);
        }
        Ok(())
    }

    fn add(&mut self, input: usize, key: FileKey, description: &Description) {
        let outcome = match &description.content {
            Content::EventInfo(payload) => self.infos.add_event_info(payload, &mut self.budget),
            Content::MapInfo(payload) => self.infos.add_map_info(payload, &mut self.budget),
            Content::Chunk(payload) => {
                let Description { provider, process_id, .. } = *description;
                let location = ChunkLocation { input, buffer: key.ordinal, ticks: key.ticks };
                self.eventsource.push(&Delivery { provider, process_id, location, payload }, &mut self.budget);
                self.report_manifests();
                Ok(())
            }
        };
        if let Err(error) = outcome {
            let code = if error == AddError::Limit { IssueCode::SchemaLimit } else { IssueCode::BadSchemaDescription };
            let message = format!("a schema description is not used: {error}");
            let issue = Issue::new(Severity::Warning, code, message);
            let located = Issue { buffer: Some(key.ordinal), ticks: Some(key.ticks), ..issue };
            self.issues[input].push(located);
        }
    }

    fn report_manifests(&mut self) {
        for found in self.eventsource.take_issues() {
            self.issues[found.location.input].push(issue(found));
        }
    }

    fn finish(mut self) -> TraceSchemas {
        self.eventsource.finish();
        self.report_manifests();
        TraceSchemas { eventsource: self.eventsource, event_info: self.infos.finish(), issues: self.issues }
    }
}

fn issue(found: ManifestIssue) -> Issue {
    let ManifestIssue { flaw, provider, location, fault } = found;
    let code = match flaw {
        Flaw::Bad => IssueCode::BadManifest,
        Flaw::Incomplete => IssueCode::IncompleteManifest,
        Flaw::Limit => IssueCode::SchemaLimit,
    };
    let message = format!("manifest that provider {provider} wrote into the trace: {fault}");
    let issue = Issue::new(Severity::Warning, code, message);
    Issue { buffer: Some(location.buffer), ticks: Some(location.ticks), ..issue }
}

/// An event that may carry a description.
struct Description {
    provider: Guid,
    process_id: u32,
    content: Content,
}

/// The payload of such an event, by what it describes.
enum Content {
    EventInfo(Vec<u8>),
    MapInfo(Vec<u8>),
    Chunk(ChunkPayload),
}

impl Description {
    fn of(raw: &RawEvent<'_>, context: &FileContext, payloads: &ChunkPayloads) -> Description {
        let (event, identity) = (Event::of(raw, context), EventIdentity::of(raw, context));
        let provider = identity.provider;
        let content = match identity.opcode {
            OPCODE_EVENT_INFO if provider == kernel::EVENT_METADATA_CLASS => Content::EventInfo(event.payload.to_vec()),
            OPCODE_MAP_INFO if provider == kernel::EVENT_METADATA_CLASS => Content::MapInfo(event.payload.to_vec()),
            _ => Content::Chunk(payloads.share(provider, event.payload)),
        };
        Description { provider, process_id: event.process_id.unwrap_or(0), content }
    }
}

impl Content {
    /// The bytes of the payload, whether or not others share them: where a window ends depends on the trace alone.
    fn len(&self) -> usize {
        match self {
            Content::EventInfo(payload) | Content::MapInfo(payload) => payload.len(),
            Content::Chunk(payload) => payload.bytes.len(),
        }
    }
}
