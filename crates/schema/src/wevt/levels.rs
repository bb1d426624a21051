//! `LEVL`: the levels that events of a provider have.

use super::reader::Reader;

/// Bytes of an element: the level, the message, the name.
const LEVEL: u32 = 12;

/// Number and shown name of each level that is the provider's own.
pub(super) fn read(reader: &mut Reader<'_>, list: u32) -> Vec<(u8, String)> {
    let mut levels = Vec::new();
    for at in reader.elements(*b"LEVL", list, LEVEL) {
        let number = reader.u32(at).and_then(|number| u8::try_from(number).ok());
        let (message, name) = (reader.u32(at.saturating_add(4)), reader.u32(at.saturating_add(8)));
        let (Some(number), Some(message), Some(name)) = (number, message, name) else {
            reader.report(at, "expected a level of 8 bits");
            continue;
        };
        if !reader.is_standard(name) {
            levels.extend(reader.shown(name, message).map(|shown| (number, shown)));
        }
    }
    levels.sort();
    levels.dedup();
    levels
}
