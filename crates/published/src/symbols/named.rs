//! Names of functions from the tables.

use std::borrow::Cow;
use std::collections::HashMap;
use std::path::Path;

use base::error::Result;
use base::progress::Progress;

use super::search::id_of;
use super::tables::Tables;
use super::wanted::symbol_key;
use crate::frames::{ModuleId, Names};

/// The names of functions that lie beside a trace.
#[derive(Debug, Default)]
pub struct StoredNames {
    /// By what a module's symbols are found by, the names of its addresses.
    modules: HashMap<String, HashMap<u32, String>>,
}

impl StoredNames {
    /// Reads those of the folder that holds the trace; none where it has no symbols.
    ///
    /// # Errors
    /// [`ErrorKind::Output`](base::error::ErrorKind::Output) when a table cannot be read.
    pub fn beside(root: &Path, progress: &dyn Progress) -> Result<StoredNames> {
        let (tables, mut names) = (Tables::beside(root, progress), StoredNames::default());
        for module in tables.modules()? {
            let Some((key, id)) = module.symbol_key.clone().zip(id_of(&module)) else { continue };
            let rows = tables.functions(&id.folder())?;
            let own = rows.into_iter().filter(|row| row.inline_depth == 0);
            let named = own.filter_map(|row| Some((u32::try_from(row.rva).ok()?, row.name?)));
            names.modules.insert(key, named.collect());
        }
        Ok(names)
    }
}

impl Names for StoredNames {
    fn function(&self, module: &ModuleId, address: u32) -> Option<Cow<'_, str>> {
        Some(Cow::Borrowed(self.modules.get(&symbol_key(module)?)?.get(&address)?))
    }
}
