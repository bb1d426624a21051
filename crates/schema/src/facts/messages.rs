//! WPP messages of a document.

use std::collections::HashMap;
use std::sync::Arc;

use base::guid::Guid;
use serde::Deserialize;

use super::fields::{MapIn, take};
use crate::budget::Budget;
use crate::model::{MapKind, ValueMap};
use crate::wpp::{Argument, ArgumentType, MessageFormat, MessageOrigin, Names};

/// A message as a document has it.
#[derive(Deserialize)]
pub(super) struct MessageIn {
    pub(super) number: u16,
    #[serde(default)]
    program: String,
    #[serde(default)]
    source_file: String,
    #[serde(default)]
    place: String,
    level: Option<String>,
    flags: Option<String>,
    function: Option<String>,
    component: Option<String>,
    subcomponent: Option<String>,
    format: String,
    #[serde(default)]
    arguments: Vec<ArgumentIn>,
}

#[derive(Deserialize)]
struct ArgumentIn {
    number: u16,
    expression: String,
    item: Option<String>,
    #[serde(default)]
    labels: Vec<String>,
    map: Option<MapIn>,
}

/// What messages share: names of values, and texts of a source file.
#[derive(Default)]
pub(super) struct Shared {
    names: HashMap<blake3::Hash, Names>,
    texts: HashMap<String, Arc<str>>,
}

impl Shared {
    fn text(&mut self, text: String) -> Arc<str> {
        Arc::clone(self.texts.entry(text).or_insert_with_key(|text| Arc::from(text.as_str())))
    }

    fn names(&mut self, map: ValueMap, budget: &mut Budget) -> Result<Names, String> {
        let footprint = map.footprint();
        let names = Names::new(map);
        if let Some(known) = self.names.get(&names.digest()) {
            return Ok(known.clone());
        }
        take(budget, footprint)?;
        self.names.insert(names.digest(), names.clone());
        Ok(names)
    }
}

impl MessageIn {
    /// The message of a GUID.
    ///
    /// # Errors
    /// What is wrong with it.
    pub(super) fn read(self, guid: Guid, shared: &mut Shared, budget: &mut Budget) -> Result<MessageFormat, String> {
        let texts = [&self.level, &self.flags, &self.function, &self.component, &self.subcomponent];
        let texts = texts.into_iter().flatten().chain([&self.program, &self.source_file, &self.place, &self.format]);
        take(budget, size_of::<MessageFormat>() + texts.map(String::len).sum::<usize>())?;
        let origin = MessageOrigin {
            provider: shared.text(self.program),
            source_file: shared.text(self.source_file),
            source_place: self.place,
            level: self.level,
            flags: self.flags,
            function: self.function,
            component: self.component,
            subcomponent: self.subcomponent,
        };
        let mut arguments = Vec::new();
        for argument in self.arguments {
            arguments.push(argument.read(shared, budget)?);
        }
        Ok(MessageFormat { guid, number: self.number, origin, format: self.format, arguments })
    }
}

impl ArgumentIn {
    fn read(self, shared: &mut Shared, budget: &mut Budget) -> Result<Argument, String> {
        let Some(item) = self.item else {
            return Err(format!(
                "expected the item type of argument {} as item, found none: export it anew",
                self.number
            ));
        };
        take(budget, size_of::<Argument>() + self.expression.len() + item.len())?;
        let mut encoding = ArgumentType::parse(&item);
        let kind = match &encoding {
            ArgumentType::Set { .. } | ArgumentType::FlagsEnumeration(_) => MapKind::Bits,
            _ => MapKind::Values,
        };
        let map = match self.map {
            Some(map) => Some(map.read()?).filter(|map| map.kind == kind).ok_or_else(|| mismatch(self.number))?,
            None => ValueMap::new("", kind, counted(self.labels, kind)?),
        };
        if let Some(names) = encoding.names_mut() {
            *names = shared.names(map, budget)?;
        }
        Ok(Argument::new(&self.expression, self.number, encoding))
    }
}

fn mismatch(number: u16) -> String {
    format!("expected a map of the kind that the item type of argument {number} has, found another")
}

/// Labels with their values, which count from 0, or from the lowest bit.
fn counted(labels: Vec<String>, kind: MapKind) -> Result<Vec<(u64, String)>, String> {
    if kind == MapKind::Bits && labels.len() > 64 {
        return Err(format!("expected at most 64 labels of bits, found {}", labels.len()));
    }
    let value = |at: u32| match kind {
        MapKind::Values => u64::from(at),
        MapKind::Bits => 1_u64.wrapping_shl(at),
    };
    Ok((0_u32..).map(value).zip(labels).collect())
}
