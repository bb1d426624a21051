//! The header event: recognising a trace, and what it says of its session.

use base::clock::{Clock, ClockAnchor, ClockParameters, FileTime, Ticks};
use base::error::{Error, ErrorCode, ErrorKind, Result};
use serde::{Deserialize, Serialize};
use zerocopy::FromBytes;

use crate::buffer::scan::ScanRules;
use crate::buffer::stride;
use crate::event::FileContext;
use crate::input::Input;
use crate::layout::buffer::{BUFFER_HEADER_LEN, BUFFER_TYPE_HEADER, BufferHeader, MAX_BUFFER_SIZE, MIN_BUFFER_SIZE};
use crate::layout::header::{HeaderFamily, SystemHeader};
use crate::layout::logfile::{LogfileHead, LogfileTail, mode};

/// What the header event says of the session.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Session {
    /// The session's name.
    pub logger_name: String,
    /// The file that it was set up to write.
    pub log_file_name: String,
    /// Major and minor version of the recording system.
    pub os_version: (u8, u8),
    /// Build of the recording system.
    pub os_build: u32,
    /// Version of the file layout.
    pub layout_version: (u8, u8),
    /// 4 or 8: pointer size of the recording system.
    pub pointer_size: u32,
    /// Processors, or 1 without per-processor buffers.
    pub cpu_count: u32,
    /// Bytes of an expanded buffer.
    pub buffer_size: u32,
    /// Buffers at the start.
    pub start_buffers: u32,
    /// Buffers that the session counted; 0 or stale when it was never closed.
    pub buffers_written: u32,
    /// Bytes; 0 is unlimited.
    pub maximum_file_size: u64,
    /// [`crate::layout::logfile::LOG_FILE_MODES`].
    pub log_file_mode: u32,
    /// Length of a timer tick in 100 ns.
    pub timer_resolution: u32,
    /// When the session started.
    pub start_time: FileTime,
    /// When it ended; 0 when it was never closed.
    pub end_time: FileTime,
    /// When the system booted.
    pub boot_time: FileTime,
    /// Events that were not recorded.
    pub events_lost: u32,
    /// Buffers that could not be written.
    pub buffers_lost: u32,
    /// Clock type as declared.
    pub clock_type: u32,
    /// Ticks per second of the performance counter.
    pub perf_frequency: i64,
    /// Processor speed in MHz.
    pub cpu_mhz: u32,
    /// Minutes to add to local time for UTC.
    pub time_zone_bias_min: i32,
    /// Name of the time zone, often a reference into a library.
    pub time_zone_name: String,
    /// The tick of the header event.
    pub first_ticks: Ticks,
    /// The session's number.
    pub logger_id: u16,
    /// Bytes of the header event up to the end of its second name; no real one has more.
    pub header_event_len: u32,
}

impl Session {
    /// Whether a mode bit is set.
    pub fn has_mode(&self, bit: u32) -> bool {
        self.log_file_mode & bit != 0
    }

    /// Whether the session ended properly; only then are its counters final.
    pub fn is_closed(&self) -> bool {
        self.end_time.0 != 0
    }

    /// Why the lost counters say nothing; `None` where they are those of the session.
    pub fn loss_unknown_because(&self) -> Option<&'static str> {
        match (self.is_closed(), self.has_mode(mode::RELOG)) {
            (false, _) => Some("the session was never closed"),
            (true, true) => Some("a merged file does not keep its sources' counters"),
            (true, false) => None,
        }
    }

    /// Whether newer buffers overwrite the oldest, in the file or in memory, so that the file begins with its latest
    /// window and not with the session.
    pub fn is_ring(&self) -> bool {
        self.has_mode(mode::CIRCULAR | mode::BUFFERING)
    }

    /// Whether the buffers of all processors form one stream, so that the processor of an event is unknown.
    pub fn has_one_stream(&self) -> bool {
        self.has_mode(mode::NO_PER_PROCESSOR_BUFFERING)
    }

    /// Whether later sessions were appended to the file. Each numbers its buffers from 1, so that the order of a stream
    /// is that of the file.
    pub fn is_appended(&self) -> bool {
        self.has_mode(mode::APPEND)
    }

    /// The clock the session recorded with.
    pub fn clock(&self, anchor: ClockAnchor) -> Clock {
        let parameters = ClockParameters {
            clock_type: self.clock_type,
            perf_frequency: self.perf_frequency,
            cpu_mhz: self.cpu_mhz,
            start_time: self.start_time,
            boot_time: self.boot_time,
            first_ticks: self.first_ticks,
            timer_resolution: self.timer_resolution,
            os_build: self.os_build,
            is_private: self.has_mode(mode::PRIVATE_LOGGER),
        };
        Clock::new(parameters, anchor)
    }

    /// What is common to the events of the file.
    pub fn context(&self) -> FileContext {
        FileContext {
            pointer_size: if self.pointer_size == 4 { 4 } else { 8 },
            private_session: self.has_mode(mode::PRIVATE_LOGGER),
        }
    }

    /// The largest size to which one of its compressed buffers may expand.
    pub fn max_buffer_size(&self) -> u32 {
        if self.buffer_size < MIN_BUFFER_SIZE { MAX_BUFFER_SIZE } else { self.buffer_size.min(MAX_BUFFER_SIZE) }
    }
}

