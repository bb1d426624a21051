//! Globally unique identifiers as they lie on disk.

use std::fmt;
use std::str::FromStr;

/// A GUID, kept as its 16 bytes on disk: the first three groups little-endian, the last two as they read.
///
/// Shown and parsed in lower case without braces, the form every column uses. Ordered by its text form, so that
/// sorting by GUID looks sorted to people.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Guid(pub [u8; 16]);

impl Guid {
    /// The GUID of all zeros, which stands for "none" in event headers.
    pub const ZERO: Guid = Guid([0; 16]);

    /// From the four parts in which documents print a GUID; the last is the two final groups as one number.
    pub const fn from_parts(a: u32, b: u16, c: u16, d: u64) -> Guid {
        let (a, b, c, d) = (a.to_le_bytes(), b.to_le_bytes(), c.to_le_bytes(), d.to_be_bytes());
        Guid([a[0], a[1], a[2], a[3], b[0], b[1], c[0], c[1], d[0], d[1], d[2], d[3], d[4], d[5], d[6], d[7]])
    }

    /// Whether all bits are zero.
    pub fn is_zero(&self) -> bool {
        *self == Guid::ZERO
    }

    /// The bytes in the order in which the text form prints them.
    pub fn to_text_order(self) -> [u8; 16] {
        let b = self.0;
        [b[3], b[2], b[1], b[0], b[5], b[4], b[7], b[6], b[8], b[9], b[10], b[11], b[12], b[13], b[14], b[15]]
    }

    /// From bytes in the order in which the text form prints them.
    pub fn from_text_order(bytes: [u8; 16]) -> Guid {
        // The swaps undo themselves.
        Guid(Guid(bytes).to_text_order())
    }

    /// The 36 ASCII characters of the text form.
    pub fn to_text(self) -> [u8; 36] {
        // All digits first, then those between two dashes: loops without a branch, of which the compiler makes few
        // instructions.
        let mut digits = [0; 32];
        for (pair, byte) in digits.as_chunks_mut().0.iter_mut().zip(self.to_text_order()) {
            *pair = [byte >> 4, byte & 15];
        }
        digits.iter_mut().for_each(|digit| *digit += if *digit < 10 { b'0' } else { b'a' - 10 });
        let mut text = [b'-'; 36];
        for (from, to, len) in [(0, 0, 8), (8, 9, 4), (12, 14, 4), (16, 19, 4), (20, 24, 12)] {
            text[to..to + len].copy_from_slice(&digits[from..from + len]);
        }
        text
    }
}

impl fmt::Display for Guid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = self.to_text();
        f.pad(std::str::from_utf8(&text).expect("hexadecimal digits and dashes are ASCII"))
    }
}

impl serde::Serialize for Guid {
    /// As its text form.
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> serde::Deserialize<'de> for Guid {
    /// From its text form.
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = <std::borrow::Cow<'_, str>>::deserialize(deserializer)?;
        text.parse().map_err(serde::de::Error::custom)
    }
}

impl fmt::Debug for Guid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl Ord for Guid {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.to_text_order().cmp(&other.to_text_order())
    }
}

impl PartialOrd for Guid {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

/// The text is not a GUID of 32 hexadecimal digits in the usual groups.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not a GUID of the form 01234567-89ab-cdef-0123-456789abcdef")]
pub struct ParseGuidError;

impl FromStr for Guid {
    type Err = ParseGuidError;

    /// Accepts either case, with or without braces.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let inner = text.strip_prefix('{').and_then(|t| t.strip_suffix('}')).unwrap_or(text).as_bytes();
        if inner.len() != 36 || [8, 13, 18, 23].iter().any(|&i| inner.get(i) != Some(&b'-')) {
            return Err(ParseGuidError);
        }
        let mut ordered = [0u8; 16];
        let mut digits = inner.iter().filter(|&&c| c != b'-').map(|&c| char::from(c).to_digit(16));
        for byte in &mut ordered {
            let (Some(Some(high)), Some(Some(low))) = (digits.next(), digits.next()) else {
                return Err(ParseGuidError);
            };
            *byte = u8::try_from(high * 16 + low).map_err(|_| ParseGuidError)?;
        }
        if digits.next().is_some() {
            return Err(ParseGuidError);
        }
        // The permutation is its own inverse.
        Ok(Guid(Guid(ordered).to_text_order()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_and_bytes_agree_with_the_printed_form() {
        let bytes = [0x23, 0x0d, 0x3c, 0xe1, 0xbc, 0xcc, 0x12, 0x4e, 0x93, 0x1b, 0xd9, 0xcc, 0x2e, 0xee, 0x27, 0xe4];
        let text = "e13c0d23-ccbc-4e12-931b-d9cc2eee27e4";
        assert_eq!(Guid(bytes).to_string(), text);
        assert_eq!(text.parse::<Guid>().unwrap(), Guid(bytes));
        assert_eq!("{E13C0D23-CCBC-4E12-931B-D9CC2EEE27E4}".parse::<Guid>().unwrap(), Guid(bytes));
        assert_eq!(Guid::from_parts(0xe13c_0d23, 0xccbc, 0x4e12, 0x931b_d9cc_2eee_27e4), Guid(bytes));
    }

    #[test]
    fn what_is_no_guid_is_refused() {
        for text in [
            "",
            "e13c0d23",
            "e13c0d23-ccbc-4e12-931b-d9cc2eee27e",
            "{e13c0d23-ccbc-4e12-931b-d9cc2eee27e4",
            "g13c0d23-ccbc-4e12-931b-d9cc2eee27e4",
        ] {
            assert_eq!(text.parse::<Guid>(), Err(ParseGuidError), "{text}");
        }
    }

    #[test]
    fn order_is_the_order_of_the_text() {
        let a: Guid = "00000001-0000-0000-0000-000000000000".parse().unwrap();
        let b: Guid = "01000000-0000-0000-0000-000000000000".parse().unwrap();
        assert!(a < b);
    }
}
