//! Walks the events of a buffer, one header at a time.
//!
//! Every event starts at a multiple of 8 from the start of the buffer and says how long it is; alignment bytes
//! between events hold stale data. Behind an event that does not fit nothing marks where the next one starts: what
//! follows is damage, to the end of the buffer or to where the survey has found events again.

use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout};

use crate::layout::header::{EVENT_ALIGNMENT, HeaderFamily, KernelHeader, MessageHeader, message_flags};

/// An event as it lies in its buffer; at least its header is complete.
#[derive(Clone, Copy, Debug)]
pub struct RawEvent<'a> {
    /// Offset of the event from the first event of the buffer.
    pub offset: u32,
    /// The header family.
    pub family: HeaderFamily,
    /// Header, extended items and payload, without alignment.
    pub bytes: &'a [u8],
}

/// Bytes of a buffer that no event can be read from, with events behind them. Offsets are from the first event of the
/// buffer, in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, FromBytes, Immutable, IntoBytes, KnownLayout)]
#[repr(C)]
pub struct Gap {
    /// The first of them.
    pub from: u32,
    /// The first event behind them; 0 where there is no gap.
    pub to: u32,
}

impl Gap {
    /// No gap.
    pub const NONE: Gap = Gap { from: 0, to: 0 };

    /// Whether there is one, and it begins at an offset.
    pub fn begins_at(self, offset: u32) -> bool {
        self.from == offset && self.from < self.to
    }

    /// Whether an event at an offset stands behind it.
    pub fn is_before(self, offset: u32) -> bool {
        self.to != 0 && offset >= self.to
    }
}

/// What stands at one position of a buffer.
#[derive(Clone, Copy, Debug)]
pub enum WalkStep<'a> {
    /// An event.
    Event(RawEvent<'a>),
    /// Bytes that are no events: up to the end of the gap that begins here, or the rest of the buffer.
    Damage {
        /// Offset of the first of them.
        offset: u32,
        /// How many.
        len: u32,
        /// Whether an event header can be recognised at their start, so that one event is known to be lost.
        recognisable: bool,
    },
}

/// An iterator over the events of a buffer, or of the part of it from one event on.
#[derive(Clone, Debug)]
pub struct Walk<'a> {
    bytes: &'a [u8],
    origin: u32,
    at: usize,
    gap: Gap,
}

impl<'a> Walk<'a> {
    /// Walks `bytes`, which begin with an event at `origin` bytes from the first event of the buffer.
    pub fn new(bytes: &'a [u8], origin: u32) -> Self {
        Walk { bytes, origin, at: 0, gap: Gap::NONE }
    }

    /// The same, going on behind a gap.
    #[must_use]
    pub fn across(self, gap: Gap) -> Self {
        Walk { gap, ..self }
    }

    /// Goes on behind a gap that was found at the damage of the last step.
    pub fn go_on_behind(&mut self, gap: Gap) {
        self.at = gap.to.saturating_sub(self.origin) as usize;
    }

    fn offset(&self) -> u32 {
        // A buffer has at most 16 MiB.
        self.origin.saturating_add(u32::try_from(self.at).unwrap_or(u32::MAX))
    }

    /// The bytes that are no event, up to the end of the gap or the buffer.
    #[cold]
    fn rest(&mut self, rest: &'a [u8], recognisable: bool) -> WalkStep<'a> {
        let offset = self.offset();
        if self.gap.begins_at(offset) {
            self.go_on_behind(self.gap);
            return WalkStep::Damage { offset, len: self.gap.to - offset, recognisable };
        }
        self.at = self.bytes.len();
        WalkStep::Damage { offset, len: u32::try_from(rest.len()).unwrap_or(u32::MAX), recognisable }
    }
}

impl<'a> Iterator for Walk<'a> {
    type Item = WalkStep<'a>;

    #[expect(clippy::inline_always, reason = "a step that goes through memory costs more than to find it")]
    #[inline(always)]
    fn next(&mut self) -> Option<WalkStep<'a>> {
        let rest = self.bytes.get(self.at..).filter(|rest| !rest.is_empty())?;
        let family = rest.first_chunk().and_then(|&marker| HeaderFamily::of_marker(u32::from_le_bytes(marker)));
        let Some(family) = family else { return Some(self.rest(rest, false)) };
        let Some(bytes) = event_bytes(family, rest) else { return Some(self.rest(rest, true)) };
        let offset = self.offset();
        self.at = self.at.saturating_add(bytes.len()).next_multiple_of(EVENT_ALIGNMENT as usize);
        Some(WalkStep::Event(RawEvent { offset, family, bytes }))
    }
}

