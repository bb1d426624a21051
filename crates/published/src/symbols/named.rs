//! Names of functions from the tables.

use std::collections::{HashMap, HashSet};
use std::path::Path;

use base::error::Result;
use base::progress::Progress;

use super::search::id_of;
use super::tables::Tables;
use super::wanted::symbol_key;
use crate::frames::ModuleId;

/// The names of functions that lie beside a trace.
#[derive(Debug, Default)]
pub(crate) struct StoredNames {
    /// By what a module's symbols are found by, the names of its addresses.
    modules: HashMap<String, HashMap<u32, String>>,
}

impl StoredNames {
    /// Reads those of some modules from the folder that holds the trace; none where it has no symbols.
    ///
    /// # Errors
    /// [`ErrorKind::Output`](base::error::ErrorKind::Output) when a table cannot be read.
    pub(crate) fn beside<'m>(
        root: &Path,
        modules: impl Iterator<Item = &'m ModuleId>,
        progress: &dyn Progress,
    ) -> Result<StoredNames> {
        let (tables, mut names) = (Tables::beside(root, progress), StoredNames::default());
        let wanted: HashSet<String> = modules.filter_map(symbol_key).collect();
        if wanted.is_empty() {
            return Ok(names);
        }
        for module in tables.modules()? {
            let key = module.symbol_key.clone().filter(|key| wanted.contains(key));
            let Some((key, id)) = key.zip(id_of(&module)) else { continue };
            let rows = tables.functions(&id.folder())?;
            let own = rows.into_iter().filter(|row| row.inline_depth == 0);
            let named = own.filter_map(|row| Some((u32::try_from(row.rva).ok()?, row.name?)));
            names.modules.insert(key, named.collect());
        }
        Ok(names)
    }

    /// The function of a module that has a relative address, where it is known: never a guess.
    pub(crate) fn function(&self, module: &ModuleId, address: u32) -> Option<&str> {
        Some(self.modules.get(&symbol_key(module)?)?.get(&address)?)
    }
}
