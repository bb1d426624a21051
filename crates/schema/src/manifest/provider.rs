//! One `<provider>` and its events.

use std::collections::HashMap;
use std::sync::Arc;

use base::guid::Guid;
use roxmltree::Node;

use super::model::{ManifestEvent, Provenance, ProviderSchemas};
use super::names::{Names, only_counts};
use super::strings::Strings;
use super::template::{Template, read_maps, read_templates};
use super::xml::{Rejections, attribute, grandchildren, guid_attribute, number_attribute};
use crate::budget::Budget;
use crate::model::EventSchema;
use crate::trust::Trust;
use crate::types;

/// Reads a provider; `None`, and a rejection, when it has no identity.
pub(super) fn read(
    node: Node<'_, '_>,
    strings: &Strings,
    budget: &mut Budget,
    rejections: &mut Rejections,
) -> Option<ProviderSchemas> {
    let Some(guid) = guid_attribute(node, "guid") else {
        rejections.report(node, "expected a GUID as guid of <provider>");
        return None;
    };
    // The mark of the tools that dump a machine's registrations.
    let regenerated = attribute(node, "source").is_some();
    let names = Names::read(node, strings, rejections);
    let maps = read_maps(node, strings, rejections);
    let templates = read_templates(node, &maps, regenerated, rejections);
    let mut reader = EventReader { names: &names, templates: &templates, strings, budget, rejections };
    let mut events: Vec<_> = grandchildren(node, "events", "event").filter_map(|event| reader.event(event)).collect();
    events.sort_by_key(|event| (event.id, event.version));
    let mut maps: Vec<_> = maps.into_values().collect();
    maps.sort_by(|a, b| a.name.cmp(&b.name));
    let schemas = ProviderSchemas {
        guid,
        name: attribute(node, "name").unwrap_or_default().to_owned(),
        group: guid_attribute(node, "groupGuid"),
        control: guid_attribute(node, "controlGuid"),
        regenerated,
        events,
        keywords: names.all_keywords(),
        tasks: names.all_tasks(),
        opcodes: names.all_opcodes(),
        classic_types: names.all_classic_types(),
        levels: names.all_levels(),
        channels: names.all_channels(),
        maps,
    };
    // The names are there already, and are not more than the text; but manifests of a trace add up.
    if !budget.is_spent() && !budget.take(names_footprint(&schemas)) {
        rejections.report(node, "expected a file that needs less memory: not all of it is kept");
    }
    Some(schemas)
}

/// About how many bytes the names of a provider take, besides its events.
fn names_footprint(schemas: &ProviderSchemas) -> usize {
    let text = |name: &String| size_of::<[usize; 4]>() + name.len();
    let own = schemas.keywords.iter().map(|(_, name)| text(name)).sum::<usize>()
        + schemas.tasks.iter().map(|task| text(&task.name) + size_of::<Guid>()).sum::<usize>()
        + schemas.opcodes.iter().map(|opcode| text(&opcode.name)).sum::<usize>();
    let levels = schemas.levels.iter().chain(&schemas.channels).map(|(_, name)| text(name)).sum::<usize>();
    let maps = schemas.maps.iter().map(|map| map.footprint()).sum::<usize>();
    size_of::<ProviderSchemas>() + own + levels + maps
}

struct EventReader<'a> {
    names: &'a Names,
    templates: &'a HashMap<&'a str, Template>,
    strings: &'a Strings,
    budget: &'a mut Budget,
    rejections: &'a mut Rejections,
}

