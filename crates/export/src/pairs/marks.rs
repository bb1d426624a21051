//! Begins and ends, and which of them belong together.

use base::guid::Guid;

use super::texts::Texts;
use crate::exported::Exported;

/// Begins and ends that there is room for: some 190 MiB.
const MOST_MARKS: usize = 1 << 20;

/// A begin or an end; `D`: what else its event says.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Mark<D> {
    /// The number of its event.
    pub(crate) seq: i64,
    /// When it was, Unix nanoseconds.
    pub(crate) time: i64,
    /// The machine.
    pub(crate) machine: i64,
    /// The process, where the event says it.
    pub(crate) process: Option<i64>,
    /// The thread, where the event says it.
    pub(crate) thread: Option<i64>,
    /// The number of the text that names the event.
    pub(super) name: Option<u32>,
    /// What a begin and its end have in common, beside the machine.
    pub(crate) key: Key,
    /// Whether it begins something.
    pub(super) is_begin: bool,
    /// Whether the filter passes its event.
    pub(super) passes: bool,
    /// What else its event says.
    pub(crate) detail: D,
}

/// What a begin and its end have in common.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Key {
    /// The number of the provider: of an activity that of the text which names it.
    pub(crate) provider: Option<u32>,
    /// The activity.
    pub(crate) activity: Guid,
    /// The task, or the request packet.
    pub(super) number: Option<i64>,
}

/// What another begin with the same key means for one that is open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Again {
    /// It stands within it, and ends first.
    Within,
    /// The end of the one before is not recorded: what has the key is in use again.
    Instead,
}

/// Begins with their ends.
#[derive(Debug)]
pub(crate) struct Pairs<D> {
    marks: Vec<Mark<D>>,
    /// The numbers of a begin and its end.
    found: Vec<(u32, u32)>,
    pub(super) texts: Texts,
    /// Begins and ends that there was no room for.
    beyond: u64,
    /// Begins without an end.
    alone: u64,
}

impl<D: Copy> Pairs<D> {
    /// None yet.
    pub(super) fn new() -> Pairs<D> {
        Pairs { marks: Vec::new(), found: Vec::new(), texts: Texts::default(), beyond: 0, alone: 0 }
    }

    /// Adds a begin or an end, as far as there is room.
    pub(super) fn add(&mut self, mark: Mark<D>) {
        if self.marks.len() < MOST_MARKS {
            self.marks.push(mark);
        } else {
            self.leave_out();
        }
    }

    /// Counts a begin or an end that there is no room for.
    pub(super) fn leave_out(&mut self) {
        self.beyond = self.beyond.saturating_add(1);
    }

    /// Finds the pairs whose begin the filter passes, in the order of all events, whatever the order in which they were added.
    pub(super) fn settle(&mut self, again: Again) {
        self.marks.sort_unstable_by_key(|mark| mark.seq);
        let key = |number: &u32| mark_at(&self.marks, *number).map(|mark| (mark.machine, mark.key));
        let mut by_key: Vec<u32> = (0u32..).zip(&self.marks).map(|(number, _)| number).collect();
        by_key.sort_unstable_by_key(|number| (key(number), *number));
        let mut open = Vec::new();
        for alike in by_key.chunk_by(|one, other| key(one) == key(other)) {
            open.clear();
            for number in alike {
                if mark_at(&self.marks, *number).is_some_and(|mark| mark.is_begin) {
                    if again == Again::Instead {
                        open.clear();
                    }
                    open.push(*number);
                } else if let Some(begin) = open.pop() {
                    self.found.push((begin, *number));
                }
            }
        }
        let marks = &self.marks;
        let is_asked = |mark: &Mark<D>| mark.is_begin && mark.passes;
        self.found.retain(|(begin, end)| {
            let ends = mark_at(marks, *begin).zip(mark_at(marks, *end));
            ends.is_some_and(|(begin, end)| is_asked(begin) && begin.time <= end.time)
        });
        self.found.sort_unstable();
        let begins = marks.iter().filter(|mark| is_asked(mark)).count();
        self.alone = u64::try_from(begins.saturating_sub(self.found.len())).unwrap_or(u64::MAX);
    }

    /// Begins with their ends, in the order of the begins.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&Mark<D>, &Mark<D>)> {
        self.found.iter().filter_map(|(begin, end)| mark_at(&self.marks, *begin).zip(mark_at(&self.marks, *end)))
    }

    /// What the event of a mark is called.
    pub(crate) fn name(&self, mark: &Mark<D>) -> Option<&str> {
        self.texts.get(mark.name)
    }

    /// The provider of an activity.
    pub(crate) fn provider(&self, mark: &Mark<D>) -> Option<&str> {
        self.texts.get(mark.key.provider)
    }

    /// Says what is not there, of things that are called so.
    pub(crate) fn warn(&self, what: &str, exported: &mut Exported) {
        exported.warn_of(self.alone, &format!("{what} are left out: their ends are not recorded"));
        exported.warn_of(self.beyond, &format!("begins and ends of {what} are left out: there are too many"));
    }
}

fn mark_at<D>(marks: &[Mark<D>], number: u32) -> Option<&Mark<D>> {
    marks.get(usize::try_from(number).ok()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Begins and ends as (number of the event, key, whether it begins, whether it passes) to pairs of numbers, and begins alone.
    fn paired(again: Again, marks: &[(i64, i64, bool, bool)]) -> (Vec<(i64, i64)>, u64) {
        let mut pairs = Pairs::new();
        for (seq, number, is_begin, passes) in marks {
            let key = Key { number: Some(*number), ..Key::default() };
            let (process, thread, name) = (None, None, None);
            let (seq, time) = (*seq, seq * 10);
            let (is_begin, passes) = (*is_begin, *passes);
            pairs.add(Mark { seq, time, machine: 0, process, thread, name, key, is_begin, passes, detail: () });
        }
        pairs.settle(again);
        (pairs.iter().map(|(begin, end)| (begin.seq, end.seq)).collect(), pairs.alone)
    }

    #[test]
    fn an_end_belongs_to_the_last_begin_that_is_open() {
        let marks = [
            (9, 5, false, true), // added out of order
            (1, 5, false, true),
            (2, 5, true, true),
            (3, 5, true, true),
            (4, 6, true, true),
            (5, 5, false, true),
            (6, 6, false, false),
            (7, 5, false, true),
            (8, 5, true, false),
            (10, 6, true, true),
        ];
        assert_eq!(paired(Again::Within, &marks), (vec![(2, 7), (3, 5), (4, 6)], 1));
        assert_eq!(paired(Again::Instead, &marks), (vec![(3, 5), (4, 6)], 2));
    }
}
