//! The check sums of xz streams.

use std::io;

use flate2::Crc;
use sha2::{Digest, Sha256};

use super::fault::invalid;

/// The check of a block while its data passes.
pub(super) enum Check {
    None,
    Crc32(Crc),
    Crc64(u64),
    Sha256(Box<Sha256>),
}

impl Check {
    /// Bytes of the longest one.
    pub(super) const MAX_LEN: usize = 32;

    /// The check with a number of the format.
    pub(super) fn of(kind: u8) -> io::Result<Check> {
        match kind {
            0 => Ok(Check::None),
            1 => Ok(Check::Crc32(Crc::new())),
            4 => Ok(Check::Crc64(!0)),
            10 => Ok(Check::Sha256(Box::default())),
            other => Err(invalid(format!("the xz stream has a check of the unknown kind {other}"))),
        }
    }

    /// Bytes that it takes.
    pub(super) fn len(&self) -> usize {
        match self {
            Check::None => 0,
            Check::Crc32(_) => 4,
            Check::Crc64(_) => 8,
            Check::Sha256(_) => 32,
        }
    }

    pub(super) fn update(&mut self, bytes: &[u8]) {
        match self {
            Check::None => {}
            Check::Crc32(crc) => crc.update(bytes),
            Check::Crc64(crc) => *crc = bytes.iter().fold(*crc, |crc, byte| step64(crc ^ u64::from(*byte))),
            Check::Sha256(hash) => hash.update(bytes),
        }
    }

    /// Whether the sum is this one.
    pub(super) fn is(self, stored: &[u8]) -> bool {
        match self {
            Check::None => stored.is_empty(),
            Check::Crc32(crc) => crc.sum().to_le_bytes() == stored,
            Check::Crc64(crc) => (!crc).to_le_bytes() == stored,
            Check::Sha256(hash) => hash.finalize()[..] == *stored,
        }
    }
}

/// CRC-32 as it lies in the file.
pub(super) fn crc32(bytes: &[u8]) -> [u8; 4] {
    let mut crc = Crc::new();
    crc.update(bytes);
    crc.sum().to_le_bytes()
}

/// CRC-64 of ECMA-182, reflected: what each value of the lowest byte does to the rest.
static TABLE: [u64; 256] = {
    let (mut table, mut byte) = ([0; 256], 0);
    while byte < 256 {
        let (mut crc, mut bit) = (byte as u64, 0);
        while bit < 8 {
            crc = if crc & 1 == 1 { (crc >> 1) ^ 0xC96C_5795_D787_0F42 } else { crc >> 1 };
            bit += 1;
        }
        table[byte] = crc;
        byte += 1;
    }
    table
};

fn step64(crc: u64) -> u64 {
    TABLE[usize::from(crc.to_le_bytes()[0])] ^ (crc >> 8)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_are_those_of_the_catalogue() {
        let is = |kind, stored: &[u8]| {
            let mut check = Check::of(kind).unwrap();
            assert_eq!(check.len(), stored.len());
            check.update(b"12345");
            check.update(b"6789");
            assert!(check.is(stored), "{kind}");
        };
        is(0, &[]);
        is(1, &0xCBF4_3926_u32.to_le_bytes());
        is(4, &0x995D_C9BB_DF19_39FA_u64.to_le_bytes());
        assert!(Check::of(2).is_err());
    }
}
