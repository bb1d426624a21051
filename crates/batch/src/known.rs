//! What is known of the payloads of events, as documents; what a user adds to it.

use std::path::{Path, PathBuf};

use base::error::{Error, ErrorKind, Result};
use conversion::plan::{PlanOptions, preview};
use schema::catalog::{Origin, Provider, ProviderType, SchemaCatalog};
use schema::describe::{Document, FORMAT, ProviderDescription};
use schema::files::{self, SchemaContent, SchemaFile, SkippedSchema};
use serde::Serialize;

use super::schemas::{SHOWN, open_store};
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
    }
    Ok(Document { format: FORMAT, providers })
}

/// What came of an import.
#[derive(Debug, Serialize)]
pub struct Imported {
    /// Files that were read.
    pub files: u64,
    /// Providers that they declare.
    pub providers: u64,
    /// Events that they declare.
    pub events: u64,
    /// Messages that they declare.
    pub messages: u64,
    /// Declarations that are not used.
    pub rejected: u64,
    /// Files that the store did not have.
    pub new: u64,
    /// Files that it has now.
    pub stored: u64,
    /// The folder of the store.
    pub store: PathBuf,
    /// What was not taken, and why.
    pub skipped: Vec<String>,
}

/// Copies manifests, TMF files, MOF, the messages of PDBs and what binaries declare into the schema store: that in the folder that is named, or where the system has a place for it.
///
/// # Errors
/// [`ErrorKind::Usage`] when a path leads nowhere, when a file named by its path is no schema, and when there is no store.
pub fn import(paths: &[PathBuf], store: Option<&Path>) -> Result<Imported> {
    import_with(paths, Vec::new(), store)
}

/// Like [`import`], with files that are read already.
///
/// # Errors
/// Those of [`import`].
pub fn import_with(paths: &[PathBuf], mut read: Vec<SchemaFile>, store: Option<&Path>) -> Result<Imported> {
    let mut store = open_store(store)?;
    let skipped = files::each(paths, None, |file| {
        read.push(file);
        Ok(())
    })?;
    let new = store.import(&read)?;
    let rejected = skipped.iter().filter(|file| matches!(file, SkippedSchema::Rejected { .. })).count();
    let (mut providers, mut events, mut messages) = (0, 0, 0);
    for file in &read {
        match &file.content {
            SchemaContent::Manifest(manifest) | SchemaContent::Binary(manifest) => {
                providers += manifest.providers.len() as u64;
                events += manifest.providers.iter().map(|provider| provider.events.len() as u64).sum::<u64>();
            }
            SchemaContent::Messages(tmf) => messages += tmf.messages.len() as u64,
            SchemaContent::Classes(mof) => {
                events += mof.classes.iter().map(|class| class.events.len() as u64).sum::<u64>();
            }
        }
    }
    Ok(Imported {
        files: read.len() as u64,
        providers,
        events,
        messages,
        rejected: rejected as u64,
        new: new as u64,
        stored: store.files().len() as u64,
        store: store.folder().to_owned(),
        skipped: said(&skipped),
    })
}

/// What is said of what was not taken: every declaration, and of files that are no schemas the first few and how many more, because
/// a folder can be a disk.
fn said(skipped: &[SkippedSchema]) -> Vec<String> {
    let mut left_out = 0;
    let mut texts = Vec::new();
    for one in skipped {
        left_out += usize::from(matches!(one, SkippedSchema::Skipped { .. }));
        if !matches!(one, SkippedSchema::Skipped { .. }) || left_out <= SHOWN {
            texts.push(one.to_string());
        }
    }
    if left_out > SHOWN {
        texts.push(format!("{} more files are left out", left_out - SHOWN));
    }
    texts
}
