//! Events that the survey remembers, so that they can be read again, and loss notices, of which it keeps counts.
//!
//! All of it is bounded: of each kind of event the first in the file are remembered, and the others counted.

use std::collections::BTreeMap;
use std::ops::Range;

use etl::event::subject::{self, Subject};
use etl::event::{EventIdentity, stack};
use etl::layout::header::HeaderFamily;
use etl::layout::kernel;
use schema::eventsource;
use serde::{Deserialize, Serialize};

use super::file_key::FileKey;
use super::issue::{Issue, Severity};
use super::issue_code::IssueCode;

/// Why the survey remembers each event of a shape.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Mark {
    /// It does not.
    None,
    /// The event describes the session: one of the trace's own header events.
    Session,
    /// The event describes the payload of others.
    Schema,
    /// The event says when each processor dropped its last event.
    Dropped,
    /// The event shows what an id of others means. Its buffer is remembered, not the event: there may be millions.
    Subject(Subject),
    /// The event describes the stack of another. Its buffer is remembered, not the event.
    Stack,
    /// The event says that something was lost, and nothing but its place and number matters.
    Notice(Notice),
}

/// What a loss notice describes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Notice {
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

/// An event that the survey remembers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct MarkedEvent {
    /// Why.
    pub mark: Mark,
    /// Where.
    pub at: FileKey,
}

/// Loss notices of one kind in one buffer, or in several of which nothing else is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Notices {
    /// What they describe.
    pub notice: Notice,
    /// Number of the first buffer in file order.
    pub first_buffer: u64,
    /// Number of the last.
    pub last_buffer: u64,
    /// How many there are.
    pub count: u64,
    /// Smallest time in ticks.
    pub first_ticks: i64,
    /// Largest time in ticks.
    pub last_ticks: i64,
}

impl Mark {
    /// Why an event of this identity is worth remembering.
    pub fn of(identity: &EventIdentity) -> Mark {
        use kernel::{GROUP_EVENT_TRACE, event_trace as header};
        match identity.family {
            HeaderFamily::Error => Mark::Notice(Notice::Error),
            family if family.is_kernel() && identity.group == GROUP_EVENT_TRACE => match identity.opcode {
                header::EXTENSION | header::END_EXTENSION => Mark::Session,
                header::LAST_DROPPED_TIMES => Mark::Dropped,
                _ => Mark::None,
            },
            family if family.is_classic() && identity.provider == kernel::EVENT_METADATA_CLASS => Mark::Schema,
            family if (family.is_classic() || family.is_event()) && identity.provider == kernel::LOST_EVENT_CLASS => {
                Mark::Notice(Notice::of(identity))
            }
            family if family.is_event() && identity.id == eventsource::EVENT_ID => Mark::Schema,
            _ => match subject::described_by(identity) {
                Some((subject, _)) => Mark::Subject(subject),
                None if stack::described_by(identity).is_some() => Mark::Stack,
                None => Mark::None,
            },
        }
    }
}

impl Notice {
    fn of(identity: &EventIdentity) -> Notice {
        // Windows gives these numbers as opcodes; an event header also has an id to put them in.
        let numbers = [u16::from(identity.opcode), identity.id];
        match () {
            () if numbers.contains(&32) => Notice::Events,
            () if numbers.contains(&33) => Notice::Buffers,
            () if numbers.contains(&34) => Notice::BackingFile,
            () => Notice::Unknown,
        }
    }
}

impl Notices {
    fn one(notice: Notice, at: &FileKey) -> Notices {
        Notices {
            notice,
            first_buffer: at.ordinal,
            last_buffer: at.ordinal,
            count: 1,
            first_ticks: at.ticks,
            last_ticks: at.ticks,
        }
    }

    fn add(&mut self, other: &Notices) {
        self.first_buffer = self.first_buffer.min(other.first_buffer);
        self.last_buffer = self.last_buffer.max(other.last_buffer);
        self.count += other.count;
        self.first_ticks = self.first_ticks.min(other.first_ticks);
        self.last_ticks = self.last_ticks.max(other.last_ticks);
    }
}

