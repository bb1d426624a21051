//! Which fields share a column.

use std::collections::BTreeMap;

use columnar::columns::types::ColumnType;
use hashbrown::HashMap;
use schema::family::ColumnRole;
use schema::model::Field;

use super::column_names::{ColumnKey, ColumnNames};
use super::fields::{NamedField, RenameReason, named_fields};

/// One column that came out.
#[derive(Clone, Debug)]
pub(super) struct AssignedColumn {
    pub name: String,
    pub column_type: ColumnType,
}

/// One output of a field and the column it goes to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Assigned {
    pub role: ColumnRole,
    pub column: usize,
    /// Why the column is not called what the field is called.
    pub reason: Option<RenameReason>,
    /// Where the members of a structure go, by position.
    pub members: Vec<Vec<Assigned>>,
}

/// Columns in the order of their names, and where each field of each layout goes.
#[derive(Clone, Debug)]
pub(super) struct Assignment {
    pub columns: Vec<AssignedColumn>,
    /// Per layout and per field of it, its outputs.
    pub bindings: Vec<Vec<Vec<Assigned>>>,
}

/// Gives every field of the layouts, in the order given, its column. `names` are those of all of their fields; `also` are
/// columns that are there in any case.
pub(super) fn assign_fields(names: &ColumnNames, layouts: &[&[Field]], also: &[ColumnKey]) -> Assignment {
    let mut numbers: HashMap<ColumnKey, usize> = HashMap::new();
    let mut number = |key| {
        let next = numbers.len();
        *numbers.entry(key).or_insert(next)
    };
    let mut binder = Binder { names, number: &mut number };
    let mut bindings: Vec<Vec<Vec<Assigned>>> = layouts.iter().map(|fields| binder.bind(fields)).collect();
    also.iter().for_each(|key| {
        number(*key);
    });
    let ordered: BTreeMap<ColumnKey, usize> = numbers.into_iter().collect();
    let mut places = vec![0; ordered.len()];
    ordered.values().zip(0..).for_each(|(&number, place)| places[number] = place);
    bindings.iter_mut().flatten().flatten().for_each(|bound| bound.column = places[bound.column]);
    let column =
        |&key: &ColumnKey| AssignedColumn { name: names.column_name(key).0, column_type: names.column_type(key) };
    Assignment { columns: ordered.keys().map(column).collect(), bindings }
}

/// Finds the columns of fields; `number` shows where a column stands.
struct Binder<'a> {
    names: &'a ColumnNames,
    number: &'a mut dyn FnMut(ColumnKey) -> usize,
}

