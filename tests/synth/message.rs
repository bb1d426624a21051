//! WPP messages and the obsolete or opaque header types.

use super::payload::{Guid, OnDisk, len16, payload};

/// A WPP message, flags byte 0x90. The option flags follow from the parts that are set.
#[derive(Clone, Debug)]
pub struct Message {
    pub number: u16,
    /// Flags beside those of the parts; 0080, 64-bit pointers.
    pub flags: u16,
    sequence: Option<u32>,
    component: Option<u32>,
    guid: Option<Guid>,
    time: Option<i64>,
    performance_time: Option<i64>,
    thread_process: Option<(u32, u32)>,
    /// Total size where it shall not be the true one.
    pub size: Option<u16>,
    arguments: Vec<u8>,
}

/// A message without any optional part.
pub fn message(number: u16) -> Message {
    Message {
        number,
        flags: 0x0080,
        sequence: None,
        component: None,
        guid: None,
        time: None,
        performance_time: None,
        thread_process: None,
        size: None,
        arguments: Vec::new(),
    }
}

impl Message {
    setters! { flags: u16 }

    /// Flag 0001.
    #[must_use]
    pub fn sequence(mut self, number: u32) -> Self {
        self.sequence = Some(number);
        self
    }

    /// Flag 0004; with a GUID set too, both flags are there but only the component is written.
    #[must_use]
    pub fn component(mut self, id: u32) -> Self {
        self.component = Some(id);
        self
    }

    /// Flag 0002.
    #[must_use]
    pub fn guid(mut self, guid: Guid) -> Self {
        self.guid = Some(guid);
        self
    }

    /// Flag 0008.
    #[must_use]
    pub fn time(mut self, time: i64) -> Self {
        self.time = Some(time);
        self
    }

    /// Flag 0010; written in the place of the time when no time is set.
    #[must_use]
    pub fn performance_time(mut self, time: i64) -> Self {
        self.performance_time = Some(time);
        self
    }

    /// Flag 0020: thread, then process.
    #[must_use]
    pub fn system_info(mut self, tid: u32, pid: u32) -> Self {
        self.thread_process = Some((tid, pid));
        self
    }

    /// Writes another size than the true one.
    #[must_use]
    pub fn size(mut self, size: u16) -> Self {
        self.size = Some(size);
        self
    }

    /// The packed arguments.
    #[must_use]
    pub fn arguments(mut self, arguments: impl Into<Vec<u8>>) -> Self {
        self.arguments = arguments.into();
        self
    }

    fn all_flags(&self) -> u16 {
        let parts = [
            (0x0001, self.sequence.is_some()),
            (0x0002, self.guid.is_some()),
            (0x0004, self.component.is_some()),
            (0x0008, self.time.is_some()),
            (0x0010, self.performance_time.is_some()),
            (0x0020, self.thread_process.is_some()),
        ];
        parts.iter().filter(|(_, set)| *set).fold(self.flags, |flags, (flag, _)| flags | flag)
    }
}

impl OnDisk for Message {
    fn on_disk(&self) -> Vec<u8> {
        let mut parts = payload();
        if let Some(number) = self.sequence {
            parts = parts.u32(number);
        }
        match (self.component, self.guid) {
            (Some(component), _) => parts = parts.u32(component),
            (None, Some(guid)) => parts = parts.guid(guid),
            (None, None) => {}
        }
        if let Some(time) = self.time.or(self.performance_time) {
            parts = parts.i64(time);
        }
        if let Some((tid, pid)) = self.thread_process {
            parts = parts.u32(tid).u32(pid);
        }
        let size = self.size.unwrap_or_else(|| len16(8 + parts.len() + self.arguments.len()));
        let start = payload().u16(size).u8(0).u8(0x90).u16(self.number).u16(self.all_flags());
        start.bytes(&parts.0).bytes(&self.arguments).into()
    }
}

/// The obsolete TIMED header, type 0C: u16 size, u16 marker, u32 data, i64 time.
pub fn timed(data: u32, time: i64, rest: &[u8]) -> Vec<u8> {
    timed_with_marker(0xC00C, data, time, rest)
}

/// The obsolete 0xB0 family, same layout; `low` is the low byte of the marker.
pub fn ulong32_time(low: u8, data: u32, time: i64, rest: &[u8]) -> Vec<u8> {
    timed_with_marker(0xB000 | u16::from(low), data, time, rest)
}

fn timed_with_marker(marker: u16, data: u32, time: i64, rest: &[u8]) -> Vec<u8> {
    payload().u16(len16(16 + rest.len())).u16(marker).u32(data).i64(time).bytes(rest).into()
}

/// An event of which only size and type are known: ERROR 0D, WNODE 0E, MESSAGE 0F, or a type nobody defined.
pub fn opaque(kind: u8, rest: &[u8]) -> Vec<u8> {
    payload().u16(len16(4 + rest.len())).u8(kind).u8(0xC0).bytes(rest).into()
}

/// A WNODE_HEADER: bit 31 of the first dword clear, that dword its size. Readers take it for the end of the data.
pub fn wnode(rest: &[u8]) -> Vec<u8> {
    let size = u32::from(len16(4 + rest.len()));
    payload().u32(size).bytes(rest).into()
}
