//! The string tables of a manifest.

use std::collections::HashMap;
use std::sync::Arc;

use roxmltree::{Document, Node};

use super::xml::{attribute, children, grandchildren, tag};

/// Text longer than this describes rather than names.
const MAX_DISPLAY: usize = 64;

type Table = HashMap<String, Arc<str>>;

/// The tables to look into: the wanted culture's, the American English one, the first.
pub(super) struct Strings {
    preferred: Vec<Table>,
    /// The table that names come from. Names identify, so they are taken from an English table or as declared, and
    /// do not change with the culture asked for.
    english: Option<Table>,
}

impl Strings {
    pub(super) fn read(tree: &Document<'_>, culture: Option<&str>) -> Strings {
        let resources: Vec<Node<'_, '_>> = tree.descendants().filter(|node| tag(*node) == "resources").collect();
        let of = |wanted: &str| resources.iter().find(|node| culture_of(**node).eq_ignore_ascii_case(wanted));
        let english = of("en-US").or_else(|| of("en")).or_else(|| of("en-GB")).or_else(|| of(""));
        // A culture of the same language, such as de-DE where de or de-AT is asked for.
        let alike = |wanted: &str| resources.iter().find(|node| same_language(culture_of(**node), wanted));
        let order = [culture.and_then(of), culture.and_then(alike), english, resources.first()];
        Strings {
            preferred: order.into_iter().flatten().map(|node| table(*node)).collect(),
            english: english.map(|node| table(*node)),
        }
    }

    /// The text of a `message` attribute; a reference that leads nowhere stays as it is.
    pub(super) fn text(&self, message: &str) -> Arc<str> {
        match string_id(message) {
            Some(id) => self.preferred.iter().find_map(|table| table.get(id)).cloned(),
            None => None,
        }
        .unwrap_or_else(|| message.into())
    }

    /// How Windows shows a task, opcode, keyword or map entry: by its message, if that is a name and not a sentence.
    pub(super) fn display(&self, node: Node<'_, '_>) -> Option<String> {
        let message = attribute(node, "message")?;
        let text = match string_id(message) {
            Some(id) => self.english.as_ref()?.get(id)?.trim(),
            None if message.starts_with("$(") => return None,
            None => message,
        };
        is_name(text).then(|| text.to_owned())
    }
}

/// Whether a text is a name and not a sentence.
pub(crate) fn is_name(text: &str) -> bool {
    !text.is_empty() && text.len() <= MAX_DISPLAY && !text.contains(['\n', '\r'])
}

fn culture_of<'a>(node: Node<'a, '_>) -> &'a str {
    attribute(node, "culture").unwrap_or_default()
}

/// Whether two cultures are of one language: what stands before the first hyphen.
fn same_language(one: &str, other: &str) -> bool {
    let language = |culture: &str| culture.split('-').next().unwrap_or_default().to_ascii_lowercase();
    !one.is_empty() && language(one) == language(other)
}

fn table(resources: Node<'_, '_>) -> Table {
    let mut table = Table::new();
    for string in grandchildren(resources, "stringTable", "string").chain(children(resources, "string")) {
        if let Some(id) = attribute(string, "id") {
            let value = string.attribute("value").unwrap_or_default();
            table.entry(id.to_owned()).or_insert_with(|| value.into());
        }
    }
    table
}

/// `X` of `$(string.X)`.
fn string_id(message: &str) -> Option<&str> {
    message.trim().strip_prefix("$(string.")?.strip_suffix(')')
}

#[cfg(test)]
mod tests {
    use super::*;

    const XML: &str = r#"<m>
        <x n="1" message="$(string.a)"/><x n="2" message="$(string.b)"/><x n="3" message="$(mc.7)"/><x n="4"/>
        <localization>
            <resources culture="de-DE"><stringTable>
                <string id="a" value="Eins"/><string id="b" value="Zwei"/>
            </stringTable></resources>
            <resources culture="en-US"><stringTable><string id="a" value="One "/></stringTable></resources>
        </localization></m>"#;

    #[test]
    fn texts_follow_the_culture_and_names_do_not() {
        let tree = Document::parse(XML).unwrap();
        let nodes: Vec<_> = children(tree.root_element(), "x").collect();
        for (culture, texts) in [
            (Some("de-de"), ["Eins", "Zwei", "$(mc.7)"]),
            (Some("DE"), ["Eins", "Zwei", "$(mc.7)"]),
            (Some("de-AT"), ["Eins", "Zwei", "$(mc.7)"]),
            (Some("d"), ["One ", "Zwei", "$(mc.7)"]),
            (Some("fr-FR"), ["One ", "Zwei", "$(mc.7)"]),
            (None, ["One ", "Zwei", "$(mc.7)"]),
        ] {
            let strings = Strings::read(&tree, culture);
            for (node, text) in nodes.iter().zip(texts) {
                assert_eq!(&*strings.text(attribute(*node, "message").unwrap()), text, "{culture:?}");
            }
            let names: Vec<_> = nodes.iter().map(|node| strings.display(*node)).collect();
            assert_eq!(names, [Some("One".to_owned()), None, None, None], "{culture:?}");
        }
    }

    #[test]
    fn a_sentence_is_no_name() {
        let xml = format!(r#"<m message="{}"/>"#, "word ".repeat(20));
        let tree = Document::parse(&xml).unwrap();
        assert_eq!(Strings::read(&tree, None).display(tree.root_element()), None);
    }
}
