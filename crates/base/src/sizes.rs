//! Sizes in bytes as people type them.

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
///
/// # Errors
/// A sentence that says what is expected.
pub fn parse_size(text: &str) -> Result<u64, String> {
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

/// A size as it can be typed, in the largest binary unit that divides it.
///
/// ```
/// use etl2parquet_base::sizes::{parse_size, size_text};
/// assert_eq!((size_text(512 << 20), size_text(1_000)), ("512MiB".to_owned(), "1000".to_owned()));
/// assert_eq!(parse_size(&size_text(3 << 30)), Ok(3 << 30));
/// ```
pub fn size_text(bytes: u64) -> String {
    let units = [(1 << 40, "TiB"), (1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")];
    let unit = units.into_iter().find(|(unit, _)| bytes > 0 && bytes.is_multiple_of(*unit));
    unit.map_or_else(|| bytes.to_string(), |(unit, name)| format!("{}{name}", bytes / unit))
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
}
