//! The headers in front of events, and the dispatch on their first four bytes.

use serde::{Deserialize, Serialize};
use zerocopy::little_endian::{I64, U16, U32, U64};
use zerocopy::{FromBytes, Immutable, KnownLayout, Unaligned};

/// The family and bitness of an event header, by its first four bytes.
///
/// Bits 24 to 31 are marker flags, bits 16 to 23 the type of a typed header. 32 and 64 name the pointer size of the
/// payload, which belongs to the event and not to the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[repr(u8)]
pub enum HeaderFamily {
    /// Kernel event with thread, process and CPU times, 32-bit.
    System32 = 0x01,
    /// Kernel event with thread, process and CPU times, 64-bit.
    System64 = 0x02,
    /// Kernel event with thread and process, 32-bit.
    Compact32 = 0x03,
    /// Kernel event with thread and process, 64-bit.
    Compact64 = 0x04,
    /// Classic event with its class GUID, 32-bit.
    Classic32 = 0x0A,
    /// Classic event of an instance, 32-bit.
    Instance32 = 0x0B,
    /// Obsolete: a number and a time.
    Timed = 0x0C,
    /// An event that could not be logged.
    Error = 0x0D,
    /// Obsolete.
    Wnode = 0x0E,
    /// WPP message.
    Message = 0x0F,
    /// Kernel event with nothing but its time, 32-bit.
    PerfInfo32 = 0x10,
    /// Kernel event with nothing but its time, 64-bit.
    PerfInfo64 = 0x11,
    /// Manifest or TraceLogging event, 32-bit.
    Event32 = 0x12,
    /// Manifest or TraceLogging event, 64-bit.
    Event64 = 0x13,
    /// Classic event with its class GUID, 64-bit.
    Classic64 = 0x14,
    /// Classic event of an instance, 64-bit.
    Instance64 = 0x15,
}

/// Events start at multiples of this many bytes from the start of their buffer.
pub const EVENT_ALIGNMENT: u32 = 8;

/// The marker flags of a typed header.
const MARKER_TYPED: u32 = 0xC0;
/// The marker flags of a WPP message, whose third byte is 0 and no type.
const MARKER_MESSAGE: u32 = 0x90;
/// The marker flags of the legacy form with a number and a time.
const MARKER_TIMED: u32 = 0xB0;

impl HeaderFamily {
    /// The family that the first four bytes of an event announce, or `None` where they announce none.
    #[inline]
    pub fn of_marker(marker: u32) -> Option<HeaderFamily> {
        match marker >> 24 {
            MARKER_TYPED => HeaderFamily::of_type((marker >> 16) & 0xFF),
            MARKER_MESSAGE => Some(HeaderFamily::Message),
            MARKER_TIMED => Some(HeaderFamily::Timed),
            _ => None,
        }
    }

    fn of_type(number: u32) -> Option<HeaderFamily> {
        use HeaderFamily::{
            Classic32, Classic64, Compact32, Compact64, Error, Event32, Event64, Instance32, Instance64, Message,
            PerfInfo32, PerfInfo64, System32, System64, Timed, Wnode,
        };
        Some(match number {
            0x01 => System32,
            0x02 => System64,
            0x03 => Compact32,
            0x04 => Compact64,
            0x0A => Classic32,
            0x0B => Instance32,
            0x0C => Timed,
            0x0D => Error,
            0x0E => Wnode,
            0x0F => Message,
            0x10 => PerfInfo32,
            0x11 => PerfInfo64,
            0x12 => Event32,
            0x13 => Event64,
            0x14 => Classic64,
            0x15 => Instance64,
            _ => return None,
        })
    }

    /// Bytes of the fixed part of the header.
    #[inline]
    pub fn header_len(self) -> usize {
        use HeaderFamily::{
            Classic32, Classic64, Compact32, Compact64, Error, Event32, Event64, Instance32, Instance64, Message,
            PerfInfo32, PerfInfo64, System32, System64, Timed, Wnode,
        };
        match self {
            System32 | System64 => size_of::<SystemHeader>(),
            Compact32 | Compact64 => size_of::<CompactHeader>(),
            PerfInfo32 | PerfInfo64 => size_of::<PerfInfoHeader>(),
            Classic32 | Classic64 => size_of::<ClassicHeader>(),
            Instance32 | Instance64 => size_of::<InstanceHeader>(),
            Event32 | Event64 => size_of::<EventHeader>(),
            Message => size_of::<MessageHeader>(),
            Timed => size_of::<ObsoleteTimedHeader>(),
            Error | Wnode => size_of::<OpaqueHeader>(),
        }
    }

