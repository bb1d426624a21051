//! One pass over a file: chain, tallies, hash, in windows that keep all cores busy.

use rayon::prelude::*;

use super::buffer_summary::BufferSummary;
use super::count::Counts;
use super::ending::{self, Ending, Tail, TailKind};
use super::hash::FileHash;
use super::issue::{Issue, Issues, Severity};
use super::issue_code::IssueCode;
use super::marked::{MarkLog, MarkedEvent, NoticeLog};
use super::rules::BufferReader;
use super::session::Session;
use super::shapes::{ShapeSummary, Shapes};
use crate::buffer::scan::{BufferExtent, BufferScan, Doubt, Region, RegionContent, ScanRules, UnreadableRegion};
use crate::error::Result;
use crate::event::Shape;
use crate::progress::{Progress, Step, stop_if_cancelled, timed};
use crate::spill::{SpillSpace, SpillWriter, Spilled};

/// Bytes that are surveyed and hashed together: enough for many cores, small enough to stay in their caches' reach
/// and for a steady progress bar.
const WINDOW: u64 = 64 << 20;

/// Buffers at which a window ends early: small ones weigh more as records than as bytes.
const WINDOW_BUFFERS: usize = 1 << 16;

/// Bytes that a worker takes at once.
const EXTENT: u64 = 1 << 20;

/// What a pass over a file needs.
#[derive(Clone, Copy)]
pub(super) struct Pass<'a> {
    /// For what does not fit into memory.
    pub(super) space: &'a SpillSpace,
    pub(super) session: &'a Session,
    pub(super) scan: ScanRules,
    pub(super) reader: BufferReader<'a>,
    pub(super) progress: &'a dyn Progress,
}

/// What a pass found, each list in file order or in its own.
pub(super) struct Found {
    pub(super) buffers: Spilled<BufferSummary>,
    pub(super) unreadable: Vec<UnreadableRegion>,
    pub(super) tail: Option<Tail>,
    pub(super) shapes: Vec<(Shape, ShapeSummary)>,
    pub(super) marked: Vec<MarkedEvent>,
    pub(super) notices: NoticeLog,
    pub(super) issues: Issues,
}

impl Pass<'_> {
    /// Visits every buffer of the file but those that begin at the offsets in `repeated`.
    ///
    /// # Errors
    /// When the file cannot be read, when there is no space, or [`ErrorKind::Interrupted`](crate::ErrorKind::Interrupted).
    pub(super) fn over(&self, repeated: &[u64], mut hasher: Option<&mut FileHash>) -> Result<Found> {
        let (input, progress) = (self.reader.input, self.progress);
        let mut survey = Assembly::new(self.space);
        let mut chain = BufferScan::new(input, self.scan, repeated);
        let mut window = next_window(&mut chain, progress)?;
        while window.start < window.end {
            let (start, end) = (window.start, window.end);
            // The next buffers are found while the events of these are counted.
            let ((hashed, tally), next) = rayon::join(
                || {
                    rayon::join(
                        || hasher.as_mut().map_or(Ok(()), |hasher| hasher.extend(input, end, progress)),
                        || count_extents(&self.reader, &window.extents, progress),
                    )
                },
                || next_window(&mut chain, progress),
            );
            hashed?;
            let tally = tally?;
            timed(progress, Step::Scan, || survey.take(window, tally))?;
            window = next?;
            progress.advance(end - start);
            stop_if_cancelled(progress)?;
        }
        survey.finish(self)
    }
}

/// What was found in the windows so far.
struct Assembly {
    buffers: SpillWriter<BufferSummary>,
    gaps: Vec<UnreadableRegion>,
    fragment: Option<Tail>,
    shapes: Shapes,
    memories: MarkLog,
    findings: Issues,
}

/// Some buffers that follow one another in the file, and what stands between them.
struct Window {
    /// File offset of the first byte.
    start: u64,
    /// File offset behind the last one; no more than `start` at the end of the file.
    end: u64,
    extents: Vec<BufferExtent>,
    doubts: Vec<Issue>,
    gaps: Vec<UnreadableRegion>,
    fragment: Option<Tail>,
}

/// The buffers of the next window of the file.
fn next_window(chain: &mut BufferScan<'_>, progress: &dyn Progress) -> Result<Window> {
    timed(progress, Step::Scan, || {
        let start = chain.offset();
        let (extents, doubts, gaps, fragment) = (Vec::new(), Vec::new(), Vec::new(), None);
        let mut window = Window { start, end: start, extents, doubts, gaps, fragment };
        while chain.offset() < start + WINDOW && window.extents.len() + window.gaps.len() < WINDOW_BUFFERS {
            stop_if_cancelled(progress)?;
            match chain.next_region()? {
                None => break,
                Some(Region::Buffer(extent, doubt)) => {
                    window.doubts.extend(doubt.map(|doubt| doubt_finding(&extent, doubt)));
                    window.extents.push(extent);
                }
                Some(Region::Unreadable(gap)) => window.gaps.push(gap),
                Some(Region::Fragment { offset, len }) => {
                    window.fragment = Some(Tail { offset, len, kind: TailKind::Fragment });
                }
            }
        }
        window.end = chain.offset();
        Ok(window)
    })
}

