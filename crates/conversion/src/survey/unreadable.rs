//! What cannot be read of a file: the first regions one by one, all others as a sum.

use etl::buffer::scan::{RegionContent, UnreadableRegion};
use serde::{Deserialize, Serialize};

use super::ending::{self, Ending, Tail};
use super::issue::{Issue, Severity};
use super::issue_code::IssueCode;

/// Regions that are kept one by one: far more than a trace that is worth reading has.
const LISTED: usize = 10_000;

/// The regions of a file that are no buffers, or none that is read.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct UnreadableRegions {
    listed: Vec<UnreadableRegion>,
    further: Option<FurtherRegions>,
}

/// Regions behind so many others that they are not kept one by one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FurtherRegions {
    /// How many there are.
    pub regions: u64,
    /// Their bytes.
    pub bytes: u64,
    /// The bytes of those that are no repeated buffers.
    pub lost_bytes: u64,
    /// How many buffers should be in those.
    pub lost_buffers: u64,
    /// Number of the first buffer that should be here.
    pub first_buffer: u64,
    /// Number of the last.
    pub last_buffer: u64,
    /// File offset of the first byte.
    pub offset: u64,
}

impl UnreadableRegions {
    /// Those that are kept one by one, in file order.
    pub fn listed(&self) -> &[UnreadableRegion] {
        &self.listed
    }

    /// All others, which lie behind them.
    pub fn further(&self) -> Option<&FurtherRegions> {
        self.further.as_ref()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.listed.is_empty() && self.further.is_none()
    }

    /// Bytes of all of them.
    pub fn bytes(&self) -> u64 {
        let listed = self.listed.iter().map(|region| region.len);
        listed.chain(self.further.map(|further| further.bytes)).fold(0, u64::saturating_add)
    }

    /// Buffers that should be there and are nowhere else in the file.
    pub fn lost_buffers(&self) -> u64 {
        let listed = self.listed.iter().filter(|region| is_lost(region)).map(|region| region.buffers);
        listed.chain(self.further.map(|further| further.lost_buffers)).fold(0, u64::saturating_add)
    }

    /// Whether all of them lie in a file of this size: what comes from a file is not believed.
    pub(super) fn lie_within(&self, size: u64) -> bool {
        let is_inside = |region: &UnreadableRegion| {
            let end = region.offset.checked_add(region.len);
            end.is_some_and(|end| end <= size) && region.ordinal.checked_add(region.buffers).is_some()
        };
        self.listed.iter().all(is_inside)
            && self.further.is_none_or(|further| further.offset <= size && further.lost_bytes <= further.bytes)
            && self.bytes() <= size
            && self.lost_buffers() <= size
    }

    /// What is unusual about them, in file order.
    pub(super) fn issues(&self) -> impl Iterator<Item = Issue> {
        self.listed.iter().map(issue).chain(self.further.as_ref().map(further_issue))
    }

    /// Counts a region; one that goes on where the last one ends is no other.
    fn add(&mut self, region: &UnreadableRegion, goes_on: bool) {
        let further = self.further.get_or_insert(FurtherRegions {
            regions: 0,
            bytes: 0,
            lost_bytes: 0,
            lost_buffers: 0,
            first_buffer: region.ordinal,
            last_buffer: region.ordinal,
            offset: region.offset,
        });
        further.regions += u64::from(!goes_on);
        further.bytes += region.len;
        further.last_buffer = region.ordinal + region.buffers.saturating_sub(1);
        if is_lost(region) {
            further.lost_bytes += region.len;
            further.lost_buffers += region.buffers;
        }
    }
}

/// Whether a region is not a buffer that the file has already.
fn is_lost(region: &UnreadableRegion) -> bool {
    region.content != RegionContent::Repeated
}

