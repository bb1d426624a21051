//! The payload columns of one table and which field of which event fills them.

use std::collections::{BTreeMap, BTreeSet};

use arrow_schema::{DataType, FieldRef, Metadata};
use columnar::columns::types::{ColumnType, TypeOptions};
use hashbrown::HashSet;
use schema::family::ColumnRole;
use schema::model::{EventSchema, Field, FieldKind, MapNames, ValueMap};
use schema::pack::{EventFacts, FieldFact};
use schema::settled::SettledNames;
use serde::{Deserialize, Serialize};

use super::assign::{self, Assigned, Assignment};
use super::column_names::{ColumnKey, ColumnNames};
use super::fields::RenameReason;
use super::interpret::{self, MAX_NESTING};
use super::units;

/// One payload column.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "StoredColumn", into = "StoredColumn")]
pub struct PayloadColumn {
    /// Name, type and metadata (`in_type`, `out_type`, `map` of the first field that declares it); always nullable.
    pub field: FieldRef,
    column_type: ColumnType,
    options: TypeOptions,
    /// What of the metadata does not follow from the type. Columns share it: there may be hundreds of thousands.
    declared: Metadata,
}

/// What a payload column follows from.
#[derive(Serialize, Deserialize)]
struct StoredColumn {
    name: String,
    #[serde(rename = "type")]
    column_type: ColumnType,
    options: TypeOptions,
    metadata: BTreeMap<String, String>,
}

impl From<StoredColumn> for PayloadColumn {
    fn from(stored: StoredColumn) -> Self {
        let StoredColumn { name, column_type, options, metadata } = stored;
        PayloadColumn::new(&name, column_type, options, metadata.into())
    }
}

impl From<PayloadColumn> for StoredColumn {
    fn from(column: PayloadColumn) -> Self {
        let PayloadColumn { field, column_type, options, declared } = column;
        StoredColumn { name: field.name().clone(), column_type, options, metadata: declared.into() }
    }
}

impl PayloadColumn {
    fn new(name: &str, column_type: ColumnType, options: TypeOptions, declared: Metadata) -> Self {
        let field = column_type.field(name, options);
        let metadata = if field.metadata().is_empty() {
            declared.clone()
        } else {
            let both = field.metadata().iter().chain(declared.iter());
            both.map(|(key, value)| (key.clone(), value.clone())).collect()
        };
        PayloadColumn { field: FieldRef::new(field.with_metadata(metadata)), column_type, options, declared }
    }

    /// The column's name.
    pub fn name(&self) -> &str {
        self.field.name()
    }

    /// The column's Arrow type.
    pub fn data_type(&self) -> &DataType {
        self.field.data_type()
    }
}

/// Where the fields of one event go.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Binding {
    /// Per field of the event, one entry per output.
    pub(super) fields: Vec<Vec<Target>>,
}

impl Binding {
    /// Whether a column of the event was dropped.
    pub(super) fn leaves_out(&self) -> bool {
        self.fields.iter().flatten().any(|target| target.column.is_none())
    }
}

/// Where one output of a field goes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Target {
    pub role: ColumnRole,
    /// `None` once the column is dropped.
    pub column: Option<usize>,
    pub reason: Option<RenameReason>,
    /// Of a structure: where its members go, by position, among those of the column.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub members: Vec<Vec<Target>>,
}

impl From<&Assigned> for Target {
    fn from(assigned: &Assigned) -> Target {
        let members = assigned.members.iter().map(|outputs| outputs.iter().map(Target::from).collect());
        Target {
            role: assigned.role,
            column: Some(assigned.column),
            reason: assigned.reason,
            members: members.collect(),
        }
    }
}

/// The payload columns of one table.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PayloadColumns {
    /// The columns, in the order of their first declaration.
    pub columns: Vec<PayloadColumn>,
    bindings: Vec<Binding>,
}

