//! Where the events are that describe what ids mean, or the stacks of others. Of a compressed buffer they are kept themselves, so
//! that nobody has to expand it again.
//!
//! What is kept is bounded, and of which buffers may depend on threads: whoever wants the events of another one reads the
//! buffer, and finds the same.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use base::error::Result;
use etl::buffer::content::Scratch;
use etl::event::{RawEvent, TimedEvent, TimedStep};
use etl::reader::BufferReader;

use super::buffer_summary::BufferSummary;
use super::file_key::FileKey;

/// Bytes that are kept of a file: four times its own of a small file, as many as its own of a large one.
const SMALL: u64 = 16 << 20;
const MOST: u64 = 64 << 20;

/// Bytes of events of one compressed buffer, beyond which it is not worth the memory of those beside it.
const MAX_BUFFER: usize = 1 << 20;

/// What events describe.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DescriptiveKind {
    /// The ids of processes, threads, modules, files.
    OfSubjects,
    /// The stacks of other events.
    OfStacks,
}

/// The events of a file that describe subjects or stacks, of buffers of which they are known.
#[derive(Debug, Default)]
pub struct DescriptiveEvents {
    /// By ordinal, once there are all of them.
    buffers: Vec<DescriptiveBuffer>,
}

/// Those of one buffer.
#[derive(Debug)]
pub(super) struct DescriptiveBuffer {
    ordinal: u64,
    /// By what they describe.
    events: [KeptEvents; 2],
}

/// Events of one buffer that describe the same.
#[derive(Debug)]
struct KeptEvents {
    /// Their offsets, in bytes from the first event of the buffer.
    offsets: Box<[u32]>,
    /// Where the buffer is compressed, the events, one behind the other.
    bytes: Box<[u8]>,
}

/// The same, while the buffer is walked.
#[derive(Debug, Default)]
struct WalkedEvents {
    offsets: Vec<u32>,
    bytes: Vec<u8>,
}

impl DescriptiveEvents {
    /// Visits the events of a buffer that describe something, each with its place, or, where it is not known which ones do,
    /// all of them.
    ///
    /// # Errors
    /// When the input cannot be read, and those of `visit`.
    pub fn visit(
        &self,
        kind: DescriptiveKind,
        reader: &BufferReader<'_>,
        buffer: &BufferSummary,
        scratch: &mut Scratch,
        mut visit: impl FnMut(&RawEvent<'_>, FileKey) -> Result<()>,
    ) -> Result<()> {
        let (rules, extent) = (&reader.rules, &buffer.extent);
        let ordinal = extent.ordinal;
        let (stream, sequence) = (rules.stream(extent), rules.sequence(extent));
        let mut visit = |raw: &RawEvent<'_>, ticks: Option<i64>| {
            let at = |ticks| FileKey { ticks, stream, sequence, ordinal, offset: raw.offset };
            ticks.map_or(Ok(()), |ticks| visit(raw, at(ticks)))
        };
        let kept = self.of(ordinal).map(|buffer| &buffer.events[kind as usize]);
        if let Some(events) = kept.filter(|_| extent.is_compressed()) {
            return events.copies().try_for_each(|raw| visit(&raw, raw.ticks()));
        }
        let content = reader.content(extent, scratch)?;
        match kept {
            Some(events) => events.within(content.bytes()).try_for_each(|raw| visit(&raw, raw.ticks())),
            None => rules.walk(content.bytes(), 0, buffer.gap).try_for_each(|step| match step {
                TimedStep::Event(TimedEvent { raw, ticks, .. }) => visit(&raw, Some(ticks)),
                TimedStep::Damage { .. } => Ok(()),
            }),
        }
    }

    fn of(&self, ordinal: u64) -> Option<&DescriptiveBuffer> {
        let place = self.buffers.binary_search_by_key(&ordinal, |buffer| buffer.ordinal).ok()?;
        self.buffers.get(place)
    }

    pub(super) fn add(&mut self, buffers: Vec<DescriptiveBuffer>) {
        self.buffers.extend(buffers);
    }

    /// Puts them in order: there are all of them.
    pub(super) fn sort(&mut self) {
        self.buffers.sort_unstable_by_key(|buffer| buffer.ordinal);
    }
}

