//! The tables of published traces.

use std::collections::HashMap;

use super::footer::Footer;
use super::sidecar::{Sidecar, missing_column, sidecar_table};
use super::trace::PublishedTrace;
use crate::error::{Error, ErrorKind, Result};
use crate::output::manifest::CommitRecord;
use crate::sidecar::declared_columns;
use crate::views::Lake;

/// Reads what manifests, footers and sidecars say.
///
/// # Errors
/// [`ErrorKind::Output`](crate::ErrorKind::Output) when one of these cannot be read.
pub fn lake(traces: &[PublishedTrace]) -> Result<Lake> {
    let mut lake = Lake::default();
    let mut is_of_one_machine = true;
    for trace in traces {
        let record = trace.record()?;
        for file in &record.files {
            let Some(table) = lake.add_file(&file.path) else { continue };
            let path = trace.folder.join(&file.path);
            let footer = Footer::read(&path)?;
            if let Some(sidecar) = sidecar_table(&file.path) {
                let missing = missing_column(sidecar, record.format_version, &|name| footer.has_column(name));
                missing.map_or(Ok(()), |reason| Err(Error::new(ErrorKind::Output, reason).in_file(&path)))?;
                is_of_one_machine &= sidecar != "sessions" || footer.range("machine") == Some((0, 0));
            }
            for column in footer.columns() {
                if column.path.contains('.') {
                    table.add_member(&column.path, column.data_type);
                } else {
                    table.add_column(column.path, column.data_type);
                }
            }
        }
        add_events(&mut lake, trace, &record)?;
    }
    lake.set_of_one_machine(is_of_one_machine);
    add_newer_columns(&mut lake);
    Ok(lake)
}

/// Adds the columns that tables of the sidecar have by now, and none of these traces has: NULL.
fn add_newer_columns(lake: &mut Lake) {
    for table in lake.tables_mut() {
        let name = table.name().strip_prefix("sidecar/").unwrap_or_default().to_owned();
        for column in declared_columns(&name) {
            if table.column(column.name).is_none() {
                table.add_missing(column.name, &column.portable);
            }
        }
    }
}

fn add_events(lake: &mut Lake, trace: &PublishedTrace, record: &CommitRecord) -> Result<()> {
    let mut names: HashMap<i64, (String, String)> = HashMap::new();
    let sidecar = Sidecar::of(&trace.folder, record);
    sidecar.read("catalog", &["shape", "dataset", "event_name", "rows"], &mut |batch| {
        for row in 0..batch.rows() {
            let named = batch.integer(0, row).zip(batch.text(1, row)).zip(batch.text(2, row));
            let Some(((shape, dataset), name)) = named else { continue };
            if batch.integer(3, row).unwrap_or(0) > 0 && lake.add_event(dataset, name).is_some() {
                names.insert(shape, (dataset.to_owned(), name.to_owned()));
            }
        }
        Ok(())
    })?;
    sidecar.read("fields", &["shape", "column"], &mut |batch| {
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
