//! Finds the buffers of a file.
//!
//! A file is nothing but buffers, each naming the distance to the next. A scan follows them from the first to the
//! end of the file and says of every byte which buffer or tail it belongs to:
//!
//! ```text
//! | header buffer | buffer | buffer | unreadable | buffer | … | tail |
//! ```
//!
//! * Where all buffers have the same distance, that decides where they stand, whatever a damaged header says. Where
//!   they have not, the bytes behind a buffer and in it are asked (see `extent`).
//! * A region without a believable header is skipped up to the next one: a damaged buffer never ends the file.
//! * A file that was extended before it was filled ends in zeros, in FF, or in buffers of an older recording. Whether
//!   such a region is the unused end of the file or a hole in it, only its end shows.
//!
//! Each step looks at a bounded part of the file, and no part is looked at more than a few times.
//!
//! What a scan carries from one region to the next is its [`ScanState`]: who has it goes on as if all before had been scanned.

use base::error::Result;
use serde::{Deserialize, Serialize};
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout};

use super::extent::Extents;
use super::head::{HEAD_LEN, Head};
use super::search;
use crate::input::Input;
use crate::layout::buffer::{BUFFER_HEADER_LEN, BufferHeader, flags};

/// Where a buffer lies, and what its header says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, FromBytes, Immutable, IntoBytes, KnownLayout)]
#[repr(C)]
pub struct BufferExtent {
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
    pub stored_len: u32,
    /// End of the valid bytes from the start of the expanded buffer, as the header says.
    pub used_len: u32,
    /// The processor.
    pub cpu: u16,
    /// [`flags`].
    pub flags: u16,
    /// The buffer type.
    pub buffer_type: u16,
    /// Makes the size a multiple of the alignment.
    padding: [u16; 3],
}

impl BufferExtent {
    fn of(header: &BufferHeader, ordinal: u64, offset: u64, size: u32, stored_len: u32) -> BufferExtent {
        BufferExtent {
            ordinal,
            offset,
            size,
            stored_len,
            used_len: header.filled_bytes.get(),
            cpu: header.cpu(),
            flags: header.buffer_flag.get(),
            buffer_type: header.buffer_type.get(),
            sequence: header.sequence_number.get(),
            time_stamp: header.time_stamp.get(),
            padding: [0; 3],
        }
    }

    /// Whether the data behind the header is compressed.
    pub fn is_compressed(&self) -> bool {
        self.flags & flags::COMPRESSED != 0
    }

    /// The file offset of what stands `offset` bytes behind the header. In a compressed buffer nothing stands there as it
    /// is: that of the header.
    pub fn file_offset_of(&self, offset: u32) -> u64 {
        let behind = if self.is_compressed() { 0 } else { u64::from(BUFFER_HEADER_LEN) + u64::from(offset) };
        self.offset.saturating_add(behind)
    }

    /// Whether the file ends before the buffer does.
    pub fn is_truncated(&self) -> bool {
        self.stored_len < self.size
    }
}

/// One region of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Region {
    /// A buffer.
    Buffer(BufferExtent, Option<Doubt>),
    /// Bytes in the place of buffers.
    Unreadable(UnreadableRegion),
    /// Too few bytes for a buffer header, at the end of the file.
    Fragment {
        /// File offset of the first byte.
        offset: u64,
        /// Bytes.
        len: u64,
    },
}

/// What is wrong with the header of a buffer that is read nevertheless.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Doubt {
    /// It states this size, and the buffer has another.
    Size(u32),
    /// It is older than the session or numbered as if the session had begun again, and its events are not.
    Age,
}

/// A region of the file that is no buffer, or none of this recording.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct UnreadableRegion {
    /// Number of the buffer that should be here.
    pub ordinal: u64,
    /// How many buffers should be here; where their sizes differ, nobody knows more than that it is one or more.
    pub buffers: u64,
    /// File offset of the first byte.
    pub offset: u64,
    /// Bytes.
    pub len: u64,
    /// What stands there.
    pub content: RegionContent,
}

impl UnreadableRegion {
    /// File offset behind the last byte.
    pub fn end(&self) -> u64 {
        self.offset.saturating_add(self.len)
    }

