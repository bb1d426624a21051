//! WPP messages: what a TMF file says of them, and their text.
//!
//! A message carries neither types nor text, only a GUID, a number and its arguments back to back. The item types
//! are those of `defaultwpp.ini`; the format is that of `FormatMessage`, with a `printf` format between exclamation
//! marks.

mod format;
mod item;
mod labels;
mod printf;
mod render;
mod time;
mod value;

use std::borrow::Cow;
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::Arc;

use self::format::{OriginPart, Piece};
use crate::guid::Guid;

pub use self::item::{Item, ItemKind};
pub use self::labels::Names;
pub(crate) use self::labels::number;
pub use self::render::{ArgumentStatus, HeaderValues, Rendered, Renderer};

/// Where in the program a message comes from.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Origin {
    /// The program or its folder.
    pub provider: Arc<str>,
    /// The source file, if the TMF file names it.
    pub source_file: Arc<str>,
    /// Source file and line as one word, with `_` for `.`: `Main_c141`.
    pub source_place: String,
    /// The level's name.
    pub level: Option<String>,
    /// The flag's name.
    pub flags: Option<String>,
    /// The function.
    pub function: Option<String>,
    /// The component, if the tracing code names one.
    pub component: Option<String>,
    /// The part of the component, if the tracing code names one.
    pub subcomponent: Option<String>,
}

impl Origin {
    /// The line in the source file, if [`Origin::source_place`] ends in one.
    pub fn source_line(&self) -> Option<u32> {
        let digits = self.source_place.trim_end_matches(|c: char| c.is_ascii_digit()).len();
        self.source_place.get(digits..)?.parse().ok()
    }

    /// The text of a part; empty when the TMF file does not tell it.
    fn part(&self, part: OriginPart) -> Cow<'_, str> {
        let text: &str = match part {
            OriginPart::Provider => &self.provider,
            OriginPart::File if !self.source_file.is_empty() => &self.source_file,
            OriginPart::File | OriginPart::Place => &self.source_place,
            OriginPart::Line => return self.source_line().map_or(Cow::Borrowed(""), |line| line.to_string().into()),
            OriginPart::Function => self.function.as_deref().unwrap_or_default(),
            OriginPart::Level => self.level.as_deref().unwrap_or_default(),
            OriginPart::Flags => self.flags.as_deref().unwrap_or_default(),
            OriginPart::Component => self.component.as_deref().unwrap_or_default(),
            OriginPart::Subcomponent => self.subcomponent.as_deref().unwrap_or_default(),
        };
        Cow::Borrowed(text)
    }
}

/// How one message is declared.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MessageFormat {
    /// The message GUID, shared by the messages of a source file.
    pub guid: Guid,
    /// The number of the message under its GUID.
    pub number: u16,
    /// Where in the program it comes from.
    pub origin: Origin,
    /// The text with its insertions, as declared.
    pub format: String,
    /// The arguments in wire order.
    pub items: Vec<Item>,
}

/// How one message is read and shown: made once, for messages that a trace holds.
#[derive(Debug)]
pub struct MessagePlan {
    format: Arc<MessageFormat>,
    /// How the text first inserts each argument: a conversion of `printf`.
    conversions: Vec<u8>,
    pieces: Vec<Piece>,
}

impl MessagePlan {
    /// Cuts the text of a message into pieces.
    pub fn new(format: Arc<MessageFormat>) -> MessagePlan {
        let pieces = format::pieces(&format.format, &format.items);
        MessagePlan { conversions: conversions(&pieces, format.items.len()), pieces, format }
    }
}

/// The conversion of each argument's first insertion; `s` for those that the text does not insert.
fn conversions(pieces: &[Piece], items: usize) -> Vec<u8> {
    let mut conversions = vec![None; items];
    for piece in pieces {
        if let Piece::Item { index, spec, .. } = piece
            && let Some(conversion) = conversions.get_mut(*index)
        {
            conversion.get_or_insert(spec.conversion);
        }
    }
    conversions.into_iter().map(|conversion| conversion.unwrap_or(b's')).collect()
}

/// All known messages, by GUID and number.
#[derive(Clone, Debug, Default)]
pub struct MessageTable {
    messages: HashMap<(Guid, u16), Arc<MessageFormat>>,
}

impl MessageTable {
    /// An empty table.
    pub fn new() -> Self {
        MessageTable::default()
    }

    /// Adds messages; the first of a GUID and number stands. Returns how many different ones were turned away.
    pub fn extend(&mut self, messages: impl IntoIterator<Item = MessageFormat>) -> usize {
        let mut conflicts = 0;
        for message in messages {
            match self.messages.entry((message.guid, message.number)) {
                Entry::Occupied(known) => conflicts += usize::from(**known.get() != message),
                Entry::Vacant(place) => {
                    place.insert(Arc::new(message));
                }
            }
        }
        conflicts
    }

    /// Adds the messages of a table that ranks behind this one.
    pub fn append(&mut self, lower: &MessageTable) {
        for (key, message) in &lower.messages {
            self.messages.entry(*key).or_insert_with(|| Arc::clone(message));
        }
    }

    /// All messages by GUID and number.
    pub fn sorted(&self) -> Vec<&Arc<MessageFormat>> {
        let mut all: Vec<_> = self.messages.values().collect();
        all.sort_by_key(|message| (message.guid, message.number));
        all
    }

    /// The message of a GUID and number.
    pub fn get(&self, guid: Guid, number: u16) -> Option<&Arc<MessageFormat>> {
        self.messages.get(&(guid, number))
    }

    /// How many messages are known.
    pub fn len(&self) -> usize {
        self.messages.len()
    }

    /// Whether no message is known.
    pub fn is_empty(&self) -> bool {
        self.messages.is_empty()
    }
}
