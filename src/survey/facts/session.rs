//! What the header event and the buffers of a file say of its session.

use crate::clock::{FileTime, Ticks};
use crate::layout::logfile::{ENABLE_FLAGS, bit_names, log_file_mode_names, mode};
use crate::survey::loss::{self, Ledger, Overwritten};
use crate::survey::naming::{private_logger_pid, series_member};
use crate::survey::result::FileSurvey;
use crate::survey::streams::first_ticks;

/// A session, as one file records it. What is `None` is not recorded; times are Unix nanoseconds.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "each is a fact by itself, and a column")]
pub struct SessionFacts {
    /// The path relative to the input named by the user, with `/`.
    pub source: String,
    /// Bytes of the file.
    pub size: u64,
    /// BLAKE3 of the file in lower-case hexadecimal; `None` where it was not computed.
    pub blake3: Option<String>,
    /// The session's name.
    pub logger_name: Option<String>,
    /// The name in lower case: Windows does not tell names apart by case.
    pub logger_name_folded: Option<String>,
    /// The file that the session was told to write.
    pub log_file_name: Option<String>,
    /// Major and minor version of the recording system.
    pub os_version: String,
    /// Build of the recording system.
    pub os_build: u32,
    /// Major and minor version of the file layout.
    pub layout_version: String,
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
    /// Buffers in the file.
    pub buffers_found: u64,
    /// Bytes; 0 is unlimited.
    pub maximum_file_size: u64,
    /// The mode's bits.
    pub log_file_mode: u32,
    /// Their names.
    pub log_file_mode_names: Vec<String>,
    /// Flags that a system logger is enabled with.
    pub enable_flags: Option<u32>,
    /// Their names.
    pub enable_flag_names: Option<Vec<String>>,
    /// The eight masks of event groups, of which the first holds the flags.
    pub group_masks: Option<Vec<u32>>,
    /// Length of a timer tick in nanoseconds.
    pub timer_resolution_ns: u64,
    /// When the session started.
    pub start_ns: Option<i64>,
    /// When it ended; `None` when it was never closed.
    pub end_ns: Option<i64>,
    /// When the system booted.
    pub boot_ns: Option<i64>,
    /// The earliest event; in a ring not one of the header buffer.
    pub first_event_ns: Option<i64>,
    /// The latest event.
    pub last_event_ns: Option<i64>,
    /// The earliest event behind the header buffer.
    pub window_start_ns: Option<i64>,
    /// Events that were not recorded.
    pub events_lost: Option<u32>,
    /// Buffers that could not be written.
    pub buffers_lost: Option<u32>,
    /// Why nobody can know what was lost.
    pub loss_unknown_because: Option<&'static str>,
    /// The number of the file in its series.
    pub file_series_number: Option<u32>,
    /// The process that a private session recorded.
    pub private_logger_pid: Option<u32>,
    /// Whether buffers are stored compressed.
    pub compressed: bool,
    /// Whether the end of the file is missing.
    pub truncated: bool,
    /// Whether newer buffers have overwritten the oldest; `None` where nobody can know.
    pub wrapped: Option<bool>,
    /// Whether a tool wrote the file from others.
    pub relogged: bool,
    /// Whether the file had no room for another buffer; `None` in a relogged file, whose limit is that of a source.
    pub reached_maximum_size: Option<bool>,
    /// Whether a process recorded its own events.
    pub private_logger: bool,
    /// Whether the session ended properly.
    pub closed: bool,
}

impl SessionFacts {
    /// The session of a file.
    pub(super) fn of(file: &FileSurvey, ledger: &Ledger) -> Self {
        let facts = SessionFacts {
            events_lost: ledger.events_lost,
            buffers_lost: ledger.buffers_lost,
            loss_unknown_because: ledger.unknown_because,
            ..SessionFacts::of_header(file)
        };
        facts.with_times(file).with_shape(file).with_masks(file)
    }

