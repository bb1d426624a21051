//! TMF files: the formats of a program's WPP messages, as `tracepdb` writes them.
//!
//! A header line names the message GUID, `#typev` lines one message each, and the lines in braces behind them the
//! arguments in wire order. Grammar: observed in files of several drivers; item types of `defaultwpp.ini`.

use super::model::SchemaError;
use super::text;
use super::wpp::{Item, ItemKind, MessageFormat, Origin};
use crate::guid::Guid;

/// What one file describes.
#[derive(Clone, Debug, Default)]
pub struct Tmf {
    /// The messages in file order.
    pub messages: Vec<MessageFormat>,
    /// The lines that were rejected; the rest stands.
    pub findings: Vec<SchemaError>,
}

impl Tmf {
    /// Reads a TMF file in UTF-8, UTF-16 or code page 1252; several files may have been joined into one.
    pub fn parse(bytes: &[u8]) -> Tmf {
        let mut reader = Reader::default();
        for (line, number) in text::decode(bytes).lines().zip(1..) {
            reader.line(number, line.trim());
        }
        reader.end();
        reader.tmf
    }
}

/// The header line of a group: whose messages follow.
struct Group {
    guid: Guid,
    provider: String,
    source_file: String,
}

/// Where in the file the reader stands.
#[derive(Default)]
enum State {
    #[default]
    Outside,
    /// Behind a `#typev` line, before its `{`.
    Declared,
    /// Between the braces.
    Items,
}

#[derive(Default)]
struct Reader {
    tmf: Tmf,
    state: State,
    group: Option<Group>,
    /// The message being read, with the line it began in; nothing when its first line was rejected.
    message: Option<(usize, MessageFormat)>,
}

impl Reader {
    fn line(&mut self, number: usize, line: &str) {
        match self.state {
            _ if line.is_empty() || line.starts_with("//") => {}
            State::Items if line == "}" => {
                self.tmf.messages.extend(self.message.take().map(|(_, message)| message));
                self.state = State::Outside;
            }
            State::Items => self.item(number, line),
            State::Declared if line == "{" => self.state = State::Items,
            _ if line.starts_with('#') => self.directive(number, line),
            State::Declared => self.reject(number, format!("expected {{ behind a message, found \"{line}\"")),
            State::Outside => match group(line) {
                Some(group) => self.group = Some(group),
                None => self.reject(number, "expected the GUID of a group, a message or a comment".to_owned()),
            },
        }
    }

    fn reject(&mut self, number: usize, message: String) {
        self.tmf.findings.push(SchemaError::at_line(number, message));
    }

    fn directive(&mut self, number: usize, line: &str) {
        self.end();
        self.state = State::Declared;
        let declaration = line.strip_prefix("#typev").or_else(|| line.strip_prefix("#type"));
        let parsed = match (declaration, &self.group) {
            (None, _) => Err("expected #typev or #type".to_owned()),
            (_, None) => Err("expected the GUID of the group before its first message".to_owned()),
            (Some(declaration), Some(group)) => message(declaration, group),
        };
        match parsed {
            Ok(message) => self.message = Some((number, message)),
            Err(fault) => self.reject(number, fault),
        }
    }

    fn item(&mut self, number: usize, line: &str) {
        // The items of a rejected message are rejected with it.
        let Some((_, message)) = &mut self.message else { return };
        match item(line) {
            Ok(item) => {
                if let ItemKind::Unknown(declared) = &item.kind {
                    let fault = format!("expected a known type of argument, found \"{declared}\"");
                    self.tmf.findings.push(SchemaError::at_line(number, fault));
                }
                message.push_item(item);
            }
            Err(fault) => {
                // Where the next item starts is unknown without this one.
                message.push_item(Item::new("", 0, ItemKind::Unknown(line.to_owned())));
                self.reject(number, fault);
            }
        }
    }

    /// A message whose braces are missing or stay open is rejected.
    fn end(&mut self) {
        if let Some((number, message)) = self.message.take() {
            self.reject(number, format!("expected the arguments of message {} in braces", message.number));
        }
        self.state = State::Outside;
    }
}

/// `<guid> <provider> // SRC=<file> MJ= MN=`
fn group(line: &str) -> Option<Group> {
    let (guid, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
    let guid = guid.parse().ok()?;
    let (provider, trailer) = rest.split_once("//").unwrap_or((rest, ""));
    let source_file = tagged(trailer, "SRC=").unwrap_or_default().to_owned();
    Some(Group { guid, provider: provider.trim().to_owned(), source_file })
}

/// ` <file_line> <number> "<format>" // LEVEL=<name> FLAGS=<name> FUNC=<function>`
fn message(declaration: &str, group: &Group) -> Result<MessageFormat, String> {
    let open = declaration.find('"').ok_or("expected a format in quotes, found none")?;
    let close = format_end(declaration).filter(|&close| close > open).ok_or("expected the end of the format")?;
    let (head, format, trailer) = (&declaration[..open], &declaration[open + 1..close], &declaration[close + 1..]);
    let mut words = head.split_whitespace();
    let (Some(place), Some(number), None) = (words.next(), words.next(), words.next()) else {
        return Err("expected source place and message number before the format".to_owned());
    };
    let number = number.parse().map_err(|_| format!("expected a message number of 16 bits, found \"{number}\""))?;
    let owned = |text: Option<&str>| text.filter(|text| !text.is_empty()).map(str::to_owned);
    let origin = Origin {
        provider: group.provider.clone(),
        source_file: group.source_file.clone(),
        source_place: place.to_owned(),
        level: owned(tagged(trailer, "LEVEL=")),
        flags: owned(tagged(trailer, "FLAGS=")),
        // A C++ function's name may have blanks; nothing follows it.
        function: owned(trailer.split_once("FUNC=").map(|(_, name)| name.trim())),
    };
    Ok(MessageFormat::new(group.guid, number, origin, format))
}

/// The quote that ends the format: the last one before the trailing comment, as formats contain bare quotes.
fn format_end(declaration: &str) -> Option<usize> {
    let mut ends = declaration.match_indices('"').map(|(at, _)| at);
    let mut before_comment = ends.clone().filter(|at| {
        let rest = declaration.get(at + 1..).unwrap_or_default().trim_start();
        rest.is_empty() || rest.starts_with("//")
    });
    before_comment.next_back().or_else(|| ends.next_back())
}

/// The word behind `tag` in a trailer.
fn tagged<'a>(trailer: &'a str, tag: &str) -> Option<&'a str> {
    trailer.split_whitespace().find_map(|word| word.strip_prefix(tag))
}

