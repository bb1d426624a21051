//! Damage to finished bytes. Positions come from [`Trace::buffer_positions`](super::Trace::buffer_positions) and
//! [`Trace::event_position`](super::Trace::event_position).

use super::buffer::Buffer;
use super::session::Random;

/// Cuts the file after `length` bytes.
pub fn truncate(bytes: &mut Vec<u8>, length: usize) {
    assert!(length <= bytes.len(), "a cut does not lengthen a file");
    bytes.truncate(length);
}

/// Appends zeros, as preallocation leaves them behind the last buffer.
pub fn zero_tail(bytes: &mut Vec<u8>, count: usize) {
    bytes.resize(bytes.len() + count, 0);
}

/// Appends buffers of an earlier recording that used the same space.
pub fn stale_tail(bytes: &mut Vec<u8>, old: impl IntoIterator<Item = Buffer>) {
    old.into_iter().for_each(|buffer| bytes.extend(buffer.on_disk()));
}

/// Replaces bytes in place.
pub fn overwrite(bytes: &mut [u8], at: usize, with: &[u8]) {
    bytes[at..at + with.len()].copy_from_slice(with);
}

/// Replaces `length` bytes by noise that depends on the seed only.
pub fn noise(bytes: &mut [u8], at: usize, length: usize, seed: u64) {
    let mut random = Random::new(seed);
    bytes[at..at + length].fill_with(|| random.next().to_le_bytes()[0]);
}

/// Flips one bit.
pub fn flip(bytes: &mut [u8], at: usize, bit: u32) {
    bytes[at] ^= 1 << bit;
}

/// BufferSize, the stride to the next buffer.
pub fn set_buffer_size(bytes: &mut [u8], buffer: usize, size: u32) {
    overwrite(bytes, buffer, &size.to_le_bytes());
}

/// Offset, the number of valid bytes.
pub fn set_offset(bytes: &mut [u8], buffer: usize, offset: u32) {
    overwrite(bytes, buffer + 0x30, &offset.to_le_bytes());
}

/// The event's size, in the place that its header type has it: SYSTEM, COMPACT and PERFINFO at 4, all others at 0.
pub fn set_event_size(bytes: &mut [u8], event: usize, size: u16) {
    let hooked = bytes[event + 3] == 0xC0 && matches!(bytes[event + 2], 0x01..=0x04 | 0x10 | 0x11);
    overwrite(bytes, event + if hooked { 4 } else { 0 }, &size.to_le_bytes());
}

/// The first dword of an event: family, header type.
pub fn set_marker(bytes: &mut [u8], event: usize, marker: u32) {
    overwrite(bytes, event, &marker.to_le_bytes());
}

/// Lets an event of an uncompressed buffer reach `beyond` bytes over the buffer's Offset.
pub fn cross_end(bytes: &mut [u8], buffer: usize, event: usize, beyond: u16) {
    let offset = u32::from_le_bytes(bytes[buffer + 0x30..buffer + 0x34].try_into().expect("four bytes"));
    let rest = u16::try_from(offset as usize - (event - buffer)).expect("the event lies in the buffer's last 64 KiB");
    set_event_size(bytes, event, rest + beyond);
}
