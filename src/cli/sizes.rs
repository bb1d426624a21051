//! Sizes and limits as people type them.

use conversion::convert::job::MaxLoss;

/// Units of sizes in lower case. A bare letter is the binary unit, as in most tools that take sizes.
const UNITS: [(&str, u64); 14] = [
    ("", 1),
    ("b", 1),
    ("k", 1 << 10),
    ("kib", 1 << 10),
    ("kb", 1_000),
    ("m", 1 << 20),
    ("mib", 1 << 20),
    ("mb", 1_000_000),
    ("g", 1 << 30),
    ("gib", 1 << 30),
    ("gb", 1_000_000_000),
    ("t", 1 << 40),
    ("tib", 1 << 40),
    ("tb", 1_000_000_000_000),
];

/// Bytes from `64MiB`, `4 GiB`, `512M` or `1048576`; never 0.
pub(super) fn parse_size(text: &str) -> Result<u64, String> {
    let text = text.trim();
    let digits = text.len() - text.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    let (number, unit) = text.split_at(digits);
    let unit = unit.trim().to_ascii_lowercase();
    let expected = || "expected a size such as 64MiB, 4GiB, 512M or 1048576".to_owned();
    let number: u64 = number.parse().map_err(|_| expected())?;
    let (_, factor) = UNITS.iter().find(|(name, _)| *name == unit).ok_or_else(expected)?;
    match number.checked_mul(*factor) {
        Some(0) => Err("expected a size above 0".to_owned()),
        Some(bytes) => Ok(bytes),
        None => Err("this is more than 64 bits can count".to_owned()),
    }
}

/// The fewest rows at which a row group may be closed.
const LEAST_ROW_GROUP_ROWS: u32 = 1024;

/// Rows of a row group.
pub(super) fn parse_row_group_rows(text: &str) -> Result<u32, String> {
    let rows = text.trim().parse().ok().filter(|&rows| rows >= LEAST_ROW_GROUP_ROWS);
    rows.ok_or_else(|| {
        format!(
            "expected {LEAST_ROW_GROUP_ROWS} to {} rows: smaller groups take more room and time for what describes them \
             than for their values",
            u32::MAX
        )
    })
}

/// A limit from `100` (events) or `0.1%`.
pub(super) fn parse_max_loss(text: &str) -> Result<MaxLoss, String> {
    let text = text.trim();
    let limit = match text.strip_suffix('%') {
        Some(percent) => percent.trim_end().parse().ok().filter(|p| (0.0..=100.0).contains(p)).map(MaxLoss::Percent),
        None => text.parse().ok().map(MaxLoss::Events),
    };
    limit.ok_or_else(|| "expected a number of events, or 0% to 100%".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_have_units() {
        let t = |text: &str, bytes: u64| assert_eq!(parse_size(text), Ok(bytes), "{text:?}");
        t("1", 1);
        t("4096", 4096);
        t("7B", 7);
        t("64MiB", 64 << 20);
        t("64mib", 64 << 20);
        t("4GiB", 4 << 30);
        t(" 4 GiB ", 4 << 30);
        t("512M", 512 << 20);
        t("512MB", 512_000_000);
        t("3k", 3072);
        t("2T", 2 << 40);
    }

    #[test]
    fn what_is_no_size_is_refused() {
        for text in ["", "MiB", "-1", "1.5GiB", "12 parsecs", "0", "0GiB", "99999999999999999999", "99999999T"] {
            assert!(parse_size(text).is_err(), "{text:?}");
        }
    }

    #[test]
    fn a_loss_limit_is_a_number_or_a_percentage() {
        let t = |text: &str, limit: Option<MaxLoss>| assert_eq!(parse_max_loss(text).ok(), limit, "{text:?}");
        t("0", Some(MaxLoss::Events(0)));
        t("100", Some(MaxLoss::Events(100)));
        t("0.1%", Some(MaxLoss::Percent(0.1)));
        t("100 %", Some(MaxLoss::Percent(100.0)));
        for wrong in ["", "%", "-1", "-1%", "101%", "NaN%", "inf%", "1.5"] {
            t(wrong, None);
        }
    }
}
