//! Brings segments into the order of the parts that they belong to: of partitions, or of slices.

use std::ops::Range;

use base::error::Result;
use base::progress::{Progress, Step, stop_if_cancelled, timed};
use rayon::prelude::*;
use spill::{Record, SpillSpace, Spilled};

/// Bytes of segments that are sorted at a time, unless one part has more.
const SORTED_BYTES: usize = 32 << 20;

/// Segments of which is known between which parts they are.
const BLOCK: usize = 1 << 12;

/// In which order segments stand within their part.
#[derive(Clone, Copy)]
pub(crate) enum Within<'a, T> {
    /// In that in which they are given.
    AsGiven,
    /// Sorted, part by part.
    Sorted(&'a dyn Fn(&mut [T])),
}

/// The segments by part, as many at a time as memory is meant for: `part_of` says the part of each, `counts` how many each
/// part has.
///
/// # Errors
/// When there is no space, and when the caller asked to stop.
pub(crate) fn by_part<T: Record + Send + Sync>(
    segments: &[T],
    counts: &[usize],
    part_of: impl Fn(&T) -> usize + Sync,
    within: Within<'_, T>,
    space: &SpillSpace,
    progress: &dyn Progress,
) -> Result<Spilled<T>> {
    let parts_of = |block: &[T]| {
        let parts = || block.iter().map(&part_of);
        parts().min().unwrap_or(0)..parts().max().map_or(0, |last| last.saturating_add(1))
    };
    let blocks: Vec<_> = segments.par_chunks(BLOCK).map(|block| (parts_of(block), block)).collect();
    let mut ordered = space.records();
    let mut first = 0;
    while first < counts.len() {
        stop_if_cancelled(progress)?;
        let wanted = first..first + sorted_together(&counts[first..], SORTED_BYTES / size_of::<T>());
        first = wanted.end;
        let touches = |parts: &Range<usize>| parts.start < wanted.end && wanted.start < parts.end;
        if let (1, Within::AsGiven) = (wanted.len(), within) {
            // A part of any size takes no memory.
            let blocks = blocks.iter().filter(|(parts, _)| touches(parts));
            let segments = blocks.flat_map(|(_, block)| *block).filter(|segment| part_of(segment) == wanted.start);
            segments.copied().try_for_each(|segment| ordered.push(segment))?;
            continue;
        }
        let blocks = blocks.par_iter().filter(|(parts, _)| touches(parts));
        let segments = blocks.flat_map_iter(|(_, block)| block.iter().copied());
        let mut some: Vec<T> = segments.filter(|segment| wanted.contains(&part_of(segment))).collect();
        timed(progress, Step::Plan, || sort(&mut some, &part_of, within));
        ordered.extend(&some)?;
    }
    ordered.finish()
}

/// How many parts from the first on have no more than `most` segments together; at least one.
fn sorted_together(counts: &[usize], most: usize) -> usize {
    let mut sum = 0_usize;
    let fits = |count: &&usize| {
        sum = sum.saturating_add(**count);
        sum <= most
    };
    counts.iter().take_while(fits).count().max(1)
}

fn sort<T: Copy>(segments: &mut [T], part_of: impl Fn(&T) -> usize, within: Within<'_, T>) {
    segments.sort_by_key(&part_of);
    if let Within::Sorted(sort) = within {
        segments.chunk_by_mut(|a, b| part_of(a) == part_of(b)).for_each(sort);
    }
}

#[cfg(test)]
mod tests {
    use base::progress::NoProgress;

    use super::*;

    #[test]
    fn parts_are_sorted_together_while_they_are_few() {
        for (counts, expected) in [(&[1, 2, 3, 4][..], 3), (&[6, 1], 1), (&[7, 1], 1), (&[0, 0, 6, 0, 1], 4)] {
            assert_eq!(sorted_together(counts, 6), expected, "{counts:?}");
        }
    }

    #[test]
    fn segments_come_by_part_and_keep_or_change_their_order_within() {
        let segments = [[1, 5], [0, 9], [1, 4], [3, 0], [0, 9], [0, 7]];
        let ordered = |segments: &[[u32; 2]], counts: &[usize], within| {
            let space = SpillSpace::temporary();
            by_part(segments, counts, |segment| segment[0] as usize, within, &space, &NoProgress).unwrap().to_vec()
        };
        let counts = [3, 2, 0, 1];
        assert_eq!(ordered(&segments, &counts, Within::AsGiven), [[0, 9], [0, 9], [0, 7], [1, 5], [1, 4], [3, 0]]);
        let sort = |part: &mut [[u32; 2]]| part.sort_unstable();
        let sorted = ordered(&segments, &counts, Within::Sorted(&sort));
        assert_eq!(sorted, [[0, 7], [0, 9], [0, 9], [1, 4], [1, 5], [3, 0]]);
        // A part that is too large to be sorted with others.
        let most = SORTED_BYTES / size_of::<[u32; 2]>();
        let mut many = vec![[1, 8]; most];
        many.splice(1..2, [[0, 3], [2, 4]]);
        let ordered = ordered(&many, &[1, most - 1, 1], Within::AsGiven);
        assert_eq!((ordered.len(), &ordered[..2], &ordered[most..]), (most + 1, &[[0, 3], [1, 8]][..], &[[2, 4]][..]));
    }
}
