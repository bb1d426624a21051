//! How much time a sample stands for.

use base::error::Result;
use conversion::read_columns;

use crate::opened::Opened;

/// Nanoseconds of the unit in which the kernel counts intervals.
const UNIT: i64 = 100;
/// The source of samples that is the timer, in the column `Source`.
const TIMER: i64 = 0;
/// Events that say the interval.
const SAYING: [&str; 3] = ["PerfInfo/CollectionStart", "PerfInfo/CollectionEnd", "PerfInfo/SetInterval"];

read_columns! {
    /// A row of `Kernel-PerfInfo`.
    struct IntervalEvent<'b> {
        name: Option<&'b str> = "event_name",
        source: Option<i64> = "Source",
        interval: Option<i64> = "NewInterval",
    }
}

/// Nanoseconds between two samples of a processor, as the trace says it; `None` where it does not, or where the interval was changed.
///
/// # Errors
/// [`ErrorKind::Output`](base::error::ErrorKind::Output) when the table cannot be read.
pub(crate) fn interval(opened: &Opened<'_>) -> Result<Option<u64>> {
    let (mut found, mut is_changed) = (None, false);
    opened.source.events::<IntervalEvent<'_>>("Kernel-PerfInfo", |row| {
        let is_saying = row.name.is_some_and(|name| SAYING.contains(&name)) && row.source == Some(TIMER);
        let Some(interval) = row.interval.filter(|interval| is_saying && *interval > 0) else { return };
        is_changed |= found.is_some_and(|before| before != interval);
        found = Some(interval);
    })?;
    let nanoseconds = found.filter(|_| !is_changed).and_then(|interval| interval.checked_mul(UNIT));
    Ok(nanoseconds.and_then(|nanoseconds| u64::try_from(nanoseconds).ok()))
}
