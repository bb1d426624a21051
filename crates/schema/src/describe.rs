//! Descriptions as JSON: what `schema show --json` and `schema export` write (`docs/schemas.md`).

use std::collections::BTreeMap;

use base::guid::Guid;
use schemas::Releases;
use serde::Serialize;

use super::catalog::{Origin, PayloadLayout, Provider, ProviderType, SchemaCatalog};
use super::model::{Count, Field, FieldKind, Length, MapKind, ValueMap};
use super::pack::{CodeTable, Pack};
use super::wpp::{Argument, ArgumentType, MessageFormat};

/// Version of the form of the documents.
pub const FORMAT: u32 = 1;

/// A document of descriptions.
#[derive(Debug, Serialize)]
pub struct Document {
    /// [`FORMAT`].
    pub format: u32,
    /// The providers, by name.
    pub providers: Vec<ProviderDescription>,
}

/// What is known of a provider.
#[derive(Debug, Serialize)]
pub struct ProviderDescription {
    /// Name, identity, counts and places.
    #[serde(flatten)]
    pub provider: Provider,
    /// The folder that a conversion writes its events to, below `events`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dataset: Option<String>,
    /// The group it belongs to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub group: Option<Guid>,
    /// The identity by which it is enabled, where that is another.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub control: Option<Guid>,
    /// Its keywords, lowest bit first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub keywords: Vec<KeywordDescription>,
    /// Its events by id (of classic events the opcode) and version.
    #[serde(rename = "known_events", skip_serializing_if = "Vec::is_empty")]
    pub events: Vec<EventDescription>,
    /// Its WPP messages by number.
    #[serde(rename = "known_messages", skip_serializing_if = "Vec::is_empty")]
    pub messages: Vec<MessageDescription>,
}

/// A keyword.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct KeywordDescription {
    /// The bits, as `0x10`.
    pub mask: String,
    /// The name.
    pub name: String,
}

/// What is known of one version of an event.
#[derive(Debug, Serialize)]
pub struct EventDescription {
    /// The event id; the opcode of a classic event.
    pub id: u16,
    /// The version.
    pub version: u16,
    /// The name people know it by.
    pub name: Option<String>,
    /// The level.
    pub level: Option<u8>,
    /// The channel's number.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub channel: Option<u8>,
    /// The task's name.
    pub task: Option<String>,
    /// The opcode's name.
    pub opcode: Option<String>,
    /// Names of keywords.
    pub keywords: Vec<String>,
    /// The name in the provider's source code.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub symbol: Option<String>,
    /// The message template.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// The layouts by rank.
    pub layouts: Vec<LayoutDescription>,
}

/// One layout of an event.
#[derive(Debug, Serialize)]
pub struct LayoutDescription {
    /// Where it comes from.
    pub from: Origin,
    /// The file, or the pack's sources.
    pub origin: String,
    /// The builds of Windows that have it.
    #[serde(rename = "builds", skip_serializing_if = "Releases::is_empty")]
    pub releases: Releases,
    /// `declared`; `inferred` where lost parts were put back; `doubtful` where parts are missing.
    pub trust: &'static str,
    /// The fields in wire order; left out of overviews.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fields: Option<Vec<FieldDescription>>,
    /// What the fields become, and whether this layout is used as long as payloads do not contradict it; only where
    /// one event was asked for.
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    pub conversion: Option<ColumnPreview>,
}

/// What a layout becomes in a conversion.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ColumnPreview {
    /// Whether it is used as long as payloads do not contradict it.
    pub preferred: bool,
    /// The columns of the fields and of the members of structures.
    pub columns: Vec<ColumnDescription>,
}

/// A field and one of its columns.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ColumnDescription {
    /// The field; a member of a structure behind its structure's name and a dot.
    pub field: String,
    /// The column, or the path to the member; not there for fields without one.
    pub column: Option<String>,
    /// Its Arrow type.
    pub column_type: Option<String>,
    /// Why it is not called what the field is called.
    pub renamed_because: Option<&'static str>,
    /// The unit of its values, where it is known and the type does not say it.
    pub unit: Option<&'static str>,
    /// What the field is, where that is known.
    pub description: Option<&'static str>,
}

