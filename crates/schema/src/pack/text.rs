//! One section of the pack's text: a provider with its events, or a classic class (format: `schemas/README.md`).

use std::sync::Arc;

use schemas::Releases;

use super::cell::parse_layout;
use super::layouts::PackLayout;
use crate::model::{EventSchema, Field, MapKind, SchemaError, ValueMap};
use crate::trust::Trust;

/// What a section says, in the order of its lines.
#[derive(Debug, Default)]
pub struct Section {
    /// Mask and name of keywords; without keywords whose mask is in no source.
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
    origins: Vec<(&'static str, Releases)>,
    /// All keywords by position.
    keywords: Vec<&'static str>,
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
            ["R", index, origins] if index == self.origins.len().to_string() => {
                self.origins.push((origins, Releases::of_origins(origins)?));
            }
            ["W", evidence] => self.evidence = Some(evidence),
            ["E", id, version, level, layouts, ref names @ ..] => {
                let level = if level == "-" { None } else { Some(number(level)?) };
                self.push((number(id)?, number(version)?, level), &self.manifest_names(names)?, layouts)?;
            }
            ["V", opcode, version, layouts, ref name @ ..] => {
                let names = self.classic_names(name.first().copied().unwrap_or(""));
                self.push((number(opcode)?, number(version)?, None), &names, layouts)?;
            }
            _ => return Err(format!("not a line of the format: `{line}`")),
        }
        Ok(())
    }

    fn keyword(&mut self, mask: &str, name: &'static str) -> Result<(), String> {
        if mask != "-" {
            let mask = u64::from_str_radix(mask, 16).map_err(|_| format!("mask `{mask}`"))?;
            self.section.keywords.push((mask, name.to_owned()));
        }
        self.keywords.push(name);
        Ok(())
    }

    /// The schema of an event but for its fields. Names: task, opcode, positions of keywords (blanks between), and the
    /// symbol of an event without a task.
    fn manifest_names(&self, names: &[&'static str]) -> Result<EventSchema, String> {
        let name = |i: usize| names.get(i).copied().filter(|n| !n.is_empty());
        let (task, opcode, symbol) = (name(0), name(1), name(3));
        let keyword = |at: &str| {
            let known = self.keywords.get(number::<usize>(at)?);
            known.map(|&name| name.to_owned()).ok_or_else(|| format!("keyword {at}"))
        };
        let keyword_names = name(2).into_iter().flat_map(|k| k.split(' ')).map(keyword).collect::<Result<_, _>>()?;
        let event_name = match (task, opcode) {
            (Some(task), Some(opcode)) => Some(format!("{task}/{opcode}")),
            (Some(task), None) => Some(task.to_owned()),
            (None, opcode) => symbol.or(opcode).map(str::to_owned),
        };
        let (task_name, opcode_name) = (task.map(str::to_owned), opcode.map(str::to_owned));
        Ok(EventSchema { event_name, task_name, opcode_name, keyword_names, fields: vec![] })
    }

    fn classic_names(&self, name: &str) -> EventSchema {
        let opcode_name = (!name.is_empty()).then(|| name.to_owned());
        let event_name =
            opcode_name.as_ref().map_or(self.event_prefix.to_owned(), |n| format!("{}/{n}", self.event_prefix));
        let task_name = Some(self.event_prefix.to_owned());
        EventSchema { event_name: Some(event_name), task_name, opcode_name, keyword_names: vec![], fields: vec![] }
    }

    /// Adds the layouts of an event, `0-1 3i1`: number, state, number of the origins.
    fn push(&mut self, key: (u16, u16, Option<u8>), names: &EventSchema, layouts: &str) -> Result<(), String> {
        let (id, version, level) = key;
        if self.section.layouts.last().is_some_and(|last| (last.id, last.version) > (id, version)) {
            return Err(format!("event {id} version {version} stands behind a higher one"));
        }
        for cell in layouts.split(' ') {
            let (layout, trust, origins) = layout_cell(cell)?;
            let fields = self.layouts.get(layout).ok_or_else(|| format!("layout {layout}"))?.clone();
            let &(origins, releases) = self.origins.get(origins).ok_or_else(|| format!("origins {origins}"))?;
            let schema = Arc::new(EventSchema { fields, ..names.clone() });
            let evidence = self.evidence;
            let layout = PackLayout { id, version, level, schema, origins, releases, trust, message: None, evidence };
            self.section.layouts.push(layout);
        }
        Ok(())
    }
}

/// Number, state and number of the origins of a layout.
fn layout_cell(cell: &str) -> Result<(usize, Trust, usize), String> {
    let at = cell.find(['-', 'i', 'd']).ok_or_else(|| format!("state of `{cell}`"))?;
    let (layout, rest) = cell.split_at(at);
    let trust = match rest.as_bytes().first() {
        Some(b'-') => Trust::Declared,
        Some(b'i') => Trust::Inferred,
        _ => Trust::Doubtful,
    };
    Ok((number(layout)?, trust, number(rest.get(1..).unwrap_or_default())?))
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
