//! The search for the symbols of modules.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use ::symbols::{Found, Inlined, Module, Pdb, PdbId, Symbol, SymbolPath};
use base::error::Result;
use base::progress::stop_if_cancelled;
use conversion::convert::JobProgress;
use rayon::prelude::*;
use serde::Serialize;

use super::fetch::fetch;
use super::frame_table::{self, FrameTable};
use super::managed;
use super::rows::{FOUND, FunctionRow, ModuleSymbols, NOT_ASKED, id_of, note};
use super::tables::{Tables, root_of};
use super::trace_table::remove_of_gone;
use super::wanted::{Asked, Wanted, WantedModule};
use crate::PublishedTrace;
use crate::beside::OfTrace;

/// A path as debuggers write it, for a run with so much memory and so many threads: half of the memory is for all symbol files that are
/// open at once.
pub fn symbol_path(text: &str, memory: u64, threads: usize) -> SymbolPath {
    SymbolPath::parse(text, memory / 2 / threads.max(1) as u64)
}

/// What was found of the symbols of a folder of traces.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Resolved {
    /// The folder that holds the traces.
    pub folder: PathBuf,
    /// The modules that frames lie in, those with most frames first.
    pub modules: Vec<ModuleSymbols>,
    /// Frames of all stacks of all events, and samples without one.
    pub frames: u64,
    /// Those in methods of .NET, outside of modules.
    pub in_methods: u64,
    /// Where lines are asked for the assemblies that frames in methods lie in, those with most frames first: what became of the search
    /// for the symbol files of their IL. `named` counts places with a line.
    pub assemblies: Vec<ModuleSymbols>,
    /// Those in modules.
    pub in_modules: u64,
    /// Those of them that lie in a function with a name.
    pub named: u64,
    /// Those that lie in nothing that the trace records.
    pub unknown: u64,
    /// Those that there was no room for.
    pub left_out: u64,
    /// The tables of the frames of traces, where they are asked for.
    pub frame_tables: Vec<FrameTable>,
    /// What kept symbol servers from being asked, or from being asked to the end.
    pub troubles: Vec<String>,
}

/// Finds the functions that the frames of traces lie in, and keeps them in the folders that hold the traces. What earlier calls have
/// found is not looked for again.
///
/// # Errors
/// [`ErrorKind::Output`](base::error::ErrorKind::Output) when a trace or a table cannot be read, or a table cannot be written;
/// [`ErrorKind::Interrupted`](base::error::ErrorKind::Interrupted) when the caller asked to stop. Symbols that are not found are no error.
pub fn resolve(traces: Vec<PublishedTrace>, asked: &Asked<'_>, progress: &dyn JobProgress) -> Result<Vec<Resolved>> {
    let mut folders: BTreeMap<PathBuf, Vec<PublishedTrace>> = BTreeMap::new();
    for trace in traces {
        folders.entry(root_of(&trace.folder())).or_default().push(trace);
    }
    let resolve = |(root, traces): (&PathBuf, &Vec<PublishedTrace>)| {
        let found = resolve_beside(root, traces, asked, progress)?;
        let frame_tables = if asked.with_frames { frame_tables(root, traces, progress)? } else { Vec::new() };
        Ok(Resolved { frame_tables, troubles: asked.path.troubles(), ..found })
    };
    folders.iter().map(resolve).collect()
}

/// Writes the frames of traces beside them, one trace after another: the stacks of each are in memory.
fn frame_tables(root: &Path, traces: &[PublishedTrace], progress: &dyn JobProgress) -> Result<Vec<FrameTable>> {
    remove_of_gone(root, OfTrace::Frames)?;
    traces.iter().map(|trace| frame_table::write(trace, root, progress)).collect()
}

