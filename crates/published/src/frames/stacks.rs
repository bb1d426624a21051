//! The different stacks of a trace, each once, with how often it occurs.

use std::collections::HashMap;
use std::iter;

use arrow_array::cast::AsArray;
use arrow_array::types::{Int64Type, UInt64Type};
use arrow_array::{Array, ArrayRef, ListArray};
use conversion::sidecar::read::FromColumn;

/// Addresses of all different stacks that are kept: 256 MiB.
const MOST_ADDRESSES: usize = 1 << 25;
/// Stacks of processes that are kept: some 200 MiB.
const MOST_STACKS: usize = 1 << 21;

/// The addresses of a stack in a batch of rows.
#[derive(Clone, Copy, Debug)]
pub enum Addresses<'b> {
    /// Written as INT64.
    Signed(&'b [i64]),
    /// Written as UINT_64.
    Unsigned(&'b [u64]),
}

impl<'b> Addresses<'b> {
    fn of(values: &'b ArrayRef) -> Option<Addresses<'b>> {
        let signed = values.as_primitive_opt::<Int64Type>().map(|values| Addresses::Signed(values.values()));
        signed.or_else(|| Some(Addresses::Unsigned(values.as_primitive_opt::<UInt64Type>()?.values())))
    }

    fn part(self, from: usize, to: usize) -> Option<Addresses<'b>> {
        Some(match self {
            Addresses::Signed(all) => Addresses::Signed(all.get(from..to)?),
            Addresses::Unsigned(all) => Addresses::Unsigned(all.get(from..to)?),
        })
    }

    /// Whether there are none.
    pub fn is_empty(self) -> bool {
        self.len() == 0
    }

    /// How many there are.
    fn len(self) -> usize {
        match self {
            Addresses::Signed(all) => all.len(),
            Addresses::Unsigned(all) => all.len(),
        }
    }

    fn append_to(self, kept: &mut Vec<i64>) {
        match self {
            Addresses::Signed(all) => kept.extend_from_slice(all),
            Addresses::Unsigned(all) => kept.extend(all.iter().map(|address| address.cast_signed())),
        }
    }
}

/// The addresses in a row, where it has a stack.
#[derive(Clone, Copy, Debug)]
pub struct StackCell<'b>(pub Option<Addresses<'b>>);

impl<'b> FromColumn<'b> for StackCell<'b> {
    type Kind = ();
    type Column = (&'b ListArray, Addresses<'b>);
    const TAKES_NULL: bool = true;

    fn bind(array: &'b ArrayRef) -> Option<Self::Column> {
        let lists = array.as_list_opt::<i32>()?;
        Some((lists, Addresses::of(lists.values())?))
    }

    fn at(column: Option<&Self::Column>, row: usize) -> Option<Self> {
        let addresses = column.filter(|(lists, _)| lists.is_valid(row)).and_then(|(lists, all)| {
            let bound = |at: usize| usize::try_from(*lists.value_offsets().get(at)?).ok();
            all.part(bound(row)?, bound(row.checked_add(1)?)?)
        });
        Some(StackCell(addresses))
    }
}

/// A stack as an event has it.
#[derive(Clone, Copy, Debug)]
pub struct EventStack<'b> {
    /// The number by which the trace has it.
    pub id: i64,
    /// Its addresses, at least one.
    pub addresses: Addresses<'b>,
}

impl<'b> EventStack<'b> {
    /// That of a row; `None` where there is none, or one without an address.
    pub fn of(id: Option<i64>, StackCell(addresses): StackCell<'b>) -> Option<EventStack<'b>> {
        let (id, addresses) = id.zip(addresses.filter(|addresses| !addresses.is_empty()))?;
        Some(EventStack { id, addresses })
    }
}

/// In whose memory the addresses of a stack lie.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Owner {
    /// The machine.
    pub machine: i64,
    /// The process, where the event says it.
    pub process: Option<i64>,
}

/// A stack of a process, and how often it occurs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stack<'a> {
    /// In whose memory it lies.
    pub owner: Owner,
    /// The number by which the trace has it.
    pub id: i64,
    /// The addresses, innermost first.
    pub addresses: &'a [i64],
    /// When it occurs first, Unix nanoseconds.
    pub first: i64,
    /// When it occurs last.
    pub last: i64,
    /// How often.
    pub count: u64,
}

/// When and how often a stack occurs.
#[derive(Clone, Copy, Debug)]
struct Occurrences {
    owner: Owner,
    stack: i64,
    first: i64,
    last: i64,
    count: u64,
}

/// Different stacks, as many as there is room for; the addresses of each are held once.
#[derive(Debug)]
pub struct Stacks {
    addresses: Vec<i64>,
    /// By the id of a stack, where its addresses begin and how many they are.
    places: HashMap<i64, (usize, usize)>,
    numbers: HashMap<(Owner, i64), usize>,
    occurrences: Vec<Occurrences>,
    most_addresses: usize,
    room: usize,
    left_out: u64,
}