/// How many kinds of notices there are, and so entries of one buffer.
const NOTICE_KINDS: usize = 5;

/// How many entries of notices of a file stand for one buffer each.
const MAX_NOTICES: usize = 1 << 16;

/// How many events of a file are remembered.
fn limit(mark: Mark) -> usize {
    match mark {
        Mark::None | Mark::Subject(_) | Mark::Stack | Mark::Notice(_) => 0,
        Mark::Session => 1 << 8,
        Mark::Schema => 1 << 18,
        Mark::Dropped => 1 << 12,
    }
}

/// The events of one kind that are first in the file.
#[derive(Debug, Default, Serialize, Deserialize)]
struct First {
    kept: Vec<FileKey>,
    more: u64,
}

impl First {
    fn push(&mut self, at: FileKey, limit: usize) {
        self.kept.push(at);
        self.trim_many(limit);
    }

    fn add(&mut self, other: First, limit: usize) {
        self.kept.extend(other.kept);
        self.more += other.more;
        self.trim_many(limit);
    }

    /// Sorts once for many that are new.
    fn trim_many(&mut self, limit: usize) {
        if self.kept.len() >= 2 * limit {
            self.trim(limit);
        }
    }

    fn trim(&mut self, limit: usize) {
        self.kept.sort_unstable_by_key(FileKey::in_file);
        self.more += self.kept.len().saturating_sub(limit) as u64;
        self.kept.truncate(limit);
    }
}

/// The events that one worker has marked; those of several add up to the same whatever the split.
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct Marks {
    session: First,
    schema: First,
    dropped: First,
    /// Those of a buffer stand together.
    notices: Vec<Notices>,
}

impl Marks {
    /// Remembers an event; the events of a buffer come one behind the other.
    #[cold]
    pub fn add_event(&mut self, mark: Mark, at: FileKey) {
        match mark {
            Mark::None | Mark::Subject(_) | Mark::Stack => {}
            Mark::Notice(notice) => self.add_notice(notice, &at),
            Mark::Session => self.session.push(at, limit(mark)),
            Mark::Schema => self.schema.push(at, limit(mark)),
            Mark::Dropped => self.dropped.push(at, limit(mark)),
        }
    }

    fn add_notice(&mut self, notice: Notice, at: &FileKey) {
        let one = Notices::one(notice, at);
        let of_buffer = self.notices.iter_mut().rev().take(NOTICE_KINDS);
        let same = |known: &&mut Notices| known.notice == notice && known.first_buffer == at.ordinal;
        match of_buffer.take_while(|known| known.first_buffer == at.ordinal).find(same) {
            Some(known) => known.add(&one),
            None => self.notices.push(one),
        }
    }

    /// Adds what was remembered of other buffers.
    pub fn add(&mut self, other: Marks) {
        self.session.add(other.session, limit(Mark::Session));
        self.schema.add(other.schema, limit(Mark::Schema));
        self.dropped.add(other.dropped, limit(Mark::Dropped));
        self.notices.extend(other.notices);
    }
}

/// What the survey remembers of a file.
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct MarkLog {
    marks: Marks,
    log: NoticeLog,
}

impl MarkLog {
    /// Adds what was remembered of the next buffers of the file.
    pub fn take(&mut self, mut marks: Marks) {
        let mut notices = std::mem::take(&mut marks.notices);
        notices.sort_unstable_by_key(|notices| (notices.first_buffer, notices.notice));
        notices.iter().for_each(|notices| self.log.push(notices));
        self.marks.add(marks);
    }

    /// Adds what was remembered of the next stretch of the file, of buffers whose numbers are higher by `shift`.
    pub(super) fn join(&mut self, behind: MarkLog, shift: u64) {
        let MarkLog { mut marks, log: NoticeLog { mut of_buffers, mut rest } } = behind;
        for first in [&mut marks.session, &mut marks.schema, &mut marks.dropped] {
            first.kept.iter_mut().for_each(|at| at.ordinal = at.ordinal.saturating_add(shift));
        }
        self.marks.add(marks);
        for notices in of_buffers.iter_mut().chain(rest.values_mut()) {
            notices.first_buffer = notices.first_buffer.saturating_add(shift);
            notices.last_buffer = notices.last_buffer.saturating_add(shift);
            self.log.push(notices);
        }
    }

