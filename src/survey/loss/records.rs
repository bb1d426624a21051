//! Events that tell of a loss.

use std::collections::BTreeMap;

use super::{LossRow, Window};
use crate::error::Result;
use crate::event::{Event, FileContext, Identity, RawEvent};
use crate::layout::buffer::MAX_PROCESSORS;
use crate::layout::header::HeaderKind;
use crate::survey::file::FileSurvey;
use crate::survey::recall;
use crate::survey::record::BufferRecord;
use crate::survey::tally::{Interest, OrderKey};

/// What a record tells of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Notice {
    /// A real-time consumer missed events.
    Events,
    /// A real-time consumer missed buffers.
    Buffers,
    /// The file that backs a real-time session lost something.
    BackingFile,
    /// A loss notice of an unknown kind.
    Unknown,
    /// An event could not be logged.
    Error,
}

impl Notice {
    fn of(identity: &Identity) -> Notice {
        // Windows gives these numbers as opcodes; an event header also has an id to put them in.
        let numbers = [u16::from(identity.opcode), identity.id];
        match identity.kind {
            HeaderKind::Error => Notice::Error,
            _ if numbers.contains(&32) => Notice::Events,
            _ if numbers.contains(&33) => Notice::Buffers,
            _ if numbers.contains(&34) => Notice::BackingFile,
            _ => Notice::Unknown,
        }
    }
}

/// Records of one kind in one buffer.
#[derive(Clone, Copy, Debug)]
pub(super) struct Notices {
    count: u64,
    first_ticks: i64,
    last_ticks: i64,
}

/// All records of a file that tell of a loss.
#[derive(Debug, Default)]
pub(super) struct Records {
    /// By number of the buffer in file order.
    notices: BTreeMap<(u64, Notice), Notices>,
    /// Per processor when its last event was dropped, in ticks.
    dropped: BTreeMap<u16, i64>,
}

impl Records {
    pub(super) fn read(file: &FileSurvey) -> Result<Records> {
        let told = file.memorable.iter().filter(|memorable| memorable.interest == Interest::Loss);
        let keys: Vec<OrderKey> = told.map(|memorable| memorable.at).collect();
        let context = file.session.context();
        let mut records = Records::default();
        recall(file, &keys, |index, event| {
            let identity = Identity::of(event, &context);
            if identity.kind.is_hook() {
                records.add_dropped_times(event, context);
            } else {
                records.add_notice(Notice::of(&identity), &keys[index]);
            }
        })?;
        Ok(records)
    }

    fn add_notice(&mut self, notice: Notice, at: &OrderKey) {
        let new = Notices { count: 0, first_ticks: at.ticks, last_ticks: at.ticks };
        let notices = self.notices.entry((at.ordinal, notice)).or_insert(new);
        notices.count += 1;
        notices.first_ticks = notices.first_ticks.min(at.ticks);
        notices.last_ticks = notices.last_ticks.max(at.ticks);
    }

    /// `LastDroppedTimes`: a count, four bytes of padding, then a raw time for each processor, 0 for none. A merged
    /// file may hold several; the latest time of a processor is its last.
    fn add_dropped_times(&mut self, event: &RawEvent<'_>, context: FileContext) {
        let payload = Event::of(event, &context).payload;
        let Some((head, times)) = payload.split_first_chunk::<8>() else { return };
        let [a, b, c, d, ..] = *head;
        let count = u32::from_le_bytes([a, b, c, d]) as usize;
        let times = times.as_chunks::<8>().0.iter().map(|&time| i64::from_le_bytes(time));
        for (cpu, ticks) in (0..MAX_PROCESSORS).zip(times.take(count)).filter(|(_, ticks)| *ticks != 0) {
            let last = self.dropped.entry(cpu).or_insert(ticks);
            *last = ticks.max(*last);
        }
    }

    /// Whether a buffer holds a notice.
    pub(super) fn has_notice(&self, ordinal: u64) -> bool {
        self.of_buffer(ordinal).next().is_some()
    }

