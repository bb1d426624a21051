//! One buffer: the 0x48-byte WMI_BUFFER_HEADER, events, tail.

use super::payload::{OnDisk, len32, payload};
use super::xpress;

/// Bytes of a buffer's header.
pub const HEADER: usize = 0x48;

/// BufferFlag bits.
pub mod flag {
    pub const FLUSH_MARKER: u16 = 0x01;
    pub const EVENTS_LOST: u16 = 0x02;
    pub const BUFFER_LOST: u16 = 0x04;
    pub const RTBACKUP_CORRUPT: u16 = 0x08;
    pub const RTBACKUP: u16 = 0x10;
    pub const PROC_INDEX: u16 = 0x20;
    pub const COMPRESSED: u16 = 0x40;
}

/// A buffer and the events in it.
#[derive(Clone, Debug)]
pub struct Buffer {
    /// Size in memory: header, events, tail. Also the stride in the file unless compressed.
    pub size: usize,
    /// The processor, with BufferFlag 0020; 0.
    pub cpu: u16,
    /// Windows 7 form: processor as u8 at 28, this alignment (8 seen) as u8 at 29, no BufferFlag 0020.
    pub alignment: Option<u8>,
    /// 1.
    pub logger: u16,
    pub sequence: i64,
    /// BufferFlag beside 0020 and 0040, which follow from the processor's form and the compression.
    pub flags: u16,
    /// BufferType: 0 GENERIC, 4 HEADER.
    pub kind: u16,
    /// Flush time; 0.
    pub time: i64,
    /// Unreliable field at 04; the filled bytes unless set.
    pub saved_offset: Option<u32>,
    /// Unreliable field at 08; the filled bytes unless set.
    pub current_offset: Option<u32>,
    /// The union at 20; 0.
    pub clock: u64,
    /// 3.
    pub state: u32,
    /// The union at 38; 0.
    pub reference: [u8; 16],
    /// BufferSize at 00 where it shall not be the true one.
    pub stride: Option<u32>,
    /// Offset at 30 where it shall not be the true one.
    pub offset: Option<u32>,
    /// Fills the alignment padding behind events; 0.
    pub padding: u8,
    /// Fills the rest of the buffer; 0xFF.
    pub tail: u8,
    /// Whether Offset leaves out the padding behind the last event; false.
    pub unpadded_end: bool,
    /// Whether the events are compressed; false.
    pub compressed: bool,
    /// The events with gaps for their alignment.
    data: Vec<u8>,
    /// Where each event lies in `data`.
    spans: Vec<(usize, usize)>,
}

/// An empty data buffer of `size` bytes.
pub fn buffer(size: usize) -> Buffer {
    Buffer {
        size,
        cpu: 0,
        alignment: None,
        logger: 1,
        sequence: 0,
        flags: 0,
        kind: 0,
        time: 0,
        saved_offset: None,
        current_offset: None,
        clock: 0,
        state: 3,
        reference: [0; 16],
        stride: None,
        offset: None,
        padding: 0,
        tail: 0xFF,
        unpadded_end: false,
        compressed: false,
        data: Vec::new(),
        spans: Vec::new(),
    }
}

impl Buffer {
    setters! {
        size: usize, cpu: u16, logger: u16, sequence: i64, flags: u16, kind: u16, time: i64, clock: u64, state: u32,
        reference: [u8; 16], padding: u8, tail: u8,
    }

    /// The processor in the form of Windows 7 and earlier, alignment byte 8.
    #[must_use]
    pub fn cpu_win7(mut self, cpu: u8) -> Self {
        self.cpu = cpu.into();
        self.alignment = Some(8);
        self
    }

    /// Values for the two offsets that no reader may use, at 04 and 08.
    #[must_use]
    pub fn stale_offsets(mut self, saved: u32, current: u32) -> Self {
        self.saved_offset = Some(saved);
        self.current_offset = Some(current);
        self
    }

    /// Another BufferSize than the true one.
    #[must_use]
    pub fn stride(mut self, size: u32) -> Self {
        self.stride = Some(size);
        self
    }

    /// Another Offset than the true one.
    #[must_use]
    pub fn offset(mut self, offset: u32) -> Self {
        self.offset = Some(offset);
        self
    }