    /// Where the total size of the event stands: the third `u16` of kernel headers, else the first.
    #[inline]
    pub fn size_offset(self) -> usize {
        if self.is_kernel() { 4 } else { 0 }
    }

    /// Where the time of the event stands, if it has one at a fixed place.
    #[inline]
    pub fn time_offset(self) -> Option<usize> {
        use HeaderFamily::{Error, Message, PerfInfo32, PerfInfo64, Timed, Wnode};
        match self {
            PerfInfo32 | PerfInfo64 | Timed => Some(8),
            Message | Error | Wnode => None,
            _ => Some(16),
        }
    }

    /// Whether the header carries a kernel hook id.
    #[inline]
    pub fn is_kernel(self) -> bool {
        use HeaderFamily::{Compact32, Compact64, PerfInfo32, PerfInfo64, System32, System64};
        matches!(self, System32 | System64 | Compact32 | Compact64 | PerfInfo32 | PerfInfo64)
    }

    /// Whether this is a manifest or TraceLogging event.
    #[inline]
    pub fn is_event(self) -> bool {
        matches!(self, HeaderFamily::Event32 | HeaderFamily::Event64)
    }

    /// Whether this is a classic event that names its class.
    #[inline]
    pub fn is_classic(self) -> bool {
        use HeaderFamily::{Classic32, Classic64, Instance32, Instance64};
        matches!(self, Classic32 | Classic64 | Instance32 | Instance64)
    }

    /// Whether the header has an instance behind the common part.
    #[inline]
    pub fn is_instance(self) -> bool {
        matches!(self, HeaderFamily::Instance32 | HeaderFamily::Instance64)
    }

    /// The pointer size of the payload in bytes; `None` where only the file or the event's flags know.
    #[inline]
    pub fn pointer_size(self) -> Option<u8> {
        use HeaderFamily::{
            Classic32, Classic64, Compact32, Compact64, Error, Event32, Event64, Instance32, Instance64, Message,
            PerfInfo32, PerfInfo64, System32, System64, Timed, Wnode,
        };
        match self {
            System32 | Compact32 | Classic32 | Instance32 | PerfInfo32 | Event32 => Some(4),
            System64 | Compact64 | Classic64 | Instance64 | PerfInfo64 | Event64 => Some(8),
            Timed | Error | Wnode | Message => None,
        }
    }

    /// The name used in the sidecar.
    pub fn name(self) -> &'static str {
        use HeaderFamily::{
            Classic32, Classic64, Compact32, Compact64, Error, Event32, Event64, Instance32, Instance64, Message,
            PerfInfo32, PerfInfo64, System32, System64, Timed, Wnode,
        };
        match self {
            System32 => "system32",
            System64 => "system64",
            Compact32 => "compact32",
            Compact64 => "compact64",
            Classic32 => "full32",
            Instance32 => "instance32",
            Timed => "timed",
            Error => "error",
            Wnode => "wnode",
            Message => "message",
            PerfInfo32 => "perfinfo32",
            PerfInfo64 => "perfinfo64",
            Event32 => "event32",
            Event64 => "event64",
            Classic64 => "full64",
            Instance64 => "instance64",
        }
    }
}

const _: () = {
    use std::mem::offset_of;
    assert!(offset_of!(PerfInfoHeader, time_stamp) == 8 && offset_of!(ObsoleteTimedHeader, time_stamp) == 8);
    assert!(offset_of!(CompactHeader, time_stamp) == 16 && offset_of!(SystemHeader, compact) == 0);
    assert!(offset_of!(ClassicHeader, time_stamp) == 16 && offset_of!(InstanceHeader, full) == 0);
    assert!(offset_of!(EventHeader, time_stamp) == 16);
};

/// Kernel event with thread, process and CPU times.
#[doc(alias = "SYSTEM_TRACE_HEADER")]
#[derive(Clone, Copy, Debug, FromBytes, Immutable, KnownLayout, Unaligned)]
#[repr(C)]
pub struct SystemHeader {
    /// The part shared with [`CompactHeader`].
    pub compact: CompactHeader,
    /// Kernel time of the thread in timer ticks.
    pub kernel_time: U32,
    /// User time of the thread in timer ticks.
    pub user_time: U32,
}

/// Kernel event with thread and process.
#[derive(Clone, Copy, Debug, FromBytes, Immutable, KnownLayout, Unaligned)]
#[repr(C)]
pub struct CompactHeader {
    /// The part shared with [`PerfInfoHeader`].
    pub hook: KernelHeader,
    /// The writing thread.
    pub thread_id: U32,
    /// The writing process.
    pub process_id: U32,
    /// Session clock.
    pub time_stamp: I64,
}

