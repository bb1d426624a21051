//! Elements and attributes by local name, numbers, line numbers.

use base::guid::Guid;
use roxmltree::{Document, Node};

use crate::model::SchemaError;

/// How many rejections of a file are kept; the rest is a number.
const MAX_REJECTIONS: usize = 1000;

/// Collects what was rejected, with its line.
pub(super) struct Rejections {
    line_starts: Vec<usize>,
    list: Vec<SchemaError>,
    /// How many more there are, and the line of the first of them.
    more: Option<(usize, usize)>,
}

impl Rejections {
    pub(super) fn new(tree: &Document<'_>, repairs: Vec<SchemaError>) -> Self {
        let line_starts = tree.input_text().match_indices('\n').map(|(at, _)| at + 1).collect();
        Rejections { line_starts, list: repairs, more: None }
    }

    /// Reports that an element cannot be used as it stands.
    pub(super) fn report(&mut self, node: Node<'_, '_>, message: impl Into<String>) {
        let line = 1 + self.line_starts.partition_point(|&start| start <= node.range().start);
        if self.list.len() < MAX_REJECTIONS {
            self.list.push(SchemaError::at_line(line, message));
        } else {
            self.more.get_or_insert((0, line)).0 += 1;
        }
    }

    pub(super) fn into_list(mut self) -> Vec<SchemaError> {
        let more = self.more.map(|(count, line)| SchemaError::at_line(line, format!("{count} more from here")));
        self.list.extend(more);
        self.list
    }
}

/// The value of an attribute by its local name, without blanks around it; `None` when it is empty.
pub(super) fn attribute<'a>(node: Node<'a, '_>, name: &str) -> Option<&'a str> {
    let found = node.attributes().find(|attribute| attribute.name() == name)?;
    Some(found.value().trim()).filter(|value| !value.is_empty())
}

/// The local name of an element; empty for text and comments.
pub(super) fn tag<'a>(node: Node<'a, '_>) -> &'a str {
    node.tag_name().name()
}

/// The child elements of a local name.
pub(super) fn children<'a, 'i>(node: Node<'a, 'i>, name: &'static str) -> impl Iterator<Item = Node<'a, 'i>> {
    node.children().filter(move |child| child.is_element() && tag(*child) == name)
}

/// The elements of a local name inside the children of another: `tasks/task`.
pub(super) fn grandchildren<'a, 'i: 'a>(
    node: Node<'a, 'i>,
    outer: &'static str,
    inner: &'static str,
) -> impl Iterator<Item = Node<'a, 'i>> {
    children(node, outer).flat_map(move |child| children(child, inner))
}

/// A decimal or `0x` number; a negative one is taken as its 32-bit pattern, as maps of error codes have them.
pub(super) fn number(text: &str) -> Option<u64> {
    let text = text.trim();
    if let Some(hex) = text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")) {
        return u64::from_str_radix(hex, 16).ok();
    }
    let as_pattern = || text.parse::<i32>().ok().map(|negative| u64::from(negative.cast_unsigned()));
    text.parse().ok().or_else(as_pattern)
}

/// A number attribute that fits into `T`.
pub(super) fn number_attribute<T: TryFrom<u64>>(node: Node<'_, '_>, name: &str) -> Option<T> {
    attribute(node, name).and_then(number).and_then(|value| T::try_from(value).ok())
}

/// A GUID attribute.
pub(super) fn guid_attribute(node: Node<'_, '_>, name: &str) -> Option<Guid> {
    attribute(node, name)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_decimal_or_hexadecimal() {
        for (text, expected) in [
            ("0", Some(0)),
            (" 18 ", Some(18)),
            ("0x8000000000000000", Some(1 << 63)),
            ("0XfF", Some(255)),
            ("-1", Some(0xffff_ffff)),
            ("18446744073709551615", Some(u64::MAX)),
            ("18446744073709551616", None),
            ("0x", None),
            ("", None),
            ("win:Info", None),
        ] {
            assert_eq!(number(text), expected, "{text}");
        }
    }
}
