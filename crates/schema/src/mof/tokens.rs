//! Words, numbers, texts and marks of MOF.

use std::borrow::Cow;

/// What stands in the text, comments aside.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Token<'a> {
    /// A name, a type, a qualifier, `true`.
    Word(&'a str),
    /// What stands between quotes, escapes resolved.
    Text(Cow<'a, str>),
    /// A number as it is written: `0x1F`, `-1`, `2.5`.
    Number(&'a str),
    /// Any other character.
    Mark(char),
}

/// Tokens with their lines, counted from 1.
#[derive(Clone, Debug)]
pub(super) struct Tokens<'a> {
    rest: &'a str,
    line: usize,
}

impl<'a> Tokens<'a> {
    pub(super) fn new(text: &'a str) -> Tokens<'a> {
        Tokens { rest: text, line: 1 }
    }

    /// Takes `len` bytes.
    fn take(&mut self, len: usize) -> &'a str {
        let (taken, rest) = self.rest.split_at_checked(len).unwrap_or((self.rest, ""));
        self.rest = rest;
        self.line = self.line.saturating_add(taken.bytes().filter(|&byte| byte == b'\n').count());
        taken
    }

    /// Takes all up to the first character for which `is_end` holds.
    fn take_until(&mut self, is_end: impl Fn(char) -> bool) -> &'a str {
        let end = self.rest.find(is_end).unwrap_or(self.rest.len());
        self.take(end)
    }

    /// Takes blanks and comments.
    fn skip_blank(&mut self) {
        loop {
            self.take_until(|c| !c.is_whitespace());
            if self.rest.starts_with("//") {
                self.take_until(|c| c == '\n');
            } else if self.rest.starts_with("/*") {
                let end = self.rest.find("*/").map_or(self.rest.len(), |end| end.saturating_add(2));
                self.take(end);
            } else {
                return;
            }
        }
    }

    /// What stands before a closing quote, which is taken, too. Without one it is the rest of the line.
    fn quoted(&mut self, quote: char) -> Cow<'a, str> {
        let plain = self.take_until(|c| c == quote || c == '\\' || c == '\n');
        if !self.rest.starts_with('\\') {
            self.close(quote);
            return Cow::Borrowed(plain);
        }
        let mut text = plain.to_owned();
        while self.rest.starts_with('\\') {
            self.take(1);
            text.extend(self.escaped());
            text += self.take_until(|c| c == quote || c == '\\' || c == '\n');
        }
        self.close(quote);
        Cow::Owned(text)
    }

    fn close(&mut self, quote: char) {
        if self.rest.starts_with(quote) {
            self.take(quote.len_utf8());
        }
    }

    /// The character of an escape behind its backslash.
    fn escaped(&mut self) -> Option<char> {
        let c = self.rest.chars().next()?;
        self.take(c.len_utf8());
        Some(match c {
            'n' => '\n',
            't' => '\t',
            'r' => '\r',
            'b' => '\u{8}',
            'f' => '\u{c}',
            'x' | 'X' => {
                let digits = self.rest.bytes().take(4).take_while(u8::is_ascii_hexdigit).count();
                let code = u32::from_str_radix(self.take(digits), 16).ok()?;
                char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER)
            }
            other => other,
        })
    }
}

impl<'a> Iterator for Tokens<'a> {
    type Item = (usize, Token<'a>);

    fn next(&mut self) -> Option<(usize, Token<'a>)> {
        self.skip_blank();
        let line = self.line;
        let first = self.rest.chars().next()?;
        let is_word = |c: char| c.is_alphanumeric() || c == '_';
        let is_number = first.is_ascii_digit()
            || matches!(first, '-' | '+')
                && self.rest.get(1..).is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()));
        let token = match first {
            '"' | '\'' => {
                self.take(1);
                Token::Text(self.quoted(first))
            }
            _ if is_number => {
                let sign = usize::from(!first.is_ascii_digit());
                let digits = self.rest.get(sign..).unwrap_or_default();
                let len = digits.find(|c: char| !is_word(c) && c != '.').unwrap_or(digits.len());
                Token::Number(self.take(len.saturating_add(sign)))
            }
            _ if is_word(first) => Token::Word(self.take_until(|c| !is_word(c))),
            _ => {
                self.take(first.len_utf8());
                Token::Mark(first)
            }
        };
        Some((line, token))
    }
}

/// The value of a number: decimal, hexadecimal (`0x1F`) or binary (`101b`), not negative.
pub(super) fn number(text: &str) -> Option<u64> {
    let text = text.trim();
    if let Some(digits) = text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")) {
        return u64::from_str_radix(digits, 16).ok();
    }
    if let Some(digits) = text.strip_suffix(['b', 'B']) {
        return u64::from_str_radix(digits, 2).ok();
    }
    text.parse().ok()
}