/// The bytes of the event at the start of `rest`, if they are all there and hold the whole header.
#[inline]
fn event_bytes(family: HeaderFamily, rest: &[u8]) -> Option<&[u8]> {
    let size = stated_size(family, rest)?;
    let bytes = rest.get(..size)?;
    let header_len = match family {
        HeaderFamily::Message => family.header_len() + message_options_len(bytes)?,
        family if family.is_kernel() => {
            family.header_len() + KernelHeader::ref_from_prefix(bytes).ok()?.0.counter_bytes()
        }
        family => family.header_len(),
    };
    (size >= header_len).then_some(bytes)
}

/// The size that the header of an event states, in bytes.
#[inline]
fn stated_size(family: HeaderFamily, event: &[u8]) -> Option<usize> {
    event.get(family.size_offset()..)?.first_chunk().map(|&size| usize::from(u16::from_le_bytes(size)))
}

fn message_options_len(bytes: &[u8]) -> Option<usize> {
    let flags = MessageHeader::ref_from_prefix(bytes).ok()?.0.flags.get();
    let has = |flag, len| if flags & flag != 0 { len } else { 0 };
    let identity = match flags {
        _ if flags & message_flags::COMPONENT_ID != 0 => 4,
        _ => has(message_flags::GUID, 16),
    };
    Some(
        identity
            + has(message_flags::SEQUENCE, 4)
            + has(message_flags::TIMESTAMP, 8)
            + has(message_flags::SYSTEM_INFO, 8),
    )
}

impl<'a> RawEvent<'a> {
    /// The event at the start of `bytes`, which lies at `offset` bytes from the first event of its buffer.
    #[expect(clippy::inline_always, reason = "an event that goes through memory costs more than to find it")]
    #[inline(always)]
    pub fn at(bytes: &'a [u8], offset: u32) -> Option<RawEvent<'a>> {
        let family = bytes.first_chunk().and_then(|&marker| HeaderFamily::of_marker(u32::from_le_bytes(marker)))?;
        Some(RawEvent { offset, family, bytes: event_bytes(family, bytes)? })
    }

    /// The size that the header of the event at the start of `bytes` states, in bytes; the event may have more than these.
    pub(crate) fn size_at(bytes: &[u8]) -> Option<usize> {
        let family = HeaderFamily::of_marker(u32::from_le_bytes(*bytes.first_chunk()?))?;
        stated_size(family, bytes)
    }

    /// The fixed header as a structure of its family.
    #[inline]
    pub(super) fn header<T: FromBytes + zerocopy::KnownLayout + zerocopy::Immutable + zerocopy::Unaligned>(
        &self,
    ) -> Option<&'a T> {
        T::ref_from_prefix(self.bytes).ok().map(|(header, _)| header)
    }

    /// The time of the event in ticks of the session's clock, if it carries one.
    #[inline]
    pub fn ticks(&self) -> Option<i64> {
        // A place from a table: to jump to the code of a family costs more than to read the time.
        let Some(offset) = self.family.time_offset() else {
            let message = if self.family == HeaderFamily::Message { self.message() } else { None };
            return message.and_then(|message| message.ticks);
        };
        self.bytes.get(offset..)?.first_chunk().map(|ticks| i64::from_le_bytes(*ticks))
    }

    /// The optional parts of a WPP message header.
    #[inline]
    pub(super) fn message(&self) -> Option<MessageOptions<'a>> {
        let (header, rest) = MessageHeader::ref_from_prefix(self.bytes).ok()?;
        let flags = header.flags.get();
        let mut options = MessageOptions { rest, ..MessageOptions::default() };
        if flags & message_flags::SEQUENCE != 0 {
            options.sequence = Some(u32::from_le_bytes(options.take()?));
        }
        if flags & message_flags::COMPONENT_ID != 0 {
            options.component_id = Some(u32::from_le_bytes(options.take()?));
        } else if flags & message_flags::GUID != 0 {
            options.guid = Some(options.take()?);
        }
        if flags & message_flags::TIMESTAMP != 0 {
            options.ticks = Some(i64::from_le_bytes(options.take()?));
        }
        if flags & message_flags::SYSTEM_INFO != 0 {
            let [thread, process]: [[u8; 4]; 2] = zerocopy::transmute!(options.take::<8>()?);
            options.thread_and_process = Some((u32::from_le_bytes(thread), u32::from_le_bytes(process)));
        }
        Some(options)
    }
}

