//! What one worker counts while it surveys buffers; the counts of several workers add up to the same whatever the split.

use base::error::Result;
use etl::buffer::content::{ContentFault, Scratch, Surplus};
use etl::buffer::scan::BufferExtent;
use etl::event::subject::Subject;
use etl::event::{FileContext, RawEvent, Starts, TimedEvent, TimedStep, hides_events, resume, swallowed};
use etl::layout::buffer::BUFFER_HEADER_LEN;
use etl::layout::header::EVENT_ALIGNMENT;
use etl::reader::{BufferReader, ReadRules};

use super::buffer_summary::BufferSummary;
use super::descriptive::{DescriptiveBuffer, DescriptiveKeeper, KeepBudget, bytes_kept};
use super::file_key::FileKey;
use super::issue::{Issue, Severity};
use super::issue_code::IssueCode;
use super::marked::{Mark, Marks};
use super::options::Keeps;
use super::shapes::Shapes;
use super::walks::{WalkRoom, WalkTaker};

/// Room for what is kept of the events of a file.
#[derive(Clone, Debug, Default)]
pub(super) struct Room {
    /// Of those that describe ids.
    pub(super) descriptive: KeepBudget,
    /// Of what is recorded of stacks.
    pub(super) walks: WalkRoom,
    subjects: &'static [Subject],
}

impl Room {
    /// For a file of so many bytes.
    pub(super) fn of(file_size: u64, Keeps { subjects, stacks }: Keeps) -> Self {
        let bytes = bytes_kept(file_size);
        let walks = if stacks { WalkRoom::of(bytes) } else { WalkRoom::default() };
        Room { descriptive: KeepBudget::of(bytes), walks, subjects }
    }
}

/// Counts over some buffers of a file.
#[derive(Debug, Default)]
pub struct Counts {
    /// The buffers, in no particular order.
    pub buffers: Vec<BufferSummary>,
    /// The event shapes.
    pub shapes: Shapes,
    /// Events worth a second look.
    pub marks: Marks,
    /// What is unusual.
    pub issues: Vec<Issue>,
    descriptive: DescriptiveKeeper,
    pub(super) walks: WalkTaker,
    scratch: Scratch,
    /// Where the events of the buffer begin.
    starts: Starts,
}

impl Counts {
    /// No counts yet; events that describe others are kept, as many as there is room for.
    pub(super) fn keeping(room: &Room) -> Self {
        let descriptive = DescriptiveKeeper::within(&room.descriptive, room.subjects);
        Counts { descriptive, walks: WalkTaker::within(&room.walks), ..Counts::default() }
    }

    /// The events that describe others, of buffers of which they are kept, in no particular order.
    pub(super) fn take_descriptive(&mut self) -> Vec<DescriptiveBuffer> {
        std::mem::take(&mut self.descriptive.buffers)
    }

