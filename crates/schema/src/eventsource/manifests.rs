//! All manifests that the providers of a trace wrote into it.

use std::collections::HashMap;
use std::sync::Arc;

use base::guid::Guid;

use super::chunks::{Assembly, Chunk, ChunkLocation, Delivery, MAX_MANIFEST_BYTES, Pending, Step, Writer};
use super::payloads::ChunkPayload;
use crate::budget::Budget;
use crate::manifest::{Manifest, ProviderSchemas};
use crate::model::SchemaError;

/// The id of the events that carry chunks.
pub const EVENT_ID: u16 = 0xfffe;

/// How many bytes of text of finished manifests are read per trace, and how many texts.
const MAX_TEXT_BYTES: usize = 32 << 20;
const MAX_TEXTS: usize = 16_384;
/// How many different manifests of one provider are kept.
const MAX_VARIANTS: usize = 64;
/// What it costs to remember which process wrote a manifest.
const PROCESS_BYTES: usize = 128;

/// What became of a chunk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChunkResult {
    /// The payload is no chunk of a manifest.
    NoChunk,
    /// The chunk is kept, or was not needed.
    Accepted,
    /// It completed a manifest.
    Completed,
}

/// What kind of thing is wrong with a manifest in the trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flaw {
    /// It cannot be read, or a part of it is not used.
    Bad,
    /// Chunks of it are missing.
    Incomplete,
    /// There is no room for it.
    Limit,
}

/// What is wrong with a manifest in the trace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ManifestIssue {
    /// The kind.
    pub flaw: Flaw,
    /// The provider that wrote it.
    pub provider: Guid,
    /// Where the chunk that completed it stands, or its first one.
    pub location: ChunkLocation,
    /// What was expected and what was found.
    pub fault: SchemaError,
}

/// How a provider's own manifest stands in the trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing<'a> {
    /// It wrote none.
    Absent,
    /// It is there.
    Known,
    /// It cannot be used.
    Unusable(&'a SchemaError),
}

/// A provider, and a hash of what makes the text.
type TextKey = (Guid, [u8; 32]);

/// All manifests that the providers of a trace wrote into it.
///
/// Chunks are offered in time order; the outcome depends on that order alone.
#[derive(Clone, Debug, Default)]
pub struct EventSourceManifests {
    assembly: Assembly,
    text_bytes: usize,
    /// What became of each text, by provider and hash: nothing where it is not used.
    read: HashMap<TextKey, Option<Arc<ProviderSchemas>>>,
    /// Which text chunks make, by provider and the hash of their numbers: those that are sent again are not even joined.
    joined: HashMap<TextKey, TextKey>,
    by_process: HashMap<(Guid, u32), Vec<Arc<ProviderSchemas>>>,
    by_provider: HashMap<Guid, Vec<Arc<ProviderSchemas>>>,
    /// The first fault of each provider.
    faults: HashMap<Guid, SchemaError>,
    issues: Vec<ManifestIssue>,
    /// The language of messages, where a manifest has them in it.
    language: Option<String>,
}

impl EventSourceManifests {
    /// An empty collection.
    pub fn new() -> Self {
        EventSourceManifests::default()
    }

    /// The same with messages in a language (`de-DE`), where a manifest has them in it.
    #[must_use]
    pub fn in_language(self, language: Option<&str>) -> Self {
        EventSourceManifests { language: language.map(str::to_owned), ..self }
    }

    /// Takes the payload of an event that may carry a chunk. What is kept of the manifest that it completes is taken
    /// from the budget.
    pub fn push(&mut self, delivery: &Delivery<'_>, budget: &mut Budget) -> ChunkResult {
        let Some(chunk) = Chunk::parse(delivery.payload) else { return ChunkResult::NoChunk };
        let writer = (delivery.provider, delivery.process_id, chunk.version);
        let step = self.assembly.add(writer, &chunk, delivery.location);
        for (writer, pending) in self.assembly.take_given_up() {
            self.report_incomplete(writer, &pending);
        }
        match step {
            Step::Kept => ChunkResult::Accepted,
            Step::TooLong => {
                let message = format!("expected a manifest of at most {MAX_MANIFEST_BYTES} bytes, found more");
                self.report(Flaw::Limit, delivery, message);
                ChunkResult::Accepted
            }
            Step::Completed(chunks) => {
                self.complete(delivery, &chunks, budget);
                ChunkResult::Completed
            }
        }
    }

