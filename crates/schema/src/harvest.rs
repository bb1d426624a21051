//! What traces say of payloads, gathered for other traces: one document for each provider and class.
//!
//! What is gathered is a set: the order in which traces, documents and stores are added does not show in it. Of one event the layouts
//! of newer builds of Windows come first.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::sync::Arc;

use base::guid::Guid;
use base::names::safe_name;
use schemas::Releases;

use super::catalog::{Origin, Provider, ProviderType, of_manifest};
use super::describe::{Document, FORMAT, KeywordDescription, ProviderDescription};
use super::event_info::{DecodingSource, EventInfo, EventInfoKey};
use super::facts::Facts;
use super::files::{SchemaContent, SchemaFile};
use super::manifest::{ManifestEvent, Provenance, ProviderSchemas};
use super::pack::Pack;
use super::trust::Trust;

/// The folder that such documents have in front of their names.
const FOLDER: &str = "harvest/";

/// Different layouts of one version of an event that are kept.
const MAX_VARIANTS: usize = 64;

/// What traces say of payloads.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Harvest {
    providers: BTreeMap<(Guid, bool), Gathered>,
}

/// What is gathered of a provider or class.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Gathered {
    name: String,
    group: Option<Guid>,
    control: Option<Guid>,
    /// Sorted, each once.
    keywords: Vec<(u64, String)>,
    /// By id, version, and a text that distinguishes descriptions.
    events: BTreeMap<(u16, u8), BTreeMap<String, ManifestEvent>>,
}

impl Harvest {
    /// Adds descriptions that a merging tool appended to a trace of a build of Windows. Those of WPP and of TraceLogging events are not
    /// taken: they describe single events, which describe themselves or are described by their messages. Nor are classes that the
    /// pack knows.
    pub fn add_event_info(&mut self, infos: &[EventInfo], build: Option<u32>) {
        for info in infos {
            let (guid, id, is_class) = match info.key() {
                _ if matches!(info.source, DecodingSource::Wpp | DecodingSource::TraceLogging) => continue,
                EventInfoKey::Event { provider, id, .. } => (provider, id, false),
                EventInfoKey::Classic { class, opcode, version } => {
                    if !Pack::builtin().classic(&class, opcode, version.into()).is_empty() {
                        continue;
                    }
                    (class, opcode.into(), true)
                }
            };
            let own = self.providers.entry((guid, is_class)).or_default();
            own.add_name(info.provider_name.as_deref().filter(|_| info.provider == guid).unwrap_or_default());
            own.add(ManifestEvent {
                id,
                version: info.version,
                channel: Some(info.channel),
                level: info.level,
                opcode: info.opcode,
                task: info.task,
                keywords: info.keywords,
                symbol: None,
                message: info.message.as_deref().map(Arc::from),
                trust: Trust::Declared,
                schema: Arc::new(info.schema.clone()),
                provenance: Provenance { build, is_unnumbered: false },
            });
        }
    }

    /// Adds a manifest that a provider wrote into a trace.
    pub fn add_manifest(&mut self, manifest: &ProviderSchemas) {
        self.add_schemas(manifest, false);
    }

    /// Adds the name of a provider; of those that the pack knows it says nothing.
    pub fn add_name(&mut self, guid: Guid, name: &str) {
        if !name.is_empty() && Pack::builtin().provider_name(&guid).is_none() {
            self.providers.entry((guid, false)).or_default().add_name(name);
        }
    }

    /// Adds what a document of [`Harvest::into_files`] has.
    pub fn add_facts(&mut self, facts: &Facts) {
        facts.providers.iter().for_each(|provider| self.add_schemas(provider, false));
        facts.classes.iter().for_each(|class| self.add_schemas(class, true));
    }

    /// Adds all that another has.
    pub fn merge(&mut self, other: Harvest) {
        for (key, gathered) in other.providers {
            self.providers.entry(key).or_default().merge(gathered);
        }
    }

    /// Whether anything is known of one of the providers and classes of another.
    pub fn shares(&self, other: &Harvest) -> bool {
        other.providers.keys().any(|key| self.providers.contains_key(key))
    }

    /// Whether there is nothing.
    pub fn is_empty(&self) -> bool {
        self.providers.is_empty()
    }

    /// How many providers and classes there are.
    pub fn len(&self) -> usize {
        self.providers.len()
    }

    /// How many layouts there are.
    pub fn layouts(&self) -> usize {
        self.providers.values().flat_map(|own| own.events.values()).map(BTreeMap::len).sum()
    }

    fn add_schemas(&mut self, schemas: &ProviderSchemas, is_class: bool) {
        let own = self.providers.entry((schemas.guid, is_class)).or_default();
        own.merge(Gathered {
            name: schemas.name.clone(),
            group: schemas.group,
            control: schemas.control,
            keywords: schemas.keywords.clone(),
            events: BTreeMap::new(),
        });
        schemas.events.iter().for_each(|event| own.add(event.clone()));
    }

