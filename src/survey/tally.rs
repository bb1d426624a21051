//! What one worker counts while it surveys buffers; tallies of several workers add up to the same whatever the split.

use hashbrown::HashMap;

use super::finding::{Finding, Severity};
use super::record::BufferRecord;
use crate::buffer::chain::Frame;
use crate::buffer::content::{self, ContentFault, Scratch, Surplus};
use crate::error::Result;
use crate::event::{FileContext, Identity, ShapeKey, ShapeRef, TimedEvent, TimedStep, TimedWalk};
use crate::layout::buffer::BUFFER_HEADER_LEN;
use crate::layout::header::HeaderKind;
use crate::layout::hook;
use crate::source::Source;

/// How many events of a shape are kept as samples: the lowest in order.
pub const SAMPLES_PER_SHAPE: usize = 64;

/// The place of an event in the order of its file: time, then stream, then buffer, then offset.
///
/// The number of the buffer in the file breaks ties between buffers that share a sequence number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct OrderKey {
    /// Time in ticks of the session's clock.
    pub ticks: i64,
    /// The stream: the processor, or 0 where all share one.
    pub stream: u16,
    /// Number of the buffer in its session; 0 in a file of several sessions.
    pub sequence: i64,
    /// Number of the buffer in its file.
    pub ordinal: u64,
    /// Offset of the event from the first event of its buffer.
    pub offset: u32,
}

/// What is counted of one event shape.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShapeTally {
    /// Events.
    pub events: u64,
    /// Smallest time in ticks.
    pub first_ticks: i64,
    /// Largest time in ticks.
    pub last_ticks: i64,
    /// The lowest events in order, unsorted.
    pub samples: Vec<OrderKey>,
    interest: Interest,
}

/// Why the survey remembers each event of a shape.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Interest {
    /// It does not.
    None,
    /// The event tells of the session: one of the trace's own header events.
    Session,
    /// The event describes the payload of others.
    Schema,
    /// The event tells of a loss.
    Loss,
}

/// An event that the survey remembers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Memorable {
    /// Why.
    pub interest: Interest,
    /// Where.
    pub at: OrderKey,
}

/// Id of the events in which EventSource providers ship their manifest.
const EVENT_SOURCE_MANIFEST_ID: u16 = 0xFFFE;

impl Interest {
    fn of(identity: &Identity) -> Interest {
        use hook::{GROUP_EVENT_TRACE, event_trace as header};
        match identity.kind {
            HeaderKind::Error => Interest::Loss,
            kind if kind.is_hook() && identity.group == GROUP_EVENT_TRACE => match identity.opcode {
                header::EXTENSION | header::END_EXTENSION => Interest::Session,
                header::LAST_DROPPED_TIMES => Interest::Loss,
                _ => Interest::None,
            },
            kind if kind.is_full() && identity.provider == hook::EVENT_METADATA_CLASS => Interest::Schema,
            kind if kind.is_full() && identity.provider == hook::LOST_EVENT_CLASS => Interest::Loss,
            kind if kind.is_event() && identity.provider == hook::LOST_EVENT_CLASS => Interest::Loss,
            kind if kind.is_event() && identity.id == EVENT_SOURCE_MANIFEST_ID => Interest::Schema,
            _ => Interest::None,
        }
    }
}

impl ShapeTally {
    fn new(identity: &Identity, ticks: i64) -> Self {
        ShapeTally {
            events: 0,
            first_ticks: ticks,
            last_ticks: ticks,
            samples: Vec::new(),
            interest: Interest::of(identity),
        }
    }

    #[inline]
    fn count(&mut self, at: OrderKey) {
        self.events += 1;
        self.first_ticks = self.first_ticks.min(at.ticks);
        self.last_ticks = self.last_ticks.max(at.ticks);
        if self.samples.len() < SAMPLES_PER_SHAPE || at < self.samples[SAMPLES_PER_SHAPE - 1] {
            self.sample(at);
        }
    }

    /// Keeps the samples sorted and few. Events come nearly in order, so this is rare once there are enough.
    fn sample(&mut self, at: OrderKey) {
        let place = self.samples.partition_point(|sample| *sample < at);
        self.samples.insert(place, at);
        self.samples.truncate(SAMPLES_PER_SHAPE);
    }

    fn add(&mut self, other: ShapeTally) {
        self.events += other.events;
        self.first_ticks = self.first_ticks.min(other.first_ticks);
        self.last_ticks = self.last_ticks.max(other.last_ticks);
        self.samples.extend(other.samples);
        self.samples.sort_unstable();
        self.samples.truncate(SAMPLES_PER_SHAPE);
    }
}

/// What is common to all buffers of a file.
#[derive(Clone, Copy, Debug)]
pub struct Ground<'a> {
    /// The file.
    pub source: &'a Source,
    /// What is common to its events.
    pub context: FileContext,
    /// Whether the buffers of all processors form one stream.
    pub one_stream: bool,
    /// Whether the buffers of a stream stand in their order, whatever their numbers.
    pub in_file_order: bool,
    /// The largest size of an expanded buffer.
    pub max_expanded: u32,
    /// The time of a buffer in which no event has one.
    pub fallback_ticks: i64,
}

impl Ground<'_> {
    /// The stream that a buffer belongs to.
    pub fn stream(&self, frame: &Frame) -> u16 {
        if self.one_stream { 0 } else { frame.cpu }
    }

    /// The place of a buffer among those of its stream: its number in the session, or the same for all where the place
    /// in the file decides.
    pub fn sequence(&self, frame: &Frame) -> i64 {
        if self.in_file_order { 0 } else { frame.sequence }
    }
}

