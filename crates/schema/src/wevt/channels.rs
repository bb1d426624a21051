//! `CHAN`: the channels of a provider.

use super::reader::Reader;

/// Bytes of an element: a number of its own, the name, the channel's number, the message.
const CHANNEL: u32 = 16;

/// Number and name of each channel, as they are declared.
pub(super) fn read(reader: &mut Reader<'_>, list: u32) -> Vec<(u8, String)> {
    let mut channels = Vec::new();
    for at in reader.elements(*b"CHAN", list, CHANNEL) {
        let place = reader.u32(at.saturating_add(4));
        let name = place.and_then(|place| reader.name(place));
        let number = reader.u32(at.saturating_add(8)).and_then(|number| u8::try_from(number).ok());
        match number.zip(name) {
            Some(channel) => channels.push(channel),
            None => reader.report(at, "expected a channel with a name and a number of 8 bits"),
        }
    }
    channels.sort();
    channels.dedup();
    channels
}