    /// The documents, each a file of a store: by its provider's name, which may be that of others, too.
    pub fn into_files(self) -> Vec<SchemaFile> {
        self.providers.into_iter().map(|((guid, is_class), own)| own.file(guid, is_class)).collect()
    }
}

/// What is gathered in a file, if it is a document of [`Harvest::into_files`].
pub fn of_file(file: &SchemaFile) -> Option<Harvest> {
    let SchemaContent::Facts(facts) = &file.content else { return None };
    if !file.name.starts_with(FOLDER) || !facts.messages.is_empty() || !facts.rejected.is_empty() {
        return None;
    }
    let mut harvest = Harvest::default();
    harvest.add_facts(facts);
    Some(harvest)
}

/// Whether a file of this name may be such a document.
pub fn is_name(origin: &str) -> bool {
    origin.starts_with(FOLDER)
}

impl Gathered {
    /// Of several names the first in the order of bytes stands.
    fn add_name(&mut self, name: &str) {
        if !name.is_empty() && (self.name.is_empty() || name < self.name.as_str()) {
            name.clone_into(&mut self.name);
        }
    }

    fn add(&mut self, event: ManifestEvent) {
        let variants = self.events.entry((event.id, event.version)).or_default();
        match variants.entry(distinction(&event)) {
            Entry::Vacant(place) => {
                place.insert(event);
            }
            Entry::Occupied(mut known) => {
                let provenance = &mut known.get_mut().provenance;
                provenance.build = provenance.build.max(event.provenance.build);
            }
        }
        if variants.len() > MAX_VARIANTS
            && let Some(last) = variants.iter().map(|(text, event)| (rank(event), text)).max()
        {
            let last = last.1.clone();
            variants.remove(&last);
        }
    }

    fn merge(&mut self, other: Gathered) {
        self.add_name(&other.name);
        let smallest = |own: Option<Guid>, other: Option<Guid>| own.into_iter().chain(other).min();
        self.group = smallest(self.group, other.group);
        self.control = smallest(self.control, other.control);
        self.keywords.extend(other.keywords);
        self.keywords.sort();
        self.keywords.dedup();
        other.events.into_values().flat_map(BTreeMap::into_values).for_each(|event| self.add(event));
    }

    fn file(self, guid: Guid, is_class: bool) -> SchemaFile {
        let label = if self.name.is_empty() { guid.to_string() } else { safe_name(&self.name) };
        let kind = if is_class { ProviderType::Classic } else { ProviderType::Manifest };
        let mut events = Vec::new();
        for variants in self.events.into_values() {
            let mut variants: Vec<ManifestEvent> = variants.into_values().collect();
            // Stable: those of one build stay in the order of their texts.
            variants.sort_by_key(rank);
            events.extend(variants);
        }
        let schemas = ProviderSchemas { guid, name: self.name, events, ..ProviderSchemas::default() };
        let layouts = of_manifest(&schemas, Origin::Trace, "").collect();
        let provider = Provider {
            name: schemas.name.clone(),
            guid,
            kind,
            events: 0,
            layouts: schemas.events.len(),
            from: vec![Origin::Trace],
            named: None,
            releases: Releases::default(),
        };
        let mut described = ProviderDescription::of_layouts(provider, layouts);
        described.provider.events = described.events.len();
        (described.group, described.control) = (self.group, self.control);
        let keyword = |(mask, name): (u64, String)| KeywordDescription { mask: format!("{mask:#x}"), name };
        described.keywords = self.keywords.into_iter().map(keyword).collect();
        let document = Document { format: FORMAT, providers: vec![described] };
        let text = serde_json::to_string_pretty(&document).expect("texts and numbers are valid JSON") + "\n";
        let name = format!("{FOLDER}{label}.json");
        let read = SchemaFile::parse(&name, text.into_bytes(), None);
        read.expect("what is written here is a document with one provider")
    }
}

/// Newer builds come first.
fn rank(event: &ManifestEvent) -> Reverse<Option<u32>> {
    Reverse(event.provenance.build)
}

