//! The stacks of events that other events record, as a plan keeps them for who converts its partitions.
//!
//! ```text
//! stacks-00000       which stacks the events of a partition have, 24 bytes each
//! stacks-lists       where the addresses of each stack stand, 24 bytes each
//! stacks-addresses   the addresses
//! ```

use base::error::Result;
use base::progress::{Progress, stop_if_cancelled};
use columnar::output::Store;
use serde::{Deserialize, Serialize};
use spill::{SpillSpace, Spilled};
use zerocopy::IntoBytes;

use super::records::{StoredRecords, changed};
use crate::plan::Segment;
use crate::stacks::{StackOfEvent, Stacks};

const LISTS: &str = "stacks-lists";
const ADDRESSES: &str = "stacks-addresses";

/// What the files of stacks must be.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct StoredStacks {
    /// By partition.
    events: Vec<StoredRecords>,
    lists: StoredRecords,
    addresses: StoredRecords,
}

/// Which stacks the events of each partition have.
pub(super) struct PartitionStacks(Vec<Spilled<StackOfEvent>>);

impl PartitionStacks {
    /// Those of partitions with these segments; `None` where no event has one.
    ///
    /// # Errors
    /// When there is no space, or when the caller asked to stop.
    pub(super) fn of<'s>(
        stacks: &Stacks,
        partitions: impl Iterator<Item = &'s [Segment]>,
        space: &SpillSpace,
        progress: &dyn Progress,
    ) -> Result<Option<PartitionStacks>> {
        if stacks.is_empty() {
            return Ok(None);
        }
        let of_partition = |segments: &[Segment]| {
            stop_if_cancelled(progress)?;
            stacks.events_in(segments, space, progress)
        };
        Ok(Some(PartitionStacks(partitions.map(of_partition).collect::<Result<_>>()?)))
    }

    /// What the files must be.
    pub(super) fn of_files(&self, stacks: &Stacks) -> StoredStacks {
        StoredStacks {
            events: self.0.iter().map(|events| StoredRecords::of(events)).collect(),
            lists: StoredRecords::of(stacks.lists()),
            addresses: StoredRecords::of(stacks.addresses()),
        }
    }

    /// Writes the files.
    ///
    /// # Errors
    /// [`ErrorKind::Output`](base::error::ErrorKind::Output) when one cannot be written, `Interrupted` when the caller asked to stop.
    pub(super) fn write(&self, stacks: &Stacks, plan: &dyn Store, progress: &dyn Progress) -> Result<()> {
        for (partition, events) in (0..).zip(&self.0) {
            stop_if_cancelled(progress)?;
            plan.put_first(&events_file(partition), &[events.as_bytes()])?;
        }
        plan.put_first(LISTS, &[stacks.lists().as_bytes()])?;
        plan.put_first(ADDRESSES, &[stacks.addresses().as_bytes()]).map(drop)
    }
}

impl StoredStacks {
    /// Reads the stacks of a partition.
    ///
    /// # Errors
    /// Those of [`StoredRecords::read`].
    pub(super) fn read(
        &self,
        plan: &dyn Store,
        partition: u32,
        space: &SpillSpace,
        progress: &dyn Progress,
    ) -> Result<Stacks> {
        const WHAT: &str = "the stacks of events";
        let path = events_file(partition);
        let stored = self.events.get(partition as usize).ok_or_else(|| changed(&plan.location(&path)))?;
        let mut last = None;
        let is_sorted = |block: &[StackOfEvent]| {
            let is_next =
                last.is_none_or(|last: StackOfEvent| block.first().is_none_or(|next| last.order() < next.order()));
            last = block.last().copied().or(last);
            is_next && block.is_sorted_by_key(StackOfEvent::order)
        };
        let events = stored.read(plan, &path, WHAT, space, progress, is_sorted)?;
        let lists = self.lists.read(plan, LISTS, WHAT, space, progress, |_| true)?;
        let addresses = self.addresses.read(plan, ADDRESSES, WHAT, space, progress, |_| true)?;
        Ok(Stacks::stored(events, lists, addresses))
    }
}

fn events_file(partition: u32) -> String {
    format!("stacks-{partition:05}")
}
