//! The loss oracle: one change to a trace that is whole, and every event that goes is reported.

use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::ops::Range;
use std::sync::OnceLock;

use base::progress::NoProgress;
use conversion::survey::{FileFacts, FileSurvey};
use etl::buffer::content::{self, Scratch};
use etl::event::{Walk, WalkStep};
use etl::layout::logfile::mode;
use etl2parquet::rows::Severity;
use etl2parquet::{Error, ErrorKind};

use super::codes::Codes;
use super::traces::surveyed;
use crate::bytes::Bytes;
use crate::digest::Digest;
use crate::fields::turning_points;
use crate::fields::{BufferSpan, Field, buffers, fields};
use crate::made;

/// How often each event is there, by a hash of its bytes; without the header event.
type Events = BTreeMap<u64, u64>;

/// What a survey says beside the events: damage, issues that are no mere information, rows of the ledger, and the exit codes
/// that follow.
#[derive(Clone, Debug, PartialEq, Eq)]
struct SurveyFindings {
    is_damaged: bool,
    issues: BTreeMap<&'static str, u64>,
    ledger: BTreeMap<&'static str, u64>,
    codes: Codes,
}

/// A whole trace.
#[derive(Debug)]
struct Subject {
    bytes: Vec<u8>,
    buffers: Vec<BufferSpan>,
    fields: Vec<Field>,
    events: Events,
    said: SurveyFindings,
    is_closed: bool,
    /// Whether it keeps the latest alone: a gap is reported, and no loss.
    is_ring: bool,
}

/// Of so many cases, one is converted as a whole.
const CONVERTED: u64 = 1024;

/// What is done to a trace.
const CHANGES: [&str; 12] = [
    "a value", "a value", "a value", "a flip", "a flip", "zeros", "FF", "noise", "swapped", "doubled", "dropped", "cut",
];

fn subjects() -> &'static [Subject] {
    static ALL: OnceLock<Vec<Subject>> = OnceLock::new();
    ALL.get_or_init(|| made::all().into_iter().filter(|seed| seed.folder == "trace").filter_map(subject).collect())
}

/// How many traces there are to change.
pub fn subject_count() -> usize {
    subjects().len()
}

fn subject(seed: made::Seed) -> Option<Subject> {
    let (events, said, file) = read(&seed.bytes).expect("loss: a made trace is one");
    let (is_closed, is_ring) = (file.session.is_closed(), file.session.has_mode(mode::CIRCULAR));
    let (buffers, fields) = (buffers(&seed.bytes), fields(&seed.bytes));
    (!said.is_damaged).then_some(Subject { bytes: seed.bytes, buffers, fields, events, said, is_closed, is_ring })
}

fn read(trace: &[u8]) -> Result<(Events, SurveyFindings, FileSurvey), Error> {
    let (input, file) = surveyed(trace)?;
    let mut events = Events::new();
    let mut scratch = Scratch::default();
    for buffer in &*file.buffers {
        let largest = file.session.max_buffer_size();
        let content = content::read(&*input, &buffer.extent, largest, &mut scratch).expect("loss: it was read before");
        for step in Walk::new(content.bytes(), 0) {
            let WalkStep::Event(event) = step else { continue };
            if (buffer.extent.ordinal, event.offset) != (0, 0) {
                *events.entry(hash(event.bytes)).or_default() += 1;
            }
        }
    }
    let mut issues = BTreeMap::new();
    for issue in file.issues.rows().filter(|issue| issue.severity > Severity::Info) {
        *issues.entry(issue.code.as_str()).or_default() += 1;
    }
    let mut ledger = BTreeMap::new();
    let facts = FileFacts::of(std::slice::from_ref(&file), &NoProgress).expect("loss: nobody interrupts");
    for row in facts.iter().flat_map(|facts| &facts.ledger.rows) {
        *ledger.entry(row.kind.as_str()).or_default() += 1;
    }
    let codes = Codes::of_survey(&file, &facts);
    Ok((events, SurveyFindings { is_damaged: file.is_damaged(), issues, ledger, codes }, file))
}

