//! One pass over a file: chain, tallies, hash, in windows that keep all cores busy.

use rayon::prelude::*;

use super::buffer_summary::BufferRecord;
use super::count::{Ground, Tally};
use super::ending::{self, Ending, Tail, TailKind};
use super::hash::FileHash;
use super::issue::{Finding, Findings, Severity};
use super::marked::{Memorable, Memories, NoticeLog};
use super::progress::{Progress, Work, stop_if_cancelled, timed};
use super::session::Session;
use super::shapes::{ShapeTally, Shapes};
use crate::buffer::scan::{Chain, ChainRules, Doubt, Frame, Gap, GapKind, Stretch};
use crate::error::Result;
use crate::event::ShapeKey;
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
    pub(super) rules: ChainRules,
    pub(super) ground: Ground<'a>,
    pub(super) progress: &'a dyn Progress,
}

/// What a pass found, each list in file order or in its own.
pub(super) struct Found {
    pub(super) buffers: Spilled<BufferRecord>,
    pub(super) gaps: Vec<Gap>,
    pub(super) tail: Option<Tail>,
    pub(super) shapes: Vec<(ShapeKey, ShapeTally)>,
    pub(super) memorable: Vec<Memorable>,
    pub(super) notices: NoticeLog,
    pub(super) findings: Findings,
}

impl Pass<'_> {
    /// Visits every buffer of the file but those that begin at the offsets in `repeated`.
    ///
    /// # Errors
    /// When the file cannot be read, when there is no space, or [`ErrorKind::Interrupted`](crate::ErrorKind::Interrupted).
    pub(super) fn over(&self, repeated: &[u64], mut hasher: Option<&mut FileHash>) -> Result<Found> {
        let (source, progress) = (self.ground.source, self.progress);
        let mut survey = Assembly::new(self.space);
        let mut chain = Chain::new(source, self.rules, repeated);
        let mut window = next_window(&mut chain, progress)?;
        while window.start < window.end {
            let (start, end) = (window.start, window.end);
            // The next buffers are found while the events of these are counted.
            let ((hashed, tally), next) = rayon::join(
                || {
                    rayon::join(
                        || hasher.as_mut().map_or(Ok(()), |hasher| hasher.extend(source, end, progress)),
                        || tally_frames(&self.ground, &window.frames, progress),
                    )
                },
                || next_window(&mut chain, progress),
            );
            hashed?;
            let tally = tally?;
            timed(progress, Work::Chain, || survey.take(window, tally))?;
            window = next?;
            progress.advance(end - start);
            stop_if_cancelled(progress)?;
        }
        survey.finish(self)
    }
}

/// What was found in the windows so far.
struct Assembly {
    buffers: SpillWriter<BufferRecord>,
    gaps: Vec<Gap>,
    fragment: Option<Tail>,
    shapes: Shapes,
    memories: Memories,
    findings: Findings,
}

/// Some buffers that follow one another in the file, and what stands between them.
struct Window {
    /// File offset of the first byte.
    start: u64,
    /// File offset behind the last one; no more than `start` at the end of the file.
    end: u64,
    frames: Vec<Frame>,
    doubts: Vec<Finding>,
    gaps: Vec<Gap>,
    fragment: Option<Tail>,
}

