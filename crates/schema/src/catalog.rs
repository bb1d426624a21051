//! Everything that is known of providers before any trace is read: the user's files, the store, the built-in pack.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use base::guid::Guid;
use schemas::NameKind;
use schemas::Named;
use schemas::Releases;
use serde::Serialize;

use super::conflict;
use super::manifest::ProviderSchemas;
use super::model::EventSchema;
use super::numbers::EventNumbers;
use super::pack::{ClassPack, Pack, PackLayout, ProviderPack};
use super::trust::Trust;
use super::user::UserSchemas;
use super::wpp::MessageFormat;

/// Where a description comes from, in the order in which they are believed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub enum Origin {
    /// A built-in correction of what Windows registers.
    #[serde(rename = "correction")]
    Correction,
    /// A file named with `--schemas`.
    #[serde(rename = "--schemas")]
    Given,
    /// The user's schema store.
    #[serde(rename = "store")]
    Store,
    /// The built-in pack.
    #[serde(rename = "pack")]
    Pack,
    /// A trace, of which the description was taken.
    #[serde(rename = "trace")]
    Trace,
}

impl Origin {
    /// The word for it.
    pub fn name(self) -> &'static str {
        match self {
            Origin::Correction => "correction",
            Origin::Given => "--schemas",
            Origin::Store => "store",
            Origin::Pack => "pack",
            Origin::Trace => "trace",
        }
    }
}

/// What kind of events a provider logs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum ProviderType {
    /// Events of a manifest, by id.
    Manifest,
    /// Classic events of a class, by opcode.
    Classic,
    /// WPP messages under one message GUID, by number.
    Wpp,
    /// Only a name is known.
    Named,
}

impl ProviderType {
    /// The word for it.
    pub fn name(self) -> &'static str {
        match self {
            ProviderType::Manifest => "manifest",
            ProviderType::Classic => "classic",
            ProviderType::Wpp => "wpp",
            ProviderType::Named => "named",
        }
    }
}

/// A provider, a class of classic events or a group of WPP messages.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Provider {
    /// The name; empty when none is known.
    pub name: String,
    /// The identity.
    pub guid: Guid,
    /// What kind of events it logs.
    pub kind: ProviderType,
    /// How many events are known, each version on its own.
    pub events: usize,
    /// How many layouts are known; more than events where descriptions disagree.
    pub layouts: usize,
    /// Where descriptions of it come from.
    pub from: Vec<Origin>,
    /// What is known of the name where there is no more.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub named: Option<NameKind>,
    /// The releases of Windows that register it, or have one of its events.
    #[serde(rename = "builds", skip_serializing_if = "Releases::is_empty")]
    pub releases: Releases,
}

/// One layout of one event.
#[derive(Clone, Debug)]
pub struct PayloadLayout<'a> {
    /// The event id; the opcode of a classic event.
    pub id: u16,
    /// The version.
    pub version: u16,
    /// The level, where one is declared.
    pub level: Option<u8>,
    /// The channel's number.
    pub channel: Option<u8>,
    /// The name in the provider's source code.
    pub symbol: Option<&'a str>,
    /// The message template.
    pub message: Option<&'a str>,
    /// Names and fields.
    pub schema: &'a EventSchema,
    /// Where it comes from.
    pub origin: Origin,
    /// The file, or the pack's sources.
    pub file: &'a str,
    /// How far to trust it.
    pub trust: Trust,
    /// The releases of Windows that have it.
    pub releases: Releases,
    /// The numbers of its task and opcode, where they are known.
    pub numbers: EventNumbers,
    /// The bits of its keywords, where they are known.
    pub keywords: Option<u64>,
    /// The build of Windows on which it was recorded.
    pub build: Option<u32>,
}

/// All that is known.
#[derive(Debug)]
pub struct SchemaCatalog {
    given: UserSchemas,
    store: UserSchemas,
    pack: &'static Pack,
}

impl SchemaCatalog {
    /// The user's files, the store and the pack.
    pub fn new(given: UserSchemas, store: UserSchemas) -> SchemaCatalog {
        SchemaCatalog { given, store, pack: Pack::builtin() }
    }

    /// What the user gave, in order of rank, as a conversion uses it.
    pub fn user(&self) -> UserSchemas {
        let mut all = self.given.clone();
        all.append(&self.store);
        all
    }

