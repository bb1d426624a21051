//! `sessions`: one row per input, what its header event and its buffers say of the session.

use std::borrow::Cow;

use base::clock::FileTime;
use etl::layout::logfile::{ENABLE_FLAGS, bit_names, log_file_mode_names, mode};

use super::cell::{NotRecorded, Time};
use super::row::sidecar_row;
use crate::survey::loss::{self, Overwritten};
use crate::survey::naming::{private_logger_pid, series_member};
use crate::survey::streams::first_data_ticks;
use crate::survey::{FileFacts, FileSurvey};

sidecar_row! {
    /// A session, as one input records it. What is `None` is not recorded.
    #[derive(Default)]
    "sessions" SessionRow {
        /// The path relative to the input named by the user, with `/`.
        source: String,
        /// Bytes of the file.
        size: u64,
        /// BLAKE3 of the file in lower-case hexadecimal; `None` where it was not computed.
        blake3: Option<String>,
        /// The session's name.
        logger_name: Option<String>,
        /// The name in lower case: Windows does not distinguish names by case.
        logger_name_folded: Option<String>,
        /// The file that the session was set up to write.
        log_file_name: Option<String>,
        /// Major and minor version of the recording system.
        os_version: String,
        /// Build of the recording system.
        os_build: u32,
        /// Major and minor version of the file layout.
        layout_version: String,
        /// 4 or 8: pointer size of the recording system.
        pointer_size: u32,
        /// Processors, or 1 without per-processor buffers.
        cpu_count: u32,
        /// Bytes of an expanded buffer.
        buffer_size: u32,
        /// Buffers at the start.
        start_buffers: u32,
        /// Buffers that the session counted; 0 or stale when it was never closed.
        buffers_written: u32,
        /// Buffers in the file.
        buffers_found: u64,
        /// Not in a file.
        minimum_buffers: NotRecorded,
        /// Not in a file.
        maximum_buffers: NotRecorded,
        /// Bytes; 0 is unlimited.
        maximum_file_size: u64,
        /// Not in a file.
        flush_timer_s: NotRecorded,
        /// Not in a file.
        age_limit_min: NotRecorded,
        /// The mode's bits.
        log_file_mode: u32,
        /// Their names.
        log_file_mode_names: Vec<String>,
        /// Flags that a system logger is enabled with.
        enable_flags: Option<u32>,
        /// Their names.
        enable_flag_names: Option<Vec<String>>,
        /// The eight masks of event groups, of which the first holds the flags.
        group_masks: Option<Vec<u32>>,
        /// Length of a timer tick in nanoseconds.
        timer_resolution_ns: u64,
        /// When the session started.
        start_time: Option<Time>,
        /// When the session started, in Unix nanoseconds.
        start_time_ns: Option<i64> => since 4,
        /// When it ended; `None` when it was never closed.
        end_time: Option<Time>,
        /// See [`SessionRow::end_time`]; Unix nanoseconds.
        end_time_ns: Option<i64> => since 4,
        /// When the system booted.
        boot_time: Option<Time>,
        /// When the system booted, in Unix nanoseconds.
        boot_time_ns: Option<i64> => since 4,
        /// The earliest event; in a ring not one of the header buffer.
        first_event_time: Option<Time>,
        /// The latest event.
        last_event_time: Option<Time>,
        /// The earliest event behind the header buffer.
        window_start_time: Option<Time>,
        /// Events that were not recorded.
        events_lost: Option<u32>,
        /// Buffers that could not be written.
        buffers_lost: Option<u32>,
        /// Not in a file.
        real_time_buffers_lost: NotRecorded,
        /// Why nobody can know what was lost.
        loss_unknown_because: Option<Cow<'static, str>>,
        /// Not in a file.
        logger_thread_id: NotRecorded,
        /// The number of the file in its series.
        file_series_number: Option<u32>,
        /// The process that a private session recorded.
        private_logger_pid: Option<u32>,
        /// Whether buffers are stored compressed.
        compressed: bool,
        /// Whether the end of the file is missing.
        truncated: bool,
        /// Whether newer buffers have overwritten the oldest; `None` where nobody can know.
        wrapped: Option<bool>,
        /// Whether a tool wrote the file from others.
        relogged: bool,
        /// Whether the file had no room for another buffer; `None` in a relogged file, whose limit is that of a source.
        reached_maximum_size: Option<bool>,
        /// Whether a process recorded its own events.
        private_logger: bool,
        /// Whether the session ended properly.
        closed: bool,
        /// The number of the input, as the rows of its events have it.
        input: u16,
        /// The machine: files of one number were recorded between one start of a system and the next, and ids of one number mean
        /// the same in them.
        machine: u16,
    }
}

