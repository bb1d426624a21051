//! What one process finds in a stretch of an input, and when it is what one pass over all of it finds there.
//!
//! Where the scan of a stretch begins is a guess, and so are the numbers of its buffers. What it found counts where the scan that comes
//! from before goes by that very place in a state that makes no difference; if it does not, the stretch is surveyed anew.

use etl::buffer::scan::{RegionContent, ScanRules, ScanState, UnreadableRegion};
use etl::input::{Identity, Input};
use etl::reader::ReadRules;
use serde::{Deserialize, Serialize};
use spill::Spilled;
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout};

use super::buffer_summary::BufferSummary;
use super::ending::Tail;
use super::hash::StretchHash;
use super::issue::Issues;
use super::marked::MarkLog;
use super::shapes::StoredShapes;
use super::stretch::Stretch;

/// What was found in a stretch.
#[derive(Debug)]
pub(super) struct StretchSurvey {
    /// All but its buffers and what stands between them.
    pub(super) found: StretchFound,
    /// The buffers that begin in it, in file order.
    pub(super) buffers: Spilled<BufferSummary>,
    /// What is no buffer, in file order.
    pub(super) regions: Spilled<RegionRecord>,
}

/// All that was found in a stretch but its buffers and what stands between them.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct StretchFound {
    pub(super) place: StretchPlace,
    pub(super) fragment: Option<Tail>,
    pub(super) shapes: StoredShapes,
    pub(super) marks: MarkLog,
    pub(super) issues: Issues,
    pub(super) hash: StretchHash,
}

/// Which stretch of which input was scanned, how, and from where to where.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct StretchPlace {
    /// What decides what is found, besides the bytes.
    pub(super) subject: StretchSubject,
    /// The guess.
    pub(super) start: ScanState,
    /// Behind the last region that begins in the stretch.
    pub(super) end: ScanState,
    /// How much more could have been spent in front of it.
    pub(super) spare: u64,
}

/// A stretch of an input, and how its buffers are found and read.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct StretchSubject {
    pub(super) identity: Identity,
    pub(super) stretch: Stretch,
    pub(super) scan: ScanRules,
    pub(super) read: ReadRules,
}

/// A region that is no buffer, as it is stored.
#[derive(Clone, Copy, Debug, FromBytes, Immutable, IntoBytes, KnownLayout)]
#[repr(C)]
pub(super) struct RegionRecord {
    ordinal: u64,
    buffers: u64,
    offset: u64,
    len: u64,
    content: u64,
}

/// What can stand in a region, by the number that is stored.
const CONTENTS: [RegionContent; 5] =
    [RegionContent::Foreign, RegionContent::Zeros, RegionContent::Ones, RegionContent::Stale, RegionContent::Repeated];

impl RegionRecord {
    pub(super) fn of(region: &UnreadableRegion) -> Self {
        let UnreadableRegion { ordinal, buffers, offset, len, content } = *region;
        let content = CONTENTS.iter().zip(0..).find(|(own, _)| **own == content).map_or(0, |(_, number)| number);
        RegionRecord { ordinal, buffers, offset, len, content }
    }

    /// The region with a number that is higher by `shift`; `None` where nobody knows what it holds.
    pub(super) fn moved(&self, shift: u64) -> Option<UnreadableRegion> {
        let RegionRecord { ordinal, buffers, offset, len, content } = *self;
        let content = *CONTENTS.get(usize::try_from(content).ok()?)?;
        Some(UnreadableRegion { ordinal: ordinal.saturating_add(shift), buffers, offset, len, content })
    }
}

impl StretchSurvey {
    /// Whether no region begins in it, as far as is known.
    pub(super) fn is_empty(&self) -> bool {
        self.found.place.start.offset == self.found.place.end.offset
    }

    /// The state behind the stretch of a scan that comes to it in the state `before`, and by how much the numbers of its buffers are
    /// higher than was guessed; `None` where that scan may find other things in it.
    pub(super) fn behind(&self, before: ScanState) -> Option<(ScanState, u64)> {
        let StretchPlace { subject, start, end, spare } = &self.found.place;
        let begins_with_buffer = self.buffers.first().is_some_and(|first| first.extent.offset == start.offset);
        let fits = before.offset == start.offset
            && (begins_with_buffer || before.after_unreadable == start.after_unreadable)
            && (subject.scan.stride.is_none() || before.ordinal == start.ordinal)
            && before.spent <= *spare;
        let shift = before.ordinal.checked_sub(start.ordinal).filter(|_| fits)?;
        let ordinal = end.ordinal.checked_add(shift)?;
        let spent = end.spent.saturating_add(before.spent);
        Some((ScanState { ordinal, spent, ..*end }, shift))
    }

    /// What contradicts what was found, or the input: what comes from a file is not believed.
    pub(super) fn fault(&self, input: &dyn Input) -> Option<&'static str> {
        let StretchFound { place, shapes, marks, issues, hash, .. } = &self.found;
        let size = input.size();
        let events = self.buffers.iter().map(|buffer| u64::from(buffer.events)).sum();
        let numbers = place.start.ordinal..place.end.ordinal;
        match () {
            () if !self.are_regions_without_gap(size) => Some("its buffers do not follow one another"),
            () if !shapes.may_be_of(&numbers, events) => Some("its event shapes have other events than its buffers"),
            () if !marks.may_be_of(&numbers, events) => Some("it names events that its buffers do not have"),
            () if !issues.are_of(&numbers, size) => Some("it names issues of other buffers"),
            () if !hash.is_of(&place.subject.stretch.bytes(size), input) => Some("it has the hash of other bytes"),
            () => None,
        }
    }

    /// Whether buffers and regions, with their numbers, lead from the start to the end of the scan.
    fn are_regions_without_gap(&self, size: u64) -> bool {
        let StretchPlace { start, end, .. } = self.found.place;
        let mut chain = Chain { offset: start.offset, ordinal: start.ordinal, size };
        let mut regions = &self.regions[..];
        for BufferSummary { extent, .. } in self.buffers.iter() {
            let before = regions.iter().take_while(|region| region.offset < extent.offset).count();
            let (next, rest) = regions.split_at(before);
            if !chain.take_all(next) || !chain.take(extent.offset, extent.stored_len.into(), (extent.ordinal, 1)) {
                return false;
            }
            regions = rest;
        }
        chain.take_all(regions)
            && self.found.fragment.is_none_or(|tail| chain.take(tail.offset, tail.len, (chain.ordinal, 0)))
            && (chain.offset, chain.ordinal) == (end.offset, end.ordinal)
    }
}

/// Regions that follow one another, up to here.
struct Chain {
    offset: u64,
    ordinal: u64,
    /// Bytes of the file.
    size: u64,
}

impl Chain {
    /// Whether the next region can be the next.
    fn take(&mut self, offset: u64, len: u64, (ordinal, buffers): (u64, u64)) -> bool {
        let is_next = offset == self.offset && len > 0 && ordinal == self.ordinal && buffers <= len;
        self.offset = self.offset.saturating_add(len);
        self.ordinal = self.ordinal.saturating_add(buffers);
        is_next && self.offset <= self.size
    }

    fn take_all(&mut self, regions: &[RegionRecord]) -> bool {
        regions.iter().all(|region| {
            // What goes on from one step to the next counts as one buffer.
            let ordinal = if region.buffers == 0 { region.ordinal.saturating_add(1) } else { region.ordinal };
            region.moved(0).is_some() && self.take(region.offset, region.len, (ordinal, region.buffers))
        })
    }
}
