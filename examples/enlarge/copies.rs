//! Repeats the data buffers of a trace with later times.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::mem::offset_of;

use base::clock::{ClockAnchor, ClockKind};
use base::progress::NoProgress;
use conversion::survey::{self, BufferSummary, FileSurvey, SurveyOptions};
use etl::buffer::content::{self, Scratch};
use etl::buffer::scan::BufferExtent;
use etl::event::{RawEvent, Walk, WalkStep};
use etl::input::Input;
use etl::layout::buffer::{BUFFER_HEADER_LEN, BufferHeader, flags};
use etl::layout::header::{
    ClassicHeader, CompactHeader, EventHeader, HeaderFamily, KernelHeader, MessageHeader, ObsoleteTimedHeader,
    PerfInfoHeader, SystemHeader, message_flags,
};
use etl::layout::logfile::{LogfileHead, mode};
use zerocopy::{FromBytes, IntoBytes};

/// What an enlarged trace shall be.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Size {
    /// Bytes that the file must have at least; it ends with the round of copies that reaches them.
    pub(crate) bytes: u64,
    /// Copies side by side in time, each on CPUs of its own.
    pub(crate) cpus: u16,
}

/// What was written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Enlarged {
    pub(crate) bytes: u64,
    pub(crate) buffers: u64,
    /// Events of the header buffer included.
    pub(crate) events: u64,
}

type Failure = Box<dyn std::error::Error>;

/// Writes the trace `source`, enlarged, to `out`: the header buffer once, then all others again and again.
///
/// Compressed buffers are written expanded, because the times in them change.
pub(crate) fn enlarge(source: &dyn Input, size: Size, out: &mut impl Write) -> Result<Enlarged, Failure> {
    let options = SurveyOptions { anchor: ClockAnchor::Start, hash: false, ..SurveyOptions::default() };
    let file = survey::survey(source, String::new(), &options, &NoProgress)?;
    let plan = Plan::of(&file, size)?;
    let mut scratch = Scratch::default();
    let mut written = Enlarged::default();
    let (head, data) = file.buffers.split_first().ok_or("the trace has no buffers")?;
    let mut bytes = expanded(&file, source, &head.extent, &mut scratch)?;
    plan.set_header(&file, &mut bytes)?;
    written.put(&bytes, head, out)?;
    for round in 0..plan.rounds {
        for buffer in data {
            let original = expanded(&file, source, &buffer.extent, &mut scratch)?;
            for copy in 0..size.cpus {
                bytes.clone_from(&original);
                plan.move_buffer(&mut bytes, &buffer.extent, round, copy)?;
                written.put(&bytes, buffer, out)?;
            }
        }
    }
    Ok(written)
}

impl Enlarged {
    fn put(&mut self, bytes: &[u8], buffer: &BufferSummary, out: &mut impl Write) -> io::Result<()> {
        self.bytes += bytes.len() as u64;
        self.buffers += 1;
        self.events += u64::from(buffer.events);
        out.write_all(bytes)
    }
}

/// A buffer as it lies in an uncompressed file.
fn expanded(
    file: &FileSurvey,
    source: &dyn Input,
    extent: &BufferExtent,
    scratch: &mut Scratch,
) -> Result<Vec<u8>, Failure> {
    let stride = if extent.is_compressed() { file.session.buffer_size } else { extent.size };
    let mut bytes = vec![0; BUFFER_HEADER_LEN as usize];
    source.read_into(extent.offset, &mut bytes)?;
    let content = content::read(source, extent, file.session.max_buffer_size(), scratch)?;
    bytes.extend_from_slice(content.bytes());
    bytes.resize(stride as usize, 0xFF);
    put(&mut bytes, offset_of!(BufferHeader, buffer_size), &stride)?;
    put(&mut bytes, offset_of!(BufferHeader, buffer_flag), &(extent.flags & !flags::COMPRESSED))?;
    Ok(bytes)
}

/// How copies differ from the original.
#[derive(Debug)]
struct Plan {
    size: Size,
    rounds: u64,
    /// Ticks between two rounds.
    span: i64,
    /// Units of buffer times in a tick, as a fraction: relogged files have file times there.
    buffer_time: (i128, i128),
    /// 100 ns in a tick, as a fraction.
    file_time: (i128, i128),
    /// The place of each data buffer in the order of sequence numbers, from 0, by its number in the file.
    rank: BTreeMap<u64, i64>,
    /// CPU numbers of the original, up to the highest.
    cpus: u16,
}