impl SessionRow {
    /// Whether the input need not begin with its session: a ring that has wrapped, may have, or was in memory.
    pub fn is_window(&self) -> bool {
        self.wrapped != Some(false) || self.log_file_mode & mode::BUFFERING != 0
    }
}

/// The row of an input.
pub fn row(file: &FileSurvey, facts: &FileFacts) -> SessionRow {
    let (session, ledger) = (&file.session, &facts.ledger);
    let name = |name: &str| Some(name.to_owned()).filter(|name| !name.is_empty());
    let version = |(major, minor): (u8, u8)| format!("{major}.{minor}");
    let recorded_ns = |time: FileTime| (time.0 != 0).then(|| file.clock.system_time(time).0);
    let recorded = |time: FileTime| recorded_ns(time).map(Time);
    let enable_flags = file.group_masks.map(|[flags, ..]| flags);
    let (first, last) = facts.window.unzip();
    SessionRow {
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
        buffers_found: file.buffers.len() as u64,
        minimum_buffers: NotRecorded,
        maximum_buffers: NotRecorded,
        maximum_file_size: session.maximum_file_size,
        flush_timer_s: NotRecorded,
        age_limit_min: NotRecorded,
        log_file_mode: session.log_file_mode,
        log_file_mode_names: log_file_mode_names(session.log_file_mode),
        enable_flags,
        enable_flag_names: enable_flags.map(|flags| bit_names(flags, &ENABLE_FLAGS)),
        group_masks: file.group_masks.map(Vec::from),
        timer_resolution_ns: u64::from(session.timer_resolution) * 100,
        start_time: recorded(session.start_time),
        start_time_ns: recorded_ns(session.start_time),
        end_time: recorded(session.end_time),
        end_time_ns: recorded_ns(session.end_time),
        boot_time: recorded(session.boot_time),
        boot_time_ns: recorded_ns(session.boot_time),
        first_event_time: first.map(Time),
        last_event_time: last.map(Time),
        window_start_time: window_start(file),
        events_lost: ledger.events_lost,
        buffers_lost: ledger.buffers_lost,
        real_time_buffers_lost: NotRecorded,
        loss_unknown_because: ledger.unknown_because.map(Cow::Borrowed),
        logger_thread_id: NotRecorded,
        file_series_number: series_member(file).map(|member| member.number),
        private_logger_pid: private_logger_pid(file),
        compressed: file.is_compressed(),
        truncated: file.is_truncated() || file.missing_buffers() > 0,
        wrapped: has_wrapped(file),
        relogged: session.has_mode(mode::RELOG),
        reached_maximum_size: (!session.has_mode(mode::RELOG)).then(|| file.has_reached_maximum_size()),
        private_logger: session.has_mode(mode::PRIVATE_LOGGER),
        closed: session.is_closed(),
        input: facts.input,
        machine: facts.machine,
    }
}

/// Whether a ring has overwritten its oldest buffers; `None` where nobody knows.
fn has_wrapped(file: &FileSurvey) -> Option<bool> {
    match loss::overwritten(file) {
        Overwritten::None => Some(false),
        Overwritten::Buffers(_) => Some(true),
        Overwritten::AtMost(_) => None,
    }
}

/// The earliest event behind the header buffer.
fn window_start(file: &FileSurvey) -> Option<Time> {
    first_data_ticks(file.buffers.iter()).map(|ticks| Time(file.unix_ns(ticks)))
}
