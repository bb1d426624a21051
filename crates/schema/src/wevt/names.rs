//! The names that a provider declares, as its events need them.

use super::keywords::Keywords;
use super::reader::Reader;
use super::{opcodes, tasks};
use crate::manifest::{OpcodeName, TaskName, standard_opcode};

/// Tasks, opcodes and keywords of a provider.
#[derive(Debug, Default)]
pub(super) struct Names {
    pub(super) tasks: Vec<TaskName>,
    pub(super) opcodes: Vec<OpcodeName>,
    pub(super) keywords: Keywords,
}

impl Names {
    /// Reads the lists that the provider has of them.
    pub(super) fn read(reader: &mut Reader<'_>, list_of: impl Fn(u32) -> Option<u32>) -> Names {
        const TASKS: u32 = 1;
        const OPCODES: u32 = 2;
        const KEYWORDS: u32 = 3;
        Names {
            tasks: list_of(TASKS).map(|list| tasks::read(reader, list)).unwrap_or_default(),
            opcodes: list_of(OPCODES).map(|list| opcodes::read(reader, list)).unwrap_or_default(),
            keywords: list_of(KEYWORDS).map(|list| Keywords::read(reader, list)).unwrap_or_default(),
        }
    }

    /// The shown name of a task.
    pub(super) fn task(&self, task: u16) -> Option<&str> {
        let at = self.tasks.binary_search_by_key(&task, |known| known.value).ok()?;
        self.tasks.get(at).map(|task| task.name.as_str())
    }

    /// The shown name of an opcode of a task: its own, the provider's, that of every provider.
    pub(super) fn opcode(&self, task: u16, opcode: u8) -> Option<&str> {
        let own = |task: Option<u16>| {
            let key = (task, opcode);
            let at = self.opcodes.binary_search_by_key(&key, |known| (known.task, known.value)).ok()?;
            self.opcodes.get(at).map(|opcode| opcode.name.as_str())
        };
        own(Some(task)).or_else(|| own(None)).or_else(|| standard_opcode(opcode))
    }
}