impl KeptEvents {
    /// Those of a compressed buffer, in their order.
    fn copies(&self) -> impl Iterator<Item = RawEvent<'_>> {
        let mut rest = &*self.bytes;
        self.offsets.iter().filter_map(move |&offset| {
            let event = RawEvent::at(rest, offset)?;
            rest = rest.get(event.bytes.len()..)?;
            Some(event)
        })
    }

    /// Those that lie in the bytes of their buffer, in their order.
    fn within<'b>(&self, bytes: &'b [u8]) -> impl Iterator<Item = RawEvent<'b>> {
        self.offsets.iter().filter_map(|&offset| RawEvent::at(bytes.get(offset as usize..)?, offset))
    }
}

impl WalkedEvents {
    fn clear(&mut self) {
        self.offsets.clear();
        self.bytes.clear();
    }

    /// Bytes that they take.
    fn size(&self) -> usize {
        size_of_val(&self.offsets[..]) + self.bytes.len()
    }

    /// What is to be kept of them: no more memory than they take.
    fn take(&mut self) -> KeptEvents {
        KeptEvents { offsets: (&*self.offsets).into(), bytes: std::mem::take(&mut self.bytes).into_boxed_slice() }
    }
}

/// Room for what is kept of a file.
#[derive(Clone, Debug, Default)]
pub(super) struct KeepBudget(Arc<AtomicUsize>);

impl KeepBudget {
    /// For a file of so many bytes.
    pub(super) fn of(file_size: u64) -> Self {
        let bytes = file_size.saturating_mul(4).min(SMALL).max(file_size).min(MOST);
        KeepBudget(Arc::new(AtomicUsize::new(usize::try_from(bytes).unwrap_or_default())))
    }

    fn take(&self, bytes: usize) -> bool {
        self.0.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(bytes)).is_ok()
    }
}

/// Keeps which events of one buffer after the other describe something.
#[derive(Debug, Default)]
pub(super) struct DescriptiveKeeper {
    room: KeepBudget,
    is_keeping: bool,
    is_compressed: bool,
    content_bytes: usize,
    /// By what they describe.
    events: [WalkedEvents; 2],
    /// What is kept of the buffers so far, in no particular order.
    pub(super) buffers: Vec<DescriptiveBuffer>,
}

impl DescriptiveKeeper {
    /// Keeps as much as there is room for.
    pub(super) fn within(room: &KeepBudget) -> Self {
        DescriptiveKeeper { room: room.clone(), ..DescriptiveKeeper::default() }
    }

    /// Begins a buffer with so many bytes of events.
    pub(super) fn begin(&mut self, is_compressed: bool, content_bytes: usize) {
        self.events.iter_mut().for_each(WalkedEvents::clear);
        (self.is_compressed, self.content_bytes) = (is_compressed, content_bytes);
        let is_small = !is_compressed || content_bytes <= MAX_BUFFER;
        self.is_keeping = is_small && self.room.0.load(Ordering::Relaxed) > 0;
    }

    /// Keeps an event of the buffer.
    pub(super) fn push(&mut self, kind: DescriptiveKind, raw: &RawEvent<'_>) {
        // No event that describes something has the time of another; else all of the buffer were to be walked.
        self.is_keeping &= raw.ticks().is_some();
        if !self.is_keeping {
            return;
        }
        let events = &mut self.events[kind as usize];
        events.offsets.push(raw.offset);
        if self.is_compressed {
            if events.bytes.is_empty() {
                // No event of the buffer is copied twice.
                events.bytes.reserve_exact(self.content_bytes);
            }
            events.bytes.extend_from_slice(raw.bytes);
        }
    }

    /// Ends the buffer, of which all events were there.
    pub(super) fn end(&mut self, ordinal: u64) {
        let bytes: usize = self.events.iter().map(WalkedEvents::size).sum();
        if self.is_keeping && bytes > 0 && self.room.take(bytes + size_of::<DescriptiveBuffer>()) {
            self.buffers.push(DescriptiveBuffer { ordinal, events: self.events.each_mut().map(WalkedEvents::take) });
        }
    }
}

#[cfg(test)]
mod tests {
    use etl::layout::header::HeaderFamily;

