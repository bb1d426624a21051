//! The `printf` formats between exclamation marks, in messages of WPP and of manifests.

use std::fmt::Write;

use super::digits::{Digits, push_repeated};

/// Wider or more precise than this is no format but damage.
const MAX_WIDTH: u16 = 256;

/// One format of `printf`: `-08.3I64x`.
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(clippy::struct_excessive_bools, reason = "these are the five flags of printf")]
pub struct Spec {
    left: bool,
    plus: bool,
    blank: bool,
    alternate: bool,
    zero: bool,
    width: usize,
    precision: Option<usize>,
    pub(crate) conversion: u8,
}

impl Spec {
    /// Reads a format without its percent sign; `None` when it is none.
    pub(crate) fn parse(text: &str) -> Option<Spec> {
        let after_flags = text.trim_start_matches(['-', '+', ' ', '#', '0']);
        let flags = &text[..text.len() - after_flags.len()];
        let (width, rest) = number(after_flags)?;
        let (precision, rest) = match rest.strip_prefix('.') {
            Some(rest) => number(rest).map(|(precision, rest)| (Some(precision.unwrap_or(0)), rest))?,
            None => (None, rest),
        };
        let conversion = match without_size(rest).as_bytes() {
            [conversion] if conversion.is_ascii_alphabetic() => *conversion,
            _ => return None,
        };
        Some(Spec {
            left: flags.contains('-'),
            plus: flags.contains('+'),
            blank: flags.contains(' '),
            alternate: flags.contains('#'),
            zero: flags.contains('0'),
            width: width.unwrap_or(0),
            precision,
            conversion,
        })
    }

    /// The format that says nothing.
    pub(crate) const PLAIN: Spec = Spec {
        left: false,
        plus: false,
        blank: false,
        alternate: false,
        zero: false,
        width: 0,
        precision: None,
        conversion: b's',
    };

    /// Whether it says nothing but the conversion.
    pub(crate) fn is_bare(&self) -> bool {
        *self == Spec { conversion: self.conversion, ..Spec::PLAIN }
    }

    /// Whether it shows integers in base 10.
    pub(crate) fn is_decimal(&self) -> bool {
        matches!(self.conversion, b'd' | b'i' | b'u')
    }

    /// Whether it shows a number as a character.
    pub(crate) fn is_character(&self) -> bool {
        matches!(self.conversion, b'c' | b'C')
    }

    /// Appends text cut to the precision and padded to the width, both in characters.
    pub fn write_text(&self, text: &str, out: &mut String) {
        let cut = match self.precision {
            Some(precision) => text.char_indices().nth(precision).map_or(text, |(end, _)| &text[..end]),
            None => text,
        };
        self.write_padded("", 0, cut, false, out);
    }

    /// Appends an integer of `bits` bits; `None` when the conversion is not one for integers.
    pub fn write_integer(&self, value: u64, bits: u32, out: &mut String) -> Option<()> {
        let unsigned = if bits >= 64 { value } else { value & ((1 << bits) - 1) };
        let shift = 64 - bits.clamp(1, 64);
        let signed = (value << shift).cast_signed() >> shift;
        let (prefix, digits, least) = match self.conversion {
            b'd' | b'i' => (self.sign(signed < 0), Digits::decimal(signed.unsigned_abs()), 0),
            b'u' => ("", Digits::decimal(unsigned), 0),
            b'x' => (if self.alternate && unsigned != 0 { "0x" } else { "" }, Digits::hexadecimal(unsigned), 0),
            b'X' => (if self.alternate && unsigned != 0 { "0X" } else { "" }, Digits::hexadecimal(unsigned).upper(), 0),
            b'o' => (if self.alternate { "0" } else { "" }, Digits::octal(unsigned), 0),
            b'p' => ("", Digits::hexadecimal(unsigned).upper(), usize::try_from(bits / 4).unwrap_or(16)),
            _ => return None,
        };
        let least = self.precision.unwrap_or(0).max(least);
        let zeros = least.saturating_sub(digits.as_str().len());
        self.write_padded(prefix, zeros, digits.as_str(), self.zero && self.precision.is_none(), out);
        Some(())
    }

