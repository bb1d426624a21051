//! Manifests that .NET `EventSource` providers write into the trace, in chunks.
//!
//! Each provider repeats its manifest when it is enabled and when the session ends, and several processes (or two
//! copies of a library in one) write at the same time. A chunk is the payload of an event of id [`EVENT_ID`]: an
//! eight-byte envelope (`ManifestEnvelope` of the .NET runtime) and a fragment of UTF-8 text.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::sync::Arc;

use super::manifest::{Manifest, ProviderSchemas};
use super::model::SchemaError;
use crate::guid::Guid;

/// The id of the events that carry chunks.
pub const EVENT_ID: u16 = 0xfffe;

const ENVELOPE_BYTES: usize = 8;
const FORMAT_PLAIN_XML: u8 = 1;
const MAGIC: u8 = 0x5b;

/// The longest manifest that is put together, in bytes; the longest known ones have about one million.
const MAX_MANIFEST_BYTES: usize = 4 << 20;
/// How many bytes of unfinished manifests are kept, and of how many writers.
const MAX_PENDING_BYTES: usize = 32 << 20;
const MAX_WRITERS: usize = 4096;
/// What keeping a chunk costs besides its text.
const CHUNK_OVERHEAD: usize = 64;
/// How many bytes of text of finished manifests are read per trace.
const MAX_TOTAL_BYTES: usize = 64 << 20;

/// What became of a chunk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Offered {
    /// The payload is no chunk of a manifest.
    NoChunk,
    /// The chunk is kept, or was not needed.
    Accepted,
    /// It completed a manifest.
    Completed,
}

/// A chunk as it lies in a payload.
struct Chunk<'a> {
    version: (u8, u8),
    total: u16,
    number: u16,
    text: &'a [u8],
}

impl<'a> Chunk<'a> {
    fn parse(payload: &'a [u8]) -> Option<Chunk<'a>> {
        let (envelope, text) = payload.split_first_chunk::<ENVELOPE_BYTES>()?;
        let [format, major, minor, magic, total @ .., number_low, number_high] = *envelope;
        let (total, number) = (u16::from_le_bytes(total), u16::from_le_bytes([number_low, number_high]));
        let valid = format == FORMAT_PLAIN_XML && magic == MAGIC && number < total && !text.is_empty();
        valid.then_some(Chunk { version: (major, minor), total, number, text })
    }
}

/// One writer's manifest, as far as it has come.
#[derive(Clone, Debug)]
struct Pending {
    total: u16,
    chunks: BTreeMap<u16, Vec<u8>>,
    bytes: usize,
}

/// Who writes: provider, process, version of the envelope.
type Writer = (Guid, u32, (u8, u8));

/// All manifests that the providers of a trace wrote into it.
///
/// Chunks are offered in time order; the outcome depends on that order alone.
#[derive(Clone, Debug, Default)]
pub struct EventSourceManifests {
    pending: HashMap<Writer, Pending>,
    /// The writers of `pending`, the one that began first in front.
    begun: VecDeque<Writer>,
    pending_bytes: usize,
    total_bytes: usize,
    /// What became of each text, by provider and hash: nothing where it is no manifest.
    read: HashMap<(Guid, [u8; 32]), Option<Arc<ProviderSchemas>>>,
    by_process: HashMap<(Guid, u32), Vec<Arc<ProviderSchemas>>>,
    by_provider: HashMap<Guid, Vec<Arc<ProviderSchemas>>>,
    findings: Vec<(Guid, SchemaError)>,
}

impl EventSourceManifests {
    /// An empty collection.
    pub fn new() -> Self {
        EventSourceManifests::default()
    }

    /// Takes the payload of an event of id [`EVENT_ID`].
    pub fn offer(&mut self, provider: Guid, process_id: u32, payload: &[u8]) -> Offered {
        let Some(chunk) = Chunk::parse(payload) else { return Offered::NoChunk };
        let writer = (provider, process_id, chunk.version);
        let known = self.pending.get(&writer);
        let restarts = known
            .is_none_or(|known| known.total != chunk.total || (chunk.number == 0 && known.chunks.contains_key(&0)));
        if restarts {
            self.begin(writer, chunk.total);
        }
        self.add(&writer, &chunk);
        self.complete(writer)
    }

