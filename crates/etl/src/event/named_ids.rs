//! Which events name, in their payload, the thread or the process that they are about.
//!
//! Most kernel events have a header without ids. Where such an event names a thread or a process, it stands at a place that
//! follows from class, opcode, version and pointer size alone: no schema is needed to read it, and the same event says the
//! same whatever schemas a user gives. The places are those of the kernel's event classes.

use base::guid::Guid;

use super::EventIdentity;
use super::view::known_id;
use crate::layout::kernel::{self, KERNEL_CLASSES};

/// The ids that an event has, in its header or its payload.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Ids {
    /// The process.
    pub process: Option<u32>,
    /// The thread.
    pub thread: Option<u32>,
}

/// Where an event's process and thread are known from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Attribution {
    /// Its header.
    Header,
    /// A field of it, which names the thread or process that it is about.
    Payload,
    /// The thread is known, and the process is the one that had it at the time.
    Thread,
    /// The thread is known, and the walk of the event's stack names its process.
    Walk,
}

impl Attribution {
    /// All of them, each at its number.
    pub const ALL: [Attribution; 4] =
        [Attribution::Header, Attribution::Payload, Attribution::Thread, Attribution::Walk];

    /// The value of the column `attribution`.
    pub fn name(self) -> &'static str {
        match self {
            Attribution::Header => "header",
            Attribution::Payload => "payload",
            Attribution::Thread => "thread",
            Attribution::Walk => "walk",
        }
    }
}

/// Whose an event is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AttributedIds {
    /// Its process.
    pub process: Option<u32>,
    /// Its thread.
    pub thread: Option<u32>,
    /// The number of its process's name among those of the recording.
    pub name: Option<u32>,
    /// Where the process is known from; of an event without one, the thread.
    pub source: Option<Attribution>,
}

/// Where events of one shape name what they are about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NamedIds {
    /// Offset of the process id.
    process: Option<usize>,
    /// Offset of the thread id.
    thread: Option<usize>,
}

/// An offset: so many bytes, and so many pointers.
type FieldOffset = (usize, usize);

/// Events of a class that name ids at the same places: opcodes, versions from and to, process, thread.
type Rule = (&'static [u8], u16, u16, Option<FieldOffset>, Option<FieldOffset>);

/// The last version that has been seen, and those that are still to come: fields are appended.
const ANY: u16 = u16::MAX;

const DISK_IO: &[Rule] = &[
    (&[10, 11, 55, 56], 3, ANY, None, Some((32, 2))),
    (&[12, 13, 15, 58, 59, 60], 3, ANY, None, Some((0, 1))),
    (&[14, 57], 3, ANY, None, Some((16, 1))),
];
const PAGE_FAULT: &[Rule] = &[(&[32], 0, ANY, None, Some((16, 2))), (&[98, 99, 128, 129], 2, ANY, Some((0, 2)), None)];
const PROCESS: &[Rule] = &[
    (&[1, 2, 3, 4], 0, 0, Some((0, 0)), None),
    (&[1, 2, 3, 4, 39], 1, ANY, Some((0, 1)), None),
    (&[11, 32, 33], 2, ANY, Some((0, 0)), None),
    (&[35], 2, ANY, Some((0, 1)), None),
];
// Older versions have the thread id as a pointer, whose lower half stands first.
const FILE_IO: &[Rule] = &[
    (&[37, 38, 39, 40], 2, ANY, Some((8, 3)), None),
    (&[64, 65, 66, 69, 70, 71, 72, 73, 74, 75, 77], 2, 2, None, Some((0, 1))),
    (&[67, 68], 2, 2, None, Some((8, 1))),
    (&[64], 3, ANY, None, Some((0, 2))),
    (&[65, 66, 72, 73, 77], 3, ANY, None, Some((0, 3))),
    (&[67, 68], 3, ANY, None, Some((8, 3))),
    (&[69, 70, 71, 74, 75, 79, 80, 81], 3, ANY, None, Some((0, 4))),
];
// A switch is about the thread that runs from then on, a ready thread about the one that is readied.
const THREAD: &[Rule] = &[
    (&[1, 2, 3, 4], 0, 0, Some((4, 0)), Some((0, 0))),
    (&[1, 2, 3, 4], 1, ANY, Some((0, 0)), Some((4, 0))),
    (&[36], 1, ANY, None, Some((0, 0))),
    (&[50], 2, ANY, None, Some((0, 0))),
    (&[72], 2, ANY, Some((0, 0)), Some((4, 0))),
];
const NETWORK: &[Rule] =
    &[(&[10, 11, 12, 13, 14, 15, 16, 18, 26, 27, 28, 29, 30, 31, 32, 34], 1, ANY, Some((0, 0)), None)];
const PERF_INFO: &[Rule] = &[(&[46, 47], 1, ANY, None, Some((0, 1)))];
const IMAGE: &[Rule] = &[(&[10], 1, ANY, Some((0, 2)), None), (&[2, 3, 4], 2, ANY, Some((0, 2)), None)];
const STACK_WALK: &[Rule] =
    &[(&[32], 0, ANY, Some((8, 0)), Some((12, 0))), (&[37, 38], 2, ANY, Some((8, 0)), Some((12, 0)))];
const IMAGE_ID: &[Rule] = &[(&[0], 2, ANY, Some((0, 2)), None), (&[36, 37, 38], 2, ANY, Some((0, 1)), None)];

/// The rules of a class.
fn rules(class: &Guid) -> &'static [Rule] {
    if *class == kernel::IMAGE_ID_CLASS {
        return IMAGE_ID;
    }
    match KERNEL_CLASSES.iter().find(|known| known.guid == *class).map(|known| known.name) {
        Some("DiskIo") => DISK_IO,
        Some("PageFault") => PAGE_FAULT,
        Some("Process") => PROCESS,
        Some("FileIo") => FILE_IO,
        Some("Thread") => THREAD,
        Some("TcpIp" | "UdpIp") => NETWORK,
        Some("PerfInfo") => PERF_INFO,
        Some("Image") => IMAGE,
        Some("StackWalk") => STACK_WALK,
        _ => &[],
    }
}

