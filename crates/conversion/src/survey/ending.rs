//! Distinguishes the unused end of a file from a hole in it.

use std::collections::VecDeque;

use etl::buffer::scan::{RegionContent, UnreadableRegion};
use serde::{Deserialize, Serialize};

/// What stands behind the last buffer of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tail {
    /// File offset of the first byte.
    pub offset: u64,
    /// Bytes.
    pub len: u64,
    /// What it holds.
    pub kind: TailKind,
}

/// What can stand behind the last buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum TailKind {
    /// Zeros of a file that was extended before it was filled.
    Zero,
    /// FF, for the same reason.
    Ones,
    /// Buffers of an older recording in a file that was extended before it was filled.
    Stale,
    /// Too few bytes for a buffer header.
    Fragment,
}

/// What decides how much of the end of a file is unused.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ending {
    /// Length of the file.
    pub file_len: u64,
    /// The distance that all buffers share.
    pub stride: Option<u32>,
    /// Buffers that a closed session wrote, less those that are there. What is left of them when the holes in the file
    /// are accounted for stood in the first part of what is unused now.
    pub owed: u64,
    /// Whether anything but the header buffer is known to be of this recording. If nothing is, and no count shows it, what
    /// looks older may be all there is: then it is the session's start that is wrong.
    pub knows_its_own: bool,
}

/// Takes what is unused to the end of the file off the regions; what is no buffer anywhere else is a hole.
pub(super) fn split_off(regions: &mut Vec<UnreadableRegion>, ending: Ending) -> Option<Tail> {
    let unused = unused_from(regions, ending.file_len);
    let is_stale = |region: &UnreadableRegion| region.content == RegionContent::Stale;
    if regions.get(unused..)?.iter().any(is_stale) && !ending.knows_its_own {
        return None;
    }
    let holes = regions
        .get(..unused)?
        .iter()
        .filter(|region| region.content != RegionContent::Repeated)
        .map(|region| region.buffers);
    let owed = ending.owed.saturating_sub(holes.sum());
    let rest = settle_debt(regions, unused, Ending { owed, ..ending });
    let (first, last) = (rest.front()?, rest.back()?);
    let kind = match first.content {
        _ if rest.iter().any(is_stale) => TailKind::Stale,
        RegionContent::Ones => TailKind::Ones,
        _ => TailKind::Zero,
    };
    Some(Tail { offset: first.offset, len: last.end() - first.offset, kind })
}

/// The first of the regions that may be unused and reach to the end of the file without a break.
fn unused_from(regions: &[UnreadableRegion], file_len: u64) -> usize {
    let mut end = file_len;
    let reaches = |region: &&UnreadableRegion| {
        let reaches = region.may_be_unused() && region.end() == end;
        end = region.offset;
        reaches
    };
    regions.len() - regions.iter().rev().take_while(reaches).count()
}

/// Leaves as many buffers as the recording lacks among the regions, and returns what is behind them.
fn settle_debt(regions: &mut Vec<UnreadableRegion>, unused: usize, ending: Ending) -> VecDeque<UnreadableRegion> {
    let mut rest = VecDeque::from(regions.split_off(unused));
    // Where sizes differ, nobody knows how many bytes the missing buffers had.
    let Some(stride) = ending.stride.map(u64::from) else { return rest };
    let mut owed = ending.owed;
    while owed > 0
        && let Some(region) = rest.pop_front()
    {
        let buffers = region.buffers.min(owed);
        let len = if buffers == region.buffers { region.len } else { buffers.saturating_mul(stride).min(region.len) };
        regions.push(UnreadableRegion { buffers, len, ..region });
        owed -= buffers;
        if len < region.len {
            let (ordinal, offset) = (region.ordinal + buffers, region.offset + len);
            rest.push_front(UnreadableRegion {
                ordinal,
                buffers: region.buffers - buffers,
                offset,
                len: region.len - len,
                ..region
            });
        }
    }
    rest
}

#[cfg(test)]
mod tests {
    use super::*;

    fn region(ordinal: u64, buffers: u64, content: RegionContent) -> UnreadableRegion {
        UnreadableRegion { ordinal, buffers, offset: ordinal * 0x200, len: buffers * 0x200, content }
    }

    /// Number and length, in buffers, of the regions; place and length of the tail.
    type Split = (Vec<(u64, u64)>, Option<(u64, u64, TailKind)>);

    fn split(mut regions: Vec<UnreadableRegion>, owed: u64, knows_its_own: bool) -> Split {
        let file_len = 10 * 0x200;
        let tail = split_off(&mut regions, Ending { file_len, stride: Some(0x200), owed, knows_its_own });
        let regions = regions.iter().map(|region| (region.ordinal, region.buffers)).collect();
        (regions, tail.map(|tail| (tail.offset / 0x200, tail.len / 0x200, tail.kind)))
    }

    #[test]
    fn what_is_unused_reaches_to_the_end() {
        use RegionContent::{Foreign, Ones, Stale, Zeros};
        assert_eq!(
            split(vec![region(3, 1, Zeros), region(8, 2, Zeros)], 0, true),
            (vec![(3, 1)], Some((8, 2, TailKind::Zero)))
        );
        assert_eq!(split(vec![region(8, 2, Ones)], 0, true), (vec![], Some((8, 2, TailKind::Ones))));
        assert_eq!(
            split(vec![region(7, 1, Zeros), region(8, 2, Stale)], 0, true),
            (vec![], Some((7, 3, TailKind::Stale)))
        );
        assert_eq!(split(vec![region(8, 1, Zeros)], 0, true), (vec![(8, 1)], None));
        assert_eq!(split(vec![region(8, 1, Zeros), region(9, 1, Foreign)], 0, true), (vec![(8, 1), (9, 1)], None));
        assert_eq!(split(vec![], 0, true), (vec![], None));
    }

    #[test]
    fn what_the_recording_lacks_was_there() {
        use RegionContent::{Stale, Zeros};
        assert_eq!(split(vec![region(6, 4, Zeros)], 1, true), (vec![(6, 1)], Some((7, 3, TailKind::Zero))));
        assert_eq!(split(vec![region(6, 4, Zeros)], 5, true), (vec![(6, 4)], None));
        // Holes are buffers of the recording, too.
        assert_eq!(
            split(vec![region(2, 1, Zeros), region(6, 4, Zeros)], 1, true),
            (vec![(2, 1)], Some((6, 4, TailKind::Zero)))
        );
        assert_eq!(
            split(vec![region(6, 2, Stale), region(8, 2, Zeros)], 3, true),
            (vec![(6, 2), (8, 1)], Some((9, 1, TailKind::Zero)))
        );
    }

    #[test]
    fn an_old_end_needs_something_new_before_it() {
        assert_eq!(split(vec![region(1, 9, RegionContent::Stale)], 0, false), (vec![(1, 9)], None));
    }
}
