//! Names of functions from the tables.

use std::collections::{HashMap, HashSet};
use std::path::Path;

use base::error::Result;
use base::progress::Progress;

use super::rows::{FunctionRow, id_of};
use super::tables::Tables;
use crate::frames::ModuleId;

/// The functions that lie beside a trace.
#[derive(Debug, Default)]
pub struct StoredNames {
    /// By what a module's symbols are found by, what its addresses lie in, the function inlined furthest first.
    modules: HashMap<String, HashMap<u32, Vec<StoredCode>>>,
}

/// What an address lies in: a function, or one that the compiler has put into it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredCode {
    /// 0: the function whose code it is; from 1 on functions inlined there, each in the one before.
    pub inline_depth: i64,
    /// The name of the function.
    pub name: String,
    /// The name with parameters, where it has any.
    pub full_name: Option<String>,
    /// Where the function begins, in bytes behind the base of the module.
    pub start: Option<i64>,
    /// Its length in bytes.
    pub size: Option<i64>,
    /// The source file.
    pub file: Option<String>,
    /// The line in it.
    pub line: Option<i64>,
}

impl StoredNames {
    /// Reads those of some modules from the folder that holds the trace; none where it has no symbols.
    ///
    /// # Errors
    /// [`ErrorKind::Output`](base::error::ErrorKind::Output) when a table cannot be read.
    pub fn beside<'m>(
        root: &Path,
        modules: impl Iterator<Item = &'m ModuleId>,
        progress: &dyn Progress,
    ) -> Result<StoredNames> {
        let (tables, mut names) = (Tables::beside(root, progress), StoredNames::default());
        let wanted: HashSet<String> = modules.filter_map(ModuleId::symbol_key).collect();
        if wanted.is_empty() {
            return Ok(names);
        }
        for module in tables.modules()? {
            let key = module.symbol_key.clone().filter(|key| wanted.contains(key));
            let Some((key, id)) = key.zip(id_of(&module)) else { continue };
            let mut named = HashMap::<u32, Vec<StoredCode>>::new();
            // Sorted by address and depth.
            for row in tables.functions(&id.folder())?.into_iter().rev() {
                if let Some((address, code)) = stored(row) {
                    named.entry(address).or_default().push(code);
                }
            }
            names.modules.insert(key, named);
        }
        Ok(names)
    }

    /// The function of a module that has a relative address, where it is known: never a guess.
    pub fn function(&self, module: &ModuleId, address: u32) -> Option<&str> {
        let own = self.code(module, address).iter().find(|code| code.inline_depth == 0)?;
        Some(&own.name)
    }

    /// All functions that a relative address of a module lies in, the one inlined furthest first; none where they are not known.
    pub fn code(&self, module: &ModuleId, address: u32) -> &[StoredCode] {
        let of_module = module.symbol_key().and_then(|key| self.modules.get(&key));
        of_module.and_then(|named| named.get(&address)).map_or(&[], Vec::as_slice)
    }
}

/// What a row says of an address; `None` where it says nothing.
fn stored(row: FunctionRow) -> Option<(u32, StoredCode)> {
    let FunctionRow { inline_depth, full_name, start, size, file, line, .. } = row;
    let code = StoredCode { inline_depth, name: row.name?, full_name, start, size, file, line };
    Some((u32::try_from(row.rva).ok()?, code))
}
