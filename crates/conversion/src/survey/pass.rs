//! One pass over a file: scan, counts, hash, in batches that keep all cores busy.

use base::error::Result;
use base::progress::{Progress, Step, stop_if_cancelled, timed};
use etl::buffer::scan::{BufferExtent, BufferScan, Doubt, Region, ScanRules, UnreadableRegion};
use etl::event::Shape;
use etl::reader::BufferReader;
use etl::session::Session;
use rayon::prelude::*;
use spill::{SpillSpace, SpillWriter, Spilled};

use super::buffer_summary::BufferSummary;
use super::count::Counts;
use super::descriptive::{DescriptiveEvents, KeepBudget};
use super::ending::{Ending, Tail, TailKind};
use super::hash::{FileHash, SUBTREE};
use super::issue::{Issue, Issues, Severity};
use super::issue_code::IssueCode;
use super::marked::{MarkLog, MarkedEvent, NoticeLog};
use super::shapes::{ShapeSummary, Shapes};
use super::unreadable::{RegionLog, UnreadableRegions};

/// Bytes that are surveyed and hashed together: enough for many cores, small enough to stay in their caches' reach
/// and for a steady progress bar.
const BATCH_BYTES: u64 = 64 << 20;

/// Buffers at which a batch ends early: small ones weigh more as records than as bytes.
const BATCH_BUFFERS: usize = 1 << 16;

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
pub(super) struct PassResult {
    pub(super) buffers: Spilled<BufferSummary>,
    pub(super) unreadable: UnreadableRegions,
    pub(super) tail: Option<Tail>,
    pub(super) shapes: Vec<(Shape, ShapeSummary)>,
    pub(super) marked: Vec<MarkedEvent>,
    pub(super) notices: NoticeLog,
    pub(super) descriptive: DescriptiveEvents,
    pub(super) issues: Issues,
}

impl Pass<'_> {
    /// Visits every buffer of the file but those that begin at the offsets in `repeated`.
    ///
    /// # Errors
    /// When the file cannot be read, when there is no space, or [`ErrorKind::Interrupted`](base::error::ErrorKind::Interrupted).
    pub(super) fn over(&self, repeated: &[u64], mut hasher: Option<&mut FileHash>) -> Result<PassResult> {
        let (input, progress) = (self.reader.input, self.progress);
        let mut survey = Assembly::new(self.space);
        let room = KeepBudget::of(input.size());
        let mut scan = BufferScan::new(input, self.scan, repeated);
        let mut batch = next_batch(&mut scan, progress)?;
        while batch.start < batch.end {
            let (start, end) = (batch.start, batch.end);
            // The next buffers are found while the events of these are counted.
            let (counts, next) =
                rayon::join(|| self.count(&batch, hasher.as_deref_mut(), &room), || next_batch(&mut scan, progress));
            let counts = counts?;
            timed(progress, Step::Scan, || survey.take(batch, counts))?;
            batch = next?;
            progress.advance(end - start);
            stop_if_cancelled(progress)?;
        }
        survey.finish(self)
    }

    /// Counts the events of a batch, and hashes the subtrees that end in it: a worker reads one, hashes it, and counts the
    /// events of the buffers that begin in it while its bytes are in the cache.
    fn count(&self, batch: &Batch, hasher: Option<&mut FileHash>, room: &KeepBudget) -> Result<Counts> {
        let to_hash = hasher.as_ref().map_or(0..0, |hasher| hasher.next(self.reader.input, batch.end));
        let first = to_hash.clone().next().unwrap_or(u64::MAX).min(batch.start / SUBTREE);
        let worker = (first..batch.end.div_ceil(SUBTREE))
            .into_par_iter()
            .try_fold(
                || Worker { counts: Counts::keeping(room), ..Worker::default() },
                |worker, number| worker.take(self, number, batch.beginning_in(number), to_hash.contains(&number)),
            )
            .try_reduce(Worker::default, |a, b| Ok(timed(self.progress, Step::Survey, || a.merged(b))))?;
        if let Some(hasher) = hasher {
            hasher.append(worker.hash);
        }
        Ok(worker.counts)
    }
}

/// What one worker counts and hashes of subtrees that follow one another.
#[derive(Default)]
struct Worker {
    counts: Counts,
    hash: FileHash,
    scratch: Vec<u8>,
}

impl Worker {
    /// Takes a subtree of the file with the buffers that begin in it.
    fn take(self, pass: &Pass<'_>, number: u64, extents: &[BufferExtent], is_hashed: bool) -> Result<Self> {
        let (Pass { reader, progress, .. }, Worker { mut counts, mut hash, mut scratch }) = (*pass, self);
        stop_if_cancelled(progress)?;
        let bytes = if is_hashed {
            timed(progress, Step::Hash, || hash.read(reader.input, number, &mut scratch))?
        } else {
            &[]
        };
        timed(progress, Step::Survey, || {
            extents.iter().try_for_each(|extent| {
                stop_if_cancelled(progress)?;
                counts.survey(&reader, extent, (number * SUBTREE, bytes))
            })
        })?;
        Ok(Worker { counts, hash, scratch })
    }