    /// The providers whose name and GUID are `wanted`, by name and GUID. Nothing is read of the others.
    pub fn providers(&self, wanted: impl Fn(&str, Guid) -> bool) -> Vec<Provider> {
        let users = self.given.providers().chain(self.store.providers());
        let manifests: BTreeSet<Guid> = users.chain(self.pack.providers()).collect();
        let manifests = manifests.into_iter().map(|guid| (guid, ProviderType::Manifest));
        let users = self.given.class_guids().chain(self.store.class_guids());
        let classes: BTreeSet<Guid> = users.chain(self.pack.classes()).collect();
        let classes = classes.into_iter().map(|guid| (guid, ProviderType::Classic));
        let named = manifests.chain(classes).filter(|&(guid, kind)| wanted(&self.name(guid, kind), guid));
        let mut all: Vec<Provider> = named.map(|(guid, kind)| self.provider(guid, kind)).collect();
        let messages = self.messages().into_iter().map(|(guid, messages)| wpp(guid, &messages));
        all.extend(messages.filter(|provider| wanted(&provider.name, provider.guid)));
        let key = |provider: &Provider| (provider.name.to_lowercase(), provider.guid, provider.kind);
        all.sort_by_cached_key(key);
        all
    }

    /// The GUIDs of which only a name is known, by name and GUID.
    pub fn names(&self, wanted: impl Fn(&str, Guid) -> bool) -> Vec<Provider> {
        let classes = self.given.class_guids().chain(self.store.class_guids());
        let described: BTreeSet<Guid> = self.given.providers().chain(self.store.providers()).chain(classes).collect();
        let names = self.pack.names().iter();
        let wanted = names.filter(|named| !described.contains(&named.guid) && wanted(named.name, named.guid));
        let mut all: Vec<Provider> = wanted.map(only_named).collect();
        all.sort_by_cached_key(|provider| (provider.name.to_lowercase(), provider.guid));
        all
    }

    fn provider(&self, guid: Guid, kind: ProviderType) -> Provider {
        let layouts = self.layouts(guid, kind);
        let mut events: BTreeMap<(u16, u16), BTreeSet<usize>> = BTreeMap::new();
        let mut distinct: Vec<&EventSchema> = Vec::new();
        for layout in &layouts {
            // Few events have more than one layout: a search among the event's own is enough.
            let own = events.entry((layout.id, layout.version)).or_default();
            if !own.iter().any(|&known| distinct.get(known).is_some_and(|known| known.fields == layout.schema.fields)) {
                own.insert(distinct.len());
                distinct.push(layout.schema);
            }
        }
        let from: BTreeSet<Origin> =
            layouts.iter().map(|layout| layout.origin).chain(self.origins(guid, kind)).collect();
        let registered = if kind == ProviderType::Manifest { self.pack.releases(&guid) } else { Releases::default() };
        Provider {
            name: self.name(guid, kind),
            guid,
            kind,
            events: events.len(),
            layouts: distinct.len(),
            from: from.into_iter().collect(),
            named: None,
            releases: layouts.iter().fold(registered, |all, layout| all.union(layout.releases)),
        }
    }

    /// Places of a provider that may declare no event.
    fn origins(&self, guid: Guid, kind: ProviderType) -> impl Iterator<Item = Origin> {
        let is = |yes: bool, origin| (yes && kind == ProviderType::Manifest).then_some(origin);
        let origins = [
            is(self.given.manifests(guid).next().is_some(), Origin::Given),
            is(self.store.manifests(guid).next().is_some(), Origin::Store),
            is(self.pack.has_provider(&guid), Origin::Pack),
        ];
        origins.into_iter().flatten()
    }

    /// The manifests of a provider in the user's files, in order of rank.
    pub fn manifests(&self, guid: Guid) -> impl Iterator<Item = (Origin, &ProviderSchemas, &str)> {
        let at = |origin| move |(manifest, file): (_, _)| (origin, AsRef::<ProviderSchemas>::as_ref(manifest), file);
        let (given, store) = (self.given.manifests(guid), self.store.manifests(guid));
        given.map(at(Origin::Given)).chain(store.map(at(Origin::Store)))
    }

    /// What the user's files declare of a class of classic events, in order of rank.
    pub fn classes(&self, guid: Guid) -> impl Iterator<Item = (Origin, &ProviderSchemas, &str)> {
        let at = |origin| move |(class, file): (_, _)| (origin, AsRef::<ProviderSchemas>::as_ref(class), file);
        let (given, store) = (self.given.classes(guid), self.store.classes(guid));
        given.map(at(Origin::Given)).chain(store.map(at(Origin::Store)))
    }

    fn name(&self, guid: Guid, kind: ProviderType) -> String {
        let class_of_user = || self.classes(guid).map(|(_, class, _)| class.name.clone()).find(|name| !name.is_empty());
        let user = || self.manifests(guid).map(|(_, manifest, _)| manifest.name.clone()).find(|name| !name.is_empty());
        let builtin = || self.pack.provider_name(&guid).map(str::to_owned);
        let class = || self.pack.class_name(&guid).map(str::to_owned);
        let name = if kind == ProviderType::Classic { class().or_else(class_of_user) } else { user().or_else(builtin) };
        name.unwrap_or_default()
    }

