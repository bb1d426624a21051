//! What is known of the payloads of events, as documents.

use base::error::{Error, ErrorKind, Result};
use conversion::plan::{PlanOptions, preview};
use schema::catalog::{Origin, Provider, ProviderType, SchemaCatalog};
use schema::describe::{Document, FORMAT, ProviderDescription};
use serde::Serialize;

use super::select;

/// Providers whose events are known.
#[derive(Debug, Serialize)]
pub struct ProviderList {
    format: u32,
    /// The providers.
    pub providers: Vec<Provider>,
}

/// The providers that any of some names, GUIDs and patterns means; without one all that have events.
///
/// # Errors
/// [`ErrorKind::Usage`] when one is no pattern, or nothing is known of what it means.
pub fn list(catalog: &SchemaCatalog, wanted: &[String]) -> Result<ProviderList> {
    Ok(ProviderList { format: FORMAT, providers: select::providers(catalog, wanted)? })
}

/// What is known of a provider, or of one of its events, with fields and columns.
///
/// # Errors
/// [`ErrorKind::Usage`] when nothing is known of it.
pub fn show(catalog: &SchemaCatalog, provider: &str, event: Option<&str>) -> Result<Document> {
    let found = select::providers(catalog, &[provider.to_owned()])?;
    let mut providers: Vec<_> = found.into_iter().map(|provider| description(catalog, provider, event)).collect();
    if let Some(event) = event {
        providers.retain(|provider| !provider.events.is_empty() || !provider.messages.is_empty());
        if providers.is_empty() {
            let message = format!("nothing is known of an event {event} of {provider}");
            return Err(Error::new(ErrorKind::Usage, message).with_hint("see schema show without an event"));
        }
    }
    Ok(Document { format: FORMAT, providers })
}

fn description(catalog: &SchemaCatalog, provider: Provider, event: Option<&str>) -> ProviderDescription {
    let dataset = preview::dataset(&provider);
    let mut description = ProviderDescription::of(catalog, provider, event.is_some());
    description.dataset = Some(dataset);
    if let Some(wanted) = event {
        description.events.retain(|event| select::is_event(wanted, event));
        description.messages.retain(|message| select::is_message(wanted, message));
        for event in &mut description.events {
            let version = (event.id, event.version);
            let conversions = preview::conversions(catalog, &description.provider, version, &PlanOptions::default());
            for (layout, conversion) in event.layouts.iter_mut().zip(conversions) {
                layout.conversion = Some(conversion);
            }
        }
    }
    description
}

/// What a user has given or imported, of one provider or of all; with `built_in` what the program has besides.
///
/// # Errors
/// Those of [`list`].
pub fn export(catalog: &SchemaCatalog, provider: Option<&String>, built_in: bool) -> Result<Document> {
    let is_own = |origin: &Origin| built_in || matches!(origin, Origin::Given | Origin::Store);
    let mut found = select::providers(catalog, provider.map_or(&[], std::slice::from_ref))?;
    found.retain(|provider| provider.kind != ProviderType::Named && provider.from.iter().any(is_own));
    let mut providers: Vec<_> =
        found.into_iter().map(|provider| ProviderDescription::of(catalog, provider, true)).collect();
    for description in &mut providers {
        description.keep_origins(is_own);
        description.conflicts.clear();
    }
    Ok(Document { format: FORMAT, providers })
}
