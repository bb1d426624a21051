//! The stacks of the events of a recording.

use base::error::Result;
use base::progress::Progress;
use spill::{SpillSpace, Spilled};
use zerocopy::{FromBytes, Immutable, IntoBytes};

use super::sorted::sorted;
use crate::plan::Segment;
use crate::survey::FileKey;
use crate::survey::walks::{AddressList, Lists, NO_PROCESS};
use crate::table::Stack;

/// Which stack an event has. A record, because there may be millions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, FromBytes, Immutable, IntoBytes)]
#[repr(C)]
pub struct StackOfEvent {
    /// Number of the buffer in its file.
    ordinal: u64,
    /// Offset of the event from the first event of its buffer.
    offset: u32,
    /// Number of the stack.
    list: u32,
    /// The process that its walks name, [`NO_PROCESS`] where they name none or several.
    process: u32,
    /// Number of the input.
    input: u16,
    padding: u16,
}

const _: () = assert!(size_of::<StackOfEvent>() == 24, "the size of a record is part of the format of plans");

impl StackOfEvent {
    pub(super) fn new(input: u16, at: FileKey, list: u32, process: u32) -> Self {
        StackOfEvent { ordinal: at.ordinal, offset: at.offset, list, process, input, padding: 0 }
    }

    /// By input, buffer and offset.
    pub fn order(&self) -> (u16, u64, u32) {
        (self.input, self.ordinal, self.offset)
    }

    fn buffer(&self) -> (u16, u64) {
        (self.input, self.ordinal)
    }
}

/// The stacks of the events of a recording, or of one partition of it.
#[derive(Debug, Default)]
pub struct Stacks {
    /// By input, buffer and offset.
    events: Spilled<StackOfEvent>,
    lists: Lists,
}

impl Stacks {
    pub(super) fn new(events: Spilled<StackOfEvent>, lists: Lists) -> Self {
        Stacks { events, lists }
    }

    /// Stacks that were stored: of these events, which are sorted, with these lists and their addresses.
    pub fn stored(events: Spilled<StackOfEvent>, lists: Spilled<AddressList>, addresses: Spilled<u64>) -> Self {
        Stacks { events, lists: Lists { addresses, lists } }
    }

    /// Whether no event has one.
    pub fn is_empty(&self) -> bool {
        self.events.is_empty()
    }

    /// All lists of addresses, as they can be stored.
    pub fn lists(&self) -> &[AddressList] {
        &self.lists.lists
    }

    /// The addresses of all lists, as they can be stored.
    pub fn addresses(&self) -> &[u64] {
        &self.lists.addresses
    }

    /// The events in some segments that have one, by input, buffer and offset.
    ///
    /// # Errors
    /// When there is no space, or when the caller asked to stop.
    pub fn events_in(
        &self,
        segments: &[Segment],
        space: &SpillSpace,
        progress: &dyn Progress,
    ) -> Result<Spilled<StackOfEvent>> {
        let mut events = space.records();
        for segment in segments {
            let all = self.in_buffer(segment.input, segment.buffer.extent.ordinal);
            let from = all.partition_point(|event| event.offset < segment.from);
            let to = all.partition_point(|event| event.offset < segment.to);
            events.extend(all.get(from..to).unwrap_or_default())?;
        }
        sorted(events.finish()?, StackOfEvent::order, StackOfEvent::order, space, progress)
    }

    /// The stacks of the events of a buffer.
    pub fn of_buffer(&self, input: u16, ordinal: u64) -> BufferStacks<'_> {
        BufferStacks { lists: &self.lists, events: self.in_buffer(input, ordinal), next: 0 }
    }

    fn in_buffer(&self, input: u16, ordinal: u64) -> &[StackOfEvent] {
        let from = self.events.partition_point(|event| event.buffer() < (input, ordinal));
        let behind = &self.events[from..];
        &behind[..behind.partition_point(|event| event.buffer() == (input, ordinal))]
    }
}

/// The stacks of the events of one buffer, asked for mostly in the order of their offsets.
#[derive(Clone, Debug)]
pub struct BufferStacks<'a> {
    lists: &'a Lists,
    events: &'a [StackOfEvent],
    /// Behind the last event that was found.
    next: usize,
}

impl<'a> BufferStacks<'a> {
    /// Whether no event of the buffer has one.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.events.is_empty()
    }

    /// The stack of the event at an offset.
    #[inline]
    pub fn get(&mut self, offset: u32) -> Option<Stack<'a>> {
        if !self.is_next(offset) {
            let is_behind_last = self.next.checked_sub(1).is_none_or(|last| self.events[last].offset < offset);
            let is_before_next = self.events.get(self.next).is_none_or(|next| offset < next.offset);
            if is_behind_last && is_before_next {
                return None;
            }
            self.next = self.events.partition_point(|event| event.offset < offset);
            if !self.is_next(offset) {
                return None;
            }
        }
        let event = &self.events[self.next];
        let (addresses, id) = self.lists.get(event.list);
        self.next += 1;
        Some(Stack { addresses, id, process: Some(event.process).filter(|&process| process != NO_PROCESS) })
    }

    #[inline]
    fn is_next(&self, offset: u32) -> bool {
        self.events.get(self.next).is_some_and(|next| next.offset == offset)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::survey::walks::ListWriter;

    fn stacks(events: &[(u16, u64, u32)]) -> Stacks {
        let space = SpillSpace::temporary();
        let (mut records, mut lists) = (space.records(), ListWriter::new(&space));
        for (list, &(input, ordinal, offset)) in (0_u32..).zip(events) {
            let at = FileKey { ticks: 0, stream: 0, sequence: 0, ordinal, offset };
            records.push(StackOfEvent::new(input, at, list, [NO_PROCESS, 4][list as usize % 2])).unwrap();
            lists.add(&[list.into()], |_| -i64::from(list)).unwrap();
        }
        Stacks::new(records.finish().unwrap(), lists.finish().unwrap())
    }

    #[test]
    fn stacks_are_found_whatever_the_order_in_which_they_are_asked_for() {
        let stacks = stacks(&[(0, 1, 8), (0, 2, 0), (0, 2, 16), (0, 2, 40), (1, 2, 24)]);
        let t = |input, ordinal, asked: &[(u32, Option<u64>)]| {
            let mut buffer = stacks.of_buffer(input, ordinal);
            for &(offset, expected) in asked {
                let found = buffer.get(offset).map(|stack| (stack.addresses[0], stack.id));
                assert_eq!(found, expected.map(|list| (list, -list.cast_signed())), "{input} {ordinal} {offset}");
            }
        };
        t(0, 2, &[(0, Some(1)), (8, None), (16, Some(2)), (24, None), (40, Some(3)), (48, None)]);
        // Some are filtered out, some are behind later ones.
        t(0, 2, &[(40, Some(3)), (8, None), (0, Some(1)), (0, Some(1)), (40, Some(3)), (16, Some(2))]);
        t(0, 1, &[(0, None), (16, None), (8, Some(0))]);
        t(1, 2, &[(16, None), (24, Some(4))]);
        t(1, 1, &[(24, None)]);
        assert!(stacks.of_buffer(1, 1).is_empty());
        let mut buffer = stacks.of_buffer(0, 2);
        let processes = [0, 16, 40].map(|offset| buffer.get(offset).unwrap().process);
        assert_eq!(processes, [Some(4), None, Some(4)]);
    }
}
