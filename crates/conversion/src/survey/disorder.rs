//! How far the events of a file are from being in order.

use serde::{Deserialize, Serialize};

/// How far the events of a file are from being in order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Disorder {
    /// Events that are earlier than the event before them in their buffer.
    pub in_buffer: u64,
    /// Buffers that begin before those before them in their stream have ended.
    pub between_buffers: u64,
    /// Buffers that begin before the buffer before them in the file begins. Usual with several processors.
    pub in_file: u64,
    /// The largest step back in time within a buffer, or from the end of a stream's buffers to the next one.
    pub largest_step_back_ns: i64,
    /// The largest step forward in time from the end of a stream's buffers to the next one: a pause, or a clock that was
    /// set.
    pub largest_step_forward_ns: i64,
    /// The buffer, numbered in file order, behind the largest step back between buffers.
    pub late_buffer: Option<u64>,
    /// The buffer behind the largest step forward.
    pub early_buffer: Option<u64>,
}

impl Disorder {
    /// Whether events would come out of order if they were read stream by stream. Disorder in the file alone is usual.
    pub fn is_any(&self) -> bool {
        self.in_buffer > 0 || self.between_buffers > 0
    }
}
