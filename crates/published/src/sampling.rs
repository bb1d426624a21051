//! How much time a sample stands for.

use base::error::Result;
use conversion::read_columns;

use crate::source::Source;

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

/// How far the samples of a processor are apart.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Sampling {
    /// The trace does not say it.
    #[default]
    NotSaid,
    /// It was changed.
    Changed,
    /// So many nanoseconds, from the begin to the end.
    Every(u64),
}

impl Sampling {
    /// As a trace says it.
    ///
    /// # Errors
    /// [`ErrorKind::Output`](base::error::ErrorKind::Output) when the table cannot be read.
    pub fn of(source: &Source<'_>) -> Result<Sampling> {
        let mut found = Sampling::NotSaid;
        source.events::<IntervalEvent<'_>>("Kernel-PerfInfo", |row| {
            let is_saying = row.name.is_some_and(|name| SAYING.contains(&name)) && row.source == Some(TIMER);
            if let Some(interval) = row.interval.filter(|interval| is_saying && *interval > 0) {
                found = found.then(interval);
            }
        })?;
        Ok(found)
    }

    /// Nanoseconds between two samples; `None` where the trace does not say it, or where that was changed.
    pub fn interval(self) -> Option<u64> {
        match self {
            Sampling::Every(nanoseconds) => Some(nanoseconds),
            Sampling::NotSaid | Sampling::Changed => None,
        }
    }

    /// With another event that says an interval, in the kernel's unit.
    fn then(self, interval: i64) -> Sampling {
        let nanoseconds = interval.checked_mul(UNIT).and_then(|nanoseconds| u64::try_from(nanoseconds).ok());
        match (self, nanoseconds) {
            (Sampling::NotSaid, Some(nanoseconds)) => Sampling::Every(nanoseconds),
            (Sampling::Every(before), Some(nanoseconds)) if before == nanoseconds => self,
            _ => Sampling::Changed,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_interval_that_is_said_twice_is_one_and_another_one_is_a_change() {
        let of = |intervals: &[i64]| intervals.iter().fold(Sampling::NotSaid, |found, one| found.then(*one));
        assert_eq!((of(&[]), of(&[10_000])), (Sampling::NotSaid, Sampling::Every(1_000_000)));
        assert_eq!((of(&[10_000, 10_000]), of(&[10_000, 1250])), (Sampling::Every(1_000_000), Sampling::Changed));
        assert_eq!((of(&[10_000, 1250, 10_000]), of(&[i64::MAX])), (Sampling::Changed, Sampling::Changed));
        assert_eq!((of(&[1250]).interval(), of(&[1250, 1]).interval()), (Some(125_000), None));
    }
}
