//! What the pack settles whatever source a trace is decoded by: names of providers, columns and events, and names of values.

use std::sync::Arc;

use base::guid::Guid;
use base::names::safe_name;
use etl::event::EventIdentity;

use super::model::{EventSchema, Field, FieldKind, ValueMap};
use super::pack::PackLayout;
use super::registry::Registry;
use super::settled::{EventNumber, SettledNames};

/// What is settled of the name of an event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EventName {
    /// Nothing: its source names it.
    Open,
    /// It has none.
    Unnamed,
    /// This one.
    Named(String),
}

impl Registry {
    /// The name of a provider or class that the pack knows.
    pub fn settled_provider_name(&self, provider: &Guid) -> Option<&'static str> {
        let is_name = |folder: &&str| !folder.ends_with(&format!("~{}", &provider.to_string()[..8]));
        self.settled_folder(provider).filter(is_name).or_else(|| self.pack.provider_name(provider))
    }

    /// What the folder of a provider is called, where that is not its name.
    pub fn settled_folder(&self, provider: &Guid) -> Option<&'static str> {
        self.pack.kept_folder(provider)
    }

    /// Whether the pack, or the lock of the user, knows a provider of this name, ignoring case, that is not this one.
    pub fn is_name_of_another(&self, provider: &Guid, name: &str) -> bool {
        let is_locked = || self.lock().is_some_and(|lock| lock.is_folder_of_another(provider, &safe_name(name)));
        self.pack.provider_name(provider).is_none() && (self.pack.is_provider_name(name) || is_locked())
    }

    /// What is settled of the names of a provider's columns and events although the pack says otherwise now, or by the user
    /// where the pack does not know the provider.
    pub fn settled_names(&self, provider: &Guid) -> Option<Arc<SettledNames>> {
        let (kept, locked) = (self.pack.kept(provider), self.locked(provider));
        let Some((kept, locked)) = kept.as_ref().zip(locked) else { return kept.or_else(|| locked.cloned()) };
        let mut names = SettledNames::clone(kept);
        locked.columns().values().for_each(|column| names.add_column(column.clone()));
        // Where the pack has a name for the version already, that stays.
        for event in locked.events() {
            names.add_event(event.clone());
        }
        Some(Arc::new(names))
    }

    /// What the pack settles of a provider's layouts although it ranks others first now, and the number that the event has
    /// there. `provider` is that of the identity or the one under which it is described.
    pub fn settled_layouts(
        &self,
        identity: &EventIdentity,
        provider: &Guid,
    ) -> Option<(Arc<SettledNames>, EventNumber)> {
        let (provider, number) = place_of(identity, provider)?;
        Some((self.pack.kept(provider)?, number))
    }

    /// What is settled of the name of an event. `provider` is that of the identity or the one under which it is described.
    ///
    /// An event that the pack knows is called what the pack calls it in its version, else in the highest version below it,
    /// else in the lowest one. Names of layouts that may be wrong come last.
    pub fn settled_event_name(&self, identity: &EventIdentity, provider: &Guid) -> EventName {
        let Some((provider, number)) = place_of(identity, provider) else { return EventName::Open };
        let version = identity.version;
        let kept = self.settled_names(provider).and_then(|kept| kept.event_name(number, version).map(str::to_owned));
        if let Some(name) = kept {
            return EventName::Named(name);
        }
        let named = self.described_event_name(provider, number, version).or_else(|| match number {
            EventNumber::Opcode(opcode) => self.pack.class_type_name(provider, opcode).map(Some),
            EventNumber::Id(_) => None,
        });
        named.map_or(EventName::Open, |name| name.map_or(EventName::Unnamed, EventName::Named))
    }

    /// The name that the pack's description of an event has; that of the nearest version, a lower one first. `None` where
    /// there is no description, `Some(None)` where it has no name.
    pub fn described_event_name(&self, provider: &Guid, number: EventNumber, version: u16) -> Option<Option<String>> {
        let place = |layout: &&PackLayout| {
            (layout.version > version, layout.version.abs_diff(version), layout.trust.is_doubtful())
        };
        self.layouts_of(provider, number).min_by_key(place).map(|layout| layout.schema.event_name.clone())
    }

    /// The layout with the names of values that the pack has for fields of the same name of this event, where the layout has
    /// none; `None` where that changes nothing.
    pub fn with_settled_maps(
        &self,
        schema: &EventSchema,
        identity: &EventIdentity,
        provider: &Guid,
    ) -> Option<EventSchema> {
        let (provider, number) = place_of(identity, provider)?;
        let layouts = self.layouts_of(provider, number).filter(|layout| !layout.trust.is_doubtful());
        let mut own: Vec<_> = layouts.filter(|layout| has_map(&layout.schema.fields)).collect();
        own.sort_by_key(|layout| (layout.version > identity.version, layout.version.abs_diff(identity.version)));
        let mut is_changed = false;
        let mut completed = schema.clone();
        for layout in own {
            is_changed |= add_maps(&mut completed.fields, &layout.schema.fields);
        }
        is_changed.then_some(completed)
    }

    /// All layouts of an event in the pack, those that correct others first.
    fn layouts_of(&self, provider: &Guid, number: EventNumber) -> impl Iterator<Item = &'static PackLayout> {
        let (id, lists) = match number {
            EventNumber::Id(id) => {
                let packs = [self.pack.override_pack(provider), self.pack.provider(provider)];
                (id, packs.map(|pack| pack.map_or(&[][..], |pack| pack.all())))
            }
            EventNumber::Opcode(opcode) => {
                (u16::from(opcode), [self.pack.class(provider).map_or(&[][..], |class| class.all()), &[]])
            }
        };
        let of_event = move |layouts: &'static [PackLayout]| {
            let first = layouts.partition_point(|layout| layout.id < id);
            layouts[first..].iter().take_while(move |layout| layout.id == id)
        };
        lists.into_iter().flat_map(of_event)
    }
}