/// The buffers of the next window of the file.
fn next_window(chain: &mut Chain<'_>, progress: &dyn Progress) -> Result<Window> {
    timed(progress, Work::Chain, || {
        let start = chain.offset();
        let (frames, doubts, gaps, fragment) = (Vec::new(), Vec::new(), Vec::new(), None);
        let mut window = Window { start, end: start, frames, doubts, gaps, fragment };
        while chain.offset() < start + WINDOW && window.frames.len() + window.gaps.len() < WINDOW_BUFFERS {
            stop_if_cancelled(progress)?;
            match chain.next_stretch()? {
                None => break,
                Some(Stretch::Buffer(frame, doubt)) => {
                    window.doubts.extend(doubt.map(|doubt| doubt_finding(&frame, doubt)));
                    window.frames.push(frame);
                }
                Some(Stretch::Gap(gap)) => window.gaps.push(gap),
                Some(Stretch::Fragment { offset, len }) => {
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
            memories: Memories::default(),
            findings: Findings::default(),
        }
    }

    /// Adds a window and the counts of its buffers.
    fn take(&mut self, window: Window, tally: Tally) -> Result<()> {
        window.gaps.into_iter().for_each(|gap| self.take_gap(gap));
        self.fragment = window.fragment.or(self.fragment);
        let Tally { mut records, shapes, memory, mut findings, .. } = tally;
        records.sort_unstable_by_key(|record| record.frame.ordinal);
        self.buffers.extend(&records)?;
        findings.extend(window.doubts);
        findings.sort_by_key(|finding| (finding.buffer, finding.offset));
        findings.into_iter().for_each(|finding| self.findings.push(finding));
        self.memories.take(memory);
        self.shapes.add(shapes);
        Ok(())
    }

    /// Gaps of one kind that follow one another are one.
    fn take_gap(&mut self, gap: Gap) {
        match self.gaps.last_mut() {
            Some(last) if last.end() == gap.offset && last.kind == gap.kind && gap.kind != GapKind::Repeated => {
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
        let shapes = timed(pass.progress, Work::Chain, || shapes.finish());
        let (memorable, notices, forgotten) = memories.finish();
        forgotten.into_iter().for_each(|finding| findings.push(finding));
        Ok(Found { buffers, gaps, tail, shapes, memorable, notices, findings })
    }
}

fn ending_of(pass: &Pass<'_>, buffers: &[BufferRecord]) -> Ending {
    let is_closed = pass.session.is_closed();
    let owed = u64::from(pass.session.buffers_written).saturating_sub(buffers.len() as u64);
    Ending {
        file_len: pass.ground.source.len(),
        stride: pass.rules.stride,
        owed: if is_closed { owed } else { 0 },
        knows_its_own: is_closed || buffers.len() > 1,
    }
}

fn gap_finding(gap: &Gap) -> Finding {
    let what = match gap.kind {
        GapKind::Foreign => "other bytes",
        GapKind::Zeros => "zeros",
        GapKind::Ones => "FF",
        GapKind::Stale => "a buffer of an older recording",
        GapKind::Repeated => {
            let message = "a buffer that stands in the file twice, to the last byte; it is read once";
            return Finding::new(Severity::Error, "repeated_buffer", message).at(gap.ordinal, gap.offset);
        }
    };
    let message = format!("expected a buffer header, found {what}; {} bytes are skipped", gap.len);
    Finding::new(Severity::Error, "damaged_buffer", message).at(gap.ordinal, gap.offset)
}

fn doubt_finding(frame: &Frame, doubt: Doubt) -> Finding {
    let message = match doubt {
        Doubt::Size(stated) => {
            format!("the header says that the buffer has {stated} bytes, but the next one follows after {}", frame.size)
        }
        Doubt::Age => "the header is older than the session, but the events are not; they are read".to_owned(),
    };
    Finding::new(Severity::Warning, "damaged_buffer_header", message).at(frame.ordinal, frame.offset)
}

fn tally_frames(ground: &Ground<'_>, frames: &[Frame], progress: &dyn Progress) -> Result<Tally> {
    let mean = frames.iter().map(|frame| u64::from(frame.size)).sum::<u64>() / (frames.len() as u64).max(1);
    let together = usize::try_from(EXTENT / mean.max(1)).unwrap_or(1).max(1);
    frames
        .par_chunks(together)
        .try_fold(Tally::default, |mut tally, extent| {
            let survey = |frame| stop_if_cancelled(progress).and_then(|()| tally.survey(ground, frame));
            timed(progress, Work::Survey, || extent.iter().try_for_each(survey))?;
            Ok(tally)
        })
        .try_reduce(Tally::default, |a, b| Ok(timed(progress, Work::Survey, || a.merged(b))))
}