fn issue(region: &UnreadableRegion) -> Issue {
    let what = match region.content {
        RegionContent::Foreign => "other bytes",
        RegionContent::Zeros => "zeros",
        RegionContent::Ones => "FF",
        RegionContent::Stale => "a buffer of an older recording",
        RegionContent::Repeated => {
            let message = "a buffer that stands in the file twice, to the last byte; it is read once";
            return Issue::new(Severity::Error, IssueCode::RepeatedBuffer, message).at(region.ordinal, region.offset);
        }
    };
    let message = format!("expected a buffer header, found {what}; {} bytes are skipped", region.len);
    Issue::new(Severity::Error, IssueCode::DamagedBuffer, message).at(region.ordinal, region.offset)
}

fn further_issue(further: &FurtherRegions) -> Issue {
    let message = format!(
        "in {} more places, from here on, no buffer is read, {} bytes in all; they are not listed one by one",
        further.regions, further.bytes
    );
    Issue::new(Severity::Error, IssueCode::RegionsLeftOut, message).at(further.first_buffer, further.offset)
}

/// Regions while they are found, in file order.
#[derive(Debug)]
pub(super) struct RegionLog {
    regions: UnreadableRegions,
    /// Beyond those that are listed, the last ones without a break between them that may be unused space: what the end of
    /// the file is, is known only there.
    open: Vec<UnreadableRegion>,
    /// Where the last of the regions that are only counted ends, and what it holds.
    counted: Option<(u64, RegionContent)>,
    most: usize,
}

impl RegionLog {
    pub(super) fn new() -> Self {
        RegionLog::of(LISTED)
    }

    fn of(most: usize) -> Self {
        RegionLog { regions: UnreadableRegions::default(), open: Vec::new(), counted: None, most }
    }

    /// Adds the next region.
    pub(super) fn take(&mut self, region: UnreadableRegion) {
        if self.extend_last(&region) {
            return;
        }
        if self.is_listing() && self.regions.listed.len() < self.most {
            self.regions.listed.push(region);
        } else if region.may_be_unused() {
            if self.open.last().is_some_and(|last| last.end() != region.offset) {
                self.count_open();
            }
            self.open.push(region);
        } else {
            self.count_open();
            self.count(&region);
        }
    }

    /// What is unused to the end of the file, where that is known, and what is no buffer anywhere else.
    pub(super) fn finish(mut self, ending: Option<Ending>) -> (UnreadableRegions, Option<Tail>) {
        let mut tail = None;
        if let Some(ending) = ending {
            if self.regions.further.is_none() {
                self.regions.listed.append(&mut self.open);
                tail = ending::split_off(&mut self.regions.listed, ending);
                let listed = self.regions.listed.len().min(self.most);
                self.open = self.regions.listed.split_off(listed);
            } else {
                let owed = ending.owed.saturating_sub(self.regions.lost_buffers());
                tail = ending::split_off(&mut self.open, Ending { owed, ..ending });
            }
        }
        self.count_open();
        (self.regions, tail)
    }

    fn is_listing(&self) -> bool {
        self.regions.further.is_none() && self.open.is_empty()
    }

    /// Regions of one content that follow one another are one. Of very many that follow one another and may be unused, it is
    /// enough to know whether any is of an older recording.
    fn extend_last(&mut self, region: &UnreadableRegion) -> bool {
        let is_full = self.open.len() >= self.most;
        let last = if self.is_listing() { self.regions.listed.last_mut() } else { self.open.last_mut() };
        let Some(last) = last.filter(|last| last.end() == region.offset) else { return false };
        let is_one = last.content == region.content && is_lost(region) || is_full && region.may_be_unused();
        if !is_one {
            return false;
        }
        if region.content == RegionContent::Stale {
            last.content = RegionContent::Stale;
        }
        last.buffers += region.buffers;
        last.len += region.len;
        true
    }

    fn count_open(&mut self) {
        for region in std::mem::take(&mut self.open) {
            self.count(&region);
        }
    }

    fn count(&mut self, region: &UnreadableRegion) {
        let goes_on = is_lost(region) && self.counted == Some((region.offset, region.content));
        self.counted = Some((region.end(), region.content));
        self.regions.add(region, goes_on);
    }
}