/// The header event and how the buffers behind it follow one another.
///
/// # Errors
/// [`ErrorKind::Input`] when the file is no event trace; the message says what it looks like instead.
pub fn read(input: &dyn Input) -> Result<(Session, ScanRules)> {
    let mut scratch = Vec::new();
    let bytes = input.bytes(0, HEADER_WINDOW, &mut scratch)?;
    let (buffer, event) = recognise(bytes).map_err(|message| {
        Error::new(ErrorKind::Input, message)
            .with_code(ErrorCode::NotATrace)
            .in_file(input.path())
            .with_hint("expected a Windows event trace (.etl): if it is one, copy it again")
    })?;
    let session = parse(buffer, event).ok_or_else(|| {
        Error::new(ErrorKind::Input, "the session's header event is cut off")
            .with_code(ErrorCode::NotATrace)
            .in_file(input.path())
            .in_buffer(0)
            .at_offset(u64::from(BUFFER_HEADER_LEN))
    })?;
    let rules = scan_rules(input, &session, buffer)?;
    Ok((session, rules))
}

/// The header event has less than 64 KiB, as every event.
const HEADER_WINDOW: usize = BUFFER_HEADER_LEN as usize + 0x1_0000;

/// Buffer header and header event at the start of a trace, or what the bytes look like instead.
fn recognise(bytes: &[u8]) -> Result<(&BufferHeader, &[u8]), String> {
    const MAGICS: [(&[u8], &str); 6] = [
        (b"PK\x03\x04", "this is a zip archive: unpack it first"),
        (b"\x1F\x8B", "this is gzip data: unpack it first"),
        (b"\x28\xB5\x2F\xFD", "this is zstd data: unpack it first"),
        (b"ElfFile\0", "this is an event log (.evtx), no trace"),
        (b"PAR1", "this is a Parquet file"),
        (b"MDMP", "this is a memory dump"),
    ];
    if let Some((_, what)) = MAGICS.iter().find(|(magic, _)| bytes.starts_with(magic)) {
        return Err((*what).to_owned());
    }
    let Some(header) = BufferHeader::read(bytes) else {
        return Err(format!("{} bytes are too few for a trace", bytes.len()));
    };
    let event = bytes.get(BUFFER_HEADER_LEN as usize..).unwrap_or_default();
    if !is_header_buffer(header, event) {
        return Err(explain_foreign(bytes, event));
    }
    match event.first_chunk().and_then(|&marker| HeaderFamily::of_marker(u32::from_le_bytes(marker))) {
        Some(HeaderFamily::System32 | HeaderFamily::System64) if event.get(6..8) == Some(&[0, 0]) => {
            Ok((header, event))
        }
        _ => Err("the first buffer does not begin with a session's header event".to_owned()),
    }
}

/// Whether this is the header of a header buffer. One of its two signs may be damaged if the header event behind it is
/// of a system whose buffers are like this.
fn is_header_buffer(header: &BufferHeader, event: &[u8]) -> bool {
    /// Windows Vista.
    const FIRST_LAYOUT: (u8, u8) = (1, 4);
    let signs = [header.has_plausible_size(), header.buffer_type.get() == BUFFER_TYPE_HEADER];
    let is_of_known_layout = || {
        let session = parse(header, event).filter(|session| session.layout_version >= FIRST_LAYOUT);
        session.is_some_and(|session| (MIN_BUFFER_SIZE..=MAX_BUFFER_SIZE).contains(&session.buffer_size))
    };
    signs == [true; 2] || signs.contains(&true) && is_of_known_layout()
}

