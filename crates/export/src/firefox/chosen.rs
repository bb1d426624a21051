//! Which processes are shown: viewers hold all of a profile in memory.

use std::collections::{BTreeMap, HashSet};

use base::error::Result;
use conversion::plan::Filter;
use conversion::read_columns;
use conversion::sidecar::dimensions::ProcessRow;
use published::on_cpu::IDLE;

use crate::exported::Exported;
use crate::opened::Opened;
use crate::profile::amounts;
use crate::request::Of;

/// Processes that are shown.
#[derive(Debug)]
pub(super) enum Chosen {
    /// All that the filter passes.
    All,
    /// These, by their machines and ids.
    Some(HashSet<(i64, i64)>),
}

read_columns! {
    /// A process and who started it.
    struct Started of ProcessRow<'static> {
        process_id: i64,
        parent_process_id: Option<i64>,
        machine: i64,
    }
}

impl Chosen {
    /// Those that a filter asks for; without such a filter the one with most samples, of traces without samples that with most waits,
    /// and beside it the one that has started it and those that it has started. All, where no process has any.
    ///
    /// # Errors
    /// [`ErrorKind::Output`](base::error::ErrorKind::Output) when a table cannot be read.
    pub(super) fn of(opened: &Opened<'_>, filter: &Filter) -> Result<Chosen> {
        if !filter.processes.is_empty() || !filter.process_names.is_empty() {
            return Ok(Chosen::All);
        }
        let busiest = match busiest(opened, Of::Samples)? {
            None => busiest(opened, Of::Waits)?,
            found => found,
        };
        let Some((machine, id)) = busiest else { return Ok(Chosen::All) };
        let mut chosen = HashSet::from([(machine, id)]);
        opened.source.sidecar::<Started>(|row| {
            if row.machine != machine || row.process_id == IDLE {
                return;
            }
            if row.parent_process_id == Some(id) {
                chosen.insert((machine, row.process_id));
            } else if row.process_id == id {
                chosen.extend(row.parent_process_id.filter(|parent| *parent != IDLE).map(|parent| (machine, parent)));
            }
        })?;
        Ok(Chosen::Some(chosen))
    }

    /// Whether a process is shown.
    pub(super) fn has(&self, machine: i64, process: Option<i64>) -> bool {
        match self {
            Chosen::All => true,
            Chosen::Some(chosen) => process.is_some_and(|process| chosen.contains(&(machine, process))),
        }
    }
}

/// The process with most samples or waits, of several the one with the smallest id.
fn busiest(opened: &Opened<'_>, of: Of) -> Result<Option<(i64, i64)>> {
    let mut counts = BTreeMap::<(i64, i64), u64>::new();
    amounts(opened, of, &mut Exported::default(), |amount| {
        if let Some(process) = amount.process.filter(|process| *process != IDLE) {
            let count = counts.entry((amount.machine, process)).or_default();
            *count = count.saturating_add(1);
        }
    })?;
    Ok(counts.into_iter().rev().max_by_key(|(_, count)| *count).map(|(process, _)| process))
}
