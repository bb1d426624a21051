//! Gives every event of a buffer a time.
//!
//! Some WPP messages and the obsolete headers carry none; they take the time of the event before them in their
//! buffer, the first ones that of the first event that has one.

use super::walk::{Gap, RawEvent, Walk, WalkStep};

/// One event with its time in ticks of the session's clock.
#[derive(Clone, Copy, Debug)]
pub struct TimedEvent<'a> {
    /// The event.
    pub raw: RawEvent<'a>,
    /// Its time.
    pub ticks: i64,
    /// Whether the time is another event's.
    pub inherited: bool,
}

/// What stands at one position of a buffer.
#[derive(Clone, Copy, Debug)]
pub enum TimedStep<'a> {
    /// An event.
    Event(TimedEvent<'a>),
    /// As [`WalkStep::Damage`].
    Damage {
        /// Offset of the first byte.
        offset: u32,
        /// How many.
        len: u32,
        /// Whether they begin with an event header.
        recognisable: bool,
    },
}

/// A [`Walk`] that knows the time of every event.
#[derive(Clone, Debug)]
pub struct TimedWalk<'a> {
    walk: Walk<'a>,
    last: Option<i64>,
    fallback: i64,
}

impl<'a> TimedWalk<'a> {
    /// Walks `bytes`, which begin with an event at `origin` bytes from the first event of the buffer. `fallback` is
    /// the time of a buffer in which no event has one.
    ///
    /// A walk that begins in the middle must begin with an event that has a time of its own.
    pub fn new(bytes: &'a [u8], origin: u32, fallback: i64) -> Self {
        TimedWalk { walk: Walk::new(bytes, origin), last: None, fallback }
    }

    /// The same, going on behind a gap.
    #[must_use]
    pub fn across(self, gap: Gap) -> Self {
        TimedWalk { walk: self.walk.across(gap), ..self }
    }

    /// Goes on behind a gap that was found at the damage of the last step.
    pub fn go_on_behind(&mut self, gap: Gap) {
        self.walk.go_on_behind(gap);
    }

    #[cold]
    fn inherit(&self) -> i64 {
        let first_of_rest = || {
            self.walk.clone().find_map(|step| match step {
                WalkStep::Event(event) => event.ticks(),
                WalkStep::Damage { .. } => None,
            })
        };
        self.last.or_else(first_of_rest).unwrap_or(self.fallback)
    }
}

impl<'a> Iterator for TimedWalk<'a> {
    type Item = TimedStep<'a>;

    #[expect(clippy::inline_always, reason = "a step that goes through memory costs more than to find it")]
    #[inline(always)]
    fn next(&mut self) -> Option<TimedStep<'a>> {
        let raw = match self.walk.next()? {
            WalkStep::Event(raw) => raw,
            WalkStep::Damage { offset, len, recognisable } => {
                return Some(TimedStep::Damage { offset, len, recognisable });
            }
        };
        let own = raw.ticks();
        let ticks = own.unwrap_or_else(|| self.inherit());
        self.last = Some(ticks);
        Some(TimedStep::Event(TimedEvent { raw, ticks, inherited: own.is_none() }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A WPP message of number `n`, with a time or without.
    fn message(n: u8, ticks: Option<i64>) -> Vec<u8> {
        let (size, flags) = if ticks.is_some() { (16, 8) } else { (8, 0) };
        let mut bytes = vec![size, 0, 0, 0x90, n, 0, flags, 0];
        bytes.extend(ticks.into_iter().flat_map(i64::to_le_bytes));
        bytes
    }

    fn times(bytes: &[u8]) -> Vec<(i64, bool)> {
        TimedWalk::new(bytes, 0, 99)
            .filter_map(|step| match step {
                TimedStep::Event(event) => Some((event.ticks, event.inherited)),
                TimedStep::Damage { .. } => None,
            })
            .collect()
    }

    #[test]
    fn an_event_without_a_time_takes_its_neighbours() {
        let bytes = [message(1, None), message(2, Some(5)), message(3, None), message(4, Some(7))].concat();
        assert_eq!(times(&bytes), [(5, true), (5, false), (5, true), (7, false)]);
        assert_eq!(times(&message(1, None)), [(99, true)]);
    }
}
