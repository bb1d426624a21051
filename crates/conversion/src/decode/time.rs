//! Windows calendar and clock values as Unix time.

use arrow_schema::TimeUnit;
use base::clock::UNIX_EPOCH;

/// A `FILETIME` in the given unit since 1970, rounded toward the past. `None` for the values that stand for no time (0
/// and the largest), and for what does not fit.
pub(super) fn from_filetime(ticks: u64, unit: TimeUnit) -> Option<i64> {
    let ticks = i64::try_from(ticks).ok().filter(|ticks| !matches!(ticks, 0 | &i64::MAX))?;
    let since_1970 = ticks - UNIX_EPOCH.0;
    match unit {
        TimeUnit::Nanosecond => since_1970.checked_mul(100),
        _ => Some(since_1970.div_euclid(10)),
    }
}

/// A `SYSTEMTIME` in the given unit since 1970, and whether its day of the week is the right one. `None` when it is no
/// calendar time, or does not fit.
pub(super) fn from_systemtime(parts: [u16; 8], unit: TimeUnit) -> Option<(i64, bool)> {
    let [year, month, weekday, day, hour, minute, second, millisecond] = parts.map(i64::from);
    let valid = (1601..=30827).contains(&year)
        && (1..=12).contains(&month)
        && (1..=days_in_month(year, month)).contains(&day)
        && hour < 24
        && minute < 60
        && second < 60
        && millisecond < 1000;
    if !valid {
        return None;
    }
    let days = days_since_1970(year, month, day);
    let milliseconds = ((days * 24 + hour) * 60 + minute) * 60_000 + second * 1000 + millisecond;
    let time = match unit {
        TimeUnit::Nanosecond => milliseconds.checked_mul(1_000_000)?,
        _ => milliseconds * 1000,
    };
    // 1970-01-01 was a Thursday, day 4 of a week that begins with Sunday.
    Some((time, (days + 4).rem_euclid(7) == weekday))
}

fn is_leap(year: i64) -> bool {
    year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
}

fn days_in_month(year: i64, month: i64) -> i64 {
    match month {
        2 if is_leap(year) => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

/// Days before a date of the Gregorian calendar, counted from 1970-01-01.
fn days_since_1970(year: i64, month: i64, day: i64) -> i64 {
    const BEFORE_MONTH: [i64; 12] = [0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334];
    const BEFORE_1970: i64 = 719_162;
    let years = year - 1;
    let before_year = years * 365 + years / 4 - years / 100 + years / 400;
    let month_index = usize::try_from(month - 1).unwrap_or(0).min(11);
    let leap_day = i64::from(month > 2 && is_leap(year));
    before_year + BEFORE_MONTH[month_index] + leap_day + day - 1 - BEFORE_1970
}

#[cfg(test)]
mod tests {
    use super::*;
    use TimeUnit::{Microsecond, Nanosecond};

    #[test]
    fn file_times() {
        let table = [
            (0, None, None),
            (i64::MAX as u64, None, None),
            (u64::MAX, None, None),
            (116_444_736_000_000_000, Some(0), Some(0)),
            (116_444_736_000_000_001, Some(0), Some(100)),
            (116_444_735_999_999_999, Some(-1), Some(-100)),
            // 2024-02-29T16:34:56.1234567Z
            (133_536_980_961_234_567, Some(1_709_224_496_123_456), Some(1_709_224_496_123_456_700)),
            // One tick after 1601-01-01: too early for nanoseconds.
            (1, Some(-11_644_473_600_000_000), None),
        ];
        for (ticks, micros, nanos) in table {
            assert_eq!(from_filetime(ticks, Microsecond), micros, "{ticks}");
            assert_eq!(from_filetime(ticks, Nanosecond), nanos, "{ticks}");
        }
    }

    #[test]
    fn system_times() {
        let table = [
            ([1970, 1, 4, 1, 0, 0, 0, 0], Some((0, true))),
            ([1970, 1, 3, 1, 0, 0, 0, 1], Some((1000, false))),
            ([2024, 2, 4, 29, 16, 34, 56, 123], Some((1_709_224_496_123_000, true))),
            ([1969, 12, 3, 31, 23, 59, 59, 999], Some((-1000, true))),
            ([1601, 1, 1, 1, 0, 0, 0, 0], Some((-11_644_473_600_000_000, true))),
            ([2000, 2, 2, 29, 0, 0, 0, 0], Some((951_782_400_000_000, true))),
            ([1900, 2, 0, 29, 0, 0, 0, 0], None),
            ([2023, 13, 0, 1, 0, 0, 0, 0], None),
            ([2023, 1, 0, 0, 0, 0, 0, 0], None),
            ([2023, 1, 0, 1, 24, 0, 0, 0], None),
            ([0; 8], None),
        ];
        for (parts, time) in table {
            assert_eq!(from_systemtime(parts, Microsecond), time, "{parts:?}");
        }
        assert_eq!(from_systemtime([30827, 12, 5, 31, 0, 0, 0, 0], Nanosecond), None);
        assert_eq!(from_systemtime([1970, 1, 4, 1, 0, 0, 1, 2], Nanosecond), Some((1_002_000_000, true)));
    }
}
