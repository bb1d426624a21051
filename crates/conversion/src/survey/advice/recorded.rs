//! What a file records of how its session went, as far as advice needs it.

use base::error::Result;
use base::progress::{Progress, stop_if_cancelled};
use etl::layout::buffer::BUFFER_HEADER_LEN;
use etl::layout::logfile::mode;

use crate::survey::buffer_summary::BufferSummary;
use crate::survey::loss::{Ledger, LossKind};
use crate::survey::marked::{Notice, Notices};
use crate::survey::result::FileSurvey;
use crate::survey::streams::each_stream;

const SECOND_NS: u64 = 1_000_000_000;

/// How much was lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Lost {
    /// Nothing that the file describes.
    Nothing,
    /// So much.
    Counted(u64),
    /// Something, and the file does not say how much.
    Uncounted,
}

/// How a session went.
#[derive(Debug)]
pub(super) struct Recorded<'a> {
    /// The file.
    pub file: &'a FileSurvey,
    /// Events that the session itself could not record.
    pub events_lost: Lost,
    /// Buffers that could not be written.
    pub buffers_lost: Lost,
    /// Notices of a real-time consumer about what it missed.
    pub notices: u64,
    /// What went through the buffers.
    pub load: Load,
}

/// What went through the buffers behind the header buffer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Load {
    /// Buffers with events.
    pub buffers: u64,
    /// Their events.
    pub events: u64,
    /// Bytes of these.
    pub bytes: u64,
    /// Bytes in the fullest of them.
    pub fullest: u64,
    /// Buffers that are not the last of their stream.
    pub inner: u64,
    /// Those of them that were not half full.
    pub early: u64,
    /// From the first to the last event, in nanoseconds.
    pub span_ns: u64,
    /// The busiest second of a stream.
    pub busiest: Busiest,
}

/// The second in which a stream took the most bytes. Of a buffer that was filled in more than a second, it is the part
/// that fell into one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Busiest {
    /// The processor; `None` where all share the stream.
    pub cpu: Option<u16>,
    /// When it began, Unix nanoseconds.
    pub from_ns: i64,
    /// Bytes of events.
    pub bytes: u64,
    /// Events.
    pub events: u64,
}

impl<'a> Recorded<'a> {
    /// What a file and its ledger say; of its buffers [by stream](crate::survey::streams::by_stream) only where something
    /// was lost, since it takes a walk through all of them.
    ///
    /// # Errors
    /// [`ErrorKind::Interrupted`](base::error::ErrorKind::Interrupted) when the caller asked to stop.
    pub(super) fn of(
        file: &'a FileSurvey,
        ledger: &Ledger,
        buffers: &[&BufferSummary],
        progress: &dyn Progress,
    ) -> Result<Self> {
        let has = |kind| ledger.rows.iter().any(|row| row.kind == kind && row.is_known_loss());
        let all = file.notices.of_buffers.iter().chain(file.notices.rest.values());
        let (errors, notices): (Vec<&Notices>, Vec<&Notices>) =
            all.partition(|notices| notices.notice == Notice::Error);
        let is_dropped = has(LossKind::BufferFlagEventsLost) || has(LossKind::LastDroppedTime) || !errors.is_empty();
        let mut recorded = Recorded {
            file,
            events_lost: lost(ledger.events_lost, is_dropped),
            buffers_lost: lost(ledger.buffers_lost, has(LossKind::BufferFlagBufferLost)),
            notices: notices.iter().map(|notices| notices.count).fold(0, u64::saturating_add),
            load: Load::default(),
        };
        if recorded.events_lost != Lost::Nothing {
            recorded.load = Load::of(file, buffers, progress)?;
        }
        Ok(recorded)
    }

    /// Bytes of events that a buffer has room for.
    pub(super) fn capacity(&self) -> u64 {
        u64::from(self.file.session.buffer_size.saturating_sub(BUFFER_HEADER_LEN))
    }

    /// Whether no buffer was three quarters full, so that there likely was room.
    pub(super) fn had_room(&self) -> bool {
        u128::from(self.load.fullest) * 4 < u128::from(self.capacity()) * 3
    }

    /// Whether a tool wrote the file from others: buffers and header are not those of the session then.
    pub(super) fn is_relogged(&self) -> bool {
        self.file.session.has_mode(mode::RELOG)
    }

