//! The events that describe what ids mean, kept so that nobody has to read their buffers again.
//!
//! What is kept is bounded, and of which buffers may depend on threads: whoever wants the events of another one reads the
//! buffer, and finds the same.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use base::error::Result;
use etl::buffer::content::Scratch;
use etl::event::subject::Subject;
use etl::event::{RawEvent, TimedEvent, TimedStep};
use etl::reader::BufferReader;

use super::buffer_summary::BufferSummary;
use super::file_key::FileKey;

/// Bytes that are kept of a file: four times its own of a small file, as many as its own of a large one.
const SMALL: u64 = 16 << 20;
const MOST: u64 = 64 << 20;

/// Bytes of events that are kept of one buffer: more are not worth the memory of those beside it.
const MAX_BUFFER: usize = 1 << 20;

/// The events of a file that describe subjects, of buffers of which they are known.
#[derive(Debug, Default)]
pub struct DescriptiveEvents {
    subjects: Vec<Subject>,
    /// By ordinal, once there are all of them.
    buffers: Vec<DescriptiveBuffer>,
}

/// Those of one buffer.
#[derive(Debug)]
pub(super) struct DescriptiveBuffer {
    ordinal: u64,
    /// Their offsets, in bytes from the first event of the buffer.
    offsets: Box<[u32]>,
    /// The events, one behind the other.
    bytes: Box<[u8]>,
}

impl DescriptiveEvents {
    /// Those that describe some subjects.
    pub(super) fn of_subjects(subjects: &[Subject]) -> Self {
        DescriptiveEvents { subjects: subjects.to_vec(), buffers: Vec::new() }
    }

