//! Schemas as text for people.

use std::fmt::Write as _;

use base::readable::printable::printable;
use schema::catalog::{Origin, Provider, ProviderType};
use schema::describe::{
    ArgumentDescription, ColumnDescription, EventDescription, LayoutDescription, MessageDescription,
    ProviderDescription,
};
use schema::described_fields::{FieldDescription, MapDescription, Rule};
use schemas::NameKind;

use crate::cli::fold::Width;
use crate::cli::text_table::{Align, TextTable};

/// Entries of a map that are shown; the rest is a number.
const SHOWN: usize = 20;

/// What stands where there is no value.
const NONE: &str = "-";

/// The table of `schema list`.
pub(super) fn list(providers: &[Provider], width: Width) -> String {
    let mut table = TextTable::new([
        ("PROVIDER", Align::Left),
        ("GUID", Align::Whole),
        ("KIND", Align::Left),
        ("EVENTS", Align::Right),
        ("LAYOUTS", Align::Right),
        ("RELEASES", Align::Left),
        ("FROM", Align::Left),
    ]);
    for provider in providers {
        table.row([
            or_none(&provider.name),
            provider.guid.to_string(),
            kind(provider).to_owned(),
            provider.events.to_string(),
            provider.layouts.to_string(),
            or_none(&provider.releases.builds()),
            origins(&provider.from),
        ]);
    }
    table.render(width)
}

/// The word for what a provider is; of a mere name what is known of it.
fn kind(provider: &Provider) -> &'static str {
    provider.named.map_or(provider.kind.name(), NameKind::name)
}

fn or_none(text: &str) -> String {
    if text.is_empty() { NONE.to_owned() } else { text.to_owned() }
}

fn origins(origins: &[Origin]) -> String {
    origins.iter().map(|origin| origin.name()).collect::<Vec<_>>().join(", ")
}

/// The pages of `schema show PROVIDER`.
pub(super) fn providers(all: &[ProviderDescription], width: Width) -> String {
    let pages = all.iter().map(|description| match description.provider.kind {
        ProviderType::Wpp => heading(description, width) + &messages(&description.messages, width),
        ProviderType::Named => heading(description, width) + "  no events are known\n",
        kind => heading(description, width) + &overview(kind, &description.events, width),
    });
    pages.collect::<Vec<_>>().join("\n")
}

fn heading(description: &ProviderDescription, width: Width) -> String {
    let provider = &description.provider;
    let mut table = TextTable::of_values();
    table.value("GUID", provider.guid.to_string());
    if let Some(dataset) = &description.dataset {
        table.value("dataset", format!("events/{dataset}"));
    }
    table.value("kind", kind(provider));
    if !provider.releases.is_empty() {
        table.value("releases", format!("Windows {}", provider.releases));
    }
    table.value("from", origins(&provider.from));
    for (name, guid) in [("group", description.group), ("enabled by", description.control)] {
        if let Some(guid) = guid {
            table.value(name, guid.to_string());
        }
    }
    for (position, conflict) in description.conflicts.iter().enumerate() {
        table.value(if position == 0 { "conflicts" } else { "" }, conflict.to_string());
    }
    let keywords = description.keywords.iter().map(|keyword| format!("{} {}", keyword.mask, keyword.name));
    for (position, keyword) in keywords.enumerate() {
        table.value(if position == 0 { "keywords" } else { "" }, keyword);
    }
    format!("{}\n{}\n", printable(&or_none(&provider.name)), table.render(width))
}

fn overview(kind: ProviderType, events: &[EventDescription], width: Width) -> String {
    let id = if kind == ProviderType::Classic { "OPCODE" } else { "EVENT" };
    let mut table = TextTable::new([
        (id, Align::Right),
        ("VERSION", Align::Right),
        ("NAME", Align::Left),
        ("LEVEL", Align::Right),
        ("TASK", Align::Left),
        ("OPCODE NAME", Align::Left),
        ("KEYWORDS", Align::Left),
        ("LAYOUTS", Align::Right),
        ("RELEASES", Align::Left),
        ("FROM", Align::Left),
    ]);
    let text = |text: &Option<String>| or_none(text.as_deref().unwrap_or_default());
    for event in events {
        table.row([
            event.id.to_string(),
            event.version.to_string(),
            text(&event.names.name),
            event.names.level.map_or(NONE.to_owned(), |level| level.to_string()),
            text(&event.names.task),
            text(&event.names.opcode),
            or_none(&event.names.keywords.join(", ")),
            event.layouts.len().to_string(),
            or_none(&event.releases().builds()),
            event.layouts.iter().map(origin).collect::<Vec<_>>().join("; "),
        ]);
    }
    table.render(width)
}

fn origin(layout: &LayoutDescription) -> String {
    match layout.from {
        // The file's name says that it is in the store.
        Origin::Store | Origin::Given => layout.origin.clone(),
        Origin::Pack | Origin::Correction | Origin::Trace => format!("{} ({})", layout.from.name(), layout.origin),
    }
}

