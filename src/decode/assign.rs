//! Which fields share a column, and what the columns are called.
//!
//! Everything here follows from the declared layouts and their order alone; what occurs in a trace plays no part, so
//! that tomorrow's trace gets today's columns.

use std::borrow::Cow;

use hashbrown::{HashMap, HashSet};
use serde::{Deserialize, Serialize};

use super::interpret::{self, ColumnRole, Interpretation, MAX_NESTING};
use crate::columns::types::{ColumnType, INT64, Member, TypeOptions, UINT64};
use crate::schema::model::{Count, Field, FieldKind};

/// Why a field's column is not called what the field is called.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RenameReason {
    /// An earlier declared field of this name has a type that this one cannot share.
    TypeConflict,
    /// An earlier declared name differs only in case.
    CaseCollision,
    /// The name belongs to a column that every table has.
    CommonColumn,
    /// The event has an earlier field of this name.
    DuplicateName,
    /// The declared name is empty or holds control characters.
    IllegalName,
    /// A declared or earlier name took the generated one.
    NameTaken,
}

impl RenameReason {
    /// The value of `renamed_because` in the sidecar.
    pub fn as_str(self) -> &'static str {
        match self {
            RenameReason::TypeConflict => "type_conflict",
            RenameReason::CaseCollision => "case_collision",
            RenameReason::CommonColumn => "common_column",
            RenameReason::DuplicateName => "duplicate_name",
            RenameReason::IllegalName => "illegal_name",
            RenameReason::NameTaken => "name_taken",
        }
    }
}

/// One column that came out.
#[derive(Clone, Debug)]
pub(super) struct AssignedColumn {
    pub name: String,
    pub column_type: ColumnType,
    pub reason: Option<RenameReason>,
}

/// One output of a field and the column it goes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Assigned {
    pub role: ColumnRole,
    pub column: usize,
}

/// Columns in the order of their first declaration, and where each field of each layout goes.
#[derive(Clone, Debug)]
pub(super) struct Assignment {
    pub columns: Vec<AssignedColumn>,
    /// Per layout and per field of it, its outputs in the order of [`columns_of`].
    pub bindings: Vec<Vec<Vec<Assigned>>>,
}

/// Gives every field of the layouts, in the order given, its column. `depth`: how many structures stand around them.
pub(super) fn assign_fields(layouts: &[&[Field]], reserved: &[&str], depth: usize, options: TypeOptions) -> Assignment {
    let mut groups = ColumnCandidates::default();
    let bindings = layouts.iter().map(|fields| groups.bind(fields, depth)).collect();
    Assignment { columns: groups.name(reserved, options), bindings }
}

/// The columns a field fills, in order; none for hidden fields and for structures without visible members.
fn columns_of(field: &Field, depth: usize) -> Vec<(ColumnRole, ColumnType)> {
    if field.hidden {
        return Vec::new();
    }
    let single = match &*interpret::kind(field) {
        FieldKind::Value { .. } => leaf_outputs(field),
        FieldKind::Struct(_) if depth >= MAX_NESTING => Vec::new(),
        FieldKind::Struct(members) => {
            let assigned = assign_fields(&[members], &[], depth + 1, TypeOptions::default());
            let members = assigned.columns.into_iter().map(|c| Member { name: c.name, column_type: c.column_type });
            let members: Vec<_> = members.collect();
            if members.is_empty() { Vec::new() } else { vec![(ColumnRole::Value, ColumnType::Struct(members))] }
        }
    };
    if field.count == Count::One || interpret::is_text_array(field) {
        return single;
    }
    single.into_iter().map(|(role, item)| (role, ColumnType::List(Box::new(item)))).collect()
}

fn leaf_outputs(field: &Field) -> Vec<(ColumnRole, ColumnType)> {
    let Some(interpretation) = interpret::interpret(field) else { return Vec::new() };
    match interpretation {
        Interpretation::TraceTime => vec![(ColumnRole::Nanos, INT64)],
        Interpretation::FileTime => vec![(ColumnRole::Value, ColumnType::Timestamp), (ColumnRole::FileTime, INT64)],
        Interpretation::Ticks => vec![(ColumnRole::Value, UINT64), (ColumnRole::Nanos, INT64)],
        Interpretation::Integer { .. } | Interpretation::Code { .. }
            if field.map.is_some()
                || interpret::character(field).is_some()
                || interpret::status_table(field).is_some() =>
        {
            vec![(ColumnRole::Value, interpretation.column_type()), (ColumnRole::Label, ColumnType::Utf8)]
        }
        _ => vec![(ColumnRole::Value, interpretation.column_type())],
    }
}

/// What makes two fields candidates for one column. A generated base never meets a declared one of the same spelling,
/// or one event could put two values into one cell.
#[derive(Clone, PartialEq, Eq, Hash)]
struct Key<'a> {
    base: Cow<'a, str>,
    generated: Option<RenameReason>,
    role: ColumnRole,
}

/// The fields of one key whose types go together.
struct ColumnCandidate<'a> {
    key: Key<'a>,
    column_type: ColumnType,
    /// Whether an earlier group has the same key.
    later: bool,
}

