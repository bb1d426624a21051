//! How schemas and message formats are written and read back: the maps of their values, which many fields share, apart
//! from them and each once. Written out with each field, they could take gigabytes.

use std::collections::HashMap;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::model::{EventSchema, Field, FieldKind, ValueMap};
use super::wpp::{MessageFormat, Names};

/// Schemas and their maps.
#[derive(Deserialize)]
struct StoredSchemas {
    maps: Vec<Arc<ValueMap>>,
    schemas: Vec<StoredSchema>,
}

#[derive(Deserialize)]
struct StoredSchema {
    schema: EventSchema,
    maps: Vec<FieldMap>,
}

/// A field by its place in the schema, members counted behind their structure, and the map that it uses.
type FieldMap = (u32, u32);

#[derive(Serialize)]
struct SchemasRef<'a> {
    maps: Vec<&'a ValueMap>,
    schemas: Vec<SchemaRef<'a>>,
}

#[derive(Serialize)]
struct SchemaRef<'a> {
    schema: &'a EventSchema,
    maps: Vec<FieldMap>,
}

/// Numbers maps, equal ones once.
#[derive(Default)]
struct MapList<'a> {
    maps: Vec<&'a ValueMap>,
    /// Most fields that share a map share its memory, too.
    by_address: HashMap<*const ValueMap, u32>,
    by_value: HashMap<&'a ValueMap, u32>,
}

impl<'a> MapList<'a> {
    fn add(&mut self, map: &'a Arc<ValueMap>) -> u32 {
        *self.by_address.entry(Arc::as_ptr(map)).or_insert_with(|| {
            *self.by_value.entry(map).or_insert_with(|| {
                self.maps.push(map);
                number(self.maps.len() - 1)
            })
        })
    }
}

fn number(place: usize) -> u32 {
    u32::try_from(place).unwrap_or(u32::MAX)
}

/// Calls `look` with every field and its place, members behind their structure.
fn each_field<'a>(fields: &'a [Field], next: &mut u32, look: &mut impl FnMut(u32, &'a Field)) {
    for field in fields {
        look(*next, field);
        *next = next.saturating_add(1);
        if let FieldKind::Struct(members) = &field.kind {
            each_field(members, next, look);
        }
    }
}

/// The same with fields to be changed.
fn each_field_mut(fields: &mut [Field], next: &mut u32, change: &mut impl FnMut(u32, &mut Field)) {
    for field in fields {
        change(*next, field);
        *next = next.saturating_add(1);
        if let FieldKind::Struct(members) = &mut field.kind {
            each_field_mut(members, next, change);
        }
    }
}

/// For `#[serde(with)]` on a list of schemas.
pub mod schemas {
    use serde::de::Error as _;
    use serde::{Deserializer, Serializer};

    use super::{
        Arc, Deserialize, EventSchema, MapList, SchemaRef, SchemasRef, Serialize, StoredSchema, StoredSchemas,
        each_field, each_field_mut,
    };

    /// Writes schemas, each distinct table of value names once.
    pub fn serialize<S: Serializer>(schemas: &[Arc<EventSchema>], serializer: S) -> Result<S::Ok, S::Error> {
        let mut maps = MapList::default();
        let mut stored = Vec::with_capacity(schemas.len());
        for schema in schemas {
            let mut of_fields = Vec::new();
            each_field(&schema.fields, &mut 0, &mut |place, field| {
                of_fields.extend(field.map.as_ref().map(|map| (place, maps.add(map))));
            });
            stored.push(SchemaRef { schema, maps: of_fields });
        }
        SchemasRef { maps: maps.maps, schemas: stored }.serialize(serializer)
    }

    /// Reads them back.
    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<Arc<EventSchema>>, D::Error> {
        let StoredSchemas { maps, schemas } = StoredSchemas::deserialize(deserializer)?;
        let whole = |StoredSchema { mut schema, maps: of_fields }: StoredSchema| {
            let mut wanted = of_fields.iter().peekable();
            let mut is_known = true;
            each_field_mut(&mut schema.fields, &mut 0, &mut |place, field| {
                if let Some((_, map)) = wanted.next_if(|(wanted, _)| *wanted == place) {
                    field.map = maps.get(*map as usize).cloned();
                    is_known &= field.map.is_some();
                }
            });
            let is_whole = is_known && wanted.next().is_none();
            is_whole.then(|| Arc::new(schema)).ok_or_else(|| D::Error::custom("a field has names that are not there"))
        };
        schemas.into_iter().map(whole).collect()
    }
}

/// Message formats and the names of their arguments' values.
#[derive(Deserialize)]
struct StoredMessages {
    names: Vec<ValueMap>,
    messages: Vec<MessageFormat>,
}

#[derive(Serialize)]
struct MessagesRef<'a> {
    names: Vec<&'a ValueMap>,
    messages: &'a [Arc<MessageFormat>],
}

/// For `#[serde(with)]` on a list of message formats.
pub mod messages {
    use serde::de::Error as _;
    use serde::{Deserializer, Serializer};

    use super::{Arc, Deserialize, HashMap, MessageFormat, MessagesRef, Names, Serialize, StoredMessages};

    /// Writes formats of messages.
    pub fn serialize<S: Serializer>(messages: &[Arc<MessageFormat>], serializer: S) -> Result<S::Ok, S::Error> {
        let mut known = std::collections::HashSet::new();
        let arguments = messages.iter().flat_map(|message| &message.arguments);
        let used = arguments.filter_map(|argument| argument.encoding.names());
        let names = used.filter(|names| known.insert(names.digest())).map(Names::map).collect();
        MessagesRef { names, messages }.serialize(serializer)
    }

    /// Reads them back.
    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<Arc<MessageFormat>>, D::Error> {
        let StoredMessages { names, messages } = StoredMessages::deserialize(deserializer)?;
        let names: HashMap<_, Names> = names.into_iter().map(Names::new).map(|names| (names.digest(), names)).collect();
        let whole = |mut message: MessageFormat| {
            for wanted in message.arguments.iter_mut().filter_map(|argument| argument.encoding.names_mut()) {
                let found = names.get(&wanted.digest());
                *wanted = found.ok_or_else(|| D::Error::custom("an argument has names that are not there"))?.clone();
            }
            Ok(Arc::new(message))
        };
        messages.into_iter().map(whole).collect()
    }
}