    fn of_buffer(&self, ordinal: u64) -> impl Iterator<Item = (Notice, &Notices)> {
        let range = (ordinal, Notice::Events)..=(ordinal, Notice::Error);
        self.notices.range(range).map(|((_, notice), notices)| (*notice, notices))
    }

    /// The rows of one buffer's notices; `before` is the buffer with events before it in its stream.
    pub(super) fn rows(
        &self,
        session: &Window<'_>,
        buffer: &BufferRecord,
        before: Option<&BufferRecord>,
    ) -> Vec<LossRow> {
        let row = |(notice, notices): (Notice, &Notices)| notice_row(session, buffer, before, notice, notices);
        self.of_buffer(buffer.frame.ordinal).map(row).collect()
    }
}

/// A notice stands in front of the events that follow the loss. An event that could not be logged is an instant.
fn notice_row(
    session: &Window<'_>,
    buffer: &BufferRecord,
    before: Option<&BufferRecord>,
    notice: Notice,
    notices: &Notices,
) -> LossRow {
    let (unit, what, note) = match notice {
        Notice::Events => ("events", "RT_LostEvent with opcode 32", "a real-time consumer missed events"),
        Notice::Buffers => ("buffers", "RT_LostEvent with opcode 33", "a real-time consumer missed buffers"),
        Notice::BackingFile => ("events", "RT_LostEvent with opcode 34", "the real-time backing file lost events"),
        Notice::Unknown => ("events", "RT_LostEvent with an unknown opcode", ""),
        Notice::Error => ("events", "header of type ERROR", "events that could not be logged"),
    };
    let is_error = notice == Notice::Error;
    let from_ns = if is_error { session.ns(notices.first_ticks) } else { session.end_of(before) };
    let from_buffer = if is_error { Some(buffer) } else { before };
    LossRow {
        cpu: session.file.cpu(buffer),
        from_buffer: from_buffer.map(|buffer| buffer.frame.ordinal),
        to_buffer: Some(buffer.frame.ordinal),
        count: is_error.then_some(notices.count),
        is_certain: true,
        note,
        ..LossRow::new("lost_event_record", unit, format!("{what}, {} in this buffer", notices.count))
    }
    .between(Some(from_ns), Some(session.ns(notices.last_ticks)))
}

/// When each processor dropped its last event: an instant, and the buffers around it.
pub(super) fn dropped(session: &Window<'_>, streams: &[&BufferRecord], records: &Records) -> Vec<LossRow> {
    if records.dropped.is_empty() {
        return Vec::new();
    }
    let ground = session.file.ground();
    let filled: Vec<_> = streams.iter().copied().filter(|b| b.events > 0).collect();
    let row = |(&cpu, &ticks): (&u16, &i64)| {
        let stream = if ground.one_stream { 0 } else { cpu };
        let start = filled.partition_point(|buffer| ground.stream(&buffer.frame) < stream);
        let end = filled.partition_point(|buffer| ground.stream(&buffer.frame) <= stream);
        let buffers = filled.get(start..end).unwrap_or_default();
        let begun = buffers.partition_point(|buffer| buffer.first_ticks <= ticks);
        let ended = buffers.partition_point(|buffer| buffer.last_ticks < ticks);
        let ordinal = |buffer: &&BufferRecord| buffer.frame.ordinal;
        LossRow {
            cpu: (!ground.one_stream).then_some(cpu),
            from_buffer: begun.checked_sub(1).and_then(|last| buffers.get(last)).map(ordinal),
            to_buffer: buffers.get(ended).map(ordinal),
            is_certain: true,
            note: "the last event that was dropped; when others were is not recorded",
            ..LossRow::new("last_dropped_time", "events", "LastDroppedTimes")
        }
        .between(Some(session.ns(ticks)), Some(session.ns(ticks)))
    };
    records.dropped.iter().map(row).collect()
}
