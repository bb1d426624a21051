//! The commands: list, show, export, and which file has the others.

use base::error::Result;
use batch::schemas::LoadedSchemas;
use batch::{known, status};
use schema::catalog::SchemaCatalog;

use super::args::{ExportArgs, ListArgs, SchemaArgs, SchemaCommand, ShowArgs};
use super::harvest::harvest;
use super::lock::lock;
use super::page;
use super::store::{import, imports, remove};
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
        SchemaCommand::Imports(args) => imports(args),
        SchemaCommand::Remove(args) => remove(args),
        SchemaCommand::Harvest(args) => harvest(args),
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

fn export(args: &ExportArgs) -> Result<u8> {
    let document = known::export(&catalog(&args.schemas)?, args.provider.as_ref(), args.built_in)?;
    console::to_file(&args.output, &console::json(&document))?;
    Ok(status::SUCCESS)
}
