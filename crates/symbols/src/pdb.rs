//! A PDB that is open.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use etl::input::{Input, LocalFile, MemoryInput};

use crate::container::{Stream, Streams};
use crate::debug::directory::{Dbi, Info, ModuleBytes, identity};
use crate::debug::enumerations;
use crate::debug::functions::{At, Function, Functions, by_module};
use crate::debug::ids;
use crate::debug::inlines::{Site, sites};
use crate::debug::lines::{FileNames, Line, Lines};
use crate::debug::procedures::Procedures;
use crate::debug::publics::Publics;
use crate::debug::source_annotations;
use crate::debug::space::{Place, Space};
use crate::found::{Readable, Reason};
use crate::identity::PdbId;
use crate::symbol::{Inlined, Symbol};

/// A PDB, in either container.
#[derive(Debug)]
pub struct Pdb {
    path: PathBuf,
    streams: Streams,
    info: Info,
    dbi: Option<Dbi>,
}

/// What is found of the addresses of one PDB.
struct Answers {
    symbols: Vec<Option<Symbol>>,
    inlined: Vec<Unnamed>,
    files: FileNames,
}

/// An inlined function whose name is not known yet.
struct Unnamed {
    /// Of which address.
    index: usize,
    id: u32,
    file: Option<Arc<str>>,
    line: Option<u32>,
}

impl Pdb {
    /// Opens a file, whatever PDB it is; at most `limit` bytes of it are in memory at a time.
    ///
    /// # Errors
    /// When it cannot be read, is damaged, or is no PDB that this program reads.
    pub fn open(path: &Path, limit: u64) -> Readable<Pdb> {
        Pdb::of(Arc::new(LocalFile::open(path)?), limit)
    }

    /// Opens a PDB that is in memory; `path` is where it comes from.
    ///
    /// # Errors
    /// Those of [`Pdb::open`].
    pub fn from_bytes(path: &str, bytes: Vec<u8>, limit: u64) -> Readable<Pdb> {
        Pdb::of(Arc::new(MemoryInput::new(path, bytes)), limit)
    }

    pub(crate) fn of(input: Arc<dyn Input>, limit: u64) -> Readable<Pdb> {
        let path = input.path().to_owned();
        let streams = Streams::open(input, limit)?;
        let info = Info::read(&streams)?;
        let dbi = Dbi::read(&streams)?;
        Ok(Pdb { path, streams, info, dbi })
    }

    /// Where it lies.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Its identity.
    pub fn id(&self) -> PdbId {
        identity(&self.info, self.dbi.as_ref())
    }

    /// What each address lies in, relative to the image base; addresses are sorted and distinct. `None` for one of data, one outside
    /// of the image, and one of code that nothing names. Lines and inlined functions only where they are asked for: they take
    /// more time, and streams of types that may be large.
    ///
    /// # Errors
    /// When the PDB is damaged, or needs more memory than it may take.
    pub fn resolve(&mut self, addresses: &[u32], with_lines: bool) -> Readable<Vec<Option<Symbol>>> {
        let dbi = self.dbi.as_ref().ok_or_else(|| Reason::unsupported("a PDB of types alone"))?;
        let space = Space::read(&self.streams, dbi)?;
        let asked = by_module(&space, &dbi.contributions()?, addresses);
        let globals = self.streams.named_by(dbi.globals)?;
        let places: Vec<Place> = asked.values().flatten().map(|at| at.place).collect();
        let publics = Publics::read(globals.as_deref().unwrap_or_default(), &places);
        let modules = dbi.modules()?;
        let names = if with_lines { self.names()? } else { None };
        let symbols = vec![None; addresses.len()];
        let mut answers = Answers { symbols, inlined: Vec::new(), files: FileNames::new(names) };
        for (number, asked) in &asked {
            let module = number.and_then(|number| modules.get(usize::from(number)));
            let module = module.map_or(Ok(None), |module| module.load(&self.streams))?;
            let symbols = module.as_ref().map_or(Ok([].as_slice()), ModuleBytes::symbols)?;
            let procedures = Procedures::read(symbols);
            let functions = Functions { space: &space, publics: &publics, procedures, is_x86: dbi.is_x86() };
            let found = grouped(&functions, asked);
            if let Some(module) = module.as_ref().filter(|_| with_lines) {
                answers.add_lines(module, &found)?;
            } else {
                answers.add(&found);
            }
        }
        answers.finish(&self.streams)
    }

