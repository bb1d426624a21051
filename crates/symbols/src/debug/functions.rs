//! The functions that addresses lie in.
//!
//! # Which function
//!
//! An address of code lies in a *contribution*, the part of a section that comes from one module; in no contribution it has no name.
//! Of the procedures of that module the one counts that the address lies in. Where there is none, a public counts: the last that
//! begins at the address or before, if it begins in the contribution too, and no procedure begins between the two, nor with it:
//! what lies behind a procedure is not of it. It reaches to the next public or procedure, or to the end of the contribution.
//!
//! A section without any contribution, in a PDB that has been stripped of them, is one as a whole, of no module.
//!
//! # Which name
//!
//! That of the procedure, which has no parameters; with parameters, that of the public at the same place whose own name without is the
//! same, if there is one. Of publics alone that share a place the one counts that sorts first, byte by byte.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::decorated::{Plain, plain, with_anonymous};
use super::directory::Contribution;
use super::procedures::{Procedure, Procedures};
use super::publics::Publics;
use super::space::{Place, Space};
use crate::bytes::shown;
use crate::symbol::{Symbol, SymbolKind};

/// Bytes of the name of a procedure that are shown.
const MAX_NAME: usize = 16 << 10;

/// Places by the module that they come from; `None` where nothing tells.
pub(crate) type ByModule = BTreeMap<Option<u16>, Vec<At>>;

/// A place that was asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct At {
    pub(crate) place: Place,
    /// Which of the addresses it is.
    pub(crate) index: usize,
    /// Where the contribution begins, and ends.
    pub(crate) part: (u32, u32),
}

/// What each address lies in; those that lie in nothing are left out.
pub(crate) fn by_module(space: &Space, contributions: &[Contribution], addresses: &[u32]) -> ByModule {
    let mut found = ByModule::new();
    for (index, &address) in addresses.iter().enumerate() {
        let Some(place) = space.place(address) else { continue };
        let behind = contributions.partition_point(|part| (part.section, part.offset) <= (place.section, place.offset));
        let part = behind.checked_sub(1).and_then(|last| contributions.get(last));
        let part = part.filter(|part| part.section == place.section);
        let next = contributions.get(behind).filter(|part| part.section == place.section);
        let (module, part) = match (part, next) {
            (Some(part), _) if place.offset < part.end() => (Some(part.module), (part.offset, part.end())),
            (None, None) => (None, (0, space.end_of(place.section))),
            _ => continue,
        };
        found.entry(module).or_default().push(At { place, index, part });
    }
    // Rearranged code has another order than its addresses.
    found.values_mut().for_each(|places| places.sort_unstable());
    found
}

/// A function, and what it is called.
#[derive(Clone, Debug)]
pub(crate) struct Function<'a> {
    pub(crate) symbol: Symbol,
    pub(crate) place: Place,
    pub(crate) len: u32,
    /// The procedure that it is, if the PDB has more than its name.
    pub(crate) procedure: Option<Procedure<'a>>,
}

/// What the functions of a module are found in.
#[derive(Debug)]
pub(crate) struct Functions<'a> {
    pub(crate) space: &'a Space,
    pub(crate) publics: &'a Publics<'a>,
    pub(crate) procedures: Procedures<'a>,
    pub(crate) is_x86: bool,
}

impl<'a> Functions<'a> {
    /// The function at a place.
    pub(crate) fn at(&self, at: &At) -> Option<Function<'a>> {
        if let Some(procedure) = self.procedures.at(at.place) {
            return self.of_procedure(procedure);
        }
        let section = at.place.section;
        let start = self.publics.before(at.place).filter(|start| start.offset >= at.part.0)?;
        if self.procedures.before(at.place).is_some_and(|procedure| procedure >= start) {
            return None;
        }
        let next = [self.publics.after(at.place), self.procedures.after(at.place)];
        let ends = next.into_iter().flatten().map(|place| place.offset);
        let end = ends.chain([at.part.1, self.space.end_of(section)]).min()?;
        let Plain { short, full } = plain(self.publics.at(start).first()?.name, self.is_x86);
        let len = end.checked_sub(start.offset)?;
        let symbol = self.symbol(start, len, SymbolKind::Public, short, full)?;
        Some(Function { symbol, place: start, len, procedure: None })
    }

    /// Whether a place lies in a function, too, that was found for the first of several.
    pub(crate) fn is_of(&self, function: &Function<'a>, first: &At, at: &At) -> bool {
        if let Some(procedure) = self.procedures.at(at.place) {
            return procedure.place == function.place;
        }
        let offset = at.place.offset.checked_sub(function.place.offset);
        let is_within = offset.is_some_and(|offset| offset < function.len);
        let is_near = at.place.section == function.place.section && at.part == first.part;
        function.procedure.is_none() && is_near && is_within
    }

    fn of_procedure(&self, procedure: &Procedure<'a>) -> Option<Function<'a>> {
        let name = with_anonymous(&shown(procedure.name.get(..MAX_NAME).unwrap_or(procedure.name)));
        // Assemblers, and compilers other than Microsoft's, name a procedure as the linker does.
        let is_decorated = self.publics.at(procedure.place).iter().any(|public| public.name == procedure.name);
        let Plain { short, full } = if is_decorated || name.starts_with('?') {
            plain(name.as_bytes(), self.is_x86)
        } else {
            let full = self.full_name(procedure.place, &name);
            Plain { short: name, full }
        };
        let symbol = self.symbol(procedure.place, procedure.len, SymbolKind::Private, short, full)?;
        Some(Function { symbol, place: procedure.place, len: procedure.len, procedure: Some(*procedure) })
    }

    /// The name with parameters of the public at a place that has the same name without: functions that the linker has folded into one
    /// have several.
    fn full_name(&self, at: Place, name: &str) -> Option<String> {
        let publics = self.publics.at(at).iter().filter(|public| public.name.starts_with(b"?"));
        let plains = publics.map(|public| plain(public.name, self.is_x86));
        let same = plains.filter(|plain| is_same_name(&plain.short, name)).find_map(|plain| plain.full);
        same.filter(|full| full != name)
    }

    fn symbol(&self, at: Place, size: u32, kind: SymbolKind, short: String, full: Option<String>) -> Option<Symbol> {
        let start = self.space.address(at)?;
        Some(Symbol {
            start,
            // Rearranged code may lie in several pieces.
            size: (!self.space.is_moved()).then_some(size),
            name: short.into(),
            full_name: full.map(Arc::from),
            kind,
            file: None,
            line: None,
            inlined: Vec::new(),
        })
    }
}

/// Whether a procedure and a public are called alike: compilers set blanks, and name what destroys, in more than one way.
fn is_same_name(public: &str, procedure: &str) -> bool {
    let signs = |name: &str| name.replace(" dtor'", "destructor'").replace(' ', "");
    signs(public) == signs(procedure)
}
