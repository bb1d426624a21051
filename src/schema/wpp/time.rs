//! Calendar time of messages.

use std::fmt::Write;

const TICKS_PER_SECOND: i128 = 10_000_000;
/// 1970-01-01 in 100 ns intervals since 1601-01-01.
const UNIX_EPOCH_FILETIME: i128 = 116_444_736_000_000_000;

/// Appends a time given in nanoseconds since 1970-01-01 UTC, in RFC 3339 form with seven decimals.
pub(super) fn push_unix_ns(ns: i64, out: &mut String) {
    push_ticks(i128::from(ns).div_euclid(100), out);
}

/// Appends a time given in 100 ns intervals since 1601-01-01 UTC, in RFC 3339 form with seven decimals.
pub(super) fn push_filetime(filetime: u64, out: &mut String) {
    push_ticks(i128::from(filetime) - UNIX_EPOCH_FILETIME, out);
}

fn push_ticks(ticks: i128, out: &mut String) {
    let (seconds, fraction) = (ticks.div_euclid(TICKS_PER_SECOND), ticks.rem_euclid(TICKS_PER_SECOND));
    let (days, second) = (seconds.div_euclid(86_400), seconds.rem_euclid(86_400));
    let (year, month, day) = civil(days);
    let (hour, minute, second) = (second / 3600, second / 60 % 60, second % 60);
    // Writing to a string cannot fail.
    let _ = write!(out, "{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{fraction:07}Z");
}

/// Year, month and day of a day counted from 1970-01-01, in the Gregorian calendar.
fn civil(days: i128) -> (i128, i128, i128) {
    // Years are counted from March, so that the leap day is the last of its year; eras have 400 years.
    const DAYS_PER_ERA: i128 = 146_097;
    const DAYS_FROM_YEAR_0: i128 = 719_468;
    let shifted = days + DAYS_FROM_YEAR_0;
    let (era, day_of_era) = (shifted.div_euclid(DAYS_PER_ERA), shifted.rem_euclid(DAYS_PER_ERA));
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * from_march + 2) / 5 + 1;
    let month = if from_march < 10 { from_march + 3 } else { from_march - 9 };
    (era * 400 + year_of_era + i128::from(month <= 2), month, day)
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
