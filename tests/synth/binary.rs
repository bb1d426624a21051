//! Programs of Windows with what the compiler of manifests puts into their resources.
//!
//! Places are labels until all is written: whoever points somewhere names what lies there.

use std::collections::HashMap;

use super::payload::{Guid, len16, len32};

/// The number that stands for no message.
pub const NO_MESSAGE: u32 = 0xFFFF_FFFF;

/// An item of a template, as it lies in the file.
#[derive(Clone, Debug, Default)]
pub struct TemplateItem {
    pub flags: u32,
    /// In type, out type and two zeros; of a structure the number of its first member and how many there are, 16 bits each.
    pub kind: [u8; 4],
    /// The map of its values by name, if it has one.
    pub map: &'static str,
    pub count: u16,
    pub length: u16,
    pub name: &'static str,
}

/// A value of an in type and an out type.
pub fn value(name: &'static str, in_type: u8, out_type: u8) -> TemplateItem {
    TemplateItem { kind: [in_type, out_type, 0, 0], name, ..TemplateItem::default() }
}

/// A structure of so many members, of which the first is the item of this number.
pub fn structure(name: &'static str, first: u8, members: u8) -> TemplateItem {
    TemplateItem { flags: 1, kind: [first, 0, members, 0], name, ..TemplateItem::default() }
}

impl TemplateItem {
    setters! { map: &'static str }

    /// A length that is a number.
    #[must_use]
    pub fn length(self, length: u16) -> Self {
        TemplateItem { flags: self.flags | 2, length, ..self }
    }

    /// A length that another item holds.
    #[must_use]
    pub fn length_in(self, item: u16) -> Self {
        TemplateItem { flags: self.flags | 4, length: item, ..self }
    }

    /// A count that is a number.
    #[must_use]
    pub fn count(self, count: u16) -> Self {
        TemplateItem { flags: self.flags | 8, count, ..self }
    }

    /// A count that another item holds.
    #[must_use]
    pub fn count_in(self, item: u16) -> Self {
        TemplateItem { flags: self.flags | 16, count: item, ..self }
    }
}

/// An event, as it lies in the file.
#[derive(Clone, Debug)]
pub struct DeclaredEvent {
    pub id: u16,
    pub version: u8,
    pub channel: u8,
    pub level: u8,
    pub opcode: u8,
    pub task: u16,
    pub keywords: u64,
    pub message: u32,
    /// The number of its template, if it has one.
    pub template: Option<usize>,
    /// The numbers of its keywords.
    pub keyword_list: Vec<usize>,
}

/// An event without anything but a number.
pub fn declared_event(id: u16, version: u8) -> DeclaredEvent {
    let (channel, level, opcode, task, keywords, message) = (0, 0, 0, 0, 0, NO_MESSAGE);
    DeclaredEvent { id, version, channel, level, opcode, task, keywords, message, template: None, keyword_list: vec![] }
}

impl DeclaredEvent {
    setters! { channel: u8, level: u8, opcode: u8, task: u16, keywords: u64, message: u32, keyword_list: Vec<usize> }

