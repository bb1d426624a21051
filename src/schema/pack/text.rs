//! One section of the pack's text: a provider with its events, or a classic class (format: `schemas/README.md`).

use std::collections::HashMap;
use std::sync::Arc;

use super::cell::parse_layout;
use super::layouts::PackLayout;
use crate::schema::model::{EventSchema, Field, MapKind, SchemaError, ValueMap};
use crate::schema::trust::Trust;

/// What a section says, in the order of its lines.
#[derive(Debug, Default)]
pub struct Section {
    /// Mask and name of keywords.
    pub keywords: Vec<(u64, String)>,
    /// Number and name of tasks.
    pub tasks: Vec<(u16, String)>,
    /// Task (`None`: whatever the task), number and name of opcodes.
    pub opcodes: Vec<(Option<u16>, u8, String)>,
    /// The layouts by id and version.
    pub layouts: Vec<PackLayout>,
}

/// Reads a section. `event_prefix` stands before the event names of a class.
///
/// # Errors
/// What is no line of the format, with its number.
pub fn parse_section(text: &'static str, event_prefix: &str) -> Result<Section, SchemaError> {
    let mut reader = Reader { event_prefix, ..Reader::default() };
    for (number, line) in text.lines().enumerate() {
        reader.line(line).map_err(|what| SchemaError::at_line(number + 1, what))?;
    }
    Ok(reader.section)
}

#[derive(Default)]
struct Reader<'a> {
    section: Section,
    event_prefix: &'a str,
    maps: Vec<Arc<ValueMap>>,
    layouts: Vec<Vec<Field>>,
    masks: HashMap<&'static str, u64>,
    evidence: Option<&'static str>,
}

impl Reader<'_> {
    fn line(&mut self, line: &'static str) -> Result<(), String> {
        if line.starts_with('#') {
            return Ok(());
        }
        let cells: Vec<&'static str> = line.split('\t').collect();
        match cells[..] {
            ["P" | "C", ..] => {}
            ["K", mask, name] => self.keyword(mask, name)?,
            ["T", value, name] => self.section.tasks.push((number(value)?, name.to_owned())),
            ["O", task, value, name] => {
                let task = if task == "*" { None } else { Some(number(task)?) };
                self.section.opcodes.push((task, number(value)?, name.to_owned()));
            }
            ["M", index, kind, name, ref entries @ ..] if index == self.maps.len().to_string() => {
                self.maps.push(Arc::new(map(kind, name, entries)?));
            }
            ["L", index, ref cells @ ..] if index == self.layouts.len().to_string() => {
                self.layouts.push(parse_layout(cells, &self.maps)?);
            }
            ["W", evidence] => self.evidence = Some(evidence),
            ["E", id, version, level, layout, origins, state, ref names @ ..] => {
                let level = if level == "-" { None } else { Some(number(level)?) };
                let schema = self.manifest_schema(layout, names)?;
                self.push((number(id)?, number(version)?, level), schema, origins, state)?;
            }
            ["V", opcode, version, layout, origins, state, ref name @ ..] => {
                let schema = self.classic_schema(layout, name.first().copied().unwrap_or(""))?;
                self.push((number(opcode)?, number(version)?, None), schema, origins, state)?;
            }
            _ => return Err(format!("not a line of the format: `{line}`")),
        }
        Ok(())
    }

    fn keyword(&mut self, mask: &str, name: &'static str) -> Result<(), String> {
        let mask = u64::from_str_radix(mask, 16).map_err(|_| format!("mask `{mask}`"))?;
        self.masks.entry(name).or_insert(mask);
        self.section.keywords.push((mask, name.to_owned()));
        Ok(())
    }

    fn fields(&self, layout: &str) -> Result<Vec<Field>, String> {
        self.layouts.get(number::<usize>(layout)?).cloned().ok_or_else(|| format!("layout {layout}"))
    }

    /// Names: task, opcode, keywords (blanks between), and the symbol of an event without a task.
    fn manifest_schema(&self, layout: &str, names: &[&'static str]) -> Result<EventSchema, String> {
        let name = |i: usize| names.get(i).copied().filter(|n| !n.is_empty());
        let (task, opcode, symbol) = (name(0), name(1), name(3));
        let mut keywords: Vec<&'static str> = name(2).map_or_else(Vec::new, |k| k.split(' ').collect());
        keywords.sort_by_key(|k| self.masks.get(k).copied().unwrap_or(u64::MAX));
        let event_name = match (task, opcode) {
            (Some(task), Some(opcode)) => Some(format!("{task}/{opcode}")),
            (Some(task), None) => Some(task.to_owned()),
            (None, opcode) => symbol.or(opcode).map(str::to_owned),
        };
        Ok(EventSchema {
            event_name,
            task_name: task.map(str::to_owned),
            opcode_name: opcode.map(str::to_owned),
            keyword_names: keywords.into_iter().map(str::to_owned).collect(),
            fields: self.fields(layout)?,
        })
    }

    fn classic_schema(&self, layout: &str, name: &str) -> Result<EventSchema, String> {
        let opcode_name = (!name.is_empty()).then(|| name.to_owned());
        let event_name =
            opcode_name.as_ref().map_or(self.event_prefix.to_owned(), |n| format!("{}/{n}", self.event_prefix));
        let task_name = Some(self.event_prefix.to_owned());
        let fields = self.fields(layout)?;
        Ok(EventSchema { event_name: Some(event_name), task_name, opcode_name, keyword_names: vec![], fields })
    }

    fn push(
        &mut self,
        key: (u16, u16, Option<u8>),
        schema: EventSchema,
        origins: &'static str,
        state: &str,
    ) -> Result<(), String> {
        let trust = match state {
            "-" => Trust::Declared,
            "i" => Trust::Inferred,
            "d" => Trust::Doubtful,
            _ => return Err(format!("state `{state}`")),
        };
        let (id, version, level) = key;
        let schema = Arc::new(schema);
        let layout = PackLayout { id, version, level, schema, origins, trust, evidence: self.evidence };
        if self.section.layouts.last().is_some_and(|last| (last.id, last.version) > (id, version)) {
            return Err(format!("event {id} version {version} stands behind a higher one"));
        }
        self.section.layouts.push(layout);
        Ok(())
    }
}

fn number<T: std::str::FromStr>(text: &str) -> Result<T, String> {
    text.parse().map_err(|_| format!("number `{text}`"))
}

fn map(kind: &str, name: &str, entries: &[&str]) -> Result<ValueMap, String> {
    let kind = match kind {
        "v" => MapKind::Values,
        "b" => MapKind::Bits,
        _ => return Err(format!("map kind `{kind}`")),
    };
    let entry = |text: &&str| {
        let (value, label) = text.split_once('=').ok_or_else(|| format!("map entry `{text}`"))?;
        let value = u64::from_str_radix(value, 16).map_err(|_| format!("map value `{value}`"))?;
        Ok((value, label.to_owned()))
    };
    let entries = entries.iter().map(entry).collect::<Result<_, String>>()?;
    Ok(ValueMap::new(name, kind, entries))
}
