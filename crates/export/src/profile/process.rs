//! Whose an amount is.

use std::collections::HashMap;
use std::fmt;

/// Processes that are distinguished. What belongs to others is under one that has no name.
const MOST_PROCESSES: usize = 1 << 18;

/// A process as the columns `process_id` and `process_name` of an event have it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Process {
    /// The machine.
    pub(crate) machine: i64,
    /// Its id.
    pub(crate) id: Option<i64>,
    /// The name of its image.
    pub(crate) name: Option<String>,
}

impl fmt::Display for Process {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.name, self.id) {
            (Some(name), Some(id)) => write!(f, "{name} ({id})"),
            (Some(name), None) => f.write_str(name),
            (None, Some(id)) => write!(f, "process {id}"),
            (None, None) => f.write_str("no process recorded"),
        }
    }
}

/// Processes by number, in the order in which they occur.
#[derive(Debug, Default)]
pub(crate) struct Processes {
    all: Vec<Process>,
    numbers: HashMap<(i64, Option<i64>), Vec<u32>>,
}

impl Processes {
    /// The number of a process.
    pub(crate) fn number(&mut self, machine: i64, id: Option<i64>, name: Option<&str>) -> u32 {
        let Processes { all, numbers } = self;
        let is_named = |number: &u32| {
            let known = usize::try_from(*number).ok().and_then(|number| all.get(number));
            known.is_some_and(|known| known.name.as_deref() == name)
        };
        let alike = numbers.entry((machine, id)).or_default();
        let known = alike.iter().find(|number| is_named(number));
        if let Some(number) = known {
            return *number;
        }
        let number = u32::try_from(all.len()).unwrap_or(u32::MAX);
        if all.len() > MOST_PROCESSES {
            return number.saturating_sub(1);
        }
        let is_last = all.len() == MOST_PROCESSES;
        let name = name.map(str::to_owned);
        all.push(if is_last { Process::default() } else { Process { machine, id, name } });
        alike.push(number);
        number
    }

    /// A process by its number.
    pub(crate) fn get(&self, number: u32) -> Option<&Process> {
        self.all.get(usize::try_from(number).ok()?)
    }
}