/// `<expression>, <ItemType> [(<labels>)] -- <n>`, with `//` for `--` in files of the preprocessor itself.
fn item(line: &str) -> Result<Item, String> {
    let (head, index) = line
        .rsplit_once("--")
        .or_else(|| line.rsplit_once("//"))
        .ok_or_else(|| format!("expected an argument and its number, found \"{line}\""))?;
    let index = index.trim();
    let index = index.parse().map_err(|_| format!("expected the number of an argument, found \"{index}\""))?;
    let head = head.trim();
    // Expressions contain commas and brackets, and so do labels; the type's own name tells where it begins.
    let (expression, declared) = match head.rfind(", Item").map(|at| head.split_at(at)) {
        Some((expression, declared)) => (expression, declared.trim_start_matches(',')),
        None => head.rsplit_once(',').ok_or_else(|| format!("expected the type of an argument, found \"{head}\""))?,
    };
    Ok(Item::new(expression.trim(), index, ItemKind::parse(declared.trim())))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const SMALL: &str = r#"// PDB:  sample.pdb
01e9b841-7d67-315a-7b92-23b2033356de Sample // SRC=Main.c MJ= MN=
#typev Main_c141 15 "%0 [%!FUNC!] said "%10!s!" // %11!d!" //   LEVEL=TRACE_LEVEL_ERROR FLAGS=TRACE_MAIN FUNC=Class::operator ()
{
f(a, b), ItemListByte(Low, High) -- 10
Params->Status, ItemLong -- 11
}
#type Main_c7 0x "bad number"
{
a, ItemLong -- 10
}
#typev Main_c8 8 "no trailer"
{
}
#enumv Kinds
{
A=1
}
02e9b841-7d67-315a-7b92-23b2033356de Other // SRC= MJ= MN=
#typev Other_c1 1 "%10!d!"
{
a, ItemLong // 10
nonsense
}
what is this
#typev Other_c2 2 "open"
"#;

    #[test]
    fn messages_and_rejected_lines_are_told_apart() {
        let tmf = Tmf::parse(SMALL.as_bytes());
        let numbers: Vec<_> = tmf.messages.iter().map(|m| (m.origin.provider.as_str(), m.number)).collect();
        assert_eq!(numbers, [("Sample", 15), ("Sample", 8), ("Other", 1)]);
        let first = &tmf.messages[0];
        assert_eq!(first.guid.to_string(), "01e9b841-7d67-315a-7b92-23b2033356de");
        assert_eq!(first.format, "%0 [%!FUNC!] said \"%10!s!\" // %11!d!");
        let expected = Origin {
            provider: "Sample".into(),
            source_file: "Main.c".into(),
            source_place: "Main_c141".into(),
            level: Some("TRACE_LEVEL_ERROR".into()),
            flags: Some("TRACE_MAIN".into()),
            function: Some("Class::operator ()".into()),
        };
        assert_eq!(first.origin, expected);
        let labels = ItemKind::parse("ItemListByte(Low, High)");
        let items = [Item::new("f(a, b)", 10, labels), Item::new("Params->Status", 11, ItemKind::parse("ItemLong"))];
        assert_eq!(first.items(), items);

        let findings: Vec<_> = tmf.findings.iter().map(ToString::to_string).collect();
        assert_eq!(
            findings,
            [
                "line 8: expected a message number of 16 bits, found \"0x\"",
                "line 15: expected #typev or #type",
                "line 23: expected an argument and its number, found \"nonsense\"",
                "line 25: expected the GUID of a group, a message or a comment",
                "line 26: expected the arguments of message 2 in braces",
            ]
        );
        assert_eq!(tmf.messages[2].items()[1].kind, ItemKind::Unknown("nonsense".into()));
    }

    proptest! {
        #[test]
        fn any_text_is_read(text in "[#typev{}\"/,%!0-9 \nItemLongabc-]{0,200}") {
            let _ = Tmf::parse(text.as_bytes());
        }

        #[test]
        fn a_mutated_file_is_read(changes in prop::collection::vec((0usize..2000, any::<u8>()), 1..10)) {
            let mut bytes = SMALL.as_bytes().to_vec();
            for (at, byte) in changes {
                let at = at % bytes.len();
                bytes[at] = byte;
            }
            let _ = Tmf::parse(&bytes);
        }
    }
}
