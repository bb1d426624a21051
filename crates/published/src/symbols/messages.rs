//! The formats of WPP messages that traces lack, from the PDBs of the modules that they record.

use std::collections::{BTreeMap, BTreeSet};

use ::symbols::{Found, Module, Pdb, PdbId, SymbolPath};
use base::error::Result;
use base::guid::Guid;
use base::progress::{Progress, stop_if_cancelled};
use conversion::read_columns;
use conversion::sidecar::catalog::CatalogRow;
use conversion::sidecar::dimensions::ImageRow;
use rayon::prelude::*;
use schema::files::{SchemaContent, SchemaFile};
use schema::symbol_file;

use super::rows::{FOUND, ModuleSymbols, note};
use super::wanted::{WantedModule, key_of};
use crate::PublishedTrace;
use crate::frames::ModuleId;
use crate::source::Source;

/// Modules that are looked up; traces of more have the others named as left out.
const MOST_MODULES: usize = 1 << 16;

/// What distinguishes WPP messages: the message GUID and the number.
pub type MessageId = (Guid, u16);

/// A file with formats that help, and which.
type Helpful = (SchemaFile, BTreeSet<MessageId>);

/// What was found of the formats of WPP messages that traces lack.
#[derive(Clone, Debug, Default)]
pub struct MessageSearch {
    /// How often the traces have each message without a format: by message GUID and number.
    pub lacking: BTreeMap<MessageId, u64>,
    /// Those of them that a PDB has the format of.
    pub helped: BTreeSet<MessageId>,
    /// The messages of each PDB that has formats of any of them.
    pub files: Vec<SchemaFile>,
    /// What became of the PDB of each module that the traces record, by name.
    pub modules: Vec<ModuleSymbols>,
    /// Modules that there was no room for.
    pub left_out: u64,
}

read_columns! {
    /// An event shape.
    struct MessageShape<'b> of CatalogRow<'static> {
        provider_id: Option<&'b str>,
        event_id: Option<u16>,
        kind: &'b str,
        decode_source: &'b str,
        rows: Option<u64>,
    }
}

read_columns! {
    /// A module in a process.
    struct RecordedImage<'b> of ImageRow<'static> {
        file_name: Option<&'b str>,
        time_stamp: Option<u32>,
        size: Option<i64>,
        pdb_name: Option<&'b str>,
        pdb_guid: Option<&'b str>,
        pdb_age: Option<u32>,
    }
}

impl RecordedImage<'_> {
    fn id(&self) -> ModuleId {
        let owned = |text: Option<&str>| text.map(str::to_owned);
        ModuleId {
            file_name: owned(self.file_name),
            time_stamp: self.time_stamp,
            size: self.size,
            pdb_name: owned(self.pdb_name),
            pdb_guid: owned(self.pdb_guid),
            pdb_age: self.pdb_age,
        }
    }
}

/// Looks for the formats of WPP messages that traces lack, in the PDBs of all modules that these traces record: a program records
/// its messages by itself, so nothing else says whose they are. A PDB is taken by its identity alone.
///
/// # Errors
/// [`ErrorKind::Output`](base::error::ErrorKind::Output) when a trace cannot be read;
/// [`ErrorKind::Interrupted`](base::error::ErrorKind::Interrupted) when the caller asked to stop. A PDB that is not found is no error.
pub fn messages(traces: &[PublishedTrace], path: &SymbolPath, progress: &dyn Progress) -> Result<MessageSearch> {
    let mut search = MessageSearch::default();
    let mut modules: BTreeMap<(Option<String>, Option<String>), ModuleId> = BTreeMap::new();
    for trace in traces {
        search.read(&Source::open(trace, progress)?, &mut modules)?;
    }
    if search.lacking.is_empty() {
        return Ok(search);
    }
    let lacking = &search.lacking;
    let modules: Vec<ModuleId> = modules.into_values().collect();
    let found = modules.par_iter().map(|module| {
        stop_if_cancelled(progress)?;
        Ok(look_up(module, path, lacking))
    });
    let found: Vec<(ModuleSymbols, Option<Helpful>)> = found.collect::<Result<_>>()?;
    for (module, file) in found {
        search.modules.push(module);
        if let Some((file, helped)) = file {
            search.helped.extend(helped);
            search.files.push(file);
        }
    }
    search.modules.sort_by(|a, b| (a.name(), &a.symbol_key).cmp(&(b.name(), &b.symbol_key)));
    Ok(search)
}