/// Counts over some buffers of a file.
#[derive(Debug, Default)]
pub struct Tally {
    /// The buffers, in no particular order.
    pub records: Vec<BufferRecord>,
    /// The event shapes.
    pub shapes: HashMap<ShapeKey, ShapeTally>,
    /// Events worth a second look.
    pub memorable: Vec<Memorable>,
    /// Unusual findings.
    pub findings: Vec<Finding>,
    scratch: Scratch,
}

impl Tally {
    /// Counts the events of one buffer.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub fn survey(&mut self, ground: &Ground<'_>, frame: &Frame) -> Result<()> {
        let mut scratch = std::mem::take(&mut self.scratch);
        let content = content::read(ground.source, frame, ground.max_expanded, &mut scratch)?;
        let mut record = BufferRecord::new(*frame);
        record.content_bytes = u32::try_from(content.bytes().len()).unwrap_or(u32::MAX);
        if let Some(fault) = content.fault {
            record.damaged_bytes = fault.missing_bytes();
            self.findings.push(fault_finding(frame, fault));
        }
        self.walk(ground, &mut record, content.bytes());
        if let Some(surplus) = content.surplus {
            record.damaged_bytes = record.damaged_bytes.saturating_add(surplus.bytes);
            self.findings.push(surplus_finding(frame, surplus));
        }
        self.records.push(record);
        self.scratch = scratch;
        Ok(())
    }

    fn walk(&mut self, ground: &Ground<'_>, record: &mut BufferRecord, bytes: &[u8]) {
        let frame = record.frame;
        let (stream, sequence, ordinal) = (ground.stream(&frame), ground.sequence(&frame), frame.ordinal);
        let mut previous = None;
        for step in TimedWalk::new(bytes, 0, ground.fallback_ticks) {
            match step {
                TimedStep::Event(TimedEvent { raw, ticks, inherited }) => {
                    record.count(ticks, inherited, previous);
                    previous = Some(ticks);
                    let at = OrderKey { ticks, stream, sequence, ordinal, offset: raw.offset };
                    self.count(ShapeRef::of(&raw, &ground.context), at);
                }
                TimedStep::Damage { offset, len, recognisable } => {
                    record.damaged_events += u32::from(recognisable);
                    record.damaged_bytes = record.damaged_bytes.saturating_add(len);
                    self.findings.push(damage_finding(&frame, offset, len, recognisable, previous));
                }
            }
        }
    }

    #[inline]
    fn count(&mut self, shape: ShapeRef<'_>, at: OrderKey) {
        let tally = match self.shapes.get_mut(&shape) {
            Some(tally) => tally,
            None => self.shapes.entry(shape.to_key()).or_insert_with(|| ShapeTally::new(&shape.identity, at.ticks)),
        };
        tally.count(at);
        if tally.interest != Interest::None {
            self.memorable.push(Memorable { interest: tally.interest, at });
        }
    }

    /// Adds the counts of another worker.
    #[must_use]
    pub fn merged(mut self, other: Tally) -> Tally {
        if self.records.len() < other.records.len() {
            return other.merged(self);
        }
        self.records.extend(other.records);
        self.memorable.extend(other.memorable);
        self.findings.extend(other.findings);
        merge_shapes(&mut self.shapes, other.shapes);
        self
    }
}

/// Adds the shapes of one tally to another's.
pub(super) fn merge_shapes(into: &mut HashMap<ShapeKey, ShapeTally>, from: HashMap<ShapeKey, ShapeTally>) {
    for (key, tally) in from {
        match into.get_mut(&key) {
            Some(mine) => mine.add(tally),
            None => {
                into.insert(key, tally);
            }
        }
    }
}

fn fault_finding(frame: &Frame, fault: ContentFault) -> Finding {
    let code = match fault {
        ContentFault::BeyondBuffer(_) => "buffer_end_out_of_range",
        ContentFault::Truncated(_) => "truncated_buffer",
        ContentFault::TooLarge(_) | ContentFault::Compression(..) => "unsupported_compression",
    };
    Finding::new(Severity::Error, code, fault.to_string()).at(frame.ordinal, frame.offset)
}

fn surplus_finding(frame: &Frame, surplus: Surplus) -> Finding {
    let what = match surplus {
        _ if frame.is_compressed() => "compressed bytes are left over",
        Surplus { begins_with_event: true, .. } => "bytes that begin with an event header follow",
        Surplus { .. } => "bytes that are neither FF nor zeros follow",
    };
    let (end, bytes) = (frame.filled, surplus.bytes);
    let message = format!("the header says that the data ends at {end}, but {bytes} {what}; they are skipped");
    let place = frame.offset + if frame.is_compressed() { 0 } else { u64::from(frame.filled.max(BUFFER_HEADER_LEN)) };
    Finding::new(Severity::Error, "data_behind_end", message).at(frame.ordinal, place)
}

fn damage_finding(frame: &Frame, offset: u32, len: u32, recognisable: bool, ticks: Option<i64>) -> Finding {
    let message = if recognisable {
        format!("an event's size does not fit into the {len} bytes left of the buffer; they are skipped")
    } else {
        format!("expected an event header, found {len} other bytes up to the end of the buffer; they are skipped")
    };
    let place = if frame.is_compressed() {
        frame.offset
    } else {
        frame.offset + u64::from(BUFFER_HEADER_LEN) + u64::from(offset)
    };
    Finding { ticks, ..Finding::new(Severity::Error, "damaged_event", message).at(frame.ordinal, place) }
}
