//! A whole document.

use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error as _, IgnoredAny, MapAccess, SeqAccess, Visitor};

use super::provider::{Kind, ProviderSeed, Reader};
use crate::describe::FORMAT;
use crate::manifest::ProviderSchemas;
use crate::model::SchemaError;
use crate::text;
use crate::wpp::MessageFormat;

/// What all that a document declares may take; that of all built-in schemas takes a third of it.
const MAX_KEPT_BYTES: usize = 384 << 20;

/// What a document declares.
#[derive(Clone, Debug, Default)]
pub struct Facts {
    /// Providers with an event id, in document order.
    pub providers: Vec<ProviderSchemas>,
    /// Classes of classic events, whose events are known by their opcodes, in document order.
    pub classes: Vec<ProviderSchemas>,
    /// WPP messages in document order.
    pub messages: Vec<MessageFormat>,
    /// What was rejected; the rest stands.
    pub rejected: Vec<SchemaError>,
}

impl Facts {
    /// The longest document that is read, in bytes: that of all built-in schemas has half as many.
    pub const MAX_BYTES: usize = 192 << 20;

    /// Reads a document in UTF-8 or UTF-16.
    ///
    /// # Errors
    /// When it is no JSON, or no document of this form, with the line.
    pub fn parse(bytes: &[u8]) -> Result<Facts, SchemaError> {
        Facts::parse_within(bytes, MAX_KEPT_BYTES)
    }

    /// Like [`Facts::parse`]; what is kept takes about so many bytes at most, and what is beyond is left out.
    ///
    /// # Errors
    /// Those of [`Facts::parse`].
    pub fn parse_within(bytes: &[u8], room: usize) -> Result<Facts, SchemaError> {
        let text = text::decode(bytes);
        let mut reader = Reader::new(room);
        let mut json = serde_json::Deserializer::from_str(&text);
        let read = DocumentSeed(&mut reader).deserialize(&mut json).and_then(|()| json.end());
        read.map_err(|cause| SchemaError::at_line(cause.line(), cause.to_string()))?;
        let mut facts = Facts { messages: reader.messages, rejected: reader.rejected, ..Facts::default() };
        for (kind, provider) in reader.providers {
            match kind {
                Kind::Manifest => facts.providers.push(provider),
                Kind::Classic => facts.classes.push(provider),
            }
        }
        if reader.uncounted > 0 {
            let message = format!("{} more declarations are rejected", reader.uncounted);
            facts.rejected.push(SchemaError { location: "the rest".to_owned(), message });
        }
        Ok(facts)
    }

    /// Whether nothing is declared.
    pub fn is_empty(&self) -> bool {
        self.providers.is_empty() && self.classes.is_empty() && self.messages.is_empty()
    }
}

/// Whether text begins as such documents do.
pub fn is_facts(head: &str) -> bool {
    head.trim_start().starts_with('{') && head.contains("\"providers\"")
}

struct DocumentSeed<'r>(&'r mut Reader);

impl<'de> DeserializeSeed<'de> for DocumentSeed<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<(), D::Error> {
        from.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for DocumentSeed<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a document of schema export")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        let (mut format, mut has_providers) = (None, false);
        while let Some(key) = map.next_key::<String>()? {
            match key.as_str() {
                "format" => format = Some(map.next_value::<u32>()?),
                "providers" => {
                    has_providers = true;
                    map.next_value_seed(ProvidersSeed(&mut *self.0))?;
                }
                _ => drop(map.next_value::<IgnoredAny>()?),
            }
        }
        match format {
            Some(FORMAT) if has_providers => Ok(()),
            Some(FORMAT) => Err(A::Error::custom("expected the key providers, found none")),
            Some(other) => Err(A::Error::custom(format!("expected format {FORMAT}, found format {other}"))),
            None => Err(A::Error::custom("expected the key format, found none")),
        }
    }
}

struct ProvidersSeed<'r>(&'r mut Reader);

impl<'de> DeserializeSeed<'de> for ProvidersSeed<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<(), D::Error> {
        from.deserialize_seq(self)
    }
}

impl<'de> Visitor<'de> for ProvidersSeed<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list of providers")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut providers: A) -> Result<(), A::Error> {
        while providers.next_element_seed(ProviderSeed(&mut *self.0))?.is_some() {}
        Ok(())
    }
}
