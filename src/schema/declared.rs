//! The events that the winning sources of a provider declare, present in the trace or not.

use std::collections::HashSet;
use std::sync::Arc;

use super::{Library, Registry, Trust};
use crate::guid::Guid;
use crate::schema::event_info::EventKey;
use crate::schema::manifest::ProviderSchemas;
use crate::schema::model::EventSchema;
use crate::schema::pack::{Confidence, PackLayout, ProviderPack};

/// One declared event.
#[derive(Clone, Debug)]
pub struct Declared {
    /// Doubtful layouts come last, whatever their id: they must not take a column's name.
    pub is_doubtful: bool,
    /// The event id, or the opcode of a classic event.
    pub id: u16,
    /// The version.
    pub version: u16,
    /// The layout.
    pub schema: Arc<EventSchema>,
}

impl Registry {
    /// Everything that a library declares for a provider, in its own order.
    pub fn declared(&self, provider: &Guid, library: &Library) -> Vec<Declared> {
        match library {
            Library::Event => Vec::new(),
            Library::Manifest(manifest) => of_manifest(manifest),
            Library::EventInfo => self.declared_in_trace(provider),
            Library::Pack | Library::Override => self.declared_in_pack(provider),
            Library::Class => self.pack.class(provider).map_or_else(Vec::new, |class| of_pack(class.all())),
        }
    }

    /// The corrections, and of the pack what they do not correct.
    fn declared_in_pack(&self, provider: &Guid) -> Vec<Declared> {
        let layouts = |pack: Option<&'static ProviderPack>| pack.map_or_else(Vec::new, |pack| of_pack(pack.all()));
        let mut declared = layouts(self.pack.override_pack(provider));
        let corrected: HashSet<(u16, u16)> = declared.iter().map(|event| (event.id, event.version)).collect();
        let rest = layouts(self.pack.provider(provider)).into_iter();
        declared.extend(rest.filter(|event| !corrected.contains(&(event.id, event.version))));
        declared
    }

    fn declared_in_trace(&self, provider: &Guid) -> Vec<Declared> {
        let own = |key: &EventKey| match key {
            EventKey::Event { provider: of, id, version } => (of == provider).then_some((*id, *version)),
            EventKey::Classic { class, opcode, version } => {
                (class == provider).then_some((u16::from(*opcode), *version))
            }
        };
        let events = self.event_info.iter().filter_map(|(info, schema)| {
            let (id, version) = own(&info.key())?;
            Some(Declared { is_doubtful: false, id, version: u16::from(version), schema: Arc::clone(schema) })
        });
        events.collect()
    }
}

fn of_manifest(manifest: &ProviderSchemas) -> Vec<Declared> {
    let events = manifest.events.iter().map(|event| Declared {
        is_doubtful: event.suspect,
        id: event.id,
        version: u16::from(event.version),
        schema: Arc::clone(&event.schema),
    });
    events.collect()
}

fn of_pack(layouts: &[PackLayout]) -> Vec<Declared> {
    let events = layouts.iter().map(|layout| Declared {
        is_doubtful: layout.confidence == Confidence::Damaged,
        id: layout.id,
        version: layout.version,
        schema: Arc::clone(&layout.schema),
    });
    events.collect()
}

impl Trust {
    /// The value for a layout of unknown standing.
    pub fn is_doubtful(self) -> bool {
        self == Trust::Doubtful
    }
}
