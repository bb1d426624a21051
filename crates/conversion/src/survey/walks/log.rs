//! What a file records of stacks, in file order.

use base::error::Result;
use spill::{SpillSpace, SpillWriter, Spilled};

use super::found::{Ends, FoundBuffer, FoundPart, FoundWalks, StackRecord};
use super::lists::{Added, ListWriter, Lists};
use super::records::{Definition, MAX_KEPT, Walk, WalkPart, WalkedBuffer, WalkedEvent};
use super::taker::{WalkRoom, WalkTaker};

/// Events that a walk can be of, which are kept of a file: 1 GiB of them. Buffers that have more are read again.
const MAX_WALKED: usize = 1 << 26;

/// What is recorded of stacks in the buffers of a file so far.
#[derive(Debug)]
pub struct WalkLog {
    walks: SpillWriter<Walk>,
    definitions: SpillWriter<Definition>,
    parts: ListWriter,
    walked: SpillWriter<WalkedEvent>,
    buffers: SpillWriter<WalkedBuffer>,
    /// Walks, and those of them for which there was no room.
    counts: (u64, u64),
    /// The first buffer that the survey has not logged, once it logs no more.
    until: Option<u64>,
}

/// What is recorded of stacks in a file.
#[derive(Debug)]
pub struct RecordedWalks {
    /// The walks, in file order.
    pub walks: Spilled<Walk>,
    /// What keys stand for, in file order.
    pub definitions: Spilled<Definition>,
    /// The addresses of both.
    pub parts: Lists,
    /// The events that walks can be of.
    pub walked: WalkedEvents,
    /// How many walks there are.
    pub count: u64,
    /// Those of them for which there was no room.
    pub no_room: u64,
}

/// The events that walks can be of, by buffer, of buffers of which they are known.
#[derive(Debug)]
pub struct WalkedEvents {
    events: Spilled<WalkedEvent>,
    /// In file order.
    buffers: Spilled<WalkedBuffer>,
}

impl WalkLog {
    /// Nothing yet; it is kept in this space.
    pub fn new(space: &SpillSpace) -> Self {
        WalkLog {
            walks: space.records(),
            definitions: space.records(),
            parts: ListWriter::new(space),
            walked: space.records(),
            buffers: space.records(),
            counts: (0, 0),
            until: None,
        }
    }

    /// Whether the survey has logged what a buffer records.
    pub fn covers(&self, ordinal: u64) -> bool {
        self.until.is_some_and(|until| ordinal < until)
    }

    /// Adds what the survey has taken down of the next buffers.
    ///
    /// # Errors
    /// Those of [`SpillWriter::push`].
    pub(in crate::survey) fn take_down(&mut self, taker: WalkTaker, room: &WalkRoom) -> Result<()> {
        if self.until.is_some() {
            return Ok(());
        }
        let (found, left_out) = taker.into_found();
        for found in &found {
            let buffers = found.buffers.iter().take_while(|buffer| left_out.is_none_or(|first| buffer.ordinal < first));
            self.take_buffers(found, buffers.count())?;
            room.give_back(found.bytes());
        }
        left_out.into_iter().for_each(|first| self.cover(first));
        Ok(())
    }

    /// Says that the survey logs no buffer from this one on.
    pub(in crate::survey) fn cover(&mut self, until: u64) {
        self.until.get_or_insert(until);
    }

    /// Adds what the next buffers record.
    ///
    /// # Errors
    /// Those of [`SpillWriter::push`].
    pub fn take(&mut self, found: &FoundWalks) -> Result<()> {
        self.take_buffers(found, found.buffers.len())
    }

    fn take_buffers(&mut self, found: &FoundWalks, count: usize) -> Result<()> {
        let (mut rest, mut from) = (&found.addresses[..], Ends::default());
        for buffer in &found.buffers[..count] {
            for record in &found.records[from.records..buffer.ends.records] {
                self.take_record(record, &mut rest)?;
            }
            self.take_walked(buffer, &found.walked[from.walked..buffer.ends.walked])?;
            from = buffer.ends;
        }
        Ok(())
    }

