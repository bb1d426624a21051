//! Finds the buffers of a file.
//!
//! A file is nothing but buffers, each naming the distance to the next. The chain follows them from the first to the
//! end of the file and says of every byte which buffer or tail it belongs to:
//!
//! ```text
//! | header buffer | buffer | buffer | unreadable | buffer | … | tail |
//! ```
//!
//! * A stretch without a believable header is skipped where the file has one stride (uncompressed buffers all have
//!   the same size); in a compressed file nothing tells where the next buffer starts, so the rest is one gap.
//! * A file that was extended before it was filled ends in zeros, or in buffers of an older recording.

use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout};

use crate::error::Result;
use crate::layout::buffer::{BUFFER_HEADER_LEN, BufferHeader, MAX_BUFFER_SIZE, flags};
use crate::source::Source;

/// Where a buffer lies, and what its header says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, FromBytes, Immutable, IntoBytes, KnownLayout)]
#[repr(C)]
pub struct Frame {
    /// Number of the buffer in file order, from 0.
    pub ordinal: u64,
    /// File offset of its header.
    pub offset: u64,
    /// Number of the buffer in its session.
    pub sequence: i64,
    /// When the buffer was flushed.
    pub time_stamp: i64,
    /// Distance to the next buffer in bytes; the file may end before.
    pub size: u32,
    /// Bytes that the file has of it.
    pub present: u32,
    /// End of the valid bytes from the start of the expanded buffer, as the header says.
    pub filled: u32,
    /// The processor.
    pub cpu: u16,
    /// [`flags`].
    pub flags: u16,
    /// The buffer type.
    pub kind: u16,
    /// Makes the size a multiple of the alignment.
    padding: [u16; 3],
}

impl Frame {
    fn of(header: &BufferHeader, ordinal: u64, offset: u64, size: u32, present: u32) -> Frame {
        Frame {
            ordinal,
            offset,
            size,
            present,
            filled: header.filled_bytes.get(),
            cpu: header.cpu(),
            flags: header.buffer_flag.get(),
            kind: header.buffer_type.get(),
            sequence: header.sequence_number.get(),
            time_stamp: header.time_stamp.get(),
            padding: [0; 3],
        }
    }

    /// Whether the data behind the header is compressed.
    pub fn is_compressed(&self) -> bool {
        self.flags & flags::COMPRESSED != 0
    }

    /// Whether the file ends before the buffer does.
    pub fn is_truncated(&self) -> bool {
        self.present < self.size
    }
}

/// One stretch of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stretch {
    /// A buffer.
    Buffer(Frame),
    /// Bytes in the place of a buffer without a believable header.
    Unreadable {
        /// Number of the buffer that should be here.
        ordinal: u64,
        /// File offset of the first byte.
        offset: u64,
        /// Bytes.
        len: u64,
    },
    /// What stands behind the last buffer, to the end of the file.
    Tail {
        /// File offset of the first byte.
        offset: u64,
        /// Bytes.
        len: u64,
        /// What it holds.
        kind: TailKind,
    },
}

/// What stands behind the last buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TailKind {
    /// Zeros of a file that was extended before it was filled.
    Zero,
    /// Buffers of an older recording in a file that was extended before it was filled.
    Stale,
    /// Too few bytes for a buffer header.
    Fragment,
}

/// How the buffers of a file follow one another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ChainRules {
    /// The distance that all buffers share; `None` in a compressed file.
    pub stride: Option<u32>,
    /// In a preallocated file, the session clock at its start and whether buffer times are of that clock: what was
    /// flushed before is of an older recording.
    pub stale_before: Option<i64>,
}

/// Walks the stretches of a file in order.
#[derive(Debug)]
pub struct Chain<'a> {
    source: &'a Source,
    rules: ChainRules,
    offset: u64,
    ordinal: u64,
    last_sequence: i64,
}

impl<'a> Chain<'a> {
    /// A chain from the start of the file.
    pub fn new(source: &'a Source, rules: ChainRules) -> Self {
        Chain { source, rules, offset: 0, ordinal: 0, last_sequence: -1 }
    }

    /// File offset of the next stretch.
    pub fn offset(&self) -> u64 {
        self.offset
    }

