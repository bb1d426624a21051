//! `schema import --of`: formats of WPP messages from the PDBs of traces.

use std::env;

use base::error::Result;
use base::readable::count::{Count, counted};
use base::resources::pool;
use published::published;
use published::symbols::{MessageId, MessageSearch, ModuleSymbols, id_of, messages, symbol_path};
use schema::files::SchemaFile;

use super::args::ImportArgs;
use crate::cli::console;
use crate::cli::fold::Width;
use crate::cli::run::Run;
use crate::cli::text_table::{Align, TextTable};

/// Modules without a symbol file that a page shows; the rest is a number.
const SHOWN: usize = 20;

/// The variable in which debuggers on Windows look for symbols.
const OF_DEBUGGERS: &str = "_NT_SYMBOL_PATH";

/// What a search came to.
#[derive(Debug)]
pub(super) enum Searched {
    /// Files that help; none where no traces are named.
    Found(Vec<SchemaFile>),
    /// It ended without a result; the exit code.
    Failed(u8),
}

/// Looks for the formats that the traces lack which are named, and says what it found and what is missing.
///
/// # Errors
/// What keeps the search from starting, and a page that cannot be written.
pub(super) fn of_traces(args: &ImportArgs) -> Result<Searched> {
    if args.of.is_empty() {
        return Ok(Searched::Found(Vec::new()));
    }
    let run = Run::start(&args.run)?;
    let text = args.symbol_path.clone().or_else(|| env::var_os(OF_DEBUGGERS)).unwrap_or_default();
    let path = symbol_path(&text.to_string_lossy(), run.memory, run.threads);
    if text.is_empty() {
        run.console.warning("no symbol path: name folders of symbol files with --symbol-path");
    }
    if !path.servers().is_empty() {
        run.console.warning("servers of the symbol path are not asked: symbols are looked for in folders alone");
    }
    let traces = published(&args.of)?;
    match run.job("messages", |progress| pool(run.threads)?.install(|| messages(&traces, &path, progress))) {
        Ok(found) => {
            console::to_stdout(&page(&found, Width::of_stdout()))?;
            Ok(Searched::Found(found.files))
        }
        Err(error) => Ok(Searched::Failed(run.failed(&error))),
    }
}

fn page(found: &MessageSearch, width: Width) -> String {
    let rows = |is_counted: &dyn Fn(&MessageId) -> bool| {
        let counted = found.lacking.iter().filter(|(message, _)| is_counted(message));
        counted.fold(0_u64, |sum, (_, rows)| sum.saturating_add(*rows))
    };
    let kinds = |count: usize| counted(count as u64, "formats");
    let mut values = TextTable::of_values();
    values.value("lacking", format!("{}, for {}", kinds(found.lacking.len()), counted(rows(&|_| true), "messages")));
    if !found.lacking.is_empty() {
        let helped = counted(rows(&|message| found.helped.contains(message)), "messages");
        let files = counted(found.files.len() as u64, "symbol files");
        values.value("found", format!("{}, for {helped}, in {files}", kinds(found.helped.len())));
        let there = found.modules.iter().filter(|module| module.is_found()).count() as u64;
        values.value("symbol files", format!("of {there} of {}", counted(found.modules.len() as u64, "modules")));
    }
    if found.left_out > 0 {
        values.value("no room for", counted(found.left_out, "modules"));
    }
    let mut text = values.render(width);
    let left: Vec<_> = found.lacking.iter().filter(|(message, _)| !found.helped.contains(message)).collect();
    if !left.is_empty() {
        text.push('\n');
        text += &left_table(&left, width);
        let missing: Vec<_> = found.modules.iter().filter(|module| !module.is_found()).collect();
        if !missing.is_empty() {
            text.push('\n');
            text += &missing_table(&missing, width);
        }
    }
    text + "\n"
}

fn left_table(left: &[(&MessageId, &u64)], width: Width) -> String {
    let mut table =
        TextTable::new([("STILL LACKING", Align::Whole), ("NUMBER", Align::Right), ("MESSAGES", Align::Right)]);
    for ((guid, number), rows) in left.iter().take(SHOWN) {
        table.row([guid.to_string(), number.to_string(), Count(**rows).to_string()]);
    }
    if let Some(rest @ [_, ..]) = left.get(SHOWN..) {
        let sum = rest.iter().fold(0_u64, |sum, (_, rows)| sum.saturating_add(**rows));
        table.row([format!("{} more", rest.len()), String::new(), Count(sum).to_string()]);
    }
    table.render(width)
}

fn missing_table(missing: &[&ModuleSymbols], width: Width) -> String {
    let mut table = TextTable::new([
        ("MODULE", Align::Left),
        ("SYMBOL FILE", Align::Left),
        ("ID", Align::Whole),
        ("WHY", Align::Left),
    ]);
    for module in missing.iter().take(SHOWN) {
        let reason = module.reason.as_ref().map_or_else(String::new, |reason| format!(": {reason}"));
        table.row([
            module.file_name.clone().unwrap_or_else(|| "?".to_owned()),
            if module.pdb_name.is_some() { module.name().to_owned() } else { String::new() },
            id_of(module).map(|id| id.folder()).unwrap_or_default(),
            format!("{}{reason}", module.status),
        ]);
    }
    if let Some(rest @ [_, ..]) = missing.get(SHOWN..) {
        table.row([format!("{} more", rest.len()), String::new(), String::new(), String::new()]);
    }
    table.render(width)
}
