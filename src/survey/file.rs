//! Surveys one file: chain, tallies, hash, in windows that keep all cores busy.

use rayon::prelude::*;

use super::SurveyOptions;
use super::finding::{Finding, Findings, Severity};
use super::hash::FileHash;
use super::memorable::{Memorable, Memories, NoticeLog};
use super::progress::{Progress, Work, timed};
use super::record::BufferRecord;
use super::session::{self, Session};
use super::shapes::{ShapeTally, Shapes};
use super::tally::{Ground, Tally};
use crate::buffer::chain::{Chain, Frame, Stretch, TailKind};
use crate::clock::Clock;
use crate::error::{Error, ErrorKind, Result};
use crate::event::ShapeKey;
use crate::layout::logfile::mode;
use crate::source::Source;
use crate::spill::{SpillSpace, SpillWriter, Spilled};

/// Bytes that are surveyed and hashed together: enough for many cores, small enough to stay in their caches' reach
/// and for a steady progress bar.
const WINDOW: u64 = 64 << 20;

/// Buffers at which a window ends early: small ones weigh more as records than as bytes.
const WINDOW_BUFFERS: usize = 1 << 16;

/// Bytes that a worker takes at once.
const EXTENT: u64 = 1 << 20;

/// A stretch of the file that should be a buffer and cannot be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Gap {
    /// Number of the buffer that should be here.
    pub ordinal: u64,
    /// File offset of the first byte.
    pub offset: u64,
    /// Bytes.
    pub len: u64,
}

/// What stands behind the last buffer of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tail {
    /// File offset of the first byte.
    pub offset: u64,
    /// Bytes.
    pub len: u64,
    /// What it holds.
    pub kind: TailKind,
}

/// What the survey learned of one file.
#[derive(Debug)]
pub struct FileSurvey {
    /// The file.
    pub source: Source,
    /// The path relative to the input named by the user, with `/`.
    pub name: String,
    /// BLAKE3 of the whole file in lower-case hexadecimal; `None` where it was not wanted.
    pub blake3: Option<String>,
    /// What the header event says.
    pub session: Session,
    /// The conversion of its times.
    pub clock: Clock,
    /// The buffers in file order.
    pub buffers: Spilled<BufferRecord>,
    /// What cannot be read, in file order.
    pub gaps: Vec<Gap>,
    /// What stands behind the last buffer.
    pub tail: Option<Tail>,
    /// The event shapes, in their own order.
    pub shapes: Vec<(ShapeKey, ShapeTally)>,
    /// Events worth a second look, in file order.
    pub memorable: Vec<Memorable>,
    /// Events that say that something was lost.
    pub notices: NoticeLog,
    /// Unusual findings, in file order.
    pub findings: Findings,
}

impl FileSurvey {
    /// What is common to all buffers.
    pub fn ground(&self) -> Ground<'_> {
        ground(&self.source, &self.session)
    }

    /// The buffer with this number in file order.
    pub fn buffer(&self, ordinal: u64) -> Option<&BufferRecord> {
        let place = self.buffers.binary_search_by_key(&ordinal, |buffer| buffer.frame.ordinal).ok()?;
        self.buffers.get(place)
    }

    /// The processor whose events a buffer holds; `None` where all processors share one stream.
    pub fn cpu(&self, buffer: &BufferRecord) -> Option<u16> {
        (!self.session.has_one_stream()).then_some(buffer.frame.cpu)
    }

    /// Readable events.
    pub fn events(&self) -> u64 {
        self.buffers.iter().map(|buffer| u64::from(buffer.events)).sum()
    }

    /// Recognisable events that cannot be read.
    pub fn damaged_events(&self) -> u64 {
        self.buffers.iter().map(|buffer| u64::from(buffer.damaged_events)).sum()
    }

    /// Bytes that hold no readable event and should.
    pub fn damaged_bytes(&self) -> u64 {
        let in_buffers: u64 = self.buffers.iter().map(|buffer| u64::from(buffer.damaged_bytes)).sum();
        let between: u64 = self.gaps.iter().map(|gap| gap.len).sum();
        in_buffers + between + self.tail.filter(|tail| tail.kind == TailKind::Fragment).map_or(0, |tail| tail.len)
    }

    /// Whether anything of the file could not be read.
    pub fn is_damaged(&self) -> bool {
        self.damaged_bytes() > 0 || self.damaged_events() > 0
    }

    /// Whether buffers are stored compressed.
    pub fn is_compressed(&self) -> bool {
        self.session.has_mode(mode::COMPRESSED) || self.buffers.iter().any(|buffer| buffer.frame.is_compressed())
    }

    /// File offset behind the last buffer; what stands there is unused, or of an older recording.
    pub fn end_of_buffers(&self) -> u64 {
        let frame = self.buffers.last().map(|buffer| &buffer.frame);
        frame.map_or(0, |frame| frame.offset.saturating_add(u64::from(frame.present)))
    }

    /// Whether the file ends within a buffer.
    pub fn is_truncated(&self) -> bool {
        let cut = |tail: Tail| tail.kind == TailKind::Fragment;
        self.tail.is_some_and(cut) || self.buffers.last().is_some_and(|buffer| buffer.frame.is_truncated())
    }
}

fn ground<'a>(source: &'a Source, session: &Session) -> Ground<'a> {
    Ground {
        source,
        context: session.context(),
        one_stream: session.has_one_stream(),
        in_file_order: session.is_appended(),
        max_expanded: session.max_expanded(),
        fallback_ticks: session.first_ticks.0,
    }
}