    fn complete(&mut self, delivery: &Delivery<'_>, chunks: &[ChunkPayload], budget: &mut Budget) {
        let Some(schemas) = self.find_or_read(delivery, chunks, budget) else { return };
        let by_process = self.by_process.entry((delivery.provider, delivery.process_id)).or_default();
        let is_known = by_process.iter().any(|known| Arc::ptr_eq(known, &schemas));
        // Without room for it, the manifest is still found by its provider.
        if !is_known && by_process.len() < MAX_VARIANTS && budget.take(PROCESS_BYTES) {
            by_process.push(schemas);
        }
    }

    fn find_or_read(
        &mut self,
        delivery: &Delivery<'_>,
        chunks: &[ChunkPayload],
        budget: &mut Budget,
    ) -> Option<Arc<ProviderSchemas>> {
        let numbers = chunks.iter().fold(blake3::Hasher::new(), |mut numbers, chunk| {
            numbers.update(&chunk.number.to_le_bytes());
            numbers
        });
        let by_chunks = (delivery.provider, *numbers.finalize().as_bytes());
        if let Some(known) = self.joined.get(&by_chunks).and_then(|text| self.read.get(text)) {
            return known.clone();
        }
        let text = chunks.iter().map(ChunkPayload::text).collect::<Vec<_>>().concat();
        let by_text = (delivery.provider, *blake3::hash(&text).as_bytes());
        if self.joined.len() < MAX_TEXTS {
            self.joined.insert(by_chunks, by_text);
        }
        match self.read.get(&by_text) {
            Some(known) => known.clone(),
            None => self.read(delivery, by_text, &text, budget),
        }
    }

    /// Reads a text for the first time.
    fn read(
        &mut self,
        delivery: &Delivery<'_>,
        key: TextKey,
        text: &[u8],
        budget: &mut Budget,
    ) -> Option<Arc<ProviderSchemas>> {
        if self.text_bytes + text.len() > MAX_TEXT_BYTES || self.read.len() >= MAX_TEXTS {
            let message = format!(
                "expected at most {MAX_TEXTS} manifests of together {MAX_TEXT_BYTES} bytes in a recording, found more"
            );
            self.report(Flaw::Limit, delivery, message);
            return None;
        }
        self.text_bytes += text.len();
        let schemas = self.parse(delivery, text, budget);
        self.read.insert(key, schemas.clone());
        schemas
    }

    fn parse(&mut self, delivery: &Delivery<'_>, text: &[u8], budget: &mut Budget) -> Option<Arc<ProviderSchemas>> {
        let mut left = budget.clone();
        if left.is_spent() {
            self.report(Flaw::Limit, delivery, NO_ROOM);
            return None;
        }
        let manifest = match Manifest::parse_within(text, self.language.as_deref(), &mut left) {
            Ok(_) if left.is_spent() => {
                self.report(Flaw::Limit, delivery, NO_ROOM);
                return None;
            }
            Ok(manifest) => manifest,
            Err(fault) => {
                self.report_fault(Flaw::Bad, delivery.provider, delivery.location, fault);
                return None;
            }
        };
        let schemas = self.own(delivery, manifest)?;
        let variants = self.by_provider.entry(delivery.provider).or_default();
        if let Some(known) = variants.iter().find(|known| ***known == schemas) {
            return Some(Arc::clone(known));
        }
        if variants.len() >= MAX_VARIANTS {
            self.report(
                Flaw::Limit,
                delivery,
                format!("expected at most {MAX_VARIANTS} different manifests, found more"),
            );
            return None;
        }
        let schemas = Arc::new(schemas);
        variants.push(Arc::clone(&schemas));
        *budget = left;
        Some(schemas)
    }