/// One row of the sidecar table `fields`, but for the shape.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FieldColumn {
    /// The field's position in the event, counted from 0; members of structures are counted after their structure.
    pub position: u32,
    /// The field's name as declared; for a member behind its structure's and a dot.
    pub field: String,
    /// The wire type, with `[n]` or `[]` for repeated fields.
    pub in_type: String,
    /// What the value stands for, where the wire type does not say it.
    pub out_type: Option<String>,
    /// The column, or the path of names to the member of a structure column; `None` for fields without a column.
    pub column: Option<String>,
    /// The column's Arrow type.
    pub column_type: Option<String>,
    /// Why the column is not called what the field is called.
    pub renamed_because: Option<RenameReason>,
    /// The unit of the column's values, of a field without a column that of the field's.
    pub unit: Option<&'static str>,
    /// What the field is.
    pub description: Option<&'static str>,
    /// What of the field's values has names, where it has a map of such.
    pub map_kind: Option<MapNames>,
}

/// The columns of a table of events that describe themselves, and no others.
///
/// `schemas` are all events of their provider. `reserved` are the names that payload columns must leave alone: those of the
/// common columns, and `trace`. Names are compared without regard to case.
pub fn assign_columns(schemas: &[&EventSchema], reserved: &[&str], options: TypeOptions) -> PayloadColumns {
    let mut names = ColumnNames::new(reserved);
    schemas.iter().for_each(|schema| names.declare(&schema.fields));
    assign_named(&names, schemas, options)
}

/// The columns of a table. `names` are those of its provider, the events of the table among them; their order is that of the
/// columns, so that it is the same in every table.
pub fn assign_named(names: &ColumnNames, schemas: &[&EventSchema], options: TypeOptions) -> PayloadColumns {
    assign(names, schemas, options, &[])
}

/// As [`assign_named`], with all columns that there are names for, be they of an event or not.
pub fn assign_all(names: &ColumnNames, schemas: &[&EventSchema], options: TypeOptions) -> PayloadColumns {
    assign(names, schemas, options, &names.keys())
}

/// As [`assign_named`], with all columns that are settled.
pub fn assign_settled(
    names: &ColumnNames,
    settled: &SettledNames,
    schemas: &[&EventSchema],
    options: TypeOptions,
) -> PayloadColumns {
    assign(names, schemas, options, &names.keys_of(settled))
}

fn assign(names: &ColumnNames, schemas: &[&EventSchema], options: TypeOptions, also: &[ColumnKey]) -> PayloadColumns {
    let layouts: Vec<&[Field]> = schemas.iter().map(|schema| schema.fields.as_slice()).collect();
    let assigned = assign::assign_fields(names, &layouts, also);
    let columns = arrow_columns(&layouts, &assigned, options);
    let bind_event = |fields: &Vec<Vec<Assigned>>| Binding {
        fields: fields.iter().map(|outputs| outputs.iter().map(Target::from).collect()).collect(),
    };
    let bindings = assigned.bindings.iter().map(bind_event).collect();
    PayloadColumns { columns, bindings }
}

fn arrow_columns(layouts: &[&[Field]], assigned: &Assignment, options: TypeOptions) -> Vec<PayloadColumn> {
    let mut declarers: Vec<Option<&Field>> = vec![None; assigned.columns.len()];
    for (fields, bindings) in layouts.iter().zip(&assigned.bindings) {
        for (field, bounds) in fields.iter().zip(bindings) {
            for bound in bounds {
                declarers[bound.column].get_or_insert(field);
            }
        }
    }
    let mut known: HashSet<Metadata> = HashSet::new();
    let mut shared = |metadata: Metadata| {
        let equal = known.get(&metadata).cloned();
        equal.unwrap_or_else(|| {
            known.insert(metadata.clone());
            metadata
        })
    };
    let columns = assigned.columns.iter().zip(declarers).map(|(column, declarer)| {
        let metadata = shared(declarer.map(declared).unwrap_or_default());
        PayloadColumn::new(&column.name, column.column_type.clone(), options, metadata)
    });
    columns.collect()
}

fn declared(field: &Field) -> Metadata {
    let mut metadata = Metadata::new().with("in_type", interpret::in_type(field));
    metadata.extend(interpret::out_type(field).map(|out| ("out_type".to_owned(), out)));
    metadata.extend(field.map.as_ref().map(|map| ("map".to_owned(), map.name.clone())));
    metadata
}

