//! Classic events with a class GUID of their own: FULL and INSTANCE headers.

use super::payload::{Guid, OnDisk, Payload, guid, halves, len16, payload};

/// Class of the loss notices that a real-time session synthesises.
pub const RT_LOST_EVENT: Guid = guid("6a399ae0-4bc6-4de9-870b-3657f8947e7e");
/// Class of embedded schemas: opcode 0x20 one event's description, 0x21 a value map.
pub const TRACE_METADATA: Guid = guid("bbccf6c1-6cd1-48c4-80ff-839482e37671");

/// An event of header type 0A, 14 (FULL) or 0B, 15 (INSTANCE).
#[derive(Clone, Debug)]
pub struct Classic {
    kind: u8,
    pub class: Guid,
    pub opcode: u8,
    pub version: u16,
    pub level: u8,
    /// Raw clock.
    pub time: i64,
    pub tid: u32,
    pub pid: u32,
    pub kernel_time: u32,
    pub user_time: u32,
    /// Total size where it shall not be the true one.
    pub size: Option<u16>,
    instance: Payload,
    payload: Vec<u8>,
}

/// FULL32, type 0A.
pub fn full32(class: Guid, opcode: u8, version: u16, time: i64) -> Classic {
    Classic::new(0x0A, class, opcode, version, time)
}

/// FULL64, type 14.
pub fn full64(class: Guid, opcode: u8, version: u16, time: i64) -> Classic {
    Classic::new(0x14, class, opcode, version, time)
}

/// INSTANCE32, type 0B; the instance follows with [`Classic::instance`].
pub fn instance32(class: Guid, opcode: u8, version: u16, time: i64) -> Classic {
    Classic::new(0x0B, class, opcode, version, time).instance(0, 0, [0; 16])
}

/// INSTANCE64, type 15; the instance follows with [`Classic::instance`].
pub fn instance64(class: Guid, opcode: u8, version: u16, time: i64) -> Classic {
    Classic::new(0x15, class, opcode, version, time).instance(0, 0, [0; 16])
}

/// RT_LostEvent: 0x20 events lost, 0x21 a buffer, 0x22 the backing file. No payload.
pub fn lost_event(opcode: u8, time: i64) -> Classic {
    full64(RT_LOST_EVENT, opcode, 0, time)
}

/// EventInfo: a TRACE_EVENT_INFO blob describing one event.
pub fn event_info(time: i64, blob: impl Into<Vec<u8>>) -> Classic {
    full64(TRACE_METADATA, 0x20, 0, time).tid(0xFFFF_FFFF).payload(blob)
}

/// EventMapInfo: the provider's GUID, then an EVENT_MAP_INFO blob.
pub fn event_map_info(time: i64, provider: Guid, blob: &[u8]) -> Classic {
    full64(TRACE_METADATA, 0x21, 0, time).tid(0xFFFF_FFFF).payload(payload().guid(provider).bytes(blob))
}

/// EVENT_INSTANCE_HEADER of layouts before 1.1 (type 0B with 0x38 bytes): registration handles instead of GUIDs.
pub fn old_instance32(opcode: u8, version: u16, time: i64, handles: [u64; 2], ids: [u32; 2], data: &[u8]) -> Vec<u8> {
    let start = payload().u16(len16(0x38 + data.len())).u8(0x0B).u8(0xC0).u8(opcode).u8(0).u16(version);
    let start = start.u32(0).u32(0).i64(time).u64(handles[0]).u32(ids[0]).u32(ids[1]).u64(0).u64(handles[1]);
    start.bytes(data).into()
}

impl Classic {
    fn new(kind: u8, class: Guid, opcode: u8, version: u16, time: i64) -> Self {
        Self {
            kind,
            class,
            opcode,
            version,
            level: 0,
            time,
            tid: 0,
            pid: 0,
            kernel_time: 0,
            user_time: 0,
            size: None,
            instance: payload(),
            payload: Vec::new(),
        }
    }

    setters! { level: u8, tid: u32, pid: u32, kernel_time: u32, user_time: u32 }

    /// The u64 that replaces the two CPU times in private sessions.
    #[must_use]
    pub fn processor_time(mut self, ticks: u64) -> Self {
        (self.kernel_time, self.user_time) = halves(ticks);
        self
    }

    /// Instance id, parent instance id and the parent's class, at 30..48 of the header.
    #[must_use]
    pub fn instance(mut self, id: u32, parent: u32, parent_class: Guid) -> Self {
        assert!(matches!(self.kind, 0x0B | 0x15), "only INSTANCE headers name an instance");
        self.instance = payload().u32(id).u32(parent).guid(parent_class);
        self
    }

    /// Writes another size than the true one.
    #[must_use]
    pub fn size(mut self, size: u16) -> Self {
        self.size = Some(size);
        self
    }

    #[must_use]
    pub fn payload(mut self, payload: impl Into<Vec<u8>>) -> Self {
        self.payload = payload.into();
        self
    }
}

impl OnDisk for Classic {
    fn on_disk(&self) -> Vec<u8> {
        let size = self.size.unwrap_or_else(|| len16(0x30 + self.instance.len() + self.payload.len()));
        let start = payload().u16(size).u8(self.kind).u8(0xC0).u8(self.opcode).u8(self.level).u16(self.version);
        let start = start.u32(self.tid).u32(self.pid).i64(self.time).guid(self.class);
        start.u32(self.kernel_time).u32(self.user_time).bytes(&self.instance.0).bytes(&self.payload).into()
    }
}
