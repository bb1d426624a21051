//! What the fields of one event ask for: the names that their columns begin with, and what columns each fills.

use std::borrow::Cow;

use base::names;
use columnar::columns::types::{ColumnType, INT64, UINT64};
use hashbrown::{HashMap, HashSet};
use schema::family::{ColumnRole, Family};
use schema::model::{Count, Field, FieldKind};
use schema::settled_layout::SettledLayout;
use serde::{Deserialize, Serialize};

use super::interpret::{self, Interpretation, MAX_NESTING};

/// Why a field's column is not called what the field is called.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RenameReason {
    /// Fields of another family have the name.
    TypeConflict,
    /// The name is spelled in another case.
    CaseCollision,
    /// The name belongs to a column that every table has, or may have one day.
    CommonColumn,
    /// The event has an earlier field of this name, ignoring case.
    DuplicateName,
    /// The declared name is empty or holds characters that no engine takes in names.
    IllegalName,
    /// The declared name is too long.
    LongName,
    /// A declared name took the generated one.
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
            RenameReason::LongName => "long_name",
            RenameReason::NameTaken => "name_taken",
        }
    }
}

/// A field that fills columns.
#[derive(Clone, Debug)]
pub(super) struct NamedField<'a> {
    /// The name that its columns begin with, but for the spelling.
    pub base: String,
    /// That in lower case.
    pub key: String,
    /// Why that is not the declared one.
    pub reason: Option<RenameReason>,
    pub family: Family,
    /// Its columns, a structure without its members.
    pub outputs: Vec<(ColumnRole, ColumnType)>,
    /// The fields of a structure.
    pub members: Option<Cow<'a, [Field]>>,
}

/// Bytes of the longest name.
const MAX_NAME: usize = 128;

/// The fields of an event or a structure; `None` for those without a column. `reserved`: names, in lower case, that no
/// column may take. `depth`: how many structures stand around them.
pub(super) fn named_fields<'a>(
    fields: &'a [Field],
    reserved: &HashSet<String>,
    depth: usize,
) -> Vec<Option<NamedField<'a>>> {
    let mut named: Vec<_> =
        fields.iter().zip(0..).map(|(field, position)| named(field, position, reserved, depth)).collect();
    number_repeated(&mut named);
    named
}

/// What is seen of a layout; `reserved` as for its columns, in any case.
pub fn settled_layout(fields: &[Field], reserved: &[&str]) -> SettledLayout {
    let reserved = reserved.iter().map(|name| name.to_lowercase()).collect();
    let mut seen = Vec::new();
    add_seen(&mut seen, "", fields, &reserved, 0);
    SettledLayout::new(seen)
}

fn add_seen(
    seen: &mut Vec<(String, Family)>,
    parent: &str,
    fields: &[Field],
    reserved: &HashSet<String>,
    depth: usize,
) {
    for field in named_fields(fields, reserved, depth).into_iter().flatten() {
        let path = format!("{parent}{}", field.base);
        seen.push((path.clone(), field.family));
        if let Some(members) = field.members {
            add_seen(seen, &format!("{path}."), &members, &HashSet::new(), depth + 1);
        }
    }
}

fn named<'a>(field: &'a Field, position: usize, reserved: &HashSet<String>, depth: usize) -> Option<NamedField<'a>> {
    let outputs = outputs_of(field, depth);
    let family = family_of(&outputs.first()?.1);
    let mut key = field.name.to_lowercase();
    let (base, reason) = base_name(&field.name, &key, position, reserved);
    if reason.is_some() {
        key = base.to_lowercase();
    }
    Some(NamedField { base, key, reason, family, outputs, members: members(field) })
}

