//! What pass 2 counts.

use serde::{Deserialize, Serialize};

/// What pass 2 counted of one shape.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ShapeCounts {
    /// Rows written.
    pub rows: u64,
    /// Those whose columns represent all of the payload.
    pub ok_rows: u64,
    /// Bytes of their payloads.
    pub payload_bytes: u64,
}

impl ShapeCounts {
    /// Rows whose columns do not represent all of the payload. A report that was stored may say anything.
    pub fn undecoded(&self) -> u64 {
        self.rows.saturating_sub(self.ok_rows)
    }
}

/// What pass 2 counted of one input.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct InputCounts {
    /// Events that could be recognised and not read.
    pub damaged: u64,
    /// Events that the filters leave out.
    pub filtered: u64,
    /// Events whose neighbour in the order of the recording has the same time.
    pub ties: u64,
    /// Times beyond the limits of 64 bits.
    pub saturated_times: u64,
    /// The largest difference to the documented formula in doubles, in nanoseconds.
    pub double_formula_error_ns: i64,
}
