//! The search for source lines of methods of .NET.
//!
//! ```text
//! address in a body ─► offset in IL, by what the trace records ─► line, by the portable PDB of the assembly
//! ```

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::Path;
use std::sync::Arc;

use ::symbols::{Found, MethodPlace, PdbId, SourceLine};
use base::error::Result;
use base::progress::{Progress, stop_if_cancelled};
use conversion::convert::JobProgress;
use rayon::prelude::*;

use super::fetch::fetch;
use super::line_table::{self, KnownLine, LineRow};
use super::rows::{FOUND, ModuleSymbols, NOT_ASKED, id_of, note};
use super::trace_table::remove_of_gone;
use super::wanted::{Asked, TraceMethods};
use crate::beside::OfTrace;
use crate::frames::{Assembly, MethodCode, NeededMethod};

/// Why there is no line, where no symbol file is to blame.
const NO_IDENTITY: &str = "no identity";
const NO_MAP: &str = "no map";
const NO_IL: &str = "no IL";
const NO_LINE: &str = "no line";

/// What frames need of the symbol file of an assembly.
#[derive(Debug, Default)]
struct WantedAssembly {
    places: BTreeSet<MethodPlace>,
    frames: u64,
}

/// What is known of places in the IL of an assembly; `None`: the symbol file has no line there.
type Lines = HashMap<MethodPlace, Option<SourceLine>>;

/// Finds the source lines that frames in methods lie at, and writes them beside the traces: of each assembly what became of the search,
/// those with most frames first.
///
/// # Errors
/// [`ErrorKind::Output`](base::error::ErrorKind::Output) when a table cannot be read or written;
/// [`ErrorKind::Interrupted`](base::error::ErrorKind::Interrupted) when the caller asked to stop.
pub(super) fn lines(
    root: &Path,
    traces: &[TraceMethods],
    (asked, frames): (&Asked<'_>, u64),
    progress: &dyn JobProgress,
) -> Result<Vec<ModuleSymbols>> {
    remove_of_gone(root, OfTrace::Lines)?;
    let mut wanted = wanted(traces);
    wanted.sort_by_key(|(_, wanted)| std::cmp::Reverse(wanted.frames));
    let search = Search { asked, frames, known: known(root, traces, progress)? };
    fetch(asked.path, wanted.len(), progress, |number, stop| {
        if let Some((name, id)) = wanted.get(number).and_then(|wanted| search.to_fetch(wanted)) {
            asked.path.fetch_portable(&name, id, stop);
        }
    })?;
    let found = wanted.par_iter().map(|wanted| {
        stop_if_cancelled(progress)?;
        Ok(search.assembly(wanted))
    });
    let found: Vec<(ModuleSymbols, Lines)> = found.collect::<Result<_>>()?;
    let of_assembly: HashMap<&Assembly, &(ModuleSymbols, Lines)> =
        wanted.iter().map(|(assembly, _)| *assembly).zip(&found).collect();
    for TraceMethods { trace, content, methods } in traces {
        stop_if_cancelled(progress)?;
        let mut rows: Vec<LineRow> =
            methods.iter().flat_map(|method| line_rows(method, |of| of_assembly.get(of).copied())).collect();
        line_table::put(root, (trace, content), &mut rows, progress)?;
    }
    Ok(found.into_iter().map(|(row, _)| row).collect())
}

/// What frames need, by assembly.
fn wanted(traces: &[TraceMethods]) -> Vec<(&Assembly, WantedAssembly)> {
    let mut wanted = BTreeMap::<&Assembly, WantedAssembly>::new();
    for NeededMethod { body, code, addresses } in traces.iter().flat_map(|trace| &trace.methods) {
        for (address, frames) in addresses {
            if let Some((assembly, place)) = code.assembly.as_ref().zip(place(code, body.base, *address).ok()) {
                let wanted = wanted.entry(assembly).or_default();
                wanted.places.insert(place);
                wanted.frames = wanted.frames.saturating_add(*frames);
            }
        }
    }
    wanted.into_iter().collect()
}

/// Where in the IL of its method an address lies, else why that is not known.
fn place(code: &MethodCode, base: i64, address: i64) -> std::result::Result<MethodPlace, &'static str> {
    let (token, map) = code.token.zip(code.map.as_ref()).ok_or(NO_MAP)?;
    let native = address.checked_sub(base).and_then(|offset| u32::try_from(offset).ok()).ok_or(NO_MAP)?;
    let il_offset = map.il_offset(native).ok_or(NO_IL)?;
    Ok(MethodPlace { token, il_offset })
}

/// What the tables of these traces know of symbol files: it stays true whatever became of the traces.
fn known(root: &Path, traces: &[TraceMethods], progress: &dyn Progress) -> Result<HashMap<PdbId, Lines>> {
    let mut found = HashMap::<PdbId, Lines>::new();
    for TraceMethods { trace, .. } in traces {
        line_table::each(root, trace, progress, |KnownLine { il, line, unknown_because, .. }| {
            let Some((guid, age, token, il_offset)) = il else { return };
            let line = match (line, unknown_because) {
                (Some((file, line)), _) => Some(SourceLine { file: Arc::from(file), line }),
                (None, Some(NO_LINE)) => None,
                _ => return,
            };
            if let Ok(guid) = guid.parse() {
                found.entry(PdbId { guid, age }).or_default().insert(MethodPlace { token, il_offset }, line);
            }
        })?;
    }
    Ok(found)
}

