//! The events that the winning sources of a provider declare, present in the trace or not.

use std::collections::HashSet;
use std::sync::Arc;

use base::guid::Guid;

use super::event_info::EventInfoKey;
use super::manifest::ProviderSchemas;
use super::model::EventSchema;
use super::pack::{PackLayout, ProviderPack};
use super::registry::{DeclaringSource, Registry};
use super::trust::Trust;

/// One declared event.
#[derive(Clone, Debug)]
pub struct Declared {
    /// How far to believe the layout. Doubtful ones come last, whatever their id: they must not take a column's name.
    pub trust: Trust,
    /// The event id, or the opcode of a classic event.
    pub id: u16,
    /// The version.
    pub version: u16,
    /// The layout.
    pub schema: Arc<EventSchema>,
}

impl Registry {
    /// Everything that a source declares for a provider, in its own order.
    pub fn declared(&self, provider: &Guid, declaring_source: &DeclaringSource) -> Vec<Declared> {
        match declaring_source {
            DeclaringSource::Event => Vec::new(),
            DeclaringSource::Manifest(manifest) => of_manifest(manifest),
            DeclaringSource::EventInfo => self.declared_in_trace(provider),
            DeclaringSource::Pack | DeclaringSource::Override => self.declared_in_pack(provider),
            DeclaringSource::Class => self.pack.class(provider).map_or_else(Vec::new, |class| of_pack(class.all())),
        }
    }

    /// All that the pack describes of a provider or class, which settles the names of its columns: by id, version and rank,
    /// what may be wrong behind all others. Empty for those that it does not know.
    pub fn settled(&self, provider: &Guid) -> Vec<Declared> {
        let mut settled = self.declared_in_pack(provider);
        settled.extend(self.pack.class(provider).map_or_else(Vec::new, |class| of_pack(class.all())));
        settled.sort_by_key(|event| (event.trust.is_doubtful(), event.id, event.version));
        settled
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
        let own = |key: &EventInfoKey| match key {
            EventInfoKey::Event { provider: of, id, version } => (of == provider).then_some((*id, *version)),
            EventInfoKey::Classic { class, opcode, version } => {
                (class == provider).then_some((u16::from(*opcode), *version))
            }
        };
        let events = self.event_info.iter().filter_map(|(info, schema)| {
            let (id, version) = own(&info.key())?;
            Some(Declared { trust: Trust::Declared, id, version: u16::from(version), schema: Arc::clone(schema) })
        });
        events.collect()
    }
}

fn of_manifest(manifest: &ProviderSchemas) -> Vec<Declared> {
    let events = manifest.events.iter().map(|event| Declared {
        trust: event.trust,
        id: event.id,
        version: u16::from(event.version),
        schema: Arc::clone(&event.schema),
    });
    events.collect()
}

fn of_pack(layouts: &[PackLayout]) -> Vec<Declared> {
    let events = layouts.iter().map(|layout| Declared {
        trust: layout.trust,
        id: layout.id,
        version: layout.version,
        schema: Arc::clone(&layout.schema),
    });
    events.collect()
}
