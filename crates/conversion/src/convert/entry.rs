//! One event of a slice, as far as its order needs it.

/// An event of a slice.
#[derive(Clone, Copy, Debug)]
pub struct Entry {
    /// Unix time in nanoseconds.
    pub ns: i64,
    /// The same in ticks of the input's clock.
    pub ticks: i64,
    /// Number of the segment in its slice.
    pub segment: u32,
    /// Offset from the first event of the buffer; of an event set aside, that among those of its segment.
    pub offset: u32,
}
