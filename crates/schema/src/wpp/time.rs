//! Calendar time and spans of time in messages.

use std::fmt::Write;

use base::calendar;
use base::clock::UNIX_EPOCH;

const TICKS_PER_SECOND: i128 = 10_000_000;

/// Appends a time given in nanoseconds since 1970-01-01 UTC, in RFC 3339 form with seven decimals.
pub(super) fn push_unix_ns(ns: i64, out: &mut String) {
    push_ticks(i128::from(ns).div_euclid(100), out);
}

/// Appends a time given in 100 ns intervals since 1601-01-01 UTC, in RFC 3339 form with seven decimals.
pub(super) fn push_filetime(filetime: u64, out: &mut String) {
    push_ticks(i128::from(filetime) - i128::from(UNIX_EPOCH.0), out);
}

/// Appends a span of time given in 100 ns intervals: `250ms`, from one second on `5.000s`, with minutes `1:5.250s`, hours
/// `1:1:5.250s` and days `1~1:1:5.250s`. Less than a millisecond shows in further decimals if `whole`.
pub(super) fn push_span(ticks: i64, whole: bool, out: &mut String) {
    const TICKS_PER_MS: u64 = 10_000;
    let (ms, rest) = (ticks.unsigned_abs() / TICKS_PER_MS, ticks.unsigned_abs() % TICKS_PER_MS);
    let (seconds, fraction) = (ms / 1000, ms % 1000);
    let (minutes, hours, days) = (seconds / 60 % 60, seconds / 3600 % 24, seconds / 86_400);
    if ticks < 0 {
        out.push('-');
    }
    // Writing to a string cannot fail.
    let _ = match (days, hours, minutes, seconds) {
        (0, 0, 0, 0) => write!(out, "{ms}"),
        (0, 0, 0, seconds) => write!(out, "{seconds}.{fraction:03}"),
        (0, 0, minutes, _) => write!(out, "{minutes}:{}.{fraction:03}", seconds % 60),
        (0, hours, minutes, _) => write!(out, "{hours}:{minutes}:{}.{fraction:03}", seconds % 60),
        (days, hours, minutes, _) => write!(out, "{days}~{hours}:{minutes}:{}.{fraction:03}", seconds % 60),
    };
    if whole && rest > 0 {
        let _ = write!(out, "{}{rest:04}", if seconds == 0 { "." } else { "" });
    }
    out.push_str(if seconds == 0 { "ms" } else { "s" });
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
    fn spans_show_the_units_they_need() {
        for (ticks, shown, whole) in [
            (0, "0ms", "0ms"),
            (9_999, "0ms", "0.9999ms"),
            (5_000_000, "500ms", "500ms"),
            (9_999_999, "999ms", "999.9999ms"),
            (10_000_000, "1.000s", "1.000s"),
            (599_990_000, "59.999s", "59.999s"),
            (652_500_001, "1:5.250s", "1:5.2500001s"),
            (36_652_500_000, "1:1:5.250s", "1:1:5.250s"),
            (900_652_500_000, "1~1:1:5.250s", "1~1:1:5.250s"),
            (864_000_000_000, "1~0:0:0.000s", "1~0:0:0.000s"),
            (-50_000_000, "-5.000s", "-5.000s"),
            (i64::MIN, "-10675199~2:48:5.477s", "-10675199~2:48:5.4775808s"),
        ] {
            let span = |whole| {
                let mut text = String::new();
                push_span(ticks, whole, &mut text);
                text
            };
            assert_eq!((span(false).as_str(), span(true).as_str()), (shown, whole), "{ticks}");
        }
    }

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