impl<'a> EventReader<'a> {
    fn event(&mut self, node: Node<'_, '_>) -> Option<ManifestEvent> {
        let Some(id) = number_attribute(node, "value") else {
            self.rejections.report(node, "expected an event value of 16 bits");
            return None;
        };
        let Some(version) = attribute(node, "version").map_or(Some(0), |_| number_attribute(node, "version")) else {
            self.rejections.report(node, format!("expected a version of 8 bits on event {id}"));
            return None;
        };
        let template = self.template(node, id)?;
        let names = self.names;
        let task = self.reference(node, "task", |name| names.task(name)).unwrap_or(0);
        let opcode = self.reference(node, "opcode", |name| names.opcode(task, name)).unwrap_or(0);
        let (keywords, keyword_names) = self.keywords(node);
        let symbol = attribute(node, "symbol");
        let copied = [names.task_name(task), names.opcode_name(task, opcode), symbol].into_iter().flatten();
        let copied = copied.chain(keyword_names.iter().map(String::as_str));
        let wanted = template.bytes + copied.map(|name| 2 * (size_of::<String>() + name.len())).sum::<usize>();
        if !self.budget.take(size_of::<ManifestEvent>() + size_of::<EventSchema>() + wanted) {
            self.rejections.report(node, format!("expected a file that needs less memory: event {id} is left out"));
            return None;
        }
        // Where the task's name only counts, a tool has made the symbol of it.
        let is_own = !attribute(node, "task").is_some_and(|name| only_counts(name, "task", &task));
        let schema = Arc::new(self.schema((task, opcode), symbol.filter(|_| is_own), keyword_names, template));
        Some(ManifestEvent {
            id,
            version,
            channel: self.reference(node, "channel", |name| names.channel(name)),
            level: self.reference(node, "level", |name| names.level(name)).unwrap_or(0),
            opcode,
            task,
            keywords,
            symbol: symbol.map(str::to_owned),
            message: attribute(node, "message").map(|message| self.strings.text(message)),
            trust: if template.is_doubtful { Trust::Doubtful } else { Trust::Declared },
            schema,
            provenance: Provenance::default(),
        })
    }

    /// The event's template, an empty one if it has none; `None`, and a rejection, when it is not there.
    fn template(&mut self, node: Node<'_, '_>, id: u16) -> Option<&'a Template> {
        static NO_FIELDS: Template = Template { fields: Vec::new(), is_doubtful: false, bytes: 0 };
        let Some(tid) = attribute(node, "template") else { return Some(&NO_FIELDS) };
        let found = self.templates.get(tid);
        if found.is_none() {
            self.rejections.report(node, format!("expected template \"{tid}\" of event {id}, found none"));
        }
        found
    }

    fn reference<V>(&mut self, node: Node<'_, '_>, name: &str, find: impl Fn(&str) -> Option<V>) -> Option<V> {
        let wanted = attribute(node, name)?;
        let found = find(wanted);
        if found.is_none() {
            self.rejections.report(node, format!("expected a declared {name}, found \"{wanted}\""));
        }
        found
    }

    fn keywords(&mut self, node: Node<'_, '_>) -> (u64, Vec<String>) {
        let mut named = Vec::new();
        let mut all = 0;
        for name in attribute(node, "keywords").unwrap_or_default().split_whitespace() {
            match self.names.keyword(name) {
                Some((mask, shown)) => {
                    all |= mask;
                    named.push((mask.trailing_zeros(), shown));
                }
                None => self.rejections.report(node, format!("expected a declared keyword, found \"{name}\"")),
            }
        }
        named.sort_unstable();
        named.dedup();
        let shown = named.into_iter().map(|(_, shown)| shown.to_owned()).filter(|shown| !shown.is_empty());
        (all, shown.collect())
    }

    fn schema(
        &self,
        (task, opcode): (u16, u8),
        symbol: Option<&str>,
        keyword_names: Vec<String>,
        template: &Template,
    ) -> EventSchema {
        let task_name = self.names.task_name(task).filter(|_| task != 0);
        let opcode_name = self.names.opcode_name(task, opcode);
        let shown_opcode = opcode_name.filter(|_| opcode != 0);
        let event_name = match (task_name, symbol) {
            // Without a task nothing but the symbol distinguishes the provider's events.
            (None, Some(symbol)) => Some(symbol.to_owned()),
            _ => types::event_name(task_name, shown_opcode),
        };
        EventSchema {
            event_name,
            task_name: task_name.map(str::to_owned),
            opcode_name: opcode_name.map(str::to_owned),
            keyword_names,
            fields: template.fields.clone(),
        }
    }
}