    /// Counts the events of one buffer, which may lie in bytes that are at hand: those from an offset of the file on.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub fn survey(&mut self, reader: &BufferReader<'_>, extent: &BufferExtent, at_hand: (u64, &[u8])) -> Result<()> {
        let mut scratch = std::mem::take(&mut self.scratch);
        let content = reader.content_within(extent, at_hand, &mut scratch)?;
        let mut buffer = BufferSummary::new(*extent);
        buffer.content_bytes = u32::try_from(content.bytes().len()).unwrap_or(u32::MAX);
        if let Some(fault) = content.fault {
            buffer.damaged_bytes = fault.missing_bytes();
            self.issues.push(fault_issue(extent, fault));
        }
        self.walk(&reader.rules, &mut buffer, content.bytes());
        if extent.ordinal == 0 {
            self.look_into_header_event(&reader.rules, &mut buffer, content.bytes());
        }
        if let Some(surplus) = content.surplus {
            buffer.damaged_bytes = buffer.damaged_bytes.saturating_add(surplus.bytes);
            self.issues.push(surplus_issue(extent, surplus));
        }
        self.buffers.push(buffer);
        self.scratch = scratch;
        Ok(())
    }

    fn walk(&mut self, rules: &ReadRules, buffer: &mut BufferSummary, bytes: &[u8]) {
        let extent = buffer.extent;
        let at = FileKey::in_buffer(rules, &extent);
        let (mut previous, mut before_gap) = (None, None);
        self.descriptive.begin();
        self.walks.begin();
        self.starts.clear(bytes.len());
        let mut walk = rules.walk(bytes, 0, buffer.gap);
        while let Some(step) = walk.next() {
            match step {
                TimedStep::Event(TimedEvent { raw, ticks, inherited }) => {
                    buffer.count(ticks, inherited, previous);
                    previous = Some(ticks);
                    self.starts.add(raw.offset as usize);
                    self.count(buffer, (&raw, inherited), &rules.context, at(ticks, raw.offset));
                }
                TimedStep::Damage { offset, mut len, recognisable } => {
                    self.starts.add(offset as usize);
                    let gap = resume(bytes, offset, rules.fallback_ticks);
                    if let Some(gap) = gap {
                        (buffer.gap, len, before_gap) = (gap, gap.to - gap.from, Some(buffer.events));
                        walk.go_on_behind(gap);
                    }
                    buffer.intact_until = buffer.intact_until.min(previous.unwrap_or(i64::MIN));
                    buffer.damaged_events += u32::from(recognisable);
                    buffer.damaged_bytes = buffer.damaged_bytes.saturating_add(len);
                    self.issues.push(damage_issue(&extent, (offset, len), recognisable, gap.is_some(), previous));
                }
            }
        }
        buffer.recovered = before_gap.map_or(0, |before| buffer.events - before);
        self.descriptive.end(extent.ordinal);
        self.walks.end(extent.ordinal);
        self.starts.add(bytes.len());
        let have_times = buffer.events > buffer.inherited;
        if hides_events(bytes, &self.starts, have_times.then_some((buffer.first_ticks, buffer.last_ticks))) {
            self.look_for_swallowed(buffer, bytes);
        }
    }

    /// An event whose size is too large hides those behind it.
    #[cold]
    fn look_for_swallowed(&mut self, buffer: &mut BufferSummary, bytes: &[u8]) {
        let extent = buffer.extent;
        // The header event has its own measure.
        let Some(found) = swallowed(bytes, buffer.gap, extent.ordinal == 0) else { return };
        buffer.damaged_bytes = buffer.damaged_bytes.saturating_add(found.bytes);
        let holder = bytes.get(found.holder as usize..).and_then(|rest| RawEvent::at(rest, found.holder));
        let own = holder.and_then(|holder| holder.ticks()).unwrap_or(buffer.first_ticks);
        buffer.intact_until = buffer.intact_until.min(own);
        let place = found.first.saturating_sub(found.holder);
        let more = match found.holders - 1 {
            0 => String::new(),
            1 => ", and so does another event of this buffer".to_owned(),
            more => format!(", and so do {more} other events of this buffer"),
        };
        let message = format!(
            "the size of an event is wrong: others begin at its byte {place}; {} bytes are not read as events{more}",
            found.bytes
        );
        let at = extent.file_offset_of(found.first);
        self.issues.push(Issue::new(Severity::Error, IssueCode::DamagedEvent, message).at(extent.ordinal, at));
    }

    /// A header event that is too long hides those behind it, which describe the session, too.
    #[cold]
    fn look_into_header_event(&mut self, rules: &ReadRules, buffer: &mut BufferSummary, bytes: &[u8]) {
        let own = rules.header_event_len.next_multiple_of(EVENT_ALIGNMENT);
        let size = RawEvent::at(bytes, 0).map_or(0, |event| event.bytes.len());
        let hidden = bytes.get(own as usize..size).unwrap_or_default();
        if RawEvent::at(hidden, own).is_none() {
            return;
        }
        let len = u32::try_from(hidden.len()).unwrap_or(u32::MAX);
        buffer.damaged_bytes = buffer.damaged_bytes.saturating_add(len);
        let message =
            format!("the header event has {size} bytes, but begins another event after {own}; it is not read");
        let place = buffer.extent.file_offset_of(own);
        self.issues
            .push(Issue::new(Severity::Error, IssueCode::DamagedEvent, message).at(buffer.extent.ordinal, place));
    }

    #[inline]
    fn count(
        &mut self,
        buffer: &mut BufferSummary,
        (raw, inherited): (&RawEvent<'_>, bool),
        file: &FileContext,
        at: FileKey,
    ) {
        let (mark, walkable) = self.shapes.count(raw, file, at);
        if self.walks.takes_walked()
            && !inherited
            && let Some(walkable) = walkable
        {
            self.walks.add_walked(walkable, raw, file, at);
        }
        match mark {
            Mark::None => {}
            Mark::Subject(subject) => {
                buffer.subjects |= 1 << subject as u16;
                self.descriptive.push(subject, raw);
            }
            Mark::Stack => {
                buffer.stacks = 1;
                self.walks.describe(raw, file, at);
            }
            mark => self.marks.add_event(mark, at),
        }
    }

    /// Adds the counts of another worker.
    #[must_use]
    pub fn merged(mut self, other: Counts) -> Counts {
        if self.buffers.len() < other.buffers.len() {
            return other.merged(self);
        }
        self.buffers.extend(other.buffers);
        self.marks.add(other.marks);
        self.issues.extend(other.issues);
        self.descriptive.buffers.extend(other.descriptive.buffers);
        self.walks.merge(other.walks);
        self.shapes.add(other.shapes);
        self
    }
}

