//! Descriptions that the user gives.

use std::collections::BTreeMap;
use std::sync::Arc;

use base::guid::Guid;

use super::lock::SchemaLock;
use crate::manifest::ProviderSchemas;
use crate::wpp::MessageTable;

/// Manifests and message formats given by the user, in the order given.
#[derive(Clone, Debug, Default)]
pub struct UserSchemas {
    manifests: BTreeMap<Guid, Vec<(Arc<ProviderSchemas>, String)>>,
    /// Formats of WPP messages.
    pub messages: MessageTable,
    /// Names of providers that describe themselves.
    pub lock: Option<Arc<SchemaLock>>,
}

impl UserSchemas {
    /// Adds what a manifest file declares for one provider.
    pub fn add_provider(&mut self, provider: ProviderSchemas, file: &str) {
        self.manifests.entry(provider.guid).or_default().push((Arc::new(provider), file.to_owned()));
    }

    /// Adds descriptions that rank behind those already here.
    pub fn append(&mut self, lower: &UserSchemas) {
        for (&provider, manifests) in &lower.manifests {
            self.manifests.entry(provider).or_default().extend_from_slice(manifests);
        }
        self.messages.append(&lower.messages);
    }

    /// The manifests of a provider, with the files they stand in.
    pub fn manifests(&self, provider: Guid) -> impl Iterator<Item = (&Arc<ProviderSchemas>, &str)> {
        let own = self.manifests.get(&provider).map_or(&[][..], Vec::as_slice);
        own.iter().map(|(manifest, file)| (manifest, file.as_str()))
    }

    /// The providers that manifests are here of, in order.
    pub fn providers(&self) -> impl Iterator<Item = Guid> {
        self.manifests.keys().copied()
    }
}
