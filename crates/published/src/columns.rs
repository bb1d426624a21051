//! The columns of a Parquet file as readers compare them: by path, with their types.

use parquet::basic::{LogicalType, Repetition, Type as PhysicalType};
use parquet::schema::types::Type;

/// A column, or a member of a structure, in a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Column {
    /// Its name, behind those of the structures around it and dots.
    pub path: String,
    /// Its type; of a structure without the members.
    pub data_type: String,
    /// The members of a structure, in order.
    pub members: Option<Vec<String>>,
}

/// The columns below a group, each followed by the members of its structures.
pub(super) fn columns(root: &Type) -> Vec<Column> {
    let mut found = Vec::new();
    // Not by recursion: how deep a schema is, the file decides.
    let mut waiting: Vec<(String, &Type)> =
        children(root).rev().map(|child| (child.name().to_owned(), child)).collect();
    while let Some((path, of)) = waiting.pop() {
        let (lists, item) = unlisted(of);
        let members = is_structure(item).then(|| children(item).map(|member| member.name().to_owned()).collect());
        let kind = if members.is_some() { "STRUCT".to_owned() } else { value_type(item) };
        let required = if is_required(of) { " NOT NULL" } else { "" };
        let data_type = format!("{}{kind}{}{required}", "LIST<".repeat(lists), ">".repeat(lists));
        if members.is_some() {
            waiting.extend(children(item).rev().map(|member| (format!("{path}.{}", member.name()), member)));
        }
        found.push(Column { path, data_type, members });
    }
    found
}

fn children(of: &Type) -> impl DoubleEndedIterator<Item = &Type> {
    let fields = if of.is_group() { of.get_fields() } else { &[] };
    fields.iter().map(|field| &**field)
}

/// How many lists stand around an item, and the item.
fn unlisted(mut of: &Type) -> (usize, &Type) {
    let mut lists = 0;
    while let Some(item) = item_of(of) {
        (of, lists) = (item, lists + 1);
    }
    (lists, of)
}

/// The item of a list: an outer group, a repeated group in it, and in that the item.
fn item_of(of: &Type) -> Option<&Type> {
    let is_list = of.get_basic_info().logical_type_ref() == Some(&LogicalType::List);
    let repeated = is_list.then(|| children(of).next()).flatten()?;
    children(repeated).next()
}

fn is_structure(of: &Type) -> bool {
    of.is_group() && of.get_basic_info().logical_type_ref().is_none()
}

fn is_required(of: &Type) -> bool {
    let info = of.get_basic_info();
    info.has_repetition() && info.repetition() == Repetition::REQUIRED
}

/// The type of a value, in the words of docs/columns.md; those that this program never writes in Parquet's own.
fn value_type(of: &Type) -> String {
    let logical = of.get_basic_info().logical_type_ref();
    let Type::PrimitiveType { physical_type, type_length, .. } = of else { return format!("{logical:?}") };
    match (logical, physical_type) {
        (Some(LogicalType::String), PhysicalType::BYTE_ARRAY) => "STRING".to_owned(),
        (Some(LogicalType::Uuid), _) => "UUID".to_owned(),
        (Some(LogicalType::Timestamp(of)), PhysicalType::INT64) => {
            let unit = format!("{:?}", of.unit);
            format!("TIMESTAMP({unit}{})", if of.is_adjusted_to_u_t_c { ", UTC" } else { "" })
        }
        (Some(LogicalType::Integer(of)), _) => {
            format!("{}_{}", if of.is_signed { "INT" } else { "UINT" }, of.bit_width)
        }
        (None, PhysicalType::BYTE_ARRAY) => "BINARY".to_owned(),
        (None, PhysicalType::FIXED_LEN_BYTE_ARRAY) => format!("BINARY({type_length})"),
        (None, physical) => physical.to_string(),
        (Some(logical), physical) => format!("{physical} {logical:?}"),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow_schema::{DataType, Field, Fields, Schema, TimeUnit};
    use parquet::arrow::ArrowSchemaConverter;

    use super::*;

    #[test]
    fn columns_have_the_types_of_the_page_and_members_follow_their_structure() {
        let list = |item: DataType| DataType::List(Arc::new(Field::new("element", item, true)));
        let members = Fields::from(vec![
            Field::new("a", DataType::UInt8, true),
            Field::new("b", DataType::Struct(Fields::from(vec![Field::new("c", DataType::Utf8, false)])), true),
        ]);
        let time = |unit, zone: Option<&str>| DataType::Timestamp(unit, zone.map(Into::into));
        let schema = Schema::new(vec![
            Field::new("t", time(TimeUnit::Microsecond, Some("UTC")), false),
            Field::new("l", time(TimeUnit::Nanosecond, None), true),
            Field::new("n", DataType::Int64, true),
            Field::new("g", DataType::FixedSizeBinary(16), true),
            Field::new("x", list(list(DataType::Binary)), true),
            Field::new("s", list(DataType::Struct(members)), true),
            Field::new("f", DataType::Float64, true),
            Field::new("o", DataType::Boolean, true),
        ]);
        let descriptor = ArrowSchemaConverter::new().convert(&schema).unwrap();
        let found = columns(descriptor.root_schema()).into_iter().map(|column| {
            let members = column.members.map(|members| format!(" of {}", members.join(" "))).unwrap_or_default();
            format!("{}: {}{members}", column.path, column.data_type)
        });
        let expected = [
            "t: TIMESTAMP(MICROS, UTC) NOT NULL",
            "l: TIMESTAMP(NANOS)",
            "n: INT64",
            "g: BINARY(16)",
            "x: LIST<LIST<BINARY>>",
            "s: LIST<STRUCT> of a b",
            "s.a: UINT_8",
            "s.b: STRUCT of c",
            "s.b.c: STRING NOT NULL",
            "f: DOUBLE",
            "o: BOOLEAN",
        ];
        assert_eq!(found.collect::<Vec<_>>(), expected);
    }
}
