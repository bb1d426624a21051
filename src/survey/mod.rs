//! Pass 1: every buffer once, in parallel, headers only.
//!
//! Its result is small and all that a report on the trace, the loss ledger, the clock audit, exact progress, the
//! conservation proof and a distributed plan need.

mod audit;
pub mod file;
pub mod finding;
pub mod loss;
pub mod recall;
pub mod record;
pub mod sequence;
pub mod session;
pub mod streams;
pub mod tally;

pub use file::{FileSurvey, survey};
pub use finding::{Finding, Findings, Severity};
pub use recall::recall;
pub use record::BufferRecord;
pub use session::Session;
pub use tally::{Interest, Memorable, OrderKey, ShapeTally};

use crate::clock::ClockAnchor;

/// Choices that the survey depends on.
#[derive(Clone, Copy, Debug)]
pub struct SurveyOptions {
    /// Which pair of tick and time the clock hangs on.
    pub anchor: ClockAnchor,
    /// Whether closed local files are mapped.
    pub map: bool,
    /// Whether the files are hashed.
    pub hash: bool,
}

/// Where a long run reports how far it is, and learns that it should stop.
pub trait Progress: Sync {
    /// So many more bytes (survey) or events (conversion) are done.
    fn advance(&self, amount: u64);

    /// Whether to stop at the next opportunity.
    fn is_cancelled(&self) -> bool {
        false
    }
}

/// Reports to nobody.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoProgress;

impl Progress for NoProgress {
    fn advance(&self, _amount: u64) {}
}
