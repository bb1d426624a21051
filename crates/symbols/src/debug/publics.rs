//! Publics: the names by which the linker knows functions, which even stripped PDBs have.

use super::records::{Records, S_PUB32};
use super::space::Place;
use crate::bytes::Bytes;

/// A public; its name lies in the stream of globals.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Public<'a> {
    pub(crate) place: Place,
    pub(crate) name: &'a [u8],
}

/// Publics in the order of their places; of those at one place the name that sorts first, byte by byte, comes first.
#[derive(Debug)]
pub(crate) struct Publics<'a>(Vec<Public<'a>>);

impl<'a> Publics<'a> {
    /// Those of sections in which any of the places lies, which are the only ones that are asked for.
    pub(crate) fn read(globals: &'a [u8], places: &[Place]) -> Publics<'a> {
        let mut sections: Vec<u16> = places.iter().map(|place| place.section).collect();
        sections.dedup();
        sections.sort_unstable();
        sections.dedup();
        let publics = Records::new(globals, 0).filter(|record| record.kind == S_PUB32);
        let publics = publics.filter_map(|record| public(Bytes(record.data)));
        let mut publics: Vec<_> =
            publics.filter(|public| sections.binary_search(&public.place.section).is_ok()).collect();
        publics.sort_unstable_by_key(|public| (public.place, public.name));
        Publics(publics)
    }

    /// Those at a place.
    pub(crate) fn at(&self, place: Place) -> &[Public<'a>] {
        let first = self.0.partition_point(|public| public.place < place);
        let behind = self.0.partition_point(|public| public.place <= place);
        self.0.get(first..behind).unwrap_or_default()
    }

    /// The place of the last ones that do not lie behind a place, in its section.
    pub(crate) fn before(&self, place: Place) -> Option<Place> {
        let behind = self.0.partition_point(|public| public.place <= place);
        let public = self.0.get(behind.checked_sub(1)?)?;
        Some(public.place).filter(|found| found.section == place.section)
    }

    /// The place of the first ones behind a place, in its section.
    pub(crate) fn after(&self, place: Place) -> Option<Place> {
        let public = self.0.get(self.0.partition_point(|public| public.place <= place))?;
        Some(public.place).filter(|found| found.section == place.section)
    }
}

fn public(mut data: Bytes<'_>) -> Option<Public<'_>> {
    let (_flags, offset, section) = (data.u32()?, data.u32()?, data.u16()?);
    Some(Public { place: Place { section, offset }, name: data.text() })
}
