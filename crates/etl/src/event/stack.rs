//! Events that describe the stack of another event, and the events that they can describe.
//!
//! The kernel writes a *walk* some time behind the event that it belongs to, sometimes on another processor, and names the
//! event by its time and thread. Part of a stack may stand under a *key*, which walks refer to.
//!
//! ```text
//! walk                  event's time: i64 ticks, process: u32, thread: u32, addresses: pointers to the end
//! walk with a key       event's time: i64 ticks, process: u32, thread: u32, key: pointer
//! what a key stands for key: pointer, addresses: pointers to the end
//! ```

use super::named_ids::NamedIds;
use super::view::{Event, FileContext, known_id};
use super::{EventIdentity, RawEvent};
use crate::layout::header::KernelHeader;
use crate::layout::kernel::{self, GROUP_STACK_WALK, STACK_WALK_CLASS, stack_walk};

/// What an event records of the stack of another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StackEvent {
    /// Addresses of it.
    Walk,
    /// A key under which addresses of it stand.
    WalkWithKey,
    /// What a key stands for from now on.
    KeyCreated,
    /// What a key stood for until now.
    KeyDeleted,
    /// What a key stands for now.
    KeyHolds,
}

/// What an event of this identity records of a stack; `None` of nearly all.
pub fn described_by(identity: &EventIdentity) -> Option<StackEvent> {
    let is_of_class = identity.family.is_kernel() || identity.family.is_classic();
    if is_of_class && identity.provider == STACK_WALK_CLASS { of_type(identity.opcode) } else { None }
}

/// Whether a walk can be of an event of this identity: of those that the kernel has written, walks aside.
pub fn may_be_walked(identity: &EventIdentity) -> bool {
    let is_of_kernel = identity.family.is_kernel()
        || (identity.family.is_classic() && kernel::kernel_class_of(&identity.provider).is_some());
    is_of_kernel && identity.provider != STACK_WALK_CLASS
}

fn of_type(opcode: u8) -> Option<StackEvent> {
    Some(match opcode {
        stack_walk::WALK => StackEvent::Walk,
        stack_walk::KEY_CREATE => StackEvent::KeyCreated,
        stack_walk::KEY_DELETE => StackEvent::KeyDeleted,
        stack_walk::KEY_RUNDOWN => StackEvent::KeyHolds,
        stack_walk::KEY_KERNEL | stack_walk::KEY_USER => StackEvent::WalkWithKey,
        _ => return None,
    })
}

/// What an event says of a stack.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StackDescription<'a> {
    /// Of the event at a time, in ticks, and of a thread.
    Walk {
        /// The time.
        event_ticks: i64,
        /// The thread.
        thread: u32,
        /// The process of that thread at that time, if it has a number that a process can have.
        process: Option<u32>,
        /// The addresses.
        stack: Part<'a>,
    },
    /// Of a key.
    Key {
        /// The key.
        key: u64,
        /// When it stands for the addresses.
        when: StackEvent,
        /// The addresses.
        addresses: Addresses<'a>,
    },
}

/// A part of a stack, as its event describes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part<'a> {
    /// Its addresses.
    Addresses(Addresses<'a>),
    /// The key under which they stand.
    Key(u64),
}

/// Addresses as they lie in an event, innermost first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Addresses<'a> {
    bytes: &'a [u8],
    pointer_size: u8,
}

impl Addresses<'_> {
    /// How many there are; a rest that is shorter than an address is none.
    pub fn len(&self) -> usize {
        self.bytes.len() / if self.pointer_size == 4 { 4 } else { 8 }
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Appends the addresses.
    pub fn append_to(&self, addresses: &mut Vec<u64>) {
        match self.pointer_size {
            4 => addresses.extend(self.bytes.as_chunks().0.iter().map(|&bytes| u64::from(u32::from_le_bytes(bytes)))),
            _ => addresses.extend(self.bytes.as_chunks().0.iter().map(|&bytes| u64::from_le_bytes(bytes))),
        }
    }
}