    /// Whether it may be that of so many events in buffers with these numbers: what comes from a file is not believed.
    pub(super) fn may_be_of(&self, buffers: &Range<u64>, events: u64) -> bool {
        let MarkLog { marks, log } = self;
        let kinds = [(Mark::Session, &marks.session), (Mark::Schema, &marks.schema), (Mark::Dropped, &marks.dropped)];
        let notices = || log.of_buffers.iter().chain(log.rest.values());
        let counts = kinds.iter().flat_map(|(_, first)| [first.kept.len() as u64, first.more]);
        let all = counts.chain(notices().map(|notices| notices.count)).try_fold(0_u64, u64::checked_add);
        let is_within = |notices: &Notices| {
            notices.first_buffer <= notices.last_buffer
                && [notices.first_buffer, notices.last_buffer].iter().all(|number| buffers.contains(number))
        };
        marks.notices.is_empty()
            && kinds.iter().all(|(mark, first)| {
                first.kept.len() < 2 * limit(*mark) && first.kept.iter().all(|at| buffers.contains(&at.ordinal))
            })
            && log.of_buffers.len() <= MAX_NOTICES
            && (log.rest.is_empty() || log.of_buffers.len() == MAX_NOTICES)
            && log.of_buffers.is_sorted_by_key(|notices| (notices.first_buffer, notices.notice))
            && notices().all(is_within)
            && all.is_some_and(|all| all <= events)
    }

    /// The remembered events in file order, the notices, and what is wrong where there are too many.
    pub fn finish(self) -> (Vec<MarkedEvent>, NoticeLog, Vec<Issue>) {
        let Marks { session, schema, dropped, .. } = self.marks;
        let kinds = [(Mark::Session, session), (Mark::Schema, schema), (Mark::Dropped, dropped)];
        let (mut marked_events, mut issues) = (Vec::new(), Vec::new());
        for (mark, mut first) in kinds {
            first.trim(limit(mark));
            issues.extend((first.more > 0).then(|| forgotten(mark, first.more)));
            marked_events.extend(first.kept.into_iter().map(|at| MarkedEvent { mark, at }));
        }
        marked_events.sort_unstable_by_key(|marked| marked.at.in_file());
        (marked_events, self.log, issues)
    }
}

fn forgotten(mark: Mark, more: u64) -> Issue {
    let what = match mark {
        Mark::Schema => "describe the payload of others",
        Mark::Dropped => "say when events were dropped last",
        _ => "describe the session",
    };
    let message = format!(
        "{more} events that {what} are not looked at: expected at most {} of them in a file; they are rows like any other",
        limit(mark)
    );
    Issue::new(Severity::Warning, IssueCode::EventsNotLookedAt, message)
}

/// All loss notices of a file.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct NoticeLog {
    /// Those of one kind in one buffer, by buffer and kind.
    pub of_buffers: Vec<Notices>,
    /// What goes beyond, by kind.
    pub rest: BTreeMap<Notice, Notices>,
}

impl NoticeLog {
    fn push(&mut self, notices: &Notices) {
        if self.of_buffers.len() < MAX_NOTICES {
            self.of_buffers.push(*notices);
            return;
        }
        self.rest.entry(notices.notice).and_modify(|rest| rest.add(notices)).or_insert(*notices);
    }

    /// The notices in one buffer, by kind.
    pub fn of_buffer(&self, ordinal: u64) -> &[Notices] {
        let start = self.of_buffers.partition_point(|notices| notices.first_buffer < ordinal);
        let end = self.of_buffers.partition_point(|notices| notices.first_buffer <= ordinal);
        self.of_buffers.get(start..end).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ordinal: u64, offset: u32) -> FileKey {
        FileKey { ticks: 100 - i64::from(offset), stream: 0, sequence: 0, ordinal, offset }
    }

