//! The trace writer against bytes worked out by hand from the format description.

#[path = "../synth/mod.rs"]
mod synth;

mod compression;
mod events;
mod files;

use synth::{Guid, OnDisk, guid};

const G: Guid = guid("00112233-4455-6677-8899-aabbccddeeff");
/// `G` on disk.
const G_DISK: &str = "33221100 5544 7766 8899 aabbccddeeff";
const TIME: i64 = 0x0102_0304_0506_0708;
const TIME_DISK: &str = "0807060504030201";

/// Bytes from hexadecimal digits; blanks separate the fields.
fn hex(text: &str) -> Vec<u8> {
    let digits: Vec<u8> = text.bytes().filter(|byte| !byte.is_ascii_whitespace()).collect();
    let byte = |pair: &[u8]| u8::from_str_radix(std::str::from_utf8(pair).expect("ASCII"), 16).expect("hexadecimal");
    digits.chunks(2).map(byte).collect()
}

#[track_caller]
fn t(written: impl OnDisk, expected: &[&str]) {
    assert_eq!(written.on_disk(), hex(&expected.concat()));
}
