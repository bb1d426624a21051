//! Integers as digits, without an allocation.

/// Octal digits of the greatest number.
const LONGEST: usize = 22;

/// The digits of a number, without a sign.
pub(crate) struct Digits {
    text: [u8; LONGEST],
    start: usize,
}

impl Digits {
    /// In base 10.
    pub(crate) fn decimal(number: u64) -> Self {
        let mut left = number;
        Digits::collect(|| {
            let digit = left % 10;
            left /= 10;
            (digit, left == 0)
        })
    }

    /// In base 16.
    pub(crate) fn hexadecimal(number: u64) -> Self {
        Digits::of_bits(number, 4)
    }

    /// In base 8.
    pub(crate) fn octal(number: u64) -> Self {
        Digits::of_bits(number, 3)
    }

    /// With letters in upper case.
    pub(crate) fn upper(mut self) -> Self {
        self.text.make_ascii_uppercase();
        self
    }

    pub(crate) fn as_str(&self) -> &str {
        self.text.get(self.start..).and_then(|digits| std::str::from_utf8(digits).ok()).unwrap_or_default()
    }

    fn of_bits(number: u64, bits: u32) -> Self {
        let mut left = number;
        Digits::collect(|| {
            let digit = left & ((1 << bits) - 1);
            left >>= bits;
            (digit, left == 0)
        })
    }

    /// Of digits from the last one to the first, each with whether it is the first.
    fn collect(mut next: impl FnMut() -> (u64, bool)) -> Self {
        const NAMES: [u8; 16] = *b"0123456789abcdef";
        let (mut text, mut start) = ([b'0'; LONGEST], LONGEST);
        while start > 0 {
            let (digit, is_first) = next();
            start -= 1;
            text[start] = NAMES[(digit & 0xf) as usize];
            if is_first {
                break;
            }
        }
        Digits { text, start }
    }
}

/// Appends a number in base 10.
pub(crate) fn push_decimal(number: u64, out: &mut String) {
    out.push_str(Digits::decimal(number).as_str());
}

/// Appends a number in base 10, with its sign where it is negative.
pub(crate) fn push_signed(number: i64, out: &mut String) {
    if number < 0 {
        out.push('-');
    }
    push_decimal(number.unsigned_abs(), out);
}

/// Appends a number in base 16 behind `0x`, with zeros before it up to so many digits.
pub(crate) fn push_hexadecimal(number: u64, digits: usize, out: &mut String) {
    let text = Digits::hexadecimal(number);
    out.push_str("0x");
    push_repeated('0', digits.saturating_sub(text.as_str().len()), out);
    out.push_str(text.as_str());
}

/// Appends a byte as two digits in base 16.
pub(crate) fn push_octet(byte: u8, out: &mut String) {
    let digits = Digits::hexadecimal(byte.into()).upper();
    push_repeated('0', 2_usize.saturating_sub(digits.as_str().len()), out);
    out.push_str(digits.as_str());
}

/// Appends a character so many times.
pub(crate) fn push_repeated(character: char, count: usize, out: &mut String) {
    // Without this, `extend` looks twice at a string that does not change.
    if count > 0 {
        out.extend(std::iter::repeat_n(character, count));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_are_those_of_the_base() {
        for (number, decimal, hexadecimal, octal) in [
            (0, "0", "0", "0"),
            (8, "8", "8", "10"),
            (255, "255", "ff", "377"),
            (1_000_000, "1000000", "f4240", "3641100"),
            (u64::MAX, "18446744073709551615", "ffffffffffffffff", "1777777777777777777777"),
        ] {
            assert_eq!(Digits::decimal(number).as_str(), decimal);
            assert_eq!(Digits::hexadecimal(number).as_str(), hexadecimal);
            assert_eq!(Digits::hexadecimal(number).upper().as_str(), hexadecimal.to_uppercase());
            assert_eq!(Digits::octal(number).as_str(), octal);
        }
    }

    #[test]
    fn numbers_have_their_sign_and_zeros() {
        let mut text = String::new();
        push_signed(i64::MIN, &mut text);
        push_signed(7, &mut text);
        push_hexadecimal(0x1a, 8, &mut text);
        push_hexadecimal(u64::MAX, 8, &mut text);
        push_octet(0xa, &mut text);
        push_octet(0xfe, &mut text);
        assert_eq!(text, "-922337203685477580870x0000001a0xffffffffffffffff0AFE");
    }
}