/// The pages of `schema show PROVIDER EVENT`.
pub(super) fn events(all: &[ProviderDescription], width: Width) -> String {
    let mut pages = Vec::new();
    for description in all {
        let provider = &description.provider;
        let name = format!("{} {}", or_none(&provider.name), provider.guid);
        let events = description.events.iter().map(|event| event_page(&name, provider.kind, event, width));
        pages.extend(events.chain(description.messages.iter().map(|message| message_page(&name, message, width))));
    }
    pages.join("\n")
}

fn event_page(provider: &str, kind: ProviderType, event: &EventDescription, width: Width) -> String {
    let mut table = TextTable::of_values();
    table.value(number_heading(kind), format!("{} version {}", event.id, event.version));
    let level = event.names.level.map(|level| level.to_string());
    let keywords = Some(event.names.keywords.join(", ")).filter(|keywords| !keywords.is_empty());
    let releases = Some(event.releases()).filter(|all| !all.is_empty()).map(|all| format!("Windows {all}"));
    for (name, value) in [
        ("name", &event.names.name),
        ("symbol", &event.names.symbol),
        ("level", &level),
        ("task", &event.names.task),
        ("opcode name", &event.names.opcode),
        ("keywords", &keywords),
        ("message", &event.names.message),
        ("releases", &releases),
    ] {
        if let Some(value) = value {
            table.value(name, value.as_str());
        }
    }
    let mut page = format!("{}\n{}", printable(provider), table.render(width));
    for (position, layout) in event.layouts.iter().enumerate() {
        // Writing to a string cannot fail.
        let _ = write!(page, "\n{}", printable(&layout_title(layout, position, event.layouts.len())));
        let _ = write!(page, "\n{}", fields(layout, width));
    }
    page
}

/// The word for what a provider's events are distinguished by.
fn number_heading(kind: ProviderType) -> &'static str {
    match kind {
        ProviderType::Manifest => "event",
        ProviderType::Classic => "opcode",
        ProviderType::Wpp => "message",
        ProviderType::Named => "name",
    }
}

fn layout_title(layout: &LayoutDescription, position: usize, all: usize) -> String {
    let preferred = layout.conversion.as_ref().is_some_and(|conversion| conversion.preferred);
    let used = if preferred && all > 1 { ", used unless payloads contradict it" } else { "" };
    format!("Layout {} of {all}: {}, {}{used}", position + 1, origin(layout), layout.trust)
}

/// The fields of a layout with their columns, and the maps they use.
fn fields(layout: &LayoutDescription, width: Width) -> String {
    let mut flat = Vec::new();
    flatten(layout.fields.as_deref().unwrap_or_default(), "", &mut flat);
    if flat.is_empty() {
        return "  no fields\n".to_owned();
    }
    let mut table = TextTable::new([
        ("FIELD", Align::Left),
        ("IN TYPE", Align::Left),
        ("OUT TYPE", Align::Left),
        ("COUNT", Align::Left),
        ("LENGTH", Align::Left),
        ("MAP", Align::Left),
        ("COLUMN", Align::Left),
        ("COLUMN TYPE", Align::Left),
        ("RENAMED BECAUSE", Align::Left),
        ("UNIT", Align::Left),
        ("DESCRIPTION", Align::Left),
    ]);
    let columns = layout.conversion.as_ref().map(|conversion| conversion.columns.as_slice()).unwrap_or_default();
    let mut columns = columns.iter().peekable();
    for (path, field) in &flat {
        let mut first = true;
        while let Some(column) = columns.next_if(|column| belongs(column, path, &flat)) {
            table.row(row(first.then_some((path, field)), Some(column)));
            first = false;
        }
        if first {
            table.row(row(Some((path, field)), None));
        }
    }
    table.render(width) + &maps(flat.iter().filter_map(|(_, field)| field.map.as_ref()), width)
}

/// Whether a column comes next behind a field: its own, or one of a member that only the wire type knows of.
fn belongs(column: &ColumnDescription, path: &str, flat: &[(String, &FieldDescription)]) -> bool {
    column.field == path
        || column.field.strip_prefix(path).is_some_and(|rest| rest.starts_with('.'))
            && !flat.iter().any(|(declared, _)| *declared == column.field)
}

fn flatten<'a>(fields: &'a [FieldDescription], prefix: &str, flat: &mut Vec<(String, &'a FieldDescription)>) {
    for field in fields {
        let path = format!("{prefix}{}", field.name);
        let inner = format!("{path}.");
        flat.push((path, field));
        flatten(&field.fields, &inner, flat);
    }
}