/// What stands between the fixed header of a WPP message and its arguments.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct MessageOptions<'a> {
    pub sequence: Option<u32>,
    pub component_id: Option<u32>,
    pub guid: Option<[u8; 16]>,
    pub ticks: Option<i64>,
    pub thread_and_process: Option<(u32, u32)>,
    /// The arguments.
    pub rest: &'a [u8],
}

impl MessageOptions<'_> {
    fn take<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (bytes, rest) = self.rest.split_first_chunk()?;
        self.rest = rest;
        Some(*bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A PERFINFO event: version 2, given total size, hook 0F2E, time `ticks`.
    fn perf_info(size: u16, ticks: i64, extension: u8) -> Vec<u8> {
        let mut bytes = vec![2, extension, 0x11, 0xC0];
        bytes.extend(size.to_le_bytes());
        bytes.extend([0x2E, 0x0F]);
        bytes.extend(ticks.to_le_bytes());
        bytes.resize(usize::from(size).max(16), 0x77);
        bytes
    }

    fn padded(mut bytes: Vec<u8>) -> Vec<u8> {
        bytes.resize(bytes.len().next_multiple_of(8), 0xEE);
        bytes
    }

    fn steps(bytes: &[u8]) -> Vec<(u32, usize, Option<i64>)> {
        Walk::new(bytes, 0)
            .map(|step| match step {
                WalkStep::Event(event) => (event.offset, event.bytes.len(), event.ticks()),
                WalkStep::Damage { offset, len, recognisable } => (offset, len as usize, recognisable.then_some(-1)),
            })
            .collect()
    }

    #[test]
    fn events_follow_one_another_at_multiples_of_eight() {
        let bytes = [padded(perf_info(19, 7, 0)), perf_info(20, 9, 0)].concat();
        assert_eq!(steps(&bytes), [(0, 19, Some(7)), (24, 20, Some(9))]);
    }

    #[test]
    fn an_event_that_does_not_fit_ends_the_buffer() {
        let good = padded(perf_info(24, 7, 0));
        for (bad, len) in
            [(perf_info(400, 8, 0)[..30].to_vec(), 30), (perf_info(15, 8, 0), 16), (perf_info(16, 8, 1), 16)]
        {
            let bytes = [good.clone(), bad].concat();
            assert_eq!(steps(&bytes), [(0, 24, Some(7)), (24, len, Some(-1))]);
        }
    }

    #[test]
    fn what_is_no_header_ends_the_buffer() {
        let good = padded(perf_info(24, 7, 0));
        for bad in [vec![0u8; 40], vec![0xFF; 3], vec![0x12; 9]] {
            let bytes = [good.clone(), bad.clone()].concat();
            assert_eq!(steps(&bytes), [(0, 24, Some(7)), (24, bad.len(), None)]);
        }
    }

    #[test]
    fn a_message_has_the_parts_its_flags_name() {
        // Size 0x3C, number 0x2B, flags 0xAA: GUID, time, thread 0xF4 and process 4, then 20 bytes of arguments.
        let mut bytes = vec![0x3C, 0, 0, 0x90, 0x2B, 0, 0xAA, 0];
        bytes.extend([0x11; 16]);
        bytes.extend(0x01DB_0000_0000_0001u64.to_le_bytes());
        bytes.extend([0xF4, 0, 0, 0, 4, 0, 0, 0]);
        bytes.extend([0x55; 20]);
        let Some(WalkStep::Event(event)) = Walk::new(&bytes, 0).next() else { panic!("no event") };
        let message = event.message().unwrap();
        assert_eq!(event.ticks(), Some(0x01DB_0000_0000_0001));
        assert_eq!(message.thread_and_process, Some((0xF4, 4)));
        assert_eq!(message.guid, Some([0x11; 16]));
        assert_eq!(message.rest, [0x55; 20]);
    }
}
