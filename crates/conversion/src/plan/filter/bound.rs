//! Limits in time as people type them.

use std::fmt;
use std::str::FromStr;

use base::calendar::{parse_rfc3339, rfc3339};
use serde::{Deserialize, Serialize};

/// A point in time: `2025-01-31T12:00:00Z`, or `+12.5s` from the start of the recording.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum TimeBound {
    /// Unix nanoseconds.
    At(i64),
    /// Nanoseconds after the start of the recording.
    After(i64),
}

impl TimeBound {
    /// The point in Unix nanoseconds, for a recording that starts at the given one.
    pub fn at(self, start_ns: i64) -> i64 {
        match self {
            TimeBound::At(ns) => ns,
            TimeBound::After(ns) => start_ns.saturating_add(ns),
        }
    }

    /// Whether it is certain, whatever the recording, that no time lies between this bound and the one behind it.
    pub fn is_not_before(self, end: TimeBound) -> bool {
        match (self, end) {
            (TimeBound::At(from), TimeBound::At(to)) | (TimeBound::After(from), TimeBound::After(to)) => from >= to,
            _ => false,
        }
    }
}

impl fmt::Display for TimeBound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TimeBound::At(ns) => f.write_str(&rfc3339(*ns)),
            TimeBound::After(ns) => {
                let ns = i128::from(*ns);
                let whole = UNITS.iter().filter(|(name, unit)| name.is_ascii() && *unit <= SECOND && ns % unit == 0);
                let (name, unit) = whole.max_by_key(|(_, unit)| *unit).unwrap_or(&UNITS[0]);
                write!(f, "+{}{name}", ns / unit)
            }
        }
    }
}

impl FromStr for TimeBound {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let text = text.trim();
        let bound = match text.strip_prefix('+') {
            Some(distance) => duration(distance).map(TimeBound::After),
            None => time(text).map(TimeBound::At),
        };
        bound.ok_or_else(|| {
            "expected a time, such as 2025-01-31T12:00:00Z, 2025-01-31T13:00:00.5+01:00 or, in UTC, 2025-01-31 12:00:00, or \
             a distance from the start of the trace, such as +12.5s, +300ms or +5min"
                .to_owned()
        })
    }
}

/// Unix nanoseconds of a time in RFC 3339 form, or as databases print it: a day, a time without a zone, which is UTC, a
/// zone of whole hours.
fn time(text: &str) -> Option<i64> {
    let whole = ["", "Z", ":00", "T00:00:00Z"].map(|rest| format!("{text}{rest}"));
    whole.iter().find_map(|text| parse_rfc3339(text))
}

/// A second in nanoseconds.
const SECOND: i128 = 1_000_000_000;

/// Units of a distance in nanoseconds.
const UNITS: [(&str, i128); 8] = [
    ("ns", 1),
    ("us", 1_000),
    ("µs", 1_000),
    ("ms", 1_000_000),
    ("s", SECOND),
    ("min", 60_000_000_000),
    ("h", 3_600_000_000_000),
    ("d", 86_400_000_000_000),
];

/// Nanoseconds in a distance with its sign: `+12.5s`, `-300ms`; `None` for any other text, and where it is no whole number of
/// them.
pub fn parse_offset(text: &str) -> Option<i64> {
    match text.strip_prefix('-') {
        Some(distance) => duration(distance).map(|ns| -ns),
        None => duration(text.strip_prefix('+')?),
    }
}

/// Nanoseconds in `12.5s`; `None` where it is not a whole number of them.
fn duration(text: &str) -> Option<i64> {
    let (number, unit) = text.split_at(text.find(|c: char| !c.is_ascii_digit() && c != '.')?);
    let (_, unit) = UNITS.iter().find(|(name, _)| *name == unit.trim_start())?;
    let (whole, decimals) = number.split_once('.').unwrap_or((number, "0"));
    // Enough digits for all of 64 bits, few enough for the sums below.
    let number = |digits: &str| digits.parse::<i128>().ok().filter(|_| digits.len() <= 20);
    let (whole, scale) = (number(whole)?, 10_i128.pow(u32::try_from(decimals.len().min(21)).ok()?));
    let part = number(decimals)? * unit;
    (part % scale == 0).then(|| i64::try_from(whole * unit + part / scale).ok()).flatten()
}

/// Times from one point up to, but not including, another, in Unix nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TimeWindow {
    /// The first time in it.
    pub from: i64,
    /// The first time behind it; `None` for no end.
    pub to: Option<i64>,
}

/// How a stretch of time lies to a window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Overlap {
    /// All of it is earlier.
    Before,
    /// All of it is inside.
    Inside,
    /// Part of it may be inside.
    Across,
    /// All of it is later.
    After,
}

impl TimeWindow {
    /// Whether a time lies in it.
    #[inline]
    pub fn contains(&self, ns: i64) -> bool {
        self.from <= ns && self.to.is_none_or(|to| ns < to)
    }

