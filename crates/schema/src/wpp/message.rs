//! What a TMF file says of messages.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::Arc;

use base::guid::Guid;
use serde::{Deserialize, Serialize};

use super::argument::Argument;
use super::origin::MessageOrigin;

/// How one message is declared.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct MessageFormat {
    /// The message GUID, shared by the messages of a source file.
    pub guid: Guid,
    /// The number of the message under its GUID.
    pub number: u16,
    /// Where in the program it comes from.
    pub origin: MessageOrigin,
    /// The text with its insertions, as declared.
    pub format: String,
    /// The arguments in wire order.
    pub arguments: Vec<Argument>,
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