/// Makes one change to one of the traces; the first four bytes of the input say to which.
///
/// Oracle: rows go only where damage, an issue or a gap is said, or the file is refused. An event whose own bytes are
/// changed may be another; it may not be none. Three classes are known to be mute and counted: `by nature`, `swallowed` and
/// `emptied`. Where rows are gone the exit code says it to whoever asks for that, but of a ring, which has `overwritten` them.
/// Of one case in 1,024 two whole conversions give the exit codes that follow from the survey.
pub fn loss(input: &[u8], digest: &mut Digest) {
    let mut bytes = Bytes::new(input);
    let all = subjects();
    let subject = &all[bytes.u32() as usize % all.len()];
    let change = *bytes.pick(&CHANGES);
    let (trace, touched) = subject.changed(change, &mut bytes);
    let number = all.iter().position(|other| std::ptr::eq(other, subject)).unwrap_or_default();
    let first = trace.iter().zip(&subject.bytes).position(|(new, old)| new != old);
    let field =
        subject.fields.iter().rev().find(|field| first.is_some_and(|at| field.at <= at)).map(|field| field.name);
    let made = format!("{change} at {first:?} ({field:?}) of trace {number}");
    let found = read(&trace);
    if hash(input).is_multiple_of(CONVERTED) {
        same_codes(&trace, found.as_ref().ok().map(|(_, said, _)| said.codes));
    }
    let place = match found {
        Err(error) => {
            assert_eq!(error.kind(), ErrorKind::Input, "loss: {change}: {error}");
            "refused"
        }
        Ok((events, said, _)) => {
            let outcome = match subject.judge(&events, &said, touched) {
                "mute" if subject.is_mute_by_nature(change, &trace) => "by nature",
                "mute" if subject.is_swallowed(&trace, &events, touched) => "swallowed",
                "mute" if subject.is_emptied(&trace, &events, touched) => "emptied",
                "gap" if subject.is_ring && !said.codes.shows_loss() => "overwritten",
                outcome => outcome,
            };
            let is_reported =
                said.codes.shows_loss() || matches!(outcome, "by nature" | "swallowed" | "emptied" | "overwritten");
            assert!(
                is_reported || !subject.lacks(&events, touched),
                "loss: {outcome} by {made}, and exit code 0: {said:?}"
            );
            outcome
        }
    };
    assert_ne!(place, "mute", "loss: {made} takes events away in silence");
    digest.add(place);
    digest.count(change, place);
}

fn hash(bytes: &[u8]) -> u64 {
    let mut hasher = DefaultHasher::new();
    bytes.hash(&mut hasher);
    hasher.finish()
}

/// Whole conversions give the exit codes that follow from a survey, and none where there could be no survey.
fn same_codes(trace: &[u8], expected: Option<Codes>) {
    match (Codes::of_conversions(trace), expected) {
        (Ok(found), Some(expected)) => assert_eq!(found, expected, "loss: the exit codes follow from the survey"),
        (Err(error), None) => assert_eq!(error.kind(), ErrorKind::Input, "loss: {error}"),
        (found, expected) => panic!("loss: expected the exit codes {expected:?}, found {found:?}"),
    }
}

/// How many events there are in one that are not in the other.
fn beyond(one: &Events, other: &Events) -> u64 {
    one.iter().map(|(event, count)| count.saturating_sub(other.get(event).copied().unwrap_or(0))).sum()
}

/// Whether more is said of something than before. What is said no more says nothing: the notice of a loss may have gone.
fn is_more(said: &BTreeMap<&str, u64>, before: &BTreeMap<&str, u64>) -> bool {
    said.iter().any(|(what, count)| *count > before.get(what).copied().unwrap_or(0))
}

