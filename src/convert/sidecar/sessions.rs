//! `sessions`: one row per input file, what its header event says of the session.

use super::SidecarFacts;
use super::table::Table;
use crate::buffer::chain::Frame;
use crate::clock::{FileTime, Ticks};
use crate::dataset::{EncodeOptions, FileEntry, Staging};
use crate::error::Result;
use crate::event::Event;
use crate::layout::logfile::{ENABLE_FLAGS, LOG_FILE_MODES, bit_names, mode};
use crate::survey::{FileSurvey, Interest, OrderKey, Session, loss, recall};

struct Row<'a> {
    file: &'a FileSurvey,
    session: &'a Session,
    masks: Option<Vec<u32>>,
}

pub(super) fn write(staging: &Staging, facts: &SidecarFacts<'_>, encode: &EncodeOptions) -> Result<Vec<FileEntry>> {
    let row = |file| Ok(Row { file, session: &file.session, masks: group_masks(file)? });
    let rows: Vec<Row<'_>> = facts.files.iter().map(row).collect::<Result<_>>()?;
    table().write(staging, encode, rows.into_iter())
}

fn table<'a>() -> Table<Row<'a>> {
    Table::<Row<'a>>::new("sessions")
        .text("source", |row| Some(&row.file.name))
        .count("size", |row| Some(row.file.source.len()))
        .text("blake3", |row| row.file.blake3.as_deref())
        .text("logger_name", |row| Some(&row.session.logger_name))
        .text("log_file_name", |row| Some(&row.session.log_file_name))
        .made_text("os_version", |row| Some(format!("{}.{}", row.session.os_version.0, row.session.os_version.1)))
        .uint32("os_build", |row| Some(row.session.os_build))
        .uint32("pointer_size", |row| Some(row.session.pointer_size))
        .uint32("cpu_count", |row| Some(row.session.cpu_count))
        .uint32("buffer_size", |row| Some(row.session.buffer_size))
        .uint32("start_buffers", |row| Some(row.session.start_buffers))
        .uint32("buffers_written", |row| Some(row.session.buffers_written))
        .count("buffers_found", |row| Some(row.file.buffers.len() as u64))
        .never("minimum_buffers")
        .never("maximum_buffers")
        .count("maximum_file_size", |row| Some(row.session.maximum_file_size))
        .never("flush_timer_s")
        .never("age_limit_min")
        .uint32("log_file_mode", |row| Some(row.session.log_file_mode))
        .texts("log_file_mode_names", |row| Some(bit_names(row.session.log_file_mode, &LOG_FILE_MODES)))
        .uint32("enable_flags", Row::enable_flags)
        .texts("enable_flag_names", |row| Some(bit_names(row.enable_flags()?, &ENABLE_FLAGS)))
        .uint32s("group_masks", |row| row.masks.clone())
        .count("timer_resolution_ns", |row| Some(u64::from(row.session.timer_resolution) * 100))
        .time("start_time", |row| recorded(row.session.start_time))
        .time("end_time", |row| recorded(row.session.end_time))
        .time("boot_time", |row| recorded(row.session.boot_time))
        .time("first_event_time", |row| row.event_times().map(|times| times.0))
        .time("last_event_time", |row| row.event_times().map(|times| times.1))
        .uint32("events_lost", |row| row.session.is_closed().then_some(row.session.events_lost))
        .uint32("buffers_lost", |row| row.session.is_closed().then_some(row.session.buffers_lost))
        .never("real_time_buffers_lost")
        .never("logger_thread_id")
        .uint32("file_series_number", |row| from_file_name(row, series_number))
        .uint32("private_logger_pid", |row| from_file_name(row, private_logger_pid))
        .bool("compressed", |row| Some(row.is_compressed()))
        .bool("truncated", |row| Some(row.file.is_truncated() || loss::missing_at_end(row.file) > 0))
        .bool("wrapped", |row| Some(loss::overwritten_buffers(row.file) > 0))
        .bool("relogged", |row| Some(row.session.has_mode(mode::RELOG)))
        .bool("private_logger", |row| Some(row.session.has_mode(mode::PRIVATE_LOGGER)))
        .bool("closed", |row| Some(row.session.is_closed()))
}

