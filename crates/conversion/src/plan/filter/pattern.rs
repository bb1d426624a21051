//! Names of providers and events as people type them.

use std::fmt;
use std::str::FromStr;

use base::guid::Guid;
use glob::{MatchOptions, Pattern};
use serde::{Deserialize, Serialize};

/// Case is folded before, and a name is no path.
const HOW: MatchOptions =
    MatchOptions { case_sensitive: true, require_literal_separator: false, require_literal_leading_dot: false };

/// A name, a GUID in any of its text forms, or a pattern with `*`, `?` and `[…]`. Case does not matter.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct NamePattern {
    /// In lower case; a GUID without braces.
    folded: String,
    pattern: Option<Pattern>,
}

impl NamePattern {
    /// Whether a name is meant.
    pub fn matches(&self, name: &str) -> bool {
        self.matches_folded(&name.to_lowercase())
    }

    /// Whether one of some names is meant.
    pub fn matches_any(&self, names: &[String]) -> bool {
        names.iter().any(|name| self.matches(name))
    }

    /// Whether a name is meant that is in lower case: one is held against many patterns.
    pub(super) fn matches_folded(&self, name: &str) -> bool {
        name == self.folded || self.pattern.as_ref().is_some_and(|pattern| pattern.matches_with(name, HOW))
    }
}

impl fmt::Display for NamePattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.folded)
    }
}

impl From<NamePattern> for String {
    fn from(pattern: NamePattern) -> Self {
        pattern.folded
    }
}

impl TryFrom<String> for NamePattern {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        text.parse()
    }
}

impl FromStr for NamePattern {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let mut folded = match text.trim().parse::<Guid>() {
            Ok(id) => id.to_string(),
            Err(_) => text.trim().to_lowercase(),
        };
        if folded.is_empty() {
            return Err("expected a name, a GUID or a pattern".to_owned());
        }
        // Two stars mean more than one only where names have parts.
        while folded.contains("**") {
            folded = folded.replace("**", "*");
        }
        let pattern = folded.contains(['*', '?', '[']).then(|| Pattern::new(&folded)).transpose();
        let pattern = pattern.map_err(|cause| format!("not a valid pattern: {}", cause.msg))?;
        Ok(NamePattern { folded, pattern })
    }
}

/// An event: its id, or its name as a [`NamePattern`].
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct EventPattern {
    id: Option<u16>,
    name: NamePattern,
}

impl EventPattern {
    /// Whether an event is meant, by its id or its name.
    pub fn matches(&self, id: Option<u16>, name: Option<&str>) -> bool {
        (self.id.is_some() && self.id == id) || name.is_some_and(|name| self.name.matches(name))
    }
}

impl fmt::Display for EventPattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.name.fmt(f)
    }
}

impl FromStr for EventPattern {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Ok(EventPattern { id: text.trim().parse().ok(), name: text.parse()? })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_match_whole_and_in_any_case() {
        let t = |pattern: &str, name: &str, expected: bool| {
            assert_eq!(pattern.parse::<NamePattern>().unwrap().matches(name), expected, "{pattern} and {name}");
        };
        t("Microsoft-Windows-DNS-Client", "microsoft-windows-dns-client", true);
        t("DNS", "Microsoft-Windows-DNS-Client", false);
        t("*DNS*", "Microsoft-Windows-DNS-Client", true);
        t("Microsoft-*-DNS-????nt", "Microsoft-Windows-DNS-Client", true);
        t("kernel-[DP]*", "Kernel-DiskIo", true);
        t("kernel-[!DP]*", "Kernel-DiskIo", false);
        t("Process/*", "Process/Start", true);
        t("**/Start", "Process/Start", true);
        t("Shop*", ".Shop", false);
        t("*Shop", ".Shop", true);
        t("ÄTW", "ätw", true);
        t("{E13C0D23-CCBC-4E12-931B-D9CC2EEE27E4}", "e13c0d23-ccbc-4e12-931b-d9cc2eee27e4", true);
        t("e13c0d23-*", "e13c0d23-ccbc-4e12-931b-d9cc2eee27e4", true);
    }

    #[test]
    fn what_is_no_pattern_is_refused() {
        for wrong in ["", "  ", "a[b"] {
            assert!(wrong.parse::<NamePattern>().is_err(), "{wrong:?}");
            assert!(wrong.parse::<EventPattern>().is_err(), "{wrong:?}");
        }
    }

    #[test]
    fn an_event_is_meant_by_id_or_name() {
        let t = |pattern: &str, id: Option<u16>, name: Option<&str>, expected: bool| {
            let found = pattern.parse::<EventPattern>().unwrap().matches(id, name);
            assert_eq!(found, expected, "{pattern}, {id:?}, {name:?}");
        };
        t("42", Some(42), None, true);
        t("42", Some(4), Some("Answer"), false);
        t("42", None, Some("42"), true);
        t("65536", Some(0), None, false);
        t("4*", Some(42), None, false);
        t("query/*", Some(42), Some("Query/Start"), true);
        t("Query", None, Some("Query/Start"), false);
        t("Query", None, None, false);
    }
}