    /// Appends a floating-point number; `None` when the conversion is not one for them.
    pub fn write_float(&self, value: f64, out: &mut String) -> Option<()> {
        let precision = self.precision.unwrap_or(6);
        let magnitude = value.abs();
        let mut digits = String::new();
        match self.conversion {
            b'f' | b'F' if value.is_finite() => digits = format!("{magnitude:.precision$}"),
            b'e' | b'E' if value.is_finite() => push_exponential(magnitude, precision, &mut digits),
            b'f' | b'F' | b'e' | b'E' | b'g' | b'G' => push_general(magnitude, precision, self.alternate, &mut digits),
            _ => return None,
        }
        if self.conversion.is_ascii_uppercase() {
            digits.make_ascii_uppercase();
        }
        let negative = value.is_sign_negative() && !value.is_nan();
        self.write_padded(self.sign(negative), 0, &digits, self.zero && value.is_finite(), out);
        Some(())
    }

    fn sign(&self, negative: bool) -> &'static str {
        match (negative, self.plus, self.blank) {
            (true, ..) => "-",
            (false, true, _) => "+",
            (false, false, true) => " ",
            (false, false, false) => "",
        }
    }

    /// Appends a prefix, zeros and text, padded to the width.
    fn write_padded(&self, prefix: &str, zeros: usize, text: &str, pads_zeros: bool, out: &mut String) {
        if self.width == 0 {
            out.push_str(prefix);
            push_repeated('0', zeros, out);
            return out.push_str(text);
        }
        let length = prefix.len() + zeros + text.chars().count();
        let missing = self.width.saturating_sub(length);
        let (before, inside, behind) = match (self.left, pads_zeros) {
            (true, _) => (0, 0, missing),
            (false, true) => (0, missing, 0),
            (false, false) => (missing, 0, 0),
        };
        push_repeated(' ', before, out);
        out.push_str(prefix);
        push_repeated('0', inside + zeros, out);
        out.push_str(text);
        push_repeated(' ', behind, out);
    }
}

/// A number at the start, if there is one, and the rest; `None` when it is too big.
fn number(text: &str) -> Option<(Option<usize>, &str)> {
    let rest = text.trim_start_matches(|c: char| c.is_ascii_digit());
    let digits = &text[..text.len() - rest.len()];
    if digits.is_empty() {
        return Some((None, rest));
    }
    let value = digits.parse::<u16>().ok().filter(|&value| value <= MAX_WIDTH)?;
    Some((Some(usize::from(value)), rest))
}

/// Drops a size prefix: the item type has the size.
fn without_size(text: &str) -> &str {
    const SIZES: [&str; 10] = ["I64", "I32", "ll", "hh", "I", "l", "h", "w", "z", "j"];
    let behind = SIZES.iter().find_map(|size| text.strip_prefix(size));
    behind.filter(|rest| !rest.is_empty()).unwrap_or(text)
}

/// `d.dddde±dd`
fn push_exponential(magnitude: f64, precision: usize, out: &mut String) {
    let start = out.len();
    // Writing to a string cannot fail.
    let _ = write!(out, "{magnitude:.precision$e}");
    let exponent = exponent(out.get(start..).unwrap_or_default());
    if let Some(mantissa) = out.get(start..).and_then(|text| text.find('e')) {
        out.truncate(start + mantissa);
    }
    push_exponent(exponent, out);
}

/// `e±dd`
fn push_exponent(exponent: i32, out: &mut String) {
    let _ = write!(out, "e{}{:02}", if exponent < 0 { '-' } else { '+' }, exponent.unsigned_abs());
}

/// The exponent of `d.ddde-d`.
fn exponent(text: &str) -> i32 {
    text.split_once('e').and_then(|(_, exponent)| exponent.parse().ok()).unwrap_or(0)
}

/// `%g`: the shorter of both forms with so many significant digits, without trailing zeros unless they are kept.
pub(crate) fn push_general(value: f64, digits: usize, keep_zeros: bool, out: &mut String) {
    if !value.is_finite() {
        let sign = if value.is_sign_negative() && !value.is_nan() { "-" } else { "" };
        out.push_str(sign);
        return out.push_str(if value.is_nan() { "nan" } else { "inf" });
    }
    let (start, digits) = (out.len(), digits.max(1));
    push_exponential(value, digits - 1, out);
    let exponent = exponent(out.get(start..).unwrap_or_default());
    match usize::try_from(i32::try_from(digits).unwrap_or(i32::MAX) - 1 - exponent) {
        Ok(places) if exponent >= -4 => {
            out.truncate(start);
            let _ = write!(out, "{value:.places$}");
            if !keep_zeros {
                trim_zeros(start, out);
            }
        }
        _ if keep_zeros => {}
        _ => {
            let mantissa = out.get(start..).and_then(|text| text.find('e')).map_or(out.len(), |at| start + at);
            out.truncate(mantissa);
            trim_zeros(start, out);
            push_exponent(exponent, out);
        }
    }
}

