//! Where an event stands among all events of its file.

use etl::buffer::scan::BufferExtent;
use etl::reader::ReadRules;

/// The place of an event in the order of its file: time, then stream, then buffer, then offset.
///
/// The number of the buffer in the file breaks ties between buffers that share a sequence number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize)]
pub struct FileKey {
    /// Time in ticks of the session's clock.
    pub ticks: i64,
    /// The stream: the processor, or 0 where all share one.
    pub stream: u16,
    /// Number of the buffer in its session; 0 in a file of several sessions.
    pub sequence: i64,
    /// Number of the buffer in its file.
    pub ordinal: u64,
    /// Offset of the event from the first event of its buffer.
    pub offset: u32,
}

impl FileKey {
    /// The places of the events of a buffer, by their time in ticks and their offset.
    #[inline]
    pub fn in_buffer(rules: &ReadRules, extent: &BufferExtent) -> impl Fn(i64, u32) -> FileKey + use<> {
        let (stream, sequence, ordinal) = (rules.stream(extent), rules.sequence(extent), extent.ordinal);
        move |ticks, offset| FileKey { ticks, stream, sequence, ordinal, offset }
    }

    /// The place in the file itself.
    pub fn in_file(&self) -> (u64, u32) {
        (self.ordinal, self.offset)
    }
}
