//! From text to a tree, with the repairs that files in circulation need.

use std::borrow::Cow;

use roxmltree::{Document, Error};

use crate::model::SchemaError;

/// The longest manifest that is read, in bytes; the longest known one has about ten million.
pub(super) const MAX_BYTES: usize = 64 << 20;
/// More elements than any such text has; the tree builder takes about 80 bytes for each `<`, wherever it stands.
const MAX_TAGS: usize = 1 << 20;
/// More attributes than any such text has; the tree builder takes about 72 bytes for each `=`, wherever it stands.
const MAX_EQUALS: usize = 1 << 21;
/// More attributes than any element of a manifest has; the tree builder compares each with all others.
const MAX_ATTRIBUTES: usize = 256;
/// More namespace declarations than any manifest has.
const MAX_NAMESPACES: usize = 2048;
/// More of them in force at one place than in any manifest; the tree builder copies them inwards, each compared with
/// all others.
const MAX_NAMESPACES_IN_FORCE: u8 = 32;
/// How many undeclared prefixes are declared for the file; each costs reading it anew.
const MAX_PREFIXES: usize = 4;

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
    if text.len() > MAX_BYTES {
        let message = format!("expected a manifest of at most {MAX_BYTES} bytes, found {}", text.len());
        return Err(SchemaError::at_line(1, message));
    }
    refuse_many(text, b'<', MAX_TAGS)?;
    refuse_many(text, b'=', MAX_EQUALS)?;
    Census::default().take(text)
}

/// Refuses a text in which a character stands more often than in any manifest.
fn refuse_many(text: &str, character: u8, limit: usize) -> Result<(), SchemaError> {
    let Some((at, _)) = text.bytes().enumerate().filter(|&(_, byte)| byte == character).nth(limit) else {
        return Ok(());
    };
    let line = 1 + text.bytes().take(at).filter(|&byte| byte == b'\n').count();
    let message = format!("expected at most {limit} times \"{}\" in a manifest, found more", char::from(character));
    Err(SchemaError::at_line(line, message))
}

/// Counts what the tree builder compares with one another.
#[derive(Default)]
struct Census {
    /// Newlines so far.
    lines: usize,
    /// Attributes of the tag so far.
    attributes: usize,
    /// Namespace declarations so far.
    namespaces: usize,
    /// How many of them are in force in each open element, the innermost last.
    in_force: Vec<u8>,
}

impl Census {
    fn take(mut self, text: &str) -> Result<(), SchemaError> {
        let bytes = text.as_bytes();
        for (at, byte, context) in Walk::new(text) {
            self.lines += usize::from(byte == b'\n');
            match (context, byte) {
                (Context::Markup, b'<') => {
                    self.attributes = 0;
                    match bytes.get(at + 1) {
                        Some(b'/') => self.close(),
                        _ => self.in_force.push(self.in_force.last().copied().unwrap_or(0)),
                    }
                }
                (Context::Markup, b'>') if at.checked_sub(1).and_then(|at| bytes.get(at)) == Some(&b'/') => {
                    self.close();
                }
                (Context::Markup, b'=') => self.attributes += 1,
                (Context::Markup, b'x') if declares_namespace(bytes, at) => self.declare(),
                _ => continue,
            }
            self.check()?;
        }
        Ok(())
    }

    fn close(&mut self) {
        self.in_force.pop();
    }

    fn declare(&mut self) {
        self.namespaces += 1;
        if let Some(innermost) = self.in_force.last_mut() {
            *innermost = innermost.saturating_add(1);
        }
    }

    fn check(&self) -> Result<(), SchemaError> {
        let message = match () {
            () if self.attributes > MAX_ATTRIBUTES => {
                format!("expected at most {MAX_ATTRIBUTES} attributes, found more")
            }
            () if self.namespaces > MAX_NAMESPACES => {
                format!("expected at most {MAX_NAMESPACES} namespace declarations, found more")
            }
            () if self.in_force.last().is_some_and(|&count| count > MAX_NAMESPACES_IN_FORCE) => {
                format!("expected at most {MAX_NAMESPACES_IN_FORCE} namespaces in force, found more")
            }
            () => return Ok(()),
        };
        Err(SchemaError::at_line(1 + self.lines, message))
    }
}

/// Whether the attribute that begins here declares a namespace.
fn declares_namespace(bytes: &[u8], at: usize) -> bool {
    let begins = at.checked_sub(1).and_then(|at| bytes.get(at)).is_some_and(u8::is_ascii_whitespace);
    let behind = bytes.get(at..).and_then(|rest| rest.strip_prefix(b"xmlns"));
    begins
        && behind.and_then(<[u8]>::first).is_some_and(|&byte| matches!(byte, b':' | b'=') || byte.is_ascii_whitespace())
}