impl Assembly {
    fn new(space: &SpillSpace) -> Self {
        Assembly {
            buffers: space.records(),
            gaps: Vec::new(),
            fragment: None,
            shapes: Shapes::default(),
            memories: MarkLog::default(),
            findings: Issues::default(),
        }
    }

    /// Adds a window and the counts of its buffers.
    fn take(&mut self, window: Window, tally: Counts) -> Result<()> {
        window.gaps.into_iter().for_each(|gap| self.take_gap(gap));
        self.fragment = window.fragment.or(self.fragment);
        let Counts { mut records, shapes, memory, mut findings, .. } = tally;
        records.sort_unstable_by_key(|record| record.extent.ordinal);
        self.buffers.extend(&records)?;
        findings.extend(window.doubts);
        findings.sort_by_key(|finding| (finding.buffer, finding.offset));
        findings.into_iter().for_each(|finding| self.findings.push(finding));
        self.memories.take(memory);
        self.shapes.add(shapes);
        Ok(())
    }

    /// Gaps of one kind that follow one another are one.
    fn take_gap(&mut self, gap: UnreadableRegion) {
        match self.gaps.last_mut() {
            Some(last) if last.end() == gap.offset && last.kind == gap.kind && gap.kind != RegionContent::Repeated => {
                last.buffers += gap.buffers;
                last.len += gap.len;
            }
            _ => self.gaps.push(gap),
        }
    }

    fn finish(self, pass: &Pass<'_>) -> Result<Found> {
        let Assembly { buffers, mut gaps, fragment, shapes, memories, mut findings } = self;
        let buffers = buffers.finish()?;
        let ending = ending_of(pass, &buffers);
        let tail = fragment.or_else(|| ending::split_off(&mut gaps, ending));
        gaps.iter().for_each(|gap| findings.push(gap_finding(gap)));
        let shapes = timed(pass.progress, Step::Scan, || shapes.finish());
        let (marked, notices, forgotten) = memories.finish();
        forgotten.into_iter().for_each(|finding| findings.push(finding));
        Ok(Found { buffers, unreadable: gaps, tail, shapes, marked, notices, issues: findings })
    }
}

fn ending_of(pass: &Pass<'_>, buffers: &[BufferSummary]) -> Ending {
    let is_closed = pass.session.is_closed();
    let owed = u64::from(pass.session.buffers_written).saturating_sub(buffers.len() as u64);
    Ending {
        file_len: pass.reader.input.size(),
        stride: pass.scan.stride,
        owed: if is_closed { owed } else { 0 },
        knows_its_own: is_closed || buffers.len() > 1,
    }
}

fn gap_finding(gap: &UnreadableRegion) -> Issue {
    let what = match gap.kind {
        RegionContent::Foreign => "other bytes",
        RegionContent::Zeros => "zeros",
        RegionContent::Ones => "FF",
        RegionContent::Stale => "a buffer of an older recording",
        RegionContent::Repeated => {
            let message = "a buffer that stands in the file twice, to the last byte; it is read once";
            return Issue::new(Severity::Error, IssueCode::RepeatedBuffer, message).at(gap.ordinal, gap.offset);
        }
    };
    let message = format!("expected a buffer header, found {what}; {} bytes are skipped", gap.len);
    Issue::new(Severity::Error, IssueCode::DamagedBuffer, message).at(gap.ordinal, gap.offset)
}

fn doubt_finding(extent: &BufferExtent, doubt: Doubt) -> Issue {
    let message = match doubt {
        Doubt::Size(stated) => {
            format!(
                "the header says that the buffer has {stated} bytes, but the next one follows after {}",
                extent.size
            )
        }
        Doubt::Age => "the header is older than the session, but the events are not; they are read".to_owned(),
    };
    Issue::new(Severity::Warning, IssueCode::DamagedBufferHeader, message).at(extent.ordinal, extent.offset)
}

fn count_extents(reader: &BufferReader<'_>, extents: &[BufferExtent], progress: &dyn Progress) -> Result<Counts> {
    let mean = extents.iter().map(|extent| u64::from(extent.size)).sum::<u64>() / (extents.len() as u64).max(1);
    let together = usize::try_from(EXTENT / mean.max(1)).unwrap_or(1).max(1);
    extents
        .par_chunks(together)
        .try_fold(Counts::default, |mut tally, extent| {
            let survey = |extent| stop_if_cancelled(progress).and_then(|()| tally.survey(reader, extent));
            timed(progress, Step::Survey, || extent.iter().try_for_each(survey))?;
            Ok(tally)
        })
        .try_reduce(Counts::default, |a, b| Ok(timed(progress, Step::Survey, || a.merged(b))))
}
