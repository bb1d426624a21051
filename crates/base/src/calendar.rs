//! Points in time as text.

use std::time::{SystemTime, UNIX_EPOCH};

use chrono::{DateTime, Datelike, Utc};

/// Nanoseconds since 1970-01-01 UTC of a time in RFC 3339 form with a zone and at most nine decimals; `None` for any
/// other text and for times that 64 bits do not hold. The second 60 of a leap second is the first of the next minute, like
/// on every clock that does not know it.
pub fn parse_rfc3339(text: &str) -> Option<i64> {
    let decimals = text.split_once('.').map(|(_, rest)| rest.bytes().take_while(u8::is_ascii_digit).count());
    if decimals.is_some_and(|decimals| decimals > 9) {
        return None;
    }
    DateTime::parse_from_rfc3339(text).ok()?.timestamp_nanos_opt()
}

/// A time in nanoseconds since 1970-01-01 UTC in RFC 3339 form with nine decimals.
pub fn rfc3339(ns: i64) -> String {
    DateTime::from_timestamp_nanos(ns).format("%Y-%m-%dT%H:%M:%S%.9fZ").to_string()
}

/// A time of the system in the form of [`rfc3339`].
pub fn rfc3339_of(time: SystemTime) -> String {
    let since = time.duration_since(UNIX_EPOCH).unwrap_or_default();
    rfc3339(i64::try_from(since.as_nanos()).unwrap_or(i64::MAX))
}

/// A time in seconds since 1970-01-01 UTC in RFC 3339 form, without fraction and zone. Years beyond the 262,000 that the
/// calendar knows are its last.
pub fn rfc3339_seconds(seconds: i128) -> String {
    let limit = if seconds < 0 { DateTime::<Utc>::MIN_UTC } else { DateTime::<Utc>::MAX_UTC };
    let time = i64::try_from(seconds).ok().and_then(|seconds| DateTime::from_timestamp(seconds, 0)).unwrap_or(limit);
    format!("{:04}-{}", time.year(), time.format("%m-%dT%H:%M:%S"))
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
    fn times_of_the_system_are_those_of_the_calendar() {
        let time = UNIX_EPOCH + std::time::Duration::from_nanos(1_464_293_842_478_931_300);
        assert_eq!(rfc3339_of(time), "2016-05-26T20:17:22.478931300Z");
    }

    #[test]
    fn years_of_five_digits_have_no_sign() {
        assert_eq!(rfc3339_seconds(253_402_300_800), "10000-01-01T00:00:00");
        assert_eq!(rfc3339_seconds(-11_644_473_600), "1601-01-01T00:00:00");
        assert_eq!(rfc3339_seconds(i128::MAX), rfc3339_seconds(i128::from(i64::MAX)));
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

    proptest! {
        #[test]
        fn what_is_written_can_be_read(ns: i64) {
            prop_assert_eq!(parse_rfc3339(&rfc3339(ns)), Some(ns));
        }
    }
}
