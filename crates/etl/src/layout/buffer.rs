//! The header of a buffer.

use zerocopy::little_endian::{I64, U16, U32};
use zerocopy::{FromBytes, Immutable, KnownLayout, Unaligned};

/// The 72 bytes in front of every buffer, the same on 32- and 64-bit systems since Windows Vista.
///
/// Two of its fields look like the end of the data and are not: `saved_offset` stays behind when the header buffer
/// is extended at the end of a session, and `current_offset` is pushed beyond the buffer to close it. Neither they
/// nor the stale kernel pointers of the other gaps are given names here, so that nothing can use them.
#[doc(alias = "WMI_BUFFER_HEADER")]
#[doc(alias = "ETW_BUFFER_HEADER")]
#[derive(Clone, Copy, Debug, FromBytes, Immutable, KnownLayout, Unaligned)]
#[repr(C)]
pub struct BufferHeader {
    /// Distance to the next buffer in bytes: this header, the data, the tail. Compressed: header and stored bytes.
    pub buffer_size: U32,
    _unreliable_ends: [u8; 8],
    /// 0 in every buffer of a file.
    pub reference_count: U32,
    /// When the buffer was flushed: session clock, or a file time in files that were relogged.
    pub time_stamp: I64,
    /// Number of the buffer in its session; the header buffer has 0.
    pub sequence_number: I64,
    _pointer: [u8; 8],
    /// The processor; see [`BufferHeader::cpu`].
    pub processor: U16,
    /// The session's number.
    pub logger_id: U16,
    _state: [u8; 4],
    /// `Offset` or `FilledBytes`: valid bytes from the start of the (expanded) buffer, this header included.
    pub filled_bytes: U32,
    /// [`flags`].
    pub buffer_flag: U16,
    /// [`BUFFER_TYPE_HEADER`] and others.
    pub buffer_type: U16,
    _list_pointers: [u8; 16],
}

/// Size of [`BufferHeader`] in bytes; the first event stands right behind it.
pub const BUFFER_HEADER_LEN: u32 = 72;

const _: () = assert!(size_of::<BufferHeader>() == BUFFER_HEADER_LEN as usize);

/// No buffer is larger (Windows 8 and later; before that 1 MiB).
pub const MAX_BUFFER_SIZE: u32 = 16 << 20;

/// No session has smaller buffers; compressed ones may be stored in fewer bytes.
pub const MIN_BUFFER_SIZE: u32 = 0x200;

/// The buffer that holds the session's header event: the first of a file.
pub const BUFFER_TYPE_HEADER: u16 = 4;

/// The highest buffer type known: debugger information.
pub const MAX_BUFFER_TYPE: u16 = 7;

/// Bits of [`BufferHeader::buffer_flag`].
pub mod flags {
    /// The last buffer of a pass that flushed all streams.
    pub const FLUSH_MARKER: u16 = 0x01;
    /// Events of this stream were dropped before this buffer.
    pub const EVENTS_LOST: u16 = 0x02;
    /// One or more buffers were lost before this one.
    pub const BUFFER_LOST: u16 = 0x04;
    /// The file that backs a real-time session was damaged.
    pub const RTBACKUP_CORRUPT: u16 = 0x08;
    /// The buffer went through the file that backs a real-time session.
    pub const RTBACKUP: u16 = 0x10;
    /// The processor is a 16-bit number; without it only its low byte counts.
    pub const PROC_INDEX: u16 = 0x20;
    /// What follows the header is compressed.
    pub const COMPRESSED: u16 = 0x40;
    /// All bits with a known meaning.
    pub const KNOWN: u16 = 0x7F;
}

/// No system that Windows runs on has more processors.
pub const MAX_PROCESSORS: u16 = 2048;

/// The bits of a 16-bit processor number that count.
const PROCESSOR_MASK: u16 = MAX_PROCESSORS - 1;

impl BufferHeader {
    /// The header at the start of `bytes`, if there are enough of them.
    pub fn read(bytes: &[u8]) -> Option<&BufferHeader> {
        BufferHeader::ref_from_prefix(bytes).ok().map(|(header, _)| header)
    }

    /// The processor whose events the buffer holds. Windows 7 and earlier keep it in one byte; the byte beside it is
    /// an alignment.
    pub fn cpu(&self) -> u16 {
        let mask = if self.has(flags::PROC_INDEX) { PROCESSOR_MASK } else { 0xFF };
        self.processor.get() & mask
    }

    /// Whether a bit of [`flags`] is set.
    pub fn has(&self, flag: u16) -> bool {
        self.buffer_flag.get() & flag != 0
    }

    /// Whether what follows the header is compressed.
    pub fn is_compressed(&self) -> bool {
        self.has(flags::COMPRESSED)
    }

    /// Whether every field that has a limited range is in it, so that this is a buffer header and not other bytes.
    pub fn is_plausible(&self) -> bool {
        self.has_plausible_size() && self.has_plausible_use()
    }

    /// Whether a buffer can have the size that the header states.
    pub fn has_plausible_size(&self) -> bool {
        let smallest = if self.is_compressed() { BUFFER_HEADER_LEN + 1 } else { MIN_BUFFER_SIZE };
        (smallest..=MAX_BUFFER_SIZE).contains(&self.buffer_size.get())
    }

    /// Whether every other field that has a limited range is in it.
    pub fn has_plausible_use(&self) -> bool {
        self.filled_bytes.get() <= MAX_BUFFER_SIZE
            && self.buffer_flag.get() & !flags::KNOWN == 0
            && self.buffer_type.get() <= MAX_BUFFER_TYPE
            && self.sequence_number.get() >= 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn header(flag: u16, processor: [u8; 2]) -> [u8; 72] {
        let mut bytes = [0u8; 72];
        bytes[0..4].copy_from_slice(&0x1_0000u32.to_le_bytes());
        bytes[0x18] = 9;
        bytes[0x28..0x2A].copy_from_slice(&processor);
        bytes[0x30..0x34].copy_from_slice(&0x1234u32.to_le_bytes());
        bytes[0x34..0x36].copy_from_slice(&flag.to_le_bytes());
        bytes
    }

    #[test]
    fn fields_stand_at_their_documented_offsets() {
        let bytes = header(0x20, [3, 1]);
        let header = BufferHeader::read(&bytes).unwrap();
        assert_eq!(header.buffer_size.get(), 0x1_0000);
        assert_eq!(header.sequence_number.get(), 9);
        assert_eq!(header.filled_bytes.get(), 0x1234);
        assert!(header.is_plausible());
        assert!(BufferHeader::read(&bytes[..71]).is_none());
    }

    #[test]
    fn the_processor_depends_on_the_flag() {
        assert_eq!(BufferHeader::read(&header(0x20, [3, 1])).unwrap().cpu(), 0x103);
        assert_eq!(BufferHeader::read(&header(0x20, [3, 0xF9])).unwrap().cpu(), 0x103);
        assert_eq!(BufferHeader::read(&header(0x00, [3, 8])).unwrap().cpu(), 3);
    }
}