impl Row<'_> {
    /// The first mask is that of the flags a system logger is enabled with.
    fn enable_flags(&self) -> Option<u32> {
        self.masks.as_ref()?.first().copied()
    }

    /// Earliest and latest event, Unix nanoseconds.
    fn event_times(&self) -> Option<(i64, i64)> {
        let filled = || self.file.buffers.iter().filter(|buffer| buffer.events > 0);
        let first = filled().map(|buffer| buffer.first_ticks).min()?;
        let last = filled().map(|buffer| buffer.last_ticks).max()?;
        let ns = |ticks| self.file.clock.to_unix(Ticks(ticks)).0;
        Some((ns(first), ns(last)))
    }

    fn is_compressed(&self) -> bool {
        self.session.has_mode(mode::COMPRESSED) || self.frames().any(Frame::is_compressed)
    }

    fn frames(&self) -> impl Iterator<Item = &Frame> {
        self.file.buffers.iter().map(|buffer| &buffer.frame)
    }
}

/// A time of the header event; 0 is none.
fn recorded(time: FileTime) -> Option<i64> {
    (time.0 != 0).then(|| time.to_unix().0)
}

/// The eight masks of the first event that holds them: hook 0005, or 0020 at the end of a session.
fn group_masks(file: &FileSurvey) -> Result<Option<Vec<u32>>> {
    let told = file.memorable.iter().filter(|memorable| memorable.interest == Interest::Session);
    let first: Vec<OrderKey> = told.map(|memorable| memorable.at).take(1).collect();
    let context = file.session.context();
    let mut masks = None;
    recall(file, &first, |_, event| {
        let payload = Event::of(event, &context).payload;
        let words = payload.first_chunk::<32>().map(|masks| masks.as_chunks::<4>().0.iter());
        masks = words.map(|words| words.map(|&word| u32::from_le_bytes(word)).collect());
    })?;
    Ok(masks)
}

/// What the session's own name for its file says, else what the file is called now.
fn from_file_name(row: &Row<'_>, parse: fn(&Session, &str) -> Option<u32>) -> Option<u32> {
    [&row.session.log_file_name, &row.file.name]
        .into_iter()
        .find_map(|path| parse(row.session, path.rsplit(['\\', '/']).next()?))
}

/// One of a series of files ends in its number: `name7.etl`.
fn series_number(session: &Session, name: &str) -> Option<u32> {
    let stem = name.rsplit_once('.').map_or(name, |(stem, _)| stem);
    session.has_mode(mode::NEWFILE).then(|| trailing_number(stem))?
}

/// The file of a private session ends in the process id, `name.etl_1234`, but for those with one file for all.
fn private_logger_pid(session: &Session, name: &str) -> Option<u32> {
    let is_named = session.has_mode(mode::PRIVATE_LOGGER) && !session.has_mode(mode::PRIVATE_IN_PROC);
    let (_, pid) = name.rsplit_once('_').filter(|_| is_named)?;
    let pid = pid.strip_suffix(".etl").unwrap_or(pid);
    // Not `parse` alone, which takes a sign.
    pid.bytes().all(|byte| byte.is_ascii_digit()).then(|| pid.parse().ok())?
}

fn trailing_number(text: &str) -> Option<u32> {
    let digits = text.trim_end_matches(|c: char| c.is_ascii_digit()).len();
    text.get(digits..)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::trailing_number;

    #[test]
    fn numbers_stand_at_the_end() {
        for (text, number) in
            [("output1", Some(1)), ("a.20251008.8", Some(8)), ("7", Some(7)), ("name", None), ("", None)]
        {
            assert_eq!(trailing_number(text), number, "{text}");
        }
        assert_eq!(trailing_number("a99999999999"), None, "more than 32 bits");
    }
}
