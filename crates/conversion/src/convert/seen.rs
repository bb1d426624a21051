//! Whose the rows of a run are, where its filters ask for that.

use std::collections::BTreeSet;

use etl::event::named_ids::AttributedIds;
use serde::{Deserialize, Serialize};

/// Ids of a kind that are kept: a file decides how many there are.
const MOST: usize = 1 << 16;

/// The processes and threads of some rows.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SeenIds {
    /// Ids of processes.
    pub processes: BTreeSet<u32>,
    /// Ids of threads.
    pub threads: BTreeSet<u32>,
    /// The numbers of names of processes among those of the recording.
    pub names: BTreeSet<u32>,
    /// Whether there are more of a kind than are kept.
    pub is_cut: bool,
}

/// Whose rows are, and whose they might have been.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RowOwners {
    /// The processes and threads of the rows.
    pub seen: SeenIds,
    /// The names of these processes.
    pub names: BTreeSet<String>,
    /// The names of all processes of the recording.
    pub all_names: BTreeSet<String>,
}

impl SeenIds {
    /// Adds those of a row.
    pub(super) fn add(&mut self, ids: &AttributedIds) {
        let rows = [(&mut self.processes, ids.process), (&mut self.threads, ids.thread), (&mut self.names, ids.name)];
        for (kept, id) in rows {
            self.is_cut |= id.is_some_and(|id| !kept.contains(&id) && !keep(kept, id));
        }
    }

    /// Adds those of other rows.
    pub(super) fn merge(&mut self, other: &SeenIds) {
        let kinds = [
            (&mut self.processes, &other.processes),
            (&mut self.threads, &other.threads),
            (&mut self.names, &other.names),
        ];
        self.is_cut |= other.is_cut;
        for (kept, others) in kinds {
            for id in others {
                self.is_cut |= !keep(kept, *id);
            }
        }
    }
}

/// Keeps an id; whether it is kept now.
fn keep(kept: &mut BTreeSet<u32>, id: u32) -> bool {
    if kept.len() < MOST {
        kept.insert(id);
    }
    kept.contains(&id)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ids(process: u32, thread: Option<u32>) -> AttributedIds {
        AttributedIds { process: Some(process), thread, name: thread.map(|thread| thread / 4), source: None }
    }

    #[test]
    fn ids_are_kept_once_and_not_without_end() {
        let mut seen = SeenIds::default();
        for row in [ids(8, Some(12)), ids(8, None), ids(4, Some(12))] {
            seen.add(&row);
        }
        let expected = SeenIds {
            processes: BTreeSet::from([4, 8]),
            threads: BTreeSet::from([12]),
            names: BTreeSet::from([3]),
            is_cut: false,
        };
        assert_eq!(seen, expected);
        (0..).take(MOST).for_each(|process| seen.add(&ids(process, None)));
        assert_eq!((seen.processes.len(), seen.is_cut), (MOST, false));
        let mut others = expected.clone();
        others.merge(&seen);
        assert_eq!(others, seen);
        seen.add(&ids(u32::MAX - 1, None));
        assert_eq!((seen.processes.len(), seen.is_cut), (MOST, true));
    }
}