    /// Lets Offset end at the last event's last byte instead of the next multiple of 8.
    #[must_use]
    pub fn unpadded_end(mut self) -> Self {
        self.unpadded_end = true;
        self
    }

    /// Compresses what follows the header, with plain LZ77.
    #[must_use]
    pub fn compressed(mut self) -> Self {
        self.compressed = true;
        self
    }

    /// Appends an event at the next multiple of 8.
    #[must_use]
    pub fn event(mut self, event: impl OnDisk) -> Self {
        self.push(&event.on_disk());
        self
    }

    /// Appends events.
    #[must_use]
    pub fn events<E: OnDisk>(self, events: impl IntoIterator<Item = E>) -> Self {
        events.into_iter().fold(self, Buffer::event)
    }

    /// Appends an event's bytes.
    pub fn push(&mut self, event: &[u8]) {
        assert!(self.fits(event.len()), "the event does not fit into the rest of the buffer");
        self.insert(event);
    }

    /// Puts an event first. The header event goes where it belongs this way.
    pub fn push_front(&mut self, event: &[u8]) {
        let old = std::mem::take(&mut self.data);
        let spans = std::mem::take(&mut self.spans);
        self.push(event);
        for (start, end) in spans {
            self.push(&old[start..end]);
        }
    }

    fn insert(&mut self, event: &[u8]) {
        let start = self.data.len().next_multiple_of(8);
        self.data.resize(start, 0);
        self.data.extend_from_slice(event);
        self.spans.push((start, self.data.len()));
    }

    /// Whether an event of this many bytes still fits.
    pub fn fits(&self, length: usize) -> bool {
        (HEADER + self.data.len()).next_multiple_of(8) + length <= self.size
    }

    /// Whether no event was added.
    pub fn is_empty(&self) -> bool {
        self.spans.is_empty()
    }

    /// Where the n-th event starts, from the start of the (expanded) buffer.
    pub fn event_at(&self, n: usize) -> usize {
        HEADER + self.spans[n].0
    }

    /// Bytes of header, events and padding: what Offset says.
    pub fn filled(&self) -> usize {
        let end = HEADER + self.data.len();
        if self.unpadded_end { end } else { end.next_multiple_of(8).min(self.size) }
    }

    /// The buffer as it lies in the file.
    pub fn on_disk(&self) -> Vec<u8> {
        let filled = self.filled();
        let region = self.region(filled - HEADER);
        if self.compressed {
            let packed = xpress::compress(&region);
            return self.head(HEADER + packed.len(), filled).into_iter().chain(packed).collect();
        }
        let mut bytes = self.head(self.size, filled);
        bytes.extend_from_slice(&region);
        bytes.resize(self.size, self.tail);
        bytes
    }

    /// The data region: events, with the gaps between them filled.
    fn region(&self, length: usize) -> Vec<u8> {
        let mut region = self.data.clone();
        region.resize(length, 0);
        let gap_starts = self.spans.iter().map(|span| span.1);
        let gap_ends = self.spans.iter().skip(1).map(|span| span.0).chain([length]);
        for (start, end) in gap_starts.zip(gap_ends) {
            region[start..end].fill(self.padding);
        }
        region
    }

    fn head(&self, stride: usize, filled: usize) -> Vec<u8> {
        let offset = self.offset.unwrap_or_else(|| len32(filled));
        let processor =
            self.alignment.map_or(self.cpu, |alignment| u16::from_le_bytes([self.cpu.to_le_bytes()[0], alignment]));
        let flags = self.flags
            | if self.alignment.is_none() { flag::PROC_INDEX } else { 0 }
            | if self.compressed { flag::COMPRESSED } else { 0 };
        let head = payload().u32(self.stride.unwrap_or_else(|| len32(stride)));
        let head = head.u32(self.saved_offset.unwrap_or(offset)).u32(self.current_offset.unwrap_or(offset)).u32(0);
        let head = head.i64(self.time).i64(self.sequence).u64(self.clock).u16(processor).u16(self.logger);
        head.u32(self.state).u32(offset).u16(flags).u16(self.kind).bytes(&self.reference).into()
    }
}
