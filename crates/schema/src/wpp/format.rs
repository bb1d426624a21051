//! The format of a message, cut into pieces once.

use std::collections::HashMap;

use super::argument::Argument;
use super::origin::OriginPart;
use crate::printf::Spec;

/// A part of a message's text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Piece {
    /// Text as it stands.
    Literal(String),
    /// What the TMF file says of the message's origin.
    Origin { part: OriginPart, spec: Spec },
    /// The argument at an index; `source` stands for it where it cannot be read. `is_whole`: it looks as in the list of
    /// arguments.
    Argument { index: usize, spec: Spec, source: String, is_whole: bool },
    /// A value of the message's header, by its number (3 to 9).
    Header { number: u8, spec: Spec },
}

/// Cuts the format of a message with the given arguments.
pub(super) fn pieces(format: &str, arguments: &[Argument]) -> Vec<Piece> {
    let mut indices = HashMap::with_capacity(arguments.len());
    for (index, argument) in arguments.iter().enumerate() {
        indices.entry(argument.number).or_insert(index);
    }
    let mut cutter = Cutter { indices, pieces: Vec::new(), literal: String::new() };
    let mut rest = format;
    while let Some(at) = rest.find('%') {
        let (before, insertion) = rest.split_at(at);
        cutter.literal.push_str(before);
        rest = cutter.insertion(insertion.strip_prefix('%').unwrap_or(insertion));
    }
    cutter.literal.push_str(rest);
    cutter.flush();
    cutter.pieces
}

struct Cutter {
    /// Arguments by number.
    indices: HashMap<u16, usize>,
    pieces: Vec<Piece>,
    literal: String,
}

impl Cutter {
    fn flush(&mut self) {
        if !self.literal.is_empty() {
            self.pieces.push(Piece::Literal(std::mem::take(&mut self.literal)));
        }
    }

    /// Takes what follows a percent sign and returns what is left behind it.
    fn insertion<'t>(&mut self, text: &'t str) -> &'t str {
        // The prefix: processor, process, thread and time, which are columns of the row. Digits behind it are text.
        if let Some(rest) = text.strip_prefix('0') {
            return rest.trim_start_matches(' ');
        }
        if text.starts_with(|c: char| c.is_ascii_digit()) {
            return self.numbered(text);
        }
        if let Some((name, rest)) = text.strip_prefix('!').and_then(|text| text.split_once('!')) {
            if let Some(part) = OriginPart::named(name) {
                self.push(Piece::Origin { part, spec: Spec::PLAIN });
                return rest;
            }
            if name == "STDPREFIX" {
                return rest;
            }
        }
        self.escape(text)
    }

    /// `%n`, `%%` and their like.
    fn escape<'t>(&mut self, text: &'t str) -> &'t str {
        let mut rest = text.chars();
        let plain = match rest.next() {
            Some('n') => '\n',
            Some('r') => '\r',
            Some('t') => '\t',
            Some('b') => ' ',
            Some(c @ ('%' | '.' | '!')) => c,
            _ => {
                self.literal.push('%');
                return text;
            }
        };
        self.literal.push(plain);
        rest.as_str()
    }

    /// `10!x!`, or only `10`.
    fn numbered<'t>(&mut self, text: &'t str) -> &'t str {
        let digits = text.len() - text.trim_start_matches(|c: char| c.is_ascii_digit()).len();
        let (digits, rest) = text.split_at(digits);
        let Ok(number) = digits.parse::<u16>() else {
            self.literal.push('%');
            self.literal.push_str(digits);
            return rest;
        };
        let declared = rest.strip_prefix('!').and_then(|spec| spec.split_once('!'));
        let declared = declared.and_then(|(source, rest)| Some((Spec::parse(source)?, source, rest)));
        let (spec, source, rest) = declared.unwrap_or((Spec::PLAIN, "s", rest));
        match (u8::try_from(number), self.indices.get(&number)) {
            (Ok(1), _) => self.push(Piece::Origin { part: OriginPart::Provider, spec }),
            (Ok(2), _) => self.push(Piece::Origin { part: OriginPart::Place, spec }),
            (Ok(number @ 3..=9), _) => self.push(Piece::Header { number, spec }),
            (_, Some(&index)) => {
                let source = format!("%{number}!{source}!");
                // That is known once the list of arguments is.
                self.push(Piece::Argument { index, spec, source, is_whole: false });
            }
            (_, None) => self.literal.extend(["%", digits, "!", source, "!"]),
        }
        rest
    }

    fn push(&mut self, piece: Piece) {
        self.flush();
        self.pieces.push(piece);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wpp::ArgumentType;

    fn literal(format: &str) -> String {
        match &pieces(format, &[])[..] {
            [] => String::new(),
            [Piece::Literal(text)] => text.clone(),
            other => panic!("{format} is no plain text: {other:?}"),
        }
    }

    #[test]
    fn what_is_no_insertion_is_text() {
        for (format, expected) in [
            ("%0 <--", "<--"),
            ("%0100%% done", "100% done"),
            ("100%% %n%t%.%!", "100% \n\t.!"),
            ("%!UNKNOWN! %x %", "!UNKNOWN! %x %"),
            ("%!STDPREFIX!|", "|"),
            ("%99999!d! %é", "%99999!d! %é"),
            ("%11!08X! %12", "%11!08X! %12!s!"),
        ] {
            assert_eq!(literal(format), expected, "{format}");
        }
    }

    #[test]
    fn insertions_keep_number_and_spec() {
        let spec = |text: &str| Spec::parse(text).unwrap();
        let argument = |number| Argument::new("x", number, ArgumentType::parse("ItemLong"));
        let inserted = |index, text: &str, source: &str| Piece::Argument {
            index,
            spec: spec(text),
            source: source.to_owned(),
            is_whole: false,
        };
        let origin = |part, text| Piece::Origin { part, spec: spec(text) };
        assert_eq!(
            pieces("%10!d!%12 %3!04X!%2!10s!%!SUBCOMP!", &[argument(12), argument(10), argument(10)]),
            [
                inserted(1, "d", "%10!d!"),
                inserted(0, "s", "%12!s!"),
                Piece::Literal(" ".into()),
                Piece::Header { number: 3, spec: spec("04X") },
                origin(OriginPart::Place, "10s"),
                origin(OriginPart::Subcomponent, "s"),
            ]
        );
    }
}
