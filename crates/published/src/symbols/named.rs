//! Names of functions from the tables.

use std::collections::{BTreeMap, HashMap, HashSet};
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
    /// By the same where functions begin, and of each an address of which it is known that it lies in it.
    begins: HashMap<String, BTreeMap<i64, u32>>,
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
            names.begins.insert(key.clone(), begins(&named));
            names.modules.insert(key, named);
        }
        Ok(names)
    }

    /// The function of a module that has a relative address, where it is known: never a guess.
    pub fn function(&self, module: &ModuleId, address: u32) -> Option<&str> {
        let own = self.code(module, address).iter().find(|code| code.inline_depth == 0)?;
        Some(&own.name)
    }

    /// Whether no module has symbols.
    pub fn is_empty(&self) -> bool {
        self.modules.is_empty()
    }

    /// The same for an address that symbols were not asked for: the function that another address has shown, where this one lies
    /// between its begin and its end, too.
    pub fn function_around(&self, module: &ModuleId, address: u32) -> Option<&str> {
        if let Some(name) = self.function(module, address) {
            return Some(name);
        }
        let (begin, within) = self.begins.get(&module.symbol_key()?)?.range(..=i64::from(address)).next_back()?;
        let own = self.code(module, *within).iter().find(|code| code.inline_depth == 0)?;
        let is_within = i64::from(address) < begin.checked_add(own.size?)?;
        is_within.then_some(own.name.as_str())
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

/// Where the functions of some addresses begin, with one address of each.
fn begins(named: &HashMap<u32, Vec<StoredCode>>) -> BTreeMap<i64, u32> {
    let own = named.iter().flat_map(|(address, codes)| codes.iter().map(move |code| (*address, code)));
    let own = own.filter(|(_, code)| code.inline_depth == 0);
    own.filter_map(|(address, code)| Some((code.start?, address))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_of_the_function_that_goes_on_there() {
        let code = |inline_depth, name: &str, size| StoredCode {
            inline_depth,
            name: name.to_owned(),
            full_name: None,
            start: Some(0x100),
            size,
            file: None,
            line: None,
        };
        let module = ModuleId {
            pdb_guid: Some("6a3fb9f3-5a9c-4e8d-9e6b-0d5fbbdb4b1c".to_owned()),
            pdb_age: Some(1),
            ..ModuleId::default()
        };
        t(&module, vec![code(1, "inlined", None), code(0, "own", Some(0x20))], Some("own"));
        t(&module, vec![code(0, "of unknown size", None)], None);
    }

    #[track_caller]
    fn t(module: &ModuleId, codes: Vec<StoredCode>, between: Option<&str>) {
        let named = HashMap::from([(0x110, codes)]);
        let key = module.symbol_key().expect("it has a PDB");
        let begins = HashMap::from([(key.clone(), begins(&named))]);
        let names = StoredNames { begins, modules: HashMap::from([(key, named)]) };
        let found = [0xff, 0x100, 0x10f, 0x111, 0x11f, 0x120].map(|address| names.function_around(module, address));
        assert_eq!(found, [None, between, between, between, between, None]);
        assert!(names.function_around(module, 0x110).is_some());
        assert_eq!(names.function(module, 0x111), None);
    }
}
