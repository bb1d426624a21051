//! What an address lies in, by process and time: a module, or code that .NET compiled.

use std::cmp::Reverse;
use std::collections::HashMap;
use std::ops::RangeInclusive;

use base::error::Result;
use conversion::read_columns;
use conversion::sidecar::dimensions::{ImageRow, MethodRow};

use super::areas::{Area, Areas};
use crate::source::Source;

/// Spans of modules that are kept, and as many of methods; where there are more, [`Modules::left_out`] says so.
const MOST_AREAS: usize = 1 << 20;

/// Which module it is: what binaries and symbols are known by, as the table `images` of the sidecar has it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ModuleId {
    /// The name of its file, without folders.
    pub file_name: Option<String>,
    /// Time stamp of its headers.
    pub time_stamp: Option<u32>,
    /// Bytes in memory.
    pub size: Option<i64>,
    /// Name of its symbol file.
    pub pdb_name: Option<String>,
    /// GUID of its symbol file.
    pub pdb_guid: Option<String>,
    /// Age of its symbol file.
    pub pdb_age: Option<u32>,
}

impl ModuleId {
    /// What symbols of the module are found by, as the function `symbol_key` of the views makes it; `None` where the trace does not say
    /// which build it is.
    pub fn symbol_key(&self) -> Option<String> {
        let by_pdb = self.pdb_guid.as_ref().zip(self.pdb_age).map(|(guid, age)| format!("{guid}/{age}"));
        by_pdb.or_else(|| {
            let (name, time, size) = (self.file_name.as_ref()?, self.time_stamp?, self.size?);
            Some(format!("{}/{time}/{size}", name.to_lowercase()))
        })
    }
}

/// A file that is loaded as a module.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
struct ModuleFile {
    path: Option<String>,
    id: ModuleId,
}

/// The process that has the modules of the kernel.
const KERNEL: i64 = 0;

/// Modules and methods of a trace.
#[derive(Debug)]
pub struct Modules {
    images: Areas,
    /// What the areas of images mean.
    files: Vec<ModuleFile>,
    methods: Areas,
}

/// The module that has an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Spot {
    /// The number by which [`Modules::id`] has it.
    pub module: u32,
    /// Where it is loaded.
    pub base: i64,
    /// Whether it is one of the kernel.
    pub is_of_kernel: bool,
}

/// Code of a method of .NET in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct MethodBody {
    /// The machine.
    pub machine: i64,
    /// The process.
    pub process_id: i64,
    /// Where it begins.
    pub base: i64,
    /// From when on it was there, Unix nanoseconds.
    pub from_ns: i64,
    /// Until when.
    pub to_ns: i64,
}

/// Whether and where an address was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum AddressPlace<'a> {
    /// In a module of this name, or in one without.
    Module(Option<&'a str>),
    /// In a method of .NET, and in no module: compiled while the process ran, or of a module that the trace does not record.
    Method,
    /// In none.
    Nowhere,
}

impl Default for Modules {
    fn default() -> Modules {
        let none = || Areas::with_room_for(MOST_AREAS);
        Modules { images: none(), files: Vec::new(), methods: none() }
    }
}