impl PayloadColumns {
    /// Only the columns that are marked, in the same order.
    fn only(&self, used: &[bool]) -> PayloadColumns {
        let mut kept = 0;
        let renumbered: Vec<Option<usize>> = used
            .iter()
            .map(|&used| {
                kept += usize::from(used);
                used.then(|| kept - 1)
            })
            .collect();
        let mut bindings = self.bindings.clone();
        for target in bindings.iter_mut().flat_map(|binding| binding.fields.iter_mut().flatten()) {
            target.column = target.column.and_then(|column| renumbered[column]);
        }
        let columns = self.columns.iter().zip(used).filter(|(_, used)| **used).map(|(column, _)| column.clone());
        PayloadColumns { columns: columns.collect(), bindings }
    }

    /// Only the columns of certain names.
    #[must_use]
    pub fn only_named(&self, is_wanted: impl Fn(&str) -> bool) -> PayloadColumns {
        let used: Vec<bool> = self.columns.iter().map(|column| is_wanted(column.name())).collect();
        self.only(&used)
    }

    /// The first columns, so many that they hold no more than `leaves` values side by side, and how many such values
    /// the others would hold. A column that is too wide is passed over. Fields without a column stay in the payload.
    #[must_use]
    pub fn first(self, leaves: usize) -> (PayloadColumns, usize) {
        let (mut within, mut beyond) = (0, 0);
        let fits = |column: &PayloadColumn| {
            let width = leaf_count(column.data_type());
            let fits = within + width <= leaves;
            *(if fits { &mut within } else { &mut beyond }) += width;
            fits
        };
        let fits: Vec<bool> = self.columns.iter().map(fits).collect();
        if beyond == 0 { (self, 0) } else { (self.only(&fits), beyond) }
    }

    /// How many values all columns hold side by side.
    pub fn leaves(&self) -> usize {
        self.columns.iter().map(|column| leaf_count(column.data_type())).sum()
    }

    /// Only the bindings of the schemas with these numbers, which from now on are numbered in their order.
    #[must_use]
    pub fn with_bindings(self, schemas: &BTreeSet<usize>) -> PayloadColumns {
        let kept = self.bindings.into_iter().enumerate().filter(|(schema, _)| schemas.contains(schema));
        PayloadColumns { columns: self.columns, bindings: kept.map(|(_, binding)| binding).collect() }
    }

    /// Whether every schema fills columns that are there, and each of them once: what comes from a file is not believed.
    pub fn is_sound(&self) -> bool {
        let mut filled_by = vec![None; self.columns.len()];
        self.bindings.iter().enumerate().all(|(schema, binding)| {
            binding.fields.iter().flatten().all(|target| {
                let Some(column) = target.column else { return true };
                let before = filled_by.get_mut(column).map(|by| by.replace(schema));
                before.is_some_and(|before| before != Some(schema))
                    && is_sound(&target.members, self.columns[column].data_type(), MAX_NESTING)
            })
        })
    }

    /// For how many schemas it says where their fields go.
    pub fn bindings(&self) -> usize {
        self.bindings.len()
    }

    /// Where the fields of the schema with this number go.
    ///
    /// # Panics
    ///
    /// When there is no schema of this number.
    pub fn binding(&self, schema: usize) -> &Binding {
        &self.bindings[schema]
    }

    /// The rows of the sidecar table `fields` for one schema: every field, every member of a structure, and every
    /// companion column on a row of its own. `facts`: what is known of the event's fields.
    ///
    /// # Panics
    ///
    /// When there is no schema of this number.
    pub fn field_columns(&self, schema: usize, declared: &EventSchema, facts: EventFacts<'_>) -> Vec<FieldColumn> {
        let mut rows = FieldColumns { rows: Vec::new(), position: 0, facts };
        for (field, targets) in declared.fields.iter().zip(&self.binding(schema).fields) {
            let columns = targets.iter().filter_map(|target| Some((target, &self.columns.get(target.column?)?.field)));
            rows.add(field, "", "", &columns.collect::<Vec<_>>());
        }
        rows.rows
    }
}

