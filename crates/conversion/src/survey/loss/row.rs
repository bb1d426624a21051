//! One row of the ledger: a sign that something is missing, with where and when.

use serde::Serialize;

/// What kind of evidence of a loss there is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum LossKind {
    /// A buffer says that buffers are missing before it.
    BufferFlagBufferLost,
    /// A buffer says that events are missing before it.
    BufferFlagEventsLost,
    /// The header's counter of buffers.
    BuffersLost,
    /// Newer buffers have overwritten older ones.
    CircularOverwrite,
    /// Bytes stand where a buffer should, or its data is not all there.
    DamagedBuffer,
    /// Bytes stand where an event should.
    DamagedEvent,
    /// The header's counter of events.
    EventsLost,
    /// A processor dropped its last event then.
    LastDroppedTime,
    /// An event describes the loss.
    LostEventRecord,
    /// A file of a series is not among the inputs.
    MissingFile,
    /// The header's counter of buffers that a real-time consumer missed.
    RealTimeBuffersLost,
    /// Numbers that no buffer has.
    SequenceGap,
    /// The end of the file is missing.
    TruncatedTail,
}

impl LossKind {
    /// Whether it is a counter, which every file has.
    pub fn is_counter(self) -> bool {
        matches!(self, LossKind::EventsLost | LossKind::BuffersLost | LossKind::RealTimeBuffersLost)
    }

    /// All kinds.
    pub const ALL: [LossKind; 13] = [
        LossKind::BufferFlagBufferLost,
        LossKind::BufferFlagEventsLost,
        LossKind::BuffersLost,
        LossKind::CircularOverwrite,
        LossKind::DamagedBuffer,
        LossKind::DamagedEvent,
        LossKind::EventsLost,
        LossKind::LastDroppedTime,
        LossKind::LostEventRecord,
        LossKind::MissingFile,
        LossKind::RealTimeBuffersLost,
        LossKind::SequenceGap,
        LossKind::TruncatedTail,
    ];

    /// The kind of a name.
    pub fn of_name(name: &str) -> Option<Self> {
        LossKind::ALL.into_iter().find(|kind| kind.as_str() == name)
    }

    /// The name used in the sidecar.
    pub const fn as_str(self) -> &'static str {
        match self {
            LossKind::BufferFlagBufferLost => "buffer_flag_buffer_lost",
            LossKind::BufferFlagEventsLost => "buffer_flag_events_lost",
            LossKind::BuffersLost => "buffers_lost",
            LossKind::CircularOverwrite => "circular_overwrite",
            LossKind::DamagedBuffer => "damaged_buffer",
            LossKind::DamagedEvent => "damaged_event",
            LossKind::EventsLost => "events_lost",
            LossKind::LastDroppedTime => "last_dropped_time",
            LossKind::LostEventRecord => "lost_event_record",
            LossKind::MissingFile => "missing_file",
            LossKind::RealTimeBuffersLost => "real_time_buffers_lost",
            LossKind::SequenceGap => "sequence_gap",
            LossKind::TruncatedTail => "truncated_tail",
        }
    }
}

/// One known or possible gap in a recording.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LossRow {
    /// What kind of evidence there is.
    pub kind: LossKind,
    /// The processor; `None` where it is not known, or where it is all of them.
    pub cpu: Option<u16>,
    /// When the gap begins at the earliest, Unix nanoseconds.
    pub from_ns: Option<i64>,
    /// When it ends at the latest.
    pub to_ns: Option<i64>,
    /// The last buffer before it, numbered in file order.
    pub from_buffer: Option<u64>,
    /// The first buffer behind it; equal to [`LossRow::from_buffer`] where the gap lies within one.
    pub to_buffer: Option<u64>,
    /// How much was lost; `None` where nothing says.
    pub count: Option<u64>,
    /// What is counted: `events`, `buffers`, `bytes` or `files`.
    pub unit: &'static str,
    /// Whether more may have been lost than the count says.
    pub is_lower_bound: bool,
    /// Whether the row states a fact; else it is a possible loss.
    pub is_certain: bool,
    /// Where in the file that is written.
    pub evidence: String,
    /// What else there is to know; may be empty.
    pub note: &'static str,
}

impl LossRow {
    pub(super) fn new(kind: LossKind, unit: &'static str, evidence: impl Into<String>) -> LossRow {
        LossRow {
            kind,
            cpu: None,
            from_ns: None,
            to_ns: None,
            from_buffer: None,
            to_buffer: None,
            count: None,
            unit,
            is_lower_bound: false,
            is_certain: false,
            evidence: evidence.into(),
            note: "",
        }
    }

    /// Whether the row is that of a counter, which every file has.
    pub fn is_counter(&self) -> bool {
        self.kind.is_counter()
    }

    /// Whether the row proves that the recording lost something. What a ring overwrote is no loss: to keep the latest
    /// is its purpose.
    pub fn is_known_loss(&self) -> bool {
        self.is_certain && self.count != Some(0) && self.kind != LossKind::CircularOverwrite
    }

    /// Whether the row describes a part of the file that is missing or cannot be read.
    pub fn is_damage(&self) -> bool {
        matches!(self.kind, LossKind::TruncatedTail | LossKind::DamagedBuffer | LossKind::DamagedEvent)
            && self.count != Some(0)
    }

    /// Adds another row of the kind: the window of both, and what both count.
    pub(super) fn absorb(&mut self, other: &LossRow) {
        let earliest = |a: Option<i64>, b: Option<i64>| Some(a?.min(b?));
        let latest = |a: Option<i64>, b: Option<i64>| Some(a?.max(b?));
        (self.from_ns, self.to_ns) = (earliest(self.from_ns, other.from_ns), latest(self.to_ns, other.to_ns));
        self.from_buffer = self.from_buffer.zip(other.from_buffer).map(|(a, b)| a.min(b));
        self.to_buffer = self.to_buffer.zip(other.to_buffer).map(|(a, b)| a.max(b));
        self.count = match (self.count, other.count) {
            (Some(a), Some(b)) => Some(a.saturating_add(b)),
            (count, None) | (None, count) => count,
        };
        self.is_lower_bound |= other.is_lower_bound;
        self.is_certain |= other.is_certain;
    }

    /// Between two times, of which a disordered file may have the later one first.
    pub(super) fn between(mut self, from_ns: Option<i64>, to_ns: Option<i64>) -> LossRow {
        (self.from_ns, self.to_ns) = match (from_ns, to_ns) {
            (Some(from), Some(to)) => (Some(from.min(to)), Some(from.max(to))),
            window => window,
        };
        self
    }
}
