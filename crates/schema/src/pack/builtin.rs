//! The pack in the binary.

use std::sync::{Arc, OnceLock};

use base::guid::Guid;
use schemas::{
    CLASSES, CODES_SHARD, FIELDS, HOOK_GROUPS, HOOK_NAMES, KEPT, NAMES, NameKind, Named, OVERRIDES, PROVIDERS,
    Releases, SHARDS, Section, TEXTS,
};

use super::codes::{CodeTable, Codes};
use super::fields::{EventFacts, FieldLines};
use super::kernel::{IMAGE_LOAD_HOOK, KernelClass, standard_type};
use super::layouts::{ClassPack, PackLayout, ProviderPack};
use super::messages::Messages;
use super::text;
use crate::settled::SettledNames;

/// The schemas that ship with the program. See [`Pack::builtin`].
pub struct Pack {
    texts: Vec<OnceLock<String>>,
    providers: Vec<OnceLock<ProviderPack>>,
    classes: Vec<OnceLock<ClassPack>>,
    overrides: Vec<OnceLock<ProviderPack>>,
    kept: Vec<OnceLock<Arc<SettledNames>>>,
    fields: Vec<OnceLock<FieldLines>>,
    codes: OnceLock<Codes>,
}

impl std::fmt::Debug for Pack {
    /// The texts are megabytes of facts; their number says enough.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Pack").field("providers", &self.providers.len()).finish_non_exhaustive()
    }
}

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
            kept: cells(KEPT.len()),
            fields: cells(FIELDS.len()),
            codes: OnceLock::new(),
        }
    }

    /// The name of a provider or of a classic class's dataset.
    pub fn provider_name(&self, guid: &Guid) -> Option<&'static str> {
        let section = |table: &'static [Section]| find(table, guid).map(|i| table[i].name);
        let listed = || self.named(guid).filter(|named| named.kind != NameKind::Label).map(|named| named.name);
        section(PROVIDERS).or_else(|| section(CLASSES)).or_else(listed)
    }

    /// Whether a provider or a class has this name, ignoring case.
    pub fn is_provider_name(&self, name: &str) -> bool {
        let sections = PROVIDERS.iter().chain(CLASSES).map(|section| section.name);
        let listed = NAMES.iter().filter(|named| named.kind != NameKind::Label).map(|named| named.name);
        sections.chain(listed).any(|known| known.eq_ignore_ascii_case(name))
    }

    /// What the folder of a provider is called, where that is not its name: others have it, too.
    pub fn kept_folder(&self, guid: &Guid) -> Option<&'static str> {
        find(KEPT, guid).map(|index| KEPT[index].name)
    }

    /// What is settled of a provider's names, where its events would say otherwise.
    pub fn kept(&'static self, guid: &Guid) -> Option<Arc<SettledNames>> {
        let index = find(KEPT, guid)?;
        let Section { shard, start, end, .. } = KEPT[index];
        let read = || {
            let read = SettledNames::read(&self.text(shard)[start..end]);
            let names = read.unwrap_or_else(|e| panic!("the embedded names are checked by the tests: {guid}: {e}"));
            Arc::new(names.into_values().next().unwrap_or_default())
        };
        Some(Arc::clone(self.kept[index].get_or_init(read)))
    }

    /// What is known of the fields of an event of a provider or class beyond their types, whatever describes the event.
    pub fn field_facts<'a>(&'static self, guid: &Guid, event: Option<&'a str>) -> EventFacts<'a> {
        EventFacts::new(find(FIELDS, guid).map(|index| self.field_lines(index)), event)
    }

    fn field_lines(&'static self, index: usize) -> &'static FieldLines {
        let Section { guid, shard, start, end, .. } = FIELDS[index];
        let read = || {
            let read = FieldLines::parse(&self.text(shard)[start..end]);
            read.unwrap_or_else(|e| panic!("the embedded facts are checked by the tests: {guid}: {e}"))
        };
        self.fields[index].get_or_init(read)
    }

    #[cfg(test)]
    pub(super) fn all_field_lines(&'static self) -> impl Iterator<Item = (Guid, &'static [super::fields::FieldLine])> {
        FIELDS.iter().enumerate().map(|(index, section)| (section.guid, self.field_lines(index).all()))
    }

    /// What is known of a GUID of which there are no events here.
    pub fn named(&self, guid: &Guid) -> Option<&'static Named> {
        NAMES.binary_search_by(|named| named.guid.cmp(guid)).ok().map(|index| &NAMES[index])
    }

    /// All names of GUIDs without events here, labels among them, by GUID.
    pub fn names(&self) -> &'static [Named] {
        NAMES
    }

    /// The releases of Windows that register a provider; nothing is expanded.
    pub fn releases(&self, guid: &Guid) -> Releases {
        let own = || find(PROVIDERS, guid).map(|index| PROVIDERS[index].releases);
        own().or_else(|| self.named(guid).map(|named| named.releases)).unwrap_or_default()
    }

    /// What the pack has on a provider's manifest events.
    pub fn provider(&'static self, guid: &Guid) -> Option<&'static ProviderPack> {
        let index = find(PROVIDERS, guid)?;
        Some(self.providers[index].get_or_init(|| {
            let mut provider = self.read_provider(&PROVIDERS[index]);
            self.messages(guid).iter().for_each(|messages| messages.add_to(&mut provider.layouts));
            provider
        }))
    }

    /// What the events of a provider say in words; `None` of most providers, for which nothing is expanded.
    pub(super) fn messages(&'static self, guid: &Guid) -> Option<Messages> {
        let Section { shard, start, end, .. } = TEXTS[find(TEXTS, guid)?];
        let read = Messages::parse(&self.text(shard)[start..end]);
        Some(read.unwrap_or_else(|e| panic!("the embedded texts are checked by the tests: {guid}: {e}")))
    }

    /// Whether it settles the names of a provider or event class.
    pub fn settles(&self, guid: &Guid) -> bool {
        self.has_provider(guid) || self.class_name(guid).is_some()
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

    /// The layouts of a classic event; [`ClassPack::layouts`] shows how a missing version is replaced.
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
        let standard = || standard_type(opcode).map(str::to_owned);
        described.or_else(|| self.class_type_name(class, opcode)).or_else(standard)
    }

    /// The name of a type of a known class that nothing describes, `Class/Type`: the kernel's own, or the standard one.
    pub fn class_type_name(&self, class: &Guid, opcode: u8) -> Option<String> {
        let group = HOOK_GROUPS.iter().find(|g| g.1 == *class);
        let own = group.and_then(|g| HOOK_NAMES.binary_search_by_key(&(g.0, opcode), |n| (n.0, n.1)).ok());
        let name = own.map(|index| HOOK_NAMES[index].2).or_else(|| standard_type(opcode))?;
        let prefix = group.map(|g| g.2).or_else(|| find(CLASSES, class).map(|index| CLASSES[index].event_prefix))?;
        Some(format!("{prefix}/{name}"))
    }

    /// The name of a status code: of several the one that Windows' own tools show.
    pub fn code_name(&'static self, table: CodeTable, code: u32) -> Option<&'static str> {
        self.codes.get_or_init(|| Codes::parse(self.text(CODES_SHARD))).name(table, code)
    }

    /// What a status code is shown as: its name; an `HRESULT` that wraps a Win32 error has the error's.
    pub fn status_name(&'static self, table: CodeTable, code: u32) -> Option<&'static str> {
        const FACILITY_WIN32: u32 = 0x8007_0000;
        let wrapped = (table == CodeTable::HResult && code & 0xffff_0000 == FACILITY_WIN32).then_some(code & 0xffff);
        wrapped.and_then(|error| self.code_name(CodeTable::Win32, error)).or_else(|| self.code_name(table, code))
    }

    fn read_provider(&'static self, section: &'static Section) -> ProviderPack {
        let text::Section { keywords, tasks, opcodes, layouts } = self.read(section);
        let Section { guid, name, releases, .. } = *section;
        ProviderPack { guid, name, releases, keywords, tasks, opcodes, layouts }
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
