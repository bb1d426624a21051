//! Descriptions that the user gives.

use std::collections::BTreeMap;
use std::sync::Arc;

use base::guid::Guid;

use super::lock::SchemaLock;
use crate::manifest::{ProviderSchemas, classic_classes};
use crate::wpp::MessageTable;

/// Manifests and message formats given by the user, in the order given.
#[derive(Clone, Debug, Default)]
pub struct UserSchemas {
    manifests: BTreeMap<Guid, Vec<(Arc<ProviderSchemas>, String)>>,
    /// Classes of classic events; their events are known by their opcodes.
    classes: BTreeMap<Guid, Vec<(Arc<ProviderSchemas>, String)>>,
    /// Formats of WPP messages.
    pub messages: MessageTable,
    /// Names of providers that describe themselves.
    pub lock: Option<Arc<SchemaLock>>,
}

impl UserSchemas {
    /// Adds what a manifest file declares for one provider, and its events as those of classes, where it has such.
    pub fn add_provider(&mut self, provider: ProviderSchemas, file: &str) {
        classic_classes(&provider).into_iter().for_each(|class| self.add_class(class, file));
        self.manifests.entry(provider.guid).or_default().push((Arc::new(provider), file.to_owned()));
    }

    /// Adds a class of classic events that a file declares; of its events `id` is the opcode.
    pub fn add_class(&mut self, class: ProviderSchemas, file: &str) {
        self.classes.entry(class.guid).or_default().push((Arc::new(class), file.to_owned()));
    }

    /// Adds descriptions that rank behind those already here.
    pub fn append(&mut self, lower: &UserSchemas) {
        for (&guid, classes) in &lower.classes {
            self.classes.entry(guid).or_default().extend_from_slice(classes);
        }
        for (&provider, manifests) in &lower.manifests {
            self.manifests.entry(provider).or_default().extend_from_slice(manifests);
        }
        for (&class, events) in &lower.classes {
            self.classes.entry(class).or_default().extend_from_slice(events);
        }
        self.messages.append(&lower.messages);
    }

    /// The manifests of a provider, with the files they stand in.
    pub fn manifests(&self, provider: Guid) -> impl Iterator<Item = (&Arc<ProviderSchemas>, &str)> {
        let own = self.manifests.get(&provider).map_or(&[][..], Vec::as_slice);
        own.iter().map(|(manifest, file)| (manifest, file.as_str()))
    }

    /// What files declare of a class of classic events, with these files.
    pub fn classes(&self, class: Guid) -> impl Iterator<Item = (&Arc<ProviderSchemas>, &str)> {
        let own = self.classes.get(&class).map_or(&[][..], Vec::as_slice);
        own.iter().map(|(class, file)| (class, file.as_str()))
    }

    /// The classes of classic events that are here, in order.
    pub fn class_guids(&self) -> impl Iterator<Item = Guid> {
        self.classes.keys().copied()
    }

    /// The providers that manifests are here of, in order.
    pub fn providers(&self) -> impl Iterator<Item = Guid> {
        self.manifests.keys().copied()
    }
}