    #[test]
    fn notices_are_counted_by_buffer_and_kind() {
        let (mut log, mut marks) = (MarkLog::default(), Marks::default());
        for (buffer, offset, notice) in [(7, 0, Notice::Error), (7, 8, Notice::Events), (7, 16, Notice::Error)] {
            marks.add_event(Mark::Notice(notice), at(buffer, offset));
        }
        let mut other = Marks::default();
        other.add_event(Mark::Notice(Notice::Error), at(3, 0));
        marks.add(other);
        log.take(marks);
        let (marked_events, log, issues) = log.finish();
        assert!(marked_events.is_empty() && issues.is_empty() && log.rest.is_empty());
        let counts: Vec<_> = log.of_buffers.iter().map(|n| (n.first_buffer, n.notice, n.count)).collect();
        assert_eq!(counts, [(3, Notice::Error, 1), (7, Notice::Events, 1), (7, Notice::Error, 2)]);
        assert_eq!((log.of_buffer(7)[1].first_ticks, log.of_buffer(7)[1].last_ticks), (84, 100));
        assert_eq!(log.of_buffer(4), []);
    }

    #[test]
    fn what_goes_beyond_is_counted_by_kind() {
        let mut log = MarkLog::default();
        for window in [0, 1] {
            let mut marks = Marks::default();
            (0..MAX_NOTICES as u64).for_each(|n| {
                marks.add_event(Mark::Notice(Notice::Error), at(window * MAX_NOTICES as u64 + n, 0));
            });
            log.take(marks);
        }
        let log = log.finish().1;
        assert_eq!(log.of_buffers.len(), MAX_NOTICES);
        let rest = log.rest[&Notice::Error];
        assert_eq!((rest.count, rest.first_buffer, rest.last_buffer), (65_536, 65_536, 131_071));
    }

    #[test]
    fn the_first_events_of_the_file_are_remembered_whatever_the_split() {
        let limit = limit(Mark::Dropped);
        let events: Vec<FileKey> = (0..3 * limit as u64).map(|n| at(n, 0)).collect();
        for workers in [1, 3, 7] {
            let mut log = MarkLog::default();
            for worker in (0..workers).rev() {
                let mut marks = Marks::default();
                events.iter().skip(worker).step_by(workers).for_each(|at| marks.add_event(Mark::Dropped, *at));
                log.take(marks);
            }
            let (marked_events, _, issues) = log.finish();
            assert_eq!(marked_events.len(), limit);
            assert!(marked_events.iter().zip(&events).all(|(found, expected)| found.at == *expected));
            assert!(issues[0].message.starts_with("8192 events that say when"), "{}", issues[0].message);
        }
    }

    /// What is remembered of buffers with these numbers, each less `shift`.
    fn log_of(buffers: Range<u64>, shift: u64) -> MarkLog {
        let mut log = MarkLog::default();
        for number in buffers {
            let mut marks = Marks::default();
            let at = at(number - shift, 8);
            for mark in [Mark::Dropped, Mark::Session, Mark::Notice(Notice::Error), Mark::Notice(Notice::Events)] {
                marks.add_event(mark, at);
            }
            log.take(marks);
        }
        log
    }

    #[test]
    fn stretches_are_remembered_as_the_whole() {
        let all = MAX_NOTICES as u64;
        let shown = |log: MarkLog| format!("{:?}", log.finish());
        let expected = shown(log_of(0..all, 0));
        for ends in [[1, 2], [300, 40_000], [40_000, 40_100], [0, all - 1]] {
            let mut joined = MarkLog::default();
            for (start, end) in [(0, ends[0]), (ends[0], ends[1]), (ends[1], all)] {
                let log = log_of(start..end, start);
                let numbers = 0..end - start;
                assert!(log.may_be_of(&numbers, 4 * (end - start)));
                assert!(start == end || !log.may_be_of(&numbers, 4 * (end - start) - 1));
                assert!(start == end || !log.may_be_of(&(1..end - start), 4 * (end - start)));
                let text = serde_json::to_string(&log).unwrap();
                joined.join(serde_json::from_str(&text).unwrap(), start);
            }
            assert!(shown(joined) == expected, "{ends:?}");
        }
    }
}
