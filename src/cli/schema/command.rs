//! The commands: list, show, import, lock, export.

use std::fmt::Write as _;

use base::error::{Error, ErrorKind, Result};
use batch::schemas::{LoadedSchemas, open_store};
use batch::status;
use conversion::plan::{PlanOptions, preview};
use schema::catalog::{Origin, Provider, ProviderType, SchemaCatalog};
use schema::describe::{Document, FORMAT, ProviderDescription};
use schema::files::{self, SchemaContent, SkippedSchema};
use serde::Serialize;

use super::args::{ExportArgs, ImportArgs, ListArgs, SchemaCommand, ShowArgs};
use super::lock::lock;
use super::{page, select};
use crate::cli::console::{self, Console};
use crate::cli::fold::Width;

/// Runs a command; returns the exit code.
///
/// # Errors
/// What keeps it from doing its work.
pub(in crate::cli) fn run(command: &SchemaCommand) -> Result<u8> {
    match command {
        SchemaCommand::List(args) => list(args),
        SchemaCommand::Show(args) => show(args),
        SchemaCommand::Import(args) => import(args),
        SchemaCommand::Lock(args) => lock(args),
        SchemaCommand::Export(args) => export(args),
    }
}

fn list(args: &ListArgs) -> Result<u8> {
    let catalog = LoadedSchemas::load(&args.schemas.choice(), &Console::default())?.into_catalog();
    let providers = select::providers(&catalog, &args.provider)?;
    if args.json {
        console::to_stdout(&console::json(&ProviderList { format: FORMAT, providers }))?;
    } else {
        console::page_to_stdout(&page::list(&providers, Width::of_stdout()))?;
    }
    Ok(status::SUCCESS)
}

/// What `list --json` prints.
#[derive(Serialize)]
struct ProviderList {
    format: u32,
    providers: Vec<Provider>,
}

fn show(args: &ShowArgs) -> Result<u8> {
    let catalog = LoadedSchemas::load(&args.schemas.choice(), &Console::default())?.into_catalog();
    let providers = select::providers(&catalog, std::slice::from_ref(&args.provider))?;
    let mut descriptions: Vec<ProviderDescription> =
        providers.into_iter().map(|provider| description(&catalog, provider, args.event.as_deref())).collect();
    if let Some(event) = &args.event {
        descriptions.retain(|provider| !provider.events.is_empty() || !provider.messages.is_empty());
        if descriptions.is_empty() {
            let message = format!("nothing is known of an event {event} of {}", args.provider);
            return Err(Error::new(ErrorKind::Usage, message).with_hint("see schema show without an event"));
        }
    }
    match (args.json, &args.event) {
        (true, _) => console::to_stdout(&console::json(&Document { format: FORMAT, providers: descriptions }))?,
        (false, None) => console::page_to_stdout(&page::providers(&descriptions, Width::of_stdout()))?,
        (false, Some(_)) => console::page_to_stdout(&page::events(&descriptions, Width::of_stdout()))?,
    }
    Ok(status::SUCCESS)
}

/// What is known of a provider; of one event with fields and columns.
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

fn import(args: &ImportArgs) -> Result<u8> {
    let console = Console::default();
    let mut store = open_store(args.store.store.as_deref())?;
    let mut files = Vec::new();
    let skipped = files::each(&args.paths, |file| {
        files.push(file);
        Ok(())
    })?;
    skipped.iter().for_each(|file| console.warning(file));
    let new = store.import(&files)?;
    let rejected = skipped.iter().filter(|file| matches!(file, SkippedSchema::Rejected { .. })).count();
    let (mut events, mut messages) = (0, 0);
    for file in &files {
        match &file.content {
            SchemaContent::Manifest(manifest) => {
                events += manifest.providers.iter().map(|provider| provider.events.len()).sum::<usize>();
            }
            SchemaContent::Messages(tmf) => messages += tmf.messages.len(),
        }
    }
    let mut text = format!("{} files read: {events} events, {messages} messages, {rejected} rejected\n", files.len());
    // Writing to a string cannot fail.
    let _ = writeln!(text, "{new} are new, {} are in {}", store.files().len(), store.folder().display());
    console::to_stdout(&text)?;
    Ok(if rejected == 0 { status::SUCCESS } else { status::DAMAGED })
}

fn export(args: &ExportArgs) -> Result<u8> {
    let catalog = LoadedSchemas::load(&args.schemas.choice(), &Console::default())?.into_catalog();
    let wanted = args.provider.as_slice();
    let is_own = |origin: &Origin| args.built_in || matches!(origin, Origin::Given | Origin::Store);
    let mut providers = select::providers(&catalog, wanted)?;
    providers.retain(|provider| provider.kind != ProviderType::Named && provider.from.iter().any(is_own));
    let mut descriptions: Vec<ProviderDescription> =
        providers.into_iter().map(|provider| ProviderDescription::of(&catalog, provider, true)).collect();
    for description in &mut descriptions {
        description.keep_origins(is_own);
    }
    let document = console::json(&Document { format: FORMAT, providers: descriptions });
    console::to_file(&args.output, &document)?;
    Ok(status::SUCCESS)
}
