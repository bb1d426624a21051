//! All schema sources in one place, in the order in which they are believed.
//!
//! For a manifest event: metadata on the event, the provider's own manifest in the trace, the built-in corrections of
//! manifests known to be wrong, descriptions appended to the trace, files given by the user, the built-in pack. For a
//! classic event: descriptions appended to the trace, the user's files, the built-in classes.

use std::collections::HashMap;
use std::sync::Arc;

use base::guid::Guid;
use etl::event::{EventIdentity, ShapeRef};
use etl::layout::header::HeaderFamily;

use super::conflict;
use super::event_info::{EventInfo, EventInfoKey};
use super::eventsource::{self, EventSourceManifests};
use super::lock::SchemaLock;
use super::manifest::ProviderSchemas;
use super::model::{EventSchema, Field, Wire};
use super::numbers::EventNumbers;
use super::pack::{self, Pack, PackLayout};
use super::settled::SettledNames;
use super::source::DecodeSource;
use super::tracelogging;
use super::trust::Trust;
use super::user::UserSchemas;
use super::wpp::MessageFormat;

/// The description from which a candidate comes, and which may declare further events of the provider.
#[derive(Clone, Debug)]
pub enum DeclaringSource {
    /// The event describes itself.
    Event,
    /// A manifest that the provider wrote into the trace, or one of the user's.
    Manifest(Arc<ProviderSchemas>),
    /// All descriptions appended to the trace.
    EventInfo,
    /// The built-in pack.
    Pack,
    /// The built-in corrections.
    Override,
    /// The built-in classes.
    Class,
}

impl DeclaringSource {
    /// The place among other sources of declarations. The corrections belong to the pack: whichever of them an event
    /// uses, both declare the provider's events.
    pub fn rank(&self) -> u8 {
        match self {
            DeclaringSource::Event => 0,
            DeclaringSource::Manifest(_) => 1,
            DeclaringSource::EventInfo => 2,
            DeclaringSource::Pack | DeclaringSource::Override => 3,
            DeclaringSource::Class => 4,
        }
    }
}

/// One layout that an event may have.
#[derive(Clone, Debug)]
pub struct Candidate {
    /// The kind of source.
    pub source: DecodeSource,
    /// Which description exactly.
    pub origin: String,
    /// The layout.
    pub schema: Arc<EventSchema>,
    /// How far to trust it.
    pub trust: Trust,
    /// What else the description declares.
    pub declaring_source: DeclaringSource,
    /// The numbers that it gives the event's task and opcode.
    pub numbers: EventNumbers,
    /// What the event says in words, with insertions for its fields: `Process %1 has ended.`
    pub message: Option<Arc<str>>,
    /// The build of Windows on which it was recorded, of files of the user's that say so.
    pub build: Option<u32>,
}

/// What a trace, the user and the program itself know of payloads.
#[derive(Debug)]
pub struct Registry {
    /// Manifests that providers wrote into the trace.
    pub eventsource: EventSourceManifests,
    /// The descriptions appended to the trace, each with its layout taken out.
    pub(super) event_info: Vec<(EventInfo, Arc<EventSchema>)>,
    by_key: HashMap<EventInfoKey, Vec<usize>>,
    user: Arc<UserSchemas>,
    pub(super) pack: &'static Pack,
}

impl Registry {
    /// A registry of what was found in a trace and what the user gave.
    pub fn new(eventsource: EventSourceManifests, event_info: Vec<EventInfo>, user: Arc<UserSchemas>) -> Self {
        let mut by_key: HashMap<EventInfoKey, Vec<usize>> = HashMap::new();
        for (index, info) in event_info.iter().enumerate() {
            by_key.entry(info.key()).or_default().push(index);
        }
        let event_info = event_info.into_iter().map(|mut info| {
            let schema = Arc::new(std::mem::take(&mut info.schema));
            (info, schema)
        });
        let event_info = event_info.collect();
        Registry { eventsource, event_info, by_key, user, pack: Pack::builtin() }
    }

    /// Whether the names of a provider are those of the user's lock: there is one, and the pack does not know the provider.
    pub fn uses_lock(&self, provider: &Guid) -> bool {
        self.user.lock.is_some() && !self.pack.settles(provider)
    }

