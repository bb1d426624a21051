//! What failed: events that their providers call errors, and exceptions of .NET.

use base::error::Result;

use super::source::Source;
use super::tally::{Ranked, Tally};

/// Events and types that are shown one by one.
const MOST_NAMES: usize = 12;
/// The number of the event of .NET that an exception was thrown.
const EXCEPTION: i64 = 80;

/// Exceptions of .NET by type; the first counter has them. `None` where there are none.
///
/// # Errors
/// [`ErrorKind::Output`](base::error::ErrorKind::Output) when a table cannot be read.
pub(super) fn exceptions(source: &Source<'_>) -> Result<Option<Ranked>> {
    let mut tally = Tally::<String>::default();
    let mut is_there = false;
    source.events("Microsoft-Windows-DotNETRuntime", &["event_id", "ExceptionType"], |batch, row| {
        if batch.integer(0, row) == Some(EXCEPTION) {
            is_there = true;
            tally.of(batch.text(1, row).unwrap_or("type not recorded")).count_one(1);
        }
    })?;
    Ok(is_there.then(|| tally.ranked(MOST_NAMES)))
}
