//! From text to a tree, with the repairs that files in circulation need.

use std::borrow::Cow;

use roxmltree::{Document, Error};

use crate::schema::model::SchemaError;

/// More attributes than any element of a manifest has; the tree builder compares each with all others.
const MAX_ATTRIBUTES: usize = 256;
/// More namespace declarations than any manifest has; the tree builder copies them inwards.
const MAX_NAMESPACES: usize = 2048;
/// How many undeclared prefixes are declared for the file.
const MAX_PREFIXES: usize = 16;

/// Hands the tree of `text` to `read`, after repairs if it has none as it stands; `read` also gets what was repaired.
///
/// Generated files contain bare `<` and `&` in attribute values, and prefixes that nothing declares. Both are
/// mended in place, so that lines keep their numbers.
///
/// # Errors
/// The line at which the text is no XML even so.
pub(super) fn with_tree<T>(
    text: &str,
    read: impl FnOnce(&Document<'_>, Vec<SchemaError>) -> T,
) -> Result<T, SchemaError> {
    refuse_costly(text)?;
    let mut text = Cow::Borrowed(text);
    let mut repairs = Vec::new();
    let mut escaped = false;
    loop {
        let fault = match Document::parse(&text) {
            Ok(tree) => return Ok(read(&tree, repairs)),
            Err(fault) => fault,
        };
        let repaired = match &fault {
            Error::UnknownNamespace(prefix, _) if repairs.len() < MAX_PREFIXES => declare(&text, prefix),
            _ if !std::mem::replace(&mut escaped, true) => Some(escape(&text)),
            _ => None,
        };
        let line = usize::try_from(fault.pos().row).unwrap_or(usize::MAX);
        let Some(repaired) = repaired else { return Err(SchemaError::at_line(line, format!("not XML: {fault}"))) };
        repairs.push(SchemaError::at_line(line, format!("repaired: {fault}")));
        text = Cow::Owned(repaired);
    }
}

/// Refuses what the tree builder would spend hours or gigabytes on.
fn refuse_costly(text: &str) -> Result<(), SchemaError> {
    let namespaces = text.matches("xmlns:").count();
    if namespaces > MAX_NAMESPACES {
        let message = format!("expected at most {MAX_NAMESPACES} namespace declarations, found {namespaces}");
        return Err(SchemaError::at_line(1, message));
    }
    let mut attributes = 0;
    let mut line = 1;
    for (_, byte, place) in Walk::new(text) {
        line += usize::from(byte == b'\n');
        match (place, byte) {
            (Place::Markup, b'<') => attributes = 0,
            (Place::Markup, b'=') => attributes += 1,
            _ => {}
        }
        if attributes > MAX_ATTRIBUTES {
            let message = format!("expected at most {MAX_ATTRIBUTES} attributes, found more");
            return Err(SchemaError::at_line(line, message));
        }
    }
    Ok(())
}

/// Declares a prefix on the root element.
fn declare(text: &str, prefix: &str) -> Option<String> {
    let root = Walk::new(text).find(|&(_, byte, place)| place == Place::Markup && byte == b'<')?.0;
    let rest = text.get(root + 1..)?;
    let name_end = root + 1 + rest.find(|c: char| c.is_whitespace() || matches!(c, '>' | '/'))?;
    let (head, tail) = text.split_at(name_end);
    Some(format!("{head} xmlns:{prefix}=\"urn:undeclared\"{tail}"))
}

/// Escapes every `<` in attribute values, and every `&` that begins no reference.
fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len() + 64);
    let mut copied = 0;
    for (at, byte, place) in Walk::new(text) {
        let replacement = match (byte, place) {
            (b'<', Place::Value) => "&lt;",
            (b'&', Place::Value | Place::Text) if !begins_reference(&text[at..]) => "&amp;",
            _ => continue,
        };
        escaped.push_str(&text[copied..at]);
        escaped.push_str(replacement);
        copied = at + 1;
    }
    escaped.push_str(&text[copied..]);
    escaped
}

