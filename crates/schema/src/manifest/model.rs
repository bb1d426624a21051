//! What a manifest declares.

use std::sync::Arc;

use base::guid::Guid;

use crate::model::{EventSchema, ValueMap};
use crate::numbers::EventNumbers;
use crate::trust::Trust;

/// What one provider declares.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ProviderSchemas {
    /// The identity under which its events are logged.
    pub guid: Guid,
    /// The name.
    pub name: String,
    /// The group it belongs to.
    pub group: Option<Guid>,
    /// The identity by which it is enabled, where that is another.
    pub control: Option<Guid>,
    /// Whether a machine's registration was turned back into this file, which loses structures and lengths.
    pub regenerated: bool,
    /// The events by id and version; of one (id, version), which can occur more than once, in file order.
    pub events: Vec<ManifestEvent>,
    /// Mask and name of each keyword, lowest bit first.
    pub keywords: Vec<(u64, String)>,
    /// The tasks by number.
    pub tasks: Vec<TaskName>,
    /// The opcodes by task and number.
    pub opcodes: Vec<OpcodeName>,
    /// The opcodes that have another number in classic events, by task and number.
    pub classic_types: Vec<ClassicType>,
    /// Number and name of its own levels.
    pub levels: Vec<(u8, String)>,
    /// Number and name of its channels.
    pub channels: Vec<(u8, String)>,
    /// The value and bit maps by name.
    pub maps: Vec<Arc<ValueMap>>,
}

/// A task of a provider.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TaskName {
    /// The number.
    pub value: u16,
    /// The name.
    pub name: String,
    /// The class of the events that the task's events are on systems without `EVENT_HEADER`.
    pub class: Option<Guid>,
}

/// An opcode of a provider.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OpcodeName {
    /// The task it belongs to; `None` for all.
    pub task: Option<u16>,
    /// The number.
    pub value: u8,
    /// The name.
    pub name: String,
}

/// An opcode that has another number in the classic events of a task's class.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ClassicType {
    /// The task that the opcode belongs to; `None` for all.
    pub task: Option<u16>,
    /// The opcode.
    pub opcode: u8,
    /// The type of the classic event (`mofValue`).
    pub classic: u8,
}

/// One event of a provider.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ManifestEvent {
    /// The event id.
    pub id: u16,
    /// The event version.
    pub version: u8,
    /// The channel's number, if the event goes to one.
    pub channel: Option<u8>,
    /// The level.
    pub level: u8,
    /// The opcode.
    pub opcode: u8,
    /// The task's number.
    pub task: u16,
    /// The declared keywords.
    pub keywords: u64,
    /// The name in the provider's source code.
    pub symbol: Option<String>,
    /// The message template, resolved through the string table.
    pub message: Option<Arc<str>>,
    /// How far to believe the layout: doubtful are fields of unknown types, lengths that refer to nothing, and in a
    /// regenerated file the marks of a lost structure.
    pub trust: Trust,
    /// The layout and the names.
    pub schema: Arc<EventSchema>,
    /// Where the declaration was recorded.
    pub provenance: Provenance,
}

/// Where a declaration was recorded that comes from no manifest itself.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Provenance {
    /// The build of Windows that had it, where that is known.
    pub build: Option<u32>,
    /// Whether the numbers of task and opcode are not known.
    pub is_unnumbered: bool,
}

impl ManifestEvent {
    /// The numbers of its task and opcode.
    pub fn numbers(&self) -> EventNumbers {
        if self.provenance.is_unnumbered {
            return EventNumbers::default();
        }
        EventNumbers { task: Some(self.task), opcode: Some(self.opcode) }
    }
}

impl ProviderSchemas {
    /// The type that an opcode of a task has in classic events; the task's own opcodes come before the provider's.
    pub fn classic_type(&self, task: u16, opcode: u8) -> u8 {
        let of = |task| {
            let key = |known: &ClassicType| (known.task, known.opcode);
            let found = self.classic_types.binary_search_by_key(&(task, opcode), key).ok();
            found.and_then(|found| self.classic_types.get(found)).map(|known| known.classic)
        };
        of(Some(task)).or_else(|| of(None)).unwrap_or(opcode)
    }

    /// The events of an id and version, in file order.
    pub fn events_of(&self, id: u16, version: u8) -> &[ManifestEvent] {
        let key = |event: &ManifestEvent| (event.id, event.version);
        let start = self.events.partition_point(|event| key(event) < (id, version));
        let end = self.events.partition_point(|event| key(event) <= (id, version));
        self.events.get(start..end).unwrap_or_default()
    }

    /// The events of an id in the highest version that is not above `version`: of classes, whose fields are appended from version to
    /// version, so that a lower one describes a beginning of the payload, and a higher one fields that are not there.
    pub fn newest_up_to(&self, id: u16, version: u16) -> &[ManifestEvent] {
        let key = |event: &ManifestEvent| (event.id, u16::from(event.version));
        let end = self.events.partition_point(|event| key(event) <= (id, version));
        let below = self.events.get(..end).and_then(<[_]>::last).filter(|event| event.id == id);
        below.map_or(&[], |event| self.events_of(id, event.version))
    }
}