/// One declared field.
#[derive(Debug, PartialEq, Eq, Serialize)]
pub struct FieldDescription {
    /// The name.
    pub name: String,
    /// The wire type; `Struct` for structures.
    pub in_type: String,
    /// What it stands for, where the wire type does not say it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub out_type: Option<String>,
    /// How often it is repeated; not there for single values.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub count: Option<Rule>,
    /// How long it is, where the wire type leaves that open.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub length: Option<Rule>,
    /// Names of its values.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub map: Option<MapDescription>,
    /// Whether it may be missing at the end of the payload.
    #[serde(skip_serializing_if = "is_false")]
    pub optional: bool,
    /// Whether it gets no column.
    #[serde(skip_serializing_if = "is_false")]
    pub hidden: bool,
    /// The members of a structure.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub fields: Vec<FieldDescription>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "the signature that serde asks for")]
fn is_false(value: &bool) -> bool {
    !value
}

/// A length or a count.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Rule {
    /// A number.
    Constant(u32),
    /// The value of an earlier field.
    Field(String),
    /// A `u16` count stands before the values.
    Prefixed,
    /// As many as the payload holds.
    Rest,
}

/// Names of values.
#[derive(Debug, PartialEq, Eq, Serialize)]
pub struct MapDescription {
    /// The map's name.
    pub name: String,
    /// `values` or `bits`.
    pub kind: &'static str,
    /// The entries in declared order.
    pub entries: Vec<MapEntry>,
}

/// A named value.
#[derive(Debug, PartialEq, Eq, Serialize)]
pub struct MapEntry {
    /// The value.
    pub value: u64,
    /// Its name.
    pub name: String,
}

/// A WPP message.
#[derive(Debug, Serialize)]
pub struct MessageDescription {
    /// The number.
    pub number: u16,
    /// Where it comes from.
    pub from: Origin,
    /// The level's name.
    pub level: Option<String>,
    /// The flag's name.
    pub flags: Option<String>,
    /// The function.
    pub function: Option<String>,
    /// The source file.
    pub source_file: String,
    /// The line in it.
    pub source_line: Option<u32>,
    /// The text with its insertions.
    pub format: String,
    /// The arguments in wire order.
    pub arguments: Vec<ArgumentDescription>,
}

/// An argument of a WPP message.
#[derive(Debug, Serialize)]
pub struct ArgumentDescription {
    /// The number under which the text inserts it.
    pub number: u16,
    /// The expression in the source code.
    pub expression: String,
    /// The encoding.
    pub in_type: String,
    /// What it stands for, where the encoding does not say it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub out_type: Option<&'static str>,
    /// Names of its values, by value or bit.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub labels: Vec<String>,
    /// Names of its values where they do not count from 0: those of enumerations, and of lists with gaps.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub map: Option<MapDescription>,
}

impl ProviderDescription {
    /// What is known of a provider, with the fields of every layout or without.
    pub fn of(catalog: &SchemaCatalog, provider: Provider, with_fields: bool) -> ProviderDescription {
        let (guid, kind) = (provider.guid, provider.kind);
        let manifests =
            || catalog.manifests(guid).filter(|_| kind == ProviderType::Manifest).map(|(_, manifest, _)| manifest);
        let messages = match kind {
            ProviderType::Wpp => catalog.messages().remove(&guid).unwrap_or_default(),
            _ => Vec::new(),
        };
        ProviderDescription {
            provider,
            dataset: None,
            group: manifests().find_map(|manifest| manifest.group),
            control: manifests().find_map(|manifest| manifest.control),
            keywords: keywords(catalog, guid, kind),
            events: events(catalog.layouts(guid, kind), with_fields),
            messages: messages.into_iter().map(|(origin, message)| MessageDescription::of(origin, message)).collect(),
        }
    }
}