    /// All layouts of a provider's events, by id, version and rank.
    pub fn layouts(&self, guid: Guid, kind: ProviderType) -> Vec<PayloadLayout<'_>> {
        let mut all = Vec::new();
        match kind {
            ProviderType::Wpp | ProviderType::Named => {}
            ProviderType::Classic => {
                all.extend(self.classes(guid).flat_map(|(origin, class, file)| of_manifest(class, origin, file)));
                let class = self.pack.class(&guid).into_iter();
                all.extend(class.flat_map(ClassPack::all).map(|layout| of_pack(layout, Origin::Pack)));
            }
            ProviderType::Manifest => {
                let corrections = self.pack.override_pack(&guid).into_iter();
                all.extend(corrections.flat_map(ProviderPack::all).map(|layout| of_pack(layout, Origin::Correction)));
                all.extend(
                    self.manifests(guid).flat_map(|(origin, manifest, file)| of_manifest(manifest, origin, file)),
                );
                if let Some(pack) = self.pack.provider(&guid) {
                    let layout = |layout: &'static PackLayout| PayloadLayout {
                        numbers: pack.numbers(&layout.schema),
                        ..of_pack(layout, Origin::Pack)
                    };
                    all.extend(pack.all().iter().map(layout));
                }
            }
        }
        all.sort_by_cached_key(|layout| (layout.id, layout.version, self.is_behind_pack(guid, kind, layout)));
        all
    }

    /// Whether a layout of the user's ranks behind those of the pack.
    fn is_behind_pack(&self, guid: Guid, kind: ProviderType, layout: &PayloadLayout<'_>) -> bool {
        let Some(build) = layout.build.filter(|_| kind == ProviderType::Manifest) else { return false };
        conflict::newer_in_pack(self.pack, &guid, (layout.id, layout.version), build).is_some()
    }

    /// The WPP messages by GUID and number; the one that ranks first of each.
    pub fn messages(&self) -> BTreeMap<Guid, Vec<(Origin, &Arc<MessageFormat>)>> {
        let mut all: BTreeMap<Guid, Vec<(Origin, &Arc<MessageFormat>)>> = BTreeMap::new();
        let stored = self.store.messages.sorted().into_iter();
        let stored = stored.filter(|message| self.given.messages.get(message.guid, message.number).is_none());
        let given = self.given.messages.sorted().into_iter();
        for (origin, message) in
            given.map(|message| (Origin::Given, message)).chain(stored.map(|message| (Origin::Store, message)))
        {
            all.entry(message.guid).or_default().push((origin, message));
        }
        all.values_mut().for_each(|messages| messages.sort_by_key(|(_, message)| message.number));
        all
    }
}

/// The group of messages under one GUID, which is a source file of a program.
fn wpp(guid: Guid, messages: &[(Origin, &Arc<MessageFormat>)]) -> Provider {
    let name = messages.iter().map(|(_, message)| &message.origin).find(|origin| !origin.provider.is_empty());
    let from: BTreeSet<Origin> = messages.iter().map(|(origin, _)| *origin).collect();
    Provider {
        name: name.map_or_else(String::new, |origin| match &*origin.source_file {
            "" => origin.provider.to_string(),
            file => format!("{}/{file}", origin.provider),
        }),
        guid,
        kind: ProviderType::Wpp,
        events: messages.len(),
        layouts: messages.len(),
        from: from.into_iter().collect(),
        named: None,
        releases: Releases::default(),
    }
}

fn only_named(named: &Named) -> Provider {
    Provider {
        name: named.name.to_owned(),
        guid: named.guid,
        kind: ProviderType::Named,
        events: 0,
        layouts: 0,
        from: vec![Origin::Pack],
        named: Some(named.kind),
        releases: named.releases,
    }
}

fn of_pack(layout: &PackLayout, origin: Origin) -> PayloadLayout<'_> {
    PayloadLayout {
        id: layout.id,
        version: layout.version,
        level: layout.level,
        channel: None,
        symbol: None,
        message: layout.message,
        schema: &layout.schema,
        origin,
        file: layout.origins,
        trust: layout.trust,
        releases: layout.releases,
        numbers: EventNumbers::default(),
        keywords: None,
        build: None,
    }
}