/// Ticks between copies that are side by side, so that not all of them have the same times.
const SKEW: i64 = 3;

impl Plan {
    fn of(file: &FileSurvey, size: Size) -> Result<Plan, Failure> {
        if file.is_damaged() {
            return Err("the trace is damaged: copies would be, too".into());
        }
        if size.cpus == 0 || (size.cpus > 1 && file.session.has_one_stream()) {
            return Err("--cpus needs a number from 1, and a trace with a stream per CPU to be more than 1".into());
        }
        let data = file.buffers.get(1..).filter(|data| !data.is_empty()).ok_or("the trace has no data buffers")?;
        let filled = || data.iter().filter(|buffer| buffer.events > 0);
        let first = filled().map(|buffer| buffer.first_ticks).min().ok_or("the trace has no events")?;
        let last = filled().map(|buffer| buffer.last_ticks).max().unwrap_or(first);
        let mut by_sequence: Vec<_> = data.iter().map(|b| (b.extent.sequence, b.extent.ordinal)).collect();
        by_sequence.sort_unstable();
        let stride = u64::from(file.session.buffer_size);
        let round = data.len() as u64 * u64::from(size.cpus) * stride;
        let (ns, ticks) = file.clock.ratio().map_or((1, 1), |(ns, ticks)| (i128::from(ns), i128::from(ticks)));
        let file_time = (ns, ticks * 100);
        // Relogged files have file times in their buffer headers, whatever their clock.
        let is_relogged = file.session.has_mode(mode::RELOG) && file.clock.kind() != ClockKind::SystemTime;
        Ok(Plan {
            size,
            rounds: size.bytes.saturating_sub(stride).div_ceil(round).max(1),
            span: last - first + SKEW * i64::from(size.cpus) + 1,
            buffer_time: if is_relogged { file_time } else { (1, 1) },
            file_time,
            rank: by_sequence.into_iter().map(|(_, ordinal)| ordinal).zip(0..).collect(),
            cpus: data.iter().map(|buffer| buffer.extent.cpu).max().unwrap_or(0) + 1,
        })
    }

    fn shift(&self, round: u64, copy: u16) -> Result<i64, Failure> {
        let rounds = i64::try_from(round)?.checked_mul(self.span).ok_or("the times leave 64 bits")?;
        Ok(rounds + SKEW * i64::from(copy))
    }

    /// The header buffer says how many buffers, processors and seconds there are now.
    fn set_header(&self, file: &FileSurvey, bytes: &mut [u8]) -> Result<(), Failure> {
        let at = |field: usize| BUFFER_HEADER_LEN as usize + size_of::<SystemHeader>() + field;
        let session = &file.session;
        let buffers = 1 + self.rounds * u64::from(self.size.cpus) * self.rank.len() as u64;
        put(bytes, at(offset_of!(LogfileHead, buffers_written)), &u32::try_from(buffers)?)?;
        put(bytes, at(offset_of!(LogfileHead, maximum_file_size)), &0_u32)?;
        let plain = session.log_file_mode & !(mode::COMPRESSED | mode::CIRCULAR | mode::PREALLOCATE | mode::NEWFILE);
        put(bytes, at(offset_of!(LogfileHead, log_file_mode)), &plain)?;
        if self.size.cpus > 1 {
            let cpus = u32::from(self.cpus.checked_mul(self.size.cpus).ok_or("too many CPUs")?);
            put(bytes, at(offset_of!(LogfileHead, number_of_processors)), &cpus)?;
        }
        if session.is_closed() {
            let end = session.end_time.0 + scaled(self.shift(self.rounds - 1, self.size.cpus)?, self.file_time)?;
            put(bytes, at(offset_of!(LogfileHead, end_time)), &end)?;
        }
        Ok(())
    }

