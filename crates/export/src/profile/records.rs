//! Samples and waits one by one, by thread, for formats that show when they were.

use std::collections::HashMap;

use base::error::{Error, ErrorKind, Result};
use base::readable::count::Count;

use super::amounts::{Amount, amounts};
use super::weights::{Place, Weights};
use crate::exported::Exported;
use crate::opened::Opened;
use crate::request::Of;

/// A thread of a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Thread {
    /// The number of the process.
    pub(crate) process: u32,
    /// The id of the thread, where the event says it.
    pub(crate) id: Option<i64>,
}

/// A sample or a wait.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Record {
    /// When it was, Unix nanoseconds; of a wait when it ended.
    pub(crate) time: i64,
    /// 1 for a sample; of a wait its nanoseconds.
    pub(crate) amount: u64,
    /// Where.
    pub(crate) place: Place,
    /// The number of its thread.
    thread: u32,
}

/// All of them, by thread.
#[derive(Debug, Default)]
pub(crate) struct Records {
    /// In the order of their threads, those of one in the order of their times.
    all: Vec<Record>,
    threads: Vec<Thread>,
    numbers: HashMap<Thread, u32>,
    /// How many there is room for.
    most: usize,
    /// Those that there was no room for, and the time of the first of them.
    beyond: u64,
    beyond_from: Option<i64>,
}

impl Records {
    /// Reads those that are asked for and that somebody wants, so many at most, and keeps their stacks.
    ///
    /// # Errors
    /// [`ErrorKind::Usage`] when there are more than there is room for; it says which time fits. Else those of [`amounts`].
    pub(crate) fn read(
        opened: &Opened<'_>,
        of: Of,
        most: usize,
        weights: &mut Weights,
        exported: &mut Exported,
        mut is_wanted: impl FnMut(&Amount<'_>) -> bool,
    ) -> Result<Records> {
        let mut records = Records { most, ..Records::default() };
        amounts(opened, of, exported, |amount| {
            if is_wanted(&amount) {
                records.add(&amount, weights);
            }
        })?;
        records.check(opened)?;
        // A stable order: what is of one thread stays in the order of its time.
        records.all.sort_by_key(|record| record.thread);
        exported.events = records.len();
        Ok(records)
    }

    /// How many there are.
    pub(crate) fn len(&self) -> u64 {
        u64::try_from(self.all.len()).unwrap_or(u64::MAX)
    }

    fn add(&mut self, amount: &Amount<'_>, weights: &mut Weights) {
        if self.all.len() >= self.most {
            self.beyond = self.beyond.saturating_add(1);
            self.beyond_from.get_or_insert(amount.time);
            return;
        }
        let (process, place) = weights.place(amount);
        let thread = Thread { process, id: amount.thread };
        let Records { threads, numbers, .. } = self;
        let thread = *numbers.entry(thread).or_insert_with(|| {
            threads.push(thread);
            u32::try_from(threads.len() - 1).unwrap_or(u32::MAX)
        });
        self.all.push(Record { time: amount.time, amount: amount.worth, place, thread });
    }

    fn check(&self, opened: &Opened<'_>) -> Result<()> {
        match self.beyond_from {
            Some(from) => Err(too_many(opened, self.most, (self.beyond, from))?),
            None => Ok(()),
        }
    }

    /// The threads, in the order in which they occur, each with what it has in the order of time.
    pub(crate) fn by_thread(&self) -> impl Iterator<Item = (Thread, &[Record])> {
        self.all.chunk_by(|one, other| one.thread == other.thread).filter_map(|records| {
            let number = usize::try_from(records.first()?.thread).ok()?;
            Some((*self.threads.get(number)?, records))
        })
    }
}

/// The refusal of more samples or waits than a viewer can hold: so many of them beyond the room, the first at a time.
///
/// # Errors
/// [`ErrorKind::Output`] when the beginning of the trace cannot be read.
pub(crate) fn too_many(opened: &Opened<'_>, most: usize, (beyond, from): (u64, i64)) -> Result<Error> {
    let room = u64::try_from(most).unwrap_or(u64::MAX);
    let found = room.saturating_add(beyond);
    let message =
        format!("expected at most {} samples or waits, which a viewer can hold, found {}", Count(room), Count(found));
    let behind = from.saturating_sub(opened.source.start_ns()?).max(0);
    let hint = format!("what is before fits with --to +{behind}ns; --pid, --tid and --from leave out more");
    Ok(Error::new(ErrorKind::Usage, message).with_hint(hint))
}