/// The layouts that a manifest declares.
pub(crate) fn of_manifest<'a>(
    manifest: &'a ProviderSchemas,
    origin: Origin,
    file: &'a str,
) -> impl Iterator<Item = PayloadLayout<'a>> + use<'a> {
    manifest.events.iter().map(move |event| PayloadLayout {
        id: event.id,
        version: event.version.into(),
        level: Some(event.level),
        channel: event.channel,
        symbol: event.symbol.as_deref(),
        message: event.message.as_deref(),
        schema: &event.schema,
        origin,
        file,
        trust: event.trust,
        releases: Releases::default(),
        numbers: event.numbers(),
        keywords: Some(event.keywords),
        build: event.provenance.build,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::files::SchemaFile;
    use crate::load::SchemaSet;

    fn load(files: &[(&str, &str)]) -> UserSchemas {
        let mut loaded = SchemaSet::default();
        for (name, text) in files {
            assert_eq!(loaded.add(SchemaFile::parse(name, text.as_bytes().to_vec(), None).unwrap()), None);
        }
        loaded.schemas
    }

    const LAB: &str = "<e><provider name='aLab' guid='{11111111-2222-3333-4444-555555555555}'><events>\
        <event value='1'/><event value='1' version='1'/><event value='2' template='T'/></events>\
        <templates><template tid='T'><data name='A' inType='win:UInt32'/></template></templates></provider></e>";
    const MORE: &str = "<e><provider name='other' guid='{11111111-2222-3333-4444-555555555555}'><events>\
        <event value='2' template='T'/><event value='1'/></events>\
        <templates><template tid='T'><data name='A' inType='win:UInt64'/></template></templates></provider></e>";
    const TMF: &str = "01e9b841-7d67-315a-7b92-23b2033356de aaa // SRC=Main.c\n\
        #typev Main_c1 10 \"hi\" //\n{\n}\n#typev Main_c2 11 \"ho\" //\n{\n}\n";

    #[test]
    fn providers_of_all_places_are_one_list() {
        let catalog = SchemaCatalog::new(load(&[("lab.man", LAB), ("a.tmf", TMF)]), load(&[("store/more.man", MORE)]));
        let all = catalog.providers(|_, _| true);
        let own = |name: &str| all.iter().find(|provider| provider.name == name).unwrap();
        let lab = own("aLab");
        assert_eq!((lab.kind, lab.events, lab.layouts), (ProviderType::Manifest, 3, 4));
        assert_eq!(lab.from, [Origin::Given, Origin::Store]);
        let messages = own("aaa/Main.c");
        assert_eq!((messages.kind, messages.events, &messages.from[..]), (ProviderType::Wpp, 2, &[Origin::Given][..]));
        assert_eq!(own("Kernel-Process").kind, ProviderType::Classic);
        let network = own("Microsoft-Windows-Kernel-Network");
        assert_eq!(network.from, [Origin::Correction, Origin::Pack]);
        assert!(all.is_sorted_by_key(|provider| provider.name.to_lowercase()));
    }

    #[test]
    fn names_without_events_say_what_they_are() {
        let catalog = SchemaCatalog::new(load(&[]), load(&[]));
        let named = |wanted: &str| {
            let [only] = &catalog.names(|name, _| name == wanted)[..] else {
                panic!("one GUID of this name: {wanted}")
            };
            (only.named, only.releases.to_string())
        };
        assert_eq!(named("CTRLGUID_MF_PLATFORM"), (Some(NameKind::Label), String::new()));
        let all = "10 1511 (10586) to 11 26H1 (28000)";
        assert_eq!(named("Windows Kernel Trace"), (Some(NameKind::Manifest), all.to_owned()));
        let guid = "00000000-0dc9-401d-b9b8-05e4eca4977e".parse().unwrap();
        assert!(catalog.providers(|_, own| own == guid).is_empty());
        // What a user's manifest describes is more than a name.
        let own = LAB.replace("11111111-2222-3333-4444-555555555555", "00000000-0dc9-401d-b9b8-05e4eca4977e");
        let catalog = SchemaCatalog::new(load(&[("lab.man", &own)]), load(&[]));
        assert!(catalog.names(|_, own| own == guid).is_empty());
        assert_eq!(catalog.providers(|_, own| own == guid)[0].name, "aLab");
    }

    #[test]
    fn layouts_come_by_event_and_rank() {
        let catalog = SchemaCatalog::new(load(&[("lab.man", LAB)]), load(&[("store/more.man", MORE)]));
        let guid = "11111111-2222-3333-4444-555555555555".parse().unwrap();
        let layouts = catalog.layouts(guid, ProviderType::Manifest);
        let shown: Vec<_> = layouts.iter().map(|layout| (layout.id, layout.version, layout.file)).collect();
        let expected = [
            (1, 0, "lab.man"),
            (1, 0, "store/more.man"),
            (1, 1, "lab.man"),
            (2, 0, "lab.man"),
            (2, 0, "store/more.man"),
        ];
        assert_eq!(shown, expected);
        let user = catalog.user();
        let files: Vec<_> = user.manifests(guid).map(|(_, file)| file).collect();
        assert_eq!(files, ["lab.man", "store/more.man"]);
    }
}