impl Binder<'_> {
    fn bind(&mut self, fields: &[Field]) -> Vec<Vec<Assigned>> {
        let named = named_fields(fields, self.names.reserved(), self.names.depth());
        named.iter().map(|field| field.as_ref().map_or_else(Vec::new, |field| self.outputs(field))).collect()
    }

    fn outputs(&mut self, field: &NamedField<'_>) -> Vec<Assigned> {
        let keys = self.names.columns_of(field).into_iter();
        keys.map(|key| Assigned {
            role: key.role,
            column: (self.number)(key),
            reason: self.reason(field, key),
            members: self.members(field, key),
        })
        .collect()
    }

    fn reason(&self, field: &NamedField<'_>, key: ColumnKey) -> Option<RenameReason> {
        let (is_plain, spelling) = self.names.plain(key);
        match () {
            () if is_plain && key.role == ColumnRole::Value && field.reason.is_none() && spelling == field.base => None,
            () if self.names.column_name(key).1 => Some(RenameReason::NameTaken),
            () if field.reason.is_some() => field.reason,
            () if !is_plain => Some(RenameReason::TypeConflict),
            () if spelling != field.base => Some(RenameReason::CaseCollision),
            () => None,
        }
    }

    /// A structure has all members that structures of its name have, in one order.
    fn members(&self, field: &NamedField<'_>, key: ColumnKey) -> Vec<Vec<Assigned>> {
        let Some(members) = &field.members else { return Vec::new() };
        let names = self.names.members(key);
        let numbers: HashMap<ColumnKey, usize> = names.keys().into_iter().zip(0..).collect();
        let mut number = |key: ColumnKey| numbers.get(&key).copied().unwrap_or(usize::MAX);
        Binder { names, number: &mut number }.bind(members)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use schema::model::{Count, FieldKind, MapKind, Meaning, ValueMap, Wire};

    use super::*;

    fn f(name: &str, wire: Wire) -> Field {
        Field::value(name, wire)
    }

    fn list(name: &str, wire: Wire) -> Field {
        Field { count: Count::Prefixed, ..f(name, wire) }
    }

    fn mapped(name: &str, wire: Wire) -> Field {
        let map = ValueMap::new("M", MapKind::Values, vec![]);
        Field { map: Some(Arc::new(map)), ..f(name, wire) }
    }

    fn utc(name: &str) -> Field {
        let mut field = f(name, Wire::SystemTime);
        let FieldKind::Value { meaning, .. } = &mut field.kind else { unreachable!("made as a value") };
        *meaning = Meaning::UtcTime;
        field
    }

    /// Columns as `name: type`, with the reason for a rename.
    fn columns(layouts: &[Vec<Field>]) -> Vec<String> {
        let mut names = ColumnNames::new(&["timestamp", "event_id", "trace"]);
        layouts.iter().for_each(|fields| names.declare(fields));
        shown(&names, layouts)
    }

    fn kind(column_type: &ColumnType) -> String {
        match column_type {
            ColumnType::Int { bytes, signed } => format!("{}{}", if *signed { 'i' } else { 'u' }, 8 * bytes),
            ColumnType::List(item) => format!("[{}]", kind(item)),
            ColumnType::Struct(members) => {
                let members = members.iter().map(|member| format!("{} {}", member.name, kind(&member.column_type)));
                format!("{{{}}}", members.collect::<Vec<_>>().join(", "))
            }
            other => format!("{other:?}").to_lowercase(),
        }
    }

    fn shown(names: &ColumnNames, layouts: &[Vec<Field>]) -> Vec<String> {
        let layouts: Vec<&[Field]> = layouts.iter().map(Vec::as_slice).collect();
        let assigned = assign_fields(names, &layouts, &[]);
        let line = |(number, column): (usize, &AssignedColumn)| {
            let mut all = assigned.bindings.iter().flatten().flatten();
            let reason = all.find_map(|bound| bound.reason.filter(|_| bound.column == number));
            let reason = reason.map_or(String::new(), |reason| format!(" ({})", reason.as_str()));
            format!("{}: {}{reason}", column.name, kind(&column.column_type))
        };
        assigned.columns.iter().enumerate().map(line).collect()
    }

    #[test]
    fn rules_of_sharing_and_naming() {
        let s = |members| vec![Field::structure("S", members)];
        let table: Vec<(Vec<Vec<Field>>, &[&str])> = vec![
            (vec![vec![f("A", Wire::UInt8)], vec![f("A", Wire::Pointer)]], &["A: u64"]),
            (vec![vec![f("A", Wire::UInt32)], vec![f("A", Wire::Int32)]], &["A: i64"]),
            (vec![vec![f("A", Wire::UInt64)], vec![f("A", Wire::Int8)]], &["A: i64"]),
            (
                vec![vec![f("A", Wire::Int32)], vec![f("A", Wire::Guid)], vec![f("A", Wire::Ansi)]],
                &["A__int: i32 (type_conflict)", "A: utf8"],
            ),
            (
                vec![vec![f("A", Wire::Float)], vec![f("A", Wire::Bool8)]],
                &["A: float32", "A__bool: boolean (type_conflict)"],
            ),
            (
                vec![vec![list("A", Wire::Int32)], vec![f("A", Wire::Int32)], vec![list("A", Wire::Guid)]],
                &["A__list_int: [i32] (type_conflict)", "A: i32", "A__list_text: [guid] (type_conflict)"],
            ),
            // One event's own two names are one name; those of two events are spelled alike.
            (vec![vec![f("id", Wire::Int32), f("ID", Wire::Int32)]], &["id: i32", "ID__2: i32 (duplicate_name)"]),
            (vec![vec![f("id", Wire::Int32)], vec![f("ID", Wire::Int32)]], &["ID: i32 (case_collision)"]),
            (vec![vec![f("Trace", Wire::Utf16)]], &["Trace__field: utf8 (common_column)"]),
            (
                vec![vec![f("Trace", Wire::Utf16)], vec![f("trace", Wire::Int8)]],
                &["Trace__field: utf8 (common_column)", "Trace__field__int: i8 (common_column)"],
            ),
            (
                vec![vec![f("A", Wire::Int8), f("A", Wire::Int8), f("A", Wire::Int8)]],
                &["A: i8", "A__2: i8 (duplicate_name)", "A__3: i8 (duplicate_name)"],
            ),
            (
                vec![vec![f("A", Wire::Int8), f("A", Wire::Int8)], vec![f("A__2", Wire::Guid)]],
                &["A: i8", "A__2__int: i8 (duplicate_name)", "A__2: guid"],
            ),
            (
                vec![vec![f("", Wire::Int8), f("a\u{1}", Wire::Int8), f("a.b c", Wire::Int8)]],
                &["field_0: i8 (illegal_name)", "a_: i8 (illegal_name)", "a_b_c: i8 (illegal_name)"],
            ),
            (vec![vec![mapped("A", Wire::UInt8)], vec![f("A", Wire::UInt32)]], &["A: u32", "A_label: utf8"]),
            (vec![vec![f("T", Wire::FileTime)], vec![utc("T")]], &["T: timestamp", "T_filetime: i64"]),
            (
                vec![vec![f("T", Wire::SystemTime)], vec![f("T", Wire::FileTime)]],
                &["T__local_time: localtimestamp (type_conflict)", "T: timestamp", "T_filetime: i64"],
            ),
            (vec![vec![f("T", Wire::TraceTime), f("T", Wire::Int8)]], &["T_ns: i64", "T__2: i8 (duplicate_name)"]),
            (vec![vec![f("Event_Id", Wire::TraceTime)]], &["Event_Id__field_ns: i64 (common_column)"]),
            (
                vec![s(vec![f("x", Wire::Int8)]), s(vec![f("X", Wire::Int32)]), s(vec![f("y", Wire::Int8)])],
                &["S: {X i32, y i8}"],
            ),
            (
                vec![s(vec![f("x", Wire::Int8)]), s(vec![f("x", Wire::Guid)]), vec![f("S", Wire::Int8)]],
                &["S__struct: {x__int i8, x guid} (type_conflict)", "S: i8"],
            ),
            (vec![vec![Field { hidden: true, ..f("A", Wire::Int8) }], s(vec![])], &[]),
        ];
        for (layouts, expected) in table {
            assert_eq!(columns(&layouts), expected, "{layouts:?}");
        }
    }

    #[test]
    fn generated_names_yield_to_declared_ones() {
        let taken = |wanted: &str| format!("{wanted}~{}", base::names::short_hash(&wanted.to_lowercase()));
        assert_eq!(
            columns(&[vec![mapped("A", Wire::UInt8), f("a_LABEL", Wire::Int8)]]),
            ["A: u8".to_owned(), format!("{}: utf8 (name_taken)", taken("A_label")), "a_LABEL: i8".to_owned()]
        );
        assert_eq!(
            columns(&[vec![f("A", Wire::Int8)], vec![f("A", Wire::Guid)], vec![f("a__INT", Wire::Int8)]]),
            [format!("{}: i8 (name_taken)", taken("A__int")), "A: guid".to_owned(), "a__INT: i8".to_owned()]
        );
    }

    #[test]
    fn long_names_are_distinguished() {
        let (name, other) = ("é".repeat(65), format!("{}e", "é".repeat(64)));
        let found = columns(&[vec![f(&name, Wire::Int8), f(&other, Wire::Int8)]]);
        let hash = |name: &str| blake3::hash(name.as_bytes()).to_hex()[..8].to_owned();
        let expected = |name| format!("{}~{}: i8 (long_name)", "é".repeat(59), hash(name));
        assert_eq!(found, [expected(&name), expected(&other)]);
        assert_eq!(columns(&[vec![f(&"n".repeat(128), Wire::Int8)]]), [format!("{}: i8", "n".repeat(128))]);
    }

    #[test]
    fn names_do_not_depend_on_which_events_a_table_has() {
        let first = vec![f("A", Wire::Int32), Field::structure("S", vec![f("x", Wire::Int8)])];
        let second = vec![f("a", Wire::Utf16), mapped("B", Wire::Int8), f("T", Wire::FileTime)];
        let third = vec![f("B", Wire::Int64), utc("t"), Field::structure("S", vec![f("y", Wire::Int8)])];
        let mut names = ColumnNames::new(&[]);
        [&first, &second, &third].into_iter().for_each(|fields| names.declare(fields));
        assert_eq!(shown(&names, &[first]), ["A__int: i32 (type_conflict)", "S: {x i8, y i8}"]);
        // Companions stand beside every value.
        let all = [
            "S: {x i8, y i8}",
            "B: i64",
            "B_label: utf8",
            "T: timestamp (case_collision)",
            "T_filetime: i64 (case_collision)",
        ];
        assert_eq!(shown(&names, &[third]), all);
    }

    #[test]
    fn what_is_settled_stays() {
        let mut names = ColumnNames::new(&[]);
        names.settle(&[f("size", Wire::Int8), Field::structure("S", vec![f("b", Wire::Int8)])]);
        names.settle(&[f("SIZE", Wire::Utf16)]);
        let fields = vec![
            f("Size", Wire::Guid),
            f("new", Wire::Int8),
            Field::structure("s", vec![f("A", Wire::Int8), f("B", Wire::Int8)]),
        ];
        names.declare(&fields);
        names.declare(&[f("size", Wire::UInt64)]);
        let expected =
            ["size__text: utf8 (type_conflict)", "S: {b i8, A i8} (case_collision)", "new: i8"].map(str::to_owned);
        assert_eq!(shown(&names, &[fields]), expected);
    }

    #[test]
    fn one_event_never_fills_a_column_twice() {
        // `A__2` is declared in the event that also generates it.
        let first = vec![f("A", Wire::Int8), f("A", Wire::Int8), f("A__2", Wire::Int8)];
        assert_eq!(columns(&[first]), ["A: i8", "A__3: i8 (duplicate_name)", "A__2: i8"]);
    }
}
