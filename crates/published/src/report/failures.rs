//! What failed: events that their providers call errors, and exceptions of .NET.

use base::error::Result;
use conversion::read_columns;

use super::tally::{Ranked, Tally};
use crate::event_names::EXCEPTION;
use crate::source::Source;

/// Events and types that are shown one by one.
const MOST_NAMES: usize = 12;

read_columns! {
    /// A row of .NET.
    struct Thrown<'b> {
        id: Option<i64> = "event_id",
        exception: Option<&'b str> = "ExceptionType",
    }
}

/// Exceptions of .NET by type; the first counter has them. `None` where there are none.
///
/// # Errors
/// [`ErrorKind::Output`](base::error::ErrorKind::Output) when a table cannot be read.
pub(super) fn exceptions(source: &Source<'_>) -> Result<Option<Ranked>> {
    let mut tally = Tally::<String>::default();
    let mut is_there = false;
    source.events::<Thrown<'_>>("Microsoft-Windows-DotNETRuntime", |row| {
        if row.id == Some(EXCEPTION) {
            is_there = true;
            tally.of(row.exception.unwrap_or("type not recorded")).count_one(1);
        }
    })?;
    Ok(is_there.then(|| tally.ranked(MOST_NAMES)))
}
