//! Which events of a slice were found again behind damage.

use etl::event::Gap;

use super::aside::AsideOffsets;
use super::entry::Entry;
use super::order::OrderedSlice;

/// Knows of each event of a slice whether it stands behind the gap of its buffer.
pub(super) struct Recovered<'a> {
    /// By number of the segment; none where no buffer of the slice has a gap.
    segments: Vec<(Gap, Option<AsideOffsets<'a>>)>,
}

impl<'a> Recovered<'a> {
    pub(super) fn of(ordered: &'a OrderedSlice<'_>) -> Self {
        if ordered.places().all(|(_, buffer, _)| buffer.gap == Gap::NONE) {
            return Recovered { segments: Vec::new() };
        }
        Recovered { segments: ordered.places().map(|(_, buffer, aside)| (buffer.gap, aside)).collect() }
    }

    #[inline]
    pub(super) fn has(&self, entry: &Entry) -> bool {
        !self.segments.is_empty() && self.is_behind_gap(entry)
    }

    #[cold]
    fn is_behind_gap(&self, entry: &Entry) -> bool {
        let Some((gap, aside)) = self.segments.get(entry.segment as usize) else { return false };
        let offset = aside.map_or(Some(entry.offset), |aside| aside.in_buffer(entry.offset));
        offset.is_some_and(|offset| gap.is_before(offset))
    }
}
