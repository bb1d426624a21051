//! `sessions`: one row per input file, what its header event says of the session.

use super::SidecarFacts;
use super::table::Table;
use crate::dataset::EncodeOptions;
use crate::error::Result;
use crate::output::{FileEntry, LocalFolder};
use crate::survey::facts::SessionFacts;

pub(super) fn write(staging: &LocalFolder, facts: &SidecarFacts<'_>, encode: &EncodeOptions) -> Result<Vec<FileEntry>> {
    table().write(staging, encode, facts.facts.iter().map(|file| &file.session))
}

pub(super) fn table<'a>() -> Table<&'a SessionFacts> {
    Table::<&SessionFacts>::new("sessions")
        .text("source", |row| Some(&row.source))
        .count("size", |row| Some(row.size))
        .text("blake3", |row| row.blake3.as_deref())
        .text("logger_name", |row| row.logger_name.as_deref())
        .text("logger_name_folded", |row| row.logger_name_folded.as_deref())
        .text("log_file_name", |row| row.log_file_name.as_deref())
        .text("os_version", |row| Some(&row.os_version))
        .uint32("os_build", |row| Some(row.os_build))
        .text("layout_version", |row| Some(&row.layout_version))
        .uint32("pointer_size", |row| Some(row.pointer_size))
        .uint32("cpu_count", |row| Some(row.cpu_count))
        .uint32("buffer_size", |row| Some(row.buffer_size))
        .uint32("start_buffers", |row| Some(row.start_buffers))
        .uint32("buffers_written", |row| Some(row.buffers_written))
        .count("buffers_found", |row| Some(row.buffers_found))
        .never("minimum_buffers")
        .never("maximum_buffers")
        .count("maximum_file_size", |row| Some(row.maximum_file_size))
        .never("flush_timer_s")
        .never("age_limit_min")
        .uint32("log_file_mode", |row| Some(row.log_file_mode))
        .texts("log_file_mode_names", |row| Some(row.log_file_mode_names.clone()))
        .uint32("enable_flags", |row| row.enable_flags)
        .texts("enable_flag_names", |row| row.enable_flag_names.clone())
        .uint32s("group_masks", |row| row.group_masks.clone())
        .count("timer_resolution_ns", |row| Some(row.timer_resolution_ns))
        .time("start_time", |row| row.start_ns)
        .time("end_time", |row| row.end_ns)
        .time("boot_time", |row| row.boot_ns)
        .time("first_event_time", |row| row.first_event_ns)
        .time("last_event_time", |row| row.last_event_ns)
        .time("window_start_time", |row| row.window_start_ns)
        .uint32("events_lost", |row| row.events_lost)
        .uint32("buffers_lost", |row| row.buffers_lost)
        .never("real_time_buffers_lost")
        .text("loss_unknown_because", |row| row.loss_unknown_because)
        .never("logger_thread_id")
        .uint32("file_series_number", |row| row.file_series_number)
        .uint32("private_logger_pid", |row| row.private_logger_pid)
        .bool("compressed", |row| Some(row.compressed))
        .bool("truncated", |row| Some(row.truncated))
        .bool("wrapped", |row| row.wrapped)
        .bool("relogged", |row| Some(row.relogged))
        .bool("reached_maximum_size", |row| row.reached_maximum_size)
        .bool("private_logger", |row| Some(row.private_logger))
        .bool("closed", |row| Some(row.closed))
}