/// Kernel event with nothing but its time.
#[doc(alias = "PERFINFO_TRACE_HEADER")]
#[derive(Clone, Copy, Debug, FromBytes, Immutable, KnownLayout, Unaligned)]
#[repr(C)]
pub struct PerfInfoHeader {
    /// The part shared with [`CompactHeader`].
    pub hook: KernelHeader,
    /// Session clock.
    pub time_stamp: I64,
}

/// The first 8 bytes of every kernel header.
#[derive(Clone, Copy, Debug, FromBytes, Immutable, KnownLayout, Unaligned)]
#[repr(C)]
pub struct KernelHeader {
    /// Version of the payload.
    pub version: u8,
    /// [`KernelHeader::counter_bytes`].
    pub extension: u8,
    _marker: U16,
    /// Total bytes of the event, without alignment.
    pub size: U16,
    /// Low byte of the hook id: the opcode.
    pub kind: u8,
    /// High byte of the hook id: the group.
    pub group: u8,
}

impl KernelHeader {
    /// How many performance counters (8 bytes each) stand between header and payload.
    pub fn counters(&self) -> usize {
        usize::from(self.extension & 0x07)
    }

    /// Whether a PEBS index (8 bytes) stands between header and payload.
    pub fn has_pebs_index(&self) -> bool {
        self.extension & 0x80 != 0
    }

    /// Bytes between header and payload.
    pub fn counter_bytes(&self) -> usize {
        8 * (self.counters() + usize::from(self.has_pebs_index()))
    }
}

/// Classic event that names its class.
#[doc(alias = "EVENT_TRACE_HEADER")]
#[derive(Clone, Copy, Debug, FromBytes, Immutable, KnownLayout, Unaligned)]
#[repr(C)]
pub struct ClassicHeader {
    /// Total bytes of the event, without alignment.
    pub size: U16,
    _marker: U16,
    /// The opcode.
    pub class_type: u8,
    /// The severity.
    pub level: u8,
    /// Version of the payload.
    pub version: U16,
    /// The writing thread.
    pub thread_id: U32,
    /// The writing process.
    pub process_id: U32,
    /// Session clock.
    pub time_stamp: I64,
    /// The event class.
    pub guid: [u8; 16],
    /// Kernel and user time in timer ticks, or the processor time of a private session.
    pub cpu_time: U64,
}

/// Classic event of an instance.
#[doc(alias = "EVENT_INSTANCE_GUID_HEADER")]
#[derive(Clone, Copy, Debug, FromBytes, Immutable, KnownLayout, Unaligned)]
#[repr(C)]
pub struct InstanceHeader {
    /// The part shared with [`ClassicHeader`].
    pub full: ClassicHeader,
    /// The instance.
    pub instance_id: U32,
    /// Its parent.
    pub parent_instance_id: U32,
    /// The class of the parent.
    pub parent_guid: [u8; 16],
}

/// Manifest or TraceLogging event.
#[doc(alias = "EVENT_HEADER")]
#[derive(Clone, Copy, Debug, FromBytes, Immutable, KnownLayout, Unaligned)]
#[repr(C)]
pub struct EventHeader {
    /// Total bytes of the event, without alignment.
    pub size: U16,
    _marker: U16,
    /// [`event_flags`].
    pub flags: U16,
    /// Where the schema comes from, according to the writer.
    pub event_property: U16,
    /// The writing thread.
    pub thread_id: U32,
    /// The writing process.
    pub process_id: U32,
    /// Session clock.
    pub time_stamp: I64,
    /// The provider.
    pub provider_id: [u8; 16],
    /// The event id.
    pub id: U16,
    /// Version of the payload.
    pub version: u8,
    /// The event log channel.
    pub channel: u8,
    /// The severity.
    pub level: u8,
    /// The step within the task.
    pub opcode: u8,
    /// The task.
    pub task: U16,
    /// Bit mask of the categories.
    pub keywords: U64,
    /// Kernel and user time in timer ticks, or the processor time of a private session.
    pub cpu_time: U64,
    /// The activity; zero for none.
    pub activity_id: [u8; 16],
}