impl Modules {
    /// Reads modules and methods from the sidecar.
    ///
    /// # Errors
    /// [`ErrorKind::Output`](base::error::ErrorKind::Output) when it cannot be read.
    pub fn read(source: &Source<'_>) -> Result<Modules> {
        let mut modules = Modules::default();
        let Modules { images, files, methods } = &mut modules;
        let mut numbers = HashMap::<ModuleFile, u32>::new();
        let mut rows = 0..=u32::MAX;
        source.sidecar::<Image<'_>>(|row| {
            let Some(area) = row.area(&mut rows) else { return };
            // Names of what has no room are not kept either.
            let means = (!images.is_full()).then(|| {
                *numbers.entry(row.file()).or_insert_with_key(|file| {
                    files.push(file.clone());
                    u32::try_from(files.len() - 1).unwrap_or(u32::MAX)
                })
            });
            images.add(Area { means: means.unwrap_or(0), ..area });
        })?;
        let mut rows = 0..=u32::MAX;
        source.sidecar::<Method>(|row| row.area(&mut rows).into_iter().for_each(|area| methods.add(area)))?;
        modules.settle();
        Ok(modules)
    }

    fn settle(&mut self) {
        self.images.settle();
        self.methods.settle();
    }

    /// Where an address of a process of a machine lies: in its own modules, else in those of the kernel, else in its methods.
    pub fn at(&self, machine: i64, process: Option<i64>, address: i64, time: i64) -> AddressPlace<'_> {
        if let Some(spot) = self.spot(machine, process, address, time) {
            return AddressPlace::Module(self.id(spot.module).and_then(|id| id.file_name.as_deref()));
        }
        let method = process.and_then(|process| self.method((machine, process), address, time));
        method.map_or(AddressPlace::Nowhere, |_| AddressPlace::Method)
    }

    /// The module that has an address of a process of a machine: one of its own, else of the kernel.
    pub fn spot(&self, machine: i64, process: Option<i64>, address: i64, time: i64) -> Option<Spot> {
        let of = |process| self.image((machine, process), address, time);
        let own = process.filter(|process| *process != KERNEL).and_then(of);
        own.or_else(|| of(KERNEL))
    }

    /// Which modules there are.
    pub fn ids(&self) -> impl Iterator<Item = &ModuleId> {
        self.files.iter().map(|file| &file.id)
    }

    /// Which module it is, by its number.
    pub fn id(&self, module: u32) -> Option<&ModuleId> {
        self.file(module).map(|file| &file.id)
    }

    /// The path of its file, where the trace records it.
    pub fn path(&self, module: u32) -> Option<&str> {
        self.file(module)?.path.as_deref()
    }

    /// Whether two spots are a module of one name and one build at the same base, loaded once or again.
    pub fn is_same(&self, one: Spot, other: Spot) -> bool {
        let known = |spot: Spot| self.id(spot.module).map(|id| (&id.file_name, id.symbol_key()));
        one.base == other.base && (one.module == other.module || known(one) == known(other))
    }

    /// The method of a process of a machine that has an address, as the number of its row; of several the one that was loaded last.
    pub fn method(&self, process: (i64, i64), address: i64, time: i64) -> Option<u32> {
        let holding = self.methods.holding(process, address, time);
        holding.min_by_key(|area| (Reverse((area.from, area.base)), area.means)).map(|area| area.means)
    }

    /// Where and when bodies of methods are, by the numbers of their rows; but of several of one process that are at one address from
    /// one time on none.
    pub fn bodies(&self) -> impl Iterator<Item = (u32, MethodBody)> {
        self.methods.distinct().map(|area| {
            let Area { process: (machine, process_id), base, from, to, means, .. } = *area;
            (means, MethodBody { machine, process_id, base, from_ns: from, to_ns: to })
        })
    }

    /// The module of a process that has an address; of several the one that was loaded last.
    fn image(&self, process: (i64, i64), address: i64, time: i64) -> Option<Spot> {
        let path = |area: &Area| self.file(area.means).map(|file| &file.path);
        let holding = self.images.holding(process, address, time);
        let last = holding.min_by_key(|area| (Reverse((area.from, area.base)), path(area)))?;
        Some(Spot { module: last.means, base: last.base, is_of_kernel: process.1 == KERNEL })
    }

    fn file(&self, number: u32) -> Option<&ModuleFile> {
        self.files.get(usize::try_from(number).ok()?)
    }

    /// Spans of modules and methods that there was no room for.
    pub fn left_out(&self) -> u64 {
        self.images.left_out().saturating_add(self.methods.left_out())
    }
}

