//! Fields of a document as those of a schema.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::Arc;

use serde::Deserialize;
use serde::de::IntoDeserializer;
use serde::de::value::{Error as ValueError, StrDeserializer};

use crate::budget::Budget;
use crate::described_fields::{FieldPlace, Rule, nearest};
use crate::model::{Count, Field, FieldKind, FieldRef, Length, MapKind, Meaning, ValueMap, Wire};

/// Members of one event or structure beyond which none can be referred to.
const MAX_FIELDS: usize = 1 << 16;

/// A field as a document has it.
#[derive(Deserialize)]
pub(super) struct FieldIn<'a> {
    #[serde(borrow)]
    name: Cow<'a, str>,
    #[serde(borrow)]
    in_type: Cow<'a, str>,
    out_type: Option<Box<str>>,
    count: Option<Box<Rule>>,
    count_at: Option<FieldPlace>,
    length: Option<Box<Rule>>,
    length_at: Option<FieldPlace>,
    map: Option<Box<MapIn>>,
    #[serde(default)]
    optional: bool,
    #[serde(default)]
    hidden: bool,
    #[serde(default, borrow)]
    fields: Vec<FieldIn<'a>>,
}

/// Names of values as a document has them.
#[derive(Deserialize)]
pub(super) struct MapIn {
    name: String,
    kind: Box<str>,
    entries: Vec<EntryIn>,
}

#[derive(Deserialize)]
struct EntryIn {
    value: u64,
    name: String,
}

impl MapIn {
    /// The map.
    ///
    /// # Errors
    /// Why it is none.
    pub(super) fn read(self) -> Result<ValueMap, String> {
        let kind = match &*self.kind {
            "values" => MapKind::Values,
            "bits" => MapKind::Bits,
            other => return Err(format!("expected a map of kind values or bits, found {}", shown(other))),
        };
        Ok(ValueMap::new(self.name, kind, self.entries.into_iter().map(|entry| (entry.value, entry.name)).collect()))
    }
}

/// The maps of a document, equal ones once.
#[derive(Default)]
pub(super) struct Maps(HashMap<ValueMap, Arc<ValueMap>>);

impl Maps {
    fn share(&mut self, map: ValueMap, budget: &mut Budget) -> Result<Arc<ValueMap>, String> {
        if let Some(known) = self.0.get(&map) {
            return Ok(Arc::clone(known));
        }
        // Once as the key, and once for the fields.
        take(budget, 2 * map.footprint())?;
        let shared = Arc::new(map.clone());
        self.0.insert(map, Arc::clone(&shared));
        Ok(shared)
    }
}

/// Takes room.
///
/// # Errors
/// When there is not so much.
pub(super) fn take(budget: &mut Budget, bytes: usize) -> Result<(), String> {
    budget.take(bytes).then_some(()).ok_or_else(|| NO_ROOM.to_owned())
}

/// Why what there is no room for is left out.
pub(super) const NO_ROOM: &str = "expected a document that needs less memory: this is left out";

/// Reads the fields of one event.
pub(super) struct FieldReader<'m> {
    pub(super) maps: &'m mut Maps,
    pub(super) budget: &'m mut Budget,
    /// Of each level of structures, the outermost first, the names of the fields that stand before the one at hand.
    levels: Vec<Vec<String>>,
}

impl<'m> FieldReader<'m> {
    pub(super) fn new(maps: &'m mut Maps, budget: &'m mut Budget) -> Self {
        FieldReader { maps, budget, levels: Vec::new() }
    }

    /// The fields.
    ///
    /// # Errors
    /// What is wrong with the first of them that cannot be used.
    pub(super) fn read(&mut self, declared: Vec<FieldIn<'_>>) -> Result<Vec<Field>, String> {
        if declared.len() > MAX_FIELDS {
            return Err(format!("expected at most {MAX_FIELDS} fields, found {}", declared.len()));
        }
        self.levels.push(Vec::new());
        let mut fields = Vec::new();
        for field in declared {
            let field = self.field(field)?;
            if let Some(level) = self.levels.last_mut() {
                level.push(field.name.clone());
            }
            fields.push(field);
        }
        self.levels.pop();
        Ok(fields)
    }

    fn field(&mut self, declared: FieldIn<'_>) -> Result<Field, String> {
        take(self.budget, size_of::<Field>() + 2 * declared.name.len())?;
        let at = |reason: String| format!("field {}: {reason}", shown(&declared.name));
        let kind = if declared.in_type == "Struct" {
            FieldKind::Struct(self.read(declared.fields)?)
        } else {
            let wire: Wire = named(&declared.in_type, "in_type").map_err(at)?;
            let meaning = declared.out_type.as_deref().map(|name| named(name, "out_type")).transpose().map_err(at)?;
            let meaning: Meaning = meaning.unwrap_or_default();
            let length = self.length(declared.length.as_deref(), declared.length_at).map_err(at)?;
            FieldKind::Value { wire, meaning, length }
        };
        let map = declared.map.map(|map| self.maps.share(map.read()?, self.budget)).transpose().map_err(at)?;
        Ok(Field {
            count: self.count(declared.count.as_deref(), declared.count_at).map_err(at)?,
            name: declared.name.into_owned(),
            kind,
            map,
            optional: declared.optional,
            hidden: declared.hidden,
        })
    }

    fn length(&self, rule: Option<&Rule>, at: Option<FieldPlace>) -> Result<Length, String> {
        Ok(match rule {
            None => Length::Natural,
            Some(Rule::Constant(length)) => Length::Fixed(*length),
            Some(Rule::Field(name)) => Length::Field(self.place(name, at)?),
            Some(Rule::Prefixed | Rule::Rest) => {
                return Err("expected a length that is a constant or a field, found another rule".to_owned());
            }
        })
    }

    fn count(&self, rule: Option<&Rule>, at: Option<FieldPlace>) -> Result<Count, String> {
        Ok(match rule {
            None => Count::One,
            Some(Rule::Constant(count)) => Count::Fixed(*count),
            Some(Rule::Field(name)) => Count::Field(self.place(name, at)?),
            Some(Rule::Prefixed) => Count::Prefixed,
            Some(Rule::Rest) => Count::Rest,
        })
    }

    /// The earlier field that is meant.
    fn place(&self, name: &str, at: Option<FieldPlace>) -> Result<FieldRef, String> {
        let levels = self.levels.iter().map(|level| level.iter().map(String::as_str));
        let found = match at {
            None => nearest(name, levels),
            Some(FieldPlace { up, index }) => {
                let level = self.levels.iter().rev().nth(up.into());
                let is_there = level.and_then(|level| level.get(usize::from(index))).is_some_and(|own| own == name);
                is_there.then_some(FieldRef { up, index })
            }
        };
        found.ok_or_else(|| format!("expected an earlier field {}, found none", shown(name)))
    }
}

/// What a word of the documents stands for.
fn named<'a, T: Deserialize<'a>>(name: &'a str, key: &str) -> Result<T, String> {
    let word: StrDeserializer<'a, ValueError> = name.into_deserializer();
    T::deserialize(word).map_err(|_| format!("expected a known {key}, found {}", shown(name)))
}

/// The beginning of a name of the document, in quotes.
pub(super) fn shown(name: &str) -> String {
    const SHOWN: usize = 64;
    let mut text: String = name.chars().take(SHOWN).collect();
    if text.len() < name.len() {
        text.push('…');
    }
    format!("{text:?}")
}
