//! The commands about the schema store: import, imports, remove.

use std::fmt::Write as _;

use base::error::Result;
use base::readable::printable::printable;
use batch::{status, stored};

use super::args::{ImportArgs, ImportsArgs, RemoveArgs};
use super::messages::{self, Searched};
use crate::cli::console::{self, Console};
use crate::cli::fold::Width;
use crate::cli::text_table::{Align, TextTable};

/// Providers of one file that a table names; the rest is a number.
const SHOWN: usize = 3;

/// Copies files into the store; returns the exit code.
///
/// # Errors
/// What keeps it from doing its work.
pub(super) fn import(args: &ImportArgs) -> Result<u8> {
    let found = match messages::of_traces(args)? {
        Searched::Found(files) => files,
        Searched::Failed(code) => return Ok(code),
    };
    let imported = stored::import_with(&args.paths, found, args.store.store.as_deref())?;
    let console = Console::default();
    imported.skipped.iter().for_each(|file| console.warning(file));
    for name in &imported.same_name {
        let name = printable(name);
        console.warning(format_args!(
            "{name}: the store has files of this name with other contents, too: see schema remove"
        ));
    }
    let stored::Imported { files, providers, events, messages, rejected, new, stored, store, conflicts, .. } = imported;
    let mut text = format!(
        "{files} files read: {providers} providers, {events} events, {messages} messages, {rejected} rejected\n"
    );
    for conflict in &conflicts {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{conflict}");
    }
    let _ = writeln!(text, "{new} are new, {stored} are in {}", store.display());
    console::to_stdout(&text)?;
    Ok(if rejected == 0 { status::SUCCESS } else { status::DAMAGED })
}

/// Lists the files of the store; returns the exit code.
///
/// # Errors
/// What keeps it from doing its work.
pub(super) fn imports(args: &ImportsArgs) -> Result<u8> {
    let list = stored::imports(args.store.store.as_deref())?;
    if args.json {
        console::to_stdout(&console::json(&list))?;
        return Ok(status::SUCCESS);
    }
    let mut table = TextTable::new([
        ("ORIGIN", Align::Left),
        ("KIND", Align::Left),
        ("EVENTS", Align::Right),
        ("MESSAGES", Align::Right),
        ("REJECTED", Align::Right),
        ("PROVIDERS", Align::Left),
    ]);
    for file in &list.files {
        table.row([
            file.origin.clone(),
            file.kind.name().to_owned(),
            file.events.to_string(),
            file.messages.to_string(),
            file.rejected.to_string(),
            providers(&file.providers),
        ]);
    }
    console::page_to_stdout(&table.render(Width::of_stdout()))?;
    Ok(status::SUCCESS)
}

/// The first providers of a file, and how many more.
fn providers(all: &[stored::ProviderName]) -> String {
    let name = |provider: &stored::ProviderName| match provider.name.as_str() {
        "" => provider.guid.to_string(),
        name => name.to_owned(),
    };
    let named = all.iter().take(SHOWN).map(name).collect::<Vec<_>>().join(", ");
    match all.len().checked_sub(SHOWN) {
        None | Some(0) => named,
        Some(more) => format!("{named} and {more} more"),
    }
}

/// Takes files out of the store; returns the exit code.
///
/// # Errors
/// What keeps it from doing its work.
pub(super) fn remove(args: &RemoveArgs) -> Result<u8> {
    let removed = stored::remove(&args.origins, args.store.store.as_deref())?;
    let mut text = String::new();
    for origin in &removed.removed {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "removed {}", printable(origin));
    }
    let _ = writeln!(text, "{} left in {}", removed.stored, removed.store.display());
    console::to_stdout(&text)?;
    Ok(status::SUCCESS)
}