/// Rows of the sidecar that have an address range, and what they have besides.
macro_rules! areas {
    ($( $(#[$doc:meta])* $row:ident $(<$life:lifetime>)? of $table:ty { $( $name:ident: $type:ty, )* } )+) => { $(
        read_columns! {
            $(#[$doc])*
            struct $row $(<$life>)? of $table {
                process_id: i64,
                base: i64,
                size: Option<i64>,
                from_ns: i64,
                to_ns: i64,
                machine: i64,
                $( $name: $type, )*
            }
        }

        impl $(<$life>)? $row $(<$life>)? {
            /// The range with the number of the row; `None` where its length is not known.
            fn area(&self, rows: &mut RangeInclusive<u32>) -> Option<Area> {
                let means = rows.next()?;
                let (from, to, process) = (self.from_ns, self.to_ns, (self.machine, self.process_id));
                Some(Area { process, base: self.base, size: self.size?, from, to, means })
            }
        }
    )+ };
}

areas! {
    /// A module in a process.
    Image<'b> of ImageRow<'static> {
        path: Option<&'b str>,
        file_name: Option<&'b str>,
        time_stamp: Option<u32>,
        pdb_name: Option<&'b str>,
        pdb_guid: Option<&'b str>,
        pdb_age: Option<u32>,
    }
    /// A body of a method.
    Method of MethodRow<'static> {}
}

impl Image<'_> {
    fn file(&self) -> ModuleFile {
        let owned = |text: Option<&str>| text.map(str::to_owned);
        let id = ModuleId {
            file_name: owned(self.file_name),
            time_stamp: self.time_stamp,
            size: self.size,
            pdb_name: owned(self.pdb_name),
            pdb_guid: owned(self.pdb_guid),
            pdb_age: self.pdb_age,
        };
        ModuleFile { path: owned(self.path), id }
    }
}

/// Some modules and methods of process 7 and of the kernel.
#[cfg(test)]
pub(super) fn made() -> Modules {
    let mut modules = Modules::default();
    let named = |name: Option<&str>| {
        let id = ModuleId { file_name: name.map(str::to_owned), ..ModuleId::default() };
        ModuleFile { path: id.file_name.clone(), id }
    };
    let elsewhere = ModuleFile { path: Some("elsewhere".to_owned()), ..named(Some("b.dll")) };
    modules.files = vec![named(Some("a.dll")), named(Some("b.dll")), named(None), elsewhere];
    let area = |process, base, size, from, to, means| Area { process: (0, process), base, size, from, to, means };
    modules.images.add(area(7, 0x1000, 0x100, 0, 50, 0));
    modules.images.add(area(7, 0x1000, 0x080, 50, 90, 1));
    modules.images.add(area(7, 0x1020, 0x010, 0, 90, 1));
    modules.images.add(area(0, -0x8000, 0x1000, 0, 90, 2));
    // Of a kernel of 32 bits.
    modules.images.add(area(0, 0x9000_0000, 0x10, 0, 90, 2));
    modules.methods.add(area(7, 0x10c0, 0x80, 0, 90, 4));
    modules.methods.add(area(7, -0x8000, 0x10, 0, 90, 5));
    modules.settle();
    modules
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_lies_in_the_module_that_was_there() {
        let modules = made();
        let at = |process, address, time| modules.at(0, process, address, time);
        assert_eq!(at(Some(7), 0x10bf, 49), AddressPlace::Module(Some("a.dll")));
        assert_eq!((at(Some(7), 0x10bf, 50), at(Some(7), 0xfff, 5)), (AddressPlace::Nowhere, AddressPlace::Nowhere));
        assert_eq!(at(Some(7), 0x1020, 60), AddressPlace::Module(Some("b.dll")), "loaded last");
        assert_eq!(at(Some(7), 0x1020, 20), AddressPlace::Module(Some("b.dll")), "of the higher base");
        assert_eq!(
            (at(Some(7), -0x8000, 5), at(None, -0x7001, 5), at(None, -0x7000, 5)),
            (AddressPlace::Module(None), AddressPlace::Module(None), AddressPlace::Nowhere)
        );
        assert_eq!(at(None, 0x1000, 5), AddressPlace::Nowhere);
        assert_eq!(at(Some(7), i64::MIN, 5), AddressPlace::Nowhere);
    }

    #[test]
    fn an_address_in_a_method_and_a_module_lies_in_the_module() {
        let modules = made();
        let at = |process, address, time| modules.at(0, process, address, time);
        assert_eq!(
            (at(Some(7), 0x10c0, 49), at(Some(7), 0x10c0, 50)),
            (AddressPlace::Module(Some("a.dll")), AddressPlace::Method)
        );
        assert_eq!((at(Some(7), 0x113f, 5), at(Some(7), 0x1140, 5)), (AddressPlace::Method, AddressPlace::Nowhere));
        assert_eq!((at(Some(8), 0x113f, 5), at(None, 0x113f, 5)), (AddressPlace::Nowhere, AddressPlace::Nowhere));
        assert_eq!(modules.at(1, Some(7), 0x10c0, 50), AddressPlace::Nowhere, "of another machine");
        let method = |process, address| modules.method((0, process), address, 5);
        assert_eq!((method(7, 0x10c0), method(7, -0x8000), method(8, 0x10c0)), (Some(4), Some(5), None));
    }
}
