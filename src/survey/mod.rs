//! Pass 1: every buffer once, in parallel, headers only.
//!
//! Its result is small and all that a report on the trace, the loss ledger, the clock audit, exact progress, the
//! conservation proof and a distributed plan need.

mod audit;
pub mod ending;
pub mod facts;
pub mod file;
pub mod finding;
mod hash;
pub mod loss;
pub mod memorable;
pub mod naming;
mod pass;
pub mod place;
mod progress;
pub mod recall;
pub mod record;
mod repeats;
pub mod sequence;
pub mod session;
pub mod shapes;
pub mod streams;
pub mod tally;

pub use facts::{FileFacts, settle};
pub use file::{FileSurvey, survey, survey_within};
pub use finding::{Finding, Findings, Severity};
pub use memorable::{Interest, Memorable};
pub use place::OrderKey;
pub use progress::{NoProgress, Progress, Spread, Work, stop_if_cancelled, timed};
pub use recall::{recall, recall_all};
pub use record::BufferRecord;
pub use session::Session;
pub use shapes::ShapeTally;

use crate::clock::ClockAnchor;

/// Choices that the survey depends on.
#[derive(Clone, Copy, Debug)]
pub struct SurveyOptions {
    /// Which pair of tick and time the clock hangs on.
    pub anchor: ClockAnchor,
    /// Whether the files are hashed.
    pub hash: bool,
}
