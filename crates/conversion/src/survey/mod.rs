//! Pass 1: every buffer once, in parallel, headers only.
//!
//! Its result is small and all that a report on the trace, the loss ledger, the clock audit, exact progress, the
//! conservation proof and a distributed plan need.

mod advice;
mod assembly;
mod audit;
pub mod buffer_summary;
pub mod count;
mod descriptive;
pub mod disorder;
pub mod ending;
pub mod facts;
pub mod file;
pub mod file_key;
pub mod hash;
pub mod issue;
pub mod issue_code;
pub mod loss;
mod machine;
pub mod marked;
pub mod naming;
pub mod options;
mod pass;
pub mod read_back;
mod repeats;
pub mod result;
pub mod sequence;
mod session_events;
mod settle;
pub mod shapes;
pub mod sort;
pub mod streams;
pub mod stretch;
pub mod stretch_file;
mod stretch_survey;
pub mod survey_file;
mod together;
pub mod unreadable;
pub mod walks;

pub use buffer_summary::BufferSummary;
pub use descriptive::DescriptiveEvents;
pub use disorder::Disorder;
pub use facts::FileFacts;
pub use file::{survey, survey_joined, survey_stretch, survey_within};
pub use file_key::FileKey;
pub use hash::hash;
pub use issue::{Issue, Issues, Severity};
pub use issue_code::IssueCode;
pub use machine::{SAME_BOOT, machines};
pub use marked::{Mark, MarkedEvent};
pub use options::{Keeps, SurveyOptions};
pub use read_back::{READ_BACK_BYTES, read_back, read_back_parallel};
pub use result::{FileSurvey, SurveyResult};
pub use settle::settle;
pub use shapes::ShapeSummary;
pub use stretch::Stretch;
pub use stretch_file::Stretches;
pub use together::{OneBehind, together};