fn begins_reference(text: &str) -> bool {
    let name = text.bytes().skip(1).take(12).position(|byte| byte == b';').and_then(|end| text.get(1..=end));
    match name {
        Some("lt" | "gt" | "amp" | "quot" | "apos") => true,
        Some(number) => match number.strip_prefix('#') {
            Some(hex) if hex.starts_with('x') => hex.len() > 1 && hex.bytes().skip(1).all(|c| c.is_ascii_hexdigit()),
            Some(decimal) => !decimal.is_empty() && decimal.bytes().all(|c| c.is_ascii_digit()),
            None => false,
        },
        None => false,
    }
}

/// Where in the text a byte stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    Text,
    /// In a tag, outside quotes.
    Markup,
    /// In a quoted attribute value.
    Value,
}

/// All bytes of a text with their places; comments, declarations and character data are passed over.
struct Walk<'a> {
    text: &'a str,
    at: usize,
    place: Place,
    quote: u8,
}

impl<'a> Walk<'a> {
    fn new(text: &'a str) -> Self {
        Walk { text, at: 0, place: Place::Text, quote: 0 }
    }

    /// The end of a comment or the like that begins here.
    fn special_end(&self) -> Option<usize> {
        const SPECIAL: [(&str, &str); 4] = [("<!--", "-->"), ("<![CDATA[", "]]>"), ("<?", "?>"), ("<!", ">")];
        let rest = self.text.get(self.at..)?;
        let (start, end) = SPECIAL.iter().find(|(start, _)| rest.starts_with(start))?;
        let inner = rest.get(start.len()..)?;
        Some(inner.find(end).map_or(self.text.len(), |found| self.at + start.len() + found + end.len()))
    }
}

impl Iterator for Walk<'_> {
    type Item = (usize, u8, Place);

    fn next(&mut self) -> Option<Self::Item> {
        let bytes = self.text.as_bytes();
        let mut byte = *bytes.get(self.at)?;
        while byte == b'<' && self.place == Place::Text {
            match self.special_end() {
                Some(end) => self.at = end,
                None => self.place = Place::Markup,
            }
            byte = *bytes.get(self.at)?;
        }
        let here = (self.at, byte, self.place);
        self.at += 1;
        match (self.place, byte) {
            (Place::Markup, b'>') => self.place = Place::Text,
            (Place::Markup, b'"' | b'\'') => (self.place, self.quote) = (Place::Value, byte),
            (Place::Value, _) if byte == self.quote => self.place = Place::Markup,
            _ => {}
        }
        Some(here)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn root_attribute(text: &str) -> Result<(String, Vec<String>), String> {
        with_tree(text, |tree, repairs| {
            let value = tree.root_element().attribute("v").unwrap_or_default().to_owned();
            (value, repairs.iter().map(ToString::to_string).collect())
        })
        .map_err(|fault| fault.to_string())
    }

    #[test]
    fn bare_characters_in_values_are_escaped_and_reported() {
        let text = "<!-- \"<&\" -->\n<a v='1 < 2 & \"3\" &lt; &#x41; &nbsp;'/>";
        let (value, repairs) = root_attribute(text).unwrap();
        assert_eq!(value, "1 < 2 & \"3\" < A &nbsp;");
        assert_eq!(repairs.len(), 1);
        assert!(repairs[0].starts_with("line 2: repaired: "), "{repairs:?}");
    }

    #[test]
    fn prefixes_that_nothing_declares_are_declared() {
        let (value, repairs) = root_attribute("<?xml version=\"1.0\"?><a v=\"1\" win:w=\"2\"><trace:b/></a>").unwrap();
        assert_eq!((value.as_str(), repairs.len()), ("1", 2));
    }

    #[test]
    fn what_is_no_xml_is_refused_with_its_line() {
        let fault = root_attribute("<a>\n<b>\n</a>").unwrap_err();
        assert!(fault.starts_with("line 3: not XML: "), "{fault}");
        let many: String = (0..300).flat_map(|i| ["\na".to_owned(), i.to_string(), "=''".to_owned()]).collect();
        assert_eq!(
            root_attribute(&format!("<a{many}/>")).unwrap_err(),
            "line 258: expected at most 256 attributes, found more"
        );
    }

    #[test]
    fn deep_nesting_is_no_danger() {
        let deep = format!("{}{}", "<a>".repeat(200_000), "</a>".repeat(200_000));
        assert!(root_attribute(&deep).is_ok());
    }
}
