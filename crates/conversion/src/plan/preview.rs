//! What a conversion would make of a provider's events, found without a trace: the tables are planned for one event of
//! each kind that is known.

use base::guid::Guid;
use base::names;
use base::progress::NoProgress;
use etl::event::{EventIdentity, Shape};
use etl::layout::header::HeaderFamily;
use schema::Registry;
use schema::catalog::{Provider, ProviderType, SchemaCatalog};
use schema::describe::{ColumnDescription, ColumnPreview};
use schema::eventsource::EventSourceManifests;
use schema::pack::Pack;
use schema::registry::Candidate;

use super::choose::{self, Choice};
use super::measure::Measures;
use super::resolve::{self, Resolved};
use super::{PlanOptions, tables};
use crate::decode::FieldColumn;

/// The dataset of a provider's events.
pub fn dataset(provider: &Provider) -> String {
    match provider.kind {
        ProviderType::Wpp => "WPP".to_owned(),
        ProviderType::Manifest | ProviderType::Classic | ProviderType::Named => {
            let name = Some(provider.name.as_str()).filter(|name| !name.is_empty());
            name.map_or_else(|| provider.guid.to_string(), names::safe_name)
        }
    }
}

/// What each layout of one event becomes, in the order of [`SchemaCatalog::layouts`], in a trace in which all events known of
/// the provider occur and the other events use the layouts that rank first. Empty for WPP messages, whose columns are
/// always the same.
pub fn conversions(
    catalog: &SchemaCatalog,
    provider: &Provider,
    event: (u16, u16),
    options: &PlanOptions,
) -> Vec<ColumnPreview> {
    let registry = Registry::new(EventSourceManifests::default(), Vec::new(), catalog.user().into());
    let mut events: Vec<(u16, u16)> =
        catalog.layouts(provider.guid, provider.kind).iter().map(|layout| (layout.id, layout.version)).collect();
    let layouts = events.iter().filter(|&&known| known == event).count();
    events.dedup();
    let Some(position) = events.iter().position(|&known| known == event) else { return Vec::new() };
    let mut shapes: Vec<Resolved> =
        events.iter().map(|&event| shape(provider.guid, provider.kind, event, &registry)).collect();
    let own = &shapes[position];
    let candidates = registry.candidates(own.key.as_ref(), &[]);
    let preferred = own.choice.as_ref().map(|choice| choice.candidate.clone());
    let conversion = |candidate: Candidate| {
        let is_preferred = preferred.as_ref().is_some_and(|preferred| is_same(preferred, &candidate));
        shapes[position].choice = Some(chosen(candidate));
        let rows = field_columns(&shapes, position, &registry, options);
        let columns = rows.into_iter().map(|row| ColumnDescription {
            field: row.field,
            column: row.column,
            column_type: row.column_type,
            renamed_because: row.renamed_because.map(crate::decode::RenameReason::as_str),
            unit: row.unit,
            description: row.description,
        });
        ColumnPreview { preferred: is_preferred, columns: columns.collect() }
    };
    // Behind the event's own layouts come those of its other versions.
    candidates.into_iter().take(layouts).map(conversion).collect()
}

/// The fields of one of the shapes and their columns.
fn field_columns(shapes: &[Resolved], position: usize, registry: &Registry, options: &PlanOptions) -> Vec<FieldColumn> {
    let planned = tables::tables(shapes, registry, options, None, &NoProgress).ok();
    let found = planned.as_ref().and_then(|planned| {
        let number = u32::try_from(position).ok()?;
        let table = planned.tables.iter().find(|table| table.shapes.contains(&number))?;
        let binding = planned.columns.get(position)?.as_ref()?.binding as usize;
        let shape = shapes.get(position)?;
        let name = shape.event_name(registry);
        let facts = Pack::builtin().field_facts(&shape.key.identity.provider, name.as_deref());
        Some(table.columns.field_columns(binding, &shape.choice.as_ref()?.candidate.schema, facts))
    });
    found.unwrap_or_default()
}

fn chosen(candidate: Candidate) -> Choice {
    Choice { candidate, reason: String::new(), is_contradicted: false, wrong_pointer_size: false, names_another: false }
}

fn is_same(a: &Candidate, b: &Candidate) -> bool {
    (a.source, &a.origin, &a.schema) == (b.source, &b.origin, &b.schema)
}