#[derive(Default)]
struct ColumnCandidates<'a> {
    groups: Vec<ColumnCandidate<'a>>,
    by_key: HashMap<Key<'a>, Vec<usize>>,
}

impl<'a> ColumnCandidates<'a> {
    fn bind(&mut self, fields: &'a [Field], depth: usize) -> Vec<Vec<Assigned>> {
        let mut seen = HashMap::new();
        let mut bound = Vec::with_capacity(fields.len());
        for (position, field) in fields.iter().enumerate() {
            let outputs = columns_of(field, depth);
            if outputs.is_empty() {
                bound.push(Vec::new());
                continue;
            }
            let (base, generated) = base_name(&field.name, position, &mut seen);
            let bind = |(role, column_type)| {
                let key = Key { base: base.clone(), generated, role };
                Assigned { role, column: self.assign(key, column_type) }
            };
            bound.push(outputs.into_iter().map(bind).collect());
        }
        bound
    }

    /// The first group of the key that can widen to the type, or a new one.
    fn assign(&mut self, key: Key<'a>, column_type: ColumnType) -> usize {
        let candidates = self.by_key.entry(key.clone()).or_default();
        for &index in candidates.iter() {
            if self.groups[index].column_type == column_type {
                return index;
            }
            if let Some(merged) = self.groups[index].column_type.merge(&column_type) {
                self.groups[index].column_type = merged;
                return index;
            }
        }
        self.groups.push(ColumnCandidate { key, column_type, later: !candidates.is_empty() });
        candidates.push(self.groups.len() - 1);
        self.groups.len() - 1
    }

    /// Declared names first, then generated ones with what is left.
    fn name(self, reserved: &[&str], options: TypeOptions) -> Vec<AssignedColumn> {
        let mut names = Names::new(reserved);
        let claimed: Vec<bool> =
            self.groups.iter().map(|group| group.is_declared() && names.claim(&group.key.base)).collect();
        let columns = self.groups.into_iter().zip(claimed).map(|(group, claimed)| {
            let (name, reason) =
                if claimed { (group.key.base.clone().into_owned(), None) } else { names.generate(&group, options) };
            AssignedColumn { name, column_type: group.column_type, reason }
        });
        columns.collect()
    }
}

impl ColumnCandidate<'_> {
    /// Whether the field's own name is the first choice.
    fn is_declared(&self) -> bool {
        self.key.generated.is_none() && self.key.role == ColumnRole::Value && !self.later
    }
}

/// The names that are gone, in lower case.
struct Names {
    common: HashSet<String>,
    /// Besides the common ones.
    used: HashSet<String>,
    /// The last number behind a generated name.
    numbers: HashMap<String, u32>,
}

impl Names {
    fn new(reserved: &[&str]) -> Names {
        let common = reserved.iter().map(|name| name.to_lowercase()).collect();
        Names { common, used: HashSet::new(), numbers: HashMap::new() }
    }

    fn claim(&mut self, name: &str) -> bool {
        let name = name.to_lowercase();
        !self.common.contains(&name) && self.used.insert(name)
    }

    /// A free name for a group that does not get its field's own.
    fn generate(&mut self, group: &ColumnCandidate<'_>, options: TypeOptions) -> (String, Option<RenameReason>) {
        let plain = format!("{}{}", group.key.base, group.key.role.suffix());
        let typed = format!("{plain}__{}", group.column_type.suffix(options));
        let (wanted, reason) = if group.is_declared() {
            let is_common = self.common.contains(&plain.to_lowercase());
            (&typed, Some(if is_common { RenameReason::CommonColumn } else { RenameReason::CaseCollision }))
        } else if group.later {
            (&typed, Some(RenameReason::TypeConflict))
        } else {
            (&plain, group.key.generated)
        };
        if self.claim(wanted) {
            return (wanted.clone(), reason);
        }
        let free = if self.claim(&typed) { typed } else { self.number(&typed) };
        (free, reason.or(Some(RenameReason::NameTaken)))
    }

    /// The name with the first number behind it that makes it free.
    fn number(&mut self, name: &str) -> String {
        let mut last = self.numbers.get(name).copied().unwrap_or(1);
        loop {
            last += 1;
            let numbered = format!("{name}__{last}");
            if self.claim(&numbered) {
                self.numbers.insert(name.to_owned(), last);
                return numbered;
            }
        }
    }
}

