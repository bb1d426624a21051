//! Declarations of classes. Nothing nests but a property in a class, so nothing is read by recursion.

use std::borrow::Cow;
use std::iter::Peekable;

use super::faults::{Faults, quoted};
use super::qualifiers::{Qualifiers, is_used};
use super::tokens::{Token, Tokens, number};
use crate::budget::Budget;

/// A class as it is declared.
#[derive(Debug)]
pub(super) struct Class<'a> {
    pub(super) line: usize,
    pub(super) name: &'a str,
    pub(super) base: Option<&'a str>,
    pub(super) qualifiers: Qualifiers<'a>,
    pub(super) properties: Vec<Property<'a>>,
}

/// A property of a class.
#[derive(Debug)]
pub(super) struct Property<'a> {
    pub(super) line: usize,
    pub(super) kind: &'a str,
    pub(super) name: &'a str,
    pub(super) array: Array,
    pub(super) qualifiers: Qualifiers<'a>,
}

/// What stands behind the name of a property.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Array {
    /// Nothing.
    None,
    /// `[]`
    Open,
    /// `[12]`
    Fixed(u32),
}

/// Whether a text looks like MOF from its beginning: a directive, or the qualifiers of a class and the class.
pub fn is_mof(text: &str) -> bool {
    let mut parser = Parser::new(text, Budget::new(1 << 20));
    match parser.next() {
        Some(Token::Mark('#')) => parser.is_word("pragma"),
        Some(Token::Mark('[')) => parser.qualifiers().is_some() && parser.is_word("class") && parser.is_name_of_class(),
        Some(Token::Word(word)) => word.eq_ignore_ascii_case("class") && parser.is_name_of_class(),
        _ => false,
    }
}

/// The classes of a text. What is kept is taken from `budget`.
pub(super) fn classes<'a>(text: &'a str, budget: Budget, faults: &mut Faults) -> Vec<Class<'a>> {
    let mut parser = Parser::new(text, budget);
    let mut classes = Vec::new();
    while let Some((line, token)) = parser.tokens.peek().cloned() {
        parser.line = line;
        let mut qualifiers = Some(Qualifiers::default());
        match token {
            Token::Mark(';') => {
                parser.next();
                continue;
            }
            Token::Mark('#') => {
                parser.directive();
                continue;
            }
            Token::Mark('[') => {
                parser.next();
                qualifiers = parser.qualifiers();
            }
            _ => {}
        }
        match qualifiers.map(|qualifiers| parser.declaration(qualifiers, faults)) {
            Some(Ok(class)) => classes.extend(class),
            Some(Err(reason)) => {
                faults.report(parser.line, reason);
                parser.skip_declaration();
            }
            None => {
                faults.report(line, "expected qualifiers in brackets, with commas between");
                parser.skip_declaration();
            }
        }
        if parser.budget.is_spent() {
            faults.report(parser.line, "expected a file that needs less memory: the rest of it is left out");
            break;
        }
    }
    classes
}

struct Parser<'a> {
    tokens: Peekable<Tokens<'a>>,
    /// That of the token taken last.
    line: usize,
    /// How many braces are open.
    depth: usize,
    budget: Budget,
}

impl<'a> Parser<'a> {
    fn new(text: &'a str, budget: Budget) -> Parser<'a> {
        Parser { tokens: Tokens::new(text).peekable(), line: 1, depth: 0, budget }
    }

    fn next(&mut self) -> Option<Token<'a>> {
        let (line, token) = self.tokens.next()?;
        self.line = line;
        match token {
            Token::Mark('{') => self.depth = self.depth.saturating_add(1),
            Token::Mark('}') => self.depth = self.depth.saturating_sub(1),
            _ => {}
        }
        Some(token)
    }

