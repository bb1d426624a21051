//! TMF files: the formats of a program's WPP messages, as `tracepdb` writes them.
//!
//! A header line names the message GUID, `#typev` lines one message each, and the lines in braces behind them the
//! arguments in wire order. Behind the messages, `#enumv` lines name the enumerations of the source code that arguments
//! show, with the values in braces. Grammar: observed in files of several drivers; item types of `defaultwpp.ini`.

mod line;

use std::cell::OnceCell;
use std::collections::{HashMap, HashSet};

use self::line::{Draft, Group, MAX_MESSAGE_BYTES, argument, enumerator, group, message, quoted, too_long};
use super::model::{MAX_BIT_NAMES, MapKind, SchemaError, ValueMap};
use super::text;
use super::wpp::{Argument, ArgumentType, MessageFormat, Names};

/// More rejected lines of a file are counted.
const MAX_REJECTIONS: usize = 1000;

/// What one file describes.
#[derive(Clone, Debug, Default)]
pub struct Tmf {
    /// The messages in file order.
    pub messages: Vec<MessageFormat>,
    /// The lines that were rejected; the rest stands.
    pub rejected: Vec<SchemaError>,
}

impl Tmf {
    /// Reads a TMF file in UTF-8, UTF-16 or code page 1252; several files may have been joined into one.
    pub fn parse(bytes: &[u8]) -> Tmf {
        let mut reader = Reader::default();
        for (line, number) in text::decode(bytes).lines().zip(1..) {
            reader.line(number, line.trim());
        }
        reader.end_block();
        reader.finish()
    }
}

/// Where in the file the reader stands.
#[derive(Default)]
enum State {
    #[default]
    Outside,
    /// Behind the line that a block begins with, before its `{`.
    Declared(Block),
    /// Between the braces.
    Inside(Block),
}

/// What a line with `#` begins.
enum Block {
    Message(Box<Draft>),
    Enumeration(Enumeration),
    /// Rejected or without a meaning for messages.
    Ignored,
}

/// An enumeration of the source code, whose values messages show whole or as flags.
struct Enumeration {
    line: usize,
    name: String,
    /// The number of messages before it.
    behind: usize,
    values: Vec<(u64, String)>,
    as_values: OnceCell<Names>,
    as_flags: OnceCell<Names>,
}

impl Enumeration {
    /// Its names; of several for one value the first.
    fn names(&self, kind: MapKind) -> Names {
        let made = match kind {
            MapKind::Values => &self.as_values,
            MapKind::Bits => &self.as_flags,
        };
        let make = || {
            let mut known = HashSet::new();
            let first = self.values.iter().filter(|(value, _)| known.insert(*value)).cloned();
            Names::new(ValueMap::new(self.name.as_str(), kind, first.collect()))
        };
        made.get_or_init(make).clone()
    }
}

#[derive(Default)]
struct Reader {
    state: State,
    group: Option<Group>,
    messages: Vec<Draft>,
    /// By name, those of one name in file order.
    enumerations: HashMap<String, Vec<Enumeration>>,
    /// Lines and reasons.
    rejected: Vec<(usize, String)>,
    uncounted: usize,
}

impl Reader {
    fn line(&mut self, number: usize, line: &str) {
        if line.is_empty() || line.starts_with("//") {
            return;
        }
        if is_directive(line) {
            self.end_block();
            self.state = State::Declared(self.directive(number, line));
            return;
        }
        self.state = match (std::mem::take(&mut self.state), line) {
            (State::Declared(block), "{") => State::Inside(block),
            (State::Inside(block), "}") => {
                self.close(block);
                State::Outside
            }
            (State::Inside(block), _) => State::Inside(self.within(block, number, line)),
            (State::Declared(block @ (Block::Message(_) | Block::Enumeration(_))), _) => {
                self.reject(number, format!("expected {{ behind the beginning of a block, found \"{}\"", quoted(line)));
                State::Declared(block)
            }
            (State::Outside | State::Declared(Block::Ignored), _) => {
                self.header(number, line);
                State::Outside
            }
        };
    }

    fn reject(&mut self, line: usize, reason: String) {
        if self.rejected.len() < MAX_REJECTIONS {
            self.rejected.push((line, reason));
        } else {
            self.uncounted += 1;
        }
    }

    /// Reads a line outside of blocks.
    fn header(&mut self, number: usize, line: &str) {
        match group(line) {
            None => self.reject(number, "expected the GUID of a group, a message or a comment".to_owned()),
            Some(Ok(group)) => self.group = Some(group),
            Some(Err(reason)) => {
                // Its messages are not those of the group before.
                self.group = None;
                self.reject(number, reason);
            }
        }
    }