    fn take_record(&mut self, (at, record): &(crate::survey::FileKey, StackRecord), rest: &mut &[u64]) -> Result<()> {
        match *record {
            StackRecord::Walk { event_ticks, ids, part } => {
                self.counts.0 += 1;
                if self.walks.len() >= MAX_KEPT {
                    self.counts.1 += 1;
                    pass_over(rest, part);
                    return Ok(());
                }
                let part = self.part(part, rest)?;
                self.walks.push(Walk::new(*at, event_ticks, ids, part))
            }
            StackRecord::Key { part, .. } if self.definitions.len() >= MAX_KEPT => {
                pass_over(rest, part);
                Ok(())
            }
            StackRecord::Key { key, when, part } => {
                let part = self.part(part, rest)?;
                self.definitions.push(Definition::new(*at, key, when, part))
            }
        }
    }

    fn take_walked(&mut self, buffer: &FoundBuffer, events: &[WalkedEvent]) -> Result<()> {
        let start = self.walked.len();
        if !buffer.has_walked || start.saturating_add(events.len()) > MAX_WALKED {
            return Ok(());
        }
        self.walked.extend(events)?;
        self.buffers.push(WalkedBuffer { ordinal: buffer.ordinal, start: start as u64, events: events.len() as u64 })
    }

    /// A part with its addresses, which are taken from the front of `rest`.
    fn part(&mut self, part: FoundPart, rest: &mut &[u64]) -> Result<WalkPart> {
        let addresses = match part {
            FoundPart::Addresses(count) => rest.split_off(..count).unwrap_or_default(),
            FoundPart::Key(key) => return Ok(WalkPart::Key(key)),
            FoundPart::TooLong => return Ok(WalkPart::TooLong),
        };
        // Parts have no ids: those of events do.
        Ok(match self.parts.add(addresses, |_| 0)? {
            Added::Number(list) => WalkPart::List(list),
            Added::NoRoom => WalkPart::NoRoom,
        })
    }

    /// All that was logged.
    ///
    /// # Errors
    /// Those of [`SpillWriter::finish`].
    pub fn finish(self) -> Result<RecordedWalks> {
        let (count, no_room) = self.counts;
        Ok(RecordedWalks {
            walks: self.walks.finish()?,
            definitions: self.definitions.finish()?,
            parts: self.parts.finish()?,
            walked: WalkedEvents { events: self.walked.finish()?, buffers: self.buffers.finish()? },
            count,
            no_room,
        })
    }
}

/// Passes over the addresses of a part that is not kept.
fn pass_over(rest: &mut &[u64], part: FoundPart) {
    if let FoundPart::Addresses(count) = part {
        _ = rest.split_off(..count);
    }
}

impl WalkedEvents {
    /// The events of a buffer, in their order there; `None` where they are not known.
    pub fn of(&self, ordinal: u64) -> Option<&[WalkedEvent]> {
        let place = self.buffers.binary_search_by_key(&ordinal, |buffer| buffer.ordinal).ok()?;
        let buffer = self.buffers.get(place)?;
        let (start, events) = (usize::try_from(buffer.start).ok()?, usize::try_from(buffer.events).ok()?);
        self.events.get(start..)?.get(..events)
    }
}

#[cfg(test)]
mod tests {
    use etl::event::stack::Walkable;
    use etl::event::stack::{StackDescription, WalkedThread};
    use etl::event::{EventIdentity, FileContext, RawEvent};
    use etl::layout::header::HeaderFamily;

    use super::*;
    use crate::survey::FileKey;

    const FILE: FileContext = FileContext { pointer_size: 8, private_session: false };

    /// A walk of thread 5 at a time, with one address: a PERFINFO event of 64 bits, at 7 ticks.
    fn walk(event_ticks: i64) -> Vec<u8> {
        let head = [2, 0, 0x11, 0xC0, 40, 0, 0x20, 0x18, 7, 0, 0, 0, 0, 0, 0, 0];
        [&head[..], &event_ticks.to_le_bytes(), &[1, 0, 0, 0, 5, 0, 0, 0], &[9; 8]].concat()
    }

