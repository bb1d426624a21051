//! The commands: list, show, import, lock, export.

use std::fmt::Write as _;

use base::error::Result;
use batch::schemas::LoadedSchemas;
use batch::{known, status};
use schema::catalog::SchemaCatalog;

use super::args::{ExportArgs, ImportArgs, ListArgs, SchemaArgs, SchemaCommand, ShowArgs};
use super::lock::lock;
use super::messages::{self, Searched};
use super::page;
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

fn catalog(schemas: &SchemaArgs) -> Result<SchemaCatalog> {
    Ok(LoadedSchemas::load(&schemas.choice(), None, &Console::default())?.into_catalog())
}

fn list(args: &ListArgs) -> Result<u8> {
    let list = known::list(&catalog(&args.schemas)?, &args.provider)?;
    if args.json {
        console::to_stdout(&console::json(&list))?;
    } else {
        console::page_to_stdout(&page::list(&list.providers, Width::of_stdout()))?;
    }
    Ok(status::SUCCESS)
}

fn show(args: &ShowArgs) -> Result<u8> {
    let document = known::show(&catalog(&args.schemas)?, &args.provider, args.event.as_deref())?;
    match (args.json, &args.event) {
        (true, _) => console::to_stdout(&console::json(&document))?,
        (false, None) => console::page_to_stdout(&page::providers(&document.providers, Width::of_stdout()))?,
        (false, Some(_)) => console::page_to_stdout(&page::events(&document.providers, Width::of_stdout()))?,
    }
    Ok(status::SUCCESS)
}

fn import(args: &ImportArgs) -> Result<u8> {
    let found = match messages::of_traces(args)? {
        Searched::Found(files) => files,
        Searched::Failed(code) => return Ok(code),
    };
    let imported = known::import_with(&args.paths, found, args.store.store.as_deref())?;
    imported.skipped.iter().for_each(|file| Console::default().warning(file));
    let known::Imported { files, providers, events, messages, rejected, new, stored, store, .. } = imported;
    let mut text = format!(
        "{files} files read: {providers} providers, {events} events, {messages} messages, {rejected} rejected\n"
    );
    // Writing to a string cannot fail.
    let _ = writeln!(text, "{new} are new, {stored} are in {}", store.display());
    console::to_stdout(&text)?;
    Ok(if rejected == 0 { status::SUCCESS } else { status::DAMAGED })
}

fn export(args: &ExportArgs) -> Result<u8> {
    let document = known::export(&catalog(&args.schemas)?, args.provider.as_ref(), args.built_in)?;
    console::to_file(&args.output, &console::json(&document))?;
    Ok(status::SUCCESS)
}
