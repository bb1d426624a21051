//! The rules: one for each advice, what it asks of a recording and what it says.
//!
//! docs/advice.md describes each with its source.

use base::calendar::rfc3339;
use base::error::Result;
use base::progress::Progress;
use etl::layout::logfile::mode;

use super::recorded::{Lost, Recorded};
use super::words::{bytes, counted, percent, times};
use crate::survey::buffer_summary::BufferSummary;
use crate::survey::issue::{Issue, Severity};
use crate::survey::issue_code::IssueCode;
use crate::survey::loss::Ledger;
use crate::survey::result::FileSurvey;

/// An advice, and the text of it for a recording to which it applies.
type Rule = (IssueCode, fn(&Recorded<'_>) -> Option<String>);

/// All rules, in the order in which they are listed.
const RULES: [Rule; 11] = [
    (IssueCode::AdviceMoreBuffers, more_buffers),
    (IssueCode::AdviceMinimumBuffers, minimum_buffers),
    (IssueCode::AdvicePerProcessorBuffers, per_processor_buffers),
    (IssueCode::AdviceFlushTimer, flush_timer),
    (IssueCode::AdviceWriteRate, write_rate),
    (IssueCode::AdviceEventSize, event_size),
    (IssueCode::AdviceDiskSpace, disk_space),
    (IssueCode::AdviceMaximumFileSize, maximum_file_size),
    (IssueCode::AdviceRealTimeConsumer, real_time_consumer),
    (IssueCode::AdviceSessionStop, session_stop),
    (IssueCode::AdviceMergedSources, merged_sources),
];

/// No event is larger, whatever the buffers.
const LARGEST_EVENT: u32 = 64 << 10;

/// Fewer buffers say nothing of how full they usually are.
const ENOUGH_BUFFERS: u64 = 8;

/// A rate that not every disk takes, in bytes a second.
const HIGH_RATE: u64 = 8 << 20;

/// The advice on a file, of its ledger and its buffers [by stream](crate::survey::streams::by_stream).
///
/// # Errors
/// [`ErrorKind::Interrupted`](base::error::ErrorKind::Interrupted) when the caller asked to stop.
pub(in crate::survey) fn advice(
    file: &FileSurvey,
    ledger: &Ledger,
    buffers: &[&BufferSummary],
    progress: &dyn Progress,
) -> Result<Vec<Issue>> {
    let recorded = Recorded::of(file, ledger, buffers, progress)?;
    let advice = |(code, text): &Rule| Some(Issue::new(Severity::Advice, *code, text(&recorded)?));
    Ok(RULES.iter().filter_map(advice).collect())
}

/// The events that the session lost, in words; `None` where it lost none, or where the file is not its own.
fn lost_events(recorded: &Recorded<'_>) -> Option<String> {
    // Each file of a series has the counter, which may be that of the series.
    let of_series = if recorded.file.session.has_mode(mode::NEWFILE) { " in this file or in its series" } else { "" };
    match recorded.events_lost {
        _ if recorded.is_relogged() => None,
        Lost::Nothing => None,
        Lost::Counted(1) => Some(format!("1 event was lost{of_series}")),
        Lost::Counted(count) => Some(format!("{count} events were lost{of_series}")),
        Lost::Uncounted => Some("Events were lost, and the file does not say how many".to_owned()),
    }
}

/// The same, where buffers were full.
fn lost_in_full_buffers(recorded: &Recorded<'_>) -> Option<String> {
    lost_events(recorded).filter(|_| !recorded.had_room())
}

fn more_buffers(recorded: &Recorded<'_>) -> Option<String> {
    let lost = lost_in_full_buffers(recorded)?;
    let (busiest, capacity) = (recorded.load.busiest, recorded.capacity());
    // Of what was not recorded nobody knows the rate.
    let likely = if busiest.bytes >= capacity { "likely" } else { "possibly" };
    let who = busiest.cpu.map_or("the session".to_owned(), |cpu| format!("processor {cpu}"));
    Some(format!(
        "{lost}, {likely} because all buffers were full. In its busiest second, from {}, {who} recorded {} of {}, {} buffers \
         of {}. {}More buffers (MaximumBuffers) or larger ones (BufferSize) would {likely} have prevented it",
        rfc3339(busiest.from_ns),
        counted(busiest.events, "event"),
        bytes(busiest.bytes),
        times(busiest.bytes, capacity),
        bytes(recorded.file.session.buffer_size.into()),
        room_wanted(recorded)
    ))
}

/// How much room the lost events take, if they are like those that were recorded.
fn room_wanted(recorded: &Recorded<'_>) -> String {
    let Lost::Counted(count) = recorded.events_lost else { return String::new() };
    let (each, all) = (recorded.load.bytes_of(1), recorded.load.bytes_of(count));
    let more = counted(all.div_ceil(recorded.capacity().max(1)).max(1), "more buffer");
    format!("At {} an event, those lost take {}: room for {more} at least. ", bytes(each), bytes(all))
}

fn minimum_buffers(recorded: &Recorded<'_>) -> Option<String> {
    lost_in_full_buffers(recorded).filter(|_| recorded.is_of_kernel())?;
    let text = "The session recorded events of the kernel, some of which are logged where no further buffer can be \
                allocated: MinimumBuffers, which are there from the start, should be raised with MaximumBuffers";
    Some(text.to_owned())
}

fn per_processor_buffers(recorded: &Recorded<'_>) -> Option<String> {
    lost_in_full_buffers(recorded).filter(|_| recorded.file.session.has_one_stream())?;
    let text = "All processors share the buffers of the session (EVENT_TRACE_NO_PER_PROCESSOR_BUFFERING), and there may be \
                as few as two of them. Without this mode there are at least two for each processor";
    Some(text.to_owned())
}

fn flush_timer(recorded: &Recorded<'_>) -> Option<String> {
    lost_in_full_buffers(recorded)?;
    let (early, inner) = (recorded.load.early, recorded.load.inner);
    (inner >= ENOUGH_BUFFERS && early.saturating_mul(2) > inner).then(|| {
        format!(
            "{early} of {inner} buffers were written before they were half full, likely by a FlushTimer. What is written \
             so is missing from the pool: a longer FlushTimer, or 0 in a session that logs to a file, leaves more room"
        )
    })
}

fn write_rate(recorded: &Recorded<'_>) -> Option<String> {
    lost_in_full_buffers(recorded)?;
    let rate = recorded.load.bytes_a_second();
    (rate >= HIGH_RATE).then(|| {
        format!(
            "The session recorded {} a second on the average, for {} seconds. Where the disk does not take that much, more \
             buffers only delay the loss: a faster disk, one that nothing else writes to, or fewer events (keywords, levels, \
             providers) would prevent it",
            bytes(rate),
            recorded.load.span_ns / 1_000_000_000
        )
    })
}

fn event_size(recorded: &Recorded<'_>) -> Option<String> {
    let lost = lost_events(recorded)?;
    let (size, capacity) = (recorded.file.session.buffer_size, recorded.capacity());
    let larger = format!(
        "An event that is larger than a buffer is never recorded, and buffers here have room for {capacity} bytes"
    );
    let filled = percent(recorded.load.fullest, capacity);
    let had_room = format!("{lost}, likely not for want of buffers: the fullest one was filled to {filled} %");
    match (recorded.had_room(), size < LARGEST_EVENT) {
        (true, true) => {
            Some(format!("{had_room}. {larger}: a BufferSize of 64 KB or more would likely have prevented it"))
        }
        (true, false) => Some(format!(
            "{had_room}. An event of more than 64 KB is never recorded, whatever the settings: likely the provider would have \
             to write smaller ones"
        )),
        (false, true) => Some(format!(
            "{larger}. If one of those lost was larger, a BufferSize of 64 KB or more would have prevented it"
        )),
        (false, false) => None,
    }
}

fn disk_space(recorded: &Recorded<'_>) -> Option<String> {
    let session = &recorded.file.session;
    let lost = match recorded.buffers_lost {
        _ if recorded.is_relogged() => return None,
        Lost::Nothing => return None,
        Lost::Uncounted => "Buffers were lost, and the file does not say how many".to_owned(),
        Lost::Counted(count) => {
            let all = bytes(count.saturating_mul(session.buffer_size.into()));
            format!("{} could not be written, {all} at most", counted(count, "buffer"))
        }
    };
    let limit = match session.maximum_file_size {
        0 => "MaximumFileSize is 0, no limit".to_owned(),
        most => format!("MaximumFileSize is {}", bytes(most)),
    };
    Some(format!(
        "{lost}: likely the disk was full, or failed. {limit}; more space, or a MaximumFileSize that fits into it with the mode \
         EVENT_TRACE_FILE_MODE_CIRCULAR, which keeps the latest, would likely have prevented it"
    ))
}

fn maximum_file_size(recorded: &Recorded<'_>) -> Option<String> {
    let goes_on = mode::CIRCULAR | mode::NEWFILE | mode::BUFFERING | mode::RELOG;
    let session = &recorded.file.session;
    (recorded.file.has_reached_maximum_size() && !session.has_mode(goes_on)).then(|| {
        format!(
            "The file has reached its MaximumFileSize of {}, where a sequential file ends: what came later was likely not \
             recorded. A larger one, 0 (no limit), EVENT_TRACE_FILE_MODE_CIRCULAR, which keeps the latest, or \
             EVENT_TRACE_FILE_MODE_NEWFILE, which goes on in another file, would have kept it",
            bytes(session.maximum_file_size)
        )
    })
}

fn real_time_consumer(recorded: &Recorded<'_>) -> Option<String> {
    (recorded.notices > 0).then(|| {
        format!(
            "A consumer of the session missed events ({} of RT_LostEvent): likely it took them more slowly than they came, or \
             not at all for a time. A consumer that only sets events aside, more or larger buffers, or a session that logs to \
             a file would likely have prevented it",
            counted(recorded.notices, "notice")
        )
    })
}

fn session_stop(recorded: &Recorded<'_>) -> Option<String> {
    let session = &recorded.file.session;
    (!session.is_closed() && !recorded.is_relogged()).then(|| {
        "The session was never closed: what it lost is unknown, and what was in its buffers is likely missing. A session that \
         is stopped before its file is taken (ControlTrace, logman stop, wpr -stop) writes both; a FlushTimer bounds what a \
         crash takes"
            .to_owned()
    })
}

fn merged_sources(recorded: &Recorded<'_>) -> Option<String> {
    (recorded.is_relogged() && recorded.file.session.is_closed()).then(|| {
        "A merged file does not say what its sources lost. Where they are kept, their headers do: --merge makes one trace of \
         them and keeps the ledger of each"
            .to_owned()
    })
}