    /// Gives a copy of a data buffer its times, number and processor.
    fn move_buffer(&self, bytes: &mut [u8], extent: &BufferExtent, round: u64, copy: u16) -> Result<(), Failure> {
        let shift = self.shift(round, copy)?;
        let rank = *self.rank.get(&extent.ordinal).ok_or("a data buffer without a place")?;
        let (side, all) = (i64::from(self.size.cpus), i64::try_from(self.rank.len())?);
        let sequence = 1 + i64::from(copy) + side * (rank + all * i64::try_from(round)?);
        put(bytes, offset_of!(BufferHeader, sequence_number), &sequence)?;
        if extent.time_stamp != 0 {
            let time = extent.time_stamp + scaled(shift, self.buffer_time)?;
            put(bytes, offset_of!(BufferHeader, time_stamp), &time)?;
        }
        if self.size.cpus > 1 {
            put(bytes, offset_of!(BufferHeader, processor), &(extent.cpu + copy * self.cpus))?;
            put(
                bytes,
                offset_of!(BufferHeader, buffer_flag),
                &(extent.flags & !flags::COMPRESSED | flags::PROC_INDEX),
            )?;
        }
        let filled = bytes.len().min(extent.used_len as usize);
        move_events(bytes.get_mut(BUFFER_HEADER_LEN as usize..filled).unwrap_or_default(), shift);
        Ok(())
    }
}

/// `ticks * unit`, rounded down.
fn scaled(ticks: i64, unit: (i128, i128)) -> Result<i64, Failure> {
    Ok(i64::try_from((i128::from(ticks) * unit.0).div_euclid(unit.1))?)
}

fn put<T: IntoBytes + zerocopy::Immutable>(bytes: &mut [u8], at: usize, value: &T) -> Result<(), Failure> {
    let value = value.as_bytes();
    bytes.get_mut(at..at + value.len()).ok_or("a buffer is shorter than its header")?.copy_from_slice(value);
    Ok(())
}

/// Adds `shift` to every time in the event bytes of a buffer.
fn move_events(bytes: &mut [u8], shift: i64) {
    let mut at = 0;
    while let Some(WalkStep::Event(event)) = Walk::new(bytes.get(at..).unwrap_or_default(), 0).next() {
        let (places, len) = (time_places(&event), event.bytes.len());
        for place in places.into_iter().flatten() {
            if let Some(time) = bytes.get_mut(at + place..).and_then(|rest| rest.first_chunk_mut::<8>()) {
                *time = i64::from_le_bytes(*time).wrapping_add(shift).to_le_bytes();
            }
        }
        at = (at + len).next_multiple_of(8);
    }
}

/// Where the times of an event stand: its own, and the tick that some kernel payloads begin with.
fn time_places(event: &RawEvent<'_>) -> [Option<usize>; 2] {
    let own = match event.family {
        family if family.is_event() => Some(offset_of!(EventHeader, time_stamp)),
        family if family.is_classic() => Some(offset_of!(ClassicHeader, time_stamp)),
        HeaderFamily::PerfInfo32 | HeaderFamily::PerfInfo64 => Some(offset_of!(PerfInfoHeader, time_stamp)),
        family if family.is_kernel() => Some(offset_of!(CompactHeader, time_stamp)),
        HeaderFamily::Timed => Some(offset_of!(ObsoleteTimedHeader, time_stamp)),
        HeaderFamily::Message => message_time(event),
        _ => None,
    };
    [own, payload_time(event)]
}

fn message_time(event: &RawEvent<'_>) -> Option<usize> {
    let flags = MessageHeader::ref_from_prefix(event.bytes).ok()?.0.flags.get();
    let has = |flag| flags & flag != 0;
    let identity = match () {
        () if has(message_flags::COMPONENT_ID) => 4,
        () if has(message_flags::GUID) => 16,
        () => 0,
    };
    let sequence = if has(message_flags::SEQUENCE) { 4 } else { 0 };
    has(message_flags::TIMESTAMP).then_some(size_of::<MessageHeader>() + sequence + identity)
}

/// Kernel payloads that begin with a tick: stacks name the event they belong to by its time, and interrupts and
/// deferred calls carry the time at which they began.
fn payload_time(event: &RawEvent<'_>) -> Option<usize> {
    if !event.family.is_kernel() {
        return None;
    }
    let hook = KernelHeader::ref_from_prefix(event.bytes).ok()?.0;
    let begins_with_time = matches!((hook.group, hook.kind), (0x18, 0x20) | (0x0F, 0x32 | 0x42..=0x45));
    begins_with_time.then_some(event.family.header_len() + hook.counter_bytes())
}
