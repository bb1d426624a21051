//! Qualifiers: what stands in brackets in front of a class or property.

use std::borrow::Cow;

use super::tokens::number;

/// Those that say something of events and their values; the others are passed over. In lower case, sorted.
const USED: [&str; 21] = [
    "bitmap",
    "bitvalues",
    "displayname",
    "eventlevel",
    "eventtype",
    "eventtypename",
    "eventversion",
    "extension",
    "format",
    "guid",
    "max",
    "pointer",
    "pointertype",
    "sizeis",
    "stringtermination",
    "valuemap",
    "values",
    "valuetype",
    "wmidataid",
    "wmisizeis",
    "xmlfragment",
];

/// Whether a qualifier says something of events and their values.
pub(super) fn is_used(name: &str) -> bool {
    USED.binary_search(&name.to_ascii_lowercase().as_str()).is_ok()
}

/// Qualifiers by name; names are in any case.
#[derive(Debug, Default)]
pub(super) struct Qualifiers<'a>(Vec<(&'a str, Vec<Cow<'a, str>>)>);

impl<'a> Qualifiers<'a> {
    pub(super) fn add(&mut self, name: &'a str, values: Vec<Cow<'a, str>>) {
        self.0.push((name, values));
    }

    /// The values of a qualifier, none of one that stands by itself; `None` where it is not there.
    pub(super) fn values(&self, name: &str) -> Option<&[Cow<'a, str>]> {
        let found = self.0.iter().find(|(known, _)| known.eq_ignore_ascii_case(name));
        found.map(|(_, values)| values.as_slice())
    }

    /// Whether a qualifier is there, and is not `false`.
    pub(super) fn has(&self, name: &str) -> bool {
        self.values(name).is_some_and(|values| !values.first().is_some_and(|value| value.eq_ignore_ascii_case("false")))
    }

    /// The first value of a qualifier.
    pub(super) fn text(&self, name: &str) -> Option<&str> {
        self.values(name)?.first().map(|value| value.trim())
    }

    /// The first value of a qualifier as a number.
    pub(super) fn number(&self, name: &str) -> Option<u64> {
        number(self.text(name)?)
    }
}