/// Bits of [`EventHeader::flags`] that matter on disk.
pub mod event_flags {
    /// Extended items stand between header and payload.
    pub const EXTENDED_INFO: u16 = 0x0001;
    /// The CPU time is that of a private session.
    pub const PRIVATE_SESSION: u16 = 0x0002;
    /// The payload is one NUL-terminated UTF-16 string.
    pub const STRING_ONLY: u16 = 0x0004;
    /// The CPU time is not recorded.
    pub const NO_CPUTIME: u16 = 0x0010;
    /// The payload has 4-byte pointers.
    pub const HEADER_32_BIT: u16 = 0x0020;
    /// The payload has 8-byte pointers.
    pub const HEADER_64_BIT: u16 = 0x0040;
}

/// WPP message; what follows depends on [`message_flags`].
#[doc(alias = "MESSAGE_TRACE_HEADER")]
#[derive(Clone, Copy, Debug, FromBytes, Immutable, KnownLayout, Unaligned)]
#[repr(C)]
pub struct MessageHeader {
    /// Total bytes of the event, without alignment.
    pub size: U16,
    _marker: U16,
    /// Number of the message in its source file.
    pub number: U16,
    /// [`message_flags`].
    pub flags: U16,
}

/// Bits of [`MessageHeader::flags`]: which items follow, in the order sequence, component or GUID, time, system.
pub mod message_flags {
    /// A `u32` sequence number.
    pub const SEQUENCE: u16 = 0x0001;
    /// The GUID of the message class.
    pub const GUID: u16 = 0x0002;
    /// A `u32` component id; wins over [`GUID`].
    pub const COMPONENT_ID: u16 = 0x0004;
    /// An 8-byte time of the session clock.
    pub const TIMESTAMP: u16 = 0x0008;
    /// `u32` thread and `u32` process.
    pub const SYSTEM_INFO: u16 = 0x0020;
    /// The arguments have 4-byte pointers.
    pub const POINTER_32: u16 = 0x0040;
    /// The arguments have 8-byte pointers.
    pub const POINTER_64: u16 = 0x0080;
}

/// Obsolete: a number and a time.
#[doc(alias = "TIMED_TRACE_HEADER")]
#[derive(Clone, Copy, Debug, FromBytes, Immutable, KnownLayout, Unaligned)]
#[repr(C)]
pub struct ObsoleteTimedHeader {
    /// Total bytes of the event, without alignment.
    pub size: U16,
    _marker: U16,
    /// The event's number.
    pub event_id: U32,
    /// Session clock.
    pub time_stamp: I64,
}

/// What is known of error and WNODE headers: the size. The rest is kept as payload.
#[derive(Clone, Copy, Debug, FromBytes, Immutable, KnownLayout, Unaligned)]
#[repr(C)]
pub struct OpaqueHeader {
    /// Total bytes of the event, without alignment.
    pub size: U16,
    _marker: U16,
}

const _: () = {
    assert!(size_of::<SystemHeader>() == 0x20);
    assert!(size_of::<CompactHeader>() == 0x18);
    assert!(size_of::<PerfInfoHeader>() == 0x10);
    assert!(size_of::<ClassicHeader>() == 0x30);
    assert!(size_of::<InstanceHeader>() == 0x48);
    assert!(size_of::<EventHeader>() == 0x50);
    assert!(size_of::<MessageHeader>() == 8);
    assert!(size_of::<ObsoleteTimedHeader>() == 0x10);
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_bytes_record_the_family() {
        for (marker, family) in [
            (0xC002_0002, Some(HeaderFamily::System64)),
            (0xC011_0002, Some(HeaderFamily::PerfInfo64)),
            (0xC013_0088, Some(HeaderFamily::Event64)),
            (0xC00A_0030, Some(HeaderFamily::Classic32)),
            (0x9000_003C, Some(HeaderFamily::Message)),
            (0xB000_0010, Some(HeaderFamily::Timed)),
            (0xC005_0000, None),
            (0xC016_0000, None),
            (0xFFFF_FFFF, None),
            (0x0000_0000, None),
        ] {
            assert_eq!(HeaderFamily::of_marker(marker), family, "{marker:#x}");
        }
    }

    #[test]
    fn every_family_has_the_type_byte_of_its_number() {
        use HeaderFamily::{
            Classic32, Classic64, Compact32, Compact64, Error, Event32, Event64, Instance32, Instance64, Message,
            PerfInfo32, PerfInfo64, System32, System64, Timed, Wnode,
        };
        for family in [
            System32, System64, Compact32, Compact64, Classic32, Instance32, Timed, Error, Wnode, Message, PerfInfo32,
            PerfInfo64, Event32, Event64, Classic64, Instance64,
        ] {
            assert_eq!(HeaderFamily::of_marker(0xC000_0000 | (family as u32) << 16), Some(family));
        }
    }
}
