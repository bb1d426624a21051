//! Extended data items of EVENT headers.

use super::payload::{Guid, Payload, len16, payload};

/// One extended item: an 8-byte head, data, zero padding to a multiple of 8.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Item {
    pub kind: u16,
    pub data: Vec<u8>,
    /// Whole size (u16 at 0) where it shall not be the true one.
    pub size: Option<u16>,
    /// The word at 4 where bit 0 shall not show whether another item follows.
    pub linkage: Option<u16>,
    /// Data size (u16 at 6) where it shall not be the true one.
    pub data_size: Option<u16>,
}

impl Item {
    /// An item of any type, known or not.
    pub fn new(kind: u16, data: impl Into<Vec<u8>>) -> Self {
        Self { kind, data: data.into(), size: None, linkage: None, data_size: None }
    }

    /// 01: the activity this one was started by.
    pub fn related_activity(activity: Guid) -> Self {
        Self::new(0x01, activity)
    }

    /// 02: the user.
    pub fn sid(authority: u64, sub_authorities: &[u32]) -> Self {
        Self::new(0x02, payload().sid(authority, sub_authorities))
    }

    /// 03: terminal session.
    pub fn ts_id(session: u32) -> Self {
        Self::new(0x03, payload().u32(session))
    }

    /// 04: instance, parent instance and the parent's class.
    pub fn instance_info(instance: u32, parent: u32, parent_class: Guid) -> Self {
        Self::new(0x04, payload().u32(instance).u32(parent).guid(parent_class))
    }

    /// 05: match id, then 32-bit addresses.
    pub fn stack32(match_id: u64, addresses: &[u32]) -> Self {
        Self::new(0x05, addresses.iter().fold(payload().u64(match_id), |stack, &address| stack.u32(address)))
    }

    /// 06: match id, then 64-bit addresses.
    pub fn stack64(match_id: u64, addresses: &[u64]) -> Self {
        Self::new(0x06, addresses.iter().fold(payload().u64(match_id), |stack, &address| stack.u64(address)))
    }

    /// 07: PEBS index.
    pub fn pebs(index: u64) -> Self {
        Self::new(0x07, payload().u64(index))
    }

    /// 08: performance counters.
    pub fn pmc(counters: &[u64]) -> Self {
        Self::new(0x08, counters.iter().fold(payload(), |data, &counter| data.u64(counter)))
    }

    /// 09: package key, whose form is not documented.
    pub fn psm_key(key: &[u8]) -> Self {
        Self::new(0x09, key)
    }

    /// 0A: event key.
    pub fn event_key(key: u64) -> Self {
        Self::new(0x0A, payload().u64(key))
    }

    /// 0B: TraceLogging event metadata, see [`Schema`](super::tracelogging::Schema).
    pub fn schema(metadata: impl Into<Vec<u8>>) -> Self {
        Self::new(0x0B, metadata)
    }

    /// 0C: provider traits, see [`Traits`](super::tracelogging::Traits).
    pub fn traits(traits: impl Into<Vec<u8>>) -> Self {
        Self::new(0x0C, traits)
    }

    /// 0D: the process's key, unique per boot.
    pub fn process_start_key(key: u64) -> Self {
        Self::new(0x0D, payload().u64(key))
    }

    /// 0E: control GUID, where the provider id is a decode GUID.
    pub fn control_guid(control: Guid) -> Self {
        Self::new(0x0E, control)
    }

    /// 0F: difference between two clocks.
    pub fn qpc_delta(delta: i64) -> Self {
        Self::new(0x0F, payload().i64(delta))
    }

    /// 10: container id, a GUID or text.
    pub fn container_id(id: &[u8]) -> Self {
        Self::new(0x10, id)
    }

    /// 11: match id and 32-bit stack key.
    pub fn stack_key32(match_id: u64, key: u32) -> Self {
        Self::new(0x11, payload().u64(match_id).u32(key).u32(0))
    }

    /// 12: match id and 64-bit stack key.
    pub fn stack_key64(match_id: u64, key: u64) -> Self {
        Self::new(0x12, payload().u64(match_id).u64(key))
    }

    /// Writes another item size than the true one.
    #[must_use]
    pub fn size(mut self, size: u16) -> Self {
        self.size = Some(size);
        self
    }

    /// Writes this word instead of the linkage bit.
    #[must_use]
    pub fn linkage(mut self, linkage: u16) -> Self {
        self.linkage = Some(linkage);
        self
    }

    /// Writes another data size than the true one.
    #[must_use]
    pub fn data_size(mut self, size: u16) -> Self {
        self.data_size = Some(size);
        self
    }

    /// Appends the item; `last` decides the linkage bit.
    pub fn write(&self, to: Payload, last: bool) -> Payload {
        let whole = (8 + self.data.len()).next_multiple_of(8);
        let size = self.size.unwrap_or_else(|| len16(whole));
        let data_size = self.data_size.unwrap_or_else(|| len16(self.data.len()));
        let head = to.u16(size).u16(self.kind).u16(self.linkage.unwrap_or(u16::from(!last))).u16(data_size);
        head.bytes(&self.data).zeros(whole - 8 - self.data.len())
    }
}