/// Under which provider and number the pack knows an event; `None` for messages and the like.
fn place_of<'a>(identity: &'a EventIdentity, provider: &'a Guid) -> Option<(&'a Guid, EventNumber)> {
    match identity.family {
        family if family.is_event() => Some((provider, EventNumber::Id(identity.id))),
        family if family.is_kernel() || family.is_classic() => {
            Some((&identity.provider, EventNumber::Opcode(identity.opcode)))
        }
        _ => None,
    }
}

fn has_map(fields: &[Field]) -> bool {
    fields.iter().any(|field| match &field.kind {
        FieldKind::Struct(members) => has_map(members),
        FieldKind::Value { .. } => field.map.is_some(),
    })
}

/// Gives fields without names of values those of the fields of the same name; says whether there are any.
fn add_maps(fields: &mut [Field], known: &[Field]) -> bool {
    let mut is_changed = false;
    for field in fields {
        let Some(other) = known.iter().find(|other| other.name.eq_ignore_ascii_case(&field.name)) else { continue };
        match (&mut field.kind, &other.kind) {
            (FieldKind::Struct(members), FieldKind::Struct(known)) => is_changed |= add_maps(members, known),
            (FieldKind::Value { wire, .. }, FieldKind::Value { wire: other_wire, .. })
                if field.map.is_none() && wire.is_integer() && other_wire.is_integer() =>
            {
                let map: Option<&Arc<ValueMap>> = other.map.as_ref();
                field.map = map.cloned();
                is_changed |= field.map.is_some();
            }
            _ => {}
        }
    }
    is_changed
}

#[cfg(test)]
mod tests {
    use etl::layout::header::HeaderFamily;

    use super::*;
    use crate::eventsource::EventSourceManifests;
    use crate::model::{MapKind, Wire};
    use crate::user::UserSchemas;

    fn registry() -> Registry {
        Registry::new(EventSourceManifests::default(), Vec::new(), Arc::new(UserSchemas::default()))
    }

    fn event(provider: &str, family: HeaderFamily, (id, version, opcode): (u16, u16, u8)) -> EventIdentity {
        let provider = provider.parse().unwrap();
        EventIdentity { provider, group: 0, id, version, opcode, property: 0, pointer_size: 8, family }
    }

    fn name(identity: &EventIdentity) -> EventName {
        registry().settled_event_name(identity, &identity.provider)
    }

    const DOTNET: &str = "e13c0d23-ccbc-4e12-931b-d9cc2eee27e4";
    const THREAD: &str = "3d6fa8d1-fe05-11d0-9dda-00c04fd7ba7c";
    const TPL: &str = "2e5dba47-a3d2-4d16-8ee0-6671ffdcd7b5";
    const KERNEL_PROCESS: &str = "22fb2cd6-0e7b-422b-a0c7-2fad1fd0e716";