    /// The lock of the user.
    pub(super) fn lock(&self) -> Option<&SchemaLock> {
        self.user.lock.as_deref()
    }

    /// The folder that the user has settled for a provider that the pack does not know, if it is a name.
    pub fn locked_folder(&self, provider: &Guid) -> Option<&str> {
        self.locked(provider).filter(|names| !names.is_nameless(provider)).map(|names| names.folder.as_str())
    }

    /// What the user has settled of the names of a provider that the pack does not know.
    pub fn locked(&self, provider: &Guid) -> Option<&Arc<SettledNames>> {
        self.user.lock.as_ref()?.names(provider).filter(|_| self.uses_lock(provider))
    }

    /// The layouts that an event shape may have, the most trusted source first. `processes` wrote sample events of it.
    pub fn candidates(&self, shape: ShapeRef<'_>, processes: &[u32]) -> Vec<Candidate> {
        let identity = &shape.identity;
        match identity.family {
            _ if !shape.metadata.is_empty() => tracelogging_candidate(shape.metadata).into_iter().collect(),
            family if family.is_event() => self.manifest_candidates(identity, processes),
            family if family.is_kernel() || family.is_classic() => self.class_candidates(identity),
            _ => Vec::new(),
        }
    }

    fn manifest_candidates(&self, identity: &EventIdentity, processes: &[u32]) -> Vec<Candidate> {
        let (provider, id) = (identity.provider, identity.id);
        let Ok(version) = u8::try_from(identity.version) else { return Vec::new() };
        let mut found = Vec::new();
        let process = processes.first().copied().unwrap_or(0);
        for manifest in self.eventsource.candidates(provider, process) {
            found.extend(of_manifest(manifest, id, version, DecodeSource::EventSource, "manifest in the trace"));
        }
        let overrides = self.pack.overrides(&provider, id, version);
        found.extend(overrides.iter().map(|layout| of_pack(layout, DecodeSource::Pack, DeclaringSource::Override)));
        found.extend(self.of_event_info(identity));
        let user = self.user.manifests(provider);
        let user = user.flat_map(|(manifest, file)| of_manifest(manifest, id, version, DecodeSource::User, file));
        let (user, older): (Vec<_>, Vec<_>) = user.partition(|candidate| !self.is_behind_pack(candidate, identity));
        found.extend(user);
        if id == eventsource::EVENT_ID {
            found.push(manifest_envelope());
        }
        if let Some(pack) = self.pack.provider(&provider) {
            let (exact, others): (Vec<_>, Vec<_>) =
                pack.all().iter().filter(|l| l.id == id).partition(|l| l.version == u16::from(version));
            let named = |layout: &PackLayout| Candidate {
                numbers: pack.numbers(&layout.schema),
                ..of_pack(layout, DecodeSource::Pack, DeclaringSource::Pack)
            };
            found.extend(exact.into_iter().map(named));
            found.extend(older);
            found.extend(others.into_iter().map(|layout| of_other_version(layout, version)));
        }
        found
    }

    /// Whether the pack has the event from a newer build of Windows than a file of the user's.
    fn is_behind_pack(&self, candidate: &Candidate, identity: &EventIdentity) -> bool {
        let newer = |build| {
            conflict::newer_in_pack(self.pack, &identity.provider, (identity.id, identity.version), build).is_some()
        };
        candidate.build.is_some_and(newer)
    }

    fn class_candidates(&self, identity: &EventIdentity) -> Vec<Candidate> {
        let (class, opcode) = (identity.provider, identity.opcode);
        let mut found: Vec<_> = self.of_event_info(identity).collect();
        for (declared, file) in self.user.classes(class) {
            found.extend(of_user_class(declared, opcode, identity.version, file));
        }
        let layouts = self.pack.classic(&class, opcode, identity.version);
        found.extend(layouts.iter().map(|layout| of_class(layout, identity.version)));
        found
    }

    /// What a description of an event in the trace would name; `None` for events that are never described so.
    pub fn key_of(identity: &EventIdentity) -> Option<EventInfoKey> {
        let version = u8::try_from(identity.version).ok()?;
        let (provider, class, opcode) = (identity.provider, identity.provider, identity.opcode);
        match identity.family {
            family if family.is_event() => Some(EventInfoKey::Event { provider, id: identity.id, version }),
            family if family.is_kernel() || family.is_classic() => {
                Some(EventInfoKey::Classic { class, opcode, version })
            }
            _ => None,
        }
    }

