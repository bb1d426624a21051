//! `streams`: one row per stream of buffers of every input.

use super::row::sidecar_row;
use crate::survey::FileFacts;

sidecar_row! {
    /// The buffers of one processor, or all of them where the processors share one stream. Times are Unix nanoseconds.
    #[derive(Default)]
    "streams" StreamRow {
        /// The path relative to the input named by the user, with `/`.
        source: String,
        /// The processor; `None` where all share the stream.
        cpu: Option<u16>,
        /// Buffers, the header buffer included.
        buffers: u64,
        /// Readable events.
        events: u64,
        /// Bytes of expanded buffers in use: headers and event data.
        bytes_used: u64,
        /// `bytes_used` as a part of the size of the buffers in memory.
        fill_ratio: f64,
        /// Earliest event; in a ring, where others are, not one of the header buffer.
        first_time_ns: Option<i64>,
        /// Latest event.
        last_time_ns: Option<i64>,
        /// Events that are earlier than the event before them in their buffer.
        disorder_in_buffer: u64,
        /// Buffers that begin before those before them have ended.
        disorder_between_buffers: u64,
        /// Numbers that no buffer has; `None` unless there is one stream.
        sequence_gaps: Option<u64>,
    }
}

/// The rows of an input.
pub fn rows(file: &FileFacts) -> impl Iterator<Item = StreamRow> {
    file.streams.iter().map(|stream| StreamRow {
        source: file.source.clone(),
        cpu: stream.cpu,
        buffers: stream.buffers,
        events: stream.events,
        bytes_used: stream.bytes_used,
        fill_ratio: stream.fill_ratio,
        first_time_ns: stream.first_ns,
        last_time_ns: stream.last_ns,
        disorder_in_buffer: stream.disorder_in_buffer,
        disorder_between_buffers: stream.disorder_between_buffers,
        sequence_gaps: stream.sequence_gaps,
    })
}
