//! Instrumentation manifests: the XML in which providers declare their events.
//!
//! Grammar: `eventman.xsd` of the Windows SDK, standard names of `winmeta.xml`. Elements and attributes are matched
//! by local name only. What circulates under the name of manifests is often regenerated from a machine and has lost
//! structures, lengths and out types on the way; events that show it are marked [`ManifestEvent::suspect`].

mod names;
mod provider;
mod strings;
mod template;
mod tree;
mod xml;

use std::sync::Arc;

use self::strings::Strings;
use self::xml::{Findings, tag};
use super::budget::Budget;
use super::model::{EventSchema, SchemaError, ValueMap};
use super::text;
use crate::guid::Guid;

/// What one file declares.
#[derive(Clone, Debug, Default)]
pub struct Manifest {
    /// The providers in file order.
    pub providers: Vec<ProviderSchemas>,
    /// What was rejected or repaired, with its line; the rest stands.
    pub findings: Vec<SchemaError>,
}

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
    /// Whether the layout is known or likely to be wrong: fields of unknown types, lengths that refer to nothing, or
    /// in a regenerated file the marks of a lost structure. Rank it last, and trust it only where payloads are
    /// consumed exactly.
    pub suspect: bool,
    /// The layout and the names.
    pub schema: Arc<EventSchema>,
}

/// What all that a file declares may take; more than twice what the largest known manifests need.
const MAX_KEPT_BYTES: usize = 64 << 20;

impl ProviderSchemas {
    /// The events of an id and version, in file order.
    pub fn events_of(&self, id: u16, version: u8) -> &[ManifestEvent] {
        let key = |event: &ManifestEvent| (event.id, event.version);
        let start = self.events.partition_point(|event| key(event) < (id, version));
        let end = self.events.partition_point(|event| key(event) <= (id, version));
        self.events.get(start..end).unwrap_or_default()
    }
}

impl Manifest {
    /// The longest manifest that is read, in bytes.
    pub const MAX_BYTES: usize = tree::MAX_BYTES;

    /// Reads a manifest in UTF-8 or UTF-16. Messages come from the string table of `culture` (`de-DE`), else from the
    /// one of `en-US`, else from the first.
    ///
    /// # Errors
    /// When the text is no XML, even with bare `<` and `&` escaped, or is larger or more nested than manifests are. What is wrong in a single declaration is no error
    /// but one of [`Manifest::findings`].
    pub fn parse(bytes: &[u8], culture: Option<&str>) -> Result<Manifest, SchemaError> {
        Manifest::parse_within(bytes, culture, &mut Budget::new(MAX_KEPT_BYTES))
    }

    /// Like [`Manifest::parse`]; what is kept is taken from `budget`, and once that is spent, events are left out.
    ///
    /// # Errors
    /// Those of [`Manifest::parse`].
    pub fn parse_within(bytes: &[u8], culture: Option<&str>, budget: &mut Budget) -> Result<Manifest, SchemaError> {
        tree::with_tree(&text::decode(bytes), |tree, repairs| {
            let mut findings = Findings::new(tree, repairs);
            let strings = Strings::read(tree, culture);
            let mut providers = Vec::new();
            let mut found = false;
            for node in tree.descendants().filter(|node| tag(*node) == "provider") {
                // Performance counters have providers too, without events.
                if node.parent().is_some_and(|parent| tag(parent) == "counters") {
                    continue;
                }
                found = true;
                providers.extend(provider::read(node, &strings, budget, &mut findings));
            }
            if !found {
                findings.report(tree.root_element(), "expected a <provider>, found none");
            }
            Manifest { providers, findings: findings.into_list() }
        })
    }
}

#[cfg(test)]
mod tests;
