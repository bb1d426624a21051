//! Manifests put together from their chunks, writer by writer.

use std::collections::{BTreeMap, HashMap};

use base::guid::Guid;

use super::payloads::{ChunkPayload, ENVELOPE_BYTES};

const FORMAT_PLAIN_XML: u8 = 1;
const MAGIC: u8 = 0x5b;

/// The longest manifest that is put together, in bytes; the longest known ones have about one million.
pub(super) const MAX_MANIFEST_BYTES: usize = 4 << 20;
/// How many bytes of unfinished manifests are kept, and of how many writers.
pub(super) const MAX_PENDING_BYTES: usize = 32 << 20;
pub(super) const MAX_WRITERS: usize = 4096;
/// What keeping a chunk costs besides its text.
const CHUNK_OVERHEAD: usize = 64;

/// Where a chunk stands in a recording.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ChunkLocation {
    /// Number of the input file.
    pub input: usize,
    /// Number of the buffer in its file.
    pub buffer: u64,
    /// Time in ticks of the session's clock.
    pub ticks: i64,
}

/// A chunk as it is offered: who wrote it, and where it stands.
#[derive(Clone, Copy, Debug)]
pub struct Delivery<'a> {
    /// The provider.
    pub provider: Guid,
    /// The process.
    pub process_id: u32,
    /// The place.
    pub location: ChunkLocation,
    /// The payload of the event.
    pub payload: &'a ChunkPayload,
}

/// A chunk as it lies in a payload.
pub(super) struct Chunk<'a> {
    pub version: (u8, u8),
    pub total: u16,
    pub number: u16,
    pub payload: &'a ChunkPayload,
}

impl<'a> Chunk<'a> {
    pub(super) fn parse(payload: &'a ChunkPayload) -> Option<Chunk<'a>> {
        let (envelope, text) = payload.bytes.split_first_chunk::<ENVELOPE_BYTES>()?;
        let [format, major, minor, magic, total @ .., number_low, number_high] = *envelope;
        let (total, number) = (u16::from_le_bytes(total), u16::from_le_bytes([number_low, number_high]));
        let valid = format == FORMAT_PLAIN_XML && magic == MAGIC && number < total && !text.is_empty();
        valid.then_some(Chunk { version: (major, minor), total, number, payload })
    }
}

/// Who writes: provider, process, version of the envelope.
pub(super) type Writer = (Guid, u32, (u8, u8));

/// One writer's manifest, as far as it has come.
#[derive(Clone, Debug)]
pub(super) struct Pending {
    /// Where its first chunk stands.
    pub location: ChunkLocation,
    pub total: u16,
    pub chunks: BTreeMap<u16, ChunkPayload>,
    bytes: usize,
    /// Its key among those that began.
    since: u64,
}

impl Pending {
    /// The first chunk that is missing.
    pub(super) fn missing(&self) -> u16 {
        let found = self.chunks.keys().zip(0..).find(|(number, expected)| *number != expected);
        let behind = u16::try_from(self.chunks.len()).unwrap_or(u16::MAX);
        found.map_or(behind, |(_, expected)| expected)
    }
}

/// What became of a chunk.
pub(super) enum Step {
    /// It is kept, or was there already.
    Kept,
    /// It completed a manifest, which has these chunks.
    Completed(Vec<ChunkPayload>),
    /// With it the manifest became too long, and was given up.
    TooLong,
}

/// The manifests that are not complete.
#[derive(Clone, Debug, Default)]
pub(super) struct Assembly {
    pending: HashMap<Writer, Pending>,
    /// The writers in the order in which they began.
    begun: BTreeMap<u64, Writer>,
    began: u64,
    bytes: usize,
    /// Those given up for others.
    given_up: Vec<(Writer, Pending)>,
}

impl Assembly {
    pub(super) fn add(&mut self, writer: Writer, chunk: &Chunk<'_>, location: ChunkLocation) -> Step {
        let known = self.pending.get(&writer);
        let restarts = known
            .is_none_or(|known| known.total != chunk.total || (chunk.number == 0 && known.chunks.contains_key(&0)));
        if restarts {
            self.begin(writer, chunk.total, location);
        }
        let Some(pending) = self.pending.get_mut(&writer) else { return Step::Kept };
        if pending.chunks.contains_key(&chunk.number) {
            return Step::Kept;
        }
        let bytes = chunk.payload.text().len() + CHUNK_OVERHEAD;
        if pending.bytes + bytes > MAX_MANIFEST_BYTES {
            self.remove(writer);
            return Step::TooLong;
        }
        pending.bytes += bytes;
        pending.chunks.insert(chunk.number, chunk.payload.clone());
        self.bytes += bytes;
        if pending.chunks.len() == usize::from(pending.total) {
            let whole = self.remove(writer).map(|whole| whole.chunks).unwrap_or_default();
            return Step::Completed(whole.into_values().collect());
        }
        self.give_up_oldest();
        Step::Kept
    }

    fn begin(&mut self, writer: Writer, total: u16, location: ChunkLocation) {
        self.remove(writer);
        let since = self.began;
        self.began += 1;
        self.begun.insert(since, writer);
        self.pending.insert(writer, Pending { location, total, chunks: BTreeMap::new(), bytes: 0, since });
        self.give_up_oldest();
    }

    fn give_up_oldest(&mut self) {
        while self.bytes > MAX_PENDING_BYTES || self.pending.len() > MAX_WRITERS {
            let Some((_, &oldest)) = self.begun.first_key_value() else { return };
            let pending = self.remove(oldest);
            self.given_up.extend(pending.map(|pending| (oldest, pending)));
        }
    }

    fn remove(&mut self, writer: Writer) -> Option<Pending> {
        let pending = self.pending.remove(&writer)?;
        self.bytes -= pending.bytes;
        self.begun.remove(&pending.since);
        Some(pending)
    }

    /// The incomplete manifests that were given up for others since this was last asked.
    pub(super) fn take_given_up(&mut self) -> Vec<(Writer, Pending)> {
        std::mem::take(&mut self.given_up)
    }

    /// All that are not complete, in the order in which they began.
    pub(super) fn take_incomplete(&mut self) -> Vec<(Writer, Pending)> {
        let writers = std::mem::take(&mut self.begun);
        let mut pending = std::mem::take(&mut self.pending);
        self.bytes = 0;
        writers.into_values().filter_map(|writer| Some((writer, pending.remove(&writer)?))).collect()
    }

    /// Bytes and writers that are kept.
    #[cfg(test)]
    pub(super) fn size(&self) -> (usize, usize) {
        let kept: usize = self.pending.values().map(|pending| pending.bytes).sum();
        assert_eq!((kept, self.begun.len()), (self.bytes, self.pending.len()));
        (self.bytes, self.pending.len())
    }
}
