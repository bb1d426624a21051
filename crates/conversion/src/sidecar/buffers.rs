//! `buffers`: one row per buffer of every input.

use super::row::sidecar_row;
use crate::survey::{BufferSummary, FileSurvey};

sidecar_row! {
    /// A buffer of an input. Times are Unix nanoseconds.
    "buffers" BufferRow<'a> {
        /// The path relative to the input named by the user, with `/`.
        source: &'a str,
        /// Its number in file order.
        buffer: u64,
        /// Where it begins.
        file_offset: u64,
        /// Bytes that it takes in the file.
        stored_bytes: u32,
        /// Bytes of it in memory.
        expanded_bytes: u64,
        /// Bytes in use: header and event data.
        used_bytes: u64,
        /// The processor.
        cpu: Option<u16>,
        /// Its number in the session.
        sequence: i64,
        /// Flags of its header.
        flags: u16,
        /// Type of its header.
        r#type: u16,
        /// Earliest event.
        first_time_ns: Option<i64>,
        /// Latest event.
        last_time_ns: Option<i64>,
        /// Readable events.
        events: u32,
        /// Those of them that were found again behind damage.
        recovered_events: Option<u32> => since 4,
    }
}

/// The rows of an input.
pub(super) fn rows(file: &FileSurvey) -> impl Iterator<Item = BufferRow<'_>> {
    file.buffers.iter().map(move |buffer| row(file, buffer))
}

fn row<'a>(file: &'a FileSurvey, buffer: &BufferSummary) -> BufferRow<'a> {
    let extent = &buffer.extent;
    let time = |ticks| buffer.has_events().then(|| file.unix_ns(ticks));
    BufferRow {
        source: &file.name,
        buffer: extent.ordinal,
        file_offset: extent.offset,
        stored_bytes: extent.stored_len,
        // What is stored is what it becomes, unless it is compressed.
        expanded_bytes: if extent.is_compressed() { buffer.used_bytes() } else { u64::from(extent.stored_len) },
        used_bytes: buffer.used_bytes(),
        cpu: file.cpu(buffer),
        sequence: extent.sequence,
        flags: extent.flags,
        r#type: extent.buffer_type,
        first_time_ns: time(buffer.first_ticks),
        last_time_ns: time(buffer.last_ticks),
        events: buffer.events,
        recovered_events: Some(buffer.recovered),
    }
}
