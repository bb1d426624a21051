//! The built-in schema pack: what was gathered about Windows' providers and the kernel's classic event classes.
//!
//! The texts of `schemas/` (see the README there for format, origins and licences) are in the binary, compressed, with
//! a sorted index in front. Nothing is expanded before it is asked for: names cost a binary search, a provider costs
//! the expansion of the file it stands in (once) and the reading of its own section (once).

mod cell;
mod codes;
mod text;

use std::sync::{Arc, OnceLock};

pub use self::codes::CodeTable;
use self::codes::Codes;
use self::index::{CLASSES, CODES_SHARD, HOOK_GROUPS, HOOK_NAMES, NAMES, OVERRIDES, PROVIDERS, SHARDS};
use crate::guid::Guid;
use crate::schema::model::EventSchema;

/// Tables written by `build.rs`.
#[allow(clippy::unreadable_literal, reason = "GUIDs are printed as everybody prints them")]
mod index {
    use super::Section;
    use crate::guid::Guid;

    include!(concat!(env!("OUT_DIR"), "/schema_index.rs"));
}

/// Where a provider or a class stands in the packed texts. Sorted by GUID.
struct Section {
    guid: Guid,
    name: &'static str,
    /// What stands before the event names of a class; empty for providers.
    event_prefix: &'static str,
    shard: usize,
    start: usize,
    end: usize,
}

/// The schemas that ship with the program. See [`Pack::builtin`].
pub struct Pack {
    texts: Vec<OnceLock<String>>,
    providers: Vec<OnceLock<ProviderPack>>,
    classes: Vec<OnceLock<ClassPack>>,
    overrides: Vec<OnceLock<ProviderPack>>,
    codes: OnceLock<Codes>,
}

impl std::fmt::Debug for Pack {
    /// The texts are megabytes of facts; their number says enough.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Pack").field("providers", &self.providers.len()).finish_non_exhaustive()
    }
}

/// How far a layout can be trusted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Confidence {
    /// As an origin declares it.
    Declared,
    /// An origin lost lengths, counts, maps or out types; they were put back from other descriptions of the same field
    /// or from field names.
    Inferred,
    /// An origin lost a structure or the length of a value inside: the layout ends before it, or is a guess there.
    Damaged,
}

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
    /// The codes of the origins that have it, joined by commas; the first one gave the details.
    pub origins: &'static str,
    /// How far it can be trusted.
    pub confidence: Confidence,
    /// For overrides: why it outranks what Windows registers.
    pub evidence: Option<&'static str>,
}

impl PackLayout {
    /// Whether the origin is known to have lost part of the layout.
    pub fn is_suspect(&self) -> bool {
        self.confidence == Confidence::Damaged
    }
}

/// What the pack has on one provider of manifest events.
#[derive(Debug)]
pub struct ProviderPack {
    /// The provider's GUID.
    pub guid: Guid,
    /// The provider's name.
    pub name: &'static str,
    /// The names of keyword bits, by mask.
    pub keywords: Vec<(u64, String)>,
    /// The names of tasks, by value.
    pub tasks: Vec<(u16, String)>,
    /// The names of opcodes, by task (`None`: whatever the task) and value.
    pub opcodes: Vec<(Option<u16>, u8, String)>,
    layouts: Vec<PackLayout>,
}

impl ProviderPack {
    /// The distinct layouts of an event, the most trusted first: undamaged before damaged, then by origin (original
    /// manifests, then running systems from the newest to the oldest). Empty for an unknown event.
    pub fn layouts(&self, id: u16, version: u8) -> &[PackLayout] {
        range(&self.layouts, id, u16::from(version))
    }

    /// All layouts of all events in the order (id, version, rank).
    pub fn all(&self) -> &[PackLayout] {
        &self.layouts
    }
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
    layouts: Vec<PackLayout>,
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

/// The class that the events of a kernel hook group belong to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KernelClass {
    /// The class GUID.
    pub guid: Guid,
    /// What stands before the slash in event names (`Process`).
    pub event_prefix: &'static str,
    /// The name of the class's dataset (`Kernel-Process`).
    pub dataset: &'static str,
}

