//! What a row holds beside its event: time, rank and how it was decoded.

use crate::clock::TimeStatus;
use crate::decode::Status;

/// How a row was decoded: a [`Status`], or none because there is no schema.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum RowStatus {
    /// A schema was applied.
    Decoded(Status),
    /// There is no schema.
    NoSchema,
}

impl RowStatus {
    /// All values; the index is [`RowStatus::code`].
    pub const ALL: [RowStatus; 6] = [
        RowStatus::Decoded(Status::Ok),
        RowStatus::Decoded(Status::Padded),
        RowStatus::Decoded(Status::Short),
        RowStatus::Decoded(Status::Extra),
        RowStatus::Decoded(Status::Error),
        RowStatus::NoSchema,
    ];

    /// The value of the column `decode_status`.
    pub fn name(self) -> &'static str {
        match self {
            RowStatus::Decoded(status) => status.as_str(),
            RowStatus::NoSchema => "no_schema",
        }
    }

    /// The index in [`RowStatus::ALL`].
    pub fn code(self) -> u8 {
        match self {
            RowStatus::Decoded(Status::Ok) => 0,
            RowStatus::Decoded(Status::Padded) => 1,
            RowStatus::Decoded(Status::Short) => 2,
            RowStatus::Decoded(Status::Extra) => 3,
            RowStatus::Decoded(Status::Error) => 4,
            RowStatus::NoSchema => 5,
        }
    }
}

/// What a row holds beside the event's own header and payload columns.
#[derive(Clone, Copy, Debug)]
pub struct RowContext {
    /// Unix time in nanoseconds.
    pub ns: i64,
    /// Position in the order of the recording.
    pub seq: i64,
    /// Raw time, where the nanoseconds do not determine it.
    pub ticks: Option<i64>,
    /// What is special about the time.
    pub time_status: Option<TimeStatus>,
    /// The processor, where the session knows it.
    pub cpu: Option<u16>,
    /// Number of the input.
    pub input: u16,
    /// Number of the shape.
    pub shape: u32,
    /// Nanoseconds of a timer tick.
    pub timer_ns: i64,
    /// How it was decoded.
    pub status: RowStatus,
    /// Whether the payload is kept.
    pub keep_payload: bool,
}
