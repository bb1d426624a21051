//! What the survey learned of one buffer.

use etl::buffer::scan::BufferExtent;
use etl::event::Gap;
use etl::event::subject::Subject;
use etl::layout::buffer::BUFFER_HEADER_LEN;
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout};

/// A buffer and the events in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, FromBytes, Immutable, IntoBytes, KnownLayout)]
#[repr(C)]
pub struct BufferSummary {
    /// Where it lies and what its header says.
    pub extent: BufferExtent,
    /// Readable events.
    pub events: u32,
    /// Events whose header can be recognised and that do not fit into the buffer.
    pub damaged_events: u32,
    /// Bytes that are promised and missing, or present and no events.
    pub damaged_bytes: u32,
    /// Bytes of event data.
    pub content_bytes: u32,
    /// Smallest time, in ticks; 0 without events.
    pub first_ticks: i64,
    /// Largest time, in ticks; 0 without events.
    pub last_ticks: i64,
    /// Time of the last event before the first damage in it, in ticks; [`BufferSummary::INTACT`] where no event is damaged.
    pub intact_until: i64,
    /// The largest step back in time from one event to the next, in ticks.
    pub step_back: i64,
    /// Events that are earlier than the event before them.
    pub disorder: u32,
    /// Events that took the time of another.
    pub inherited: u32,
    /// Events behind the gap, which are among the readable ones.
    pub recovered: u32,
    /// The bytes behind which events were found again.
    pub gap: Gap,
    /// A bit for each kind of id of which an event shows what it means, by the number of the [`Subject`].
    pub subjects: u16,
    /// 1 where an event describes the stack of another, else 0.
    pub stacks: u16,
}

impl BufferSummary {
    /// [`BufferSummary::intact_until`] of a buffer whose events are not damaged.
    pub const INTACT: i64 = i64::MAX;

    /// A buffer of which nothing has been read yet.
    pub fn new(extent: BufferExtent) -> Self {
        BufferSummary {
            extent,
            events: 0,
            damaged_events: 0,
            damaged_bytes: 0,
            content_bytes: 0,
            first_ticks: 0,
            last_ticks: 0,
            intact_until: BufferSummary::INTACT,
            step_back: 0,
            disorder: 0,
            inherited: 0,
            recovered: 0,
            gap: Gap::NONE,
            subjects: 0,
            stacks: 0,
        }
    }

    /// The same buffer with a number that is higher by `shift`.
    pub(super) fn moved(&self, shift: u64) -> BufferSummary {
        let mut moved = *self;
        moved.extent.ordinal = moved.extent.ordinal.saturating_add(shift);
        moved
    }

    /// Whether an event shows what an id of one of these kinds means.
    pub fn describes(&self, subjects: &[Subject]) -> bool {
        subjects.iter().any(|subject| self.subjects >> *subject as u16 & 1 == 1)
    }

    /// Whether an event describes the stack of another.
    pub fn describes_stacks(&self) -> bool {
        self.stacks != 0
    }

    /// Whether it has a readable event, and so a first and a last time.
    pub fn has_events(&self) -> bool {
        self.events > 0
    }

    /// Whether it has events that were recorded and not made by the session: those of the header buffer are of its start
    /// and its end.
    pub fn is_data(&self) -> bool {
        self.has_events() && self.extent.ordinal > 0
    }

    /// Bytes of the expanded buffer in use: its header and the event data.
    pub fn used_bytes(&self) -> u64 {
        u64::from(BUFFER_HEADER_LEN) + u64::from(self.content_bytes)
    }

    /// Bytes of event data that the header promises and the file does not hold.
    pub fn missing_bytes(&self) -> u32 {
        let promised = self.extent.used_len.saturating_sub(BUFFER_HEADER_LEN);
        // A buffer of a type that need not hold events has no content and no damage.
        promised.saturating_sub(self.content_bytes).min(self.damaged_bytes)
    }

    /// Counts an event at the given time behind an event at `previous`.
    #[inline]
    pub(super) fn count(&mut self, ticks: i64, inherited: bool, previous: Option<i64>) {
        self.events += 1;
        self.inherited += u32::from(inherited);
        match previous {
            None => (self.first_ticks, self.last_ticks) = (ticks, ticks),
            Some(previous) if ticks >= previous => self.last_ticks = self.last_ticks.max(ticks),
            Some(previous) => {
                self.disorder += 1;
                self.step_back = self.step_back.max(previous.saturating_sub(ticks));
                self.first_ticks = self.first_ticks.min(ticks);
            }
        }
    }

    /// Whether the events can be cut at one offset for every time: they are sorted, and all times are their own.
    pub fn is_sorted(&self) -> bool {
        self.disorder == 0 && self.inherited == 0
    }
}
