//! What a row holds beside its event: time, rank and how it was decoded.

use base::clock::TimeStatus;
use etl::event::named_ids::AttributedIds;

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
    pub const ALL: [RowStatus; 6] = {
        let [ok, padded, short, extra, error] = Status::ALL;
        [
            RowStatus::Decoded(ok),
            RowStatus::Decoded(padded),
            RowStatus::Decoded(short),
            RowStatus::Decoded(extra),
            RowStatus::Decoded(error),
            RowStatus::NoSchema,
        ]
    };

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
            RowStatus::Decoded(status) => status as u8,
            RowStatus::NoSchema => Status::Error as u8 + 1,
        }
    }

    /// Whether the columns stand for every byte of the payload.
    pub fn is_whole(self) -> bool {
        matches!(self, RowStatus::Decoded(status) if status.is_whole())
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
    /// Whose the event is.
    pub ids: AttributedIds,
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
    /// Whether it was found again behind damage.
    pub is_recovered: bool,
}

/// The stack of an event that does not have it in its own header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stack<'a> {
    /// Its return addresses, innermost first.
    pub addresses: &'a [u64],
    /// Their `stack_id`, the beginning of a hash over them.
    pub id: i64,
    /// The process of its event's thread, if those who walked it name one.
    pub process: Option<u32>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_code_of_a_status_is_its_index() {
        assert_eq!(RowStatus::ALL.map(RowStatus::code), [0, 1, 2, 3, 4, 5]);
        assert_eq!(RowStatus::ALL.map(RowStatus::is_whole), [true, true, false, false, false, false]);
    }
}
