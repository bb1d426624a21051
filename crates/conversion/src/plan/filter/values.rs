//! Values of filters that may be one of two kinds, as people type them.

use super::numbers::NumberSet;
use super::pattern::NamePattern;

/// Levels by their names.
const LEVELS: [(&str, u8); 8] = [
    ("critical", 1),
    ("fatal", 1),
    ("error", 2),
    ("warning", 3),
    ("information", 4),
    ("informational", 4),
    ("info", 4),
    ("verbose", 5),
];

/// Keywords as they are typed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Keywords {
    /// Any of these bits.
    Mask(u64),
    /// Those of a name.
    Name(NamePattern),
}

/// Processes as they are typed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Processes {
    /// By their ids.
    Ids(NumberSet),
    /// By the names of their image files.
    Name(NamePattern),
}

/// A level by its name or number.
///
/// # Errors
/// A sentence that says what is expected.
pub fn parse_level(text: &str) -> Result<u8, String> {
    let text = text.trim().to_ascii_lowercase();
    let named = LEVELS.iter().find(|(name, _)| *name == text).map(|(_, level)| *level);
    let level = named.or_else(|| text.parse().ok().filter(|&level| level > 0));
    level.ok_or_else(|| "expected critical, error, warning, information, verbose or a number from 1 to 255".to_owned())
}

/// Processes by their ids, or by a name.
///
/// # Errors
/// A sentence that says what is expected.
pub fn parse_processes(text: &str) -> Result<Processes, String> {
    let is_name =
        |text: &str| text.contains('.') || !text.starts_with(|c: char| c.is_ascii_digit() || "+-".contains(c));
    match text.parse() {
        Ok(ids) => Ok(Processes::Ids(ids)),
        Err(_) if !text.trim().is_empty() && is_name(text.trim()) => text.parse().map(Processes::Name),
        Err(wrong) => Err(format!("{wrong}, or the name of an image file, such as chrome.exe")),
    }
}

/// Keywords by a mask, or by a name.
///
/// # Errors
/// A sentence that says what is expected.
pub fn parse_keywords(text: &str) -> Result<Keywords, String> {
    let text = text.trim().to_ascii_lowercase();
    // No name begins so, and no mask otherwise.
    if !text.starts_with(|c: char| c.is_ascii_digit() || "+-".contains(c)) {
        return text.parse().map(Keywords::Name);
    }
    let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_alphanumeric());
    let mask = match text.strip_prefix("0x") {
        Some(hex) => u64::from_str_radix(hex, 16).ok().filter(|_| digits(hex)),
        None => text.parse().ok().filter(|_| digits(&text)),
    };
    let mask = mask.filter(|&mask| mask != 0).map(Keywords::Mask);
    mask.ok_or_else(|| "expected a mask above 0 of at most 64 bits, such as 0x30 or 48, or a name".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_are_names_or_numbers() {
        let t = |text: &str, level: Option<u8>| assert_eq!(parse_level(text).ok(), level, "{text}");
        t("critical", Some(1));
        t("Fatal", Some(1));
        t("error", Some(2));
        t("WARNING", Some(3));
        t("info", Some(4));
        t("information", Some(4));
        t("verbose", Some(5));
        t("1", Some(1));
        t("255", Some(255));
        for wrong in ["", "0", "256", "-1", "warn ing", "loud"] {
            t(wrong, None);
        }
    }

    #[test]
    fn processes_are_ids_or_names() {
        let shown = |text: &str| match parse_processes(text) {
            Ok(Processes::Ids(ids)) => format!("ids {ids}"),
            Ok(Processes::Name(name)) => format!("name {name}"),
            Err(_) => "neither".to_owned(),
        };
        assert_eq!(["4", " 0x10-20", "4-"].map(shown), ["ids 4", "ids 16-20", "neither"]);
        assert_eq!(["Chrome.exe", "7z.exe", "svc*"].map(shown), ["name chrome.exe", "name 7z.exe", "name svc*"]);
        for wrong in ["", " ", "4-", "12x", "-1", "7-4", "4294967296"] {
            assert_eq!(shown(wrong), "neither", "{wrong:?}");
        }
    }

    #[test]
    fn keywords_are_a_mask_or_names() {
        let t =
            |text: &str, mask: Option<u64>| assert_eq!(parse_keywords(text).ok(), mask.map(Keywords::Mask), "{text}");
        t("0x30", Some(48));
        t("0X8000000000000000", Some(1 << 63));
        t("48", Some(48));
        for wrong in ["", "0", "0x0", "0x", "-1", "+1", "0x+1", "30h", "0x10000000000000000"] {
            t(wrong, None);
        }
        assert_eq!(parse_keywords("GC*"), Ok(Keywords::Name("gc*".parse().unwrap())));
    }
}
