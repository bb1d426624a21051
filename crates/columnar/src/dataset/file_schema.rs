//! The Parquet schema of a table.
//!
//! parquet derives it from the Arrow schema, but without its optional feature for extension types it does not see which
//! 16-byte columns are UUIDs; this marks them.

use std::sync::Arc;

use arrow_schema::extension::EXTENSION_TYPE_NAME_KEY;
use arrow_schema::{DataType, Field, Schema};
use parquet::arrow::ArrowSchemaConverter;
use parquet::basic::{LogicalType, Type as PhysicalType};
use parquet::errors::Result;
use parquet::schema::types::{SchemaDescriptor, Type, TypePtr};

use crate::columns::UUID_EXTENSION;

/// The schema of the files; one root column per Arrow field.
pub(super) fn file_schema(schema: &Schema) -> Result<SchemaDescriptor> {
    let plain = ArrowSchemaConverter::new().convert(schema)?;
    let root = plain.root_schema();
    let columns = schema.fields().iter().zip(root.get_fields()).map(|(field, column)| marked(field, column));
    let marked = Type::group_type_builder(root.name()).with_fields(columns.collect::<Result<_>>()?).build()?;
    Ok(SchemaDescriptor::new(Arc::new(marked)))
}

/// The Parquet type of a field with its UUIDs marked, at any depth.
fn marked(field: &Field, column: &TypePtr) -> Result<TypePtr> {
    match field.data_type() {
        DataType::FixedSizeBinary(16) if is_uuid(field) => uuid(column),
        DataType::List(item) => {
            // LIST: an outer group, a repeated group in it, and in that the item.
            let repeated = |inner: &TypePtr| with_children(inner, |leaf, _| marked(item, leaf));
            with_children(column, |inner, _| repeated(inner))
        }
        DataType::Struct(fields) => with_children(column, |child, at| match fields.get(at) {
            Some(field) => marked(field, child),
            None => Ok(TypePtr::clone(child)),
        }),
        _ => Ok(TypePtr::clone(column)),
    }
}

fn is_uuid(field: &Field) -> bool {
    field.metadata().get(EXTENSION_TYPE_NAME_KEY).is_some_and(|name| name == UUID_EXTENSION)
}

fn uuid(column: &TypePtr) -> Result<TypePtr> {
    let info = column.get_basic_info();
    let uuid = Type::primitive_type_builder(info.name(), PhysicalType::FIXED_LEN_BYTE_ARRAY)
        .with_length(16)
        .with_repetition(info.repetition())
        .with_logical_type(Some(LogicalType::Uuid))
        .build()?;
    Ok(Arc::new(uuid))
}

/// The same group with other children.
fn with_children(group: &TypePtr, change: impl Fn(&TypePtr, usize) -> Result<TypePtr>) -> Result<TypePtr> {
    let info = group.get_basic_info();
    let children = group.get_fields().iter().enumerate().map(|(at, child)| change(child, at)).collect::<Result<_>>()?;
    let changed = Type::group_type_builder(info.name())
        .with_repetition(info.repetition())
        .with_converted_type(info.converted_type())
        .with_logical_type(info.logical_type_ref().cloned())
        .with_fields(children)
        .build()?;
    Ok(Arc::new(changed))
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use arrow_schema::{Fields, TimeUnit};

    use super::*;

    fn guid(name: &str, nullable: bool) -> Field {
        let metadata = HashMap::from([(EXTENSION_TYPE_NAME_KEY.to_owned(), UUID_EXTENSION.to_owned())]);
        Field::new(name, DataType::FixedSizeBinary(16), nullable).with_metadata(metadata)
    }

    #[test]
    fn uuids_are_marked_at_any_depth_and_nothing_else_changes() {
        let plain = |name: &str| Field::new(name, DataType::FixedSizeBinary(16), true);
        let list = |name: &str, item: Field| Field::new(name, DataType::List(Arc::new(item)), true);
        let with = |guid: &dyn Fn(&str, bool) -> Field| {
            let members = Fields::from(vec![Field::new("n", DataType::UInt8, false), guid("g", true)]);
            let item = Field::new("element", DataType::Struct(members.clone()), true);
            Schema::new(vec![
                Field::new("t", DataType::Timestamp(TimeUnit::Microsecond, Some("UTC".into())), false),
                guid("a", false),
                plain("b"),
                list("c", guid("element", true)),
                Field::new("d", DataType::Struct(members), true),
                list("e", item),
                list("f", Field::new("element", DataType::UInt64, true)),
            ])
        };
        let marked = file_schema(&with(&guid)).unwrap();
        let uuids: Vec<_> =
            marked.columns().iter().filter(|c| c.logical_type_ref() == Some(&LogicalType::Uuid)).collect();
        let paths: Vec<_> = uuids.iter().map(|c| c.path().string()).collect();
        assert_eq!(paths, ["a", "c.list.element", "d.g", "e.list.element.g"]);
        assert!(uuids.iter().all(|c| c.physical_type() == PhysicalType::FIXED_LEN_BYTE_ARRAY && c.type_length() == 16));
        let levels = |schema: &SchemaDescriptor| -> Vec<_> {
            schema.columns().iter().map(|c| (c.path().string(), c.max_def_level(), c.max_rep_level())).collect()
        };
        let unmarked = with(&|name, nullable| Field::new(name, DataType::FixedSizeBinary(16), nullable));
        let expected = ArrowSchemaConverter::new().convert(&unmarked).unwrap();
        assert_eq!(levels(&marked), levels(&expected));
        assert_eq!(file_schema(&unmarked).unwrap(), expected);
    }
}