    /// A sample of thread 5 at 6 ticks.
    const SAMPLE: [u8; 32] = {
        let mut sample = [0; 32];
        (sample[0], sample[2], sample[3], sample[4], sample[6], sample[7]) = (2, 0x11, 0xC0, 32, 0x2E, 0x0F);
        (sample[8], sample[24]) = (6, 5);
        sample
    };

    fn at(ordinal: u64, offset: u32) -> FileKey {
        FileKey { ticks: 7, stream: 0, sequence: 0, ordinal, offset }
    }

    /// Takes down a buffer with a sample and a walk.
    fn take_down(taker: &mut WalkTaker, ordinal: u64) {
        taker.begin();
        let sample = RawEvent { offset: 0, family: HeaderFamily::PerfInfo64, bytes: &SAMPLE };
        if taker.takes_walked() {
            let walkable = Walkable::of(&EventIdentity::of(&sample, &FILE)).unwrap();
            taker.add_walked(walkable, &sample, &FILE, at(ordinal, 0));
        }
        let bytes = walk(i64::try_from(ordinal).unwrap());
        let raw = RawEvent { offset: 32, family: HeaderFamily::PerfInfo64, bytes: &bytes };
        assert!(matches!(StackDescription::of(&raw, &FILE), Some(StackDescription::Walk { thread: 5, .. })));
        taker.describe(&raw, &FILE, at(ordinal, 32));
        taker.end(ordinal);
    }

    /// The times that the walks of a log name, and the buffers of which the events are known that walks can be of.
    fn found(log: WalkLog) -> (Vec<i64>, Vec<u64>) {
        let recorded = log.finish().unwrap();
        assert_eq!((recorded.count, recorded.no_room), (recorded.walks.len() as u64, 0));
        let walked = (0..100).filter(|ordinal| {
            let events = recorded.walked.of(*ordinal);
            assert!(events.is_none_or(|events| {
                events.iter().all(|event| (event.offset, event.thread()) == (0, WalkedThread::Known(5)))
            }));
            events.is_some()
        });
        (recorded.walks.iter().map(|walk| walk.event_ticks).collect(), walked.collect())
    }

    #[test]
    fn what_several_workers_take_down_is_logged_in_file_order() {
        let room = WalkRoom::of(1 << 20);
        let mut workers = [(); 3].map(|()| WalkTaker::within(&room));
        // The first buffer of all shows that there are walks.
        for (worker, ordinals) in workers.iter_mut().zip([4..6, 1..4, 6..9]) {
            ordinals.for_each(|ordinal| take_down(worker, ordinal));
        }
        let [mut last, first, middle] = workers;
        last.merge(first);
        last.merge(middle);
        let mut log = WalkLog::new(&SpillSpace::temporary());
        log.take_down(last, &room).unwrap();
        assert!(!log.covers(1));
        log.cover(9);
        assert_eq!([0, 8, 9].map(|ordinal| log.covers(ordinal)), [true, true, false]);
        assert_eq!(found(log), ((1..9).collect(), vec![1, 2, 3, 5, 6, 7, 8]));
    }

    #[test]
    fn from_the_first_buffer_without_room_on_nothing_is_logged() {
        let mut one = FoundWalks::default();
        let bytes = walk(0);
        let raw = RawEvent { offset: 32, family: HeaderFamily::PerfInfo64, bytes: &bytes };
        one.describe(at(0, 32), &StackDescription::of(&raw, &FILE).unwrap());
        // Room for three walks and the samples beside them.
        let room = WalkRoom::of(3 * (one.open_bytes() + size_of::<WalkedEvent>()));
        let mut log = WalkLog::new(&SpillSpace::temporary());
        for batch in [0..2, 2..4, 4..9, 9..10] {
            let mut taker = WalkTaker::within(&room);
            batch.for_each(|ordinal| take_down(&mut taker, ordinal));
            // What is logged gives its room back.
            log.take_down(taker, &room).unwrap();
        }
        assert_eq!([6, 7, 9].map(|ordinal| log.covers(ordinal)), [true, false, false]);
        // Others go on from there.
        one.end(7, false);
        log.take(&one).unwrap();
        assert_eq!(found(log), (vec![0, 1, 2, 3, 4, 5, 6, 0], (1..7).collect()));
    }
}