    /// How the times from `first` to `last`, both included, lie to it.
    pub fn overlap(&self, first: i64, last: i64) -> Overlap {
        match (self.contains(first), self.contains(last)) {
            (true, true) => Overlap::Inside,
            _ if last < self.from => Overlap::Before,
            _ if self.to.is_some_and(|to| to <= first) => Overlap::After,
            _ => Overlap::Across,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bounds_are_times_or_distances() {
        let t = |text: &str, bound: Option<TimeBound>| assert_eq!(text.parse::<TimeBound>().ok(), bound, "{text}");
        t("2025-01-01T00:00:00Z", Some(TimeBound::At(1_735_689_600_000_000_000)));
        // As DuckDB prints a TIMESTAMP, a DATE and a TIMESTAMP WITH TIME ZONE.
        t("2016-05-26 20:17:23", Some(TimeBound::At(1_464_293_843_000_000_000)));
        t("2016-05-26 20:17:22.4789313", Some(TimeBound::At(1_464_293_842_478_931_300)));
        t("2016-05-26T20:17:23", Some(TimeBound::At(1_464_293_843_000_000_000)));
        t("2025-01-01", Some(TimeBound::At(1_735_689_600_000_000_000)));
        t("2025-01-01 02:00:00.25+02", Some(TimeBound::At(1_735_689_600_250_000_000)));
        t("+0s", Some(TimeBound::After(0)));
        t("+12.5s", Some(TimeBound::After(12_500_000_000)));
        t("+300ms", Some(TimeBound::After(300_000_000)));
        t(" +1.5 µs ", Some(TimeBound::After(1_500)));
        t("+0.1us", Some(TimeBound::After(100)));
        t("+7ns", Some(TimeBound::After(7)));
        t("+2min", Some(TimeBound::After(120_000_000_000)));
        t("+0.25h", Some(TimeBound::After(900_000_000_000)));
        t("+1d", Some(TimeBound::After(86_400_000_000_000)));
        t("+9223372036.854775807s", Some(TimeBound::After(i64::MAX)));
        for wrong in [
            "",
            "+",
            "12.5s",
            "-1s",
            "+5",
            "+s",
            "+.5s",
            "+1.s",
            "+1.2.3s",
            "+1e3s",
            "+0.5ns",
            "+1 parsec",
            "+1M",
            "+9223372036.854775808s",
            "+99999999999999999999999999999999999999999999s",
            "+0.0000000000000000000000000000000000000000001s",
            "2025-01-01T00:00",
            "2025-01-01 00:00:00 UTC",
            "2025-01",
            "20250101",
        ] {
            t(wrong, None);
        }
    }

    #[test]
    fn an_offset_has_a_sign() {
        let t = |text: &str, ns: Option<i64>| assert_eq!(parse_offset(text), ns, "{text}");
        t("+1.5ms", Some(1_500_000));
        t("-2s", Some(-2_000_000_000));
        t("-9223372036.854775807s", Some(-i64::MAX));
        for wrong in ["", "+", "-", "1s", "+-1s", "--1s", "+1", "-0.1ns"] {
            t(wrong, None);
        }
    }

    #[test]
    fn a_bound_is_a_point_of_the_recording() {
        assert_eq!(TimeBound::At(5).at(100), 5);
        assert_eq!(TimeBound::After(5).at(100), 105);
        assert_eq!(TimeBound::After(5).at(i64::MAX - 1), i64::MAX);
        assert!(TimeBound::At(5).is_not_before(TimeBound::At(5)));
        assert!(TimeBound::After(6).is_not_before(TimeBound::After(5)));
        assert!(!TimeBound::After(5).is_not_before(TimeBound::After(6)));
        assert!(!TimeBound::At(6).is_not_before(TimeBound::After(5)));
        assert_eq!(TimeBound::At(0).to_string(), "1970-01-01T00:00:00.000000000Z");
        for (ns, text) in [(0, "+0s"), (1, "+1ns"), (1500, "+1500ns"), (2000, "+2us"), (12_500_000_000, "+12500ms")] {
            assert_eq!(TimeBound::After(ns).to_string(), text);
        }
        assert_eq!(TimeBound::After(5_000_000_000).to_string(), "+5s");
    }

    #[test]
    fn a_window_holds_its_start_and_not_its_end() {
        let window = TimeWindow { from: 10, to: Some(20) };
        assert_eq!([9, 10, 19, 20].map(|ns| window.contains(ns)), [false, true, true, false]);
        for (first, last, expected) in [
            (0, 9, Overlap::Before),
            (0, 10, Overlap::Across),
            (10, 19, Overlap::Inside),
            (10, 20, Overlap::Across),
            (0, 99, Overlap::Across),
            (20, 30, Overlap::After),
        ] {
            assert_eq!(window.overlap(first, last), expected, "{first} to {last}");
        }
        let open = TimeWindow { from: i64::MIN, to: None };
        assert_eq!(open.overlap(i64::MIN, i64::MAX), Overlap::Inside);
    }
}
