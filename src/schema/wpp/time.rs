//! Calendar time of messages.

use std::fmt::Write;

use crate::calendar;
use crate::clock::UNIX_EPOCH;

const TICKS_PER_SECOND: i128 = 10_000_000;

/// Appends a time given in nanoseconds since 1970-01-01 UTC, in RFC 3339 form with seven decimals.
pub(super) fn push_unix_ns(ns: i64, out: &mut String) {
    push_ticks(i128::from(ns).div_euclid(100), out);
}

/// Appends a time given in 100 ns intervals since 1601-01-01 UTC, in RFC 3339 form with seven decimals.
pub(super) fn push_filetime(filetime: u64, out: &mut String) {
    push_ticks(i128::from(filetime) - i128::from(UNIX_EPOCH.0), out);
}

fn push_ticks(ticks: i128, out: &mut String) {
    let (seconds, fraction) = (ticks.div_euclid(TICKS_PER_SECOND), ticks.rem_euclid(TICKS_PER_SECOND));
    // Writing to a string cannot fail.
    let _ = write!(out, "{}.{fraction:07}Z", calendar::rfc3339_seconds(seconds));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_read_as_on_a_calendar() {
        for (ns, expected) in [
            (0, "1970-01-01T00:00:00.0000000Z"),
            (-1, "1969-12-31T23:59:59.9999999Z"),
            (951_827_696_789_012_300, "2000-02-29T12:34:56.7890123Z"),
            (i64::MAX, "2262-04-11T23:47:16.8547758Z"),
        ] {
            let mut text = String::new();
            push_unix_ns(ns, &mut text);
            assert_eq!(text, expected);
        }
        for (filetime, expected) in [(0, "1601-01-01T00:00:00.0000000Z"), (u64::MAX, "60056-05-28T05:36:10.9551615Z")] {
            let mut text = String::new();
            push_filetime(filetime, &mut text);
            assert_eq!(text, expected);
        }
    }
}
