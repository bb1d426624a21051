//! Finds the events that walks can be of: those of the kernel at a time that walks name.

use base::error::Result;
use etl::buffer::content::Scratch;
use etl::event::stack::WalkedThread;
use spill::{SpillSpace, Spilled};

use zerocopy::{FromBytes, Immutable, IntoBytes};

use super::buffers::Buffers;
use crate::survey::walks::{EventPlace, Walk, WalkedEvents};
use crate::survey::{BufferSummary, FileKey};

/// Events that are kept of a recording: more of them at times that walks name are not looked at.
pub(super) const MAX_SIGHTINGS: usize = 1 << 26;

/// An event at a time of which there are walks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, FromBytes, Immutable, IntoBytes)]
#[repr(C)]
pub(super) struct Sighting {
    /// Where it stands.
    pub(super) at: EventPlace,
    /// Its thread, of whose event at the time there is a walk; [`Sighting::OTHER`] where there is none.
    pub(super) thread: u32,
    padding: u32,
}

impl Sighting {
    /// No thread of which there is a walk. It is the number that stands for no thread.
    pub(super) const OTHER: u32 = u32::MAX;

    /// An event in a place.
    pub(super) fn new(at: FileKey, thread: u32) -> Self {
        Sighting { at: at.into(), thread, padding: 0 }
    }

    /// By time and thread, then by place.
    pub(super) fn order(&self) -> (i64, u32, FileKey) {
        (self.at.ticks(), self.thread, self.at.key())
    }
}

/// Walks that are passed over one by one before the place of the next is searched for.
const STEPS: usize = 8;

/// The events at times that walks name, of the threads that they name; of the other events at such a time one at least.
/// `walks` are sorted by time, thread and place; buffers are read of which no events are `walked`.
///
/// # Errors
/// When the input cannot be read, when there is no space, or when the caller asked to stop.
pub(super) fn sightings(
    buffers: &Buffers<'_>,
    walks: &[Walk],
    walked: &WalkedEvents,
    space: &SpillSpace,
) -> Result<Spilled<Sighting>> {
    let mut sightings = space.records();
    let has_walks = |buffer: &&BufferSummary| buffer.has_events() && !within(walks, buffer).is_empty();
    let wanted: Vec<&BufferSummary> = buffers.file.buffers.iter().filter(has_walks).collect();
    let read = |buffer: &BufferSummary, scratch: &mut Scratch, found: &mut Vec<Sighting>| {
        let mut matcher = Matcher::new(within(walks, buffer), found);
        let mut see = |at: FileKey, thread: &dyn Fn() -> Option<WalkedThread>| {
            if matcher.has_walks(at.ticks) {
                thread().into_iter().for_each(|thread| matcher.see(at, thread));
            }
        };
        if let Some(events) = walked.of(buffer.extent.ordinal) {
            let place = FileKey::in_buffer(&buffers.reader.rules, &buffer.extent);
            events.iter().for_each(|event| see(place(event.ticks, event.offset), &|| Some(event.thread())));
            return Ok(());
        }
        let file = &buffers.reader.rules.context;
        buffers.visit(buffer, scratch, |event, at| {
            if !event.inherited {
                see(at, &|| WalkedThread::of(&event.raw, file));
            }
        })
    };
    buffers.read(&wanted, read, |found| {
        let room = MAX_SIGHTINGS.saturating_sub(sightings.len()).min(found.len());
        sightings.extend(&found[..room])
    })?;
    sightings.finish()
}

/// The walks of events in the time of a buffer.
fn within<'w>(walks: &'w [Walk], buffer: &BufferSummary) -> &'w [Walk] {
    let from = walks.partition_point(|walk| walk.event_ticks < buffer.first_ticks);
    let behind = &walks[from..];
    &behind[..behind.partition_point(|walk| walk.event_ticks <= buffer.last_ticks)]
}

/// Holds the events of a buffer, in their order there, against walks.
struct Matcher<'a> {
    walks: &'a [Walk],
    /// The first walk that is not of a time before the last event.
    next: usize,
    last_ticks: i64,
    found: &'a mut Vec<Sighting>,
    /// Where those of this buffer begin.
    start: usize,
}

impl<'a> Matcher<'a> {
    fn new(walks: &'a [Walk], found: &'a mut Vec<Sighting>) -> Self {
        let start = found.len();
        Matcher { walks, next: 0, last_ticks: i64::MIN, found, start }
    }