/// Declares a prefix on the root element.
fn declare(text: &str, prefix: &str) -> Option<String> {
    let root = Walk::new(text).find(|&(_, byte, context)| context == Context::Markup && byte == b'<')?.0;
    let rest = text.get(root + 1..)?;
    let name_end = root + 1 + rest.find(|c: char| c.is_whitespace() || matches!(c, '>' | '/'))?;
    let (head, tail) = text.split_at(name_end);
    Some(format!("{head} xmlns:{prefix}=\"urn:undeclared\"{tail}"))
}

/// Escapes every `<` in attribute values, and every `&` that begins no reference.
fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len() + 64);
    let mut copied = 0;
    for (at, byte, context) in Walk::new(text) {
        let replacement = match (byte, context) {
            (b'<', Context::Value) => "&lt;",
            (b'&', Context::Value | Context::Text) if !begins_reference(&text[at..]) => "&amp;",
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
enum Context {
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
    context: Context,
    quote: u8,
}

impl<'a> Walk<'a> {
    fn new(text: &'a str) -> Self {
        Walk { text, at: 0, context: Context::Text, quote: 0 }
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
    type Item = (usize, u8, Context);

    fn next(&mut self) -> Option<Self::Item> {
        let bytes = self.text.as_bytes();
        let mut byte = *bytes.get(self.at)?;
        while byte == b'<' && self.context == Context::Text {
            match self.special_end() {
                Some(end) => self.at = end,
                None => self.context = Context::Markup,
            }
            byte = *bytes.get(self.at)?;
        }
        let here = (self.at, byte, self.context);
        self.at += 1;
        match (self.context, byte) {
            (Context::Markup, b'>') => self.context = Context::Text,
            (Context::Markup, b'"' | b'\'') => (self.context, self.quote) = (Context::Value, byte),
            (Context::Value, _) if byte == self.quote => self.context = Context::Markup,
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
        // Both take the stack of a thread, if levels are calls.
        for levels in [200_000, 1_000_000] {
            let deep = format!("{}{}", "<a>".repeat(levels), "</a>".repeat(levels));
            let outcome = root_attribute(&deep);
            if 2 * levels <= MAX_TAGS {
                assert!(outcome.is_ok(), "{levels}: {outcome:?}");
            } else {
                let fault = "line 1: expected at most 1048576 times \"<\" in a manifest, found more";
                assert_eq!(outcome.unwrap_err(), fault, "{levels}");
            }
        }
    }

    #[test]
    fn the_tree_builder_takes_a_million_levels() {
        let deep = format!("{}{}", "<a>".repeat(1_000_000), "</a>".repeat(1_000_000));
        let tree = Document::parse(&deep).unwrap();
        assert_eq!(tree.descendants().count(), 1_000_001);
    }

    #[test]
    fn nested_namespaces_are_refused_before_they_cost_time() {
        let nested = |count: usize| {
            let open: String =
                (0..count).flat_map(|i| ["\n<a xmlns:n".to_owned(), i.to_string(), "='u'>".to_owned()]).collect();
            format!("{open}{}", "</a>".repeat(count))
        };
        assert!(root_attribute(&nested(32)).is_ok());
        let refused = |line| format!("line {line}: expected at most 32 namespaces in force, found more");
        assert_eq!(root_attribute(&nested(33)).unwrap_err(), refused(34));
        assert_eq!(root_attribute(&nested(20_000)).unwrap_err(), refused(34));
        let default = "<a xmlns = 'u'>".repeat(33);
        assert_eq!(root_attribute(&default).unwrap_err(), refused(1));
        // Side by side they do not add up, and other words are no declarations.
        let beside = format!("<a>{}</a>", "<b xmlns='u' xmlnsx='v' v='xmlns:a='/>".repeat(1000));
        assert!(root_attribute(&beside).is_ok());
        let many = format!("<a>\n{}</a>", "<b xmlns='u'/>".repeat(2049));
        assert_eq!(
            root_attribute(&many).unwrap_err(),
            "line 2: expected at most 2048 namespace declarations, found more"
        );
    }

    #[test]
    fn the_size_of_a_text_is_bounded() {
        let long = " ".repeat(MAX_BYTES + 1);
        let fault = "line 1: expected a manifest of at most 67108864 bytes, found 67108865";
        assert_eq!(root_attribute(&long).unwrap_err(), fault);
        let equals = format!("<a>\n{}</a>", "=".repeat(MAX_EQUALS + 1));
        let fault = "line 2: expected at most 2097152 times \"=\" in a manifest, found more";
        assert_eq!(root_attribute(&equals).unwrap_err(), fault);
    }
}