    /// Whether the bytes may be unused space: nothing was written to them, or not by this session.
    pub fn may_be_unused(&self) -> bool {
        matches!(self.content, RegionContent::Zeros | RegionContent::Ones | RegionContent::Stale)
    }
}

/// What stands in the place of buffers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum RegionContent {
    /// Bytes that do not begin with a believable header.
    Foreign,
    /// Zeros.
    Zeros,
    /// FF.
    Ones,
    /// A buffer of an older recording.
    Stale,
    /// A buffer that the file has already.
    Repeated,
}

/// How the buffers of a file follow one another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ScanRules {
    /// The distance that all buffers share; `None` where they differ.
    pub stride: Option<u32>,
    /// Size of the session's buffers in memory.
    pub buffer_size: u32,
    /// The largest size of an expanded buffer.
    pub max_buffer_size: u32,
    /// In a preallocated file whose buffer times are of the session's clock, that clock at the start of the session: what
    /// was flushed before is of an older recording.
    pub stale_before: Option<i64>,
    /// Buffers of the recording, where the session was closed and has counted them.
    pub counted: Option<u64>,
}

/// What a scan carries from one region to the next.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ScanState {
    /// File offset of the next region.
    pub offset: u64,
    /// Number of the next buffer in file order.
    pub ordinal: u64,
    /// Whether the region before it is one of buffers whose number nobody knows.
    pub after_unreadable: bool,
    /// Bytes that were looked at to find out how far buffers reach.
    pub spent: u64,
}

/// Bytes that one step looks through at most.
const STEP: u64 = 16 << 20;

/// Visits the regions of a file in order.
#[derive(Debug)]
pub struct BufferScan<'a> {
    input: &'a dyn Input,
    rules: ScanRules,
    extents: Extents<'a>,
    /// Offsets of buffers that are known to stand in the file twice, in order.
    repeated: &'a [u64],
    offset: u64,
    ordinal: u64,
    /// Whether the region before this one is one of buffers whose number nobody knows.
    after_unreadable: bool,
    /// Where the caller stops: it asks for no region that begins there or behind.
    end: u64,
}

impl<'a> BufferScan<'a> {
    /// A scan from the start of the file; the buffers that begin at `repeated` are passed over.
    pub fn new(input: &'a dyn Input, rules: ScanRules, repeated: &'a [u64]) -> Self {
        let extents = Extents::new(input, rules.buffer_size, rules.max_buffer_size);
        let (offset, ordinal, after_unreadable, end) = (0, 0, false, u64::MAX);
        BufferScan { input, rules, extents, repeated, offset, ordinal, after_unreadable, end }
    }

    /// What it carries to the next region.
    pub fn state(&self) -> ScanState {
        let (offset, ordinal, after_unreadable) = (self.offset, self.ordinal, self.after_unreadable);
        ScanState { offset, ordinal, after_unreadable, spent: self.extents.spent() }
    }

    /// Goes on as a scan in this state does.
    pub fn go_on(&mut self, state: ScanState) {
        (self.offset, self.ordinal, self.after_unreadable) = (state.offset, state.ordinal, state.after_unreadable);
        self.extents.go_on(state.spent);
    }

    /// Makes unused space that goes on behind `end` two regions of it where buffers have one distance, so that a scan that
    /// begins there finds the rest. The caller stops at the first region that begins at `end` or behind it.
    pub fn stop_at(&mut self, end: u64) {
        self.end = end;
    }

    /// How many more bytes could have been [spent](ScanState::spent) in front of where this scan went on, and it would have found the
    /// same.
    pub fn spare(&self) -> u64 {
        self.extents.spare()
    }

    /// File offset of the next region.
    pub fn offset(&self) -> u64 {
        self.offset
    }