    /// Hands on the annotations of the source code whose first text is `first`, without that one: `TMF:` is that of the formats of
    /// WPP messages. They are in the order of the modules; the same one may come several times.
    ///
    /// # Errors
    /// When the PDB is damaged, or needs more memory than it may take.
    pub fn annotations(&self, first: &str, mut show: impl FnMut(&[&[u8]])) -> Readable<()> {
        let Some(dbi) = &self.dbi else { return Ok(()) };
        source_annotations::each(&self.streams, dbi, first.as_bytes(), &mut show)
    }

    /// The enumerations of the source code that have these names, and are in the PDB: value and name of each of their values.
    /// Negative values are as 64 bits have them.
    ///
    /// # Errors
    /// Those of [`Pdb::annotations`].
    pub fn enumerations(&self, wanted: &BTreeSet<String>) -> Readable<BTreeMap<String, Vec<(u64, String)>>> {
        enumerations::named(&self.streams, wanted)
    }

    fn names(&self) -> Readable<Option<Stream>> {
        self.info.names.map_or(Ok(None), |number| self.streams.stream(number))
    }
}

/// Each function with the places in it.
fn grouped<'a, 'p>(functions: &Functions<'a>, asked: &'p [At]) -> Vec<(Function<'a>, &'p [At])> {
    let mut found: Vec<(Function<'a>, &[At])> = Vec::new();
    let mut left = asked;
    while let Some(first) = left.first() {
        let Some(function) = functions.at(first) else {
            left = left.get(1..).unwrap_or_default();
            continue;
        };
        let is_of = |at: &At| functions.is_of(&function, first, at);
        let count = left.iter().take_while(|at| is_of(at)).count().max(1);
        let (places, rest) = left.split_at(count);
        found.push((function, places));
        left = rest;
    }
    found
}

impl Answers {
    fn add(&mut self, found: &[(Function<'_>, &[At])]) {
        for (function, places) in found {
            for at in *places {
                self.put(at.index, function.symbol.clone());
            }
        }
    }

    fn put(&mut self, index: usize, symbol: Symbol) {
        if let Some(answer) = self.symbols.get_mut(index) {
            *answer = Some(symbol);
        }
    }

    fn add_lines(&mut self, module: &ModuleBytes, found: &[(Function<'_>, &[At])]) -> Readable<()> {
        let mut lines = Lines::read(module.lines()?);
        let symbols = module.symbols()?;
        for (function, asked) in found {
            let places: Vec<Place> = asked.iter().map(|at| at.place).collect();
            let chains = match &function.procedure {
                Some(procedure) => sites(symbols, procedure, &places, &lines)?,
                None => Vec::new(),
            };
            for (at, chain) in asked.iter().zip(chains.into_iter().chain(std::iter::repeat(Vec::new()))) {
                let line = lines.at(at.place);
                let (file, line) = (self.file(&lines, line), line.and_then(Line::number));
                self.put(at.index, Symbol { file, line, ..function.symbol.clone() });
                for Site { id, line } in chain {
                    let file = self.file(&lines, line);
                    self.inlined.push(Unnamed { index: at.index, id, file, line: line.and_then(Line::number) });
                }
            }
        }
        Ok(())
    }

    /// The file of a line, where there is one.
    fn file(&mut self, lines: &Lines<'_>, line: Option<Line>) -> Option<Arc<str>> {
        let line = line.filter(|line| line.number().is_some())?;
        self.files.get(lines.name_of(line.file)?)
    }

    /// Names the inlined functions.
    fn finish(mut self, streams: &Streams) -> Readable<Vec<Option<Symbol>>> {
        let wanted: BTreeSet<u32> = self.inlined.iter().map(|inlined| inlined.id).collect();
        let names = ids::names(streams, &wanted)?;
        let names: BTreeMap<u32, Arc<str>> = names.into_iter().map(|(id, name)| (id, name.into())).collect();
        for Unnamed { index, id, file, line } in self.inlined {
            let Some(Some(symbol)) = self.symbols.get_mut(index) else { continue };
            let name = names.get(&id).map_or_else(|| Arc::from(UNNAMED), Arc::clone);
            symbol.inlined.push(Inlined { name, file, line });
        }
        Ok(self.symbols)
    }
}

/// What an inlined function is called that the PDB has no name for.
const UNNAMED: &str = "?";
