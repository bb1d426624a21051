//! Numbers and sizes as people read them.

use std::fmt;

/// A number with a comma before every three digits: `1,234,567`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Count(pub u64);

impl fmt::Display for Count {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let digits = self.0.to_string();
        for (at, digit) in digits.char_indices() {
            if at > 0 && (digits.len() - at).is_multiple_of(3) {
                f.write_str(",")?;
            }
            write!(f, "{digit}")?;
        }
        Ok(())
    }
}

/// A number of bytes in the largest unit that it has one of: `17 B`, `1.50 MiB`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ByteCount(pub u64);

const UNITS: [&str; 6] = ["KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];

impl fmt::Display for ByteCount {
    #[expect(clippy::cast_precision_loss, reason = "three digits are shown")]
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut unit = None;
        let mut amount = self.0 as f64;
        for name in UNITS {
            if amount < 1024.0 {
                break;
            }
            (unit, amount) = (Some(name), amount / 1024.0);
        }
        match unit {
            Some(unit) => write!(f, "{amount:.2} {unit}"),
            None => write!(f, "{amount:.0} B"),
        }
    }
}

/// So many of what `things` names in the plural: `1 buffer`, `1,200 buffers`.
pub fn counted(number: u64, things: &str) -> String {
    let things = if number == 1 { things.strip_suffix('s').unwrap_or(things) } else { things };
    format!("{} {things}", Count(number))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_is_no_plural() {
        assert_eq!(counted(0, "events"), "0 events");
        assert_eq!(counted(1, "events"), "1 event");
        assert_eq!(counted(1234, "events"), "1,234 events");
    }

    #[test]
    fn digits_stand_in_threes() {
        let t = |number: u64, text: &str| assert_eq!(Count(number).to_string(), text);
        t(0, "0");
        t(999, "999");
        t(1_000, "1,000");
        t(123_456, "123,456");
        t(1_234_567, "1,234,567");
        t(u64::MAX, "18,446,744,073,709,551,615");
    }

    #[test]
    fn bytes_have_the_largest_unit_that_is_full() {
        let t = |bytes: u64, text: &str| assert_eq!(ByteCount(bytes).to_string(), text);
        t(0, "0 B");
        t(1023, "1023 B");
        t(1024, "1.00 KiB");
        t(1536, "1.50 KiB");
        t((1 << 20) - 1, "1024.00 KiB");
        t(238 << 20, "238.00 MiB");
        t(u64::MAX, "16.00 EiB");
    }
}
