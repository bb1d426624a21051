//! Message templates: what an event says in words, with insertions for its fields.
//!
//! The rules are those of `FormatMessage` and of the message compiler: `%1` to `%99` are the fields of the event in
//! declared order, each with a format of `printf` behind it where it likes (`%1!08x!`), `%n` is a new line, `%%` a percent
//! sign, `%0` the end. `%%1833` is the number of a parameter string, which only the provider's own files have: it stays.

use crate::printf::Spec;

/// The greatest number of an insertion.
pub const MAX_NUMBER: usize = 99;

/// Longer templates are not used: `FormatMessage` makes no longer text.
pub const MAX_TEMPLATE_BYTES: usize = 64 << 10;

/// Longer messages are cut, and so is a longer list of the arguments of one: a template may insert one value many times over,
/// and one byte may have a long name. Messages that insert each value once never come near it.
pub const MAX_TEXT_BYTES: usize = 256 << 10;

/// A part of a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Part {
    /// Text as it stands.
    Literal(String),
    /// The value of a field.
    Insertion {
        /// The position of the field among those of the event, from 0.
        index: usize,
        /// How it is shown; `None` for the way in which values are shown where nothing asks for another.
        spec: Option<Spec>,
        /// The insertion as it is declared, which stands for a field that is not there.
        source: String,
    },
}

/// Cuts a template into its parts. Nothing is an error: what is no insertion is text.
pub fn parts(template: &str) -> Vec<Part> {
    let mut cutter = Cutter::default();
    let mut rest = Some(template);
    while let Some(text) = rest {
        let Some((before, behind)) = text.split_once('%') else {
            cutter.literal.push_str(text);
            break;
        };
        cutter.literal.push_str(before);
        rest = cutter.escape(behind);
    }
    cutter.flush();
    cutter.parts
}

#[derive(Default)]
struct Cutter {
    parts: Vec<Part>,
    literal: String,
}

impl Cutter {
    fn flush(&mut self) {
        if !self.literal.is_empty() {
            self.parts.push(Part::Literal(std::mem::take(&mut self.literal)));
        }
    }

    /// Takes what follows a percent sign and returns what is left behind it; nothing where the message ends.
    fn escape<'t>(&mut self, text: &'t str) -> Option<&'t str> {
        let mut characters = text.chars();
        match characters.next() {
            Some('0') => return None,
            Some('1'..='9') => return Some(self.insertion(text)),
            Some('n') => self.literal.push('\n'),
            Some('r') => self.literal.push('\r'),
            Some('t') => self.literal.push('\t'),
            Some('b') => self.literal.push(' '),
            Some('%') => {
                // Of a parameter string both signs stay.
                let is_parameter = characters.as_str().starts_with(|c: char| c.is_ascii_digit());
                self.literal.push_str(if is_parameter { "%%" } else { "%" });
            }
            Some(other) => self.literal.push(other),
            None => self.literal.push('%'),
        }
        Some(characters.as_str())
    }

    /// `1`, `12!x!`.
    fn insertion<'t>(&mut self, text: &'t str) -> &'t str {
        let digits = text.bytes().take(2).take_while(u8::is_ascii_digit).count();
        let (digits, behind) = text.split_at(digits);
        let declared = behind.strip_prefix('!').and_then(|spec| spec.split_once('!'));
        let declared = declared.and_then(|(source, rest)| Some((Spec::parse(source)?, rest)));
        let (spec, rest) = declared.map_or((None, behind), |(spec, rest)| (Some(spec), rest));
        let number = digits.parse::<usize>().unwrap_or(0).clamp(1, MAX_NUMBER);
        let length = text.len() - rest.len();
        let source = format!("%{}", text.get(..length).unwrap_or(digits));
        self.flush();
        self.parts.push(Part::Insertion { index: number - 1, spec, source });
        rest
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The parts as they would be declared, insertions as `<position source>`.
    fn shown(template: &str) -> String {
        let show = |part: &Part| match part {
            Part::Literal(text) => text.clone(),
            Part::Insertion { index, spec, source } => {
                format!("<{index} {source}{}>", if spec.is_some() { " formatted" } else { "" })
            }
        };
        parts(template).iter().map(show).collect()
    }

    #[test]
    fn templates_follow_format_message() {
        for (template, expected) in [
            ("", ""),
            ("plain", "plain"),
            ("a %1 b %2", "a <0 %1> b <1 %2>"),
            ("%99%100", "<98 %99><9 %10>0"),
            ("%1!d!%2!S!", "<0 %1!d! formatted><1 %2!S! formatted>"),
            ("%1!08I64x!.", "<0 %1!08I64x! formatted>."),
            // No format, and none that is closed.
            ("Hi %1! Bye!", "Hi <0 %1>! Bye!"),
            ("Hi %1!", "Hi <0 %1>!"),
            ("%1!*.*s!", "<0 %1>!*.*s!"),
            ("a%nb%tc%rd%be", "a\nb\tc\rd e"),
            ("100 %% of %1", "100 % of <0 %1>"),
            ("%%1833 and %%%1", "%%1833 and %<0 %1>"),
            ("a%.b%!c% d", "a.b!c d"),
            ("%q", "q"),
            ("one%0 two", "one"),
            ("end %", "end %"),
            ("%1ä%ß", "<0 %1>äß"),
        ] {
            assert_eq!(shown(template), expected, "{template}");
        }
    }

    proptest! {
        #[test]
        fn any_text_is_a_template(text in "(%|[0-9]|!|[a-zä]){0,40}") {
            let length: usize = parts(&text).iter().map(|part| match part {
                Part::Literal(text) => text.len(),
                Part::Insertion { source, .. } => source.len(),
            }).sum();
            prop_assert!(length <= text.len());
        }
    }
}
