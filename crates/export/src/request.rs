//! What is asked for.

use base::words;
use conversion::plan::Filter;

use crate::format::Format;

/// What is written, and of which events.
#[derive(Clone, Debug)]
pub struct Request {
    /// The format.
    pub format: Format,
    /// What a profile is of; of other formats without a meaning.
    pub of: Of,
    /// Which events.
    pub filter: Filter,
}

/// What a profile is of.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Of {
    /// Samples of the profiler: where processors were.
    #[default]
    Samples,
    /// Waits: where threads were while they did not run.
    Waits,
}

words! {
    Of {
        Samples = "samples": "samples of the profiler: what ran",
        Waits = "waits": "waits of threads, in nanoseconds: what did not run",
    }
}

impl Request {
    /// Samples of all events in a format.
    pub fn new(format: Format) -> Request {
        Request { format, of: Of::default(), filter: Filter::default() }
    }
}