    /// With the template of a number.
    #[must_use]
    pub fn template(self, template: usize) -> Self {
        DeclaredEvent { template: Some(template), ..self }
    }
}

/// A value or bit map: its name, whether it is one of bits, values with messages.
pub type DeclaredMap = (&'static str, bool, Vec<(u32, u32)>);

/// A provider, element by element.
#[derive(Clone, Debug, Default)]
pub struct Declared {
    pub guid: Guid,
    /// Its name, if the compiler wrote one.
    pub name: &'static str,
    /// Number and name.
    pub channels: Vec<(u32, &'static str)>,
    /// Number, message and name.
    pub levels: Vec<(u32, u32, &'static str)>,
    /// Number, message, class and name.
    pub tasks: Vec<(u32, u32, Guid, &'static str)>,
    /// Task, number, message and name.
    pub opcodes: Vec<(u16, u16, u32, &'static str)>,
    /// Mask, message and name.
    pub keywords: Vec<(u64, u32, &'static str)>,
    pub maps: Vec<DeclaredMap>,
    /// How many items are of the outermost level, and all items.
    pub templates: Vec<(u32, Vec<TemplateItem>)>,
    pub events: Vec<DeclaredEvent>,
}

/// Bytes with places that are not known yet.
#[derive(Debug, Default)]
struct Writer {
    bytes: Vec<u8>,
    places: HashMap<String, usize>,
    wanted: Vec<(usize, String)>,
    /// Where sizes belong, and what they begin with.
    open: Vec<usize>,
}

impl Writer {
    fn u8(&mut self, number: u8) {
        self.bytes.push(number);
    }

    fn u16(&mut self, number: u16) {
        self.bytes.extend(number.to_le_bytes());
    }

    fn u32(&mut self, number: u32) {
        self.bytes.extend(number.to_le_bytes());
    }

    fn count(&mut self, count: usize) {
        self.u32(len32(count));
    }

    fn here(&mut self, label: impl Into<String>) {
        self.places.insert(label.into(), self.bytes.len());
    }

    fn place_of(&mut self, label: impl Into<String>) {
        self.wanted.push((self.bytes.len(), label.into()));
        self.u32(0);
    }

    fn place_if(&mut self, has: bool, label: String) {
        if has { self.place_of(label) } else { self.u32(0) }
    }

    /// A sign, and the size of what follows up to `close`.
    fn open(&mut self, sign: [u8; 4]) {
        self.open.push(self.bytes.len());
        self.bytes.extend(sign);
        self.u32(0);
    }

    fn close(&mut self) {
        while !self.bytes.len().is_multiple_of(4) {
            self.u8(0);
        }
        let start = self.open.pop().expect("something is open");
        let size = len32(self.bytes.len() - start);
        self.bytes[start + 4..start + 8].copy_from_slice(&size.to_le_bytes());
    }

    fn name(&mut self, label: String, name: &str) {
        self.here(label);
        let start = self.bytes.len();
        self.u32(0);
        name.encode_utf16().chain([0]).for_each(|unit| self.u16(unit));
        while !self.bytes.len().is_multiple_of(4) {
            self.u8(0);
        }
        let size = len32(self.bytes.len() - start);
        self.bytes[start..start + 4].copy_from_slice(&size.to_le_bytes());
    }

    fn finish(mut self) -> Vec<u8> {
        for (at, label) in self.wanted {
            let place = len32(self.places[&label]);
            self.bytes[at..at + 4].copy_from_slice(&place.to_le_bytes());
        }
        self.bytes
    }
}

/// The resource `WEVT_TEMPLATE` of these providers.
pub fn wevt_template(providers: &[Declared]) -> Vec<u8> {
    let mut out = Writer::default();
    out.open(*b"CRIM");
    out.u16(5);
    out.u16(1);
    out.count(providers.len());
    for (number, provider) in providers.iter().enumerate() {
        out.bytes.extend(provider.guid);
        out.place_of(format!("{number}"));
    }
    for (number, provider) in providers.iter().enumerate() {
        out.here(format!("{number}"));
        write_provider(&mut out, provider, &|what: &str| format!("{number}/{what}"));
    }
    out.close();
    // Two zeros that the size does not count.
    out.u16(0);
    out.finish()
}

fn write_provider(out: &mut Writer, provider: &Declared, label: &dyn Fn(&str) -> String) {
    out.open(*b"WEVT");
    out.u32(NO_MESSAGE);
    let lists = [
        (5, "CHAN", provider.channels.len()),
        (6, "MAPS", provider.maps.len()),
        (7, "TTBL", provider.templates.len()),
        (13, "PRVA", provider.name.len()),
        (2, "OPCO", provider.opcodes.len()),
        (0, "LEVL", provider.levels.len()),
        (1, "TASK", provider.tasks.len()),
        (3, "KEYW", provider.keywords.len()),
        (4, "EVNT", 1),
    ];
    let lists: Vec<_> = lists.into_iter().filter(|(_, _, count)| *count > 0).collect();
    out.count(lists.len());
    for &(kind, list, _) in &lists {
        out.u32(kind);
        out.place_of(label(list));
    }
    for (_, list, _) in lists {
        out.here(label(list));
        match list {
            "CHAN" => write_channels(out, provider, label),
            "MAPS" => write_maps(out, provider, label),
            "TTBL" => write_templates(out, provider, label),
            "PRVA" => write_traits(out, provider, label),
            "OPCO" => write_opcodes(out, provider, label),
            "LEVL" => write_levels(out, provider, label),
            "TASK" => write_tasks(out, provider, label),
            "KEYW" => write_keywords(out, provider, label),
            _ => write_events(out, provider, label),
        }
    }
    out.close();
}

fn write_channels(out: &mut Writer, provider: &Declared, label: &dyn Fn(&str) -> String) {
    out.open(*b"CHAN");
    out.count(provider.channels.len());
    for (value, name) in &provider.channels {
        out.u32(0);
        out.place_of(label(&format!("channel {name}")));
        out.u32(*value);
        out.u32(NO_MESSAGE);
    }
    provider.channels.iter().for_each(|(_, name)| out.name(label(&format!("channel {name}")), name));
    out.close();
}

fn write_maps(out: &mut Writer, provider: &Declared, label: &dyn Fn(&str) -> String) {
    out.open(*b"MAPS");
    out.count(provider.maps.len());
    for (name, _, _) in &provider.maps {
        out.place_of(label(&format!("map {name}")));
    }
    for (name, is_bits, entries) in &provider.maps {
        out.here(label(&format!("map {name}")));
        out.open(if *is_bits { *b"BMAP" } else { *b"VMAP" });
        out.place_of(label(&format!("map name {name}")));
        out.u32(u32::from(*is_bits));
        out.count(entries.len());
        for (value, message) in entries {
            out.u32(*value);
            out.u32(*message);
        }
        out.close();
    }
    provider.maps.iter().for_each(|(name, _, _)| out.name(label(&format!("map name {name}")), name));
    out.close();
}

fn write_templates(out: &mut Writer, provider: &Declared, label: &dyn Fn(&str) -> String) {
    out.open(*b"TTBL");
    out.count(provider.templates.len());
    for (number, (outermost, items)) in provider.templates.iter().enumerate() {
        out.here(label(&format!("template {number}")));
        out.open(*b"TEMP");
        out.u32(*outermost);
        out.count(items.len());
        out.place_of(label(&format!("items {number}")));
        out.u32(1);
        out.bytes.extend([7; 16]);
        // Where the compiler puts the form of the event in the event log: an empty fragment.
        out.bytes.extend([0x0F, 1, 1, 0, 0]);
        out.bytes.extend([0; 3]);
        out.here(label(&format!("items {number}")));
        for (place, item) in items.iter().enumerate() {
            out.u32(item.flags);
            out.bytes.extend(item.kind);
            out.place_if(!item.map.is_empty(), label(&format!("map {}", item.map)));
            out.u16(item.count);
            out.u16(item.length);
            out.place_of(label(&format!("item {number} {place}")));
        }
        for (place, item) in items.iter().enumerate() {
            out.name(label(&format!("item {number} {place}")), item.name);
        }
        out.close();
    }
    out.close();
}

fn write_traits(out: &mut Writer, provider: &Declared, label: &dyn Fn(&str) -> String) {
    out.open(*b"PRVA");
    out.u32(1);
    out.u32(0x1000_0001);
    out.place_of(label("own name"));
    out.here(label("own name"));
    provider.name.encode_utf16().chain([0]).for_each(|unit| out.u16(unit));
    out.close();
}

fn write_opcodes(out: &mut Writer, provider: &Declared, label: &dyn Fn(&str) -> String) {
    out.open(*b"OPCO");
    out.count(provider.opcodes.len());
    for (place, (task, value, message, _)) in provider.opcodes.iter().enumerate() {
        out.here(label(&format!("opcode {task} {value}")));
        out.u16(*task);
        out.u16(*value);
        out.u32(*message);
        out.place_of(label(&format!("opcode name {place}")));
    }
    for (place, (_, _, _, name)) in provider.opcodes.iter().enumerate() {
        out.name(label(&format!("opcode name {place}")), name);
    }
    out.close();
}

fn write_levels(out: &mut Writer, provider: &Declared, label: &dyn Fn(&str) -> String) {
    out.open(*b"LEVL");
    out.count(provider.levels.len());
    for (value, message, name) in &provider.levels {
        out.u32(*value);
        out.u32(*message);
        out.place_of(label(&format!("level {name}")));
    }
    provider.levels.iter().for_each(|(_, _, name)| out.name(label(&format!("level {name}")), name));
    out.close();
}

fn write_tasks(out: &mut Writer, provider: &Declared, label: &dyn Fn(&str) -> String) {
    out.open(*b"TASK");
    out.count(provider.tasks.len());
    for (value, message, class, name) in &provider.tasks {
        out.u32(*value);
        out.u32(*message);
        out.bytes.extend(class);
        out.place_of(label(&format!("task {name}")));
    }
    provider.tasks.iter().for_each(|(_, _, _, name)| out.name(label(&format!("task {name}")), name));
    out.close();
}

fn write_keywords(out: &mut Writer, provider: &Declared, label: &dyn Fn(&str) -> String) {
    out.open(*b"KEYW");
    out.count(provider.keywords.len());
    for (number, (mask, message, name)) in provider.keywords.iter().enumerate() {
        out.here(label(&format!("keyword {number}")));
        out.bytes.extend(mask.to_le_bytes());
        out.u32(*message);
        out.place_of(label(&format!("keyword name {name}")));
    }
    provider.keywords.iter().for_each(|(_, _, name)| out.name(label(&format!("keyword name {name}")), name));
    out.close();
}

fn write_events(out: &mut Writer, provider: &Declared, label: &dyn Fn(&str) -> String) {
    out.open(*b"EVNT");
    out.count(provider.events.len());
    out.u32(0);
    for (number, event) in provider.events.iter().enumerate() {
        out.u16(event.id);
        [event.version, event.channel, event.level, event.opcode].iter().for_each(|&byte| out.u8(byte));
        out.u16(event.task);
        out.bytes.extend(event.keywords.to_le_bytes());
        out.u32(event.message);
        out.place_if(event.template.is_some(), label(&format!("template {}", event.template.unwrap_or(0))));
        // Where its opcode, its level and its task lie: their numbers are known.
        (0..3).for_each(|_| out.u32(0));
        out.count(event.keyword_list.len());
        out.place_if(!event.keyword_list.is_empty(), label(&format!("keywords of {number}")));
        out.u32(0);
    }
    for (number, event) in provider.events.iter().enumerate() {
        out.here(label(&format!("keywords of {number}")));
        event.keyword_list.iter().for_each(|keyword| out.place_of(label(&format!("keyword {keyword}"))));
    }
    out.close();
}

/// A message table of texts by number; consecutive ones share a block.
pub fn message_table(texts: &[(u32, &str)]) -> Vec<u8> {
    let mut out = Writer::default();
    let mut blocks: Vec<Vec<(u32, &str)>> = Vec::new();
    for &(id, text) in texts {
        match blocks.last_mut().filter(|block| block[block.len() - 1].0 + 1 == id) {
            Some(block) => block.push((id, text)),
            None => blocks.push(vec![(id, text)]),
        }
    }
    out.count(blocks.len());
    for block in &blocks {
        out.u32(block[0].0);
        out.u32(block[block.len() - 1].0);
        out.place_of(format!("{}", block[0].0));
    }
    for block in &blocks {
        out.here(format!("{}", block[0].0));
        for (_, text) in block {
            let mut bytes: Vec<u8> = format!("{text}\r\n\0").encode_utf16().flat_map(u16::to_le_bytes).collect();
            bytes.resize(bytes.len().next_multiple_of(4), 0);
            out.u16(len16(bytes.len() + 4));
            out.u16(1);
            out.bytes.extend(bytes);
        }
    }
    out.finish()
}

/// A resource: its type (a name, or the number behind `#`), its number, its language, its bytes.
pub type ResourceOf = (&'static str, u32, u16, Vec<u8>);

/// A program that has nothing but headers and one section of resources, which begins `gap` bytes behind the headers. Resources of
/// one type, and of one number of it, follow one another.
pub fn program(wide: bool, gap: usize, resources: &[ResourceOf]) -> Vec<u8> {
    const ADDRESS: u32 = 0x3000;
    let tree = resource_section(ADDRESS, resources);
    let start = 0x400 + gap;
    let mut out = Writer::default();
    out.bytes.extend(b"MZ");
    out.bytes.resize(60, 0);
    out.u32(0x80);
    out.bytes.resize(0x80, 0);
    out.bytes.extend(b"PE\0\0");
    out.u16(if wide { 0x8664 } else { 0x14C });
    out.u16(1);
    out.u32(0x6123_4567);
    out.bytes.extend([0; 8]);
    let optional = if wide { 112 } else { 96 } + 16 * 8;
    out.u16(optional);
    out.u16(0x2102);
    let begin = out.bytes.len();
    out.u16(if wide { 0x20B } else { 0x10B });
    out.bytes.resize(begin + 56, 0);
    out.u32(0x10000);
    out.bytes.resize(begin + if wide { 108 } else { 92 }, 0);
    out.u32(16);
    (0..2).for_each(|_| out.bytes.extend([0; 8]));
    out.u32(if resources.is_empty() { 0 } else { ADDRESS });
    out.count(tree.len());
    out.bytes.resize(begin + usize::from(optional), 0);
    out.bytes.extend(b".rsrc\0\0\0");
    out.count(tree.len());
    out.u32(ADDRESS);
    out.count(tree.len());
    out.count(start);
    out.bytes.extend([0; 16]);
    out.bytes.resize(start, 0);
    out.bytes.extend(tree);
    out.bytes
}

fn resource_section(address: u32, resources: &[ResourceOf]) -> Vec<u8> {
    let mut out = Writer::default();
    let mut types: Vec<&str> = resources.iter().map(|one| one.0).collect();
    types.dedup();
    // Names stand before numbers.
    types.sort_by_key(|name| name.starts_with('#'));
    let named = types.iter().filter(|name| !name.starts_with('#')).count();
    directory(&mut out, named, types.len() - named);
    for name in &types {
        match name.strip_prefix('#') {
            Some(number) => out.u32(number.parse().expect("a number behind #")),
            None => high(&mut out, &format!("name {name}")),
        }
        high(&mut out, &format!("type {name}"));
    }
    for kind in &types {
        let of_type: Vec<_> = resources.iter().filter(|one| one.0 == *kind).collect();
        let mut numbers: Vec<u32> = of_type.iter().map(|one| one.1).collect();
        numbers.dedup();
        out.here(format!("type {kind}"));
        directory(&mut out, 0, numbers.len());
        for number in &numbers {
            out.u32(*number);
            high(&mut out, &format!("{kind} {number}"));
        }
        for number in &numbers {
            let of_number: Vec<_> = of_type.iter().filter(|one| one.1 == *number).collect();
            out.here(format!("{kind} {number}"));
            directory(&mut out, 0, of_number.len());
            for one in of_number {
                out.u32(one.2.into());
                out.place_of(format!("{kind} {number} {}", one.2));
            }
        }
    }
    let mut data = Vec::new();
    for (kind, number, language, bytes) in resources {
        out.here(format!("{kind} {number} {language}"));
        data.push((out.bytes.len(), bytes));
        out.u32(0);
        out.count(bytes.len());
        out.bytes.extend([0; 8]);
    }
    for name in types.iter().filter(|name| !name.starts_with('#')) {
        out.here(format!("name {name}"));
        out.u16(len16(name.len()));
        name.encode_utf16().for_each(|unit| out.u16(unit));
    }
    for (entry, bytes) in data {
        out.bytes.resize(out.bytes.len().next_multiple_of(8), 0);
        let place = address + len32(out.bytes.len());
        out.bytes[entry..entry + 4].copy_from_slice(&place.to_le_bytes());
        out.bytes.extend(bytes);
    }
    let highs: Vec<usize> = out.wanted.iter().filter(|(_, label)| label.starts_with('^')).map(|(at, _)| *at).collect();
    out.wanted.iter_mut().for_each(|(_, label)| *label = label.trim_start_matches('^').to_owned());
    let mut bytes = out.finish();
    highs.into_iter().for_each(|at| bytes[at + 3] |= 0x80);
    bytes
}

fn directory(out: &mut Writer, named: usize, numbered: usize) {
    out.bytes.extend([0; 12]);
    out.u16(len16(named));
    out.u16(len16(numbered));
}

/// A place with its highest bit set.
fn high(out: &mut Writer, label: &str) {
    out.place_of(format!("^{label}"));
}
