//! A partition and its slices.

use base::error::Result;
use base::progress::Progress;
use spill::SpillSpace;

use super::slices::{self, Slices};
use crate::plan::filter::Overlap;
use crate::plan::{CompiledFilter, PartitionView};

/// A partition that is ready to be converted.
#[derive(Debug)]
pub struct SlicedPartition<'a> {
    /// The partition.
    pub view: PartitionView<'a>,
    /// Its slices, in order.
    pub slices: Slices,
    /// Per input, events that the filters leave out and that are in no slice.
    pub skipped: Vec<u64>,
}

impl<'a> SlicedPartition<'a> {
    /// Lays out the slices of a partition. Of one that lies outside of the time that passes the filter, nothing is
    /// read: the survey has counted its events.
    ///
    /// # Errors
    /// When an input cannot be read or has changed, when there is no space, and when the caller asked to stop.
    pub fn new(
        view: PartitionView<'a>,
        filter: Option<&CompiledFilter>,
        space: &SpillSpace,
        progress: &dyn Progress,
    ) -> Result<SlicedPartition<'a>> {
        let mut skipped = vec![0; view.inputs.len()];
        if filter.is_none_or(|filter| may_pass(&view, filter)) {
            let slices = slices::plan(&view, space, progress)?;
            return Ok(SlicedPartition { view, slices, skipped });
        }
        let mut damaged = vec![0; view.inputs.len()];
        for segment in view.segments {
            skipped[usize::from(segment.input)] += u64::from(segment.events);
            damaged[usize::from(segment.input)] += u64::from(segment.damaged());
        }
        progress.advance(view.partition.events);
        Ok(SlicedPartition { view, slices: Slices::none(damaged), skipped })
    }
}

/// Whether any event of the partition lies in the time that passes.
fn may_pass(view: &PartitionView<'_>, filter: &CompiledFilter) -> bool {
    view.segments.iter().any(|segment| {
        let overlap = view.overlap(segment, &view.partition.range, filter.window());
        segment.events > 0 && matches!(overlap, Overlap::Inside | Overlap::Across)
    })
}
