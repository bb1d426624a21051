//! The time of a recording, for documents.

use base::calendar::rfc3339;
use serde::Serialize;

/// From the first to the last event.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct TimeRange {
    /// The first one, as RFC 3339.
    pub first_time: Option<String>,
    /// The last one, as RFC 3339.
    pub last_time: Option<String>,
    /// The first one, in Unix nanoseconds.
    pub first_time_ns: Option<i64>,
    /// The last one, in Unix nanoseconds.
    pub last_time_ns: Option<i64>,
}

impl TimeRange {
    /// The range as numbers and as text.
    pub fn of(range: Option<(i64, i64)>) -> Self {
        let (first, last) = range.unzip();
        TimeRange {
            first_time: first.map(rfc3339),
            last_time: last.map(rfc3339),
            first_time_ns: first,
            last_time_ns: last,
        }
    }

    /// The range as numbers.
    pub fn ns(&self) -> Option<(i64, i64)> {
        self.first_time_ns.zip(self.last_time_ns)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_events_have_no_time() {
        assert_eq!(
            serde_json::to_string(&TimeRange::of(None)).unwrap(),
            r#"{"first_time":null,"last_time":null,"first_time_ns":null,"last_time_ns":null}"#
        );
        assert_eq!(TimeRange::of(Some((0, 1))).last_time.as_deref(), Some("1970-01-01T00:00:00.000000001Z"));
    }
}
