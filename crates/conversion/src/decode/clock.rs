//! What decoding asks of the trace's clock.

/// The trace's clock, as far as payloads need it.
pub trait TraceClock {
    /// Nanoseconds since 1970-01-01 UTC at a raw tick; `None` when the trace does not record it (no usable frequency) or
    /// the time does not fit.
    fn unix_ns(&self, ticks: i64) -> Option<i64>;

    /// Nanoseconds in a span of the performance counter, rounded down; `None` when the trace does not record it (no usable
    /// frequency) or the span does not fit.
    fn span_ns(&self, ticks: u64) -> Option<i64>;

    /// Whether the raw tick can be computed back from [`TraceClock::unix_ns`]. Where it cannot, payloads with such
    /// times are kept.
    fn is_reversible(&self) -> bool {
        true
    }
}

/// A clock that knows no time: every time of the trace's clock is NULL, and its payload is kept.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoClock;

impl TraceClock for NoClock {
    fn unix_ns(&self, _: i64) -> Option<i64> {
        None
    }

    fn span_ns(&self, _: u64) -> Option<i64> {
        None
    }
}