    fn peek(&mut self) -> Option<&Token<'a>> {
        self.tokens.peek().map(|(_, token)| token)
    }

    /// Takes a mark, if it comes next.
    fn is_mark(&mut self, mark: char) -> bool {
        let is = self.peek() == Some(&Token::Mark(mark));
        if is {
            self.next();
        }
        is
    }

    /// Takes a word in any case, if it comes next.
    fn is_word(&mut self, word: &str) -> bool {
        let is = matches!(self.peek(), Some(Token::Word(found)) if found.eq_ignore_ascii_case(word));
        if is {
            self.next();
        }
        is
    }

    fn word(&mut self) -> Option<&'a str> {
        let found = match self.peek() {
            Some(Token::Word(word)) => Some(*word),
            _ => None,
        };
        if found.is_some() {
            self.next();
        }
        found
    }

    fn expected<T>(&mut self, what: &str) -> Result<T, String> {
        Err(match self.peek() {
            None => format!("expected {what}, found the end of the file"),
            Some(Token::Word(word) | Token::Number(word)) => format!("expected {what}, found {}", quoted(word)),
            Some(Token::Text(text)) => format!("expected {what}, found \"{}\"", quoted(text)),
            Some(Token::Mark(mark)) => format!("expected {what}, found {}", mark.escape_debug()),
        })
    }

    /// Whether a name comes next, and what may stand behind that of a class.
    fn is_name_of_class(&mut self) -> bool {
        self.word().is_some() && matches!(self.next(), Some(Token::Mark(':' | '{' | ';')))
    }

    /// Takes `#pragma name (…)`.
    fn directive(&mut self) {
        self.next();
        while self.word().is_some() {}
        if self.is_mark('(') {
            while !matches!(self.next(), None | Some(Token::Mark(')'))) {}
        }
    }

    /// Takes all up to a semicolon outside of braces.
    fn skip_declaration(&mut self) {
        while let Some(token) = self.next() {
            if token == Token::Mark(';') && self.depth == 0 {
                return;
            }
        }
    }

    /// Takes all up to a semicolon, or to the brace that closes the class, which is left; `depth` is that of the class.
    fn skip_property(&mut self, depth: usize) {
        while !(self.depth <= depth && self.peek() == Some(&Token::Mark('}'))) {
            if matches!(self.next(), None | Some(Token::Mark(';'))) && self.depth <= depth {
                return;
            }
            if self.peek().is_none() {
                return;
            }
        }
    }

    /// The qualifiers behind an opening bracket, up to the closing one; `None` where they are none.
    fn qualifiers(&mut self) -> Option<Qualifiers<'a>> {
        let mut qualifiers = Qualifiers::default();
        loop {
            let name = self.word()?;
            let values = self.values()?;
            while self.is_mark(':') {
                while self.word().is_some() {}
            }
            let bytes = values.iter().map(|value| size_of::<Cow<'_, str>>().saturating_add(value.len())).sum::<usize>();
            if is_used(name) && self.budget.take(bytes.saturating_add(size_of::<(&str, Vec<Cow<'_, str>>)>())) {
                qualifiers.add(name, values);
            }
            if self.is_mark(']') {
                return Some(qualifiers);
            }
            if !self.is_mark(',') {
                return None;
            }
        }
    }

    /// What stands behind the name of a qualifier: nothing, a value, or several.
    fn values(&mut self) -> Option<Vec<Cow<'a, str>>> {
        let end = if self.is_mark('(') {
            ')'
        } else if self.is_mark('{') {
            '}'
        } else {
            return Some(Vec::new());
        };
        let mut values = Vec::new();
        while !self.is_mark(end) {
            values.push(self.value()?);
            if !self.is_mark(',') {
                return self.is_mark(end).then_some(values);
            }
        }
        Some(values)
    }

    /// A value as text; texts that stand side by side are one.
    fn value(&mut self) -> Option<Cow<'a, str>> {
        match self.next()? {
            Token::Word(text) | Token::Number(text) => Some(Cow::Borrowed(text)),
            Token::Text(mut text) => {
                while let Some(Token::Text(more)) = self.peek() {
                    text.to_mut().push_str(more);
                    self.next();
                }
                Some(text)
            }
            Token::Mark(_) => None,
        }
    }

    /// What stands behind qualifiers; `None` for what is no class.
    fn declaration(&mut self, qualifiers: Qualifiers<'a>, faults: &mut Faults) -> Result<Option<Class<'a>>, String> {
        let Some(word) = self.word() else { return self.expected("a class") };
        if !word.eq_ignore_ascii_case("class") {
            if ["instance", "qualifier"].iter().any(|other| word.eq_ignore_ascii_case(other)) {
                self.skip_declaration();
                return Ok(None);
            }
            return Err(format!("expected a class, found {}", quoted(word)));
        }
        let line = self.line;
        let Some(name) = self.word() else { return self.expected("the name of a class") };
        let base = if self.is_mark(':') { self.word() } else { None };
        if !self.budget.take(size_of::<Class<'_>>()) {
            return Ok(None);
        }
        let mut class = Class { line, name, base, qualifiers, properties: Vec::new() };
        if self.is_mark(';') {
            return Ok(Some(class));
        }
        if !self.is_mark('{') {
            return self.expected("the properties of a class in braces");
        }
        let depth = self.depth;
        while !self.is_mark('}') {
            if self.peek().is_none() {
                return self.expected("the end of the class");
            }
            match self.property(depth) {
                Ok(property) if self.budget.take(size_of::<Property<'_>>()) => class.properties.extend(property),
                Ok(_) => {}
                Err(reason) => {
                    faults.report(self.line, reason);
                    self.skip_property(depth);
                }
            }
        }
        self.is_mark(';');
        Ok(Some(class))
    }

    /// A property up to its semicolon; `None` for a method.
    fn property(&mut self, depth: usize) -> Result<Option<Property<'a>>, String> {
        let mut qualifiers = Qualifiers::default();
        if self.is_mark('[') {
            let Some(found) = self.qualifiers() else {
                return self.expected("qualifiers in brackets, with commas between");
            };
            qualifiers = found;
        }
        let Some(kind) = self.word() else { return self.expected("the type of a property") };
        let line = self.line;
        let is_reference = self.is_word("ref");
        let Some(name) = self.word() else { return self.expected("the name of a property") };
        if self.is_mark('(') {
            self.skip_property(depth);
            return Ok(None);
        }
        let array = self.array()?;
        if self.is_mark('=') {
            self.skip_property(depth);
        } else if !self.is_mark(';') {
            return self.expected("a semicolon behind a property");
        }
        let kind = if is_reference { "ref" } else { kind };
        Ok(Some(Property { line, kind, name, array, qualifiers }))
    }

    fn array(&mut self) -> Result<Array, String> {
        if !self.is_mark('[') {
            return Ok(Array::None);
        }
        let mut array = Array::Open;
        if let Some(Token::Number(text)) = self.peek().cloned() {
            let Some(count) = number(text).and_then(|count| u32::try_from(count).ok()) else {
                return self.expected("a number of elements");
            };
            self.next();
            array = Array::Fixed(count);
        }
        if self.is_mark(']') { Ok(array) } else { self.expected("] behind a number of elements") }
    }
}
