//! What is known beside an event: processes, files, keys of the registry, machines.

use base::error::Result;

use super::action::Whom;
use super::keys::keys;
use super::machines::Machines;
use super::processes::Processes;
use super::row::ActionRow;
use crate::exported::Exported;
use crate::opened::Opened;
use crate::paths::{Spans, paths};

/// What ids mean in a trace.
#[derive(Debug)]
pub(super) struct Known {
    /// Machines.
    pub(super) machines: Machines,
    /// Processes by their ids.
    pub(super) processes: Processes,
    /// Paths of files by their keys.
    pub(super) files: Spans,
    /// Paths of keys of the registry by their handles.
    pub(super) keys: Spans,
}

impl Known {
    /// Reads it.
    ///
    /// # Errors
    /// [`ErrorKind::Output`](base::error::ErrorKind::Output) when a table cannot be read.
    pub(super) fn read(opened: &Opened<'_>, exported: &mut Exported) -> Result<Known> {
        let machines = Machines::read(opened)?;
        let keys = keys(opened, &machines)?;
        let known = Known { processes: Processes::read(opened)?, files: paths(opened)?, keys, machines };
        exported.warn_of(known.processes.left_out, "processes are known by their ids alone: there are too many");
        let without = known.files.left_out.saturating_add(known.keys.left_out);
        exported.warn_of(without, "paths of files and keys of the registry are left out: there are too many");
        Ok(known)
    }

    /// The process of an event, as its columns have it.
    pub(super) fn actor<'a>(&'a self, row: &ActionRow<'a>) -> Option<Whom<'a>> {
        let whom = self.processes.at(self.machines.of(row.input), row.process?, row.time?);
        Some(Whom { name: row.process_name.or(whom.name), ..whom })
    }
}
