//! The format of a message, cut into pieces once.

use super::Origin;
use super::printf::Spec;

/// A part of a message's text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Piece {
    /// Text as it stands.
    Literal(String),
    /// An argument by its number.
    Item { number: u16, spec: Spec, source: String },
    /// A value of the message's header, by its number (3 to 9).
    Header { number: u8, spec: Spec },
}

/// Cuts a format. What the TMF file itself tells (function, level, source) becomes text here.
pub(super) fn pieces(format: &str, origin: &Origin) -> Vec<Piece> {
    let mut cutter = Cutter { origin, pieces: Vec::new(), literal: String::new() };
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

struct Cutter<'a> {
    origin: &'a Origin,
    pieces: Vec<Piece>,
    literal: String,
}

impl Cutter<'_> {
    fn flush(&mut self) {
        if !self.literal.is_empty() {
            self.pieces.push(Piece::Literal(std::mem::take(&mut self.literal)));
        }
    }

    /// Takes what follows a percent sign and returns what is left behind it.
    fn insertion<'t>(&mut self, text: &'t str) -> &'t str {
        let Some(first) = text.chars().next() else {
            self.literal.push('%');
            return text;
        };
        if first.is_ascii_digit() {
            return self.numbered(text);
        }
        if first == '!'
            && let Some((name, rest)) = text[1..].split_once('!')
            && let Some(value) = self.named(name)
        {
            self.literal.push_str(&value);
            return rest;
        }
        let plain = match first {
            'n' => '\n',
            'r' => '\r',
            't' => '\t',
            'b' => ' ',
            '%' | '.' | '!' => first,
            _ => {
                self.literal.push('%');
                return text;
            }
        };
        self.literal.push(plain);
        &text[1..]
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
        let (spec, rest) = match rest.strip_prefix('!').and_then(|spec| spec.split_once('!')) {
            Some((spec, behind)) if Spec::parse(spec).is_some() => (spec, behind),
            _ => ("s", rest),
        };
        let spec_source = spec;
        let Some(spec) = Spec::parse(spec) else { return rest };
        match u8::try_from(number) {
            // Processor, process, thread and time: the columns of the row have them.
            Ok(0) => return rest.trim_start_matches(' '),
            Ok(1) => self.literal.push_str(&spec.pad(&self.origin.provider)),
            Ok(2) => self.literal.push_str(&spec.pad(&self.origin.source_place)),
            Ok(number @ 3..=9) => self.push(Piece::Header { number, spec }),
            _ => {
                let source = format!("%{number}!{spec_source}!");
                self.push(Piece::Item { number, spec, source });
            }
        }
        rest
    }

    fn push(&mut self, piece: Piece) {
        self.flush();
        self.pieces.push(piece);
    }

    /// What `%!NAME!` stands for.
    fn named(&self, name: &str) -> Option<String> {
        let origin = self.origin;
        Some(match name {
            "FUNC" => origin.function.clone().unwrap_or_default(),
            "LEVEL" => origin.level.clone().unwrap_or_default(),
            "FLAGS" => origin.flags.clone().unwrap_or_default(),
            "FILE" if origin.source_file.is_empty() => origin.source_place.clone(),
            "FILE" => origin.source_file.clone(),
            "LINE" => origin.source_line().map(|line| line.to_string()).unwrap_or_default(),
            "COMPNAME" => origin.provider.clone(),
            // The same as %0.
            "STDPREFIX" => String::new(),
            _ => return None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn origin() -> Origin {
        Origin {
            provider: "Sample".into(),
            source_file: "Main.c".into(),
            source_place: "Main_c141".into(),
            level: Some("ERROR".into()),
            flags: None,
            function: Some("Run".into()),
        }
    }

    fn literal(format: &str) -> String {
        match &pieces(format, &origin())[..] {
            [] => String::new(),
            [Piece::Literal(text)] => text.clone(),
            other => panic!("{format} is no plain text: {other:?}"),
        }
    }

    #[test]
    fn what_the_file_tells_becomes_text() {
        for (format, expected) in [
            ("%0 [%!FUNC!] <--", "[Run] <--"),
            ("%!LEVEL! %!FLAGS! %!FILE!:%!LINE! %!COMPNAME!", "ERROR  Main.c:141 Sample"),
            ("%1 %2!10s!|", "Sample  Main_c141|"),
            ("100%% %n%t%.%!", "100% \n\t.!"),
            ("%!UNKNOWN! %x %", "!UNKNOWN! %x %"),
            ("%99999!d!", "%99999!d!"),
        ] {
            assert_eq!(literal(format), expected, "{format}");
        }
    }

    #[test]
    fn insertions_keep_number_and_spec() {
        let spec = |text: &str| Spec::parse(text).unwrap();
        let item = |number, text: &str| Piece::Item { number, spec: spec(text), source: format!("%{number}!{text}!") };
        assert_eq!(
            pieces("%10!d!%11 %3!04X!", &origin()),
            [item(10, "d"), item(11, "s"), Piece::Literal(" ".into()), Piece::Header { number: 3, spec: spec("04X") },]
        );
    }
}