/// Whether members fill those that a column has, each once.
fn is_sound(members: &[Vec<Target>], column: &DataType, depth: usize) -> bool {
    if members.is_empty() {
        return true;
    }
    let (DataType::Struct(columns), 1..) = (item_type(column), depth) else { return false };
    let mut filled = vec![false; columns.len()];
    members.iter().flatten().all(|target| {
        let Some(column) = target.column else { return false };
        let before = filled.get_mut(column).map(|filled| std::mem::replace(filled, true));
        before == Some(false) && is_sound(&target.members, columns[column].data_type(), depth - 1)
    })
}

/// The type of the items of a list, or the type itself.
pub(super) fn item_type(data_type: &DataType) -> &DataType {
    match data_type {
        DataType::List(item) => item.data_type(),
        other => other,
    }
}

/// How many Parquet columns a column becomes.
fn leaf_count(data_type: &DataType) -> usize {
    match data_type {
        DataType::List(item) => leaf_count(item.data_type()),
        DataType::Struct(members) => members.iter().map(|member| leaf_count(member.data_type())).sum(),
        _ => 1,
    }
}

struct FieldColumns<'a> {
    rows: Vec<FieldColumn>,
    position: u32,
    facts: EventFacts<'a>,
}

impl FieldColumns<'_> {
    fn add(&mut self, field: &Field, field_path: &str, column_path: &str, columns: &[(&Target, &FieldRef)]) {
        let name = format!("{field_path}{}", field.name);
        let known = self.facts.of(&name);
        let FieldFact { unit, description } = units::of_column(field, None, known);
        let row = FieldColumn {
            position: self.position,
            field: name.clone(),
            in_type: interpret::in_type(field),
            out_type: interpret::out_type(field),
            column: None,
            column_type: None,
            renamed_because: None,
            unit,
            description,
            map_kind: field.map.as_deref().map(ValueMap::names),
        };
        self.position = self.position.saturating_add(1);
        if columns.is_empty() {
            self.rows.push(row);
            return;
        }
        for (target, column) in columns {
            let FieldFact { unit, description } = units::of_column(field, Some(target.role), known);
            self.rows.push(FieldColumn {
                column: Some(format!("{column_path}{}", column.name())),
                column_type: Some(column.data_type().to_string()),
                renamed_because: target.reason,
                unit,
                description,
                ..row.clone()
            });
        }
        if let (FieldKind::Struct(members), [(target, column)]) = (&*interpret::kind(field), columns)
            && let DataType::Struct(columns) = item_type(column.data_type())
        {
            let column_path = format!("{column_path}{}.", column.name());
            for (member, targets) in members.iter().zip(&target.members) {
                let targets = targets.iter().filter_map(|target| Some((target, columns.get(target.column?)?)));
                self.add(member, &format!("{name}."), &column_path, &targets.collect::<Vec<_>>());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use columnar::columns::GuidType;
    use schema::model::{Count, Wire};

    use super::*;

    fn schema(fields: Vec<Field>) -> EventSchema {
        EventSchema { fields, ..EventSchema::default() }
    }

    fn names(table: &PayloadColumns) -> Vec<&str> {
        table.columns.iter().map(PayloadColumn::name).collect()
    }

    #[test]
    fn tables_of_some_events_have_their_columns_in_the_order_of_all() {
        let first = schema(vec![Field::value("A", Wire::Int32), Field::value("B", Wire::Int32)]);
        let second = schema(vec![Field::value("C", Wire::FileTime), Field::value("A", Wire::Guid)]);
        let all = assign_columns(&[&first, &second], &["timestamp"], TypeOptions::default());
        assert_eq!(names(&all), ["A__int", "A", "B", "C", "C_filetime"]);
        assert_eq!(all.columns[1].field.metadata()["in_type"], "Guid");
        let mut provider = ColumnNames::new(&["timestamp"]);
        [&first, &second].into_iter().for_each(|schema| provider.declare(&schema.fields));
        let some = assign_named(&provider, &[&second], TypeOptions::default());
        assert_eq!(names(&some), ["A", "C", "C_filetime"]);
        let columns: Vec<_> = some.binding(0).fields.iter().flatten().map(|target| target.column).collect();
        assert_eq!(columns, [Some(1), Some(2), Some(0)]);
    }

    #[test]
    fn a_schema_fills_columns_that_are_there_once_each() {
        let event = schema(vec![Field::value("A", Wire::Int32), Field::value("B", Wire::Int32)]);
        let table = assign_columns(&[&event, &event], &[], TypeOptions::default());
        assert!(table.is_sound() && table.clone().first(0).0.is_sound());
        for column in [0, 2] {
            let mut other = table.clone();
            other.bindings[1].fields[1][0].column = Some(column);
            assert!(!other.is_sound(), "{column}");
        }
    }

    #[test]
    fn columns_beyond_a_number_are_left_out() {
        let pair = Field::structure("S", vec![Field::value("x", Wire::UInt8), Field::value("y", Wire::UInt8)]);
        let event = schema(vec![
            Field::value("A", Wire::Int32),
            pair,
            Field::value("T", Wire::FileTime),
            Field::value("B", Wire::Int32),
        ]);
        let table = assign_columns(&[&event], &[], TypeOptions::default());
        assert_eq!(names(&table), ["A", "S", "T", "T_filetime", "B"]);
        let first = |leaves| {
            let (table, left_out) = table.clone().first(leaves);
            (names(&table).join(" "), left_out)
        };
        assert_eq!(first(6), ("A S T T_filetime B".to_owned(), 0));
        assert_eq!(first(5), ("A S T T_filetime".to_owned(), 1));
        assert_eq!(first(2), ("A T".to_owned(), 4));
        let (two, _) = table.first(2);
        let columns: Vec<_> = two.binding(0).fields.iter().flatten().map(|target| target.column).collect();
        assert_eq!(columns, [Some(0), None, Some(1), None, None]);
        assert!(
            two.binding(0).leaves_out()
                && !assign_columns(&[&event], &[], TypeOptions::default()).binding(0).leaves_out()
        );
    }

    #[test]
    fn rows_of_the_sidecar() {
        let members = vec![Field::value("x", Wire::UInt8), Field::value("X", Wire::FileTime)];
        let list = Field { count: Count::Fixed(2), ..Field::structure("S", members) };
        let hidden = Field { hidden: true, ..Field::value("__binLength", Wire::UInt32) };
        let event = schema(vec![Field::value("Trace", Wire::IPv4), hidden, list, Field::value("T", Wire::TraceTime)]);
        let table = assign_columns(&[&event], &["trace"], TypeOptions::default());
        let text = |row: FieldColumn| {
            let reason = row.renamed_because.map_or("-", RenameReason::as_str);
            let column = row.column.unwrap_or_else(|| "-".into());
            format!("{} {} {} {column} {reason}", row.position, row.field, row.in_type)
        };
        let rows: Vec<_> = table.field_columns(0, &event, EventFacts::default()).into_iter().map(text).collect();
        let expected = [
            "0 Trace IPv4 Trace__field common_column",
            "1 __binLength UInt32 - -",
            "2 S Struct[2] S -",
            "3 S.x UInt8 S.x -",
            "4 S.X FileTime S.X__2 duplicate_name",
            "4 S.X FileTime S.X__2_filetime duplicate_name",
            "5 T TraceTime T_ns -",
        ];
        assert_eq!(rows, expected);
    }

    #[test]
    fn columns_read_back_are_the_same() {
        let member = Field { count: Count::Fixed(2), ..Field::value("id", Wire::Guid) };
        let event = EventSchema {
            fields: vec![
                Field::structure("S", vec![member, Field::value("t", Wire::FileTime)]),
                Field::value("trace", Wire::UInt8),
            ],
            ..EventSchema::default()
        };
        let options = TypeOptions { guid: GuidType::Uuid, ..TypeOptions::default() };
        let columns = assign_columns(&[&event], &["trace"], options);
        let written = serde_json::to_string(&columns).unwrap();
        assert_eq!(serde_json::from_str::<PayloadColumns>(&written).unwrap(), columns);
        assert!(
            serde_json::from_str::<PayloadColumns>(&written.replace("\"role\":\"value\"", "\"role\":\"none\""))
                .is_err()
        );
    }
}