/// Surveys a file; what does not fit into memory goes to the system's folder for temporary files.
///
/// # Errors
/// Those of [`survey_within`].
pub fn survey(source: Source, name: String, options: &SurveyOptions, progress: &dyn Progress) -> Result<FileSurvey> {
    survey_within(&SpillSpace::temporary(), source, name, options, progress)
}

/// Surveys a file; `space` is for what does not fit into memory.
///
/// # Errors
/// [`ErrorKind::Input`] when it is no trace or cannot be read, [`ErrorKind::Output`] when there is no space,
/// [`ErrorKind::Interrupted`] when the caller asked to stop.
pub fn survey_within(
    space: &SpillSpace,
    source: Source,
    name: String,
    options: &SurveyOptions,
    progress: &dyn Progress,
) -> Result<FileSurvey> {
    let (session, rules) = session::read(&source)?;
    let clock = session.clock(options.anchor);
    let mut hasher = options.hash.then(FileHash::default);
    let mut survey = Assembly::new(space);
    let mut chain = Chain::new(&source, rules);
    let ground = ground(&source, &session);
    let mut window = next_window(&mut chain, progress)?;
    while window.start < window.end {
        let (start, end) = (window.start, window.end);
        // The next buffers are found while the events of these are counted.
        let ((hashed, tally), next) = rayon::join(
            || {
                rayon::join(
                    || hasher.as_mut().map_or(Ok(()), |hasher| hasher.extend(&source, end, progress)),
                    || tally_frames(&ground, &window.frames, progress),
                )
            },
            || next_window(&mut chain, progress),
        );
        hashed?;
        let tally = tally?;
        timed(progress, Work::Chain, || survey.take(window, tally))?;
        window = next?;
        progress.advance(end - start);
        if progress.is_cancelled() {
            return Err(Error::new(ErrorKind::Interrupted, "interrupted"));
        }
    }
    // The last one has no buffers, and perhaps a tail.
    survey.take(window, Tally::default())?;
    let Assembly { buffers, gaps, tail, shapes, memories, mut findings } = survey;
    let shapes = timed(progress, Work::Chain, || shapes.finish());
    let (memorable, notices, forgotten) = memories.finish();
    forgotten.into_iter().for_each(|finding| findings.push(finding));
    let buffers = buffers.finish()?;
    let blake3 = hasher.map(|hasher| hasher.finish(&source, progress)).transpose()?;
    let mut file =
        FileSurvey { source, name, blake3, session, clock, buffers, gaps, tail, shapes, memorable, notices, findings };
    timed(progress, Work::Chain, || super::audit::audit(&mut file));
    Ok(file)
}

/// What was found in the windows so far.
struct Assembly {
    buffers: SpillWriter<BufferRecord>,
    gaps: Vec<Gap>,
    tail: Option<Tail>,
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
    gaps: Vec<Gap>,
    tail: Option<Tail>,
}

/// The buffers of the next window of the file.
fn next_window(chain: &mut Chain<'_>, progress: &dyn Progress) -> Result<Window> {
    timed(progress, Work::Chain, || {
        let start = chain.offset();
        let mut window = Window { start, end: start, frames: Vec::new(), gaps: Vec::new(), tail: None };
        while chain.offset() < start + WINDOW && window.frames.len() < WINDOW_BUFFERS {
            match chain.next_stretch()? {
                None => break,
                Some(Stretch::Buffer(frame)) => window.frames.push(frame),
                Some(Stretch::Unreadable { ordinal, offset, len }) => window.gaps.push(Gap { ordinal, offset, len }),
                Some(Stretch::Tail { offset, len, kind }) => window.tail = Some(Tail { offset, len, kind }),
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
            tail: None,
            shapes: Shapes::default(),
            memories: Memories::default(),
            findings: Findings::default(),
        }
    }

    /// Adds a window and the counts of its buffers.
    fn take(&mut self, window: Window, tally: Tally) -> Result<()> {
        for &Gap { ordinal, offset, len } in &window.gaps {
            let message = format!("expected a buffer header, found other bytes; {len} bytes are skipped");
            self.findings.push(Finding::new(Severity::Error, "damaged_buffer", message).at(ordinal, offset));
        }
        self.gaps.extend(window.gaps);
        self.tail = window.tail.or(self.tail);
        let Tally { mut records, shapes, memory, mut findings, .. } = tally;
        records.sort_unstable_by_key(|record| record.frame.ordinal);
        self.buffers.extend(&records)?;
        findings.sort_by_key(|finding| (finding.buffer, finding.offset));
        findings.into_iter().for_each(|finding| self.findings.push(finding));
        self.memories.take(memory);
        self.shapes.add(shapes);
        Ok(())
    }
}

fn tally_frames(ground: &Ground<'_>, frames: &[Frame], progress: &dyn Progress) -> Result<Tally> {
    let mean = frames.iter().map(|frame| u64::from(frame.size)).sum::<u64>() / (frames.len() as u64).max(1);
    let together = usize::try_from(EXTENT / mean.max(1)).unwrap_or(1).max(1);
    frames
        .par_chunks(together)
        .try_fold(Tally::default, |mut tally, extent| {
            timed(progress, Work::Survey, || extent.iter().try_for_each(|frame| tally.survey(ground, frame)))?;
            Ok(tally)
        })
        .try_reduce(Tally::default, |a, b| Ok(timed(progress, Work::Survey, || a.merged(b))))
}