    /// Whether there are walks of a time. Times mostly ascend.
    #[inline]
    fn has_walks(&mut self, ticks: i64) -> bool {
        if ticks < self.last_ticks {
            self.next = self.walks.partition_point(|walk| walk.event_ticks < ticks);
        }
        self.last_ticks = ticks;
        for _ in 0..STEPS {
            match self.walks.get(self.next) {
                Some(walk) if walk.event_ticks < ticks => self.next += 1,
                found => return found.is_some_and(|walk| walk.event_ticks == ticks),
            }
        }
        let rest = &self.walks[self.next..];
        self.next += rest.partition_point(|walk| walk.event_ticks < ticks);
        self.walks.get(self.next).is_some_and(|walk| walk.event_ticks == ticks)
    }

    /// Keeps an event of a thread at a time of which there are walks.
    fn see(&mut self, at: FileKey, thread: WalkedThread) {
        let of_thread = match thread {
            WalkedThread::Known(thread) => self.first_walk(at.ticks, thread),
            WalkedThread::Unknown => None,
        };
        let sighting = Sighting::new(at, of_thread.map_or(Sighting::OTHER, |walk| walk.thread));
        // Of several events before all walks the last one is meant; and that there are others is to be known once.
        let is_last_meant = of_thread.is_none_or(|walk| walk.at.ticks() > at.ticks);
        let is_again = |last: &Sighting| (last.at.ticks(), last.thread) == (at.ticks, sighting.thread);
        match self.found[self.start..].last_mut() {
            Some(last) if is_last_meant && is_again(last) => *last = sighting,
            _ => self.found.push(sighting),
        }
    }

    /// The first walk of the event of a thread at a time.
    fn first_walk(&self, ticks: i64, thread: u32) -> Option<&'a Walk> {
        let rest = &self.walks[self.next..];
        let place = rest.partition_point(|walk| (walk.event_ticks, walk.thread) < (ticks, thread));
        rest.get(place).filter(|walk| (walk.event_ticks, walk.thread) == (ticks, thread))
    }
}

#[cfg(test)]
mod tests {
    use crate::survey::walks::WalkPart;

    use super::*;

    fn at(ticks: i64, offset: u32) -> FileKey {
        FileKey { ticks, stream: 0, sequence: 0, ordinal: 0, offset }
    }

    fn walk(event_ticks: i64, thread: u32, ticks: i64) -> Walk {
        Walk::new(at(ticks, 0), event_ticks, (thread, None), WalkPart::List(0))
    }

    /// What is kept of events with these times and threads, by offset.
    fn t(walks: &[Walk], events: &[(i64, u32)], expected: &[(u32, u32)]) {
        let mut found = vec![Sighting::new(at(0, 0), 0)];
        let mut matcher = Matcher::new(walks, &mut found);
        for (offset, &(ticks, thread)) in (0..).zip(events) {
            if matcher.has_walks(ticks) {
                let thread = if thread > 0 { WalkedThread::Known(thread) } else { WalkedThread::Unknown };
                matcher.see(at(ticks, offset), thread);
            }
        }
        let found: Vec<_> = found[1..].iter().map(|found| (found.at.key().offset, found.thread)).collect();
        assert_eq!(found, expected, "{events:?}");
    }

    #[test]
    fn events_are_found_by_time_and_thread() {
        const OTHER: u32 = Sighting::OTHER;
        let walks = [walk(10, 1, 11), walk(10, 2, 11), walk(20, 1, 21), walk(30, 1, 30), walk(30, 1, 31)];
        t(&walks, &[(9, 1), (10, 1), (10, 2), (11, 1), (20, 1)], &[(1, 1), (2, 2), (4, 1)]);
        t(&walks, &[(10, 3), (10, 0), (10, 1), (10, 3)], &[(1, OTHER), (2, 1), (3, OTHER)]);
        // The last of several before all walks; where a walk has the time of its event, all of them.
        t(&walks, &[(20, 1), (20, 1), (30, 1), (30, 1)], &[(1, 1), (2, 1), (3, 1)]);
        // In no order.
        t(&walks, &[(30, 1), (10, 2), (20, 1), (10, 1)], &[(0, 1), (1, 2), (2, 1), (3, 1)]);
        t(&[], &[(30, 1)], &[]);
    }

    #[test]
    fn many_walks_are_passed_over_at_once() {
        let walks: Vec<_> = (0..1000).map(|n| walk(n, 1, n + 1)).collect();
        t(&walks, &[(0, 1), (999, 1), (3, 1), (500, 1)], &[(0, 1), (1, 1), (2, 1), (3, 1)]);
    }
}
