//! Which walks are looked at: those that can be of an event which may become a row.

use base::clock::{Clock, Ticks};
use base::error::Result;
use base::progress::{Progress, stop_if_cancelled};
use etl::event::stack::{StackEvent, described_by, may_be_walked};
use spill::{SpillSpace, Spilled};

use super::join::MAX_BEHIND_NS;
use super::matching::MAX_SIGHTINGS;
use crate::plan::filter::{Overlap, TimeWindow};
use crate::plan::{CompiledFilter, PlanResult, PlannedShape};
use crate::survey::walks::{MAX_ADDRESSES, MAX_KEPT, MAX_OF_EVENT, Walk};
use crate::survey::{BufferSummary, FileSurvey};

/// Walks that are looked at without a look at whether to stop.
const AT_ONCE: usize = 1 << 16;

/// Bytes of the shortest address.
const LEAST_ADDRESS_BYTES: u64 = 4;

/// The walks that are looked at.
#[derive(Clone, Copy, Debug)]
pub(super) struct WantedWalks {
    /// The times of events that may become rows; `None` where all times are looked at.
    events: Option<TimeWindow>,
    /// When their walks are recorded.
    walks: TimeWindow,
    /// Whether walks refer to keys: what these stand for may be recorded at any time.
    has_keys: bool,
}

impl WantedWalks {
    /// Those that may be of events which a filter passes, of any events without one; `None` where it passes none that can have a walk.
    pub(super) fn of(plan: &PlanResult, filter: Option<&CompiledFilter>, files: &[FileSurvey]) -> Option<WantedWalks> {
        let may_pass = |shape| filter.is_none_or(|filter| filter.may_pass(shape));
        let walked = (0..).zip(&plan.shapes).filter(|(number, shape)| may_pass(*number) && is_walked(shape));
        let range =
            walked.map(|(_, shape)| (shape.first_ns, shape.last_ns)).reduce(|a, b| (a.0.min(b.0), a.1.max(b.1)));
        let (first, last) = range?;
        let events = filter.filter(|_| has_room_for_all(plan, files)).map(|filter| {
            let (window, end) = (filter.window(), last.checked_add(1));
            TimeWindow { from: window.from.max(first), to: [window.to, end].into_iter().flatten().min() }
        });
        let TimeWindow { from, to } = events.unwrap_or(TimeWindow { from: i64::MIN, to: None });
        let walks = TimeWindow { from, to: to.map(|to| to.saturating_add(MAX_BEHIND_NS)) };
        let has_keys = plan.shapes.iter().any(names_key);
        Some(WantedWalks { events, walks, has_keys })
    }

    /// Whether all walks are looked at.
    pub(super) fn are_all(&self) -> bool {
        self.events.is_none()
    }

    /// Whether a buffer that describes stacks may hold such a walk, or what the key of one stands for.
    pub(super) fn may_be_in(&self, buffer: &BufferSummary, clock: &Clock) -> bool {
        let ns = |ticks| clock.to_unix(Ticks(ticks)).0;
        let overlap = || self.walks.overlap(ns(buffer.first_ticks), ns(buffer.last_ticks));
        self.events.is_none() || self.has_keys || matches!(overlap(), Overlap::Inside | Overlap::Across)
    }

    /// Those of some walks that are looked at, and how many they are; the survey takes down all of them.
    ///
    /// # Errors
    /// When there is no space, or when the caller asked to stop.
    pub(super) fn only(
        &self,
        walks: &[Walk],
        clock: &Clock,
        space: &SpillSpace,
        progress: &dyn Progress,
    ) -> Result<(Spilled<Walk>, u64)> {
        let mut found = space.records();
        for walks in walks.chunks(AT_ONCE) {
            stop_if_cancelled(progress)?;
            let is_wanted = |walk: &&Walk| self.contains(walk.at.ticks(), walk.event_ticks, clock);
            walks.iter().filter(is_wanted).try_for_each(|walk| found.push(*walk))?;
        }
        let count = found.len() as u64;
        Ok((found.finish()?, count))
    }

    /// Whether it is one: a walk at a time, of an event at a time, both in ticks.
    pub(super) fn contains(&self, ticks: i64, event_ticks: i64, clock: &Clock) -> bool {
        let ns = |ticks| clock.to_unix(Ticks(ticks)).0;
        self.events.is_none_or(|events| events.contains(ns(event_ticks)) && self.walks.contains(ns(ticks)))
    }
}

/// Whether events of a shape may have walks.
fn is_walked(shape: &PlannedShape) -> bool {
    may_be_walked(&shape.key.identity) || is_undistinguished(shape)
}

/// Whether a shape stands for events of the kernel, walks among them, that are not distinguished.
fn is_undistinguished(shape: &PlannedShape) -> bool {
    let identity = &shape.key.identity;
    identity.is_rest() && (identity.family.is_kernel() || identity.family.is_classic())
}

/// Whether events of a shape are walks with keys.
fn names_key(shape: &PlannedShape) -> bool {
    described_by(&shape.key.identity) == Some(StackEvent::WalkWithKey)
}

/// Whether there is room for all that a recording says of stacks. Where there is not, what is kept depends on what stands before it;
/// all of it is looked at then, whatever filters leave, so that a row has the same stack.
fn has_room_for_all(plan: &PlanResult, files: &[FileSurvey]) -> bool {
    let events = |is: &dyn Fn(&PlannedShape) -> bool| -> u64 {
        plan.shapes.iter().filter(|shape| is(shape)).map(|shape| shape.events).sum()
    };
    let describing = files.iter().flat_map(|file| file.buffers.iter()).filter(|buffer| buffer.describes_stacks());
    let in_events: u64 = describing.map(|buffer| u64::from(buffer.content_bytes) / LEAST_ADDRESS_BYTES).sum();
    let by_keys = events(&names_key).saturating_mul(MAX_OF_EVENT as u64);
    events(&is_undistinguished) == 0
        && events(&|shape| described_by(&shape.key.identity).is_some()) <= MAX_KEPT as u64
        && events(&is_walked) <= MAX_SIGHTINGS as u64
        && in_events.saturating_add(by_keys) <= MAX_ADDRESSES as u64
}
