//! Days and times of the Gregorian calendar.

/// Days from 0000-03-01 to 1970-01-01.
const DAYS_FROM_YEAR_0: i128 = 719_468;
/// The calendar repeats after 400 years.
const DAYS_PER_ERA: i128 = 146_097;

/// Year, month (1 to 12) and day (1 to 31) of a day counted from 1970-01-01.
pub fn civil(days: i128) -> (i128, i128, i128) {
    // Years are counted from March, so that the leap day is the last of its year.
    let shifted = days + DAYS_FROM_YEAR_0;
    let (era, day_of_era) = (shifted.div_euclid(DAYS_PER_ERA), shifted.rem_euclid(DAYS_PER_ERA));
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * from_march + 2) / 5 + 1;
    let month = if from_march < 10 { from_march + 3 } else { from_march - 9 };
    (era * 400 + year_of_era + i128::from(month <= 2), month, day)
}

/// A time in nanoseconds since 1970-01-01 UTC in RFC 3339 form with nine decimals.
pub fn rfc3339(ns: i64) -> String {
    const NS_PER_SECOND: i128 = 1_000_000_000;
    let ns = i128::from(ns);
    format!("{}.{:09}Z", rfc3339_seconds(ns.div_euclid(NS_PER_SECOND)), ns.rem_euclid(NS_PER_SECOND))
}

/// A time in seconds since 1970-01-01 UTC in RFC 3339 form, without fraction and zone.
pub fn rfc3339_seconds(seconds: i128) -> String {
    let (days, second) = (seconds.div_euclid(86_400), seconds.rem_euclid(86_400));
    let (year, month, day) = civil(days);
    let (hour, minute, second) = (second / 3600, second / 60 % 60, second % 60);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

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
    fn next_day((year, month, day): (i128, i128, i128)) -> (i128, i128, i128) {
        let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
        let length = match month {
            2 => 28 + i128::from(leap),
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
        fn each_day_follows_the_one_before(days in -200_000_i128..200_000) {
            prop_assert_eq!(civil(days + 1), next_day(civil(days)));
        }
    }
}