/// Drops the zeros behind a decimal point, and the point with them.
fn trim_zeros(start: usize, out: &mut String) {
    let text = out.get(start..).unwrap_or_default();
    if text.contains('.') {
        let kept = text.trim_end_matches('0').trim_end_matches('.').len();
        out.truncate(start + kept);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn integer(spec: &str, value: i64, bits: u32) -> String {
        let mut out = String::new();
        Spec::parse(spec).unwrap().write_integer(value.cast_unsigned(), bits, &mut out).unwrap();
        out
    }

    fn float(spec: &str, value: f64) -> String {
        let mut out = String::new();
        Spec::parse(spec).unwrap().write_float(value, &mut out).unwrap();
        out
    }

    #[test]
    fn integers_print_as_in_c() {
        for (spec, value, bits, expected) in [
            ("d", -1, 32, "-1"),
            ("u", -1, 32, "4294967295"),
            ("d", 0xffff_ffff, 32, "-1"),
            ("x", -1, 16, "ffff"),
            ("08X", 0xbeef, 32, "0000BEEF"),
            ("#x", 255, 32, "0xff"),
            ("#010x", 255, 32, "0x000000ff"),
            ("012I64X", 0x1234, 64, "000000001234"),
            ("I64d", i64::MIN, 64, "-9223372036854775808"),
            ("Iu", 7, 64, "7"),
            ("-5d|", 0, 0, ""),
            ("5d", -42, 32, "  -42"),
            ("05d", -42, 32, "-0042"),
            ("-5d", 42, 32, "42   "),
            ("+d", 42, 32, "+42"),
            ("5.3d", 7, 32, "  007"),
            ("o", 8, 32, "10"),
            ("p", 0x1234, 64, "0000000000001234"),
            ("p", 0x1234, 32, "00001234"),
            ("lu", 9, 32, "9"),
            ("hd", -2, 16, "-2"),
        ] {
            if bits == 0 {
                assert_eq!(Spec::parse(spec), None, "{spec}");
            } else {
                assert_eq!(integer(spec, value, bits), expected, "{spec} of {value}");
            }
        }
    }

    #[test]
    fn floats_print_as_in_c() {
        for (spec, value, expected) in [
            ("f", 1.5, "1.500000"),
            (".2f", -0.005, "-0.01"),
            ("08.2f", -1.5, "-0001.50"),
            ("e", 12345.678, "1.234568e+04"),
            (".0e", 0.00012, "1e-04"),
            ("E", 1.0, "1.000000E+00"),
            ("g", 100_000.0, "100000"),
            ("g", 1_000_000.0, "1e+06"),
            ("g", 0.0001, "0.0001"),
            ("g", 0.00001, "1e-05"),
            ("g", 0.5, "0.5"),
            ("g", -1_234_567.0, "-1.23457e+06"),
            ("g", 3.140_625, "3.14062"),
            ("#g", 2.0, "2.00000"),
            ("#.3g", 1e10, "1.00e+10"),
            (".0g", 0.06, "0.06"),
            ("g", -0.0, "-0"),
            ("g", f64::MIN_POSITIVE, "2.22507e-308"),
            ("G", f64::INFINITY, "INF"),
            ("e", f64::NEG_INFINITY, "-inf"),
            ("f", f64::NAN, "nan"),
        ] {
            assert_eq!(float(spec, value), expected, "{spec} of {value}");
        }
    }

    #[test]
    fn text_is_cut_and_padded_by_characters() {
        for (spec, expected) in [("s", "äöü"), (".2s", "äö"), ("5s", "  äöü"), ("-5.1s", "ä    ")] {
            let mut padded = String::new();
            Spec::parse(spec).unwrap().write_text("äöü", &mut padded);
            assert_eq!(padded, expected, "{spec}");
        }
    }

    #[test]
    fn what_is_no_format_is_refused() {
        for text in ["", "d ", "99999d", "300d", ".300d", "%", "é", "5", "FUNC"] {
            assert_eq!(Spec::parse(text), None, "{text}");
        }
    }
}
