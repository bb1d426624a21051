//! A member held against the size and the check sum that its container records.

use std::io::{self, Read};

use flate2::Crc;

use super::fault::invalid;

/// Reads a member to its end, which must come where the container says, with the CRC-32 that it says.
pub(super) struct Checked<R> {
    inner: R,
    left: u64,
    expected: Option<u32>,
    crc: Crc,
    is_done: bool,
}

impl<R: Read> Checked<R> {
    /// A member of `size` bytes, with a CRC-32 if the container has one.
    pub(super) fn new(inner: R, size: u64, crc32: Option<u32>) -> Self {
        Checked { inner, left: size, expected: crc32, crc: Crc::new(), is_done: false }
    }

    /// What is wrong with a member that has been read to its end.
    fn check(&mut self) -> io::Result<()> {
        if self.left > 0 {
            return Err(invalid(format!("the data ends {} bytes early", self.left)));
        }
        match self.expected {
            Some(expected) if expected != self.crc.sum() => {
                Err(invalid(format!("expected the check sum {expected:08x}, found {:08x}", self.crc.sum())))
            }
            _ => Ok(()),
        }
    }
}

impl<R: Read> Read for Checked<R> {
    fn read(&mut self, target: &mut [u8]) -> io::Result<usize> {
        if target.is_empty() || self.is_done {
            return Ok(0);
        }
        let read = self.inner.read(target)?;
        let Some(left) = self.left.checked_sub(read as u64) else {
            return Err(invalid("there is more data than the directory says"));
        };
        self.left = left;
        self.crc.update(&target[..read]);
        if read == 0 {
            self.is_done = true;
            self.check()?;
        }
        Ok(read)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn size_and_check_sum_must_be_right() {
        // CRC-32 of "123456789", from the catalogue of parametrised CRC algorithms.
        let t = |size, crc, expected: &str| {
            let read = Checked::new(&b"123456789"[..], size, crc).read_to_end(&mut Vec::new());
            assert_eq!(read.map_or_else(|error| error.to_string(), |len| len.to_string()), expected);
        };
        t(9, Some(0xCBF4_3926), "9");
        t(9, None, "9");
        t(9, Some(1), "expected the check sum 00000001, found cbf43926");
        t(10, None, "the data ends 1 bytes early");
        t(8, None, "there is more data than the directory says");
    }
}