    /// The events that the trace describes, each once, in no particular order.
    pub fn described_events(&self) -> impl Iterator<Item = &EventInfoKey> {
        self.by_key.keys()
    }

    fn of_event_info(&self, identity: &EventIdentity) -> impl Iterator<Item = Candidate> + '_ {
        let indices = Registry::key_of(identity).and_then(|key| self.by_key.get(&key)).map_or(&[][..], Vec::as_slice);
        indices.iter().filter_map(|&index| self.event_info.get(index)).map(|(info, schema)| Candidate {
            source: DecodeSource::EventInfo,
            origin: "description in the trace".to_owned(),
            schema: Arc::clone(schema),
            trust: Trust::Declared,
            declaring_source: DeclaringSource::EventInfo,
            numbers: EventNumbers::default(),
            message: info.message.as_deref().map(Arc::from),
            build: None,
        })
    }

    /// The format of a WPP message.
    pub fn message(&self, identity: &EventIdentity) -> Option<&Arc<MessageFormat>> {
        (identity.family == HeaderFamily::Message).then(|| self.user.messages.get(identity.provider, identity.id))?
    }

    /// The name of a provider or class, from manifests and descriptions in the trace, the user's files, and the
    /// built-in table, in this order.
    pub fn provider_name(&self, provider: &Guid) -> Option<String> {
        let named = |name: &str| (!name.is_empty()).then(|| name.to_owned());
        let eventsource = self.eventsource.candidates(*provider, 0).find_map(|manifest| named(&manifest.name));
        let event_info = || {
            let mut own = self.event_info.iter().filter(|(info, _)| info.provider == *provider);
            own.find_map(|(info, _)| info.provider_name.as_deref().and_then(named))
        };
        let user = self.user.manifests(*provider).chain(self.user.classes(*provider));
        let user = || user.into_iter().find_map(|(manifest, _)| named(&manifest.name));
        let pack = || self.pack.class(provider).map(|class| class.dataset.to_owned());
        let table = || self.pack.provider_name(provider).map(str::to_owned);
        eventsource.or_else(event_info).or_else(user).or_else(pack).or_else(table)
    }

    /// Whether a provider or class is registered under a name: in the user's files or the built-in table, which no trace
    /// can change.
    pub fn is_registered(&self, provider: &Guid, name: &str) -> bool {
        let user = self.user.manifests(*provider).chain(self.user.classes(*provider));
        let user = user.map(|(manifest, _)| manifest.name.as_str());
        let class = self.pack.class(provider).map(|class| class.dataset);
        let table = self.pack.provider_name(provider);
        user.chain(class).chain(table).any(|known| known.to_lowercase() == name.to_lowercase())
    }

    /// The name of a classic event, also where its layout is not known.
    pub fn classic_name(&self, identity: &EventIdentity) -> Option<String> {
        is_classic(identity).then(|| self.pack.classic_event_name(&identity.provider, identity.opcode))?
    }

    /// The standard name of a classic event's type.
    pub fn classic_type(&self, identity: &EventIdentity) -> Option<&'static str> {
        is_classic(identity).then(|| pack::standard_type(identity.opcode))?
    }
}

fn is_classic(identity: &EventIdentity) -> bool {
    identity.family.is_kernel() || identity.family.is_classic()
}

fn tracelogging_candidate(metadata: &[u8]) -> Option<Candidate> {
    let schema = tracelogging::parse_metadata(metadata).ok()?;
    Some(Candidate {
        source: DecodeSource::TraceLogging,
        origin: "metadata on the event".to_owned(),
        schema: Arc::new(schema),
        trust: Trust::Declared,
        declaring_source: DeclaringSource::Event,
        numbers: EventNumbers::default(),
        message: None,
        build: None,
    })
}