/// A call.
struct Search<'a> {
    asked: &'a Asked<'a>,
    /// All frames.
    frames: u64,
    /// What earlier calls know.
    known: HashMap<PdbId, Lines>,
}

impl Search<'_> {
    /// The symbol file that servers are asked for; `None` where what is needed of it is known, or not asked for.
    fn to_fetch(&self, (assembly, wanted): &(&Assembly, WantedAssembly)) -> Option<(String, PdbId)> {
        let row = self.row(assembly, wanted);
        let id = id_of(&row)?;
        let (_, missing) = self.known(id, wanted);
        (row.share >= self.asked.min_share && !missing.is_empty()).then(|| (row.name().to_owned(), id))
    }

    /// What became of the search, and what is known then.
    fn assembly(&self, (assembly, wanted): &(&Assembly, WantedAssembly)) -> (ModuleSymbols, Lines) {
        let mut row = self.row(assembly, wanted);
        let Some(id) = id_of(&row) else {
            NO_IDENTITY.clone_into(&mut row.status);
            return (row, Lines::new());
        };
        let (mut lines, missing) = self.known(id, wanted);
        if missing.is_empty() {
            FOUND.clone_into(&mut row.status);
        } else if row.share < self.asked.min_share {
            NOT_ASKED.clone_into(&mut row.status);
        } else {
            lines.extend(self.look_up(id, missing, &mut row));
        }
        row.named = i64::try_from(lines.values().flatten().count()).unwrap_or(i64::MAX);
        (row, lines)
    }

    /// The row of an assembly, before its symbol file is looked for.
    fn row(&self, assembly: &Assembly, wanted: &WantedAssembly) -> ModuleSymbols {
        #[expect(clippy::cast_precision_loss, reason = "a share is no exact number")]
        let share = if self.frames == 0 { 0.0 } else { wanted.frames as f64 / self.frames as f64 };
        ModuleSymbols {
            file_name: assembly.file_name.clone(),
            pdb_name: Some(assembly.pdb_name.clone()),
            pdb_guid: Some(assembly.pdb_guid.clone()),
            pdb_age: Some(i64::from(assembly.pdb_age)),
            frames: i64::try_from(wanted.frames).unwrap_or(i64::MAX),
            share,
            addresses: i64::try_from(wanted.places.len()).unwrap_or(i64::MAX),
            ..ModuleSymbols::default()
        }
    }

    /// What is known of the places that are wanted, and those of which nothing is.
    fn known(&self, id: PdbId, wanted: &WantedAssembly) -> (Lines, Vec<MethodPlace>) {
        let (mut lines, mut missing) = (Lines::new(), Vec::new());
        let known = self.known.get(&id);
        for place in &wanted.places {
            match known.and_then(|known| known.get(place)) {
                Some(line) => drop(lines.insert(*place, line.clone())),
                None => missing.push(*place),
            }
        }
        (lines, missing)
    }

    /// Looks for the symbol file, and in it for lines.
    fn look_up(&self, id: PdbId, places: Vec<MethodPlace>, row: &mut ModuleSymbols) -> Lines {
        let pdb = match self.asked.path.open_portable(row.name(), row.file_name.as_deref(), id) {
            Found::Found(pdb) => pdb,
            other => {
                note(row, &other);
                return Lines::new();
            }
        };
        match pdb.lines(&places) {
            Ok(lines) => {
                FOUND.clone_into(&mut row.status);
                row.path = Some(pdb.path().display().to_string());
                places.into_iter().zip(lines).collect()
            }
            Err(reason) => {
                note(row, &Found::<()>::of(reason, pdb.path()));
                Lines::new()
            }
        }
    }
}

/// The rows of a method; `found` says what is known of an assembly.
fn line_rows<'a>(
    method: &'a NeededMethod,
    found: impl Fn(&Assembly) -> Option<&'a (ModuleSymbols, Lines)> + 'a,
) -> impl Iterator<Item = LineRow> + 'a {
    let NeededMethod { body, code, addresses } = method;
    addresses.iter().map(move |(address, frames)| {
        let place = place(code, body.base, *address);
        let assembly = code.assembly.as_ref();
        let found = assembly.and_then(&found);
        let line = match (place, found) {
            (Err(reason), _) => Err(reason),
            (Ok(_), None) => Err(NO_IDENTITY),
            (Ok(place), Some((row, lines))) => match lines.get(&place) {
                Some(Some(line)) => Ok((Arc::clone(&line.file), line.line)),
                Some(None) => Err(NO_LINE),
                None => Err(row.status.as_str()),
            },
        };
        LineRow {
            body: *body,
            address: *address,
            token: code.token,
            il_offset: place.ok().map(|place| place.il_offset),
            assembly: assembly.and_then(|assembly| assembly.file_name.clone()),
            pdb: assembly.map(|of| (of.pdb_name.clone(), of.pdb_guid.clone(), of.pdb_age)),
            unknown_because: line.as_ref().err().map(|reason| (*reason).to_owned()),
            line: line.ok(),
            frames: *frames,
        }
    })
}
