//! Which event shapes go to which dataset, and what the datasets are called.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;
use std::sync::Arc;

use base::guid::Guid;
use base::names::{self, Claim, Naming, Right};
use base::words;
use etl::event::{EventIdentity, Shape};
use etl::layout::header::HeaderFamily;
use etl::layout::kernel;
use hashbrown::HashMap;
use schema::Registry;
use schema::declared::Declared;

use super::declarations::Declarations;
use super::resolve::Resolved;
use crate::survey::{Issue, IssueCode, Severity};

/// How many datasets a provider's events become (`--layout`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum DatasetSplit {
    /// One.
    #[default]
    Provider,
    /// One for each event, below the provider's folder.
    Event,
}

words! { DatasetSplit {
    Provider = "provider": "One for each provider",
    Event = "event": "One for each event, in folders below the provider's: for providers with very many columns",
} }

/// What decides the dataset of an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum DatasetKey {
    /// A provider or event class.
    Provider(Guid),
    /// A kernel group without a known class.
    Group(u8),
    /// WPP messages.
    Message,
    /// Timed headers.
    Timed,
    /// Error headers.
    Error,
    /// WNODE headers.
    Wnode,
    /// What a trace has too many of to distinguish: event shapes, or datasets.
    Other,
}

impl DatasetKey {
    /// The dataset of a shape.
    pub fn of(identity: &EventIdentity) -> DatasetKey {
        match identity.family {
            _ if identity.is_rest() => DatasetKey::Other,
            HeaderFamily::Message => DatasetKey::Message,
            HeaderFamily::Timed => DatasetKey::Timed,
            HeaderFamily::Error => DatasetKey::Error,
            HeaderFamily::Wnode => DatasetKey::Wnode,
            family if family.is_kernel() && kernel::kernel_class(identity.group).is_none() => {
                DatasetKey::Group(identity.group)
            }
            _ => DatasetKey::Provider(identity.provider),
        }
    }

    /// The provider; messages and headers without one have none.
    pub fn provider(self) -> Option<Guid> {
        match self {
            DatasetKey::Provider(guid) => Some(guid),
            _ => None,
        }
    }

    fn fixed_name(self) -> Option<String> {
        match self {
            DatasetKey::Provider(guid) => kernel::kernel_class_of(&guid).map(|class| format!("Kernel-{}", class.name)),
            DatasetKey::Group(group) => Some(format!("Kernel-Group-{group:02X}")),
            DatasetKey::Message => Some("WPP".to_owned()),
            DatasetKey::Timed => Some("Header-Timed".to_owned()),
            DatasetKey::Error => Some("Header-Error".to_owned()),
            DatasetKey::Wnode => Some("Header-Wnode".to_owned()),
            DatasetKey::Other => Some("Other".to_owned()),
        }
    }

    /// Whether its events can have datasets of their own: not those that have no payload columns.
    fn has_events(self) -> bool {
        matches!(self, DatasetKey::Provider(_) | DatasetKey::Group(_))
    }
}

/// What a provider distinguishes its events by. Versions, pointer sizes and metadata variants are one event.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum EventKey {
    /// The id of a manifest event.
    Id(u16),
    /// The opcode of a classic event.
    Opcode(u8),
    /// The name of a TraceLogging event, which has no id that would be the same in every build.
    Name(String),
}

impl EventKey {
    /// The event of a shape with this name.
    pub fn of(key: &Shape, name: Option<&str>) -> EventKey {
        let EventIdentity { id, opcode, family, .. } = key.identity;
        match name {
            Some(name) if !key.metadata.is_empty() => EventKey::Name(name.to_owned()),
            _ if family.is_event() => EventKey::Id(id),
            _ => EventKey::Opcode(opcode),
        }
    }

    /// The ids, or opcodes, under which it is declared; `None` for TraceLogging events, which are declared nowhere else.
    fn ids(&self) -> Option<RangeInclusive<u16>> {
        match self {
            EventKey::Id(id) => Some(*id..=*id),
            EventKey::Opcode(opcode) => Some(u16::from(*opcode)..=u16::from(*opcode)),
            EventKey::Name(_) => None,
        }
    }

    /// What the event is called without a name.
    fn fallback(&self) -> String {
        match self {
            EventKey::Id(id) => format!("Event-{id}"),
            EventKey::Opcode(opcode) => format!("Opcode-{opcode}"),
            EventKey::Name(name) => name.clone(),
        }
    }

    /// What distinguishes it from another event of its name.
    fn suffix(&self) -> String {
        match self {
            EventKey::Id(id) => id.to_string(),
            EventKey::Opcode(opcode) => opcode.to_string(),
            EventKey::Name(name) => names::short_hash(name),
        }
    }
}