impl Default for Stacks {
    fn default() -> Stacks {
        Stacks::with_room_for(MOST_ADDRESSES, MOST_STACKS)
    }
}

impl Stacks {
    /// None yet, and with room for so many addresses in all, of so many stacks.
    pub fn with_room_for(most_addresses: usize, room: usize) -> Stacks {
        Stacks {
            addresses: Vec::new(),
            places: HashMap::new(),
            numbers: HashMap::new(),
            occurrences: Vec::new(),
            most_addresses,
            room,
            left_out: 0,
        }
    }

    /// Counts an occurrence of a stack; the number by which [`Stacks::get`] has it, or `None` where there is no room for it.
    pub fn add(&mut self, owner: Owner, time: i64, stack: i64, addresses: Addresses<'_>) -> Option<usize> {
        if let Some(number) = self.numbers.get(&(owner, stack)) {
            let seen = self.occurrences.get_mut(*number)?;
            seen.first = seen.first.min(time);
            seen.last = seen.last.max(time);
            seen.count = seen.count.saturating_add(1);
            return Some(*number);
        }
        if self.occurrences.len() >= self.room || !self.keep(stack, addresses) {
            let frames = u64::try_from(addresses.len()).unwrap_or(u64::MAX);
            self.left_out = self.left_out.saturating_add(frames);
            return None;
        }
        let number = self.occurrences.len();
        self.occurrences.push(Occurrences { owner, stack, first: time, last: time, count: 1 });
        self.numbers.insert((owner, stack), number);
        Some(number)
    }

    /// Keeps the addresses of a stack, unless they are there; whether there is room for them.
    fn keep(&mut self, stack: i64, addresses: Addresses<'_>) -> bool {
        if self.places.contains_key(&stack) {
            return true;
        }
        let begin = self.addresses.len();
        let has_room = begin.saturating_add(addresses.len()) <= self.most_addresses;
        if has_room {
            addresses.append_to(&mut self.addresses);
            self.places.insert(stack, (begin, addresses.len()));
        }
        has_room
    }

    /// A stack by its number.
    pub fn get(&self, number: usize) -> Option<Stack<'_>> {
        let Occurrences { owner, stack: id, first, last, count } = *self.occurrences.get(number)?;
        let (begin, length) = *self.places.get(&id)?;
        let addresses = self.addresses.get(begin..begin.checked_add(length)?)?;
        Some(Stack { owner, id, addresses, first, last, count })
    }

    /// All of them, in the order of their numbers.
    pub fn iter(&self) -> impl Iterator<Item = Stack<'_>> {
        let mut numbers = 0..self.occurrences.len();
        iter::from_fn(move || self.get(numbers.next()?))
    }

    /// The numbers of all by machine, process and id.
    pub fn in_order(&self) -> Vec<usize> {
        let mut numbers: Vec<usize> = (0..self.occurrences.len()).collect();
        let key = |of: &Occurrences| (of.owner.machine, of.owner.process, of.stack);
        numbers.sort_unstable_by_key(|number| self.occurrences.get(*number).map(key));
        numbers
    }

    /// Frames of stacks that there was no room for.
    pub fn left_out(&self) -> u64 {
        self.left_out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const OWNER: Owner = Owner { machine: 0, process: Some(7) };
    const OTHER: Owner = Owner { machine: 0, process: None };

    #[test]
    fn a_stack_is_held_once_and_counted_by_process() {
        let mut stacks = Stacks::default();
        let added: Vec<_> = [(OWNER, 9), (OWNER, 4), (OTHER, 6), (OWNER, 5)]
            .into_iter()
            .map(|(owner, time)| stacks.add(owner, time, -3, Addresses::Unsigned(&[1, u64::MAX])))
            .collect();
        assert_eq!(added, [Some(0), Some(0), Some(1), Some(0)]);
        let stack = |owner, first, last, count| Stack { owner, id: -3, addresses: &[1, -1], first, last, count };
        assert_eq!(stacks.iter().collect::<Vec<_>>(), [stack(OWNER, 4, 9, 3), stack(OTHER, 6, 6, 1)]);
        assert_eq!(stacks.in_order(), [1, 0], "those of no process first");
        assert_eq!((stacks.addresses.len(), stacks.get(2)), (2, None));
    }

    #[test]
    fn what_has_no_room_is_counted() {
        let mut stacks = Stacks::with_room_for(3, 9);
        assert_eq!(stacks.add(OWNER, 1, 1, Addresses::Signed(&[1, 2])), Some(0));
        assert_eq!(stacks.add(OWNER, 1, 2, Addresses::Signed(&[1, 2])), None);
        assert_eq!(stacks.add(OWNER, 1, 3, Addresses::Signed(&[3])), Some(1));
        assert_eq!(stacks.add(OTHER, 1, 1, Addresses::Signed(&[1, 2])), Some(2), "its addresses are there");
        assert_eq!((stacks.left_out(), stacks.iter().count()), (2, 3));
    }
}
