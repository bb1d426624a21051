//! Events with an EVENT_HEADER: manifest providers, TraceLogging, EventSource.

use super::items::Item;
use super::payload::{Guid, OnDisk, halves, len16, payload};

/// An event of header type 12 or 13.
#[derive(Clone, Debug)]
pub struct Event {
    kind: u8,
    /// Flags beside bit 0, which says whether items follow.
    pub flags: u16,
    pub property: u16,
    pub tid: u32,
    pub pid: u32,
    /// Raw clock.
    pub time: i64,
    pub provider: Guid,
    pub id: u16,
    pub version: u8,
    pub channel: u8,
    /// 4, information.
    pub level: u8,
    pub opcode: u8,
    pub task: u16,
    pub keyword: u64,
    pub kernel_time: u32,
    pub user_time: u32,
    pub activity: Guid,
    /// Total size where it shall not be the true one.
    pub size: Option<u16>,
    items: Vec<Item>,
    payload: Vec<u8>,
}

/// EVENT_HEADER32, type 12.
pub fn event32(provider: Guid, id: u16, version: u8, time: i64) -> Event {
    Event::new(0x12, provider, id, version, time)
}

/// EVENT_HEADER64, type 13.
pub fn event64(provider: Guid, id: u16, version: u8, time: i64) -> Event {
    Event::new(0x13, provider, id, version, time)
}

/// The events (id 0xFFFE) by which an EventSource carries its XML manifest, `chunk` bytes of it in each.
pub fn eventsource_manifest(provider: Guid, time: i64, xml: &str, chunk: usize) -> Vec<Event> {
    let chunks = xml.as_bytes().chunks(chunk);
    let total = len16(chunks.len());
    chunks.zip(0..).map(|(part, number)| manifest_chunk(provider, time, total, number, part)).collect()
}

/// One such event: chunk `number` of `total`.
pub fn manifest_chunk(provider: Guid, time: i64, total: u16, number: u16, part: &[u8]) -> Event {
    let envelope = payload().u8(1).u8(1).u8(0).u8(0x5B).u16(total).u16(number);
    event64(provider, 0xFFFE, 1, time).opcode(0xFE).task(0xFFFE).level(0).payload(envelope.bytes(part))
}

impl Event {
    fn new(kind: u8, provider: Guid, id: u16, version: u8, time: i64) -> Self {
        Self {
            kind,
            flags: 0,
            property: 0,
            tid: 0,
            pid: 0,
            time,
            provider,
            id,
            version,
            channel: 0,
            level: 4,
            opcode: 0,
            task: 0,
            keyword: 0,
            kernel_time: 0,
            user_time: 0,
            activity: [0; 16],
            size: None,
            items: Vec::new(),
            payload: Vec::new(),
        }
    }

    setters! {
        flags: u16, property: u16, tid: u32, pid: u32, channel: u8, level: u8, opcode: u8, task: u16, keyword: u64,
        kernel_time: u32, user_time: u32, activity: Guid,
    }

    /// From a private session: flag 0002 and one u64 in the place of the two CPU times.
    #[must_use]
    pub fn private_session(mut self, processor_time: u64) -> Self {
        self.flags |= 0x0002;
        (self.kernel_time, self.user_time) = halves(processor_time);
        self
    }

    /// Flag 0004 with the payload it stands for: one UTF-16 text.
    #[must_use]
    pub fn string_only(mut self, text: &str) -> Self {
        self.flags |= 0x0004;
        self.payload(payload().wstr(text))
    }

    /// Appends an extended item.
    #[must_use]
    pub fn item(mut self, item: Item) -> Self {
        self.items.push(item);
        self
    }

    /// TraceLogging: channel 11 and the items 0C (traits) and 0B (metadata).
    #[must_use]
    pub fn tracelogging(self, traits: impl Into<Vec<u8>>, metadata: impl Into<Vec<u8>>) -> Self {
        self.channel(11).item(Item::traits(traits)).item(Item::schema(metadata))
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

impl OnDisk for Event {
    fn on_disk(&self) -> Vec<u8> {
        let last = self.items.len().saturating_sub(1);
        let items = self.items.iter().zip(0..).fold(payload(), |items, (item, n)| item.write(items, n == last));
        let size = self.size.unwrap_or_else(|| len16(0x50 + items.len() + self.payload.len()));
        let flags = self.flags | u16::from(!self.items.is_empty());
        let start = payload().u16(size).u8(self.kind).u8(0xC0).u16(flags).u16(self.property);
        let start = start.u32(self.tid).u32(self.pid).i64(self.time).guid(self.provider);
        let start = start.u16(self.id).u8(self.version).u8(self.channel).u8(self.level).u8(self.opcode).u16(self.task);
        let start = start.u64(self.keyword).u32(self.kernel_time).u32(self.user_time).guid(self.activity);
        start.bytes(&items.0).bytes(&self.payload).into()
    }
}
