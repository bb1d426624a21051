//! What the pack has on a provider or a class.

use std::sync::Arc;

use base::guid::Guid;
use schemas::Releases;

use crate::model::EventSchema;
use crate::numbers::{EventNumbers, standard_opcode};
use crate::trust::Trust;

/// One layout of one event, as one or several origins have it.
#[derive(Clone, Debug)]
pub struct PackLayout {
    /// The event id; the opcode for classic events.
    pub id: u16,
    /// The event version.
    pub version: u16,
    /// The level, where an origin names it.
    pub level: Option<u8>,
    /// The layout and the names.
    pub schema: Arc<EventSchema>,
    /// The codes of the origins that have it, joined by commas, the first one gave the details; of releases of Windows the
    /// builds that list it, and those whose manifest was dumped.
    pub origins: &'static str,
    /// The releases of Windows that have it.
    pub releases: Releases,
    /// How far it can be trusted.
    pub trust: Trust,
    /// What the event says in words, with insertions for the fields of this layout, where that may be handed on.
    pub message: Option<&'static str>,
    /// For overrides: why it outranks what Windows registers.
    pub evidence: Option<&'static str>,
}

/// What the pack has on one provider of manifest events.
#[derive(Debug)]
pub struct ProviderPack {
    /// The provider's GUID.
    pub guid: Guid,
    /// The provider's name.
    pub name: &'static str,
    /// The releases of Windows that register it.
    pub releases: Releases,
    /// The names of keyword bits, by mask.
    pub keywords: Vec<(u64, String)>,
    /// The names of tasks, by value.
    pub tasks: Vec<(u16, String)>,
    /// The names of opcodes, by task (`None`: whatever the task) and value.
    pub opcodes: Vec<(Option<u16>, u8, String)>,
    pub(super) layouts: Vec<PackLayout>,
}

impl ProviderPack {
    /// The distinct layouts of an event, the most trusted first: undamaged before damaged, then by origin (original
    /// manifests, then releases of Windows from the newest to the oldest). Empty for an unknown event.
    pub fn layouts(&self, id: u16, version: u8) -> &[PackLayout] {
        range(&self.layouts, id, u16::from(version))
    }

    /// All layouts of all events in the order (id, version, rank).
    pub fn all(&self) -> &[PackLayout] {
        &self.layouts
    }

    /// The numbers behind the names of an event's task and opcode; none of a name that is known under several.
    pub fn numbers(&self, schema: &EventSchema) -> EventNumbers {
        let task_number = |name: &str| only(self.tasks.iter().filter(|task| task.1 == name).map(|task| task.0));
        let task = schema.task_name.as_deref().and_then(task_number);
        let opcode_number = |name: &str| {
            let mut own = self.opcodes.iter().filter(|(of, _, known)| known == name && (of.is_none() || *of == task));
            let first = own.next().map_or_else(|| standard_opcode(name), |opcode| Some(opcode.1))?;
            own.all(|opcode| opcode.1 == first).then_some(first)
        };
        EventNumbers { task, opcode: schema.opcode_name.as_deref().and_then(opcode_number) }
    }
}

/// The one value of all.
fn only<T: PartialEq>(mut values: impl Iterator<Item = T>) -> Option<T> {
    let first = values.next()?;
    values.all(|value| value == first).then_some(first)
}

/// What the pack has on one class of classic (kernel, MOF) events.
#[derive(Debug)]
pub struct ClassPack {
    /// The class GUID.
    pub guid: Guid,
    /// The name of the class's dataset (`Kernel-Process`).
    pub dataset: &'static str,
    /// What stands before the slash in event names (`Process`).
    pub event_prefix: &'static str,
    pub(super) layouts: Vec<PackLayout>,
}

impl ClassPack {
    /// The layouts of an event type. A version that is not there borrows those of the highest lower one: fields are
    /// appended from version to version, so they describe a beginning of the payload. It never borrows from a higher
    /// one, whose fields the payload does not have.
    pub fn layouts(&self, opcode: u8, version: u16) -> &[PackLayout] {
        let opcode = u16::from(opcode);
        let below = &self.layouts[..self.layouts.partition_point(|l| (l.id, l.version) <= (opcode, version))];
        let chosen = below.last().filter(|l| l.id == opcode);
        chosen.map_or(&[], |l| range(below, opcode, l.version))
    }

    /// All layouts of all event types in the order (opcode, version, rank).
    pub fn all(&self) -> &[PackLayout] {
        &self.layouts
    }
}

fn range(layouts: &[PackLayout], id: u16, version: u16) -> &[PackLayout] {
    let from = layouts.partition_point(|l| (l.id, l.version) < (id, version));
    let to = layouts.partition_point(|l| (l.id, l.version) <= (id, version));
    &layouts[from..to]
}