impl ProviderDescription {
    /// Leaves only layouts and messages of some places, and the events that still have a layout.
    pub fn keep_origins(&mut self, is_kept: impl Fn(&Origin) -> bool) {
        self.provider.from.retain(&is_kept);
        for event in &mut self.events {
            event.layouts.retain(|layout| is_kept(&layout.from));
        }
        self.events.retain(|event| !event.layouts.is_empty());
        self.messages.retain(|message| is_kept(&message.from));
        if self.provider.kind != ProviderType::Wpp {
            self.provider.events = self.events.len();
            self.provider.layouts = self.events.iter().map(|event| event.layouts.len()).sum();
        }
    }
}

/// The keywords of the description that ranks first and has any.
fn keywords(catalog: &SchemaCatalog, guid: Guid, kind: ProviderType) -> Vec<KeywordDescription> {
    if kind != ProviderType::Manifest {
        return Vec::new();
    }
    let mut user = catalog.manifests(guid).map(|(_, manifest, _)| &manifest.keywords).filter(|own| !own.is_empty());
    let pack = || Pack::builtin().provider(&guid).map(|pack| &pack.keywords);
    let named = user.next().or_else(pack).into_iter().flatten();
    named.map(|(mask, name)| KeywordDescription { mask: format!("{mask:#x}"), name: name.clone() }).collect()
}

/// Layouts of one version of an event become one entry; names are those of the layout that ranks first.
fn events(layouts: Vec<PayloadLayout<'_>>, with_fields: bool) -> Vec<EventDescription> {
    let mut events: BTreeMap<(u16, u16), EventDescription> = BTreeMap::new();
    for layout in layouts {
        let event = events.entry((layout.id, layout.version)).or_insert_with(|| EventDescription::named_by(&layout));
        event.layouts.push(LayoutDescription::of(&layout, with_fields));
    }
    events.into_values().collect()
}

impl EventDescription {
    fn named_by(layout: &PayloadLayout<'_>) -> EventDescription {
        let schema = layout.schema;
        EventDescription {
            id: layout.id,
            version: layout.version,
            name: schema.event_name.clone(),
            level: layout.level,
            channel: layout.channel,
            task: schema.task_name.clone(),
            opcode: schema.opcode_name.clone(),
            keywords: schema.keyword_names.clone(),
            symbol: layout.symbol.map(str::to_owned),
            message: layout.message.map(str::to_owned),
            layouts: Vec::new(),
        }
    }
}

impl EventDescription {
    /// The releases of Windows that have any of its layouts.
    pub fn releases(&self) -> Releases {
        self.layouts.iter().fold(Releases::default(), |all, layout| all.union(layout.releases))
    }
}

impl LayoutDescription {
    fn of(layout: &PayloadLayout<'_>, with_fields: bool) -> LayoutDescription {
        LayoutDescription {
            from: layout.origin,
            origin: layout.file.to_owned(),
            releases: layout.releases,
            trust: layout.trust.name(),
            fields: with_fields.then(|| fields(&layout.schema.fields)),
            conversion: None,
        }
    }
}

/// The descriptions of fields and of all members of structures.
pub fn fields(fields: &[Field]) -> Vec<FieldDescription> {
    level(&[fields])
}

/// `levels`: the fields of the innermost level behind those of the levels around it.
fn level(levels: &[&[Field]]) -> Vec<FieldDescription> {
    let own = levels.last().copied().unwrap_or_default();
    own.iter().map(|field| describe_field(field, levels)).collect()
}

fn describe_field(field: &Field, levels: &[&[Field]]) -> FieldDescription {
    let (in_type, out_type, length, members) = match &field.kind {
        FieldKind::Value { wire, meaning, length } => {
            let out_type = (*meaning != super::model::Meaning::Plain).then(|| format!("{meaning:?}"));
            (format!("{wire:?}"), out_type, length_rule(*length, levels), Vec::new())
        }
        FieldKind::Struct(members) => {
            let inner: Vec<&[Field]> = levels.iter().copied().chain([members.as_slice()]).collect();
            ("Struct".to_owned(), None, None, level(&inner))
        }
    };
    FieldDescription {
        name: field.name.clone(),
        in_type,
        out_type,
        count: count_rule(field.count, levels),
        length,
        map: field.map.as_deref().map(MapDescription::of),
        optional: field.optional,
        hidden: field.hidden,
        fields: members,
    }
}