/// The name a column is derived from: the field's own; with `__2`, `__3` from its second occurrence in one event on;
/// `field_<position>` where the name is no name.
fn base_name<'a>(
    name: &'a str,
    position: usize,
    seen: &mut HashMap<&'a str, u32>,
) -> (Cow<'a, str>, Option<RenameReason>) {
    if name.trim().is_empty() || name.chars().any(char::is_control) {
        return (format!("field_{position}").into(), Some(RenameReason::IllegalName));
    }
    let occurrence = seen.entry(name).and_modify(|count| *count += 1).or_insert(1);
    match *occurrence {
        1 => (name.into(), None),
        later => (format!("{name}__{later}").into(), Some(RenameReason::DuplicateName)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema::model::{Count, FieldKind, MapKind, Meaning, ValueMap, Wire};
    use std::sync::Arc;

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
        let layouts: Vec<&[Field]> = layouts.iter().map(Vec::as_slice).collect();
        let options = TypeOptions::default();
        let assigned = assign_fields(&layouts, &["timestamp", "event_id", "trace"], 0, options);
        let line = |c: &AssignedColumn| {
            let reason = c.reason.map_or(String::new(), |r| format!(" ({})", r.as_str()));
            format!("{}: {}{reason}", c.name, c.column_type.suffix(options))
        };
        assigned.columns.iter().map(line).collect()
    }

    #[test]
    fn rules_of_sharing_and_naming() {
        let s = |members| vec![Field::structure("S", members)];
        let table: Vec<(Vec<Vec<Field>>, &[&str])> = vec![
            (vec![vec![f("A", Wire::UInt8)], vec![f("A", Wire::Pointer)]], &["A: uint64"]),
            (vec![vec![f("A", Wire::UInt32)], vec![f("A", Wire::Int32)]], &["A: int64"]),
            (
                vec![vec![f("A", Wire::Int32)], vec![f("A", Wire::Utf16)]],
                &["A: int32", "A__utf8: utf8 (type_conflict)"],
            ),
            (
                vec![vec![f("A", Wire::Int32)], vec![f("A", Wire::Guid)], vec![f("A", Wire::Ansi)]],
                &["A: int32", "A__utf8: utf8 (type_conflict)"],
            ),
            (
                vec![vec![f("A", Wire::Int32)], vec![list("A", Wire::Int32)]],
                &["A: int32", "A__list: list (type_conflict)"],
            ),
            (
                vec![vec![f("id", Wire::Int32), f("ID", Wire::Int32)]],
                &["id: int32", "ID__int32: int32 (case_collision)"],
            ),
            (vec![vec![f("Trace", Wire::Utf16)]], &["Trace__utf8: utf8 (common_column)"]),
            (
                vec![vec![f("A", Wire::Int8), f("A", Wire::Int8), f("A", Wire::Int8)]],
                &["A: int8", "A__2: int8 (duplicate_name)", "A__3: int8 (duplicate_name)"],
            ),
            // Declared names win over generated ones, wherever they are declared.
            (
                vec![vec![f("A", Wire::Int8), f("A", Wire::Int8)], vec![f("A__2", Wire::Guid)]],
                &["A: int8", "A__2__int8: int8 (duplicate_name)", "A__2: utf8"],
            ),
            (
                vec![vec![f("A", Wire::Int8)], vec![f("A", Wire::Guid)], vec![f("a__UTF8", Wire::Int8)]],
                &["A: int8", "A__utf8__2: utf8 (type_conflict)", "a__UTF8: int8"],
            ),
            (
                vec![vec![f("", Wire::Int8), f("a\u{1}", Wire::Int8)]],
                &["field_0: int8 (illegal_name)", "field_1: int8 (illegal_name)"],
            ),
            (vec![vec![mapped("A", Wire::UInt8)], vec![f("A", Wire::UInt32)]], &["A: uint32", "A_label: utf8"]),
            (
                vec![vec![mapped("A", Wire::UInt8), f("A_label", Wire::Int8)]],
                &["A: uint8", "A_label__utf8: utf8 (name_taken)", "A_label: int8"],
            ),
            (vec![vec![f("T", Wire::FileTime)], vec![utc("T")]], &["T: timestamp", "T_filetime: int64"]),
            (
                vec![vec![f("T", Wire::FileTime)], vec![f("T", Wire::SystemTime)]],
                &["T: timestamp", "T_filetime: int64", "T__local_timestamp: local_timestamp (type_conflict)"],
            ),
            (vec![vec![f("T", Wire::TraceTime), f("T", Wire::Int8)]], &["T_ns: int64", "T__2: int8 (duplicate_name)"]),
            (vec![vec![f("Event_Id", Wire::TraceTime)]], &["Event_Id_ns: int64"]),
            (
                vec![s(vec![f("x", Wire::Int8)]), s(vec![f("x", Wire::Int32)]), s(vec![f("y", Wire::Int8)])],
                &["S: struct", "S__struct: struct (type_conflict)"],
            ),
            (vec![vec![Field { hidden: true, ..f("A", Wire::Int8) }], s(vec![])], &[]),
        ];
        for (layouts, expected) in table {
            assert_eq!(columns(&layouts), expected, "{layouts:?}");
        }
    }

    #[test]
    fn one_event_never_fills_a_column_twice() {
        // `A__2` is declared in the event that also generates it, and shared with another event's duplicate.
        let first = [f("A", Wire::Int8), f("A", Wire::Int8), f("A__2", Wire::Int8)];
        let assigned = assign_fields(&[&first], &[], 0, TypeOptions::default());
        let columns: Vec<_> =
            assigned.bindings[0].iter().map(|b| assigned.columns[b[0].column].name.as_str()).collect();
        assert_eq!(columns, ["A", "A__2__int8", "A__2"]);
    }
}
