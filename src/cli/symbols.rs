//! `etl2parquet symbols`.

use std::collections::BTreeSet;
use std::env;
use std::path::Path;

use base::error::Result;
use base::readable::count::{Count, counted};
use base::readable::share::share;
use base::resources::pool;
use batch::status;
use published::published;
use published::symbols::{Asked, ModuleSymbols, NOT_ASKED, Resolved, id_of, resolve, symbol_path};

use super::args::SymbolsArgs;
use super::console;
use super::fold::Width;
use super::run::Run;
use super::text_table::{Align, TextTable};

/// Modules without symbols that a page shows; the rest is a number.
const SHOWN: usize = 20;

/// The variable in which debuggers on Windows look for symbols.
const OF_DEBUGGERS: &str = "_NT_SYMBOL_PATH";

/// Looks symbols up; returns the exit code. Symbols that are not found are no failure.
///
/// # Errors
/// What keeps the run from starting or ends it, and a page or list that cannot be written.
pub(super) fn run(args: &SymbolsArgs) -> Result<u8> {
    let run = Run::start(&args.run)?;
    let text = args.symbol_path.clone().or_else(|| env::var_os(OF_DEBUGGERS)).unwrap_or_default();
    let path = symbol_path(&text.to_string_lossy(), run.memory, run.threads);
    if text.is_empty() {
        run.console.warning("no symbol path: name folders of symbol files with --symbol-path");
    }
    let asked = Asked { path: &path, min_share: args.min_share, with_lines: args.lines, with_frames: args.frames };
    let traces = published(&args.outputs)?;
    let found = run.job("symbols", |progress| pool(run.threads)?.install(|| resolve(traces, &asked, progress)));
    let found = match found {
        Ok(found) => found,
        Err(error) => return Ok(run.failed(&error)),
    };
    path.troubles().iter().for_each(|trouble| run.console.warning(trouble));
    if args.json {
        console::to_stdout(&console::json(&found))?;
    } else if args.missing.as_deref() != Some(Path::new("-")) {
        let pages: Vec<String> = found.iter().map(|found| page(found, Width::of_stdout())).collect();
        console::to_stdout(&pages.join("\n"))?;
    }
    if let Some(file) = &args.missing {
        let modules = found.iter().flat_map(|found| &found.modules);
        let assemblies = found.iter().flat_map(|found| &found.assemblies);
        let missing: BTreeSet<String> = modules
            .filter_map(|module| manifest_line(module, &id_of(module)?.folder()))
            .chain(assemblies.filter_map(|assembly| manifest_line(assembly, &id_of(assembly)?.portable_folder())))
            .collect();
        console::to_file(file, &missing.into_iter().collect::<String>())?;
    }
    Ok(status::SUCCESS)
}

/// What was found of the symbols of a folder, and what was not.
fn page(resolved: &Resolved, width: Width) -> String {
    let Resolved { folder, modules, assemblies, frames, in_modules, in_methods, named, unknown, .. } = resolved;
    let Resolved { left_out, frame_tables, .. } = resolved;
    let mut values = TextTable::of_values();
    let of_frames = |part: u64| format!("{} ({})", Count(part), share(part, *frames));
    values.value("folder", folder.display().to_string());
    values.value("frames", Count(*frames).to_string());
    values.value("in modules", of_frames(*in_modules));
    values.value("with a function", of_frames(*named));
    values.value("in .NET methods", of_frames(*in_methods));
    values.value("in neither", of_frames(*unknown));
    if *left_out > 0 {
        values.value("no room for", of_frames(*left_out));
    }
    let found = |of: &[ModuleSymbols]| of.iter().filter(|module| module.is_found()).count() as u64;
    let of_all = |of: &[ModuleSymbols], what| format!("of {} of {}", counted(found(of), what), Count(of.len() as u64));
    values.value("symbols", of_all(modules, "modules"));
    if !assemblies.is_empty() {
        values.value("lines of .NET", of_all(assemblies, "symbol files"));
    }
    if !frame_tables.is_empty() {
        let rows = frame_tables.iter().fold(0, |sum: u64, table| sum.saturating_add(table.rows));
        let tables = counted(frame_tables.len() as u64, "tables");
        values.value("frame tables", format!("{tables}, {}", counted(rows, "rows")));
    }
    let missing: Vec<_> = modules.iter().chain(assemblies).filter(|module| !module.is_found()).collect();
    let mut text = values.render(width);
    if !missing.is_empty() {
        text.push('\n');
        text.push_str(&missing_table(&missing, *frames).render(width));
    }
    text
}

fn missing_table(missing: &[&ModuleSymbols], frames: u64) -> TextTable {
    let mut table = TextTable::new([
        ("WITHOUT SYMBOLS", Align::Left),
        ("FRAMES", Align::Right),
        ("SHARE", Align::Right),
        ("SYMBOL FILE", Align::Left),
        ("ID", Align::Whole),
        ("WHY", Align::Left),
    ]);
    let frames_of = |module: &ModuleSymbols| u64::try_from(module.frames).unwrap_or_default();
    for module in missing.iter().take(SHOWN) {
        let why = module
            .reason
            .as_ref()
            .map_or_else(|| module.status.clone(), |reason| format!("{}: {reason}", module.status));
        table.row([
            module.file_name.clone().unwrap_or_else(|| "?".to_owned()),
            Count(frames_of(module)).to_string(),
            share(frames_of(module), frames),
            if module.pdb_name.is_some() { module.name().to_owned() } else { String::new() },
            id_of(module).map(|id| id.folder()).unwrap_or_default(),
            why,
        ]);
    }
    if let Some(rest @ [_, ..]) = missing.get(SHOWN..) {
        let sum = rest.iter().map(|module| frames_of(module)).sum();
        let empty = String::new;
        table.row([
            format!("{} more", rest.len()),
            Count(sum).to_string(),
            share(sum, frames),
            empty(),
            empty(),
            empty(),
        ]);
    }
    table
}

/// The line of a manifest of `symchk` for a symbol file that frames need and that was not found: a machine with a network fetches it
/// with `symchk /im`. `folder` is that in which symbol stores have it.
fn manifest_line(module: &ModuleSymbols, folder: &str) -> Option<String> {
    if module.is_found() || module.status == NOT_ASKED {
        return None;
    }
    let name = module.name();
    (!name.contains([',', '\n', '\r'])).then(|| format!("{name},{folder},1\n"))
}