fn resolve_beside(
    root: &Path,
    traces: &[PublishedTrace],
    asked: &Asked<'_>,
    progress: &dyn JobProgress,
) -> Result<Resolved> {
    let mut wanted = Wanted::of(traces, asked.with_lines, progress)?;
    let tables = Tables::beside(root, progress);
    let earlier = tables.modules()?;
    let known: HashMap<&str, &ModuleSymbols> =
        earlier.iter().filter_map(|row| Some((row.symbol_key.as_deref()?, row))).collect();
    let search = Search { tables: &tables, known: &known, asked, frames: wanted.frames, files: Mutex::default() };
    let modules = wanted.hottest_first();
    fetch(asked.path, modules.len(), progress, |number, stop| {
        let module = modules.get(number).and_then(|module| search.to_fetch(module));
        module.iter().for_each(|module| asked.path.fetch(module, stop));
    })?;
    let found = modules.par_iter().map(|module| {
        stop_if_cancelled(progress)?;
        search.module(module)
    });
    let found: Vec<(ModuleSymbols, u64)> = found.collect::<Result<_>>()?;
    let in_modules = modules.iter().fold(0, |sum: u64, module| sum.saturating_add(module.frames));
    let named = found.iter().fold(0, |sum: u64, (_, named)| sum.saturating_add(*named));
    let modules: Vec<_> = found.into_iter().map(|(row, _)| row).collect();
    tables.put_modules(&with_earlier(&modules, &earlier))?;
    let Wanted { frames, in_methods, unknown, left_out, methods, .. } = wanted;
    let assemblies =
        if asked.with_lines { managed::lines(root, &methods, (asked, frames), progress)? } else { Vec::new() };
    let sums = Resolved { frames, in_methods, in_modules, named, unknown, left_out, ..Resolved::default() };
    Ok(Resolved { folder: root.to_owned(), modules, assemblies, ..sums })
}

/// The rows of this call, and behind them those of modules that only other traces have.
fn with_earlier(modules: &[ModuleSymbols], earlier: &[ModuleSymbols]) -> Vec<ModuleSymbols> {
    let own: HashSet<_> = modules.iter().map(|row| &row.symbol_key).collect();
    let others = earlier.iter().filter(|row| !own.contains(&row.symbol_key));
    modules.iter().chain(others).cloned().collect()
}

/// A call.
struct Search<'a> {
    tables: &'a Tables<'a>,
    /// What earlier calls know.
    known: &'a HashMap<&'a str, &'a ModuleSymbols>,
    asked: &'a Asked<'a>,
    /// All frames.
    frames: u64,
    /// By identity, what is held while the table of a symbol file is read and written.
    files: Mutex<HashMap<PdbId, Arc<Mutex<()>>>>,
}