impl Subject {
    /// What became of the events; up to `touched` of them had their own bytes changed.
    fn judge(&self, events: &Events, said: &SurveyFindings, touched: u64) -> &'static str {
        let (missing, new) = (beyond(&self.events, events), beyond(events, &self.events));
        match () {
            () if missing == 0 && new == 0 => "harmless",
            () if said.is_damaged => "damage",
            () if is_more(&said.ledger, &self.said.ledger) => "gap",
            () if is_more(&said.issues, &self.said.issues) => "issue",
            () if !self.lacks(events, touched) => "altered",
            () => "mute",
        }
    }

    /// Whether events are gone, and have not become others.
    fn lacks(&self, events: &Events, touched: u64) -> bool {
        let (missing, new) = (beyond(&self.events, events), beyond(events, &self.events));
        missing > new.min(touched)
    }

    /// A file that nobody closed does not say how much there was: what is cut off at the border of a buffer was perhaps
    /// never there.
    fn is_mute_by_nature(&self, change: &str, trace: &[u8]) -> bool {
        !self.is_closed && matches!(change, "dropped" | "cut") && self.bytes.starts_with(trace)
    }

    /// An event whose size is wrong, or whose type is, by which the size stands elsewhere, has for its payload the events
    /// behind it up to where it ends. The program looks for that where it can (`event::swallowed`); where it cannot, and
    /// the event ends where one of them ends, nothing contradicts the size. Every event that is missing must be such a one,
    /// or have its own bytes changed.
    fn is_swallowed(&self, trace: &[u8], events: &Events, touched: u64) -> bool {
        let end = |event: &Range<usize>| event.end.next_multiple_of(8);
        let inside = |event: &Range<usize>| -> u64 {
            let old = self.buffers.iter().flat_map(|buffer| &buffer.events);
            let inside: Vec<usize> =
                old.filter(|old| event.start < old.start && end(old) <= end(event)).map(end).collect();
            if inside.contains(&end(event)) { inside.len() as u64 } else { 0 }
        };
        let swallowed: u64 = buffers(trace).iter().flat_map(|buffer| &buffer.events).map(inside).sum();
        let missing = beyond(&self.events, events);
        trace.len() == self.bytes.len() && swallowed > 0 && missing <= swallowed + touched
    }

    /// A buffer whose Offset says that it has no events, and which has zeros where they were, is an empty buffer: those that
    /// Windows writes have zeros there, too, before the filling. Every event that is missing must be of such a buffer, or
    /// have its own bytes changed.
    fn is_emptied(&self, trace: &[u8], events: &Events, touched: u64) -> bool {
        let offset = |buffer: &BufferSpan| {
            let at = buffer.bytes.start + 0x30;
            trace.get(at..at + 4).map(|bytes| u32::from_le_bytes(bytes.try_into().expect("four bytes")))
        };
        let is_zero =
            |event: &Range<usize>| trace.get(event.clone()).is_some_and(|bytes| bytes.iter().all(|b| *b == 0));
        let is_emptied = |buffer: &&BufferSpan| {
            offset(buffer).is_some_and(|offset| offset < 0x48) && buffer.events.iter().all(is_zero)
        };
        let emptied: usize = self.buffers.iter().filter(is_emptied).map(|buffer| buffer.events.len()).sum();
        let missing = beyond(&self.events, events);
        trace.len() == self.bytes.len() && emptied > 0 && missing <= emptied as u64 + touched
    }

    /// The changed trace, and how many events had their own bytes changed.
    fn changed(&self, change: &str, bytes: &mut Bytes<'_>) -> (Vec<u8>, u64) {
        let mut trace = self.bytes.clone();
        let field = &self.fields[bytes.u32() as usize % self.fields.len()];
        let place = match change {
            "a value" => {
                put_value(&mut trace, field, bytes.u8());
                field.at..field.at + field.len
            }
            "a flip" => {
                let at = field.at + bytes.below(field.len);
                trace[at] ^= 1 << bytes.below(8);
                at..at + 1
            }
            "zeros" | "FF" | "noise" => {
                let end = trace.len().min(field.at + 1 + bytes.below(256));
                trace[field.at..end].fill_with(|| match change {
                    "zeros" => 0,
                    "FF" => 0xFF,
                    _ => bytes.u8(),
                });
                field.at..end
            }
            _ => {
                self.moved(change, bytes, &mut trace);
                0..0
            }
        };
        let is_touched = |event: &&Range<usize>| event.start < place.end && place.start < event.end;
        let events = self.buffers.iter().flat_map(|buffer| &buffer.events);
        (trace, events.filter(is_touched).count() as u64)
    }

    /// Moves whole buffers, or cuts the file.
    fn moved(&self, change: &str, bytes: &mut Bytes<'_>, trace: &mut Vec<u8>) {
        // The header buffer stays where it is.
        let behind = self.buffers.len().max(2) - 1;
        let mut pick = || self.buffers.get(1 + bytes.u16() as usize % behind).map_or(0..0, |span| span.bytes.clone());
        let (one, other) = (pick(), pick());
        match change {
            "swapped" if one.len() == other.len() => {
                let (first, second) = (trace[one.clone()].to_vec(), trace[other.clone()].to_vec());
                trace[other].copy_from_slice(&first);
                trace[one].copy_from_slice(&second);
            }
            "doubled" => {
                let copy = trace[one].to_vec();
                trace.splice(other.end..other.end, copy);
            }
            "dropped" => drop(trace.drain(one)),
            "cut" => trace.truncate(one.start + bytes.u16() as usize % (one.len() + 1)),
            _ => {}
        }
    }
}

fn put_value(trace: &mut [u8], field: &Field, choice: u8) {
    let width = field.len.min(8);
    let mut old = [0; 8];
    old[..width].copy_from_slice(&trace[field.at..field.at + width]);
    let points = turning_points(u64::from_le_bytes(old), width);
    let new = points[usize::from(choice) % points.len()].to_le_bytes();
    trace[field.at..field.at + width].copy_from_slice(&new[..width]);
}
