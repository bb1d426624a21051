//! Finding the number of an event's shape again.

use super::shape::trace_logging_metadata;
use super::signature::Signature;
use super::view::FileContext;
use super::walk::RawEvent;

/// The numbers of the shapes of recent events, by the bits of their headers. What they number is the caller's.
#[derive(Debug, Default)]
pub struct RecentShapes {
    /// None before the first shape.
    places: Box<[RecentShape]>,
}

/// A shape that was found; each signature and metadata has one place.
#[derive(Clone, Debug, Default)]
struct RecentShape {
    signature: Signature,
    metadata: Vec<u8>,
    number: u32,
}

/// A shape that is not among the recent ones, and where it goes.
#[derive(Clone, Copy, Debug)]
pub struct NewShape<'a> {
    signature: Signature,
    metadata: &'a [u8],
    place: usize,
}

/// A power of two: a busy recording writes some hundred shapes.
const PLACES: usize = 512;

/// Bytes of metadata that are remembered, so that the places stay small; few events have more.
const MAX_METADATA: usize = 1024;

impl RecentShapes {
    /// The number of an event's shape.
    #[expect(clippy::inline_always, reason = "every event passes through here twice")]
    #[inline(always)]
    pub fn find<'a>(&self, raw: &RawEvent<'a>, file: &FileContext) -> Result<u32, NewShape<'a>> {
        let (signature, metadata) = (Signature::of(raw, file), trace_logging_metadata(raw));
        let place = place(&signature, metadata);
        // To compare nothing with nothing is not free, see `ShapeRef`.
        let is_same = |recent: &&RecentShape| {
            recent.signature == signature
                && recent.metadata.len() == metadata.len()
                && (metadata.is_empty() || recent.metadata == metadata)
        };
        let found = self.places.get(place).filter(is_same);
        found.map(|recent| recent.number).ok_or(NewShape { signature, metadata, place })
    }

    /// Remembers the number of a shape that was not found, in the place of another one.
    pub fn remember(&mut self, shape: &NewShape<'_>, number: u32) {
        if shape.metadata.len() > MAX_METADATA {
            return;
        }
        if self.places.is_empty() {
            self.places = vec![RecentShape::default(); PLACES].into();
        }
        let recent = &mut self.places[shape.place];
        (recent.signature, recent.number) = (shape.signature, number);
        recent.metadata.clear();
        recent.metadata.extend_from_slice(shape.metadata);
    }

    /// Forgets all numbers.
    pub fn clear(&mut self) {
        self.places = Box::default();
    }
}

/// The place of a shape. Metadata begins with its length, tags, and the name of the event.
#[inline]
fn place(signature: &Signature, metadata: &[u8]) -> usize {
    let word = |at| metadata.get(at..).and_then(<[u8]>::first_chunk).map_or(0, |&word| u64::from_le_bytes(word));
    let names = if metadata.is_empty() { 0 } else { word(3) ^ word(11).rotate_left(29) ^ metadata.len() as u64 };
    let hash = signature.hash() ^ names.wrapping_mul(0x9E37_79B9_7F4A_7C15);
    usize::try_from(hash >> (u64::BITS - PLACES.trailing_zeros())).unwrap_or(0)
}