fn length_rule(length: Length, levels: &[&[Field]]) -> Option<Rule> {
    match length {
        Length::Natural => None,
        Length::Fixed(length) => Some(Rule::Constant(length)),
        Length::Field(field) => Some(Rule::Field(name_of(field, levels))),
    }
}

fn count_rule(count: Count, levels: &[&[Field]]) -> Option<Rule> {
    match count {
        Count::One => None,
        Count::Fixed(count) => Some(Rule::Constant(count)),
        Count::Field(field) => Some(Rule::Field(name_of(field, levels))),
        Count::Prefixed => Some(Rule::Prefixed),
        Count::Rest => Some(Rule::Rest),
    }
}

fn name_of(field: super::model::FieldRef, levels: &[&[Field]]) -> String {
    let level = levels.iter().rev().nth(usize::from(field.up));
    let target = level.and_then(|level| level.get(usize::from(field.index)));
    target.map_or_else(String::new, |target| target.name.clone())
}

impl MapDescription {
    fn of(map: &ValueMap) -> MapDescription {
        MapDescription {
            name: map.name.clone(),
            kind: match map.kind {
                MapKind::Values => "values",
                MapKind::Bits => "bits",
            },
            entries: map.entries().iter().map(|(value, name)| MapEntry { value: *value, name: name.clone() }).collect(),
        }
    }
}

impl MessageDescription {
    fn of(from: Origin, message: &MessageFormat) -> MessageDescription {
        let origin = &message.origin;
        let arguments = message.arguments.iter().map(ArgumentDescription::of);
        MessageDescription {
            number: message.number,
            from,
            level: origin.level.clone(),
            flags: origin.flags.clone(),
            function: origin.function.clone(),
            source_file: origin.source_file.to_string(),
            source_line: origin.source_line(),
            format: message.format.clone(),
            arguments: arguments.collect(),
        }
    }
}

impl ArgumentDescription {
    fn of(item: &Argument) -> ArgumentDescription {
        let (in_type, out_type) = argument_type(&item.encoding);
        let (labels, map) = match &item.encoding {
            ArgumentType::List { names, .. } | ArgumentType::Set { names, .. } => labels(names.map()),
            ArgumentType::Enumeration(names) | ArgumentType::FlagsEnumeration(names) => {
                (Vec::new(), Some(MapDescription::of(names.map())))
            }
            _ => (Vec::new(), None),
        };
        let (number, expression) = (item.number, item.expression.clone());
        ArgumentDescription { number, expression, in_type, out_type, labels, map }
    }
}

/// Names that count from 0, or from the lowest bit, as a list; others as a map.
fn labels(map: &ValueMap) -> (Vec<String>, Option<MapDescription>) {
    let counted = |origin: u32| match map.kind {
        MapKind::Values => Some(u64::from(origin)),
        MapKind::Bits => 1_u64.checked_shl(origin),
    };
    if (0..).zip(map.entries()).all(|(origin, (value, _))| counted(origin) == Some(*value)) {
        return (map.entries().iter().map(|(_, label)| label.clone()).collect(), None);
    }
    (Vec::new(), Some(MapDescription::of(map)))
}

