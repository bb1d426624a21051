//! Security identifiers: their size, and their text form.
//!
//! On disk (MS-DTYP 2.4.2.2): revision 1, the number of parts (at most 15), an authority of 6 bytes, the most significant
//! first, then the parts, little-endian, of 4 bytes each.

use std::fmt;

/// A security identifier; displays as `S-1-5-18`, an authority of 2^32 and above in hexadecimal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sid<'a> {
    authority: u64,
    parts: &'a [[u8; 4]],
}

impl<'a> Sid<'a> {
    /// The identifier at the start of the bytes; `None` when there is none.
    pub fn read(bytes: &'a [u8]) -> Option<Sid<'a>> {
        let (&[1, count @ 0..=15, high0, high1, ref low @ ..], rest) = bytes.split_first_chunk::<8>()? else {
            return None;
        };
        let low: &[u8; 4] = low;
        let authority = u64::from(u16::from_be_bytes([high0, high1])) << 32 | u64::from(u32::from_be_bytes(*low));
        Some(Sid { authority, parts: rest.as_chunks().0.get(..usize::from(count))? })
    }

    /// Its length in bytes.
    pub fn size(&self) -> usize {
        8 + 4 * self.parts.len()
    }
}

impl fmt::Display for Sid<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.authority {
            large if large >> 32 != 0 => write!(f, "S-1-{large:#014x}")?,
            authority => write!(f, "S-1-{authority}")?,
        }
        self.parts.iter().try_for_each(|part| write!(f, "-{}", u32::from_le_bytes(*part)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn identifiers_are_read_whole_or_not_at_all() {
        let system = [1, 1, 0, 0, 0, 0, 0, 5, 18, 0, 0, 0];
        let text = |bytes: &[u8]| Sid::read(bytes).map(|sid| (sid.to_string(), sid.size()));
        assert_eq!(text(&system), Some(("S-1-5-18".to_owned(), 12)));
        assert_eq!(text(&[&system[..], &[7]].concat()), Some(("S-1-5-18".to_owned(), 12)));
        assert_eq!(text(&[1, 0, 0, 0, 0, 0, 0, 1]), Some(("S-1-1".to_owned(), 8)));
        let large = [1, 2, 1, 0, 0, 0, 0, 5, 18, 0, 0, 0, 255, 255, 255, 255];
        assert_eq!(text(&large), Some(("S-1-0x010000000005-18-4294967295".to_owned(), 16)));
        for bad in [&system[..11], &[2, 0, 0, 0, 0, 0, 0, 5], &[1, 16, 0, 0, 0, 0, 0, 5], &[1], &[]] {
            assert_eq!(text(bad), None, "{bad:?}");
        }
    }
}
