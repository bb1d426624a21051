//! The lines of a TMF file, each on its own.

use std::sync::Arc;

use base::guid::Guid;

use crate::wpp::{self, Argument, ArgumentType, MessageOrigin};

/// A message's lines stand in one record of a PDB, whose length has 16 bits.
pub(super) const MAX_MESSAGE_BYTES: usize = 64 << 10;
/// The names of a folder and of a file; they are compared for every message of the group.
const MAX_GROUP_BYTES: usize = 1024;
/// So much of a rejected line is quoted.
const MAX_QUOTED_CHARS: usize = 80;

/// The header line of a group: whose messages follow.
pub(super) struct Group {
    pub guid: Guid,
    pub provider: Arc<str>,
    pub source_file: Arc<str>,
}

/// A message whose enumerations are still to be found.
pub(super) struct Draft {
    pub line: usize,
    pub guid: Guid,
    pub number: u16,
    pub origin: MessageOrigin,
    pub format: String,
    /// Each with its line.
    pub arguments: Vec<(usize, Argument)>,
    /// Length of its lines.
    pub bytes: usize,
}

pub(super) fn too_long(bytes: usize) -> String {
    format!("expected a message of at most {MAX_MESSAGE_BYTES} bytes with its arguments, found {bytes} or more")
}

/// The beginning of a line.
pub(super) fn quoted(line: &str) -> &str {
    line.char_indices().nth(MAX_QUOTED_CHARS).map_or(line, |(end, _)| line.get(..end).unwrap_or(line))
}

/// `<guid> <provider> // SRC=<file> MJ= MN=`; `None` when the line is none of these.
pub(super) fn group(line: &str) -> Option<Result<Group, String>> {
    let (guid, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
    let guid = guid.parse().ok()?;
    if line.len() > MAX_GROUP_BYTES {
        return Some(Err(format!(
            "expected the names of a group in at most {MAX_GROUP_BYTES} bytes, found {}",
            line.len()
        )));
    }
    let (provider, trailer) = rest.split_once("//").unwrap_or((rest, ""));
    let source_file = tagged(trailer, "SRC=").unwrap_or_default();
    Some(Ok(Group { guid, provider: provider.trim().into(), source_file: source_file.into() }))
}

/// ` <file_line> <number> "<format>" // LEVEL=<name> FLAGS=<name> FUNC=<function>`
pub(super) fn message(line: usize, declaration: &str, group: &Group) -> Result<Draft, String> {
    if declaration.len() > MAX_MESSAGE_BYTES {
        return Err(too_long(declaration.len()));
    }
    let open = declaration.find('"').ok_or("expected a format in quotes, found none")?;
    let close = format_end(declaration).filter(|&close| close > open).ok_or("expected the end of the format")?;
    let (head, format, trailer) = (&declaration[..open], &declaration[open + 1..close], &declaration[close + 1..]);
    let mut words = head.split_whitespace();
    let (Some(place), Some(number), None) = (words.next(), words.next(), words.next()) else {
        return Err("expected source place and message number before the format".to_owned());
    };
    let number =
        number.parse().map_err(|_| format!("expected a message number of 16 bits, found \"{}\"", quoted(number)))?;
    let origin = origin(place, trailer, group);
    Ok(Draft {
        line,
        guid: group.guid,
        number,
        origin,
        format: format.to_owned(),
        arguments: Vec::new(),
        bytes: declaration.len(),
    })
}

/// What the end of a message's line says of its origin: the arguments of the trace function by name, then the function.
fn origin(place: &str, trailer: &str, group: &Group) -> MessageOrigin {
    // A C++ function's name may have blanks; nothing follows it.
    let (keys, function) = trailer.split_once(" FUNC=").unwrap_or((trailer, ""));
    let owned = |text: &str| Some(text.trim()).filter(|text| !text.is_empty()).map(str::to_owned);
    let key = |tag| tagged(keys, tag).and_then(owned);
    MessageOrigin {
        provider: Arc::clone(&group.provider),
        source_file: Arc::clone(&group.source_file),
        source_place: place.to_owned(),
        level: key("LEVEL="),
        flags: key("FLAGS="),
        function: owned(function),
        component: key("COMPNAME="),
        subcomponent: key("SUBCOMP="),
    }
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
pub(super) fn argument(line: &str) -> Result<Argument, String> {
    let (head, index) = line
        .rsplit_once("--")
        .or_else(|| line.rsplit_once("//"))
        .ok_or_else(|| format!("expected an argument and its number, found \"{}\"", quoted(line)))?;
    let index = index.trim();
    let index =
        index.parse().map_err(|_| format!("expected the number of an argument, found \"{}\"", quoted(index)))?;
    let head = head.trim();
    let (expression, declared) = type_start(head)
        .and_then(|at| Some((head.get(..at)?, head.get(at + 1..)?)))
        .or_else(|| head.rsplit_once(','))
        .ok_or_else(|| format!("expected the type of an argument, found \"{}\"", quoted(head)))?;
    Ok(Argument::new(expression.trim(), index, ArgumentType::parse(declared.trim())))
}

/// The comma before an argument's type. Expressions contain commas and brackets, and so do labels: it is the last one
/// before an `Item` outside of the brackets that end the line.
fn type_start(head: &str) -> Option<usize> {
    const COMMA: &str = ", Item";
    let mut depth = 0_usize;
    let outside = head.bytes().enumerate().rev().find(|&(at, byte)| {
        match byte {
            b')' => depth += 1,
            b'(' => depth = depth.saturating_sub(1),
            _ => {}
        }
        depth == 0 && byte == b',' && head.get(at..).is_some_and(|rest| rest.starts_with(COMMA))
    });
    outside.map(|(at, _)| at).or_else(|| head.rfind(COMMA))
}

/// `<name>,0x<value>`
pub(super) fn enumerator(line: &str) -> Option<(u64, String)> {
    let (name, value) = line.rsplit_once(',')?;
    Some((wpp::number(value)?, name.trim().to_owned())).filter(|(_, name)| !name.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_type_of_an_argument_is_found_among_commas() {
        for (line, expression, declared) in [
            ("f(a, b), ItemLong -- 10", "f(a, b)", "ItemLong"),
            ("f(a, ItemCount), ItemLong -- 10", "f(a, ItemCount)", "ItemLong"),
            ("x, ItemListByte(Low, ItemHigh) -- 10", "x", "ItemListByte(Low, ItemHigh)"),
            ("x, ItemListByte(a), b) -- 10", "x", "ItemListByte(a), b)"),
            ("L\"a, b\" /* -- */, ItemWString -- 10", "L\"a, b\" /* -- */", "ItemWString"),
            ("x, Odd -- 10", "x", "Odd"),
        ] {
            assert_eq!(argument(line), Ok(Argument::new(expression, 10, ArgumentType::parse(declared))), "{line}");
        }
    }
}
