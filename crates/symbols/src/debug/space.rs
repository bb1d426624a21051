//! Addresses of the binary, and where in its sections they lie.

use super::directory::{Dbi, Further};
use crate::bytes::Bytes;
use crate::container::Streams;
use crate::found::{Readable, Reason};

/// Bytes of a section header.
const SECTION: usize = 40;
/// The section holds code.
const EXECUTABLE: u32 = 0x2000_0000;

/// An offset in a section, as symbols give it; sections count from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Place {
    pub(crate) section: u16,
    pub(crate) offset: u32,
}

#[derive(Clone, Copy, Debug)]
struct Section {
    address: u32,
    size: u32,
    is_code: bool,
}

/// Translates addresses of the binary into those of symbols, and back.
#[derive(Debug)]
pub(crate) struct Space {
    sections: Vec<Section>,
    moved: Option<Moved>,
}

/// A binary whose code was rearranged after it was linked; symbols have the addresses of before.
#[derive(Debug)]
struct Moved {
    original: Vec<Section>,
    to_source: Vec<(u32, u32)>,
    from_source: Vec<(u32, u32)>,
}

impl Space {
    pub(crate) fn read(streams: &Streams, dbi: &Dbi) -> Readable<Space> {
        let stream = |which| dbi.further(which).map_or(Ok(None), |number| streams.named_by(number));
        let sections = stream(Further::Sections)?.ok_or_else(|| Reason::damaged("the PDB has no section headers"))?;
        let sections = sections_of(&sections);
        let original = stream(Further::OriginalSections)?;
        let (to, from) = (stream(Further::OmapToSource)?, stream(Further::OmapFromSource)?);
        let moved = match (original, to, from) {
            (None, None, None) => None,
            (Some(original), Some(to), Some(from)) => {
                let original = sections_of(&original);
                Some(Moved { original, to_source: map_of(&to), from_source: map_of(&from) })
            }
            _ => return Err(Reason::unsupported("a PDB of rearranged code whose maps of addresses are not all there")),
        };
        Ok(Space { sections, moved })
    }

    /// Where an address of code lies; `None` for one of data, or outside of the image.
    pub(crate) fn place(&self, address: u32) -> Option<Place> {
        let (place, section) = place_in(&self.sections, address)?;
        if !section.is_code {
            return None;
        }
        let Some(moved) = &self.moved else { return Some(place) };
        let address = translated(&moved.to_source, address)?;
        place_in(&moved.original, address).map(|(place, _)| place)
    }

    /// The address that a place of the symbols has in the binary.
    pub(crate) fn address(&self, place: Place) -> Option<u32> {
        let sections = self.moved.as_ref().map_or(&self.sections, |moved| &moved.original);
        let address = section_of(sections, place.section)?.address.checked_add(place.offset)?;
        match &self.moved {
            Some(moved) => translated(&moved.from_source, address),
            None => Some(address),
        }
    }

    /// Where a section ends.
    pub(crate) fn end_of(&self, section: u16) -> u32 {
        let sections = self.moved.as_ref().map_or(&self.sections, |moved| &moved.original);
        section_of(sections, section).map_or(0, |section| section.size)
    }

    /// Whether what lies together in the symbols lies together in the binary.
    pub(crate) fn is_moved(&self) -> bool {
        self.moved.is_some()
    }
}

fn section_of(sections: &[Section], number: u16) -> Option<&Section> {
    sections.get(usize::from(number).checked_sub(1)?)
}

fn place_in(sections: &[Section], address: u32) -> Option<(Place, &Section)> {
    let within = |section: &Section| address.checked_sub(section.address).filter(|&offset| offset < section.size);
    let found = sections.iter().zip(1..=u16::MAX);
    let mut found = found.filter_map(|(section, number)| Some((within(section)?, section, number)));
    found.next().map(|(offset, section, number)| (Place { section: number, offset }, section))
}

fn sections_of(bytes: &[u8]) -> Vec<Section> {
    let (headers, _) = bytes.as_chunks::<SECTION>();
    headers.iter().filter_map(|header| section(Bytes(header))).collect()
}

fn section(mut bytes: Bytes<'_>) -> Option<Section> {
    bytes.skip(8)?;
    let (size, address, raw_size) = (bytes.u32()?, bytes.u32()?, bytes.u32()?);
    bytes.skip(16)?;
    let is_code = bytes.u32()? & EXECUTABLE != 0;
    // Linkers of long ago leave the first size out.
    Some(Section { address, size: if size == 0 { raw_size } else { size }, is_code })
}

/// Pairs of addresses: from each on, to which they have moved; to 0, that they are gone.
fn map_of(bytes: &[u8]) -> Vec<(u32, u32)> {
    let (pairs, _) = bytes.as_chunks::<8>();
    let mut pairs: Vec<(u32, u32)> = pairs.iter().filter_map(|pair| Bytes(pair).u32().zip(second(pair))).collect();
    pairs.sort_by_key(|&(from, _)| from);
    pairs
}

fn second(pair: &[u8; 8]) -> Option<u32> {
    let mut bytes = Bytes(pair);
    bytes.u32()?;
    bytes.u32()
}

fn translated(map: &[(u32, u32)], address: u32) -> Option<u32> {
    let behind = map.partition_point(|&(from, _)| from <= address);
    let &(from, to) = map.get(behind.checked_sub(1)?)?;
    if to == 0 { None } else { to.checked_add(address.checked_sub(from)?) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn space() -> Space {
        let section = |address, size, is_code| Section { address, size, is_code };
        let sections = vec![section(0x1000, 0x200, true), section(0x2000, 0x200, false)];
        let original = vec![section(0x1000, 0x300, true)];
        // Two blocks have changed places, and one of 0x40 bytes is gone.
        let to_source = vec![(0x1000, 0x1100), (0x1080, 0x1000)];
        let from_source = vec![(0x1000, 0x1080), (0x1080, 0), (0x1100, 0x1000), (0x1180, 0)];
        Space { sections, moved: Some(Moved { original, to_source, from_source }) }
    }

    #[test]
    fn rearranged_code_is_found_where_it_was() {
        let space = space();
        let cases = [
            (0x0FFF, None, None),
            (0x1000, Some(0x100), Some(0x1000)),
            (0x107F, Some(0x17F), Some(0x107F)),
            (0x1080, Some(0x000), Some(0x1080)),
            (0x1101, Some(0x081), None),
            (0x2000, None, None),
        ];
        for (address, offset, back) in cases {
            let place = space.place(address);
            assert_eq!(place, offset.map(|offset| Place { section: 1, offset }), "{address:#x}");
            assert_eq!(place.and_then(|place| space.address(place)), back, "{address:#x}");
        }
    }

    #[test]
    fn data_and_what_lies_outside_have_no_place() {
        let plain = Space { moved: None, ..space() };
        let cases = [(0, None), (0x1000, Some(0)), (0x11FF, Some(0x1FF)), (0x1200, None), (0x2000, None)];
        for (address, offset) in cases {
            assert_eq!(plain.place(address), offset.map(|offset| Place { section: 1, offset }), "{address:#x}");
        }
        assert_eq!(plain.address(Place { section: 3, offset: 0 }), None);
        assert_eq!(plain.address(Place { section: 0, offset: 0 }), None);
        assert_eq!(plain.address(Place { section: 1, offset: u32::MAX }), None);
    }
}
