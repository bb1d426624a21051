//! `PRVA`: what a provider says of itself.

use super::reader::Reader;

/// Bytes of an element: what it is, and where it lies.
const TRAIT: u32 = 8;
/// The name of the provider: UTF-16 up to a NUL.
const NAME: u32 = 0x1000_0001;

/// The name of the provider, where the binary has it: those of older compilers have not.
pub(super) fn name(reader: &mut Reader<'_>, list: u32) -> Option<String> {
    let mut found = None;
    for at in reader.elements(*b"PRVA", list, TRAIT) {
        if found.is_none() && reader.u32(at) == Some(NAME) {
            let place = reader.u32(at.saturating_add(4));
            found = place.and_then(|place| reader.text(place));
        }
    }
    found
}