impl Search<'_> {
    /// The row of a module, and how many frames lie in a function with a name.
    fn module(&self, wanted: &WantedModule) -> Result<(ModuleSymbols, u64)> {
        let (mut row, is_asked) = self.begun(wanted);
        if is_asked {
            self.identify(&mut row);
        }
        let file = id_of(&row).map(|id| (id, self.file(id)));
        // Modules that traces know by different identities may have one symbol file: each adds to what the others have found.
        let _alone = file.as_ref().map(|(_, file)| file.lock().unwrap_or_else(PoisonError::into_inner));
        let mut rows = match &file {
            Some((id, _)) => self.tables.functions(&id.folder())?,
            None => Vec::new(),
        };
        let missing = self.missing(wanted, &rows);
        match &file {
            _ if !is_asked => NOT_ASKED.clone_into(&mut row.status),
            None => {}
            Some(_) if missing.is_empty() => FOUND.clone_into(&mut row.status),
            Some((id, _)) => self.look_up(*id, &missing, &mut rows, &mut row)?,
        }
        let named = named(wanted, &rows, &mut row);
        Ok((row, named))
    }

    /// The row of a module with what earlier calls know of it, and whether its symbols are asked for.
    fn begun(&self, wanted: &WantedModule) -> (ModuleSymbols, bool) {
        let mut row = wanted.row(self.frames);
        let earlier = row.symbol_key.as_deref().and_then(|key| self.known.get(key));
        if let Some(earlier) = earlier.filter(|row| id_of(row).is_some()) {
            let ModuleSymbols { pdb_name, pdb_guid, pdb_age, path, .. } = (*earlier).clone();
            row = ModuleSymbols { pdb_name, pdb_guid, pdb_age, path, ..row };
        }
        let is_asked = row.share >= self.asked.min_share;
        (row, is_asked)
    }

    /// What servers are asked for of a module; `None` where its symbols are known, or not asked for.
    fn to_fetch(&self, wanted: &WantedModule) -> Option<Module> {
        let (row, is_asked) = self.begun(wanted);
        // A table that cannot be read fails the search.
        let rows = id_of(&row).and_then(|id| self.tables.functions(&id.folder()).ok()).unwrap_or_default();
        (is_asked && !self.missing(wanted, &rows).is_empty()).then(|| module_of(&row))
    }

    /// What is held while the table of a symbol file is read and written.
    fn file(&self, id: PdbId) -> Arc<Mutex<()>> {
        Arc::clone(self.files.lock().unwrap_or_else(PoisonError::into_inner).entry(id).or_default())
    }

    /// Finds the identity of the symbol file of a module of which the trace records only the time stamp and the size.
    fn identify(&self, row: &mut ModuleSymbols) {
        if id_of(row).is_some() {
            return;
        }
        match self.asked.path.identify(&module_of(row)) {
            Found::Found((name, id)) => {
                row.pdb_name = Some(name);
                row.pdb_guid = Some(id.guid.to_string());
                row.pdb_age = Some(i64::from(id.age));
            }
            other => note(row, &other),
        }
    }

    /// The addresses of a module that are not known, or not with their lines where these are asked for.
    fn missing(&self, wanted: &WantedModule, rows: &[FunctionRow]) -> Vec<u32> {
        let is_enough = |row: &FunctionRow| row.with_lines || !self.asked.with_lines;
        let known: HashSet<i64> = rows.iter().filter(|row| is_enough(row)).map(|row| row.rva).collect();
        wanted.addresses.keys().copied().filter(|address| !known.contains(&i64::from(*address))).collect()
    }

    /// Looks for the symbol file, and in it for addresses; keeps what is found.
    fn look_up(&self, id: PdbId, missing: &[u32], rows: &mut Vec<FunctionRow>, row: &mut ModuleSymbols) -> Result<()> {
        match self.asked.path.open(row.name(), id) {
            Found::Found(pdb) => self.add(pdb, missing, rows, row),
            other => note(row, &other),
        }
        if !row.is_found() {
            return Ok(());
        }
        let guid = row.pdb_guid.clone().unwrap_or_default();
        let name = row.name().to_lowercase();
        self.tables.put_functions(&id.folder(), (&name, &guid, row.pdb_age.unwrap_or_default()), rows)
    }

    /// Looks addresses up, and puts what they lie in in the place of what was known of them.
    fn add(&self, mut pdb: Pdb, addresses: &[u32], rows: &mut Vec<FunctionRow>, row: &mut ModuleSymbols) {
        row.path = Some(pdb.path().display().to_string());
        match pdb.resolve(addresses, self.asked.with_lines) {
            Ok(symbols) => {
                FOUND.clone_into(&mut row.status);
                let new: HashSet<u32> = addresses.iter().copied().collect();
                rows.retain(|row| u32::try_from(row.rva).is_ok_and(|address| !new.contains(&address)));
                let found = addresses.iter().zip(symbols);
                rows.extend(found.flat_map(|(address, symbol)| self.rows(*address, symbol)));
                rows.sort();
            }
            Err(reason) => {
                let found = Found::<Pdb>::of(reason, pdb.path());
                note(row, &found);
            }
        }
    }

    /// The rows of an address.
    fn rows(&self, address: u32, symbol: Option<Symbol>) -> Vec<FunctionRow> {
        let with_lines = self.asked.with_lines;
        let bare = FunctionRow { rva: i64::from(address), with_lines, ..FunctionRow::default() };
        let Some(symbol) = symbol else { return vec![bare] };
        let text = |text: Option<Arc<str>>| text.map(|text| text.to_string());
        let own = FunctionRow {
            name: Some(symbol.name.to_string()),
            full_name: text(symbol.full_name),
            kind: Some(symbol.kind.word().to_owned()),
            start: Some(i64::from(symbol.start)),
            size: symbol.size.map(i64::from),
            file: text(symbol.file),
            line: symbol.line.map(i64::from),
            ..bare.clone()
        };
        let inlined = (1..).zip(symbol.inlined).map(|(inline_depth, Inlined { name, file, line })| FunctionRow {
            inline_depth,
            name: Some(name.to_string()),
            file: text(file),
            line: line.map(i64::from),
            ..bare.clone()
        });
        std::iter::once(own).chain(inlined).collect()
    }
}

/// A module as the search takes it.
fn module_of(row: &ModuleSymbols) -> Module {
    Module {
        file_name: row.file_name.clone().unwrap_or_default(),
        time_stamp: row.time_stamp.and_then(|time| u32::try_from(time).ok()),
        size: row.image_size.and_then(|size| u32::try_from(size).ok()),
        pdb: id_of(row).map(|id| (row.name().to_owned(), id)),
    }
}

/// Counts the addresses of a module that lie in a function with a name, and their frames.
fn named(wanted: &WantedModule, rows: &[FunctionRow], row: &mut ModuleSymbols) -> u64 {
    let own = rows.iter().filter(|row| row.inline_depth == 0 && row.name.is_some());
    let named: BTreeMap<u32, u64> = own
        .filter_map(|row| wanted.addresses.get_key_value(&u32::try_from(row.rva).ok()?))
        .map(|(address, frames)| (*address, *frames))
        .collect();
    row.named = i64::try_from(named.len()).unwrap_or(i64::MAX);
    named.values().fold(0, |sum, frames| sum.saturating_add(*frames))
}