fn fault_issue(extent: &BufferExtent, fault: ContentFault) -> Issue {
    let code = match fault {
        ContentFault::BeyondBuffer(_) => IssueCode::BufferEndOutOfRange,
        ContentFault::Truncated(_) => IssueCode::TruncatedBuffer,
        ContentFault::TooLarge(_) | ContentFault::Compression(..) => IssueCode::UnsupportedCompression,
    };
    Issue::new(Severity::Error, code, fault.to_string()).at(extent.ordinal, extent.offset)
}

fn surplus_issue(extent: &BufferExtent, surplus: Surplus) -> Issue {
    let what = match surplus {
        _ if extent.is_compressed() => "compressed bytes are left over",
        Surplus { begins_with_event: true, .. } => "bytes that begin with an event header follow",
        Surplus { .. } => "bytes that are neither FF nor zeros follow",
    };
    let (end, bytes) = (extent.used_len, surplus.bytes);
    let message = format!("the header says that the data ends at {end}, but {bytes} {what}; they are skipped");
    let place = extent.file_offset_of(extent.used_len.saturating_sub(BUFFER_HEADER_LEN));
    Issue::new(Severity::Error, IssueCode::DataBehindEnd, message).at(extent.ordinal, place)
}

fn damage_issue(
    extent: &BufferExtent,
    (offset, len): (u32, u32),
    recognisable: bool,
    goes_on: bool,
    ticks: Option<i64>,
) -> Issue {
    let message = match (recognisable, goes_on) {
        (true, false) => {
            format!("an event's size does not fit into the {len} bytes left of the buffer; they are skipped")
        }
        (true, true) => {
            format!(
                "an event's size does not fit into the buffer; {len} bytes are skipped, behind which events begin again"
            )
        }
        (false, false) => {
            format!("expected an event header, found {len} other bytes up to the end of the buffer; they are skipped")
        }
        (false, true) => {
            format!(
                "expected an event header, found {len} other bytes; they are skipped, and events begin again behind them"
            )
        }
    };
    let issue = Issue::new(Severity::Error, IssueCode::DamagedEvent, message);
    Issue { ticks, ..issue.at(extent.ordinal, extent.file_offset_of(offset)) }
}