    fn begin(&mut self, writer: Writer, total: u16) {
        self.discard(writer);
        self.begun.push_back(writer);
        self.pending.insert(writer, Pending { total, chunks: BTreeMap::new(), bytes: 0 });
        self.discard_oldest();
    }

    fn add(&mut self, writer: &Writer, chunk: &Chunk<'_>) {
        let Some(pending) = self.pending.get_mut(writer) else { return };
        if pending.chunks.contains_key(&chunk.number) {
            return;
        }
        let bytes = chunk.text.len() + CHUNK_OVERHEAD;
        if pending.bytes + bytes > MAX_MANIFEST_BYTES {
            let message = format!("expected a manifest of at most {MAX_MANIFEST_BYTES} bytes, found more");
            let finding = (writer.0, SchemaError { place: "manifest in the trace".to_owned(), message });
            if !self.findings.contains(&finding) {
                self.findings.push(finding);
            }
            self.discard(*writer);
            return;
        }
        pending.bytes += bytes;
        pending.chunks.insert(chunk.number, chunk.text.to_vec());
        self.pending_bytes += bytes;
        self.discard_oldest();
    }

    fn discard_oldest(&mut self) {
        while self.pending_bytes > MAX_PENDING_BYTES || self.pending.len() > MAX_WRITERS {
            let Some(&oldest) = self.begun.front() else { return };
            self.discard(oldest);
        }
    }

    fn discard(&mut self, writer: Writer) -> Option<Pending> {
        let pending = self.pending.remove(&writer)?;
        self.pending_bytes -= pending.bytes;
        self.begun.retain(|begun| *begun != writer);
        Some(pending)
    }

    fn complete(&mut self, writer: Writer) -> Offered {
        let whole = self.pending.get(&writer).is_some_and(|p| p.chunks.len() == usize::from(p.total));
        if !whole {
            return Offered::Accepted;
        }
        let Some(pending) = self.discard(writer) else { return Offered::Accepted };
        let text: Vec<u8> = pending.chunks.into_values().flatten().collect();
        let (provider, process_id, _) = writer;
        if let Some(schemas) = self.read(provider, &text) {
            remember(self.by_process.entry((provider, process_id)).or_default(), &schemas);
            remember(self.by_provider.entry(provider).or_default(), &schemas);
        }
        Offered::Completed
    }

    /// Reads each distinct text once.
    fn read(&mut self, provider: Guid, text: &[u8]) -> Option<Arc<ProviderSchemas>> {
        let key = (provider, *blake3::hash(text).as_bytes());
        if let Some(known) = self.read.get(&key) {
            return known.clone();
        }
        self.total_bytes = self.total_bytes.saturating_add(text.len());
        let outcome = if self.total_bytes > MAX_TOTAL_BYTES {
            let message = format!("expected at most {MAX_TOTAL_BYTES} bytes of manifests in a trace, found more");
            Err(SchemaError { place: "manifest in the trace".to_owned(), message })
        } else {
            Manifest::parse(text, None)
        };
        let schemas = match outcome {
            Ok(manifest) => self.own(provider, manifest),
            Err(fault) => {
                self.findings.push((provider, fault));
                None
            }
        };
        self.read.insert(key, schemas.clone());
        schemas
    }

    /// The manifest's part for the provider that wrote it, under the identity that its events bear.
    fn own(&mut self, guid: Guid, manifest: Manifest) -> Option<Arc<ProviderSchemas>> {
        self.findings.extend(manifest.findings.into_iter().map(|finding| (guid, finding)));
        let mut providers = manifest.providers;
        let index = providers.iter().position(|provider| provider.guid == guid).unwrap_or(0);
        let schemas = (index < providers.len()).then(|| providers.swap_remove(index))?;
        if schemas.guid != guid {
            let message = format!("expected a manifest of provider {guid}, found one of {}", schemas.guid);
            self.findings.push((guid, SchemaError { place: "manifest in the trace".to_owned(), message }));
        }
        Some(Arc::new(ProviderSchemas { guid, ..schemas }))
    }