    /// Visits the events of a buffer that describe some subjects, each with its place, or, where it is not known which ones do,
    /// all of them.
    ///
    /// # Errors
    /// When the input cannot be read, and those of `visit`.
    pub fn visit(
        &self,
        subjects: &[Subject],
        (reader, buffer): (&BufferReader<'_>, &BufferSummary),
        scratch: &mut Scratch,
        mut visit: impl FnMut(&RawEvent<'_>, FileKey) -> Result<()>,
    ) -> Result<()> {
        let (rules, extent) = (&reader.rules, &buffer.extent);
        let at = FileKey::in_buffer(rules, extent);
        let mut visit =
            |raw: &RawEvent<'_>, ticks: Option<i64>| ticks.map_or(Ok(()), |ticks| visit(raw, at(ticks, raw.offset)));
        let is_known = subjects.iter().all(|subject| self.subjects.contains(subject));
        if let Some(buffer) = self.of(extent.ordinal).filter(|_| is_known) {
            return buffer.events().try_for_each(|raw| visit(&raw, raw.ticks()));
        }
        let content = reader.content(extent, scratch)?;
        rules.walk(content.bytes(), 0, buffer.gap).try_for_each(|step| match step {
            TimedStep::Event(TimedEvent { raw, ticks, .. }) => visit(&raw, Some(ticks)),
            TimedStep::Damage { .. } => Ok(()),
        })
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

impl DescriptiveBuffer {
    /// The events, in their order.
    fn events(&self) -> impl Iterator<Item = RawEvent<'_>> {
        let mut rest = &*self.bytes;
        self.offsets.iter().filter_map(move |&offset| {
            let event = RawEvent::at(rest, offset)?;
            rest = rest.get(event.bytes.len()..)?;
            Some(event)
        })
    }
}

/// Bytes that are kept of a file of so many.
pub(super) fn bytes_kept(file_size: u64) -> usize {
    let bytes = file_size.saturating_mul(4).min(SMALL).max(file_size).min(MOST);
    usize::try_from(bytes).unwrap_or_default()
}

/// Room for what is kept of a file.
#[derive(Clone, Debug, Default)]
pub(super) struct KeepBudget(Arc<AtomicUsize>);

impl KeepBudget {
    /// For so many bytes.
    pub(super) fn of(bytes: usize) -> Self {
        KeepBudget(Arc::new(AtomicUsize::new(bytes)))
    }

    fn take(&self, bytes: usize) -> bool {
        self.0.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(bytes)).is_ok()
    }
}

/// Keeps which events of one buffer after the other describe some subjects.
#[derive(Debug, Default)]
pub(super) struct DescriptiveKeeper {
    room: KeepBudget,
    subjects: &'static [Subject],
    is_keeping: bool,
    offsets: Vec<u32>,
    bytes: Vec<u8>,
    /// What is kept of the buffers so far, in no particular order.
    pub(super) buffers: Vec<DescriptiveBuffer>,
}

impl DescriptiveKeeper {
    /// Keeps as much as there is room for.
    pub(super) fn within(room: &KeepBudget, subjects: &'static [Subject]) -> Self {
        DescriptiveKeeper { room: room.clone(), subjects, ..DescriptiveKeeper::default() }
    }

    /// Begins a buffer.
    pub(super) fn begin(&mut self) {
        self.offsets.clear();
        self.bytes.clear();
        self.is_keeping = self.room.0.load(Ordering::Relaxed) > 0;
    }

    /// Keeps an event of the buffer that describes a subject.
    pub(super) fn push(&mut self, subject: Subject, raw: &RawEvent<'_>) {
        if !self.is_keeping || !self.subjects.contains(&subject) {
            return;
        }
        // No event that describes something has the time of another; else all of the buffer were to be walked.
        self.is_keeping = raw.ticks().is_some() && self.bytes.len() + raw.bytes.len() <= MAX_BUFFER;
        self.offsets.push(raw.offset);
        self.bytes.extend_from_slice(raw.bytes);
    }

    /// Ends the buffer, of which all events were there.
    pub(super) fn end(&mut self, ordinal: u64) {
        if !self.is_keeping || self.offsets.is_empty() {
            return;
        }
        let size = size_of_val(&self.offsets[..]) + self.bytes.len() + size_of::<DescriptiveBuffer>();
        if self.room.take(size) {
            let (offsets, bytes) = ((&*self.offsets).into(), (&*self.bytes).into());
            self.buffers.push(DescriptiveBuffer { ordinal, offsets, bytes });
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

    const SUBJECTS: &[Subject] = &[Subject::Process, Subject::Thread];

    /// A buffer of four events, of which the second and fourth describe a process and a thread, and the third a module.
    fn keep(keeper: &mut DescriptiveKeeper, ordinal: u64) {
        keeper.begin();
        for (number, subject) in [(1, Subject::Process), (2, Subject::Image), (3, Subject::Thread)] {
            let bytes = event(number);
            let offset = 80 * u32::from(number);
            keeper.push(subject, &RawEvent { offset, family: HeaderFamily::Event64, bytes: &bytes });
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
        let mut keeper = DescriptiveKeeper::within(&KeepBudget::of(1 << 20), SUBJECTS);
        keep(&mut keeper, 9);
        keep(&mut keeper, 4);
        let descriptive = kept(&mut keeper);
        assert_eq!(descriptive.buffers.iter().map(|buffer| buffer.ordinal).collect::<Vec<_>>(), [4, 9]);
        let shown = |raw: RawEvent<'_>| (raw.offset, raw.bytes.len(), raw.bytes[79]);
        for ordinal in [4, 9] {
            let found: Vec<_> = descriptive.of(ordinal).unwrap().events().map(shown).collect();
            assert_eq!(found, [(80, 80, 1), (240, 80, 3)]);
        }
        assert!(descriptive.of(5).is_none());
    }

    #[test]
    fn room_follows_from_the_size_of_the_file() {
        let sizes = [0, 1 << 20, 5 << 20, 20 << 20, 1 << 40, u64::MAX];
        let rooms = sizes.map(|size| bytes_kept(size) >> 20);
        assert_eq!(rooms, [0, 4, 16, 20, 64, 64]);
    }

    #[test]
    fn what_costs_too_much_is_not_kept() {
        let mut keeper = DescriptiveKeeper::within(&KeepBudget::of(220), SUBJECTS);
        keep(&mut keeper, 1);
        // The room is used up.
        keep(&mut keeper, 2);
        let descriptive = kept(&mut keeper);
        assert_eq!([1, 2].map(|ordinal| descriptive.of(ordinal).is_some()), [true, false]);
        let mut keeper = DescriptiveKeeper::within(&KeepBudget::of(1 << 30), SUBJECTS);
        let bytes = event(1);
        for (ordinal, events) in [(1, MAX_BUFFER / 80), (2, MAX_BUFFER / 80 + 1)] {
            keeper.begin();
            let raw = RawEvent { offset: 0, family: HeaderFamily::Event64, bytes: &bytes };
            (0..events).for_each(|_| keeper.push(Subject::Process, &raw));
            keeper.end(ordinal);
        }
        let descriptive = kept(&mut keeper);
        assert_eq!([1, 2].map(|ordinal| descriptive.of(ordinal).is_some()), [true, false]);
    }

    #[test]
    fn an_event_without_a_time_keeps_its_buffer_from_being_known() {
        let mut keeper = DescriptiveKeeper::within(&KeepBudget::of(1 << 20), SUBJECTS);
        keeper.begin();
        let bytes = event(1);
        keeper.push(Subject::Process, &RawEvent { offset: 0, family: HeaderFamily::Wnode, bytes: &bytes });
        keeper.end(1);
        assert!(kept(&mut keeper).of(1).is_none());
    }
}
