//! Descriptions as JSON: what `schema show --json` and `schema export` write (`docs/schemas.md`).

use std::collections::BTreeMap;

use base::guid::Guid;
use schemas::Releases;
use serde::Serialize;

use super::catalog::{Origin, PayloadLayout, Provider, ProviderType, SchemaCatalog};
use super::conflict::{self, Conflict};
use super::declared_names::DeclaredNames;
use super::described_fields::{FieldDescription, MapDescription, fields};
use super::model::{MapKind, ValueMap};
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
    /// Where files of the user describe it otherwise than the pack.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub conflicts: Vec<Conflict>,
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
    /// What the first layout's description says of it.
    #[serde(flatten)]
    pub names: DeclaredNames,
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
    /// The build of Windows on which it was recorded.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub build: Option<u32>,
    /// What its description says of the event, where that differs from what the event has by the first layout.
    #[serde(rename = "event", skip_serializing_if = "Option::is_none")]
    pub names: Option<Box<DeclaredNames>>,
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
    /// The component, if the tracing code names one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub component: Option<String>,
    /// The part of the component, if the tracing code names one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub subcomponent: Option<String>,
    /// The program or its folder.
    pub program: String,
    /// The source file.
    pub source_file: String,
    /// The line in it.
    pub source_line: Option<u32>,
    /// Source file and line as one word.
    pub place: String,
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
    /// The item type by which a TMF file declares it, without labels.
    pub item: String,
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
            conflicts: conflicts(catalog, guid, kind),
            events: events(catalog.layouts(guid, kind), with_fields),
            messages: messages.into_iter().map(|(origin, message)| MessageDescription::of(origin, message)).collect(),
        }
    }
}

/// Where the user's files describe a provider otherwise than the pack, in order of rank.
fn conflicts(catalog: &SchemaCatalog, guid: Guid, kind: ProviderType) -> Vec<Conflict> {
    let manifests = catalog.manifests(guid).filter(|_| kind == ProviderType::Manifest);
    manifests.filter_map(|(_, manifest, file)| conflict::with_pack(manifest, file)).collect()
}

impl ProviderDescription {
    /// What a description declares that is in no catalog.
    pub(crate) fn of_layouts(provider: Provider, layouts: Vec<PayloadLayout<'_>>) -> ProviderDescription {
        ProviderDescription {
            provider,
            dataset: None,
            group: None,
            control: None,
            keywords: Vec::new(),
            conflicts: Vec::new(),
            events: events(layouts, true),
            messages: Vec::new(),
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
    let mut events: BTreeMap<(u16, u16), (DeclaredNames, Vec<LayoutDescription>)> = BTreeMap::new();
    for layout in layouts {
        let names = DeclaredNames::of(&layout);
        let (first, all) = events.entry((layout.id, layout.version)).or_insert_with(|| (names.clone(), Vec::new()));
        let others = (*first != names && with_fields).then(|| Box::new(names));
        all.push(LayoutDescription { names: others, ..LayoutDescription::of(&layout, with_fields) });
    }
    let described = events.into_iter();
    described.map(|((id, version), (names, layouts))| EventDescription { id, version, names, layouts }).collect()
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
            build: layout.build,
            names: None,
            fields: with_fields.then(|| fields(&layout.schema.fields)),
            conversion: None,
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
            component: origin.component.clone(),
            subcomponent: origin.subcomponent.clone(),
            program: origin.provider.to_string(),
            source_file: origin.source_file.to_string(),
            source_line: origin.source_line(),
            place: origin.source_place.clone(),
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
        ArgumentDescription {
            number: item.number,
            expression: item.expression.clone(),
            item: item.encoding.item().into_owned(),
            in_type,
            out_type,
            labels,
            map,
        }
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