impl NamedIds {
    /// Where events of this identity name a thread or a process; `None` of those that do not.
    pub fn of(identity: &EventIdentity) -> Option<NamedIds> {
        let EventIdentity { family, opcode, version, pointer_size, .. } = *identity;
        if !family.is_kernel() && !family.is_classic() {
            return None;
        }
        let is_of = |rule: &&Rule| rule.0.contains(&opcode) && (rule.1..=rule.2).contains(&version);
        let (_, _, _, process, thread) = rules(&identity.provider).iter().find(is_of)?;
        let offset = |place: &Option<FieldOffset>| {
            let (bytes, pointers) = (*place)?;
            Some(bytes + pointers * usize::from(pointer_size))
        };
        Some(NamedIds { process: offset(process), thread: offset(thread) })
    }

    /// What a payload names; nothing beyond its end, and not the numbers that stand for none.
    #[inline]
    pub fn read(&self, payload: &[u8]) -> Ids {
        let id = |offset: Option<usize>| {
            let bytes = payload.get(offset?..)?.first_chunk()?;
            known_id(u32::from_le_bytes(*bytes))
        };
        Ids { process: id(self.process), thread: id(self.thread) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::layout::header::HeaderFamily;

    fn read(
        group: usize,
        opcode: u8,
        version: u16,
        pointer_size: u8,
        payload: &[u8],
    ) -> Option<(Option<u32>, Option<u32>)> {
        let family = HeaderFamily::PerfInfo64;
        let (provider, id, property) = (KERNEL_CLASSES[group].guid, 0, 0);
        let identity = EventIdentity { provider, group: 0, id, version, opcode, property, pointer_size, family };
        NamedIds::of(&identity).map(|named| named.read(payload)).map(|ids| (ids.process, ids.thread))
    }

    #[test]
    fn ids_stand_behind_so_many_bytes_and_pointers() {
        // Each byte is its own offset.
        let bytes: Vec<u8> = (0..64).collect();
        let at = |offset: u32| Some(offset | (offset + 1) << 8 | (offset + 2) << 16 | (offset + 3) << 24);
        for (group, opcode, version, pointer_size, process, thread) in [
            (0x0F, 46, 2, 8, None, at(8)),
            (0x0F, 46, 2, 4, None, at(4)),
            (0x18, 32, 2, 8, at(8), at(12)),
            (0x01, 10, 3, 8, None, at(48)),
            (0x01, 12, 3, 4, None, at(4)),
            (0x05, 36, 4, 8, None, at(0)),
            (0x05, 1, 0, 4, at(4), at(0)),
            (0x05, 1, 3, 8, at(0), at(4)),
            (0x04, 67, 3, 8, None, at(32)),
            (0x06, 26, 2, 8, at(0), None),
        ] {
            assert_eq!(read(group, opcode, version, pointer_size, &bytes), Some((process, thread)), "{group} {opcode}");
        }
        // Version 2 of a read does not name its thread.
        assert_eq!(read(0x01, 10, 2, 8, &bytes), None);
    }

    #[test]
    fn what_is_cut_or_stands_for_none_is_no_id() {
        assert_eq!(read(0x05, 36, 4, 8, &[1, 0, 0]), Some((None, None)));
        assert_eq!(read(0x06, 10, 2, 8, &[0xFF; 4]), Some((None, None)));
        assert_eq!(read(0x05, 36, 4, 8, &[0; 4]), Some((None, Some(0))));
    }
}