    /// Adds what another worker has found behind it.
    fn merged(mut self, other: Worker) -> Worker {
        self.hash.append(other.hash);
        Worker { counts: self.counts.merged(other.counts), ..self }
    }
}

/// What was found in the batches so far.
struct Assembly {
    buffers: SpillWriter<BufferSummary>,
    regions: RegionLog,
    fragment: Option<Tail>,
    shapes: Shapes,
    marks: MarkLog,
    descriptive: DescriptiveEvents,
    issues: Issues,
}

/// Some buffers that follow one another in the file, and what stands between them.
struct Batch {
    /// File offset of the first byte.
    start: u64,
    /// File offset behind the last one; no more than `start` at the end of the file.
    end: u64,
    extents: Vec<BufferExtent>,
    doubts: Vec<Issue>,
    regions: Vec<UnreadableRegion>,
    fragment: Option<Tail>,
}

impl Batch {
    /// The buffers that begin in the subtree of the hash with this number.
    fn beginning_in(&self, number: u64) -> &[BufferExtent] {
        let place = |number: u64| self.extents.partition_point(|extent| extent.offset / SUBTREE < number);
        self.extents.get(place(number)..place(number + 1)).unwrap_or_default()
    }
}

/// The buffers of the next batch of the file.
fn next_batch(scan: &mut BufferScan<'_>, progress: &dyn Progress) -> Result<Batch> {
    timed(progress, Step::Scan, || {
        let start = scan.offset();
        let (extents, doubts, regions, fragment) = (Vec::new(), Vec::new(), Vec::new(), None);
        let mut batch = Batch { start, end: start, extents, doubts, regions, fragment };
        while scan.offset() < start + BATCH_BYTES && batch.extents.len() + batch.regions.len() < BATCH_BUFFERS {
            stop_if_cancelled(progress)?;
            match scan.next_region()? {
                None => break,
                Some(Region::Buffer(extent, doubt)) => {
                    batch.doubts.extend(doubt.map(|doubt| doubt_issue(&extent, doubt)));
                    batch.extents.push(extent);
                }
                Some(Region::Unreadable(region)) => batch.regions.push(region),
                Some(Region::Fragment { offset, len }) => {
                    batch.fragment = Some(Tail { offset, len, kind: TailKind::Fragment });
                }
            }
        }
        batch.end = scan.offset();
        Ok(batch)
    })
}

impl Assembly {
    fn new(space: &SpillSpace) -> Self {
        Assembly {
            buffers: space.records(),
            regions: RegionLog::new(),
            fragment: None,
            shapes: Shapes::default(),
            marks: MarkLog::default(),
            descriptive: DescriptiveEvents::default(),
            issues: Issues::default(),
        }
    }

    /// Adds a batch and the counts of its buffers.
    fn take(&mut self, batch: Batch, mut counts: Counts) -> Result<()> {
        self.descriptive.add(counts.take_descriptive());
        batch.regions.into_iter().for_each(|region| self.regions.take(region));
        self.fragment = batch.fragment.or(self.fragment);
        let Counts { mut buffers, shapes, marks, mut issues, .. } = counts;
        buffers.sort_unstable_by_key(|buffer| buffer.extent.ordinal);
        self.buffers.extend(&buffers)?;
        issues.extend(batch.doubts);
        issues.sort_by_key(|issue| (issue.buffer, issue.offset));
        issues.into_iter().for_each(|issue| self.issues.push(issue));
        self.marks.take(marks);
        self.shapes.add(shapes);
        Ok(())
    }

    fn finish(self, pass: &Pass<'_>) -> Result<PassResult> {
        let Assembly { buffers, regions, fragment, shapes, marks, mut descriptive, mut issues } = self;
        descriptive.sort();
        let buffers = buffers.finish()?;
        let ending = fragment.is_none().then(|| ending_of(pass, &buffers));
        let (unreadable, unused) = regions.finish(ending);
        let tail = fragment.or(unused);
        unreadable.issues().for_each(|issue| issues.push(issue));
        let shapes = timed(pass.progress, Step::Scan, || shapes.finish());
        let (marked, notices, forgotten) = marks.finish();
        forgotten.into_iter().for_each(|issue| issues.push(issue));
        Ok(PassResult { buffers, unreadable, tail, shapes, marked, notices, descriptive, issues })
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

fn doubt_issue(extent: &BufferExtent, doubt: Doubt) -> Issue {
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
