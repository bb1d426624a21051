//! A provider of a document: its keys in any order, its events and messages one at a time.

use std::fmt;

use base::guid::Guid;
use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};

use super::events::{EventIn, KeywordIn, mask};
use super::fields::{Maps, NO_ROOM, shown, take};
use super::messages::{MessageIn, Shared};
use crate::budget::Budget;
use crate::manifest::{ManifestEvent, ProviderSchemas};
use crate::model::SchemaError;
use crate::wpp::MessageFormat;

/// More rejected declarations of a document are a number.
const MAX_REJECTIONS: usize = 1000;

/// What a document declares, as it is read.
pub(super) struct Reader {
    pub(super) budget: Budget,
    pub(super) maps: Maps,
    pub(super) shared: Shared,
    /// Of each provider its kind.
    pub(super) providers: Vec<(Kind, ProviderSchemas)>,
    pub(super) messages: Vec<MessageFormat>,
    pub(super) rejected: Vec<SchemaError>,
    pub(super) uncounted: usize,
    is_full: bool,
}

/// What kind of events a provider of a document has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Manifest,
    Classic,
}

impl Reader {
    pub(super) fn new(room: usize) -> Reader {
        Reader {
            budget: Budget::new(room),
            maps: Maps::default(),
            shared: Shared::default(),
            providers: Vec::new(),
            messages: Vec::new(),
            rejected: Vec::new(),
            uncounted: 0,
            is_full: false,
        }
    }

    fn reject(&mut self, location: String, message: String) {
        if self.rejected.len() < MAX_REJECTIONS {
            self.rejected.push(SchemaError { location, message });
        } else {
            self.uncounted += 1;
        }
    }

    /// Takes note of what is wrong within a provider. Whatever follows one that there is no room for has none, either: that is said
    /// once.
    fn note(&mut self, draft: &mut Draft, at: String, reason: String) {
        let is_full = reason.ends_with(NO_ROOM);
        if is_full && std::mem::replace(&mut self.is_full, true) {
            return;
        }
        if is_full || draft.rejected.len() < MAX_REJECTIONS {
            draft.rejected.push((at, reason));
        } else {
            self.uncounted += 1;
        }
    }

    /// Adds a provider whose keys are read.
    fn add(&mut self, mut draft: Draft) {
        let name = if draft.name.is_empty() { draft.guid.as_str() } else { draft.name.as_str() };
        let place = format!("provider {}", shown(name));
        for (at, reason) in std::mem::take(&mut draft.rejected) {
            self.reject(format!("{place}, {at}"), reason);
        }
        let Ok(guid) = draft.guid.parse::<Guid>() else {
            return self.reject(place, "expected a GUID as guid of the provider".to_owned());
        };
        let mut failed = Draft::default();
        for message in draft.messages {
            let number = message.number;
            match message.read(guid, &mut self.shared, &mut self.budget) {
                Ok(message) => self.messages.push(message),
                Err(reason) => self.note(&mut failed, format!("message {number}"), reason),
            }
        }
        for (at, reason) in failed.rejected {
            self.reject(format!("{place}, {at}"), reason);
        }
        let kind = match draft.kind.as_str() {
            "manifest" => Kind::Manifest,
            "classic" => Kind::Classic,
            "wpp" | "named" => return,
            other => {
                let reason = format!("expected manifest, classic or wpp as its kind, found {}", shown(other));
                return self.reject(place, reason);
            }
        };
        let guid_of = |text: Option<String>| text.and_then(|text| text.parse().ok());
        let mut events = draft.events;
        events.sort_by_key(|event| (event.id, event.version));
        self.providers.push((
            kind,
            ProviderSchemas {
                guid,
                name: draft.name,
                group: guid_of(draft.group),
                control: guid_of(draft.control),
                keywords: draft.keywords,
                events,
                ..ProviderSchemas::default()
            },
        ));
    }
}

/// A provider while its keys are read.
#[derive(Default)]
struct Draft {
    name: String,
    guid: String,
    kind: String,
    group: Option<String>,
    control: Option<String>,
    keywords: Vec<(u64, String)>,
    events: Vec<ManifestEvent>,
    messages: Vec<MessageIn>,
    /// Within the provider, which may be named behind what is wrong with it.
    rejected: Vec<(String, String)>,
}

/// Reads one provider.
pub(super) struct ProviderSeed<'r>(pub(super) &'r mut Reader);

impl<'de> DeserializeSeed<'de> for ProviderSeed<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<(), D::Error> {
        from.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for ProviderSeed<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a provider")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        let mut draft = Draft::default();
        while let Some(key) = map.next_key::<String>()? {
            match key.as_str() {
                "name" => draft.name = map.next_value()?,
                "guid" => draft.guid = map.next_value()?,
                "kind" => draft.kind = map.next_value()?,
                "group" => draft.group = map.next_value()?,
                "control" => draft.control = map.next_value()?,
                "keywords" => map.next_value_seed(KeywordSeed { reader: &mut *self.0, draft: &mut draft })?,
                "known_events" => map.next_value_seed(EventSeed { reader: &mut *self.0, draft: &mut draft })?,
                "known_messages" => map.next_value_seed(MessageSeed { reader: &mut *self.0, draft: &mut draft })?,
                _ => drop(map.next_value::<IgnoredAny>()?),
            }
        }
        self.0.add(draft);
        Ok(())
    }
}

/// Defines what reads a list of a provider, one entry at a time.
macro_rules! list {
    ($seed:ident, $what:literal, $entry:ty, |$reader:ident, $draft:ident, $value:ident| $take:expr) => {
        struct $seed<'r> {
            reader: &'r mut Reader,
            draft: &'r mut Draft,
        }

        impl<'de> DeserializeSeed<'de> for $seed<'_> {
            type Value = ();

            fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<(), D::Error> {
                from.deserialize_seq(self)
            }
        }

        impl<'de> Visitor<'de> for $seed<'_> {
            type Value = ();

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(concat!("a list of ", $what))
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut entries: A) -> Result<(), A::Error> {
                let ($reader, $draft) = (self.reader, self.draft);
                while let Some($value) = entries.next_element::<$entry>()? {
                    $take
                }
                Ok(())
            }
        }
    };
}

list!(KeywordSeed, "keywords", KeywordIn<'de>, |reader, draft, keyword| {
    let bits = mask(&keyword.mask);
    let room = take(&mut reader.budget, size_of::<[usize; 4]>() + keyword.name.len());
    match bits.and_then(|bits| room.map(|()| bits)) {
        Ok(bits) => draft.keywords.push((bits, keyword.name)),
        Err(reason) => reader.note(draft, format!("keyword {}", shown(&keyword.name)), reason),
    }
});

list!(EventSeed, "events", EventIn<'de>, |reader, draft, event| {
    let label = event.label();
    match event.read(&mut reader.maps, &mut reader.budget) {
        Ok(events) => draft.events.extend(events),
        Err(reason) => reader.note(draft, label, reason),
    }
});

list!(MessageSeed, "messages", MessageIn, |reader, draft, message| {
    // Its provider's GUID may stand behind it; until then it takes as much as it will.
    if reader.budget.is_spent() {
        reader.note(draft, format!("message {}", message.number), NO_ROOM.to_owned());
    } else {
        draft.messages.push(message);
    }
});
