//! Procedures: the functions of a module, as its compiler describes them.

use super::records::{PROCEDURES, Record, Records, S_SEPCODE};
use super::space::Place;
use crate::bytes::Bytes;

/// Where the symbols of a module begin, behind the number of their format.
const FIRST: u32 = 4;

/// A procedure, or a part of one that lies elsewhere.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Procedure<'a> {
    pub(crate) place: Place,
    pub(crate) len: u32,
    pub(crate) name: &'a [u8],
    /// Where its record begins.
    pub(crate) at: u32,
    /// Where the record that ends it begins.
    pub(crate) end: u32,
}

impl Procedure<'_> {
    fn has(&self, place: Place) -> bool {
        let within = place.offset.checked_sub(self.place.offset).is_some_and(|offset| offset < self.len);
        self.place.section == place.section && within
    }
}

/// The procedures of a module in the order of their places.
///
/// Functions that the linker has folded into one share a place: the procedure that stands first in the symbols of the module that
/// the code comes from stands for all of them.
#[derive(Debug)]
pub(crate) struct Procedures<'a>(Vec<Procedure<'a>>);

impl<'a> Procedures<'a> {
    pub(crate) fn read(symbols: &'a [u8]) -> Procedures<'a> {
        let (mut found, mut whole) = (Vec::new(), None);
        for record in Records::new(symbols, FIRST) {
            if PROCEDURES.contains(&record.kind) {
                whole = procedure(&record);
                found.extend(whole);
            } else if record.kind == S_SEPCODE {
                // It stands behind the procedure that it belongs to.
                found.extend(whole.and_then(|whole| part(&record, &whole)));
            }
        }
        found.retain(|procedure| procedure.len != 0);
        found.sort_by_key(|procedure| procedure.place);
        found.dedup_by_key(|procedure| procedure.place);
        Procedures(found)
    }

    /// The one that a place lies in: the last that begins there or before, if it reaches so far.
    pub(crate) fn at(&self, place: Place) -> Option<&Procedure<'a>> {
        let behind = self.0.partition_point(|procedure| procedure.place <= place);
        self.0.get(behind.checked_sub(1)?).filter(|procedure| procedure.has(place))
    }

    /// Where the last one that does not lie behind a place begins, in its section.
    pub(crate) fn before(&self, place: Place) -> Option<Place> {
        let behind = self.0.partition_point(|procedure| procedure.place <= place);
        let before = self.0.get(behind.checked_sub(1)?)?;
        Some(before.place).filter(|found| found.section == place.section)
    }

    /// Where the first one behind a place begins.
    pub(crate) fn after(&self, place: Place) -> Option<Place> {
        let next = self.0.get(self.0.partition_point(|procedure| procedure.place <= place))?;
        Some(next.place).filter(|found| found.section == place.section)
    }
}

fn procedure<'a>(record: &Record<'a>) -> Option<Procedure<'a>> {
    let mut data = Bytes(record.data);
    data.skip(4)?;
    let end = data.u32()?;
    data.skip(4)?;
    let len = data.u32()?;
    data.skip(12)?;
    let (offset, section, _flags) = (data.u32()?, data.u16()?, data.u8()?);
    Some(Procedure { place: Place { section, offset }, len, name: data.text(), at: record.at, end })
}

fn part<'a>(record: &Record<'_>, of: &Procedure<'a>) -> Option<Procedure<'a>> {
    let mut data = Bytes(record.data);
    data.skip(4)?;
    let (end, len, _flags) = (data.u32()?, data.u32()?, data.u32()?);
    let (offset, parent, section, parent_section) = (data.u32()?, data.u32()?, data.u16()?, data.u16()?);
    let is_of = of.place == Place { section: parent_section, offset: parent };
    is_of.then_some(Procedure { place: Place { section, offset }, len, name: of.name, at: record.at, end })
}