/// The shapes of one dataset.
#[derive(Debug)]
pub struct Dataset {
    /// What they have in common.
    pub key: DatasetKey,
    /// The event, where each has a dataset of its own.
    pub event: Option<EventKey>,
    /// Folder below `events`, `/`-separated.
    pub folder: String,
    /// The provider's name, if anything names it.
    pub provider_name: Option<String>,
    /// The shapes, ascending.
    pub members: Vec<u32>,
    /// What the sources in use declare for the provider.
    pub declared: Arc<Declarations>,
}

impl Dataset {
    /// The events declared for it: for one event, or for all of its provider.
    pub fn declared_events(&self) -> impl Iterator<Item = &Declared> {
        let ids = self.event.as_ref().map_or(Some(0..=u16::MAX), EventKey::ids);
        ids.into_iter().flat_map(|ids| self.declared.in_range(ids))
    }
}

/// Groups shapes into at most [`MAX_DATASETS`] datasets, in the order of their keys, and says per input file what is
/// unusual about them.
pub fn datasets(shapes: &[Resolved], registry: &Registry, layout: DatasetSplit) -> (Vec<Dataset>, Vec<InputIssue>) {
    let mut providers: BTreeMap<DatasetKey, Vec<u32>> = BTreeMap::new();
    for (shape, number) in shapes.iter().zip(0..) {
        providers.entry(DatasetKey::of(&shape.key.identity)).or_default().push(number);
    }
    // Whether there is one or not: the names of the others do not depend on it.
    providers.entry(DatasetKey::Other).or_default();
    let named: Vec<_> = providers.iter().map(|(key, members)| name(*key, members, shapes, registry)).collect();
    let namings: Vec<_> = providers
        .iter()
        .zip(&named)
        .map(|((key, members), name)| naming(*key, members, name.as_deref(), shapes, registry))
        .collect();
    let folders = names::dataset_names(&namings);
    let mut issues = shared_names(&providers, &namings, &folders, shapes);
    // Their folders are those of the lock, whichever others are in the trace.
    issues.retain(|(provider, _)| !provider.is_some_and(|provider| registry.uses_lock(&provider)));
    let mut issues: Vec<InputIssue> = issues.into_iter().map(|(_, issue)| issue).collect();
    let whole = providers.into_iter().zip(named).zip(folders).map(|(((key, members), name), folder)| {
        let provider_name = name.filter(|_| key.provider().is_some());
        let declared = Arc::new(Declarations::of(key.provider(), &members, shapes, registry));
        Dataset { key, event: None, folder, provider_name, members, declared }
    });
    let mut datasets: Vec<Dataset> = match layout {
        DatasetSplit::Provider => whole.collect(),
        DatasetSplit::Event => whole.flat_map(|dataset| by_event(dataset, shapes, registry)).collect(),
    };
    issues.extend(limit(&mut datasets, MAX_DATASETS, shapes));
    (datasets, issues)
}

/// How many datasets a trace has at most, `Other` among them: each takes a file, and memory to the end.
pub const MAX_DATASETS: usize = 10_000;

/// An issue of a dataset, by the number of the first input file with an event of it.
pub type InputIssue = (u16, Issue);

/// The first input file with an event of some shapes.
pub fn first_input(members: &[u32], shapes: &[Resolved]) -> u16 {
    members.iter().map(|&member| shapes[member as usize].input).min().unwrap_or(0)
}

/// Puts what goes beyond so many datasets into the last one, `Other`, which goes where it stays empty. Only providers,
/// and their events are that many.
fn limit(datasets: &mut Vec<Dataset>, max: usize, shapes: &[Resolved]) -> Option<InputIssue> {
    let providers = datasets.iter().take_while(|dataset| dataset.key.has_events()).count();
    let has_others = datasets.last().is_some_and(|other| !other.members.is_empty());
    let wanted = datasets.len() - usize::from(!has_others);
    if wanted <= max {
        datasets.retain(|dataset| !dataset.members.is_empty());
        return None;
    }
    let room = (max + providers).saturating_sub(datasets.len());
    let beyond: Vec<Dataset> = datasets.drain(room..providers).collect();
    let mut members: Vec<u32> = beyond.iter().flat_map(|dataset| dataset.members.iter().copied()).collect();
    let events: u64 = members.iter().map(|&member| shapes[member as usize].events).sum();
    let message = format!(
        "the trace would have {wanted} datasets, {max} are the most: {events} events of {} of them are not decoded and \
         stand in the dataset Other",
        beyond.len()
    );
    let input = first_input(&members, shapes);
    if let Some(other) = datasets.last_mut() {
        other.members.append(&mut members);
        other.members.sort_unstable();
    }
    Some((input, Issue::new(Severity::Warning, IssueCode::TooManyDatasets, message)))
}