    /// Reads the first line of a block.
    fn directive(&mut self, number: usize, line: &str) -> Block {
        let (word, declaration) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
        let parsed = match (word, &self.group) {
            ("#version" | "#level", _) => Ok(Block::Ignored),
            ("#enumv", _) if declaration.trim().is_empty() => Err("expected the name of an enumeration".to_owned()),
            ("#enumv", _) => {
                let name = declaration.trim().to_owned();
                let (behind, values) = (self.messages.len(), Vec::new());
                let (as_values, as_flags) = (OnceCell::new(), OnceCell::new());
                Ok(Block::Enumeration(Enumeration { line: number, name, behind, values, as_values, as_flags }))
            }
            ("#typev" | "#type", None) => Err("expected the GUID of the group before its first message".to_owned()),
            ("#typev" | "#type", Some(group)) => {
                message(number, declaration, group).map(|draft| Block::Message(Box::new(draft)))
            }
            _ => Err(format!("expected #typev, #type or #enumv, found \"{}\"", quoted(line))),
        };
        parsed.unwrap_or_else(|reason| {
            self.reject(number, reason);
            Block::Ignored
        })
    }

    /// Reads a line between braces; those of a rejected block go with it.
    fn within(&mut self, block: Block, number: usize, line: &str) -> Block {
        match block {
            Block::Message(draft) => self.argument(draft, number, line),
            Block::Enumeration(mut draft) => {
                match enumerator(line) {
                    Some(value) => draft.values.push(value),
                    None => self.reject(number, format!("expected a name and its value, found \"{}\"", quoted(line))),
                }
                Block::Enumeration(draft)
            }
            Block::Ignored => Block::Ignored,
        }
    }

    /// Adds an argument to a message. A message that grows too long is rejected whole.
    fn argument(&mut self, mut draft: Box<Draft>, number: usize, line: &str) -> Block {
        draft.bytes = draft.bytes.saturating_add(line.len());
        if draft.bytes > MAX_MESSAGE_BYTES {
            self.reject(number, too_long(draft.bytes));
            return Block::Ignored;
        }
        let argument = match argument(line) {
            Ok(argument) => {
                if let ArgumentType::Unknown(declared) = &argument.encoding {
                    self.reject(number, format!("expected a known type of argument, found \"{}\"", quoted(declared)));
                }
                argument
            }
            Err(reason) => {
                self.reject(number, reason);
                // Where the next item starts is unknown without this one.
                Argument::new("", 0, ArgumentType::Unknown(line.to_owned()))
            }
        };
        draft.arguments.push((number, argument));
        Block::Message(draft)
    }

    fn close(&mut self, block: Block) {
        match block {
            Block::Message(draft) => self.messages.push(*draft),
            Block::Enumeration(enumeration) => {
                self.enumerations.entry(enumeration.name.clone()).or_default().push(enumeration);
            }
            Block::Ignored => {}
        }
    }

    /// A block whose braces are missing or stay open is rejected.
    fn end_block(&mut self) {
        match std::mem::take(&mut self.state) {
            State::Declared(Block::Message(draft)) | State::Inside(Block::Message(draft)) => {
                self.reject(draft.line, format!("expected the arguments of message {} in braces", draft.number));
            }
            State::Declared(Block::Enumeration(draft)) | State::Inside(Block::Enumeration(draft)) => {
                self.reject(draft.line, format!("expected the values of {} in braces", quoted(&draft.name)));
            }
            State::Outside | State::Declared(Block::Ignored) | State::Inside(Block::Ignored) => {}
        }
    }

    /// Gives arguments the names of their enumerations.
    fn finish(mut self) -> Tmf {
        let drafts = std::mem::take(&mut self.messages);
        let messages = drafts.into_iter().enumerate().map(|(position, mut draft)| {
            for (line, argument) in &mut draft.arguments {
                self.name_values(position, *line, argument);
            }
            let arguments = draft.arguments.into_iter().map(|(_, argument)| argument).collect();
            let Draft { guid, number, origin, format, .. } = draft;
            MessageFormat { guid, number, origin, format, arguments }
        });
        let messages = messages.collect();
        self.rejected.sort_by_key(|&(line, _)| line);
        let last = self.rejected.last().map_or(0, |&(line, _)| line);
        let mut rejected: Vec<_> =
            self.rejected.into_iter().map(|(line, reason)| SchemaError::at_line(line, reason)).collect();
        if self.uncounted > 0 {
            rejected.push(SchemaError::at_line(last, format!("and {} more in this file", self.uncounted)));
        }
        Tmf { messages, rejected }
    }

    /// Files that were joined may have different enumerations of one name: each file's stand behind its messages.
    fn name_values(&mut self, position: usize, line: usize, argument: &mut Argument) {
        let Some(names) = argument.encoding.enumeration_mut() else { return };
        let (name, kind) = (names.map().name.as_str(), names.map().kind);
        let declared = self.enumerations.get(name).map_or(&[][..], Vec::as_slice);
        let behind = declared.partition_point(|enumeration| enumeration.behind <= position);
        let Some(enumeration) = declared.get(behind).or(declared.last()) else {
            let reason = format!("expected the enumeration \"{}\" in this file, found none", quoted(name));
            return self.reject(line, reason);
        };
        *names = enumeration.names(kind);
        let found = names.map().entries().len();
        if kind == MapKind::Bits && found > MAX_BIT_NAMES {
            let name = quoted(&names.map().name);
            let reason =
                format!("expected at most {MAX_BIT_NAMES} flags in \"{name}\", found {found}: the rest is not named");
            self.reject(line, reason);
        }
    }
}

/// Whether a line begins a block; expressions, labels and GUIDs do not begin like that.
fn is_directive(line: &str) -> bool {
    line.starts_with('#')
}

#[cfg(test)]
mod tests;