fn explain_foreign(bytes: &[u8], event: &[u8]) -> String {
    let is_header_event =
        event.get(2..4).is_some_and(|marker| matches!(marker, [1 | 2, 0xC0])) && event.get(6..8) == Some(&[0, 0]);
    if is_header_event {
        return "this is a trace of Windows XP or Server 2003, whose buffers are not supported".to_owned();
    }
    if bytes.get(257..262) == Some(b"ustar") {
        return "this is a tar archive, which is not read: unpack it first".to_owned();
    }
    let head = bytes.get(..bytes.len().min(256)).unwrap_or_default();
    if std::str::from_utf8(head).is_ok_and(|text| text.chars().all(|c| !c.is_control() || c.is_whitespace())) {
        return "this is a text file".to_owned();
    }
    "this is no event trace: it does not begin with a trace's header buffer".to_owned()
}

fn parse(buffer: &BufferHeader, event: &[u8]) -> Option<Session> {
    let header = SystemHeader::ref_from_prefix(event).ok()?.0;
    let kind = HeaderFamily::of_marker(u32::from_le_bytes(*event.first_chunk()?))?;
    let payload = event.get(..usize::from(header.compact.hook.size.get()))?.get(size_of::<SystemHeader>()..)?;
    let (head, rest) = LogfileHead::ref_from_prefix(payload).ok()?;
    // Two pointers of the recording system's size, which hold no pointers in a file.
    let pointers = if kind == HeaderFamily::System64 { 16 } else { 8 };
    let (tail, names) = LogfileTail::ref_from_prefix(rest.get(pointers..)?).ok()?;
    let (logger_name, names) = utf16z(names);
    let (log_file_name, surplus) = utf16z(names);
    let header_event_len = size_of::<SystemHeader>() + payload.len() - surplus.len();
    let mode_bits = head.log_file_mode.get();
    let unit = if mode_bits & mode::USE_KBYTES_FOR_SIZE != 0 { 10 } else { 20 };
    Some(Session {
        logger_name,
        log_file_name,
        os_version: (head.major_version, head.minor_version),
        os_build: head.provider_version.get(),
        layout_version: (head.sub_version, head.sub_minor_version),
        pointer_size: head.pointer_size.get(),
        cpu_count: head.number_of_processors.get(),
        buffer_size: head.buffer_size.get(),
        start_buffers: head.start_buffers.get(),
        buffers_written: head.buffers_written.get(),
        maximum_file_size: u64::from(head.maximum_file_size.get()) << unit,
        log_file_mode: mode_bits,
        timer_resolution: head.timer_resolution.get(),
        start_time: FileTime(tail.start_time.get()),
        end_time: FileTime(head.end_time.get()),
        boot_time: FileTime(tail.boot_time.get()),
        events_lost: head.events_lost.get(),
        buffers_lost: tail.buffers_lost.get(),
        clock_type: tail.clock_type.get(),
        perf_frequency: tail.perf_frequency.get(),
        cpu_mhz: head.cpu_speed_mhz.get(),
        time_zone_bias_min: tail.time_zone.bias.get(),
        time_zone_name: until_nul(tail.time_zone.standard_name.iter().map(|unit| unit.get())),
        first_ticks: Ticks(header.compact.time_stamp.get()),
        logger_id: buffer.logger_id.get(),
        header_event_len: u32::try_from(header_event_len).ok()?,
    })
}

fn scan_rules(input: &dyn Input, session: &Session, buffer: &BufferHeader) -> Result<ScanRules> {
    let has_one_stride = !session.has_mode(mode::COMPRESSED) && !buffer.is_compressed();
    let stride = if has_one_stride { stride::common(input, buffer, session.buffer_size)? } else { None };
    // A closed session has counted its header buffer: what says 0 may be wrong about its mode and its start, too.
    let is_counted = !session.is_closed() || session.buffers_written > 0;
    // A relogged file has buffer times of another clock, and appended sessions number their buffers anew.
    let is_preallocated = is_counted
        && session.has_mode(mode::PREALLOCATE)
        && !session.has_mode(mode::CIRCULAR | mode::RELOG | mode::APPEND);
    Ok(ScanRules {
        stride,
        buffer_size: session.buffer_size,
        max_buffer_size: session.max_buffer_size(),
        stale_before: is_preallocated.then_some(session.first_ticks.0),
        counted: session.is_closed().then_some(session.buffers_written.into()),
    })
}

/// UTF-16 text up to its NUL, and the bytes behind it.
fn utf16z(bytes: &[u8]) -> (String, &[u8]) {
    let units = bytes.chunks_exact(2).map(|pair| u16::from_le_bytes([pair[0], pair[1]]));
    let len = units.clone().take_while(|&unit| unit != 0).count();
    (until_nul(units), bytes.get(2 * (len + 1)..).unwrap_or_default())
}

fn until_nul(units: impl Iterator<Item = u16>) -> String {
    char::decode_utf16(units.take_while(|&unit| unit != 0)).map(|c| c.unwrap_or(char::REPLACEMENT_CHARACTER)).collect()
}