/// The pointer at the start of some bytes.
fn pointer(bytes: &[u8], pointer_size: u8) -> Option<(u64, &[u8])> {
    if pointer_size == 4 {
        let (pointer, rest) = bytes.split_first_chunk()?;
        return Some((u32::from_le_bytes(*pointer).into(), rest));
    }
    let (pointer, rest) = bytes.split_first_chunk()?;
    Some((u64::from_le_bytes(*pointer), rest))
}

impl<'a> StackDescription<'a> {
    /// What an event says of a stack; `None` of nearly all, and of those that are cut off before they say it.
    #[inline]
    pub fn of(raw: &RawEvent<'a>, file: &FileContext) -> Option<StackDescription<'a>> {
        let may_describe = match raw.family {
            family if family.is_kernel() => {
                raw.header::<KernelHeader>().is_some_and(|hook| hook.group == GROUP_STACK_WALK)
            }
            family => family.is_classic(),
        };
        if may_describe { StackDescription::read(raw, file) } else { None }
    }

    fn read(raw: &RawEvent<'a>, file: &FileContext) -> Option<StackDescription<'a>> {
        let identity = EventIdentity::of(raw, file);
        let kind = described_by(&identity)?;
        let pointer_size = identity.pointer_size;
        let payload = Event::of(raw, file).payload;
        let pointer = |bytes: &'a [u8]| pointer(bytes, pointer_size);
        if let StackEvent::KeyCreated | StackEvent::KeyDeleted | StackEvent::KeyHolds = kind {
            let (key, bytes) = pointer(payload)?;
            return Some(StackDescription::Key { key, when: kind, addresses: Addresses { bytes, pointer_size } });
        }
        let (ticks, rest) = payload.split_first_chunk()?;
        let (process, rest) = rest.split_first_chunk()?;
        let (thread, rest) = rest.split_first_chunk()?;
        let stack = match kind {
            StackEvent::WalkWithKey => Part::Key(pointer(rest)?.0),
            _ => Part::Addresses(Addresses { bytes: rest, pointer_size }),
        };
        let (event_ticks, thread) = (i64::from_le_bytes(*ticks), u32::from_le_bytes(*thread));
        Some(StackDescription::Walk { event_ticks, thread, process: known_id(u32::from_le_bytes(*process)), stack })
    }
}

/// The thread of an event that a walk can be of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WalkedThread {
    /// The one that its header names or, where that names nobody, its payload.
    Known(u32),
    /// Nobody says.
    Unknown,
}

impl WalkedThread {
    /// That of an event; `None` of events that no walk is of.
    pub fn of(raw: &RawEvent<'_>, file: &FileContext) -> Option<WalkedThread> {
        Some(Walkable::of(&EventIdentity::of(raw, file))?.thread(raw, file))
    }
}

/// Where events of one shape name the thread by which walks refer to them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Walkable(Option<NamedIds>);

impl Walkable {
    /// That of an identity; `None` of events that no walk is of: those that the kernel has not written, and walks themselves.
    pub fn of(identity: &EventIdentity) -> Option<Walkable> {
        may_be_walked(identity).then(|| Walkable(NamedIds::of(identity)))
    }

    /// The thread of an event of this shape.
    #[inline]
    pub fn thread(&self, raw: &RawEvent<'_>, file: &FileContext) -> WalkedThread {
        let event = Event::of(raw, file);
        let thread = if event.thread_id.is_some() || event.process_id.is_some() {
            event.thread_id
        } else {
            self.0.and_then(|named| named.read(event.payload).thread)
        };
        thread.map_or(WalkedThread::Unknown, WalkedThread::Known)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::layout::header::HeaderFamily;

    const FILE: FileContext = FileContext { pointer_size: 8, private_session: false };

    /// A PERFINFO event of this hook, at 7 ticks, of 32 or 64 bits.
    fn event(kind: u8, group: u8, pointer_size: u8, payload: &[u8]) -> Vec<u8> {
        let marker = if pointer_size == 4 { 0x10 } else { 0x11 };
        let size = u16::try_from(16 + payload.len()).unwrap().to_le_bytes();
        let head = [&[2, 0, marker, 0xC0], &size[..], &[kind, group], &7_i64.to_le_bytes()].concat();
        [&head[..], payload].concat()
    }

    fn raw(bytes: &[u8]) -> RawEvent<'_> {
        RawEvent::at(bytes, 0).unwrap()
    }