impl MessageSearch {
    /// Reads what a trace lacks, and its modules.
    fn read(
        &mut self,
        source: &Source<'_>,
        modules: &mut BTreeMap<(Option<String>, Option<String>), ModuleId>,
    ) -> Result<()> {
        source.sidecar::<MessageShape<'_>>(|row| {
            let guid = row.provider_id.and_then(|guid| guid.parse::<Guid>().ok());
            let lacks = row.kind == "message" && row.decode_source == "none";
            if let Some(message) = guid.zip(row.event_id).filter(|_| lacks) {
                let rows = self.lacking.entry(message).or_default();
                *rows = rows.saturating_add(row.rows.unwrap_or(0));
            }
        })?;
        source.sidecar::<RecordedImage<'_>>(|row| {
            let id = row.id();
            let key = key_of(&id);
            if modules.len() < MOST_MODULES {
                modules.entry(key).or_insert(id);
            } else if !modules.contains_key(&key) {
                self.left_out = self.left_out.saturating_add(1);
            }
        })
    }
}

/// What became of the PDB of a module, and its messages if any of them help.
fn look_up(
    module: &ModuleId,
    path: &SymbolPath,
    lacking: &BTreeMap<MessageId, u64>,
) -> (ModuleSymbols, Option<Helpful>) {
    let mut row = WantedModule { module: module.clone(), ..WantedModule::default() }.row(0);
    let (name, id) = match path.identify(&asked(module)) {
        Found::Found(found) => found,
        other => {
            note(&mut row, &other);
            return (row, None);
        }
    };
    row.pdb_name = Some(name.clone());
    row.pdb_guid = Some(id.guid.to_string());
    row.pdb_age = Some(i64::from(id.age));
    let pdb = match path.open(&name, id) {
        Found::Found(pdb) => pdb,
        other => {
            note(&mut row, &other);
            return (row, None);
        }
    };
    row.path = Some(pdb.path().display().to_string());
    FOUND.clone_into(&mut row.status);
    match symbol_file::messages(&pdb) {
        Ok(text) => (row, helpful(&name, text, lacking)),
        Err(reason) => {
            note(&mut row, &Found::<Pdb>::of(reason, pdb.path()));
            (row, None)
        }
    }
}

/// A module as the search takes it.
fn asked(module: &ModuleId) -> Module {
    let guid = module.pdb_guid.as_deref().and_then(|guid| guid.parse().ok());
    let id = guid.zip(module.pdb_age).map(|(guid, age)| PdbId { guid, age });
    // Where the trace has the identity and no name, the file is called like the module.
    let stem = || {
        let name = module.file_name.as_deref()?;
        Some(format!("{}.pdb", name.rsplit_once('.').map_or(name, |(stem, _)| stem)))
    };
    Module {
        file_name: module.file_name.clone().unwrap_or_default(),
        time_stamp: module.time_stamp,
        size: module.size.and_then(|size| u32::try_from(size).ok()),
        pdb: module.pdb_name.clone().or_else(stem).zip(id),
    }
}

/// The messages of a PDB, where any of them are lacking.
fn helpful(name: &str, text: Vec<u8>, lacking: &BTreeMap<MessageId, u64>) -> Option<Helpful> {
    let file = SchemaFile::parse(name, text, None).ok()?;
    let SchemaContent::Messages(tmf) = &file.content else { return None };
    let known = tmf.messages.iter().map(|message| (message.guid, message.number));
    let helped: BTreeSet<MessageId> = known.filter(|message| lacking.contains_key(message)).collect();
    (!helped.is_empty()).then_some((file, helped))
}
