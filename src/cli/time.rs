//! Points in time and durations as people read them.

use std::fmt::Write as _;

const NS_PER_SECOND: i64 = 1_000_000_000;
const SECONDS_PER_DAY: i64 = 86_400;

/// A time in Unix nanoseconds as RFC 3339 in UTC with all nine digits: `2026-11-20T10:11:12.123456700Z`.
pub(super) fn rfc3339(unix_ns: i64) -> String {
    let (seconds, ns) = (unix_ns.div_euclid(NS_PER_SECOND), unix_ns.rem_euclid(NS_PER_SECOND));
    let (year, month, day) = civil_from_days(seconds.div_euclid(SECONDS_PER_DAY));
    let second = seconds.rem_euclid(SECONDS_PER_DAY);
    let (hour, minute, second) = (second / 3600, second / 60 % 60, second % 60);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{ns:09}Z")
}

/// Year, month and day, given days since 1970-01-01.
///
/// Counted in years that begin in March, so that the leap day is the last of its year: from there the lengths of the
/// months repeat every five (153 days), and the leap years every 400 years (146097 days).
fn civil_from_days(days: i64) -> (i64, i64, i64) {
    // 0000-03-01 lies 719468 days before 1970-01-01.
    let days = days + 719_468;
    let (era, day) = (days.div_euclid(146_097), days.rem_euclid(146_097));
    let year = (day - day / 1460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day + 2) / 153;
    let day = day - (153 * month + 2) / 5 + 1;
    let (month, carry) = if month < 10 { (month + 3, 0) } else { (month - 9, 1) };
    (era * 400 + year + carry, month, day)
}

/// A duration in nanoseconds, in the units that fit its size: `1 d 02 h 03 min`, `4 min 05.6 s`, `1.234 ms`, `100 ns`.
pub(super) fn duration(ns: u64) -> String {
    let seconds = ns / 1_000_000_000;
    let (days, hours, minutes) = (seconds / 86_400, seconds / 3600 % 24, seconds / 60 % 60);
    let tenths = ns / 100_000_000 % 600;
    match ns {
        _ if days > 0 => format!("{days} d {hours:02} h {minutes:02} min"),
        _ if hours > 0 => format!("{hours} h {minutes:02} min {:02} s", seconds % 60),
        _ if minutes > 0 => format!("{minutes} min {:02}.{} s", tenths / 10, tenths % 10),
        1_000_000_000.. => decimal(ns / 1_000_000, "s"),
        1_000_000.. => decimal(ns / 1_000, "ms"),
        1_000.. => decimal(ns, "µs"),
        _ => format!("{ns} ns"),
    }
}

/// A signed distance between two times: `+1.234 ms`.
pub(super) fn difference(ns: i64) -> String {
    let sign = if ns < 0 { '-' } else { '+' };
    format!("{sign}{}", duration(ns.unsigned_abs()))
}

/// Thousandths with up to three decimals.
fn decimal(thousandths: u64, unit: &str) -> String {
    let mut text = format!("{}", thousandths / 1000);
    if thousandths % 1000 != 0 {
        // Writing to a string cannot fail.
        let _ = write!(text, ".{:03}", thousandths % 1000);
        text.truncate(text.trim_end_matches('0').len());
    }
    format!("{text} {unit}")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn times_are_rfc_3339_with_nanoseconds() {
        let t = |ns: i64, text: &str| assert_eq!(rfc3339(ns), text);
        t(0, "1970-01-01T00:00:00.000000000Z");
        t(-1, "1969-12-31T23:59:59.999999999Z");
        t(1_464_293_842_478_931_300, "2016-05-26T20:17:22.478931300Z");
        t(951_782_400_000_000_000, "2000-02-29T00:00:00.000000000Z");
        t(4_107_542_400_000_000_000, "2100-03-01T00:00:00.000000000Z");
        t(1_735_689_599_999_999_999, "2024-12-31T23:59:59.999999999Z");
        t(i64::MAX, "2262-04-11T23:47:16.854775807Z");
        t(i64::MIN, "1677-09-21T00:12:43.145224192Z");
    }

    /// The calendar, one day after the other.
    fn next_day((year, month, day): (i64, i64, i64)) -> (i64, i64, i64) {
        let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
        let length = match month {
            2 => 28 + i64::from(leap),
            4 | 6 | 9 | 11 => 30,
            _ => 31,
        };
        match (month, day) {
            (12, 31) => (year + 1, 1, 1),
            (_, day) if day == length => (year, month + 1, 1),
            _ => (year, month, day + 1),
        }
    }

    proptest! {
        #[test]
        fn each_day_follows_the_one_before(days in -200_000_i64..200_000) {
            prop_assert_eq!(civil_from_days(days + 1), next_day(civil_from_days(days)));
        }
    }

    #[test]
    fn durations_have_units_that_fit() {
        let t = |ns: u64, text: &str| assert_eq!(duration(ns), text);
        t(0, "0 ns");
        t(999, "999 ns");
        t(1_500, "1.5 µs");
        t(1_234_567, "1.234 ms");
        t(2_000_000_000, "2 s");
        t(59_999_999_999, "59.999 s");
        t(245_600_000_000, "4 min 05.6 s");
        t(3_723_000_000_000, "1 h 02 min 03 s");
        t(93_780_000_000_000, "1 d 02 h 03 min");
        assert_eq!(difference(-1_500_000), "-1.5 ms");
        assert_eq!(difference(0), "+0 ns");
        assert_eq!(difference(i64::MIN), "-106751 d 23 h 47 min");
    }
}
