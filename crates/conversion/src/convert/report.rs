//! What came of a recording.

use std::collections::BTreeMap;
use std::path::PathBuf;

use super::counts::ShapeCounts;
use super::seen::RowOwners;
use crate::plan::PlanResult;
use crate::survey::{FileFacts, FileSurvey};
use columnar::output::manifest::{EventCounts, FileEntry};
use columnar::output::refusal::Refusal;

/// What is known of a job before its events become rows.
#[derive(Debug)]
pub struct Surveyed {
    /// The files, as surveyed.
    pub files: Vec<FileSurvey>,
    /// What is known of each.
    pub facts: Vec<FileFacts>,
    /// The plan.
    pub plan: PlanResult,
}

/// What became of a job.
#[derive(Debug)]
pub enum Outcome {
    /// The trace is there.
    Published(Box<Report>),
    /// The same trace was there already.
    Skipped,
    /// Another run is writing the trace.
    Busy,
    /// An earlier run could not publish it, for a reason that still holds.
    KnownRefusal(Box<Refusal>),
    /// Nothing was written, as asked.
    DryRun(Box<Report>),
    /// The filters pass no event: nothing was written.
    Empty(Box<Report>),
    /// A condition of the user kept the trace from being published; says which and why.
    Refused(Box<Report>, String),
}

impl Outcome {
    /// What was found, and what was written of it, if anything had to be found out.
    pub fn report(&self) -> Option<&Report> {
        match self {
            Outcome::Skipped | Outcome::Busy | Outcome::KnownRefusal(_) => None,
            Outcome::Published(report)
            | Outcome::DryRun(report)
            | Outcome::Empty(report)
            | Outcome::Refused(report, _) => Some(report),
        }
    }
}

/// What a conversion found and wrote.
#[derive(Debug)]
pub struct Report {
    /// The folder of the trace.
    pub folder: PathBuf,
    /// The files, as surveyed.
    pub files: Vec<FileSurvey>,
    /// What is known of each.
    pub facts: Vec<FileFacts>,
    /// The event shapes, and what kept events from becoming rows.
    pub plan: PlanResult,
    /// Counts per shape.
    pub shapes: Vec<ShapeCounts>,
    /// Found, written, filtered, damaged.
    pub events: EventCounts,
    /// Rows per `<source>/<status>`.
    pub decode: BTreeMap<String, u64>,
    /// The partitions that the recording was cut into; `None` where it was not.
    pub partitions: Option<u64>,
    /// Whose the rows are; `None` where no filter asks for that, or none was looked for.
    pub owners: Option<RowOwners>,
    /// The files that were written.
    pub written: Vec<FileEntry>,
    /// Earliest and latest event, Unix nanoseconds; of a ring, those of the window that it holds.
    pub time_range: Option<(i64, i64)>,
    /// What is not as it should be in the output folder; the trace itself is as it should be.
    pub warnings: Vec<String>,
}

impl Report {
    /// Whether anything of the inputs could not be read, or is not there.
    pub fn is_damaged(&self) -> bool {
        self.events.has_damage() || self.files.iter().any(FileSurvey::is_damaged)
    }
}