    use super::*;

    /// An event of 80 bytes with this number in it.
    fn event(number: u8) -> Vec<u8> {
        let mut bytes = vec![number; 80];
        bytes[..4].copy_from_slice(&[80, 0, 0x13, 0xc0]);
        bytes
    }

    /// A buffer of four events, of which the second and fourth describe subjects, and the third a stack.
    fn keep(keeper: &mut DescriptiveKeeper, ordinal: u64, is_compressed: bool, content: usize) {
        use DescriptiveKind::{OfStacks, OfSubjects};
        keeper.begin(is_compressed, content);
        for (number, kind) in [(1, OfSubjects), (2, OfStacks), (3, OfSubjects)] {
            let bytes = event(number);
            let offset = 80 * u32::from(number);
            keeper.push(kind, &RawEvent { offset, family: HeaderFamily::Event64, bytes: &bytes });
        }
        keeper.end(ordinal);
    }

    fn kept(keeper: &mut DescriptiveKeeper) -> DescriptiveEvents {
        let mut descriptive = DescriptiveEvents::default();
        descriptive.add(std::mem::take(&mut keeper.buffers));
        descriptive.sort();
        descriptive
    }

    #[test]
    fn events_come_back_as_they_were() {
        let mut keeper = DescriptiveKeeper::within(&KeepBudget::of(1 << 20));
        keep(&mut keeper, 9, true, 320);
        keep(&mut keeper, 4, false, 320);
        let descriptive = kept(&mut keeper);
        assert_eq!(descriptive.buffers.iter().map(|buffer| buffer.ordinal).collect::<Vec<_>>(), [4, 9]);
        let shown = |raw: RawEvent<'_>| (raw.offset, raw.bytes.len(), raw.bytes[79]);
        let of = |ordinal, kind| &descriptive.of(ordinal).unwrap().events[kind as usize];
        for (kind, expected) in [
            (DescriptiveKind::OfSubjects, &[(80, 80, 1), (240, 80, 3)][..]),
            (DescriptiveKind::OfStacks, &[(160, 80, 2)]),
        ] {
            assert_eq!(of(9, kind).copies().map(shown).collect::<Vec<_>>(), expected);
            let content = [0, 1, 2, 3].map(event).concat();
            assert_eq!(of(4, kind).within(&content).map(shown).collect::<Vec<_>>(), expected);
            // Of a buffer that is shorter now, no more than there is.
            assert_eq!(of(4, kind).within(&content[..100]).count(), 0);
        }
        assert!(of(4, DescriptiveKind::OfSubjects).bytes.is_empty());
        assert!(descriptive.of(5).is_none());
    }

    #[test]
    fn room_follows_from_the_size_of_the_file() {
        let sizes = [0, 1 << 20, 5 << 20, 20 << 20, 1 << 40, u64::MAX];
        let rooms = sizes.map(|size| KeepBudget::of(size).0.load(Ordering::Relaxed) >> 20);
        assert_eq!(rooms, [0, 4, 16, 20, 64, 64]);
    }

    #[test]
    fn what_costs_too_much_is_not_kept() {
        let mut keeper = DescriptiveKeeper::within(&KeepBudget::of(110));
        keep(&mut keeper, 1, true, MAX_BUFFER + 1);
        keep(&mut keeper, 2, true, 320);
        keep(&mut keeper, 3, false, MAX_BUFFER + 1);
        // The room is used up.
        keep(&mut keeper, 4, true, 320);
        let descriptive = kept(&mut keeper);
        assert_eq!([1, 2, 3, 4].map(|ordinal| descriptive.of(ordinal).is_some()), [false, true, true, false]);
    }

    #[test]
    fn an_event_without_a_time_keeps_its_buffer_from_being_known() {
        let mut keeper = DescriptiveKeeper::within(&KeepBudget::of(1 << 20));
        keeper.begin(false, 80);
        let bytes = event(1);
        keeper.push(DescriptiveKind::OfStacks, &RawEvent { offset: 0, family: HeaderFamily::Wnode, bytes: &bytes });
        keeper.end(1);
        assert!(kept(&mut keeper).of(1).is_none());
    }
}
