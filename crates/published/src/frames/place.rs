//! Where each frame of a stack lies.

use std::iter;

use super::modules::{Modules, Spot};
use super::stacks::{Owner, Stack};

/// Where a frame lies, all the time that its stack recurs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Place {
    /// In a module.
    Module {
        /// The number by which [`Modules::id`] has it.
        module: u32,
        /// Bytes from its base to the address that is looked up.
        offset: i64,
    },
    /// In a method of .NET that lies in no module.
    Method,
    /// Nobody knows.
    Unknown(Unknown),
}

/// Why it is not known where a frame lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Unknown {
    /// The event names no process, and the address is none of the kernel.
    NoProcess,
    /// No module and no method has the address.
    NoModule,
    /// Something else has it when the stack occurs first than when it occurs last.
    Changed,
}

impl Unknown {
    /// What stands in the place of a function.
    pub fn text(self) -> &'static str {
        match self {
            Unknown::NoProcess => "(of no known process)",
            Unknown::NoModule => "(in no module)",
            Unknown::Changed => "(in a module that changed)",
        }
    }
}

/// A frame of a stack.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Frame {
    /// Where it lies.
    pub place: Place,
    /// The method of .NET that has it, in a module or in none: the number of its row.
    pub method: Option<u32>,
    /// Whether it is one of the kernel.
    pub is_of_kernel: bool,
}

/// A frame with the address that its stack has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AddressedFrame {
    /// The address: of the leaf where it executes, of others where calls return to.
    pub address: i64,
    /// The address that is looked up: of others the one before.
    pub looked_up: i64,
    /// Where that lies.
    pub frame: Frame,
}

/// The frames of a stack, innermost first.
pub fn frames<'a>(modules: &'a Modules, stack: Stack<'a>) -> impl Iterator<Item = Frame> + 'a {
    addressed_frames(modules, stack).map(|found| found.frame)
}

/// The frames of a stack with their addresses, innermost first.
pub fn addressed_frames<'a>(modules: &'a Modules, stack: Stack<'a>) -> impl Iterator<Item = AddressedFrame> + 'a {
    let addresses = iter::zip(stack.addresses, looked_up(stack.addresses));
    addresses.map(move |(address, looked_up)| AddressedFrame {
        address: *address,
        looked_up,
        frame: frame(modules, stack, looked_up),
    })
}

/// The addresses of which it is asked what they lie in: those of calls, not where these return to.
fn looked_up(addresses: &[i64]) -> impl Iterator<Item = i64> + '_ {
    let mut before = None;
    addresses.iter().map(move |address| {
        let is_exact = match before.replace(*address) {
            None => true,
            Some(before) => is_of_kernel(before) && !is_of_kernel(*address),
        };
        // The lowest of all has none before it.
        if is_exact { *address } else { address.checked_sub(1).unwrap_or(*address) }
    })
}

/// Whether an address is one of the kernel: the highest bit is that of the sign.
fn is_of_kernel(address: i64) -> bool {
    address < 0
}

fn frame(modules: &Modules, stack: Stack<'_>, address: i64) -> Frame {
    let Owner { machine, process } = stack.owner;
    let at = |time| {
        let method = process.and_then(|process| modules.method((machine, process), address, time));
        (modules.spot(machine, process, address, time), method)
    };
    let (spot, method) = at(stack.first);
    let (last_spot, last_method) = if stack.first == stack.last { (spot, method) } else { at(stack.last) };
    let is_same = match (spot, last_spot) {
        (Some(one), Some(other)) => modules.is_same(one, other),
        (None, None) => method == last_method,
        _ => false,
    };
    let method = method.filter(|_| method == last_method);
    let place = match spot.filter(|_| is_same) {
        Some(Spot { module, base, .. }) => match address.checked_sub(base) {
            Some(offset) => Place::Module { module, offset },
            None => Place::Unknown(Unknown::NoModule),
        },
        None if !is_same => Place::Unknown(Unknown::Changed),
        None if method.is_some() => Place::Method,
        None if process.is_none() && !is_of_kernel(address) => Place::Unknown(Unknown::NoProcess),
        None => Place::Unknown(Unknown::NoModule),
    };
    let is_changed = place == Place::Unknown(Unknown::Changed);
    // Addresses of a 32-bit kernel have no sign; its modules say whose they are.
    let is_of_kernel = is_of_kernel(address) || spot.is_some_and(|spot| is_same && spot.is_of_kernel);
    Frame { place, method: method.filter(|_| !is_changed), is_of_kernel }
}

#[cfg(test)]
mod tests {
    use super::super::modules::made;
    use super::*;

    #[test]
    fn the_address_of_a_call_is_before_where_it_returns_to() {
        let t = |addresses: &[i64], expected: &[i64]| {
            assert_eq!(looked_up(addresses).collect::<Vec<_>>(), expected);
        };
        t(&[0x10, 0x20, 0x30], &[0x10, 0x1f, 0x2f]);
        t(&[-0x10, -0x20, 0x30, 0x40], &[-0x10, -0x21, 0x30, 0x3f]);
        t(&[0x10, -0x20, 0, 0], &[0x10, -0x21, 0, -1]);
        t(&[-1, i64::MIN], &[-1, i64::MIN]);
        t(&[], &[]);
    }

    #[track_caller]
    fn t(process: Option<i64>, address: i64, (first, last): (i64, i64), expected: (Place, Option<u32>)) {
        let owner = Owner { machine: 0, process };
        let stack = Stack { owner, id: 1, addresses: &[address], first, last, count: 1 };
        let modules = made();
        let found: Vec<Frame> = frames(&modules, stack).collect();
        let is_of_kernel = address < 0 || address == 0x9000_0001;
        assert_eq!(found, [Frame { place: expected.0, method: expected.1, is_of_kernel }]);
    }

    #[test]
    fn a_frame_lies_where_it_does_at_both_times() {
        let module = |module, offset| Place::Module { module, offset };
        let unknown = Place::Unknown;
        // From 0 to 50 there is a.dll, from then on b.dll, which is shorter; within it another b.dll all the time.
        t(Some(7), 0x1001, (0, 49), (module(0, 1), None));
        t(Some(7), 0x1001, (50, 89), (module(1, 1), None));
        t(Some(7), 0x1001, (49, 50), (unknown(Unknown::Changed), None));
        t(Some(7), 0x1021, (0, 89), (unknown(Unknown::Changed), None));
        t(Some(7), 0x10c0, (0, 49), (module(0, 0xc0), Some(4)));
        t(Some(7), 0x10c0, (50, 89), (Place::Method, Some(4)));
        t(Some(7), 0x10c0, (49, 50), (unknown(Unknown::Changed), None));
        t(Some(7), 0x10c0, (50, 90), (unknown(Unknown::Changed), None));
        t(Some(7), -0x7ffe, (0, 89), (module(2, 2), Some(5)));
        t(None, -0x7ffe, (0, 89), (module(2, 2), None));
        t(Some(7), 0x9000_0001, (0, 89), (module(2, 1), None));
        t(None, -0x6ffe, (0, 89), (unknown(Unknown::NoModule), None));
        t(None, 0x1001, (0, 1), (unknown(Unknown::NoProcess), None));
        t(Some(8), 0x1001, (0, 1), (unknown(Unknown::NoModule), None));
    }
}
