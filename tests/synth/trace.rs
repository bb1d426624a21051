//! A whole trace: the header buffer, then data buffers in file order.

use std::io;

use super::buffer::{Buffer, buffer};
use super::header::Header;
use super::payload::{OnDisk, len32};

/// A trace under construction.
#[derive(Clone, Debug)]
pub struct Trace {
    header: Header,
    first: Buffer,
    buffers: Vec<Buffer>,
}

/// A trace with this header event, in a header buffer of the header's buffer size on CPU 0.
pub fn trace(header: Header) -> Trace {
    let first = buffer(header.buffer_size as usize).kind(4);
    Trace { header, first, buffers: Vec::new() }
}

impl Trace {
    /// Appends an event to the header buffer, behind the header event.
    #[must_use]
    pub fn header_event(mut self, event: impl OnDisk) -> Self {
        self.first = self.first.event(event);
        self
    }

    /// Changes the header buffer (flags, processor form, padding, a size that differs from the header event's).
    #[must_use]
    pub fn header_buffer(mut self, change: impl FnOnce(Buffer) -> Buffer) -> Self {
        self.first = change(self.first);
        self
    }

    /// Appends a buffer to the file.
    #[must_use]
    pub fn buffer(mut self, buffer: Buffer) -> Self {
        self.buffers.push(buffer);
        self
    }

    /// Appends buffers to the file, in the given order.
    #[must_use]
    pub fn buffers(mut self, buffers: impl IntoIterator<Item = Buffer>) -> Self {
        self.buffers.extend(buffers);
        self
    }

    /// The header buffer with its header event.
    fn header_buffer_complete(&self) -> Buffer {
        let mut first = self.first.clone();
        first.push_front(&self.header.event(len32(self.buffers.len() + 1)).on_disk());
        first
    }

    /// Writes the file without holding a second copy of it.
    pub fn write(&self, out: &mut impl io::Write) -> io::Result<()> {
        out.write_all(&self.header_buffer_complete().on_disk())?;
        self.buffers.iter().try_for_each(|buffer| out.write_all(&buffer.on_disk()))
    }

    /// The file.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        self.write(&mut bytes).expect("writing to memory does not fail");
        bytes
    }

    /// Where each buffer starts in the file; the header buffer is the first.
    pub fn buffer_positions(&self) -> Vec<usize> {
        let mut next = 0;
        let lengths = std::iter::once(self.header_buffer_complete().on_disk().len())
            .chain(self.buffers.iter().map(|buffer| buffer.on_disk().len()));
        let start = |length| {
            next += length;
            next - length
        };
        lengths.map(start).collect()
    }

    /// Where event `event` of buffer `buffer` starts in the file; buffer 0 is the header buffer and its event 0 the
    /// header event. Only for uncompressed buffers.
    pub fn event_position(&self, buffer: usize, event: usize) -> usize {
        let at = match buffer.checked_sub(1) {
            None => self.header_buffer_complete().event_at(event),
            Some(n) => self.buffers[n].event_at(event),
        };
        self.buffer_positions()[buffer] + at
    }
}

/// What a circular file of `slots` data buffers holds after all of `buffers` were written in this order: each takes the
/// next slot, around and around, over the oldest. In file order.
pub fn circular(buffers: impl IntoIterator<Item = Buffer>, slots: usize) -> Vec<Buffer> {
    let mut file: Vec<Buffer> = Vec::with_capacity(slots);
    for (n, buffer) in buffers.into_iter().enumerate() {
        if file.len() < slots {
            file.push(buffer);
        } else {
            file[n % slots] = buffer;
        }
    }
    file
}
