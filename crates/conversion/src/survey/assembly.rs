//! What a pass has found so far, batch by batch.

use base::error::Result;
use base::progress::{Progress, Step, timed};
use etl::buffer::scan::{BufferExtent, UnreadableRegion};
use etl::event::Shape;
use spill::{SpillSpace, SpillWriter, Spilled};

use super::buffer_summary::BufferSummary;
use super::count::Counts;
use super::descriptive::DescriptiveEvents;
use super::ending::{Ending, Tail};
use super::hash::{SUBTREE, StretchHash};
use super::issue::{Issue, Issues};
use super::marked::{MarkLog, MarkedEvent, NoticeLog};
use super::options::Keeps;
use super::shapes::{ShapeSummary, Shapes};
use super::stretch_survey::{RegionRecord, StretchFound, StretchPlace, StretchSurvey};
use super::unreadable::{RegionLog, UnreadableRegions};
use super::walks::{WalkLog, WalkRoom};

/// Buffers of a stretch that are taken over together.
const BLOCK: usize = 4096;

/// What a pass found, each list in file order or in its own.
pub(super) struct PassResult {
    pub(super) buffers: Spilled<BufferSummary>,
    pub(super) unreadable: UnreadableRegions,
    pub(super) tail: Option<Tail>,
    pub(super) shapes: Vec<(Shape, ShapeSummary)>,
    pub(super) marked: Vec<MarkedEvent>,
    pub(super) notices: NoticeLog,
    pub(super) descriptive: DescriptiveEvents,
    pub(super) walks: Option<WalkLog>,
    pub(super) issues: Issues,
}

/// Some buffers that follow one another in the file, and what stands between them.
pub(super) struct Batch {
    /// File offset of the first byte.
    pub(super) start: u64,
    /// File offset behind the last one; no more than `start` at the end of the file.
    pub(super) end: u64,
    pub(super) extents: Vec<BufferExtent>,
    pub(super) doubts: Vec<Issue>,
    pub(super) regions: Vec<UnreadableRegion>,
    pub(super) fragment: Option<Tail>,
}

impl Batch {
    /// The buffers that begin in the subtree of the hash with this number.
    pub(super) fn beginning_in(&self, number: u64) -> &[BufferExtent] {
        let place = |number: u64| self.extents.partition_point(|extent| extent.offset / SUBTREE < number);
        self.extents.get(place(number)..place(number + 1)).unwrap_or_default()
    }
}

/// What was found in the batches so far.
pub(super) struct Assembly {
    buffers: SpillWriter<BufferSummary>,
    regions: RegionLog,
    /// In a stretch of a file, instead of those: whoever knows the regions before says which ones are kept.
    each_region: Option<SpillWriter<RegionRecord>>,
    fragment: Option<Tail>,
    shapes: Shapes,
    marks: MarkLog,
    descriptive: DescriptiveEvents,
    walks: Option<WalkLog>,
    issues: Issues,
}

impl Assembly {
    /// For the batches from the start of a file on, of whose events something is kept.
    pub(super) fn new(space: &SpillSpace, keeps: Keeps) -> Self {
        Assembly {
            buffers: space.records(),
            regions: RegionLog::new(),
            each_region: None,
            fragment: None,
            shapes: Shapes::default(),
            marks: MarkLog::default(),
            descriptive: DescriptiveEvents::of_subjects(keeps.subjects),
            walks: keeps.stacks.then(|| WalkLog::new(space)),
            issues: Issues::default(),
        }
    }

    /// For the batches of a stretch of a file.
    pub(super) fn of_stretch(space: &SpillSpace) -> Self {
        Assembly { each_region: Some(space.records()), ..Assembly::new(space, Keeps::default()) }
    }

    /// Adds a batch and the counts of its buffers.
    pub(super) fn take(&mut self, batch: Batch, mut counts: Counts, room: &WalkRoom) -> Result<()> {
        self.descriptive.add(counts.take_descriptive());
        if let Some(log) = &mut self.walks {
            log.take_down(std::mem::take(&mut counts.walks), room)?;
        }
        match &mut self.each_region {
            None => batch.regions.into_iter().for_each(|region| self.regions.take(region)),
            Some(each) => batch.regions.iter().try_for_each(|region| each.push(RegionRecord::of(region)))?,
        }
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

    /// Adds what was found in the next stretch of the file, of buffers whose numbers are higher by `shift`.
    pub(super) fn join(&mut self, stretch: StretchSurvey, shift: u64) -> Result<()> {
        let StretchSurvey { found, buffers, regions } = stretch;
        // Whoever surveyed the stretch has kept nothing of them.
        buffers.first().into_iter().for_each(|first| self.cover(first.moved(shift).extent.ordinal));
        for some in buffers.chunks(BLOCK) {
            let moved: Vec<_> = some.iter().map(|buffer| buffer.moved(shift)).collect();
            self.buffers.extend(&moved)?;
        }
        regions.iter().filter_map(|region| region.moved(shift)).for_each(|region| self.regions.take(region));
        self.fragment = found.fragment.or(self.fragment);
        self.issues.append(found.issues.moved(shift));
        self.marks.join(found.marks, shift);
        self.shapes.add_stored(found.shapes, shift);
        Ok(())
    }

    /// Says that what the buffers record of stacks is kept no more from this one on.
    fn cover(&mut self, first: u64) {
        self.walks.iter_mut().for_each(|log| log.cover(first));
    }

    /// What was found in a stretch; `place` says where a scan went through it.
    pub(super) fn finish_stretch(self, place: StretchPlace, hash: StretchHash) -> Result<StretchSurvey> {
        let Assembly { buffers, each_region, fragment, shapes, marks, issues, .. } = self;
        let found = StretchFound { place, fragment, shapes: shapes.into_stored(), marks, issues, hash };
        let regions = each_region.map_or_else(|| Ok(Spilled::default()), SpillWriter::finish)?;
        Ok(StretchSurvey { found, buffers: buffers.finish()?, regions })
    }

    /// What was found in all of the file; `ending` says what decides how much of its end is unused.
    pub(super) fn finish(
        mut self,
        progress: &dyn Progress,
        ending: impl FnOnce(&[BufferSummary]) -> Ending,
    ) -> Result<PassResult> {
        self.cover(u64::MAX);
        let Assembly { buffers, regions, fragment, shapes, marks, mut descriptive, walks, mut issues, .. } = self;
        descriptive.sort();
        let buffers = buffers.finish()?;
        let ending = fragment.is_none().then(|| ending(&buffers));
        let (unreadable, unused) = regions.finish(ending);
        let tail = fragment.or(unused);
        unreadable.issues().for_each(|issue| issues.push(issue));
        let shapes = timed(progress, Step::Scan, || shapes.finish());
        let (marked, notices, forgotten) = marks.finish();
        forgotten.into_iter().for_each(|issue| issues.push(issue));
        Ok(PassResult { buffers, unreadable, tail, shapes, marked, notices, descriptive, walks, issues })
    }
}