/// The encoding of an argument and what it stands for, in the words of fields where there are such.
fn argument_type(kind: &ArgumentType) -> (String, Option<&'static str>) {
    let bits = |bytes: &u8| u32::from(*bytes) * 8;
    let plain = |name: &str| (name.to_owned(), None);
    match kind {
        ArgumentType::Integer { bytes, signed: true } => plain(&format!("Int{}", bits(bytes))),
        ArgumentType::Integer { bytes, signed: false } => plain(&format!("UInt{}", bits(bytes))),
        ArgumentType::Hexadecimal { bytes } => plain(&format!("HexInt{}", bits(bytes))),
        ArgumentType::List { bytes, .. } => plain(&format!("List{}", bits(bytes))),
        ArgumentType::Set { bytes, .. } => plain(&format!("Set{}", bits(bytes))),
        ArgumentType::Enumeration(_) => plain("List32"),
        ArgumentType::FlagsEnumeration(_) => plain("Set32"),
        ArgumentType::Code(table) => {
            let (wire, meaning) = match table {
                CodeTable::NtStatus => ("HexInt32", "NtStatus"),
                CodeTable::HResult => ("HexInt32", "HResult"),
                CodeTable::Win32 => ("UInt32", "Win32Error"),
                CodeTable::NdisStatus => ("HexInt32", "NdisStatus"),
                CodeTable::NdisOid => ("HexInt32", "NdisOid"),
            };
            (wire.to_owned(), Some(meaning))
        }
        ArgumentType::TimeDelta => ("Int64".to_owned(), Some("TimeDelta")),
        ArgumentType::Text { wide, counted, .. } => plain(match (wide, counted) {
            (true, false) => "Utf16",
            (true, true) => "CountedUtf16",
            (false, false) => "Ansi",
            (false, true) => "CountedAnsi",
        }),
        ArgumentType::Unknown(declared) => plain(&format!("unknown ({declared})")),
        other => plain(&format!("{other:?}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{FieldRef, Wire};

    #[test]
    fn rules_name_the_fields_they_refer_to() {
        let count = Field::value("Count", Wire::UInt16);
        let inner = vec![
            Field { count: Count::Field(FieldRef { up: 1, index: 0 }), ..Field::value("A", Wire::UInt8) },
            Field { count: Count::Rest, ..Field::value("B", Wire::Guid) },
        ];
        let outer = Field { count: Count::Fixed(2), ..Field::structure("S", inner) };
        let described = fields(&[count, outer]);
        assert_eq!((described[1].in_type.as_str(), &described[1].count), ("Struct", &Some(Rule::Constant(2))));
        assert_eq!(described[1].fields[0].count, Some(Rule::Field("Count".into())));
        assert_eq!(described[1].fields[1].count, Some(Rule::Rest));
        let json = serde_json::to_string(&described[1].fields).unwrap();
        let expected = r#"[{"name":"A","in_type":"UInt8","count":{"field":"Count"}},{"name":"B","in_type":"Guid","count":"rest"}]"#;
        assert_eq!(json, expected);
    }

    #[test]
    fn arguments_are_named_like_fields() {
        for (declared, expected, meaning) in [
            ("ItemLong", "Int32", None),
            ("ItemULongLong", "UInt64", None),
            ("ItemNTSTATUS", "HexInt32", Some("NtStatus")),
            ("ItemWINERROR", "UInt32", Some("Win32Error")),
            ("ItemTimeDelta", "Int64", Some("TimeDelta")),
            ("ItemWaitTime", "FileTime", None),
            ("ItemListByte(a,b)", "List8", None),
            ("ItemSetLong(a)", "Set32", None),
            ("ItemEnum(E)", "List32", None),
            ("ItemPWString", "CountedUtf16", None),
            ("ItemString", "Ansi", None),
            ("ItemPtr", "Pointer", None),
            ("ItemOdd", "unknown (ItemOdd)", None),
        ] {
            assert_eq!(argument_type(&ArgumentType::parse(declared)), (expected.to_owned(), meaning), "{declared}");
        }
    }

    #[test]
    fn names_of_values_are_a_list_or_a_map() {
        let describe = |declared: &str| ArgumentDescription::of(&Argument::new("x", 10, ArgumentType::parse(declared)));
        assert_eq!(
            (describe("ItemListByte(a, b)").labels, describe("ItemListByte(a, b)").map),
            (vec!["a".into(), "b".into()], None)
        );
        for (declared, kind, expected) in [
            ("ItemListByte(a,b=5,c)", "values", &[(0, "a"), (5, "b"), (6, "c")][..]),
            ("ItemSetLong(a=1,b=4)", "bits", &[(2, "a"), (16, "b")]),
        ] {
            let map = describe(declared).map.unwrap();
            let entries: Vec<_> = map.entries.iter().map(|entry| (entry.value, entry.name.as_str())).collect();
            assert_eq!((map.kind, &entries[..]), (kind, expected), "{declared}");
        }
    }
}