    /// The next stretch, or `None` at the end of the file.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub fn next_stretch(&mut self) -> Result<Option<Stretch>> {
        let left = self.source.len() - self.offset;
        if left == 0 {
            return Ok(None);
        }
        let mut scratch = Vec::new();
        let bytes = self.source.bytes(self.offset, BUFFER_HEADER_LEN as usize, &mut scratch)?;
        let stretch = match BufferHeader::read(bytes) {
            None => self.tail(left, TailKind::Fragment),
            Some(header) if bytes.iter().all(|&byte| byte == 0) => self.behind_the_end(header, left)?,
            Some(header) => match self.stride_of(header) {
                Some(_) if self.is_stale(header) => self.tail(left, TailKind::Stale),
                Some(size) => self.buffer(header, size, left),
                None => self.unreadable(left),
            },
        };
        Ok(Some(stretch))
    }

    /// The distance to the next buffer, if the header can be believed. In a file of one stride a damaged size cannot
    /// lead astray.
    fn stride_of(&self, header: &BufferHeader) -> Option<u32> {
        match self.rules.stride {
            Some(stride) => header.is_plausible().then_some(stride),
            None => header.is_plausible().then(|| header.buffer_size.get()),
        }
    }

    fn buffer(&mut self, header: &BufferHeader, size: u32, left: u64) -> Stretch {
        let present = u32::try_from(left).map_or(size, |left| left.min(size));
        let frame = Frame::of(header, self.ordinal, self.offset, size, present);
        self.last_sequence = frame.sequence;
        self.advance(u64::from(present));
        Stretch::Buffer(frame)
    }

    fn unreadable(&mut self, left: u64) -> Stretch {
        let len = self.rules.stride.map_or(left, |stride| left.min(u64::from(stride)));
        let stretch = Stretch::Unreadable { ordinal: self.ordinal, offset: self.offset, len };
        self.advance(len);
        stretch
    }

    fn tail(&mut self, len: u64, kind: TailKind) -> Stretch {
        let stretch = Stretch::Tail { offset: self.offset, len, kind };
        self.offset += len;
        stretch
    }

    fn advance(&mut self, len: u64) {
        self.offset += len;
        self.ordinal += 1;
    }

    /// A header of zeros: the end of a preallocated file if nothing but zeros follows, else a gap.
    fn behind_the_end(&mut self, _zeros: &BufferHeader, left: u64) -> Result<Stretch> {
        if self.is_zero_to_the_end()? {
            return Ok(self.tail(left, TailKind::Zero));
        }
        Ok(self.unreadable(left))
    }

    fn is_zero_to_the_end(&self) -> Result<bool> {
        let mut scratch = Vec::new();
        let mut offset = self.offset;
        while offset < self.source.len() {
            let bytes = self.source.bytes(offset, MAX_BUFFER_SIZE as usize, &mut scratch)?;
            if bytes.iter().any(|&byte| byte != 0) {
                return Ok(false);
            }
            offset += bytes.len() as u64;
        }
        Ok(true)
    }

    /// Whether the buffer is of an older recording: flushed before this session began, or numbered as if the
    /// session had begun again.
    fn is_stale(&self, header: &BufferHeader) -> bool {
        let Some(start) = self.rules.stale_before else { return false };
        let (flushed, sequence) = (header.time_stamp.get(), header.sequence_number.get());
        self.ordinal > 0 && ((flushed != 0 && flushed < start) || (sequence == 0 && self.last_sequence >= 0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    const STRIDE: usize = 0x200;

    fn buffer(size: usize, sequence: u8, time: u8) -> Vec<u8> {
        let mut bytes = vec![0xFFu8; size];
        bytes[..72].fill(0);
        bytes[..4].copy_from_slice(&u32::try_from(size).unwrap().to_le_bytes());
        bytes[0x10] = time;
        bytes[0x18] = sequence;
        bytes[0x30] = 72;
        bytes
    }

    fn stretches(bytes: &[u8], stride: Option<u32>, stale_before: Option<i64>) -> Vec<Stretch> {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        file.write_all(bytes).unwrap();
        let source = Source::open(file.path()).unwrap();
        let mut chain = Chain::new(&source, ChainRules { stride, stale_before });
        std::iter::from_fn(|| chain.next_stretch().unwrap()).collect()
    }

    fn summary(stretches: &[Stretch]) -> Vec<(&'static str, u64, u64)> {
        stretches
            .iter()
            .map(|stretch| match *stretch {
                Stretch::Buffer(frame) => ("buffer", frame.offset, u64::from(frame.present)),
                Stretch::Unreadable { offset, len, .. } => ("unreadable", offset, len),
                Stretch::Tail { offset, len, kind: TailKind::Zero } => ("zero", offset, len),
                Stretch::Tail { offset, len, kind: TailKind::Stale } => ("stale", offset, len),
                Stretch::Tail { offset, len, kind: TailKind::Fragment } => ("fragment", offset, len),
            })
            .collect()
    }

    #[test]
    fn every_byte_belongs_to_one_stretch() {
        let good = [buffer(STRIDE, 0, 0), buffer(STRIDE, 1, 9), buffer(STRIDE, 2, 9)].concat();
        let bad = [&good[..STRIDE], &[0xABu8; STRIDE], &good[2 * STRIDE..], &[1, 2, 3]].concat();
        assert_eq!(
            summary(&stretches(&bad, Some(0x200), None)),
            [("buffer", 0, 512), ("unreadable", 512, 512), ("buffer", 1024, 512), ("fragment", 1536, 3)]
        );
        assert_eq!(
            summary(&stretches(&good[..1400], Some(0x200), None)),
            [("buffer", 0, 512), ("buffer", 512, 512), ("buffer", 1024, 376)]
        );
    }

    #[test]
    fn zeros_are_a_tail_only_to_the_end() {
        let zeros = vec![0u8; STRIDE];
        let file = [buffer(STRIDE, 0, 0), zeros.clone(), buffer(STRIDE, 1, 9), zeros.clone(), zeros].concat();
        assert_eq!(
            summary(&stretches(&file, Some(0x200), None)),
            [("buffer", 0, 512), ("unreadable", 512, 512), ("buffer", 1024, 512), ("zero", 1536, 1024)]
        );
    }

    #[test]
    fn buffers_of_an_older_recording_are_a_tail() {
        let file = [buffer(STRIDE, 0, 0), buffer(STRIDE, 1, 50), buffer(STRIDE, 7, 20), buffer(STRIDE, 8, 21)].concat();
        assert_eq!(
            summary(&stretches(&file, Some(0x200), Some(40))),
            [("buffer", 0, 512), ("buffer", 512, 512), ("stale", 1024, 1024)]
        );
    }

    #[test]
    fn strides_of_a_compressed_file_differ() {
        let mut odd = buffer(0x4B, 1, 9);
        odd[0x34] = 0x40;
        let file = [buffer(STRIDE, 0, 0), odd, buffer(STRIDE, 2, 9), vec![0xAB; 100]].concat();
        assert_eq!(
            summary(&stretches(&file, None, None)),
            [("buffer", 0, 512), ("buffer", 512, 75), ("buffer", 587, 512), ("unreadable", 1099, 100)]
        );
    }
}