    fn listed(addresses: Addresses<'_>) -> Vec<u64> {
        let mut listed = Vec::new();
        addresses.append_to(&mut listed);
        listed
    }

    /// Time 9, process 1, thread 5.
    const OF_EVENT: [u8; 16] = [9, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 5, 0, 0, 0];

    #[test]
    fn addresses_are_as_wide_as_pointers() {
        let addresses = [1, 0, 0, 0x80, 2, 0, 0, 0, 3, 0, 0, 0];
        for (pointer_size, expected) in [(4, vec![0x8000_0001, 2, 3]), (8, vec![0x2_8000_0001])] {
            let bytes = event(0x20, 0x18, pointer_size, &[&OF_EVENT[..], &addresses].concat());
            let Some(StackDescription::Walk { event_ticks: 9, thread: 5, process: Some(1), stack }) =
                StackDescription::of(&raw(&bytes), &FILE)
            else {
                panic!("it is a walk")
            };
            let Part::Addresses(found) = stack else { panic!("it has addresses") };
            assert_eq!((found.len(), listed(found)), (expected.len(), expected));
        }
    }

    #[test]
    fn keys_differ_from_what_stands_under_them() {
        let bytes = event(0x26, 0x18, 8, &[&OF_EVENT[..], &[4, 0, 0, 0, 0, 0, 0, 1]].concat());
        let described = StackDescription::of(&raw(&bytes), &FILE);
        let stack = Part::Key(0x0100_0000_0000_0004);
        assert_eq!(described, Some(StackDescription::Walk { event_ticks: 9, thread: 5, process: Some(1), stack }));
        let bytes = event(0x23, 0x18, 4, &[4, 0, 0, 0, 6, 0, 0, 0]);
        let Some(StackDescription::Key { key: 4, when: StackEvent::KeyDeleted, addresses }) =
            StackDescription::of(&raw(&bytes), &FILE)
        else {
            panic!("it is of a key")
        };
        assert_eq!(listed(addresses), [6]);
    }

    #[test]
    fn what_is_cut_off_or_of_another_class_records_nothing() {
        for (kind, group, payload) in [
            (0x20, 0x18, &OF_EVENT[..15]),
            (0x25, 0x18, &OF_EVENT),
            (0x24, 0x18, &[1; 7]),
            (0x20, 0x0F, &OF_EVENT),
            (0x21, 0x18, &OF_EVENT),
        ] {
            assert_eq!(StackDescription::of(&raw(&event(kind, group, 8, payload)), &FILE), None, "{group:x} {kind:x}");
        }
    }

    #[test]
    fn a_walk_is_of_an_event_of_the_kernel_and_never_of_a_walk() {
        let thread = |kind, group, payload: &[u8]| WalkedThread::of(&raw(&event(kind, group, 8, payload)), &FILE);
        // A sample names its thread behind a pointer; an interrupt names none.
        assert_eq!(thread(0x2E, 0x0F, &OF_EVENT), Some(WalkedThread::Known(1)));
        assert_eq!(thread(0x43, 0x0F, &OF_EVENT), Some(WalkedThread::Unknown));
        assert_eq!(thread(0x20, 0x18, &OF_EVENT), None);
        let mut other = vec![0; 0x50];
        other[..4].copy_from_slice(&[0x50, 0, 0x13, 0xC0]);
        assert_eq!(raw(&other).family, HeaderFamily::Event64);
        assert_eq!(WalkedThread::of(&raw(&other), &FILE), None);
    }
}
