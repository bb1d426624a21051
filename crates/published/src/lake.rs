//! The tables of published traces.

use base::error::Result;
use columnar::output::Store;
use conversion::sidecar::declared_columns;
use conversion::views::Lake;
use rayon::prelude::*;

use super::known_parts::KnownParts;
use super::lake_part::LakePart;
use super::trace::PublishedTrace;

/// Reads what manifests, footers and sidecars say. Of traces that have not changed, what an earlier call has kept in the output
/// folder `out` says it: their manifests alone are read, and what is new is kept there for the next call.
///
/// # Errors
/// [`ErrorKind::Output`](base::error::ErrorKind::Output) when one of these cannot be read.
pub fn lake(traces: &[PublishedTrace], out: Option<&dyn Store>) -> Result<Lake> {
    let known = out.map(KnownParts::read).unwrap_or_default();
    let read = |trace: &PublishedTrace| known.part_or(trace, || LakePart::read(trace));
    let parts: Vec<_> = traces.par_iter().map(read).collect::<Result<_>>()?;
    let (known, parts) = known.replaced_by(parts);
    if let Some((known, out)) = known.zip(out) {
        known.write(out);
    }
    let mut lake = Lake::default();
    parts.iter().for_each(|part| part.add_to(&mut lake));
    lake.set_of_one_machine(parts.iter().all(|part| part.is_of_one_machine));
    add_newer_columns(&mut lake);
    Ok(lake)
}

/// Adds the columns that tables of the sidecar have by now, and none of these traces has: NULL.
pub(super) fn add_newer_columns(lake: &mut Lake) {
    for table in lake.tables_mut() {
        let name = table.name().strip_prefix("sidecar/").unwrap_or_default().to_owned();
        for column in declared_columns(&name) {
            if table.column(column.name).is_none() {
                table.add_missing(column.name, &column.portable);
            }
        }
    }
}