/// An event shape as a 64-bit system logs it.
fn shape(provider: Guid, kind: ProviderType, (id, version): (u16, u16), registry: &Registry) -> Resolved {
    let is_classic = kind == ProviderType::Classic;
    let identity = EventIdentity {
        provider,
        group: 0,
        id: if is_classic { 0 } else { id },
        version,
        opcode: if is_classic { u8::try_from(id).unwrap_or(u8::MAX) } else { 0 },
        property: 0,
        pointer_size: 8,
        family: if is_classic { HeaderFamily::Classic64 } else { HeaderFamily::Event64 },
    };
    let key = Shape { identity, metadata: Box::default() };
    let candidates = resolve::ranked(&key, provider, &[], registry);
    let choice = choose::choose(&candidates, &[], identity.pointer_size, u64::MAX, &Measures::default()).0;
    Resolved {
        settled_name: resolve::settled_name(&key, choice.as_ref(), &provider, registry),
        input: 0,
        events: 1,
        first_ns: 0,
        last_ns: 0,
        traits_name: None,
        schema_provider: provider,
        candidates: candidates.len(),
        is_empty: false,
        choice,
        unseen: choose::Unseen::default(),
        message: None,
        template: None,
        key,
    }
}

#[cfg(test)]
mod tests {
    use schema::files::SchemaFile;
    use schema::load::SchemaSet;
    use schema::user::UserSchemas;

    use super::*;

    const GUID: &str = "11111111-2222-3333-4444-555555555555";

    fn manifest(name: &str, fields: [&str; 2]) -> SchemaFile {
        let data = |tid: usize, field: &str| format!("<template tid='T{tid}'>{field}</template>");
        let text = format!(
            "<e><provider name='Lab' guid='{{{GUID}}}'><events><event value='1' template='T0'/>\
             <event value='2' template='T1'/></events><templates>{}{}</templates></provider></e>",
            data(0, fields[0]),
            data(1, fields[1])
        );
        SchemaFile::parse(name, text.into_bytes(), None).unwrap()
    }

    fn catalog(files: Vec<SchemaFile>) -> SchemaCatalog {
        let mut loaded = SchemaSet::default();
        for file in files {
            assert_eq!(loaded.add(file), None);
        }
        SchemaCatalog::new(loaded.schemas, UserSchemas::default())
    }

    fn show(catalog: &SchemaCatalog, guid: &str, event: (u16, u16)) -> Vec<Vec<String>> {
        let guid: Guid = guid.parse().unwrap();
        let provider = catalog.providers(|_, own| own == guid).remove(0);
        let text = |column: &ColumnDescription| {
            let name = column.column.as_deref().unwrap_or("-");
            format!("{}>{name} {}", column.field, column.renamed_because.unwrap_or("-"))
        };
        let conversions = conversions(catalog, &provider, event, &PlanOptions::default());
        let lines = conversions.iter().map(|own| {
            let mark = if own.preferred { "*" } else { "" };
            std::iter::once(mark.to_owned()).chain(own.columns.iter().map(text)).collect()
        });
        lines.collect()
    }

    #[test]
    fn other_events_of_the_provider_take_part() {
        let text = "<data name='A' inType='win:UnicodeString'/>";
        let number = "<data name='A' inType='win:UInt32'/><data name='Opcode' inType='win:UInt8'/>";
        let catalog = catalog(vec![manifest("a", [text, number])]);
        assert_eq!(show(&catalog, GUID, (1, 0)), [["*", "A>A -"]]);
        assert_eq!(
            show(&catalog, GUID, (2, 0)),
            [["*", "A>A__int type_conflict", "Opcode>Opcode__field common_column"]]
        );
    }

    #[test]
    fn every_layout_has_its_columns() {
        let [time, number] = ["<data name='A' inType='win:FILETIME'/>", "<data name='A' inType='win:UInt32'/>"];
        let catalog = catalog(vec![manifest("a", [time, number]), manifest("b", [number, number])]);
        assert_eq!(
            show(&catalog, GUID, (1, 0)),
            [vec!["*", "A>A__time type_conflict", "A>A__time_filetime type_conflict"], vec!["", "A>A -"]]
                .map(|own| own.iter().map(|&t| t.to_owned()).collect::<Vec<_>>())
        );
    }

    #[test]
    fn classic_events_are_known_by_opcode() {
        let catalog = catalog(Vec::new());
        let start = show(&catalog, "3d6fa8d0-fe05-11d0-9dda-00c04fd7ba7c", (1, 4));
        assert_eq!(start.len(), 1);
        // The oldest version has a pointer there, to which the column widens.
        let expected = ["UniqueProcessKey>UniqueProcessKey -", "ProcessId>ProcessId -", "ParentId>ParentId -"];
        assert_eq!(start[0][1..4], expected);
    }

    #[test]
    fn datasets_are_named_like_folders() {
        let catalog = catalog(vec![manifest("a", ["", ""])]);
        let own = catalog.providers(|name, _| name == "Lab" || name == "Kernel-Process");
        assert_eq!(own.iter().map(dataset).collect::<Vec<_>>(), ["Kernel-Process", "Lab"]);
    }
}