/// What a dataset may be called, and by what right.
fn naming<'a>(
    key: DatasetKey,
    members: &[u32],
    name: Option<&'a str>,
    shapes: &[Resolved],
    registry: &'a Registry,
) -> Naming<'a> {
    let is_registered = || key.provider().zip(name).is_some_and(|(guid, name)| registry.is_registered(&guid, name));
    let settled = key.provider().and_then(|guid| registry.settled_folder(&guid));
    let provider = key.provider();
    let locked = provider.as_ref().and_then(|guid| registry.locked_folder(guid));
    let right = match () {
        () if key.fixed_name().is_some() => Right::Own,
        () if settled.is_none() && locked.is_some() => Right::Locked,
        () if is_registered() => Right::Registered,
        () => Right::Claimed,
    };
    let events = members.iter().map(|&member| shapes[member as usize].events);
    let events = if right == Right::Locked { 0 } else { events.sum() };
    let own = || key.provider().zip(name).filter(|_| right == Right::Claimed);
    let is_anothers = own().is_some_and(|(guid, name)| registry.is_name_of_another(&guid, name));
    let name = settled.or(locked).or(name);
    Naming { guid: key.provider(), name, claim: Claim { right, events }, is_anothers }
}

/// One issue for each provider that has to share its name.
fn shared_names(
    providers: &BTreeMap<DatasetKey, Vec<u32>>,
    namings: &[Naming<'_>],
    folders: &[String],
    shapes: &[Resolved],
) -> Vec<(Option<Guid>, InputIssue)> {
    let plain = |naming: &Naming<'_>| naming.name.filter(|name| !name.is_empty()).map(names::safe_name);
    let of_folder: HashMap<String, usize> =
        folders.iter().enumerate().map(|(number, folder)| (names::folded(folder), number)).collect();
    let mut issues = Vec::new();
    for ((members, naming), folder) in providers.values().zip(namings).zip(folders) {
        let Some((name, own)) = naming.name.zip(plain(naming)).filter(|(_, plain)| plain != folder) else { continue };
        let keeper = of_folder.get(&names::folded(&own)).and_then(|&number| namings.get(number));
        let [own_id, keeper_id] = [Some(naming), keeper].map(|naming| {
            naming.and_then(|naming| naming.guid).map_or_else(|| "no provider".to_owned(), |guid| guid.to_string())
        });
        let message = if keeper.is_none() {
            format!(
                "the name {name} is that of {own_id} (events: {}) and of a provider of the built-in schemas: those of the first \
                 stand in the dataset {folder}",
                naming.claim.events
            )
        } else {
            format!(
                "the name {name} is that of {own_id} (events: {}) and of {keeper_id} (events: {}): those of the first stand in \
             the dataset {folder}, those of the second in {own}",
                naming.claim.events,
                keeper.map_or(0, |keeper| keeper.claim.events)
            )
        };
        let issue = Issue::new(Severity::Warning, IssueCode::SharedProviderName, message);
        issues.push((naming.guid, (first_input(members, shapes), issue)));
    }
    issues
}

/// A provider that the pack knows is called as it calls it, another one best by traits on its events; kernel classes have
/// their own names.
fn name(key: DatasetKey, members: &[u32], shapes: &[Resolved], registry: &Registry) -> Option<String> {
    let traits = || members.iter().find_map(|&shape| shapes[shape as usize].traits_name.clone());
    let settled = || registry.settled_provider_name(&key.provider()?).map(str::to_owned);
    key.fixed_name().or_else(settled).or_else(traits).or_else(|| registry.provider_name(&key.provider()?))
}

/// Splits the shapes of a provider by event. An event is called by the first of its shapes that has a name.
fn by_event(whole: Dataset, shapes: &[Resolved], registry: &Registry) -> Vec<Dataset> {
    if !whole.key.has_events() {
        return vec![whole];
    }
    let mut events: Events = BTreeMap::new();
    for &member in &whole.members {
        let shape = &shapes[member as usize];
        let name = shape.event_name(registry);
        let (known, members) = events.entry(EventKey::of(&shape.key, name.as_deref())).or_default();
        *known = known.take().or(name);
        members.push(member);
    }
    let folders = event_folders(&events, &whole.declared);
    let split = events.into_iter().zip(folders).map(|((key, (_, members)), folder)| Dataset {
        event: Some(key),
        folder: format!("{}/{folder}", whole.folder),
        provider_name: whole.provider_name.clone(),
        members,
        declared: Arc::clone(&whole.declared),
        ..whole
    });
    split.collect()
}

/// The events of a provider, each with its name and its shapes.
type Events = BTreeMap<EventKey, (Option<String>, Vec<u32>)>;

/// The folders of events, in the order of their keys. Declared events take part, present or not, so that the folder of
/// an event has the same name in every trace.
fn event_folders(events: &Events, declared: &Declarations) -> Vec<String> {
    let own = events.iter().map(|(key, (name, _))| {
        let name = name.as_deref().filter(|name| !name.is_empty());
        (name.map_or_else(|| key.fallback(), event_folder), key.suffix())
    });
    let is_own = |id: u16| {
        let opcode = u8::try_from(id).map(EventKey::Opcode);
        events.contains_key(&EventKey::Id(id)) || opcode.is_ok_and(|opcode| events.contains_key(&opcode))
    };
    let others = declared.events.iter().filter(|(id, _)| !is_own(**id)).filter_map(|(id, declared)| {
        let name = declared
            .iter()
            .filter(|event| !event.trust.is_doubtful())
            .find_map(|event| event.schema.event_name.as_deref());
        Some((event_folder(name?), id.to_string()))
    });
    let mut folders = names::event_names(&own.chain(others).collect::<Vec<_>>());
    folders.truncate(events.len());
    folders
}

/// `Task/Opcode` as `Task.Opcode`: a slash in a folder's name would have to be escaped.
fn event_folder(name: &str) -> String {
    name.replace('/', ".")
}

#[cfg(test)]
mod tests {
    use schema::model::EventSchema;
    use schema::trust::Trust;

    use super::*;

    fn key(family: HeaderFamily, id: u16, opcode: u8, metadata: &[u8]) -> Shape {
        let identity = EventIdentity {
            provider: Guid::ZERO,
            group: 0,
            id,
            version: 3,
            opcode,
            property: 0,
            pointer_size: 8,
            family,
        };
        Shape { identity, metadata: metadata.into() }
    }

    #[test]
    fn an_event_is_its_id_its_opcode_or_its_name() {
        use HeaderFamily::{Classic64, Event64, Message};
        for (key, name, expected) in [
            (key(Event64, 7, 1, &[]), Some("Start"), EventKey::Id(7)),
            (key(Event64, 0, 0, &[]), None, EventKey::Id(0)),
            (key(Classic64, 0, 0, &[]), Some("Load"), EventKey::Opcode(0)),
            (key(Event64, 7, 1, &[1]), Some("Start"), EventKey::Name("Start".to_owned())),
            (key(Event64, 7, 1, &[1]), None, EventKey::Id(7)),
        ] {
            assert_eq!(EventKey::of(&key, name), expected);
        }
        assert!(!DatasetKey::of(&key(Message, 7, 0, &[]).identity).has_events());
    }

    #[test]
    fn the_folder_of_an_event_does_not_depend_on_which_others_are_present() {
        let declared = |id: u16, name: &str, trust| Declared {
            trust,
            id,
            version: 0,
            schema: Arc::new(EventSchema { event_name: Some(name.to_owned()), ..EventSchema::default() }),
        };
        let all = [
            declared(1, "A/Start", Trust::Declared),
            declared(2, "A/Start", Trust::Declared),
            declared(3, "B", Trust::Doubtful),
        ];
        let mut declarations = Declarations::default();
        all.into_iter().for_each(|event| declarations.events.entry(event.id).or_default().push(event));
        let folders = |events: &[(EventKey, Option<&str>)]| {
            let events = events.iter().map(|(key, name)| (key.clone(), (name.map(str::to_owned), Vec::new())));
            event_folders(&events.collect(), &declarations)
        };
        let one = (EventKey::Id(1), Some("A/Start"));
        let two = (EventKey::Id(2), Some("A/Start"));
        assert_eq!(folders(std::slice::from_ref(&one)), ["A.Start~1"]);
        assert_eq!(folders(&[one, two, (EventKey::Id(4), Some("b"))]), ["A.Start~1", "A.Start~2", "b"]);
        assert_eq!(folders(&[(EventKey::Id(9), None), (EventKey::Opcode(9), Some(""))]), ["Event-9", "Opcode-9"]);
        let declarations = Arc::new(declarations);
        let ids = |event: Option<EventKey>| {
            let declared = Arc::clone(&declarations);
            let dataset = Dataset {
                key: DatasetKey::Message,
                event,
                folder: String::new(),
                provider_name: None,
                members: Vec::new(),
                declared,
            };
            dataset.declared_events().map(|declared| declared.id).collect::<Vec<_>>()
        };
        assert_eq!(ids(None), [1, 2, 3]);
        assert_eq!(ids(Some(EventKey::Id(2))), [2]);
        assert_eq!(ids(Some(EventKey::Opcode(3))), [3]);
        assert_eq!(ids(Some(EventKey::Name("B".to_owned()))), [0; 0]);
    }
}
