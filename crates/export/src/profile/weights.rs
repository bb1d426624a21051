//! Different stacks, and amounts by process and stack.

use std::collections::BTreeMap;

use published::frames::{Addresses, Owner, Stacks};

use super::amounts::Amount;
use super::process::Processes;
use crate::exported::Exported;

/// Addresses of all different stacks that are kept: 128 MiB.
const MOST_ADDRESSES: usize = 1 << 24;
/// Stacks of processes that are kept: some 120 MiB.
const MOST_STACKS: usize = 1 << 20;
/// Addresses of samples without a stack that are kept, by process.
const MOST_LONE: usize = 1 << 18;

/// Where an amount belongs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Place {
    /// A stack.
    Stack(u32),
    /// An address without callers: the sample has no stack.
    Lone(u32),
    /// Nothing says where.
    Nowhere,
    /// There was no room for its stack.
    LeftOut,
}

impl Place {
    /// What stands in the place of functions where there are none.
    pub(crate) fn text(self) -> &'static str {
        match self {
            Place::LeftOut => "(no room for its stack)",
            Place::Nowhere | Place::Stack(_) | Place::Lone(_) => "(no stack recorded)",
        }
    }
}

/// Amounts by process and stack.
#[derive(Debug)]
pub(crate) struct Weights {
    /// The processes.
    pub(crate) processes: Processes,
    stacks: Stacks,
    lone: Stacks,
    sums: BTreeMap<(u32, Place), Weight>,
    left_out: u64,
}

/// What a process has in a place.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Weight {
    /// Samples, or nanoseconds of waits.
    pub(crate) amount: u64,
    /// Samples, or waits.
    pub(crate) count: u64,
}

impl Default for Weights {
    fn default() -> Weights {
        Weights {
            processes: Processes::default(),
            stacks: Stacks::with_room_for(MOST_ADDRESSES, MOST_STACKS),
            lone: Stacks::with_room_for(MOST_LONE, MOST_LONE),
            sums: BTreeMap::new(),
            left_out: 0,
        }
    }
}

impl Weights {
    /// Adds an amount; the number of its process, and where it belongs.
    pub(crate) fn add(&mut self, amount: &Amount<'_>) -> (u32, Place) {
        let (process, place) = self.place(amount);
        let sum = self.sums.entry((process, place)).or_default();
        sum.amount = sum.amount.saturating_add(amount.worth);
        sum.count = sum.count.saturating_add(1);
        (process, place)
    }

    /// The number of the process of an amount, and where it belongs; without adding it to a sum.
    pub(crate) fn place(&mut self, amount: &Amount<'_>) -> (u32, Place) {
        let Amount { machine, process, process_name, time, address, .. } = *amount;
        let owner = Owner { machine, process };
        let number = |found: Option<usize>| found.and_then(|number| u32::try_from(number).ok());
        let place = match (amount.stack, address) {
            (Some(stack), _) => number(self.stacks.add(owner, time, stack.id, stack.addresses)).map(Place::Stack),
            (None, Some(address)) => {
                number(self.lone.add(owner, time, address, Addresses::Signed(&[address]))).map(Place::Lone)
            }
            (None, None) => Some(Place::Nowhere),
        };
        if place.is_none() {
            self.left_out = self.left_out.saturating_add(1);
        }
        (self.processes.number(machine, process, process_name), place.unwrap_or(Place::LeftOut))
    }

    /// Takes the different stacks, to have them looked up: those of events, and single addresses.
    pub(crate) fn take_stacks(&mut self) -> [Stacks; 2] {
        [std::mem::take(&mut self.stacks), std::mem::take(&mut self.lone)]
    }

    /// All sums, by process and then by stack, each in the order in which they occur.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (u32, Place, Weight)> {
        self.sums.iter().map(|((process, place), weight)| (*process, *place, *weight))
    }

    /// Says what there was no room for.
    pub(crate) fn warn(&self, exported: &mut Exported) {
        exported.warn_of(self.left_out, "events are without their stacks: there are too many different ones");
    }
}