/// The event in which a provider ships a piece of its manifest.
fn manifest_envelope() -> Candidate {
    let field = |name, wire| Field::value(name, wire);
    let schema = EventSchema {
        event_name: Some("ManifestData".to_owned()),
        fields: vec![
            field("Format", Wire::UInt8),
            field("MajorVersion", Wire::UInt8),
            field("MinorVersion", Wire::UInt8),
            field("Magic", Wire::UInt8),
            field("TotalChunks", Wire::UInt16),
            field("ChunkNumber", Wire::UInt16),
            field("Data", Wire::RestAnsi),
        ],
        ..EventSchema::default()
    };
    Candidate {
        source: DecodeSource::EventSource,
        origin: "envelope of a manifest in the trace".to_owned(),
        schema: Arc::new(schema),
        trust: Trust::Declared,
        declaring_source: DeclaringSource::Event,
        numbers: EventNumbers::default(),
        message: None,
        build: None,
    }
}

/// The layout of an event whose payload is one string.
pub fn string_candidate() -> Candidate {
    let schema = EventSchema {
        event_name: Some("EventWriteString".to_owned()),
        fields: vec![Field::value("Message", Wire::Utf16)],
        ..EventSchema::default()
    };
    Candidate {
        source: DecodeSource::String,
        origin: "flag of the event".to_owned(),
        schema: Arc::new(schema),
        trust: Trust::Declared,
        declaring_source: DeclaringSource::Event,
        numbers: EventNumbers::default(),
        message: None,
        build: None,
    }
}

fn of_manifest<'a>(
    manifest: &'a Arc<ProviderSchemas>,
    id: u16,
    version: u8,
    source: DecodeSource,
    origin: &'a str,
) -> impl Iterator<Item = Candidate> + 'a {
    manifest.events_of(id, version).iter().map(move |event| Candidate {
        source,
        origin: origin.to_owned(),
        schema: Arc::clone(&event.schema),
        trust: event.trust,
        declaring_source: DeclaringSource::Manifest(Arc::clone(manifest)),
        numbers: event.numbers(),
        message: event.message.as_ref().filter(|message| !is_unresolved(message)).cloned(),
        build: event.provenance.build,
    })
}

/// Whether a message is a reference to a text that the file does not have: `$(string.X)`, `$(mc.7)`.
fn is_unresolved(message: &str) -> bool {
    let text = message.trim();
    text.is_empty() || (text.starts_with("$(") && text.ends_with(')'))
}

/// What a file declares of a classic event; of a version that it lacks, what it declares of the next lower one.
fn of_user_class<'a>(
    class: &'a Arc<ProviderSchemas>,
    opcode: u8,
    version: u16,
    file: &'a str,
) -> impl Iterator<Item = Candidate> + 'a {
    class.newest_up_to(opcode.into(), version).iter().map(move |event| {
        let is_older = u16::from(event.version) != version;
        let older = || format!("{file}, version {} in place of {version}", event.version);
        Candidate {
            source: DecodeSource::User,
            origin: if is_older { older() } else { file.to_owned() },
            schema: Arc::clone(&event.schema),
            trust: if is_older { event.trust.max(Trust::Older) } else { event.trust },
            declaring_source: DeclaringSource::Manifest(Arc::clone(class)),
            numbers: EventNumbers::default(),
            message: None,
            build: event.provenance.build,
        }
    })
}

fn of_pack(layout: &PackLayout, source: DecodeSource, declaring_source: DeclaringSource) -> Candidate {
    let (origin, schema) = (layout.origins.to_owned(), Arc::clone(&layout.schema));
    let (numbers, message) = (EventNumbers::default(), layout.message.map(Arc::from));
    Candidate { source, origin, schema, trust: layout.trust, declaring_source, numbers, message, build: None }
}

fn of_class(layout: &PackLayout, version: u16) -> Candidate {
    let candidate = of_pack(layout, DecodeSource::Kernel, DeclaringSource::Class);
    if layout.version == version { candidate } else { in_place_of(version, layout, candidate, Trust::Older) }
}

fn of_other_version(layout: &PackLayout, version: u8) -> Candidate {
    // What another version says is not known to be what this one says.
    let candidate = Candidate { message: None, ..of_pack(layout, DecodeSource::Pack, DeclaringSource::Pack) };
    in_place_of(version.into(), layout, candidate, Trust::Doubtful)
}

/// A candidate of another version than the event's; it is trusted so far at most.
fn in_place_of(version: u16, layout: &PackLayout, candidate: Candidate, trust: Trust) -> Candidate {
    let origin = format!("{}, version {} in place of {version}", candidate.origin, layout.version);
    Candidate { origin, trust: trust.max(candidate.trust), ..candidate }
}