    /// Whether the session recorded the kernel's own events.
    pub(super) fn is_of_kernel(&self) -> bool {
        let masks = self.file.group_masks;
        self.file.session.has_mode(mode::SYSTEM_LOGGER)
            || masks.is_some_and(|masks| masks.iter().any(|&mask| mask != 0))
    }
}

fn lost(counter: Option<u32>, is_sure: bool) -> Lost {
    match counter {
        Some(count @ 1..) => Lost::Counted(count.into()),
        _ if is_sure => Lost::Uncounted,
        _ => Lost::Nothing,
    }
}

impl Load {
    fn of(file: &FileSurvey, buffers: &[&BufferSummary], progress: &dyn Progress) -> Result<Load> {
        let half = u64::from(file.session.buffer_size.saturating_sub(BUFFER_HEADER_LEN)) / 2;
        let mut load = Load::default();
        let mut span: Option<(i64, i64)> = None;
        for stream in each_stream(file, buffers) {
            let mut before: Option<&BufferSummary> = None;
            for buffer in stream.iter().filter(|buffer| buffer.is_data()) {
                stop_if_cancelled(progress)?;
                load.add(buffer);
                let (first, last) = span.unwrap_or((buffer.first_ticks, buffer.last_ticks));
                span = Some((first.min(buffer.first_ticks), last.max(buffer.last_ticks)));
                if let Some(before) = before.replace(buffer) {
                    load.inner += 1;
                    load.early += u64::from(u64::from(before.content_bytes) < half);
                }
            }
            let busiest = busiest(file, stream, progress)?;
            if busiest.bytes > load.busiest.bytes {
                load.busiest = busiest;
            }
        }
        load.span_ns = span.map_or(0, |(first, last)| ns_between(file, first, last));
        Ok(load)
    }

    fn add(&mut self, buffer: &BufferSummary) {
        self.buffers += 1;
        self.events += u64::from(buffer.events);
        self.bytes += u64::from(buffer.content_bytes);
        self.fullest = self.fullest.max(buffer.content_bytes.into());
    }

    /// Bytes a second on the average; 0 in less than a second.
    pub(super) fn bytes_a_second(&self) -> u64 {
        if self.span_ns < SECOND_NS { 0 } else { part(self.bytes, SECOND_NS, self.span_ns) }
    }

    /// What so many events take at the size of those that were recorded.
    pub(super) fn bytes_of(&self, events: u64) -> u64 {
        part(events, self.bytes, self.events)
    }
}

/// `value * numerator / denominator`; 0 where that is nothing.
fn part(value: u64, numerator: u64, denominator: u64) -> u64 {
    let product = u128::from(value) * u128::from(numerator);
    product.checked_div(denominator.into()).map_or(0, |part| u64::try_from(part).unwrap_or(u64::MAX))
}

/// From one time to a later one; 0 to an earlier one.
fn ns_between(file: &FileSurvey, first: i64, last: i64) -> u64 {
    u64::try_from(file.unix_ns(last).saturating_sub(file.unix_ns(first))).unwrap_or(0)
}

/// The busiest second of a stream: each buffer is the last of a window that is a second long at most, or has one buffer.
fn busiest(file: &FileSurvey, buffers: &[&BufferSummary], progress: &dyn Progress) -> Result<Busiest> {
    let mut busiest = Busiest::default();
    let (mut start, mut bytes, mut events) = (0, 0_u64, 0_u64);
    for (end, last) in buffers.iter().enumerate().filter(|(_, buffer)| buffer.is_data()) {
        stop_if_cancelled(progress)?;
        bytes += u64::from(last.content_bytes);
        events += u64::from(last.events);
        while start < end {
            let first = buffers[start];
            if first.is_data() {
                if ns_between(file, first.first_ticks, last.last_ticks) <= SECOND_NS {
                    break;
                }
                bytes -= u64::from(first.content_bytes);
                events -= u64::from(first.events);
            }
            start += 1;
        }
        let (first, span) = (buffers[start], ns_between(file, buffers[start].first_ticks, last.last_ticks));
        let of_second = |amount| if span > SECOND_NS { part(amount, SECOND_NS, span) } else { amount };
        if of_second(bytes) > busiest.bytes {
            let (cpu, from_ns) = (file.cpu(first), file.unix_ns(first.first_ticks));
            busiest = Busiest { cpu, from_ns, bytes: of_second(bytes), events: of_second(events).max(1) };
        }
    }
    Ok(busiest)
}
