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

    #[test]
    fn times_read_as_on_a_calendar() {
        for (ns, expected) in [
            (0, "1970-01-01T00:00:00.000000000Z"),
            (-1, "1969-12-31T23:59:59.999999999Z"),
            (951_827_696_789_012_345, "2000-02-29T12:34:56.789012345Z"),
            (i64::MAX, "2262-04-11T23:47:16.854775807Z"),
            (i64::MIN, "1677-09-21T00:12:43.145224192Z"),
        ] {
            assert_eq!(rfc3339(ns), expected);
        }
    }
}