    /// The manifests to try for an event, best first: those that its process wrote, then the provider's others, each
    /// in the order in which they were completed.
    pub fn candidates(&self, provider: Guid, process_id: u32) -> impl Iterator<Item = &Arc<ProviderSchemas>> {
        let own = self.by_process.get(&(provider, process_id)).map_or(&[][..], Vec::as_slice);
        let all = self.by_provider.get(&provider).map_or(&[][..], Vec::as_slice);
        own.iter().chain(all.iter().filter(|schemas| !own.iter().any(|known| Arc::ptr_eq(known, schemas))))
    }

    /// All manifests, by provider and then in the order in which they were completed.
    pub fn manifests(&self) -> Vec<&Arc<ProviderSchemas>> {
        let mut providers: Vec<_> = self.by_provider.iter().collect();
        providers.sort_by_key(|(provider, _)| **provider);
        providers.into_iter().flat_map(|(_, manifests)| manifests).collect()
    }

    /// What was wrong in the manifests, with the provider that wrote them.
    pub fn findings(&self) -> &[(Guid, SchemaError)] {
        &self.findings
    }

    /// The providers and processes whose manifest began but never became complete, nor did another of theirs.
    pub fn incomplete(&self) -> Vec<(Guid, u32)> {
        let open = self.pending.keys().map(|&(provider, process_id, _)| (provider, process_id));
        let mut open: Vec<_> = open.filter(|writer| !self.by_process.contains_key(writer)).collect();
        open.sort_unstable();
        open.dedup();
        open
    }
}

fn remember(list: &mut Vec<Arc<ProviderSchemas>>, schemas: &Arc<ProviderSchemas>) {
    if !list.iter().any(|known| Arc::ptr_eq(known, schemas)) {
        list.push(Arc::clone(schemas));
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const A: Guid = Guid::from_parts(0xa1ed_8a83, 0xd5e4, 0x5d15, 0x84b5_d50d_7b6d_5cb5);
    const B: Guid = Guid::from_parts(0xb1ed_8a83, 0xd5e4, 0x5d15, 0x84b5_d50d_7b6d_5cb5);

    fn xml(provider: Guid, event: &str) -> Vec<u8> {
        format!("<m><provider name='Ä' guid='{{{provider}}}'><events><event value='7' symbol='{event}'/></events></provider></m>")
            .into_bytes()
    }

    fn chunk(total: u16, number: u16, text: &[u8]) -> Vec<u8> {
        let [t0, t1] = total.to_le_bytes();
        let [n0, n1] = number.to_le_bytes();
        [&[1, 1, 0, 0x5b, t0, t1, n0, n1], text].concat()
    }

    /// Cuts a text into chunks of `size` bytes.
    fn chunks(text: &[u8], size: usize) -> Vec<Vec<u8>> {
        let parts: Vec<&[u8]> = text.chunks(size).collect();
        let total = u16::try_from(parts.len()).unwrap();
        parts.iter().zip(0..).map(|(part, number)| chunk(total, number, part)).collect()
    }

    fn symbols(set: &EventSourceManifests, provider: Guid, process_id: u32) -> Vec<&str> {
        set.candidates(provider, process_id).map(|schemas| schemas.events[0].symbol.as_deref().unwrap()).collect()
    }

    #[test]
    fn interleaved_writers_do_not_mix() {
        let mut set = EventSourceManifests::new();
        // Chunks of 19 bytes cut the two bytes of the provider's name apart.
        let streams = [
            (A, 1, chunks(&xml(A, "One"), 19)),
            (A, 2, chunks(&xml(A, "Two"), 19)),
            (B, 1, chunks(&xml(B, "Three"), 19)),
        ];
        let length = streams[0].2.len();
        for number in 0..=length {
            for (provider, process_id, stream) in &streams {
                if let Some(payload) = stream.get(number) {
                    set.offer(*provider, *process_id, payload);
                }
            }
        }
        assert_eq!(symbols(&set, A, 1), ["One", "Two"]);
        assert_eq!(symbols(&set, A, 2), ["Two", "One"]);
        assert_eq!(symbols(&set, A, 3), ["One", "Two"]);
        assert_eq!(symbols(&set, B, 9), ["Three"]);
        assert_eq!((set.findings(), set.incomplete()), (&[][..], vec![]));
        assert_eq!(set.manifests().len(), 3);
        assert_eq!(set.manifests()[0].name, "Ä");
        assert_eq!(set.pending_bytes, 0);
    }

    #[test]
    fn a_repeated_first_chunk_starts_over() {
        let (old, new) = (chunks(&xml(A, "Old"), 40), chunks(&xml(A, "New"), 40));
        let mut set = EventSourceManifests::new();
        assert_eq!(set.offer(A, 1, &old[0]), Offered::Accepted);
        for payload in &new[..new.len() - 1] {
            assert_eq!(set.offer(A, 1, payload), Offered::Accepted);
        }
        assert_eq!(set.offer(A, 1, new.last().unwrap()), Offered::Completed);
        assert_eq!(symbols(&set, A, 1), ["New"]);
    }

    #[test]
    fn a_repeated_manifest_is_read_once() {
        let mut set = EventSourceManifests::new();
        for process_id in [1, 2, 1] {
            assert_eq!(set.offer(A, process_id, &chunk(1, 0, &xml(A, "One"))), Offered::Completed);
        }
        assert_eq!(set.manifests().len(), 1);
        assert_eq!(symbols(&set, A, 2), ["One"]);
    }

    #[test]
    fn what_is_no_chunk_is_told() {
        let mut set = EventSourceManifests::new();
        let good = chunk(2, 1, b"<");
        for (at, byte) in [(0, 2), (3, 0x5a), (4, 1), (4, 0)] {
            let mut payload = good.clone();
            payload[at] = byte;
            assert_eq!(set.offer(A, 1, &payload), Offered::NoChunk, "byte {at} = {byte}");
        }
        assert_eq!(set.offer(A, 1, &good[..8]), Offered::NoChunk);
        assert_eq!(set.offer(A, 1, &good), Offered::Accepted);
        assert_eq!(set.incomplete(), [(A, 1)]);
    }

    #[test]
    fn faults_name_the_provider() {
        let mut set = EventSourceManifests::new();
        set.offer(A, 1, &chunk(1, 0, b"<m>\n<x></m>"));
        set.offer(A, 1, &chunk(1, 0, &xml(B, "Other")));
        let [(first, not_xml), (second, other)] = set.findings() else { panic!("two findings: {:?}", set.findings()) };
        assert_eq!((*first, *second), (A, A));
        assert!(not_xml.to_string().starts_with("line 2: not XML: "), "{not_xml}");
        assert_eq!(other.message, format!("expected a manifest of provider {A}, found one of {B}"));
        assert_eq!(symbols(&set, A, 1), ["Other"]);
    }

    #[test]
    fn endless_manifests_are_given_up() {
        let mut set = EventSourceManifests::new();
        let text = vec![b' '; 0xff00];
        for number in 0..400 {
            set.offer(A, 1, &chunk(u16::MAX, number, &text));
        }
        assert_eq!(set.findings().len(), 1);
        for process_id in 0..200 {
            for number in 0..10 {
                set.offer(B, process_id, &chunk(u16::MAX, number, &text));
            }
        }
        assert!(set.pending_bytes <= MAX_PENDING_BYTES, "{}", set.pending_bytes);
        for process_id in 0..5000 {
            set.offer(A, process_id, &chunk(2, 0, b"<"));
        }
        assert_eq!(set.pending.len(), MAX_WRITERS);
        let kept: usize = set.pending.values().map(|pending| pending.bytes).sum();
        assert_eq!((kept, set.begun.len()), (set.pending_bytes, set.pending.len()));
    }

    proptest! {
        #[test]
        fn any_payload_is_taken_or_refused(payloads in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..40), 0..20)) {
            let mut set = EventSourceManifests::new();
            for payload in payloads {
                set.offer(A, 1, &payload);
                set.offer(A, 1, &chunk(3, u16::from(payload.first().copied().unwrap_or(0)), &payload));
            }
            let kept: usize = set.pending.values().map(|pending| pending.bytes).sum();
            prop_assert_eq!(kept, set.pending_bytes);
        }
    }
}