/// The names of the event types that mean the same in every class; a class's own begin at 10. Sorted.
const STANDARD_TYPES: [(u8, &str); 11] = [
    (0, "Info"),
    (1, "Start"),
    (2, "End"),
    (3, "DCStart"),
    (4, "DCEnd"),
    (5, "Extension"),
    (6, "Reply"),
    (7, "Dequeue"),
    (8, "Checkpoint"),
    (9, "Send"),
    (240, "Receive"),
];

/// The name that a type of classic events has in every class that gives it no other.
pub fn standard_type(opcode: u8) -> Option<&'static str> {
    STANDARD_TYPES.iter().find(|(value, _)| *value == opcode).map(|(_, name)| *name)
}

/// The hook of an image load, which is written in the group of processes but belongs to images.
pub const IMAGE_LOAD_HOOK: u16 = 0x030a;

impl Pack {
    /// The pack in the binary.
    pub fn builtin() -> &'static Pack {
        static BUILTIN: OnceLock<Pack> = OnceLock::new();
        BUILTIN.get_or_init(Pack::new)
    }

    fn new() -> Pack {
        Pack {
            texts: cells(SHARDS.len()),
            providers: cells(PROVIDERS.len()),
            classes: cells(CLASSES.len()),
            overrides: cells(OVERRIDES.len()),
            codes: OnceLock::new(),
        }
    }

    /// The name of a provider or of a classic class's dataset.
    pub fn provider_name(&self, guid: &Guid) -> Option<&'static str> {
        let section = |table: &'static [Section]| find(table, guid).map(|i| table[i].name);
        let listed = || NAMES.binary_search_by(|(g, _)| g.cmp(guid)).ok().map(|i| NAMES[i].1);
        section(PROVIDERS).or_else(|| section(CLASSES)).or_else(listed)
    }

    /// All names: (GUID, name) of providers, classes and further providers without events here.
    pub fn provider_names(&self) -> impl Iterator<Item = (Guid, &'static str)> {
        let sections = PROVIDERS.iter().chain(CLASSES).map(|s| (s.guid, s.name));
        sections.chain(NAMES.iter().copied())
    }

    /// What the pack has on a provider's manifest events.
    pub fn provider(&'static self, guid: &Guid) -> Option<&'static ProviderPack> {
        let index = find(PROVIDERS, guid)?;
        Some(self.providers[index].get_or_init(|| self.read_provider(&PROVIDERS[index])))
    }

    /// Whether the pack has a section on a provider; nothing is expanded.
    pub fn has_provider(&self, guid: &Guid) -> bool {
        find(PROVIDERS, guid).is_some()
    }

    /// The GUIDs of all providers with manifest events, in order.
    pub fn providers(&self) -> impl Iterator<Item = Guid> {
        PROVIDERS.iter().map(|s| s.guid)
    }

    /// The layouts that outrank a trace's own description and the pack's, for events whose registered manifest is known
    /// to be wrong; in the order to try them.
    pub fn overrides(&'static self, guid: &Guid, id: u16, version: u8) -> &'static [PackLayout] {
        self.override_pack(guid).map_or(&[], |p| p.layouts(id, version))
    }

    /// All overrides of a provider.
    pub fn override_pack(&'static self, guid: &Guid) -> Option<&'static ProviderPack> {
        let index = find(OVERRIDES, guid)?;
        Some(self.overrides[index].get_or_init(|| self.read_provider(&OVERRIDES[index])))
    }

    /// What the pack has on a class of classic events.
    pub fn class(&'static self, guid: &Guid) -> Option<&'static ClassPack> {
        let index = find(CLASSES, guid)?;
        let section = &CLASSES[index];
        Some(self.classes[index].get_or_init(|| {
            let Section { guid, name, event_prefix, .. } = *section;
            ClassPack { guid, dataset: name, event_prefix, layouts: self.read(section).layouts }
        }))
    }

    /// The name of a class's dataset (`Kernel-Process`); nothing is expanded.
    pub fn class_name(&self, guid: &Guid) -> Option<&'static str> {
        find(CLASSES, guid).map(|index| CLASSES[index].name)
    }

    /// The GUIDs of all classes, in order.
    pub fn classes(&self) -> impl Iterator<Item = Guid> {
        CLASSES.iter().map(|s| s.guid)
    }

    /// The layouts of a classic event; [`ClassPack::layouts`] tells how a missing version is replaced.
    pub fn classic(&'static self, class: &Guid, opcode: u8, version: u16) -> &'static [PackLayout] {
        self.class(class).map_or(&[], |c| c.layouts(opcode, version))
    }

    /// The class of a kernel hook group (the high byte of a hook id). None from 0x1F on.
    pub fn kernel_class(&self, group: u8) -> Option<KernelClass> {
        let index = HOOK_GROUPS.binary_search_by_key(&group, |g| g.0).ok()?;
        let (_, guid, event_prefix, dataset) = HOOK_GROUPS[index];
        Some(KernelClass { guid, event_prefix, dataset })
    }

    /// The class of a hook id, with the one exception to [`Pack::kernel_class`]: [`IMAGE_LOAD_HOOK`].
    pub fn kernel_class_of_hook(&self, hook: u16) -> Option<KernelClass> {
        let [group, _] = hook.to_be_bytes();
        self.kernel_class(if hook == IMAGE_LOAD_HOOK { 0x14 } else { group })
    }

    /// The name of a classic event, `Class/Type`, as its newest description has it; without a description the kernel's
    /// own name for the type, or the standard one. That stands alone where the class is unknown.
    pub fn classic_event_name(&'static self, class: &Guid, opcode: u8) -> Option<String> {
        let described = self.classic(class, opcode, u16::MAX).first().and_then(|l| l.schema.event_name.clone());
        described.or_else(|| {
            let group = HOOK_GROUPS.iter().find(|g| g.1 == *class);
            let own = group.and_then(|g| HOOK_NAMES.binary_search_by_key(&(g.0, opcode), |n| (n.0, n.1)).ok());
            let name = own.map(|index| HOOK_NAMES[index].2).or_else(|| standard_type(opcode))?;
            let prefix = group.map(|g| g.2).or_else(|| find(CLASSES, class).map(|index| CLASSES[index].event_prefix));
            Some(prefix.map_or_else(|| name.to_owned(), |prefix| format!("{prefix}/{name}")))
        })
    }

    /// The name of a status code: of several the one that Windows' own tools show.
    pub fn code_name(&'static self, table: CodeTable, code: u32) -> Option<&'static str> {
        self.codes.get_or_init(|| Codes::parse(self.text(CODES_SHARD))).name(table, code)
    }

    /// The bytes that the pack takes in the binary, compressed.
    pub fn embedded_len(&self) -> usize {
        SHARDS.iter().map(|(frame, _)| frame.len()).sum()
    }

    fn read_provider(&'static self, section: &'static Section) -> ProviderPack {
        let text::Section { keywords, tasks, opcodes, layouts } = self.read(section);
        ProviderPack { guid: section.guid, name: section.name, keywords, tasks, opcodes, layouts }
    }

    fn read(&'static self, section: &Section) -> text::Section {
        let text = self.text(section.shard);
        text::parse_section(&text[section.start..section.end], section.event_prefix)
            .unwrap_or_else(|e| panic!("the embedded schemas are checked by the tests: {}: {e}", section.guid))
    }

    fn text(&'static self, shard: usize) -> &'static str {
        self.texts[shard].get_or_init(|| {
            let (frame, len) = SHARDS[shard];
            let bytes = zstd::bulk::decompress(frame, len).expect("the embedded frames are written by build.rs");
            String::from_utf8(bytes).expect("build.rs read the texts as UTF-8")
        })
    }
}

fn cells<T>(count: usize) -> Vec<OnceLock<T>> {
    (0..count).map(|_| OnceLock::new()).collect()
}

fn find(table: &[Section], guid: &Guid) -> Option<usize> {
    table.binary_search_by(|s| s.guid.cmp(guid)).ok()
}

#[cfg(test)]
mod tests;