/// What distinguishes a description of an event from others of the same, the build apart.
fn distinction(event: &ManifestEvent) -> String {
    let mut event = event.clone();
    event.provenance.build = None;
    let schemas = ProviderSchemas { events: vec![event], ..ProviderSchemas::default() };
    let provider = Provider {
        name: String::new(),
        guid: schemas.guid,
        kind: ProviderType::Manifest,
        events: 1,
        layouts: 1,
        from: Vec::new(),
        named: None,
        releases: Releases::default(),
    };
    let described = ProviderDescription::of_layouts(provider, of_manifest(&schemas, Origin::Trace, "").collect());
    serde_json::to_string(&described.events).expect("texts and numbers are valid JSON")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::manifest::Manifest;
    use crate::model::{EventSchema, Field, Wire};

    const LAB: Guid = Guid([7; 16]);

    fn info(id: u16, fields: &[&str]) -> EventInfo {
        EventInfo {
            provider: LAB,
            class: Guid([0; 16]),
            id,
            version: 1,
            channel: 0,
            level: 4,
            opcode: 2,
            task: 9,
            keywords: 0x10,
            source: DecodingSource::Manifest,
            provider_name: Some("Lab/One".to_owned()),
            level_name: None,
            channel_name: None,
            message: Some("%1".to_owned()),
            schema: EventSchema {
                task_name: Some("T".to_owned()),
                fields: fields.iter().map(|name| Field::value(*name, Wire::UInt8)).collect(),
                ..EventSchema::default()
            },
        }
    }

    fn of(infos: &[EventInfo], build: Option<u32>) -> Harvest {
        let mut harvest = Harvest::default();
        harvest.add_event_info(infos, build);
        harvest
    }

    fn bytes(harvest: Harvest) -> Vec<(String, Vec<u8>)> {
        harvest.into_files().into_iter().map(|file| (file.name, file.bytes)).collect()
    }

    #[test]
    fn the_order_in_which_traces_come_does_not_show() {
        let parts = [
            of(&[info(1, &["A"]), info(2, &["B"])], Some(22_000)),
            of(&[info(1, &["A", "C"])], None),
            of(&[info(1, &["A"])], Some(26_100)),
        ];
        let joined = |order: [usize; 3]| {
            let mut all = Harvest::default();
            order.into_iter().for_each(|part| all.merge(parts[part].clone()));
            all
        };
        let expected = bytes(joined([0, 1, 2]));
        for order in [[2, 1, 0], [1, 0, 2], [0, 2, 1]] {
            assert_eq!(bytes(joined(order)), expected);
        }
        let [(name, _)] = &expected[..] else { panic!("one provider") };
        assert_eq!(name, "harvest/Lab_x2F_One.json");
        let files = joined([0, 1, 2]).into_files();
        let SchemaContent::Facts(facts) = &files[0].content else { panic!("facts") };
        let builds: Vec<_> = facts.providers[0].events.iter().map(|event| (event.id, event.provenance.build)).collect();
        assert_eq!(builds, [(1, Some(26_100)), (1, None), (2, Some(22_000))], "the newest build comes first");
        // What is read back is what it was.
        let again = of_file(&files[0]).unwrap();
        assert_eq!(bytes(again.clone()), expected);
        let mut twice = again;
        twice.merge(joined([2, 0, 1]));
        assert_eq!(bytes(twice), expected);
    }

    #[test]
    fn events_that_describe_themselves_and_known_classes_are_not_taken() {
        let process: Guid = "3d6fa8d0-fe05-11d0-9dda-00c04fd7ba7c".parse().unwrap();
        let mof = |class, opcode| EventInfo { source: DecodingSource::Mof, class, opcode, ..info(0, &["A"]) };
        let harvest = of(
            &[
                EventInfo { source: DecodingSource::TraceLogging, ..info(1, &["A"]) },
                EventInfo { source: DecodingSource::Wpp, ..info(1, &["A"]) },
                mof(process, 1),
                mof(Guid([9; 16]), 5),
            ],
            None,
        );
        let files = harvest.into_files();
        let [file] = &files[..] else { panic!("one class") };
        let SchemaContent::Facts(facts) = &file.content else { panic!("facts") };
        assert_eq!((facts.classes[0].guid, facts.classes[0].events[0].id), (Guid([9; 16]), 5));
        assert!(facts.providers.is_empty());
    }

    #[test]
    fn manifests_and_names_are_taken() {
        let text = "<e><provider name='Shop' guid='{11111111-2222-3333-4444-555555555555}'><keywords>\
            <keyword name='K' mask='0x1'/></keywords><events><event value='1'/></events></provider></e>";
        let mut harvest = Harvest::default();
        harvest.add_manifest(&Manifest::parse(text.as_bytes(), None).unwrap().providers[0]);
        harvest.add_name(LAB, "Lab");
        harvest.add_name(LAB, "Aab");
        harvest.add_name("22fb2cd6-0e7b-422b-a0c7-2fad1fd0e716".parse().unwrap(), "Not-Kernel-Process");
        assert_eq!((harvest.len(), harvest.layouts()), (2, 1));
        let files = harvest.into_files();
        let names: Vec<_> = files.iter().map(|file| file.name.as_str()).collect();
        assert_eq!(names, ["harvest/Aab.json", "harvest/Shop.json"]);
        let SchemaContent::Facts(facts) = &files[1].content else { panic!("facts") };
        assert_eq!(facts.providers[0].keywords, [(1, "K".to_owned())]);
    }

    #[test]
    fn of_many_layouts_those_of_the_newest_builds_are_kept() {
        let infos = |build: u32| of(&[info(1, &[&format!("F{build}")])], Some(build));
        let mut forward = Harvest::default();
        let mut backward = Harvest::default();
        (0..80).for_each(|build| forward.merge(infos(build)));
        (0..80).rev().for_each(|build| backward.merge(infos(build)));
        assert_eq!(forward.layouts(), MAX_VARIANTS);
        assert_eq!(bytes(forward), bytes(backward));
    }
}