/// Puts a number behind a name from its second occurrence in an event on, one with which no other field of it is called so.
fn number_repeated(fields: &mut [Option<NamedField<'_>>]) {
    let is_any_repeated = {
        let mut seen = HashSet::with_capacity(fields.len());
        !fields.iter().flatten().all(|field| seen.insert(field.key.as_str()))
    };
    if !is_any_repeated {
        return;
    }
    let mut last: HashMap<String, u32> = HashMap::with_capacity(fields.len());
    let mut repeated = Vec::new();
    for (position, field) in fields.iter().enumerate() {
        let Some(field) = field else { continue };
        if last.insert(field.key.clone(), 1).is_some() {
            repeated.push(position);
        }
    }
    for position in repeated {
        let Some(Some(field)) = fields.get_mut(position) else { continue };
        let mut number = last.get(&field.key).copied().unwrap_or(1);
        let numbered = loop {
            number += 1;
            let numbered = format!("{}__{number}", field.key);
            if !last.contains_key(&numbered) {
                break numbered;
            }
        };
        last.insert(std::mem::replace(&mut field.key, numbered), number);
        field.base = format!("{}__{number}", field.base);
        field.reason = Some(RenameReason::DuplicateName);
    }
}

/// The name a column is derived from: the declared one where all engines take it. `key`: that in lower case.
fn base_name(declared: &str, key: &str, position: usize, reserved: &HashSet<String>) -> (String, Option<RenameReason>) {
    if declared.trim().is_empty() {
        return (format!("field_{position}"), Some(RenameReason::IllegalName));
    }
    let is_refused =
        |c: char| c.is_control() || matches!(c, ' ' | ',' | ';' | '{' | '}' | '(' | ')' | '=' | '.' | '/' | '\\');
    let is_illegal = declared.contains(is_refused);
    let safe = if is_illegal { declared.replace(is_refused, "_") } else { declared.to_owned() };
    if safe.len() > MAX_NAME {
        let hash = names::short_hash(key);
        let most = MAX_NAME - hash.len() - 1;
        let end = safe.char_indices().map(|(start, _)| start).take_while(|start| *start <= most).last().unwrap_or(0);
        return (format!("{}~{hash}", &safe[..end]), Some(RenameReason::LongName));
    }
    let is_reserved = if is_illegal { reserved.contains(&safe.to_lowercase()) } else { reserved.contains(key) };
    if is_reserved {
        return (format!("{safe}__field"), Some(RenameReason::CommonColumn));
    }
    (safe, is_illegal.then_some(RenameReason::IllegalName))
}

/// The columns a field fills, in order; none for hidden fields and for structures without visible members.
fn outputs_of(field: &Field, depth: usize) -> Vec<(ColumnRole, ColumnType)> {
    if field.hidden {
        return Vec::new();
    }
    let single = match &*interpret::kind(field) {
        FieldKind::Value { .. } => leaf_outputs(field),
        FieldKind::Struct(_) if depth >= MAX_NESTING => Vec::new(),
        FieldKind::Struct(members) if members.iter().all(|member| outputs_of(member, depth + 1).is_empty()) => {
            Vec::new()
        }
        FieldKind::Struct(_) => vec![(ColumnRole::Value, ColumnType::Struct(Vec::new()))],
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

/// The fields of a structure.
fn members(field: &Field) -> Option<Cow<'_, [Field]>> {
    match interpret::kind(field) {
        Cow::Borrowed(FieldKind::Struct(members)) => Some(Cow::Borrowed(members)),
        Cow::Owned(FieldKind::Struct(members)) => Some(Cow::Owned(members)),
        _ => None,
    }
}

/// The family of the fields whose first column has this type.
fn family_of(column_type: &ColumnType) -> Family {
    match column_type {
        ColumnType::Boolean => Family::Bool,
        ColumnType::Int { .. } => Family::Int,
        ColumnType::Float32 | ColumnType::Float64 => Family::Float,
        ColumnType::Utf8 | ColumnType::Guid => Family::Text,
        ColumnType::Binary => Family::Binary,
        ColumnType::Timestamp => Family::Time,
        ColumnType::LocalTimestamp => Family::LocalTime,
        ColumnType::List(item) => Family::List(Box::new(family_of(item))),
        ColumnType::Struct(_) => Family::Struct,
    }
}