#[cfg(test)]
mod tests {
    use super::RegionContent::{Foreign, Ones, Repeated, Stale, Zeros};
    use super::*;
    use crate::survey::ending::TailKind;

    const STRIDE: u64 = 0x200;

    /// The regions at these places, a buffer each.
    fn log(most: usize, regions: &[(u64, RegionContent)]) -> RegionLog {
        let mut log = RegionLog::of(most);
        for &(ordinal, content) in regions {
            log.take(UnreadableRegion { ordinal, buffers: 1, offset: ordinal * STRIDE, len: STRIDE, content });
        }
        log
    }

    fn ending(owed: u64) -> Ending {
        Ending { file_len: 100 * STRIDE, stride: Some(512), owed, knows_its_own: true }
    }

    /// Whatever is listed, bytes and buffers of regions and tail are the same.
    #[track_caller]
    fn t(regions: &[(u64, RegionContent)], owed: u64) {
        let (all, tail) = log(1000, regions).finish(Some(ending(owed)));
        assert_eq!(all.further(), None);
        for most in 1..=regions.len() {
            let (some, same_tail) = log(most, regions).finish(Some(ending(owed)));
            assert_eq!((some.bytes(), some.lost_buffers()), (all.bytes(), all.lost_buffers()), "{most}");
            assert_eq!(
                same_tail.map(|tail| (tail.offset, tail.len)),
                tail.map(|tail| (tail.offset, tail.len)),
                "{most}"
            );
            assert!(some.listed().len() <= most && some.lie_within(100 * STRIDE), "{most}");
            let further = some.further().map_or(0, |further| further.regions);
            assert!(some.listed().len() as u64 + further <= all.listed().len() as u64, "{most}");
            assert_eq!(some.listed(), &all.listed()[..some.listed().len()], "{most}");
        }
    }

    #[test]
    fn totals_do_not_depend_on_what_is_listed() {
        let holes = [(1, Foreign), (2, Foreign), (4, Zeros), (6, Repeated), (7, Repeated), (9, Foreign), (11, Stale)];
        t(&holes, 0);
        let end = [(1, Foreign), (4, Zeros), (96, Zeros), (97, Ones), (98, Stale), (99, Stale)];
        for owed in 0..9 {
            t(&end, owed);
        }
        t(&[(97, Zeros), (98, Foreign), (99, Zeros)], 2);
        t(&[(95, Foreign), (96, Foreign), (97, Repeated), (99, Zeros)], 3);
    }

    #[test]
    fn what_is_beyond_the_list_is_a_sum_and_an_issue() {
        let (regions, tail) =
            log(2, &[(1, Foreign), (3, Zeros), (5, Repeated), (7, Foreign), (8, Foreign)]).finish(None);
        assert_eq!(tail, None);
        let further = FurtherRegions {
            regions: 2,
            bytes: 3 * STRIDE,
            lost_bytes: 2 * STRIDE,
            lost_buffers: 2,
            first_buffer: 5,
            last_buffer: 8,
            offset: 5 * STRIDE,
        };
        assert_eq!(regions.further(), Some(&further));
        assert_eq!((regions.bytes(), regions.lost_buffers()), (5 * STRIDE, 4));
        let issues: Vec<_> = regions.issues().map(|issue| (issue.code.as_str(), issue.buffer, issue.message)).collect();
        assert_eq!(issues.len(), 3);
        let message =
            "in 2 more places, from here on, no buffer is read, 1536 bytes in all; they are not listed one by one";
        assert_eq!(issues[2], ("regions_left_out", Some(5), message.to_owned()));
    }

    #[test]
    fn an_end_of_many_kinds_is_one() {
        let kinds = [Zeros, Ones, Zeros, Stale, Ones, Zeros, Ones];
        let end: Vec<_> = (93..).zip(kinds).collect();
        let (regions, tail) = log(2, &end).finish(Some(ending(0)));
        assert!(regions.is_empty());
        let tail = tail.unwrap();
        assert_eq!((tail.offset, tail.len, tail.kind), (93 * STRIDE, 7 * STRIDE, TailKind::Stale));
    }
}
