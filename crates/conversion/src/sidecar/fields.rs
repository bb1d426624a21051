//! `fields`: one row per payload field of a shape, and one per further column that a field fills.

use std::borrow::Cow;

use schema::model::MapNames;

use super::row::sidecar_row;
use crate::decode::RenameReason;
use crate::plan::PlanResult;

sidecar_row! {
    /// A payload field of an event shape, and one of its columns.
    "fields" FieldRow {
        /// The shape's number.
        shape: u32,
        /// The field's position in the event; members of structures are counted after their structure.
        position: u32,
        /// Its name; for a member behind its structure's and a dot.
        field: String,
        /// The wire type, with `[n]` or `[]` for repeated fields.
        in_type: String,
        /// What the value stands for, where the wire type does not say it.
        out_type: Option<String>,
        /// The column, or the path to the member of a structure column.
        column: Option<String>,
        /// The column's Arrow type.
        column_type: Option<String>,
        /// Why the column is not called what the field is called.
        renamed_because: Option<Cow<'static, str>>,
        /// The unit of the column's values, where it is known and the type does not say it.
        unit: Option<Cow<'static, str>>,
        /// What the field is, where that is known.
        description: Option<Cow<'static, str>>,
        /// What of its values has names; since format 5.
        map_kind: Option<MapNames> => since 5,
    }
    weight: |row| {
        row.field.len() + [&row.out_type, &row.column, &row.column_type].into_iter().flatten().map(String::len).sum::<usize>()
    }
}

/// The rows of a recording, made shape by shape as they are asked for: all of them together may take more than the rest
/// of the sidecar.
pub(super) fn rows(plan: &PlanResult) -> impl Iterator<Item = FieldRow> {
    plan.catalog().zip(0u32..).flat_map(|(entry, shape)| {
        entry.field_columns().into_iter().map(move |field| FieldRow {
            shape,
            position: field.position,
            field: field.field,
            in_type: field.in_type,
            out_type: field.out_type,
            column: field.column,
            column_type: field.column_type,
            renamed_because: field.renamed_because.map(RenameReason::as_str).map(Cow::Borrowed),
            unit: field.unit.map(Cow::Borrowed),
            description: field.description.map(Cow::Borrowed),
            map_kind: field.map_kind,
        })
    })
}
