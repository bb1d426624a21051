//! The machines of a trace.

use std::collections::HashMap;

use base::error::Result;
use conversion::read_columns;
use conversion::sidecar::SessionRow;

use crate::opened::Opened;

/// A machine, as far as it is known.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Machine {
    /// Its name in the network.
    pub(super) name: Option<String>,
    /// Version of its system.
    pub(super) version: Option<String>,
    /// Build of its system.
    pub(super) build: Option<i64>,
}

/// The machines, and that of each input.
#[derive(Debug, Default)]
pub(super) struct Machines {
    of_inputs: HashMap<i64, i64>,
    known: HashMap<i64, Machine>,
}

read_columns! {
    /// What an input says of its machine.
    struct Session<'b> of SessionRow {
        input: i64,
        machine: i64,
        os_version: &'b str,
        os_build: i64,
    }
}

read_columns! {
    /// An event that describes the machine.
    struct SystemConfig<'b> {
        event: Option<&'b str> = "event_name",
        input: Option<i64> = "input",
        name: Option<&'b str> = "ComputerName",
    }
}

impl Machines {
    /// Reads them.
    ///
    /// # Errors
    /// [`ErrorKind::Output`](base::error::ErrorKind::Output) when a table cannot be read.
    pub(super) fn read(opened: &Opened<'_>) -> Result<Machines> {
        let mut machines = Machines::default();
        opened.source.sidecar::<Session<'_>>(|row| {
            machines.of_inputs.insert(row.input, row.machine);
            let machine = machines.known.entry(row.machine).or_default();
            machine.version.get_or_insert_with(|| row.os_version.to_owned());
            machine.build.get_or_insert(row.os_build);
        })?;
        opened.source.events::<SystemConfig<'_>>("Kernel-SystemConfig", |row| {
            let Some(name) = row.name.filter(|name| !name.is_empty() && row.event == Some("SystemConfig/CPU")) else {
                return;
            };
            let of = machines.of(row.input);
            machines.known.entry(of).or_default().name.get_or_insert_with(|| name.to_owned());
        })?;
        Ok(machines)
    }

    /// The number of the machine of an input; 0 where nothing distinguishes machines.
    pub(super) fn of(&self, input: Option<i64>) -> i64 {
        input.and_then(|input| self.of_inputs.get(&input)).copied().unwrap_or(0)
    }

    /// What is known of a machine.
    pub(super) fn get(&self, machine: i64) -> Option<&Machine> {
        self.known.get(&machine)
    }
}