    /// The next region, or `None` at the end of the file.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub fn next_region(&mut self) -> Result<Option<Region>> {
        let left = self.input.size() - self.offset;
        if left == 0 {
            return Ok(None);
        }
        let mut scratch = Vec::new();
        let bytes = self.input.bytes(self.offset, HEAD_LEN, &mut scratch)?;
        let Some(head) = Head::read(bytes) else { return Ok(Some(self.last_bytes(bytes, left))) };
        if head.is_unused() {
            return self.unused(head.first_byte(), left).map(Some);
        }
        let Some(size) = self.size_of(&head)? else {
            let len = self.to_next_head(left)?;
            return Ok(Some(self.unreadable(len, RegionContent::Foreign)));
        };
        Ok(Some(self.buffer(&head, size, left)))
    }

    /// The distance to the next buffer, if the header can be believed.
    fn size_of(&mut self, head: &Head<'_>) -> Result<Option<u32>> {
        let is_believable = head.header.is_plausible() || head.header.has_plausible_use() && head.holds_data();
        match self.rules.stride {
            _ if !is_believable => Ok(None),
            Some(stride) => Ok(Some(stride)),
            None => self.extents.size(head, self.offset).map(Some),
        }
    }

    fn buffer(&mut self, head: &Head<'_>, size: u32, left: u64) -> Region {
        let stored_len = u32::try_from(left).map_or(size, |left| left.min(size));
        let has_old_header = self.has_old_header(head.header);
        if self.repeated.first() == Some(&self.offset) {
            self.repeated = self.repeated.get(1..).unwrap_or_default();
            return self.unreadable(stored_len.into(), RegionContent::Repeated);
        }
        if has_old_header && self.is_old(head) {
            return self.unreadable(stored_len.into(), RegionContent::Stale);
        }
        let extent = BufferExtent::of(head.header, self.ordinal, self.offset, size, stored_len);
        let stated = head.header.buffer_size.get();
        let doubt = (stated != size).then_some(Doubt::Size(stated)).or(has_old_header.then_some(Doubt::Age));
        self.offset += u64::from(stored_len);
        self.ordinal += 1;
        self.after_unreadable = false;
        Region::Buffer(extent, doubt)
    }

    /// Whether a header is of an older recording: flushed before this session began, or numbered as if the session had
    /// begun again.
    fn has_old_header(&self, header: &BufferHeader) -> bool {
        let Some(start) = self.rules.stale_before else { return false };
        let (flushed, sequence) = (header.time_stamp.get(), header.sequence_number.get());
        self.ordinal > 0 && ((flushed != 0 && flushed < start) || sequence == 0)
    }

    /// Whether what is behind an old header is old, too: it is not counted, or its events are of that time.
    fn is_old(&self, head: &Head<'_>) -> bool {
        let is_counted = self.rules.counted.is_none_or(|counted| self.ordinal < counted);
        let start = self.rules.stale_before.unwrap_or(i64::MIN);
        !is_counted || head.first_ticks().is_none_or(|ticks| ticks < start)
    }

    fn unreadable(&mut self, len: u64, content: RegionContent) -> Region {
        // What goes on from one step to the next counts as one buffer.
        let buffers = self.rules.stride.map_or(u64::from(!self.after_unreadable), |stride| len.div_ceil(stride.into()));
        let ordinal = if buffers == 0 { self.ordinal.saturating_sub(1) } else { self.ordinal };
        let region = UnreadableRegion { ordinal, buffers, offset: self.offset, len, content };
        self.offset += len;
        self.ordinal += buffers;
        self.after_unreadable = content != RegionContent::Repeated;
        Region::Unreadable(region)
    }

    /// The last bytes of the file, too few for a header.
    fn last_bytes(&mut self, bytes: &[u8], len: u64) -> Region {
        for (byte, content) in [(0, RegionContent::Zeros), (0xFF, RegionContent::Ones)] {
            // On their own they say nothing: a header may begin with zeros.
            if self.after_unreadable && bytes.iter().all(|&other| other == byte) {
                return self.unreadable(len, content);
            }
        }
        let offset = self.offset;
        self.offset += len;
        Region::Fragment { offset, len }
    }

    /// A header of zeros, or of FF: as far as the bytes stay the same, in whole buffers where they have one distance.
    fn unused(&mut self, byte: u8, left: u64) -> Result<Region> {
        let content = if byte == 0 { RegionContent::Zeros } else { RegionContent::Ones };
        let run = search::run_of(self.input, byte, self.offset, left.min(STEP).min(self.to_end()))?;
        if run == left {
            return Ok(self.unreadable(run, content));
        }
        if let Some(stride) = self.rules.stride.map(u64::from) {
            let whole = run - run % stride;
            // A header that was wiped out, in front of other bytes.
            let len = if whole == 0 { stride.min(left) } else { whole };
            return Ok(self.unreadable(len, if whole == 0 { RegionContent::Foreign } else { content }));
        }
        // The size of the next buffer may begin with a few bytes of the same value.
        let from = (self.offset + run).saturating_sub(3).max(self.offset + 1);
        let next = search::next_head(self.input, from, self.offset + run)?;
        Ok(self.unreadable(next.map_or(run, |next| next - self.offset), content))
    }

    /// Bytes in whole buffers up to where the caller stops; where buffers differ in size, as many as there are.
    fn to_end(&self) -> u64 {
        let Some(stride) = self.rules.stride.map(u64::from) else { return u64::MAX };
        let left = self.end.saturating_sub(self.offset).max(1);
        left.checked_next_multiple_of(stride).unwrap_or(u64::MAX)
    }

    /// Bytes up to the next place where a buffer may begin.
    fn to_next_head(&self, left: u64) -> Result<u64> {
        if let Some(stride) = self.rules.stride {
            return Ok(left.min(stride.into()));
        }
        let end = self.offset + left.min(STEP);
        Ok(search::next_head(self.input, self.offset + 1, end)?.unwrap_or(end) - self.offset)
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

    fn rules(stride: Option<u32>, stale_before: Option<i64>) -> ScanRules {
        ScanRules { stride, buffer_size: 0x200, max_buffer_size: 0x200, stale_before, counted: None }
    }

    fn walk(bytes: &[u8], rules: ScanRules) -> Vec<Region> {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        file.write_all(bytes).unwrap();
        let input = crate::input::LocalFile::open(file.path()).unwrap();
        let mut chain = BufferScan::new(&input, rules, &[]);
        std::iter::from_fn(|| chain.next_region().unwrap()).collect()
    }

    /// What each region is, how many buffers it stands for, where it begins and how long it is.
    fn regions(bytes: &[u8], rules: ScanRules) -> Vec<(&'static str, u64, u64, u64)> {
        let kinds = |kind| match kind {
            RegionContent::Foreign => "foreign",
            RegionContent::Zeros => "zeros",
            RegionContent::Ones => "ones",
            RegionContent::Stale => "stale",
            RegionContent::Repeated => "repeated",
        };
        let of = |region: Region| match region {
            Region::Buffer(extent, None) => ("buffer", 1, extent.offset, u64::from(extent.stored_len)),
            Region::Buffer(extent, Some(Doubt::Size(_))) => ("size?", 1, extent.offset, u64::from(extent.stored_len)),
            Region::Buffer(extent, Some(Doubt::Age)) => ("age?", 1, extent.offset, u64::from(extent.stored_len)),
            Region::Unreadable(region) => (kinds(region.content), region.buffers, region.offset, region.len),
            Region::Fragment { offset, len } => ("fragment", 0, offset, len),
        };
        walk(bytes, rules).into_iter().map(of).collect()
    }

    #[test]
    fn every_byte_belongs_to_one_stretch() {
        let good = [buffer(STRIDE, 0, 0), buffer(STRIDE, 1, 9), buffer(STRIDE, 2, 9)].concat();
        let bad = [&good[..STRIDE], &[0xABu8; STRIDE], &good[2 * STRIDE..], &[1, 2, 3]].concat();
        assert_eq!(
            regions(&bad, rules(Some(0x200), None)),
            [("buffer", 1, 0, 512), ("foreign", 1, 512, 512), ("buffer", 1, 1024, 512), ("fragment", 0, 1536, 3)]
        );
        assert_eq!(
            regions(&good[..1400], rules(Some(0x200), None)),
            [("buffer", 1, 0, 512), ("buffer", 1, 512, 512), ("buffer", 1, 1024, 376)]
        );
    }

    #[test]
    fn unused_space_is_taken_in_whole_buffers() {
        for (byte, kind) in [(0, "zeros"), (0xFF, "ones")] {
            let unused = vec![byte; 2 * STRIDE];
            let wiped = [&[byte; 100], &buffer(STRIDE, 3, 9)[100..]].concat();
            let file =
                [buffer(STRIDE, 0, 0), unused.clone(), wiped, buffer(STRIDE, 1, 9), unused, vec![byte; 9]].concat();
            // FF is also what fills the wiped buffer, up to its end.
            let wiped = if byte == 0 {
                vec![(kind, 2, 512, 1024), ("foreign", 1, 1536, 512)]
            } else {
                vec![(kind, 3, 512, 1536)]
            };
            let expected = [vec![("buffer", 1, 0, 512)], wiped, vec![("buffer", 1, 2048, 512), (kind, 3, 2560, 1033)]];
            assert_eq!(regions(&file, rules(Some(0x200), None)), expected.concat());
        }
    }

    #[test]
    fn a_buffer_is_as_old_as_its_events() {
        let event = |mut buffer: Vec<u8>, ticks: u8| {
            buffer[0x30] = 72 + 16;
            buffer[72..88].copy_from_slice(&[2, 0, 0x11, 0xC0, 16, 0, 0x2E, 0x0F, ticks, 0, 0, 0, 0, 0, 0, 0]);
            buffer
        };
        let data = [(1, 50, 45), (7, 20, 15), (2, 20, 50), (0, 60, 60), (0, 60, 10)];
        let data = data.map(|(sequence, flushed, first)| event(buffer(STRIDE, sequence, flushed), first));
        let file = [buffer(STRIDE, 0, 0), data.concat()].concat();
        assert_eq!(
            regions(&file, rules(Some(0x200), Some(40))),
            [
                ("buffer", 1, 0, 512),
                ("buffer", 1, 512, 512),
                ("stale", 1, 1024, 512),
                ("age?", 1, 1536, 512),
                ("age?", 1, 2048, 512),
                ("stale", 1, 2560, 512)
            ]
        );
    }

    #[test]
    fn a_wrong_size_does_not_lead_astray() {
        let of_size = |size: u32| {
            let mut file = [buffer(STRIDE, 0, 0), buffer(STRIDE, 1, 9), buffer(STRIDE, 2, 9)].concat();
            file[STRIDE..STRIDE + 4].copy_from_slice(&size.to_le_bytes());
            file
        };
        let expected = [("buffer", 1, 0, 512), ("size?", 1, 512, 512), ("buffer", 1, 1024, 512)];
        for size in [0, 1, 0x201, 0x300, 0x400, 0x1000, 0x0100_0001, u32::MAX] {
            assert_eq!(regions(&of_size(size), rules(Some(0x200), None)), expected, "{size:#x}");
        }
        // A size that reaches to the end of the file exactly is believed; what else it swallows is noticed within.
        for size in [0, 1, 0x201, 0x300, 0x1000, 0x0100_0001, u32::MAX] {
            assert_eq!(regions(&of_size(size), rules(None, None)), expected, "{size:#x}");
        }
    }

    #[test]
    fn a_session_without_a_buffer_size_does_not_end_the_scan() {
        let mut file = [buffer(STRIDE, 0, 0), buffer(STRIDE, 1, 9)].concat();
        file[STRIDE..STRIDE + 4].copy_from_slice(&0x300_u32.to_le_bytes());
        for buffer_size in [0, 1, 71, u32::MAX] {
            let rules = ScanRules { buffer_size, ..rules(None, None) };
            assert_eq!(regions(&file, rules), [("buffer", 1, 0, 512), ("buffer", 1, 512, 512)], "{buffer_size}");
        }
    }

    #[test]
    fn strides_of_a_compressed_file_differ() {
        let mut odd = buffer(0x4B, 1, 9);
        odd[0x34] = 0x40;
        let file = [buffer(STRIDE, 0, 0), odd.clone(), buffer(STRIDE, 2, 9), vec![0xAB; 100]].concat();
        assert_eq!(
            regions(&file, rules(None, None)),
            [("buffer", 1, 0, 512), ("buffer", 1, 512, 75), ("buffer", 1, 587, 512), ("foreign", 1, 1099, 100)]
        );
        // A damaged header costs one buffer, wherever the next one begins.
        let file = [buffer(STRIDE, 0, 0), vec![0xAB; 333], odd, vec![0; 5000], buffer(STRIDE, 2, 9)].concat();
        assert_eq!(
            regions(&file, rules(None, None)),
            [
                ("buffer", 1, 0, 512),
                ("foreign", 1, 512, 333),
                ("buffer", 1, 845, 75),
                ("zeros", 1, 920, 5000),
                ("buffer", 1, 5920, 512)
            ]
        );
    }
}
