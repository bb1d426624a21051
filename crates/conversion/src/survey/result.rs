//! What the survey learned of a file.

use std::collections::BTreeMap;

use base::clock::{Clock, Ticks};
use etl::event::Shape;
use etl::input::Identity;
use etl::layout::logfile::mode;
use etl::reader::ReadRules;
use etl::session::Session;
use serde::{Deserialize, Serialize};
use spill::Spilled;

use super::buffer_summary::BufferSummary;
use super::descriptive::DescriptiveEvents;
use super::disorder::Disorder;
use super::ending::{Tail, TailKind};
use super::issue::Issues;
use super::marked::{MarkedEvent, NoticeLog};
use super::shapes::ShapeSummary;
use super::unreadable::UnreadableRegions;
use super::walks::WalkLog;

/// What the survey learned of one file.
#[derive(Debug, Serialize, Deserialize)]
pub struct FileSurvey {
    /// The input that was surveyed.
    pub identity: Identity,
    /// The path relative to the input named by the user, with `/`.
    pub name: String,
    /// BLAKE3 of the whole file in lower-case hexadecimal; `None` where it was not wanted.
    pub blake3: Option<String>,
    /// What the header event says.
    pub session: Session,
    /// The conversion of its times.
    pub clock: Clock,
    /// The buffers in file order; where the survey is stored, they are stored beside it.
    #[serde(skip)]
    pub buffers: Spilled<BufferSummary>,
    /// What cannot be read.
    pub unreadable: UnreadableRegions,
    /// What stands behind the last buffer.
    pub tail: Option<Tail>,
    /// The event shapes, in their own order.
    pub shapes: Vec<(Shape, ShapeSummary)>,
    /// Events worth a second look, in file order.
    pub marked: Vec<MarkedEvent>,
    /// Events that say that something was lost.
    pub notices: NoticeLog,
    /// Where the events are that describe what ids mean, as far as it is kept until somebody asks for them; where the survey is
    /// stored, they are looked for again.
    #[serde(skip)]
    pub descriptive: DescriptiveEvents,
    /// What the file records of stacks, where that was asked for and until somebody joins them.
    #[serde(skip)]
    pub walks: Option<WalkLog>,
    /// The masks of event groups that a system logger is enabled with, where the file holds them.
    pub group_masks: Option<[u32; 8]>,
    /// When each processor dropped its last event, in ticks, where the file holds it.
    pub last_dropped: BTreeMap<u16, i64>,
    /// How far its events are from being in order.
    pub disorder: Disorder,
    /// What is unusual, in file order.
    pub issues: Issues,
}

/// What the survey learned of a recording: plain data, which [can be stored](SurveyResult::write).
#[derive(Debug)]
pub struct SurveyResult {
    /// Its files, by number.
    pub files: Vec<FileSurvey>,
}

impl FileSurvey {
    /// What it takes to read its buffers.
    pub fn rules(&self) -> ReadRules {
        ReadRules::of(&self.session)
    }

    /// The buffer with this number in file order.
    pub fn buffer(&self, ordinal: u64) -> Option<&BufferSummary> {
        let place = self.buffers.binary_search_by_key(&ordinal, |buffer| buffer.extent.ordinal).ok()?;
        self.buffers.get(place)
    }

    /// The processor whose events a buffer holds; `None` where all processors share one stream.
    pub fn cpu(&self, buffer: &BufferSummary) -> Option<u16> {
        (!self.session.has_one_stream()).then_some(buffer.extent.cpu)
    }

    /// A time of the file in Unix nanoseconds.
    pub fn unix_ns(&self, ticks: i64) -> i64 {
        self.clock.to_unix(Ticks(ticks)).0
    }

    /// Readable events.
    pub fn events(&self) -> u64 {
        self.buffers.iter().map(|buffer| u64::from(buffer.events)).sum()
    }

    /// Recognisable events that cannot be read.
    pub fn damaged_events(&self) -> u64 {
        self.buffers.iter().map(|buffer| u64::from(buffer.damaged_events)).sum()
    }

    /// Bytes that hold no readable event and should.
    pub fn damaged_bytes(&self) -> u64 {
        let in_buffers: u64 = self.buffers.iter().map(|buffer| u64::from(buffer.damaged_bytes)).sum();
        let tail = self.tail.filter(|tail| tail.kind == TailKind::Fragment).map_or(0, |tail| tail.len);
        in_buffers.saturating_add(self.unreadable.bytes()).saturating_add(tail)
    }

    /// Buffers that the session wrote and the file does not show, not even damaged; 0 where the session was never
    /// closed, and nobody knows.
    pub fn absent_buffers(&self) -> u64 {
        let there = (self.buffers.len() as u64).saturating_add(self.unreadable.lost_buffers());
        if self.session.is_closed() { u64::from(self.session.buffers_written).saturating_sub(there) } else { 0 }
    }

    /// Those of the [absent buffers](FileSurvey::absent_buffers) that no newer ones have overwritten.
    pub fn missing_buffers(&self) -> u64 {
        if self.session.has_mode(mode::CIRCULAR) && !self.has_room() { 0 } else { self.absent_buffers() }
    }

    /// Whether no buffer can have been overwritten, because the file has unused space or is far from its maximum size. Of
    /// compressed buffers nobody knows how many would have found room.
    pub fn has_room(&self) -> bool {
        let most = self.session.maximum_file_size;
        let is_small = most > 0 && !self.is_compressed() && self.end_of_buffers() <= most - most / 4;
        is_small || self.tail.is_some_and(|tail| tail.kind != TailKind::Fragment)
    }

    /// Whether anything of the file could not be read, or is not there.
    pub fn is_damaged(&self) -> bool {
        self.damaged_bytes() > 0 || self.damaged_events() > 0 || self.missing_buffers() > 0
    }

    /// Whether buffers are stored compressed.
    pub fn is_compressed(&self) -> bool {
        self.session.has_mode(mode::COMPRESSED) || self.buffers.iter().any(|buffer| buffer.extent.is_compressed())
    }

    /// File offset behind the last buffer; what stands there is unused, or of an older recording.
    pub fn end_of_buffers(&self) -> u64 {
        let extent = self.buffers.last().map(|buffer| &buffer.extent);
        extent.map_or(0, |extent| extent.offset.saturating_add(u64::from(extent.stored_len)))
    }

    /// Whether another buffer would have gone beyond the maximum size.
    pub fn has_reached_maximum_size(&self) -> bool {
        let (most, another) = (self.session.maximum_file_size, u64::from(self.session.buffer_size));
        most > 0 && self.end_of_buffers().saturating_add(another) > most
    }

    /// Whether the file ends within a buffer.
    pub fn is_truncated(&self) -> bool {
        let cut = |tail: Tail| tail.kind == TailKind::Fragment;
        self.tail.is_some_and(cut) || self.buffers.last().is_some_and(|buffer| buffer.extent.is_truncated())
    }
}