    #[test]
    fn events_of_the_pack_have_its_names() {
        use HeaderFamily::{Classic64, Event64, Message};
        let named = |name: &str| EventName::Named(name.to_owned());
        for (identity, expected) in [
            (event(DOTNET, Event64, (9, 1, 0)), named("GarbageCollection/GCSuspendEEBegin")),
            // Of a version that is not known, as in the next lower one; below all, as in the lowest.
            (event(DOTNET, Event64, (9, 200, 0)), named("GarbageCollection/GCSuspendEEBegin")),
            (event(DOTNET, Event64, (60000, 0, 0)), EventName::Open),
            (event(THREAD, Classic64, (0, 2, 48)), named("Thread/ReserveCreate")),
            (event(THREAD, Classic64, (0, 3, 48)), named("Thread/SetPriority")),
            (event(THREAD, Classic64, (0, 9, 48)), named("Thread/SetPriority")),
            (event(THREAD, Classic64, (0, 0, 48)), named("Thread/ReserveCreate")),
            (event("12345678-0000-0000-0000-000000000000", Event64, (1, 0, 0)), EventName::Open),
            (event("12345678-0000-0000-0000-000000000000", Classic64, (0, 0, 1)), EventName::Open),
            (event(DOTNET, Message, (9, 1, 0)), EventName::Open),
            // Manifests of it differ, and no description is built in.
            (event(TPL, Event64, (8, 0, 0)), named("TaskExecute/Start")),
            (event(TPL, Event64, (9, 1, 0)), named("TaskExecute/Stop")),
            (event(TPL, Event64, (7, 1, 0)), EventName::Open),
        ] {
            assert_eq!(name(&identity), expected, "{identity:?}");
        }
    }

    #[test]
    fn names_of_values_come_from_the_pack_where_a_source_has_none() {
        let identity = event(DOTNET, HeaderFamily::Event64, (10, 2, 0));
        let own = |fields| {
            let schema = EventSchema { fields, ..EventSchema::default() };
            registry().with_settled_maps(&schema, &identity, &identity.provider)
        };
        let field = |name, wire| Field::value(name, wire);
        let completed = own(vec![field("X", Wire::UInt8), field("allocationkind", Wire::UInt32)]).unwrap();
        let map = completed.fields[1].map.as_ref().expect("the pack names the kinds");
        assert_eq!((map.name.as_str(), completed.fields[0].map.is_none()), ("GCAllocationKindMap", true));
        assert_eq!(own(vec![field("AllocationKind", Wire::Utf16), field("ClrInstanceID", Wire::UInt16)]), None);
        let map = Arc::new(ValueMap::new("Own", MapKind::Values, vec![]));
        assert_eq!(own(vec![Field { map: Some(map), ..field("AllocationKind", Wire::UInt32) }]), None);
    }

    #[test]
    fn names_of_providers_are_the_packs() {
        let (registry, process) = (registry(), KERNEL_PROCESS.parse().unwrap());
        assert_eq!(registry.settled_provider_name(&process), Some("Microsoft-Windows-Kernel-Process"));
        assert_eq!(registry.settled_provider_name(&THREAD.parse().unwrap()), Some("Kernel-Thread"));
        assert_eq!(registry.settled_provider_name(&Guid::ZERO), None);
        let win32k = "8c416c79-d49b-4f01-a467-e56d3aa8234c".parse().unwrap();
        let names = (registry.settled_provider_name(&win32k), registry.settled_folder(&win32k));
        assert_eq!(names, (Some("Microsoft-Windows-Win32k"), Some("Microsoft-Windows-Win32k~8c416c79")));
        let tpl = TPL.parse().unwrap();
        assert_eq!(registry.settled_provider_name(&tpl), Some("System.Threading.Tasks.TplEventSource"));
        assert!(registry.is_name_of_another(&Guid::ZERO, "microsoft-WINDOWS-kernel-process"));
        assert!(!registry.is_name_of_another(&process, "Microsoft-Windows-Kernel-Process"));
        assert!(!registry.is_name_of_another(&Guid::ZERO, "Nobody"));
    }
}
