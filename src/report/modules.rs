//! Which module an address lies in, by process and time.

use std::cmp::Reverse;
use std::collections::HashMap;

use super::source::Source;
use crate::error::Result;

/// Spans of modules that are kept; where there are more, the report says so.
const MOST_MODULES: usize = 1 << 20;

/// Modules in front of an address that are looked at. Modules of one process lie apart; only damaged ones overlap that much.
const MOST_TRIED: usize = 4096;

/// A module in a process.
#[derive(Clone, Debug)]
struct Module {
    process: i64,
    base: i64,
    size: i64,
    from: i64,
    to: i64,
    /// What places it behind others of the same base and time.
    path: usize,
    name: usize,
}

/// Modules of a trace.
#[derive(Debug, Default)]
pub(super) struct Modules {
    names: Vec<Option<String>>,
    /// Sorted by process and base, each with the largest size of its process.
    rows: Vec<Module>,
    largest: HashMap<i64, i64>,
    left_out: u64,
}

/// Whether and where an address was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Place<'a> {
    /// In a module of this name, or in one without.
    Module(Option<&'a str>),
    /// In none.
    Nowhere,
}

impl Modules {
    /// Reads what the sidecar tells.
    ///
    /// # Errors
    /// [`ErrorKind::Output`](crate::ErrorKind::Output) when it cannot be read.
    pub(super) fn read(source: &Source<'_>) -> Result<Modules> {
        let mut modules = Modules::default();
        let mut numbers = HashMap::<Option<String>, usize>::new();
        let columns = ["process_id", "base", "size", "from_ns", "to_ns", "path", "file_name"];
        source.sidecar("images", &columns, |batch, row| {
            let number = |column| batch.integer(column, row);
            let Some(process) = number(0) else { return };
            let Some(((base, size), (from, to))) = number(1).zip(number(2)).zip(number(3).zip(number(4))) else {
                return;
            };
            if modules.rows.len() >= MOST_MODULES {
                modules.left_out = modules.left_out.saturating_add(1);
                return;
            }
            let mut name = |column| {
                let name = batch.text(column, row).map(str::to_owned);
                *numbers.entry(name.clone()).or_insert_with(|| {
                    modules.names.push(name);
                    modules.names.len() - 1
                })
            };
            let (path, name) = (name(5), name(6));
            modules.add(Module { process, base, size, from, to, path, name });
        })?;
        modules.settle();
        Ok(modules)
    }

    fn add(&mut self, module: Module) {
        let largest = self.largest.entry(module.process).or_default();
        *largest = module.size.max(*largest);
        self.rows.push(module);
    }

    fn settle(&mut self) {
        self.rows.sort_by_key(|module| (module.process, module.base));
    }

    /// Where an address of a process lies: in its own modules, else in those of the kernel.
    pub(super) fn at(&self, process: Option<i64>, address: i64, time: i64) -> Place<'_> {
        let own = process.filter(|process| *process != 0).and_then(|process| self.within(process, address, time));
        match own.or_else(|| self.within(0, address, time)) {
            Some(module) => Place::Module(self.names.get(module.name).and_then(Option::as_deref)),
            None => Place::Nowhere,
        }
    }

    /// Of the modules of a process that have an address, the one that was loaded last.
    fn within(&self, process: i64, address: i64, time: i64) -> Option<&Module> {
        let largest = *self.largest.get(&process)?;
        let behind = self.rows.partition_point(|module| (module.process, module.base) <= (process, address));
        let before = self.rows.get(..behind)?.iter().rev().take(MOST_TRIED);
        let near = before.take_while(|module| {
            module.process == process && (module.base < 0) == (address < 0) && address - module.base < largest
        });
        let holds =
            near.filter(|module| address - module.base < module.size && time >= module.from && time < module.to);
        holds.min_by_key(|module| (Reverse((module.from, module.base)), self.names.get(module.path)))
    }

    /// Modules that the report had no room for.
    pub(super) fn left_out(&self) -> u64 {
        self.left_out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_lies_in_the_module_that_was_there() {
        let mut modules =
            Modules { names: vec![Some("a.dll".to_owned()), Some("b.dll".to_owned()), None], ..Modules::default() };
        let module = |process, base, size, from, to, name| Module { process, base, size, from, to, path: name, name };
        modules.add(module(7, 0x1000, 0x100, 0, 50, 0));
        modules.add(module(7, 0x1000, 0x080, 50, 90, 1));
        modules.add(module(7, 0x1020, 0x010, 0, 90, 1));
        modules.add(module(0, -0x8000, 0x1000, 0, 90, 2));
        modules.settle();
        let at = |process, address, time| modules.at(process, address, time);
        assert_eq!(at(Some(7), 0x10ff, 49), Place::Module(Some("a.dll")));
        assert_eq!(
            (at(Some(7), 0x10ff, 50), at(Some(7), 0x1100, 5), at(Some(7), 0xfff, 5)),
            (Place::Nowhere, Place::Nowhere, Place::Nowhere)
        );
        assert_eq!(at(Some(7), 0x1020, 60), Place::Module(Some("b.dll")), "loaded last");
        assert_eq!(at(Some(7), 0x1020, 20), Place::Module(Some("b.dll")), "of the higher base");
        assert_eq!(
            (at(Some(7), -0x8000, 5), at(None, -0x7001, 5), at(None, -0x7000, 5)),
            (Place::Module(None), Place::Module(None), Place::Nowhere)
        );
        assert_eq!(at(None, 0x1000, 5), Place::Nowhere);
        assert_eq!(at(Some(7), i64::MIN, 5), Place::Nowhere);
    }
}
