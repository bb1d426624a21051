//! Events of several CPUs put into buffers as a session does it.

use super::buffer::{Buffer, buffer, flag};
use super::payload::OnDisk;

/// A recording session: one open buffer per CPU; a full one is written to the file and takes the next sequence number.
#[derive(Debug)]
pub struct Session {
    open: Vec<Buffer>,
    sequence: i64,
    compressed: bool,
    written: Vec<Buffer>,
}

impl Session {
    /// A session of this many CPUs whose first data buffer has sequence number 1.
    pub fn new(cpus: u16, buffer_size: usize) -> Self {
        let open = (0..cpus).map(|cpu| buffer(buffer_size).cpu(cpu)).collect();
        Self { open, sequence: 1, compressed: false, written: Vec::new() }
    }

    /// Compresses every buffer.
    #[must_use]
    pub fn compressed(mut self) -> Self {
        self.compressed = true;
        self
    }

    /// The first sequence number, as in a NEWFILE successor.
    #[must_use]
    pub fn first_sequence(mut self, sequence: i64) -> Self {
        self.sequence = sequence;
        self
    }

    /// Logs an event. Where it no longer fits, the CPU's buffer is written with `time` as its flush time.
    pub fn log(&mut self, cpu: u16, time: i64, event: impl OnDisk) {
        let bytes = event.on_disk();
        if !self.open[usize::from(cpu)].fits(bytes.len()) {
            self.write(cpu, time, 0);
        }
        self.open[usize::from(cpu)].push(&bytes);
    }

    /// Writes the CPU's buffer if it holds events, and marks its next one as preceded by lost events.
    pub fn lose_events(&mut self, cpu: u16, time: i64) {
        self.write(cpu, time, 0);
        self.open[usize::from(cpu)].flags |= flag::EVENTS_LOST;
    }

    /// Writes the buffers of these CPUs, in this order; the last that holds events carries the flush marker.
    pub fn flush(&mut self, order: &[u16], time: i64) {
        let filled: Vec<u16> = order.iter().copied().filter(|&cpu| !self.open[usize::from(cpu)].is_empty()).collect();
        for (n, &cpu) in filled.iter().enumerate() {
            self.write(cpu, time, if n + 1 == filled.len() { flag::FLUSH_MARKER } else { 0 });
        }
    }

    fn write(&mut self, cpu: u16, time: i64, flags: u16) {
        let open = &mut self.open[usize::from(cpu)];
        if open.is_empty() {
            return;
        }
        let mut full = std::mem::replace(open, buffer(open.size).cpu(cpu));
        full.time = time;
        full.sequence = self.sequence;
        full.flags |= flags;
        full.compressed = self.compressed;
        self.sequence += 1;
        self.written.push(full);
    }

    /// Flushes the CPUs in descending order and hands over the data buffers in file order.
    pub fn finish(mut self, time: i64) -> Vec<Buffer> {
        let order: Vec<u16> = (0..).take(self.open.len()).collect::<Vec<u16>>().into_iter().rev().collect();
        self.flush(&order, time);
        self.written
    }
}

/// A small deterministic generator (SplitMix64).
#[derive(Clone, Debug)]
pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mixed = (self.0 ^ self.0 >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ mixed >> 31
    }

    /// A number below `limit`, which is not 0.
    pub fn below<T: TryFrom<u64> + Into<u64>>(&mut self, limit: T) -> T {
        T::try_from(self.next() % limit.into()).unwrap_or_else(|_| unreachable!("the limit has this type"))
    }
}
