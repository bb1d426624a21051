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

/// The day counted from 1970-01-01; the reverse of [`civil`].
fn days(year: i128, month: i128, day: i128) -> i128 {
    let year = year - i128::from(month <= 2);
    let (era, year_of_era) = (year.div_euclid(400), year.rem_euclid(400));
    let day_of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    let day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
    era * DAYS_PER_ERA + day_of_era - DAYS_FROM_YEAR_0
}

/// Nanoseconds since 1970-01-01 UTC of a time in RFC 3339 form with a zone and at most nine decimals; `None` for any
/// other text and for times that 64 bits do not hold.
pub fn parse_rfc3339(text: &str) -> Option<i64> {
    let (date, rest) = text.split_at_checked(10)?;
    let (time, rest) = rest.strip_prefix(['T', 't', ' '])?.split_at_checked(8)?;
    let [year, month, day] = numbers(date, '-', [4, 2, 2])?;
    let [hour, minute, second] = numbers(time, ':', [2, 2, 2])?;
    let (ns, zone) = match rest.strip_prefix('.') {
        Some(rest) => {
            let (decimals, zone) = rest.split_at(rest.find(|c: char| !c.is_ascii_digit())?);
            (fraction(decimals)?, zone)
        }
        None => (0, rest),
    };
    let is_real = civil(days(year, month, day)) == (year, month, day);
    // The second 60 of a leap second is the first of the next minute, like on every clock that does not know it.
    if !is_real || hour > 23 || minute > 59 || second > 60 {
        return None;
    }
    let seconds = days(year, month, day) * 86_400 + hour * 3600 + minute * 60 + second - zone_seconds(zone)?;
    i64::try_from(seconds * 1_000_000_000 + ns).ok()
}

/// Three numbers of so many digits each.
fn numbers(text: &str, separator: char, digits: [usize; 3]) -> Option<[i128; 3]> {
    let mut parts = text.split(separator);
    let mut numbers = [0; 3];
    for (number, digits) in numbers.iter_mut().zip(digits) {
        let part = parts.next().filter(|part| part.len() == digits && part.bytes().all(|b| b.is_ascii_digit()))?;
        *number = part.parse().ok()?;
    }
    parts.next().is_none().then_some(numbers)
}

/// The nanoseconds that decimals of a second stand for.
fn fraction(decimals: &str) -> Option<i128> {
    let missing = 9_usize.checked_sub(decimals.len()).filter(|_| !decimals.is_empty())?;
    let number: i128 = decimals.parse().ok()?;
    Some(number * 10_i128.pow(u32::try_from(missing).ok()?))
}

/// Seconds that the local time of a zone (`Z`, `+02:00`) is ahead of UTC.
fn zone_seconds(zone: &str) -> Option<i128> {
    let sign = match zone.chars().next()? {
        'Z' | 'z' if zone.len() == 1 => return Some(0),
        '+' => 1,
        '-' => -1,
        _ => return None,
    };
    let [hours, minutes, _] = numbers(&format!("{}:00", zone.get(1..)?), ':', [2, 2, 2])?;
    (hours <= 23 && minutes <= 59).then_some(sign * (hours * 3600 + minutes * 60))
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

    #[test]
    fn rfc_3339_is_read() {
        let t = |text: &str, ns: Option<i64>| assert_eq!(parse_rfc3339(text), ns, "{text}");
        t("1970-01-01T00:00:00Z", Some(0));
        t("2025-01-01T00:00:00Z", Some(1_735_689_600_000_000_000));
        t("2025-01-01t02:30:00.25+02:30", Some(1_735_689_600_250_000_000));
        t("2024-12-31 19:00:00-05:00", Some(1_735_689_600_000_000_000));
        t("2000-02-29T12:34:56.000000001z", Some(951_827_696_000_000_001));
        t("2016-12-31T23:59:60Z", Some(1_483_228_800_000_000_000));
        for wrong in [
            "",
            "2025-01-01",
            "2025-01-01T00:00:00",
            "2025-01-01T00:00Z",
            "2025-02-29T00:00:00Z",
            "2025-13-01T00:00:00Z",
            "2025-00-01T00:00:00Z",
            "2025-01-01T24:00:00Z",
            "2025-01-01T00:00:00.Z",
            "2025-01-01T00:00:00.1234567890Z",
            "2025-01-01T00:00:00.5",
            "2025-01-01T00:00:00+2:00",
            "2025-01-01T00:00:00+0200",
            "+025-01-01T00:00:00Z",
            "2025-01-01T00:00:00ZZ",
            "2300-01-01T00:00:00Z",
            "2025-01-0\u{e9}T00:00:00Z",
        ] {
            t(wrong, None);
        }
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

        #[test]
        fn what_is_written_can_be_read(ns: i64) {
            prop_assert_eq!(parse_rfc3339(&rfc3339(ns)), Some(ns));
        }
    }
}
