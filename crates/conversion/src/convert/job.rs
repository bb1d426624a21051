//! What to convert, how, and what came of it.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use base::names::{NameFrom, trace_name};
use base::words;
use columnar::output::folder::CleanupRegistry;
use columnar::output::manifest::{EventCounts, FileEntry};
use columnar::output::refusal::Refusal;
use serde::{Deserialize, Serialize};

use super::seen::RowOwners;
use crate::plan::PlanResult;
use crate::survey::{FileFacts, FileSurvey};

/// One recording: the files that become one trace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Recording {
    /// Name of the trace, without `trace=`.
    pub name: String,
    /// Its files, in the order given.
    pub inputs: Vec<InputFile>,
}

impl Recording {
    /// A recording of one file, called like the file.
    pub fn of_file(path: impl Into<PathBuf>) -> Recording {
        let path = path.into();
        let source = path.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned());
        Recording { name: trace_name(&source, NameFrom::Stem), inputs: vec![InputFile::new(path, source)] }
    }

    /// Where its inputs are.
    pub fn addresses(&self) -> impl Iterator<Item = &Path> {
        self.inputs.iter().map(|input| input.path.as_path())
    }
}

/// One input file.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct InputFile {
    /// Where it lies.
    pub path: PathBuf,
    /// Its path relative to the input named by the user, with `/`.
    pub source: String,
    /// Nanoseconds that are added to all its times, because its clock was behind by so many.
    pub offset_ns: i64,
}

impl InputFile {
    /// An input whose clock is believed.
    pub fn new(path: impl Into<PathBuf>, source: impl Into<String>) -> InputFile {
        InputFile { path: path.into(), source: source.into(), offset_ns: 0 }
    }
}

/// When the raw payload is written beside the decoded columns.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RawPolicy {
    /// Never, not even where nothing else represents it.
    Never,
    /// Where the columns do not represent all of it.
    #[default]
    Needed,
    /// Always.
    Always,
}

words! { RawPolicy {
    Never = "never": "Never",
    Needed = "needed": "Where the columns do not represent all of it",
    Always = "always": "Always",
} }

/// What becomes of the stacks of kernel events, which other events tell.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StackPolicy {
    /// The events have them, beside the rows of those that tell them.
    #[default]
    Join,
    /// They are rows alone.
    Keep,
}

words! { StackPolicy {
    Join = "join": "The events have them in `stack`, and the StackWalk rows stay",
    Keep = "keep": "They stay StackWalk rows alone",
} }

/// What may not be the case for a trace to be published.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[expect(clippy::struct_excessive_bools, reason = "each condition stands for itself")]
pub struct Checks {
    /// More lost events than this, or a number of them that nobody knows.
    pub max_loss: Option<MaxLoss>,
    /// Any loss, and whatever keeps everybody from knowing that there was none.
    pub loss: bool,
    /// Any loss that is known.
    pub known_loss: bool,
    /// Any disorder.
    pub disorder: bool,
    /// Any event that is not decoded whole.
    pub undecoded: bool,
    /// Any damage.
    pub damage: bool,
    /// Any name that the schema lock does not have.
    pub new_names: bool,
}

/// How many events may be lost.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MaxLoss {
    /// So many.
    Events(u64),
    /// So many of a hundred that were written or lost.
    Percent(f64),
}

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

/// What pass 2 counted of one shape.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ShapeCounts {
    /// Rows written.
    pub rows: u64,
    /// Those whose columns represent all of the payload.
    pub ok_rows: u64,
    /// Bytes of their payloads.
    pub payload_bytes: u64,
}

impl ShapeCounts {
    /// Rows whose columns do not represent all of the payload. A report that was stored may say anything.
    pub fn undecoded(&self) -> u64 {
        self.rows.saturating_sub(self.ok_rows)
    }
}

/// What pass 2 counted of one input.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct InputCounts {
    /// Events that could be recognised and not read.
    pub damaged: u64,
    /// Events that the filters leave out.
    pub filtered: u64,
    /// Events whose neighbour in the order of the recording has the same time.
    pub ties: u64,
    /// Times beyond the limits of 64 bits.
    pub saturated_times: u64,
    /// The largest difference to the documented formula in doubles, in nanoseconds.
    pub double_formula_error_ns: i64,
}

/// The stage of a job, for a progress display.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// Unpacking members of containers.
    Unpack {
        /// Bytes of what is packed.
        bytes: u64,
    },
    /// Surveying so many bytes.
    Survey {
        /// Bytes of all files.
        bytes: u64,
    },
    /// Planning.
    Plan,
    /// Converting so many events.
    Convert {
        /// Events of all files.
        events: u64,
    },
    /// Writing the sidecar and publishing.
    Publish,
}

/// Where a job reports how far it is.
pub trait JobProgress: base::progress::Progress {
    /// A stage begins; [`base::progress::Progress::advance`] now counts in its unit.
    fn stage(&self, stage: Stage);

    /// Who can remove what a job has begun to write, should the process have to end at once.
    fn cleanup(&self) -> CleanupRegistry {
        CleanupRegistry::default()
    }
}

impl JobProgress for base::progress::NoProgress {
    fn stage(&self, _stage: Stage) {}
}
