//! The tables of published traces.

use std::collections::HashMap;

use super::footer::Footer;
use super::table::read_table;
use super::trace::PublishedTrace;
use crate::error::Result;
use crate::output::manifest::CommitRecord;
use crate::views::Lake;

/// Reads what manifests, footers and sidecars say.
///
/// # Errors
/// [`ErrorKind::Output`](crate::ErrorKind::Output) when one of these cannot be read.
pub fn lake(traces: &[PublishedTrace]) -> Result<Lake> {
    let mut lake = Lake::default();
    for trace in traces {
        for file in CommitRecord::read(&trace.folder)?.files {
            let Some(table) = lake.add_file(&file.path) else { continue };
            let footer = Footer::read(&trace.folder.join(&file.path))?;
            for column in footer.columns().into_iter().filter(|column| !column.path.contains('.')) {
                table.add_column(column.path, column.data_type);
            }
        }
        add_events(&mut lake, trace)?;
    }
    Ok(lake)
}

fn add_events(lake: &mut Lake, trace: &PublishedTrace) -> Result<()> {
    let mut names: HashMap<i64, (String, String)> = HashMap::new();
    let catalog = trace.folder.join("sidecar/catalog.parquet");
    read_table(&catalog, &["shape", "dataset", "event_name", "rows"], None, &mut |batch| {
        for row in 0..batch.rows() {
            let named = batch.integer(0, row).zip(batch.text(1, row)).zip(batch.text(2, row));
            let Some(((shape, dataset), name)) = named else { continue };
            if batch.integer(3, row).unwrap_or(0) > 0 && lake.add_event(dataset, name).is_some() {
                names.insert(shape, (dataset.to_owned(), name.to_owned()));
            }
        }
        Ok(())
    })?;
    read_table(&trace.folder.join("sidecar/fields.parquet"), &["shape", "column"], None, &mut |batch| {
        for row in 0..batch.rows() {
            let named = batch.integer(0, row).and_then(|shape| names.get(&shape));
            let columns = named.and_then(|(dataset, name)| lake.add_event(dataset, name));
            if let Some((columns, column)) = columns.zip(batch.text(1, row)) {
                columns.insert(column.to_owned());
            }
        }
        Ok(())
    })
}