    /// Whether the file need not begin with its session: a ring that has wrapped, may have, or was in memory.
    pub fn is_window(&self) -> bool {
        self.wrapped != Some(false) || self.log_file_mode & mode::BUFFERING != 0
    }

    /// What the header event says.
    fn of_header(file: &FileSurvey) -> Self {
        let session = &file.session;
        let name = |name: &str| Some(name.to_owned()).filter(|name| !name.is_empty());
        let version = |(major, minor): (u8, u8)| format!("{major}.{minor}");
        SessionFacts {
            source: file.name.clone(),
            size: file.identity.size,
            blake3: file.blake3.clone(),
            logger_name: name(&session.logger_name),
            logger_name_folded: name(&session.logger_name.to_lowercase()),
            log_file_name: name(&session.log_file_name),
            os_version: version(session.os_version),
            os_build: session.os_build,
            layout_version: version(session.layout_version),
            pointer_size: session.pointer_size,
            cpu_count: session.cpu_count,
            buffer_size: session.buffer_size,
            start_buffers: session.start_buffers,
            buffers_written: session.buffers_written,
            maximum_file_size: session.maximum_file_size,
            log_file_mode: session.log_file_mode,
            log_file_mode_names: log_file_mode_names(session.log_file_mode),
            timer_resolution_ns: u64::from(session.timer_resolution) * 100,
            relogged: session.has_mode(mode::RELOG),
            private_logger: session.has_mode(mode::PRIVATE_LOGGER),
            closed: session.is_closed(),
            ..SessionFacts::default()
        }
    }

    fn with_times(self, file: &FileSurvey) -> Self {
        let recorded = |time: FileTime| (time.0 != 0).then(|| time.to_unix().0);
        let ns = |ticks| file.clock.to_unix(Ticks(ticks)).0;
        let last = file.buffers.iter().filter(|buffer| buffer.events > 0).map(|buffer| buffer.last_ticks).max();
        let data = file.buffers.iter().filter(|buffer| buffer.events > 0 && buffer.extent.ordinal > 0);
        SessionFacts {
            start_ns: recorded(file.session.start_time),
            end_ns: recorded(file.session.end_time),
            boot_ns: recorded(file.session.boot_time),
            first_event_ns: first_ticks(file, file.buffers.iter()).map(ns),
            last_event_ns: last.map(ns),
            window_start_ns: data.map(|buffer| buffer.first_ticks).min().map(ns),
            ..self
        }
    }

    /// What follows from the buffers that are there, and from the file's name.
    fn with_shape(self, file: &FileSurvey) -> Self {
        SessionFacts {
            buffers_found: file.buffers.len() as u64,
            file_series_number: series_member(file).map(|member| member.number),
            private_logger_pid: private_logger_pid(file),
            compressed: file.is_compressed(),
            truncated: file.is_truncated() || loss::missing_at_end(file) > 0,
            wrapped: match loss::overwritten(file) {
                Overwritten::None => Some(false),
                Overwritten::Buffers(_) => Some(true),
                Overwritten::AtMost(_) => None,
            },
            reached_maximum_size: (!self.relogged).then(|| has_reached_maximum_size(file)),
            ..self
        }
    }

    /// The first mask is that of the flags a system logger is enabled with.
    fn with_masks(self, file: &FileSurvey) -> Self {
        let group_masks = file.group_masks.map(Vec::from);
        let enable_flags = file.group_masks.map(|[flags, ..]| flags);
        let enable_flag_names = enable_flags.map(|flags| bit_names(flags, &ENABLE_FLAGS));
        SessionFacts { enable_flags, enable_flag_names, group_masks, ..self }
    }
}

/// Whether another buffer would have gone beyond the limit.
fn has_reached_maximum_size(file: &FileSurvey) -> bool {
    let (most, another) = (file.session.maximum_file_size, u64::from(file.session.buffer_size));
    most > 0 && file.end_of_buffers().saturating_add(another) > most
}