    /// The manifest's part for the provider that wrote it, under the identity that its events bear.
    fn own(&mut self, delivery: &Delivery<'_>, manifest: Manifest) -> Option<ProviderSchemas> {
        let guid = delivery.provider;
        for fault in manifest.rejected {
            self.report_fault(Flaw::Bad, guid, delivery.location, fault);
        }
        let mut providers = manifest.providers;
        let index = providers.iter().position(|provider| provider.guid == guid).unwrap_or(0);
        let schemas = (index < providers.len()).then(|| providers.swap_remove(index))?;
        if schemas.guid != guid {
            self.report(
                Flaw::Bad,
                delivery,
                format!("expected a manifest of provider {guid}, found one of {}", schemas.guid),
            );
        }
        Some(ProviderSchemas { guid, ..schemas })
    }

    fn report(&mut self, flaw: Flaw, delivery: &Delivery<'_>, message: impl Into<String>) {
        let fault = SchemaError { location: "whole text".to_owned(), message: message.into() };
        self.report_fault(flaw, delivery.provider, delivery.location, fault);
    }

    fn report_incomplete(&mut self, (provider, process_id, _): Writer, pending: &Pending) {
        let message = format!(
            "expected {} chunks from process {process_id}, found {}; the first that is missing is number {}",
            pending.total,
            pending.chunks.len(),
            pending.missing()
        );
        let fault = SchemaError { location: "whole text".to_owned(), message };
        self.report_fault(Flaw::Incomplete, provider, pending.location, fault);
    }

    fn report_fault(&mut self, flaw: Flaw, provider: Guid, location: ChunkLocation, fault: SchemaError) {
        self.faults.entry(provider).or_insert_with(|| fault.clone());
        self.issues.push(ManifestIssue { flaw, provider, location, fault });
    }

    /// Says that no chunk follows: what began and never became complete, nor did another of the same writer, is an
    /// issue.
    pub fn finish(&mut self) {
        for (writer, pending) in self.assembly.take_incomplete() {
            if !self.by_process.contains_key(&(writer.0, writer.1)) {
                self.report_incomplete(writer, &pending);
            }
        }
    }

    /// What was found to be wrong since this was last asked.
    pub fn take_issues(&mut self) -> Vec<ManifestIssue> {
        std::mem::take(&mut self.issues)
    }

    /// How a provider's own manifest stands.
    pub fn standing(&self, provider: &Guid) -> Standing<'_> {
        match self.faults.get(provider) {
            _ if self.by_provider.get(provider).is_some_and(|manifests| !manifests.is_empty()) => Standing::Known,
            Some(fault) => Standing::Unusable(fault),
            None => Standing::Absent,
        }
    }

    /// All manifests that are used, in no particular order.
    pub fn all(&self) -> impl Iterator<Item = &Arc<ProviderSchemas>> {
        self.by_provider.values().flatten()
    }

    /// The manifests to try for an event, best first: those that its process wrote, then the provider's others, each
    /// in the order in which they were completed.
    pub fn candidates(&self, provider: Guid, process_id: u32) -> impl Iterator<Item = &Arc<ProviderSchemas>> {
        let own = self.by_process.get(&(provider, process_id)).map_or(&[][..], Vec::as_slice);
        let all = self.by_provider.get(&provider).map_or(&[][..], Vec::as_slice);
        own.iter().chain(all.iter().filter(|schemas| !own.iter().any(|known| Arc::ptr_eq(known, schemas))))
    }
}

/// Why a description is left out for which there is no room.
const NO_ROOM: &str = "expected descriptions of payloads that need less memory: this one is left out";

#[cfg(test)]
mod tests;
