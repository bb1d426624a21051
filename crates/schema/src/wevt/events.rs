//! `EVNT`: the events of a provider.

use std::collections::HashMap;
use std::sync::Arc;

use super::maps::Maps;
use super::names::Names;
use super::reader::Reader;
use super::template::{self, Template};
use crate::manifest::{ManifestEvent, Provenance};
use crate::model::EventSchema;
use crate::trust::Trust;
use crate::types;

/// Bytes before the first event, and of each.
const HEAD: u32 = 16;
const EVENT: u32 = 48;
/// More keywords than an event has: one for each bit.
const MAX_KEYWORDS: u32 = 64;
/// The bits that keywords have; in the others stand channels.
const KEYWORDS: u64 = (1 << 56) - 1;

/// What an event's element says.
struct EventItem {
    id: u16,
    version: u8,
    channel: u8,
    level: u8,
    opcode: u8,
    task: u16,
    keywords: u64,
    message: u32,
    /// Where the template lies; 0 for none.
    template: u32,
    /// How many keywords it refers to, and where their places stand.
    keyword_list: (u32, u32),
}

impl EventItem {
    fn read(reader: &Reader<'_>, at: u32) -> Option<EventItem> {
        let place = |offset: u32| at.checked_add(offset);
        Some(EventItem {
            id: reader.u16(at)?,
            version: reader.u8(place(2)?)?,
            channel: reader.u8(place(3)?)?,
            level: reader.u8(place(4)?)?,
            opcode: reader.u8(place(5)?)?,
            task: reader.u16(place(6)?)?,
            keywords: reader.u64(place(8)?)?,
            message: reader.u32(place(16)?)?,
            template: reader.u32(place(20)?)?,
            keyword_list: (reader.u32(place(36)?)?, reader.u32(place(40)?)?),
        })
    }
}

/// Reads the events of one provider.
pub(super) struct EventReader<'r, 'a> {
    reader: &'r mut Reader<'a>,
    names: &'r Names,
    maps: &'r Maps,
    /// The templates that are read, by their places; `None` for what is none.
    templates: HashMap<u32, Option<Arc<Template>>>,
}

impl<'r, 'a> EventReader<'r, 'a> {
    pub(super) fn new(reader: &'r mut Reader<'a>, names: &'r Names, maps: &'r Maps) -> Self {
        EventReader { reader, names, maps, templates: HashMap::new() }
    }

    /// The events of a list, in the order of the file.
    pub(super) fn all(&mut self, list: u32) -> Vec<ManifestEvent> {
        if !self.reader.is_sign(*b"EVNT", list) {
            return Vec::new();
        }
        let events = self.reader.list(list.saturating_add(8), list.saturating_add(HEAD), EVENT);
        events.filter_map(|at| self.event(at)).collect()
    }

    fn event(&mut self, at: u32) -> Option<ManifestEvent> {
        let item = EventItem::read(self.reader, at)?;
        let template = self.template(item.template, at, item.id)?;
        let keyword_names = self.keywords(item.keyword_list, at);
        let names = self.names;
        let copied = [names.task(item.task), names.opcode(item.task, item.opcode)].into_iter().flatten();
        let copied = copied.chain(keyword_names.iter().map(String::as_str));
        let copied: usize = copied.map(|name| 2 * (size_of::<String>() + name.len())).sum();
        let wanted = template.bytes + copied + self.reader.messages.footprint(item.message);
        if !self.reader.budget.take(size_of::<ManifestEvent>() + size_of::<EventSchema>() + wanted) {
            self.reader.report(at, format!("expected a file that needs less memory: event {} is left out", item.id));
            return None;
        }
        Some(ManifestEvent {
            id: item.id,
            version: item.version,
            channel: (item.channel != 0).then_some(item.channel),
            level: item.level,
            opcode: item.opcode,
            task: item.task,
            keywords: item.keywords & KEYWORDS,
            symbol: None,
            message: self.reader.messages.text(item.message),
            trust: if template.is_doubtful { Trust::Doubtful } else { Trust::Declared },
            schema: Arc::new(self.schema((item.task, item.opcode), keyword_names, &template)),
            provenance: Provenance::default(),
        })
    }

    /// The event's template, an empty one if it has none; `None`, and a fault, when it is not there.
    fn template(&mut self, place: u32, at: u32, id: u16) -> Option<Arc<Template>> {
        if place == 0 {
            return Some(Arc::default());
        }
        let (reader, maps) = (&mut *self.reader, self.maps);
        let read = || template::read(reader, maps, place).map(Arc::new);
        let found = self.templates.entry(place).or_insert_with(read).clone();
        if found.is_none() {
            self.reader.report(at, format!("expected the template of event {id}, found none"));
        }
        found
    }

    /// The shown names of the event's keywords, lowest bit first.
    fn keywords(&mut self, (count, place): (u32, u32), at: u32) -> Vec<String> {
        if count > MAX_KEYWORDS {
            self.reader.report(at, format!("expected at most {MAX_KEYWORDS} keywords, found {count}"));
        }
        let mut named = Vec::new();
        for entry in (0..count.min(MAX_KEYWORDS)).map(|number| place.saturating_add(number.saturating_mul(4))) {
            match self.reader.u32(entry).and_then(|keyword| self.names.keywords.get(keyword)) {
                Some(keyword) => named.push((keyword.mask.trailing_zeros(), keyword.shown.as_str())),
                None => self.reader.report(entry, "expected a declared keyword, found none"),
            }
        }
        named.sort_unstable();
        named.dedup();
        named.into_iter().map(|(_, shown)| shown.to_owned()).filter(|shown| !shown.is_empty()).collect()
    }

    fn schema(&self, (task, opcode): (u16, u8), keyword_names: Vec<String>, template: &Template) -> EventSchema {
        let task_name = self.names.task(task).filter(|_| task != 0);
        let opcode_name = self.names.opcode(task, opcode);
        EventSchema {
            event_name: types::event_name(task_name, opcode_name.filter(|_| opcode != 0)),
            task_name: task_name.map(str::to_owned),
            opcode_name: opcode_name.map(str::to_owned),
            keyword_names,
            fields: template.fields.clone(),
        }
    }
}
