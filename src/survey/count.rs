//! What one worker counts while it surveys buffers; tallies of several workers add up to the same whatever the split.

use super::buffer_summary::BufferRecord;
use super::file_key::OrderKey;
use super::issue::{Finding, Severity};
use super::marked::{Interest, Memory};
use super::shapes::Shapes;
use crate::buffer::content::{self, ContentFault, Scratch, Surplus};
use crate::buffer::scan::Frame;
use crate::error::Result;
use crate::event::{FileContext, RawEvent, ShapeRef, TimedEvent, TimedStep, TimedWalk, swallowed};
use crate::input::Source;
use crate::layout::buffer::BUFFER_HEADER_LEN;
use crate::layout::header::EVENT_ALIGNMENT;

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
    /// Bytes that the fields of the header event take.
    pub header_event_len: u32,
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
    pub shapes: Shapes,
    /// Events worth a second look.
    pub memory: Memory,
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
        if frame.ordinal == 0 {
            self.look_into_header_event(ground, &mut record, content.bytes());
        }
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
        let (mut previous, mut largest) = (None, None);
        for step in TimedWalk::new(bytes, 0, ground.fallback_ticks) {
            match step {
                TimedStep::Event(TimedEvent { raw, ticks, inherited }) => {
                    record.count(ticks, inherited, previous);
                    previous = Some(ticks);
                    if raw.bytes.len() > largest.map_or(0, |largest: RawEvent<'_>| largest.bytes.len()) {
                        largest = Some(raw);
                    }
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
        if let Some(largest) = largest {
            self.look_into_largest(record, &largest);
        }
    }

    /// An event whose size is too large hides those behind it. To look into all events would cost more than to find them,
    /// so only the largest of a buffer is suspected.
    fn look_into_largest(&mut self, record: &mut BufferRecord, event: &RawEvent<'_>) {
        let frame = record.frame;
        // The header event has its own measure.
        let Some(place) = swallowed(event).filter(|_| (frame.ordinal, event.offset) != (0, 0)) else { return };
        let size = u32::try_from(event.bytes.len()).unwrap_or(u32::MAX);
        record.damaged_bytes = record.damaged_bytes.saturating_add(size.saturating_sub(place));
        let message =
            format!("an event of {size} bytes holds others from its byte {place} on to its end; they are not read");
        let at = if frame.is_compressed() {
            frame.offset
        } else {
            frame.offset + u64::from(BUFFER_HEADER_LEN) + u64::from(event.offset) + u64::from(place)
        };
        self.findings.push(Finding::new(Severity::Error, "damaged_event", message).at(frame.ordinal, at));
    }

    /// A header event that is too long hides those behind it, which tell of the session, too.
    #[cold]
    fn look_into_header_event(&mut self, ground: &Ground<'_>, record: &mut BufferRecord, bytes: &[u8]) {
        let own = ground.header_event_len.next_multiple_of(EVENT_ALIGNMENT);
        let size = RawEvent::at(bytes, 0).map_or(0, |event| event.bytes.len());
        let hidden = bytes.get(own as usize..size).unwrap_or_default();
        if RawEvent::at(hidden, own).is_none() {
            return;
        }
        let len = u32::try_from(hidden.len()).unwrap_or(u32::MAX);
        record.damaged_bytes = record.damaged_bytes.saturating_add(len);
        let message =
            format!("the header event has {size} bytes, but begins another event after {own}; it is not read");
        let place = record.frame.offset + u64::from(BUFFER_HEADER_LEN + own);
        self.findings.push(Finding::new(Severity::Error, "damaged_event", message).at(record.frame.ordinal, place));
    }

    #[inline]
    fn count(&mut self, shape: ShapeRef<'_>, at: OrderKey) {
        let interest = self.shapes.count(shape, at);
        if interest != Interest::None {
            self.memory.add_event(interest, at);
        }
    }

    /// Adds the counts of another worker.
    #[must_use]
    pub fn merged(mut self, other: Tally) -> Tally {
        if self.records.len() < other.records.len() {
            return other.merged(self);
        }
        self.records.extend(other.records);
        self.memory.add(other.memory);
        self.findings.extend(other.findings);
        self.shapes.add(other.shapes);
        self
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
