//! What events of published traces say in words: the templates of shapes, and the columns of their fields.

use std::collections::{BTreeMap, HashMap};

use base::error::Result;
use base::progress::NoProgress;
use columnar::output::Store;
use conversion::read_columns;
use conversion::views::{Lake, MessageField, MessageKey};

use super::table::TableFile;

/// An event shape that has a template, with its dataset, and its fields by position.
type Shape = (String, MessageKey, BTreeMap<i64, MessageField>);

/// Reads the shapes that have rows and a template from files of the tables `catalog` and `fields`: those of one trace, or those of a lake,
/// which have the column `trace`.
///
/// # Errors
/// [`ErrorKind::Output`](base::error::ErrorKind::Output) when a file cannot be read.
pub(super) fn add_messages(lake: &mut Lake, store: &dyn Store, (catalog, fields): (&[&str], &[&str])) -> Result<()> {
    let mut shapes: HashMap<(String, i64), Shape> = HashMap::new();
    for path in catalog {
        TableFile::open(store, path)?.rows::<ToldShape<'_>>(None, &NoProgress, |row| {
            let number = row.event_id.zip(row.event_version).filter(|_| row.rows.unwrap_or(0) > 0);
            let Some((((id, version), template), shape)) = number.zip(row.template).zip(row.shape) else { return };
            let dataset = row.dataset.unwrap_or_default().split('/').next().unwrap_or_default().to_lowercase();
            let key = (row.trace.unwrap_or_default().to_owned(), shape);
            shapes.insert(key, (dataset, (id, version, template.to_owned()), BTreeMap::new()));
        })?;
    }
    for path in fields {
        TableFile::open(store, path)?.rows::<ToldField<'_>>(None, &NoProgress, |row| {
            let Some((shape, position)) = row.shape.zip(row.position) else { return };
            let Some((_, _, fields)) = shapes.get_mut(&(row.trace.unwrap_or_default().to_owned(), shape)) else {
                return;
            };
            let field = fields.entry(position).or_insert_with(|| MessageField {
                in_type: row.in_type.unwrap_or_default().to_owned(),
                out_type: row.out_type.map(str::to_owned),
                map_kind: row.map_kind.map(str::to_owned),
                columns: Vec::new(),
            });
            field.columns.extend(row.column.map(str::to_owned));
        })?;
    }
    let messages = lake.messages_mut();
    for (dataset, key, fields) in shapes.into_values() {
        messages.entry(dataset).or_default().add(key, fields.into_values().collect());
    }
    Ok(())
}

read_columns! {
    /// An event shape.
    struct ToldShape<'b> {
        trace: Option<&'b str> = "trace",
        shape: Option<i64> = "shape",
        dataset: Option<&'b str> = "dataset",
        event_id: Option<i64> = "event_id",
        event_version: Option<i64> = "event_version",
        rows: Option<i64> = "rows",
        template: Option<&'b str> = "message_template",
    }
}

read_columns! {
    /// A field of an event shape, and one of its columns.
    struct ToldField<'b> {
        trace: Option<&'b str> = "trace",
        shape: Option<i64> = "shape",
        position: Option<i64> = "position",
        in_type: Option<&'b str> = "in_type",
        out_type: Option<&'b str> = "out_type",
        map_kind: Option<&'b str> = "map_kind",
        column: Option<&'b str> = "column",
    }
}
