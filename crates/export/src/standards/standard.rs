//! A standard, and the documents of events in it.

use base::error::Result;

use super::actions::{action, has_actions};
use super::document::{Document, Told, Written};
use super::known::Known;
use super::row::ActionRow;
use super::{ecs, ocsf};
use crate::exported::Exported;
use crate::opened::Opened;

/// A public standard for events.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Standard {
    /// The Elastic Common Schema.
    Ecs,
    /// The Open Cybersecurity Schema Framework.
    Ocsf,
}

/// Makes the documents of a trace.
#[derive(Debug)]
pub(crate) struct Documents {
    standard: Standard,
    known: Known,
    /// Actions that lack what the standard demands.
    left_out: u64,
}

impl Documents {
    /// Reads what ids mean.
    ///
    /// # Errors
    /// [`ErrorKind::Output`](base::error::ErrorKind::Output) when a table cannot be read.
    pub(crate) fn of(opened: &Opened<'_>, standard: Standard, exported: &mut Exported) -> Result<Documents> {
        Ok(Documents { standard, known: Known::read(opened, exported)?, left_out: 0 })
    }

    /// Whether a dataset may have events that the standard names.
    pub(crate) fn may_have(dataset: &str) -> bool {
        has_actions(dataset)
    }

    /// The paths of all fields, in the order of their columns.
    pub(crate) fn fields(&self) -> &'static [&'static str] {
        match self.standard {
            Standard::Ecs => &ecs::FIELDS,
            Standard::Ocsf => &ocsf::FIELDS,
        }
    }

    /// The document of an event of a dataset; `None` where the standard does not name it, or demands what is not recorded. Only of
    /// others its message is asked for.
    pub(crate) fn document(
        &mut self,
        (trace, provider, dataset): (&str, Option<&str>, &str),
        row: &ActionRow<'_>,
        message: impl Fn() -> String,
    ) -> Option<Document> {
        let action = action(&self.known, dataset, row)?;
        let time = row.time?;
        let told = Told {
            trace,
            provider,
            message: &message,
            time,
            name: row.name,
            id: row.id,
            seq: row.seq,
            thread: row.thread,
        };
        let machine = self.known.machines.get(action.machine);
        let written = match self.standard {
            Standard::Ecs => ecs::document(&action, machine, &told),
            Standard::Ocsf => ocsf::document(&action, machine, &told),
        };
        match written {
            Written::Document(document) => Some(document),
            Written::NotNamed => None,
            Written::Lacking => {
                self.left_out = self.left_out.saturating_add(1);
                None
            }
        }
    }

    /// Says what is left out.
    pub(crate) fn warn(&self, exported: &mut Exported) {
        let what = "events are left out: the trace does not say of them what the standard demands, such as a path or a process";
        exported.warn_of(self.left_out, what);
    }
}
