//! Which providers and events an argument means.

use base::error::{Error, ErrorKind, Result};
use base::guid::Guid;
use glob::{MatchOptions, Pattern};
use schema::catalog::{Provider, SchemaCatalog};
use schema::describe::{EventDescription, MessageDescription};

/// A provider by name (in any case), GUID or pattern.
#[derive(Debug)]
pub(crate) enum Wanted {
    Guid(Guid),
    Pattern(Pattern),
}

impl Wanted {
    /// # Errors
    /// [`ErrorKind::Usage`] when this is no pattern.
    pub(crate) fn parse(text: &str) -> Result<Wanted> {
        if let Ok(guid) = text.parse() {
            return Ok(Wanted::Guid(guid));
        }
        let refused = |cause| Error::new(ErrorKind::Usage, format!("{text} is no valid pattern")).caused_by(cause);
        Pattern::new(text).map(Wanted::Pattern).map_err(refused)
    }

    /// Whether a provider is meant.
    pub(crate) fn matches(&self, name: &str, guid: Guid) -> bool {
        let options = MatchOptions { case_sensitive: false, ..MatchOptions::default() };
        match self {
            Wanted::Guid(wanted) => *wanted == guid,
            Wanted::Pattern(pattern) => pattern.matches_with(name, options) || pattern.as_str() == name,
        }
    }
}

/// The providers that any of the arguments means, mere names among them; without one all that have events.
///
/// # Errors
/// [`ErrorKind::Usage`] when an argument is no pattern, or nothing is known of what it means.
pub(crate) fn providers(catalog: &SchemaCatalog, arguments: &[String]) -> Result<Vec<Provider>> {
    let wanted = arguments.iter().map(|text| Wanted::parse(text)).collect::<Result<Vec<_>>>()?;
    let is_wanted = |name: &str, guid| wanted.is_empty() || wanted.iter().any(|wanted| wanted.matches(name, guid));
    let mut found = catalog.providers(is_wanted);
    if !wanted.is_empty() {
        found.extend(catalog.names(is_wanted));
    }
    let misses =
        |wanted: &&(&Wanted, &String)| !found.iter().any(|provider| wanted.0.matches(&provider.name, provider.guid));
    match wanted.iter().zip(arguments).find(|pair| misses(&pair)) {
        Some((_, text)) => {
            let hint = "see schema list, and give its manifest or TMF files with --schemas or schema import";
            Err(Error::new(ErrorKind::Usage, format!("nothing is known of a provider {text}")).with_hint(hint))
        }
        None => Ok(found),
    }
}

/// Whether an argument means an event: its id (of classic events the opcode), or one of its names.
pub(crate) fn is_event(argument: &str, event: &EventDescription) -> bool {
    let names = [&event.names.name, &event.names.opcode, &event.names.symbol];
    is_number(argument, event.id)
        || names.into_iter().flatten().any(|name| name.to_lowercase() == argument.to_lowercase())
}

/// Whether an argument means a message: its number or function.
pub(crate) fn is_message(argument: &str, message: &MessageDescription) -> bool {
    is_number(argument, message.number) || message.function.as_deref() == Some(argument)
}

fn is_number(argument: &str, id: u16) -> bool {
    let hex = argument.strip_prefix("0x").or_else(|| argument.strip_prefix("0X"));
    let number = hex.map_or_else(|| argument.parse().ok(), |digits| u16::from_str_radix(digits, 16).ok());
    number == Some(id)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_guids_and_patterns() {
        let guid = Guid::from_parts(1, 2, 3, 4);
        for (text, expected) in [
            ("kernel-process", true),
            ("Kernel-*", true),
            ("*PROC*", true),
            ("Kernel", false),
            ("{00000001-0002-0003-0000-000000000004}", true),
            ("00000001-0002-0003-0000-000000000005", false),
        ] {
            assert_eq!(Wanted::parse(text).unwrap().matches("Kernel-Process", guid), expected, "{text}");
        }
        assert_eq!(Wanted::parse("a[").unwrap_err().kind(), ErrorKind::Usage);
    }

    #[test]
    fn numbers_are_decimal_or_hexadecimal() {
        for (text, expected) in
            [("10", true), ("0xa", true), ("0XA", true), ("a", false), ("010", true), ("-10", false)]
        {
            assert_eq!(is_number(text, 10), expected, "{text}");
        }
    }
}