fn row(field: Option<(&String, &&FieldDescription)>, column: Option<&ColumnDescription>) -> [String; 11] {
    let text = |text: Option<&str>| text.unwrap_or_default().to_owned();
    let rule = |rule: Option<&Rule>| rule.map_or(String::new(), rule_text);
    let description = field.map(|(_, description)| *description);
    let in_type = description.map_or(String::new(), |description| match (description.optional, description.hidden) {
        (false, false) => description.in_type.clone(),
        (true, false) => format!("{}, optional", description.in_type),
        (_, true) => format!("{}, hidden", description.in_type),
    });
    [
        text(field.map(|(path, _)| path.as_str())),
        in_type,
        text(description.and_then(|description| description.out_type.as_deref())),
        rule(description.and_then(|description| description.count.as_ref())),
        rule(description.and_then(|description| description.length.as_ref())),
        text(description.and_then(|description| description.map.as_ref()).map(|map| map.name.as_str())),
        text(column.and_then(|column| column.column.as_deref())),
        text(column.and_then(|column| column.column_type.as_deref())),
        text(column.and_then(|column| column.renamed_because)),
        text(column.and_then(|column| column.unit)),
        text(column.and_then(|column| column.description)),
    ]
}

fn rule_text(rule: &Rule) -> String {
    match rule {
        Rule::Constant(number) => number.to_string(),
        Rule::Field(name) => name.clone(),
        Rule::Prefixed => "u16 in front".to_owned(),
        Rule::Rest => "to the end".to_owned(),
    }
}

fn maps<'a>(maps: impl Iterator<Item = &'a MapDescription>, width: Width) -> String {
    let mut used: Vec<&MapDescription> = Vec::new();
    for map in maps {
        if !used.contains(&map) {
            used.push(map);
        }
    }
    let mut text = String::new();
    for map in used {
        let mut table = TextTable::of_values();
        for entry in map.entries.iter().take(SHOWN) {
            table.value(
                &if map.kind == "bits" { format!("{:#x}", entry.value) } else { entry.value.to_string() },
                &*entry.name,
            );
        }
        let _ = write!(text, "\n  Map {} ({})\n{}", printable(&map.name), map.kind, table.render(width));
        if map.entries.len() > SHOWN {
            let _ = writeln!(text, "  and {} more", map.entries.len() - SHOWN);
        }
    }
    text
}

fn messages(messages: &[MessageDescription], width: Width) -> String {
    let mut table = TextTable::new([
        ("MESSAGE", Align::Right),
        ("LEVEL", Align::Left),
        ("FLAGS", Align::Left),
        ("FUNCTION", Align::Left),
        ("FROM", Align::Left),
        ("TEXT", Align::Left),
    ]);
    let text = |text: &Option<String>| or_none(text.as_deref().unwrap_or_default());
    for message in messages {
        table.row([
            message.number.to_string(),
            text(&message.level),
            text(&message.flags),
            text(&message.function),
            message.from.name().to_owned(),
            message.format.clone(),
        ]);
    }
    table.render(width)
}

fn message_page(provider: &str, message: &MessageDescription, width: Width) -> String {
    let mut table = TextTable::of_values();
    table.value("message", message.number.to_string());
    table.value("from", message.from.name());
    let line = message.source_line.map_or(String::new(), |line| format!(", line {line}"));
    table.value("source", format!("{}{line}", or_none(&message.source_file)));
    let named = [("level", &message.level), ("flags", &message.flags), ("function", &message.function)];
    for (name, value) in named {
        table.value(name, or_none(value.as_deref().unwrap_or_default()));
    }
    table.value("text", message.format.as_str());
    table.value("columns", "message, arguments");
    let mut page = format!("{}\n{}", printable(provider), table.render(width));
    if !message.arguments.is_empty() {
        let mut table = TextTable::new([
            ("ARGUMENT", Align::Right),
            ("IN TYPE", Align::Left),
            ("OUT TYPE", Align::Left),
            ("EXPRESSION", Align::Left),
            ("LABELS", Align::Left),
        ]);
        for argument in &message.arguments {
            table.row([
                argument.number.to_string(),
                argument.in_type.clone(),
                argument.out_type.unwrap_or_default().to_owned(),
                argument.expression.clone(),
                labels(argument),
            ]);
        }
        let enumerations = message.arguments.iter().filter_map(|argument| argument.map.as_ref());
        let enumerations = enumerations.filter(|map| !map.name.is_empty());
        page = page + "\n" + &table.render(width) + &maps(enumerations, width);
    }
    page
}

/// The names of an argument's values; of an enumeration its own name, for a page shows those once.
fn labels(argument: &ArgumentDescription) -> String {
    match &argument.map {
        None => argument.labels.join(", "),
        Some(map) if map.name.is_empty() => {
            let entries = map.entries.iter().map(|entry| format!("{}={}", entry.name, entry.value));
            entries.collect::<Vec<_>>().join(", ")
        }
        Some(map) => map.name.clone(),
    }
}
