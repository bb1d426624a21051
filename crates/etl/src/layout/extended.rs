//! Extended data items between an event header and its payload.

use zerocopy::little_endian::U16;
use zerocopy::{FromBytes, Immutable, KnownLayout, Unaligned};

/// The 8 bytes in front of an item's data.
#[doc(alias = "EVENT_HEADER_EXTENDED_DATA_ITEM")]
#[derive(Clone, Copy, Debug, FromBytes, Immutable, KnownLayout, Unaligned)]
#[repr(C)]
pub struct ItemHeader {
    /// Distance to the next item: header and data, rounded up to 8 (documented as reserved).
    pub item_size: U16,
    /// [`item_type`].
    pub item_type: U16,
    /// Bit 0: another item follows.
    pub linkage: U16,
    /// Bytes of data behind this header.
    pub data_size: U16,
}

const _: () = assert!(size_of::<ItemHeader>() == 8);

/// What an item holds.
pub mod item_type {
    /// GUID of a related activity.
    pub const RELATED_ACTIVITY_ID: u16 = 0x01;
    /// Security identifier of the writer.
    pub const SID: u16 = 0x02;
    /// `u32` terminal session.
    pub const TS_ID: u16 = 0x03;
    /// `u32` instance, `u32` parent, GUID of the parent's class.
    pub const INSTANCE_INFO: u16 = 0x04;
    /// `u64` match id, then 4-byte addresses.
    pub const STACK_TRACE_32: u16 = 0x05;
    /// `u64` match id, then 8-byte addresses.
    pub const STACK_TRACE_64: u16 = 0x06;
    /// 8-byte index of a processor event based sample.
    pub const PEBS_INDEX: u16 = 0x07;
    /// 8-byte performance counters.
    pub const PMC_COUNTERS: u16 = 0x08;
    /// `u64` key of the event.
    pub const EVENT_KEY: u16 = 0x0A;
    /// TraceLogging event metadata.
    pub const EVENT_SCHEMA_TL: u16 = 0x0B;
    /// Provider traits.
    pub const PROVIDER_TRAITS: u16 = 0x0C;
    /// `u64`, unique for a process within a boot.
    pub const PROCESS_START_KEY: u16 = 0x0D;
    /// GUID or text that names a container.
    pub const CONTAINER_ID: u16 = 0x10;
}
