//! A plan in a folder: what one process leaves to others that convert its partitions.
//!
//! ```text
//! job.json           the job, with the hash of the plan and of every file of segments; written last
//! plan.json          the plan
//! survey.json, …     what the survey found, for the commit
//! segments-00000     the segments of a partition, 136 bytes each
//! dimensions-…       what ids meant, for the commit
//! stacks-…           the stacks of events that other events record
//! report-00000.json  what became of a partition, behind a line with its hash
//! ```

use std::path::Path;

use base::error::{Error, ErrorKind, Result};
use base::progress::Progress;
use columnar::output::folder::{is_attempt, plan_name};
use columnar::output::store::StoreReader;
use columnar::output::{IfExists, StagedName, Store};
use serde::{Deserialize, Serialize};
use spill::{SpillSpace, Spilled};

use super::records::{PLAN_ANEW, StoredRecords, changed, foreign, unreadable};
use super::stored_dimensions::StoredDimensions;
use super::stored_stacks::StoredStacks;
use crate::convert::Checks;
use crate::convert::LockFrom;
use crate::convert::part_report::PartReport;
use crate::convert::report_check::ReportRules;
use crate::convert::write_options::WriteOptions;
use crate::plan::{Partition, PlanFile, PlanText, PlannedInput, Segment};
use crate::survey::survey_file::FACTS as SURVEY_FACTS;
use crate::survey::{FileSurvey, SurveyResult, machines};

const JOB_FILE: &str = "job.json";
const PLAN_FILE: &str = "plan.json";

/// Bytes of a file of JSON that are read.
const MAX_JSON: u64 = 1 << 32;

/// A plan as it lies in its folder.
#[derive(Debug)]
pub(super) struct StoredPlan {
    /// What decides the output besides the plan.
    pub job: StoredJob,
    /// The plan.
    pub plan: PlanFile,
    /// BLAKE3 of all that, in lower-case hexadecimal.
    pub hash: String,
}

/// What decides the output besides the plan, and what the other files must be.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct StoredJob {
    /// Name of the trace, without `trace=`.
    pub trace: String,
    /// How files are written.
    pub write: WriteOptions,
    /// What keeps the trace from being published.
    pub checks: Checks,
    /// What to do about a trace that is there already.
    pub if_exists: IfExists,
    /// Where the schema lock comes from.
    pub lock: Option<LockFrom>,
    /// The byte order of the machine, which is that of the segments.
    pub byte_order: String,
    /// Hash of the plan.
    pub plan_blake3: String,
    /// The segments of every partition.
    pub segments: Vec<StoredRecords>,
    /// What ids meant.
    pub dimensions: StoredDimensions,
    /// The stacks of events that other events record; `None` where there are none.
    pub stacks: Option<StoredStacks>,
}

/// What became of a partition, and by which plan. Its hash covers the version of the program, too.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct StoredReport {
    /// Hash of the plan.
    pub plan: String,
    /// The word in the names of the files.
    pub attempt: String,
    /// The report.
    pub report: PartReport,
}

/// The first line of a report.
#[derive(Debug, Serialize, Deserialize)]
struct ReportSeal {
    /// BLAKE3 of all behind the line.
    blake3: String,
}

impl StoredReport {
    /// The report with its seal, as it is written.
    ///
    /// # Errors
    /// [`ErrorKind::Internal`] when JSON cannot express it.
    pub(super) fn to_text(&self) -> Result<Vec<u8>> {
        let report = serde_json::to_vec(self).map_err(unexpected)?;
        let seal = ReportSeal { blake3: blake3::hash(&report).to_hex().to_string() };
        let seal = serde_json::to_vec(&seal).map_err(unexpected)?;
        Ok([&seal[..], b"\n", &report].concat())
    }

    /// Reads what [`StoredReport::to_text`] has made, from a file that messages call `path`.
    ///
    /// # Errors
    /// [`ErrorKind::Output`] when it is not what was written.
    fn read(path: &Path, text: &[u8]) -> Result<Self> {
        let end = text.iter().position(|&byte| byte == b'\n').unwrap_or(text.len());
        let (seal, report) = (&text[..end], text.get(end + 1..).unwrap_or_default());
        let is_whole = serde_json::from_slice::<ReportSeal>(seal)
            .is_ok_and(|seal| seal.blake3 == blake3::hash(report).to_hex().as_str());
        if !is_whole {
            return Err(foreign(path, "this report is not as it was written").with_hint(CONVERT_ANEW));
        }
        parse(path, report)
    }

    /// Makes sure that the report is of a partition of this plan and that its numbers agree; `rules` are those of the plan.
    ///
    /// # Errors
    /// [`ErrorKind::Output`] when it is of another plan, or contradicts itself.
    pub(super) fn check(
        &self,
        plan: &StoredPlan,
        rules: &ReportRules<'_>,
        files: &dyn Store,
        partition: &Partition,
    ) -> Result<()> {
        let number = partition.number;
        let path = files.location(&report_file(number));
        if self.plan != plan.hash {
            return Err(changed(&path));
        }
        let attempt = if is_attempt(&self.attempt) { Ok(()) } else { Err("a name that no worker has") };
        attempt.and_then(|()| rules.check(&self.report, partition)).map_err(|fault| {
            let message = format!("expected a report on partition {number} without contradictions, found {fault}");
            foreign(&path, message).with_hint(CONVERT_ANEW)
        })
    }

    /// The files that it names, as they lie in the folder.
    pub(super) fn staged(&self) -> impl Iterator<Item = StagedName> {
        self.report.files.iter().map(|file| StagedName { path: file.path.clone(), attempt: self.attempt.clone() })
    }
}

/// The byte order of this machine.
pub(super) fn byte_order() -> &'static str {
    if cfg!(target_endian = "little") { "little" } else { "big" }
}

pub(super) fn segments_file(partition: u32) -> String {
    format!("segments-{partition:05}")
}

pub(super) fn report_file(partition: u32) -> String {
    format!("report-{partition:05}.json")
}

impl StoredJob {
    /// BLAKE3 of the job, in lower-case hexadecimal: that of everything, since it names the hashes of the rest.
    ///
    /// # Errors
    /// [`ErrorKind::Internal`] when JSON cannot express it.
    pub(super) fn hash(&self) -> Result<String> {
        let text = serde_json::to_vec(self).map_err(unexpected)?;
        Ok(blake3::hash(&text).to_hex().to_string())
    }

    /// Writes the job and its plan. The job comes last, unless it is there: where it is, all is. The plan itself replaces
    /// one of the same hash, which may know other modification times of the inputs.
    ///
    /// # Errors
    /// [`ErrorKind::Output`] when a file cannot be written.
    pub(super) fn write(&self, plan: &PlanText, files: &dyn Store) -> Result<()> {
        files.put(PLAN_FILE, plan.bytes())?;
        files.put_first(JOB_FILE, &[&serde_json::to_vec(self).map_err(unexpected)?])?;
        Ok(())
    }
}

impl StoredPlan {
    /// Reads a plan.
    ///
    /// # Errors
    /// [`ErrorKind::Output`] when it is not there, not whole, or not the one that its folder is named after, `Input` when it
    /// is of another version of the program.
    pub(super) fn read(files: &dyn Store) -> Result<Self> {
        let path = files.location(JOB_FILE);
        let text = files.get(JOB_FILE, MAX_JSON).map_err(|cause| {
            let hint = "name the folder that `plan` printed; it goes when its trace is published";
            foreign(&path, "cannot read the plan").caused_by(cause).with_hint(hint)
        })?;
        let job: StoredJob = parse(&path, &text)?;
        if job.byte_order != byte_order() {
            let message = format!("expected a plan of a {}-endian machine, found {}", byte_order(), job.byte_order);
            return Err(foreign(&path, message).with_hint("plan anew on a machine like this one"));
        }
        let hash = job.hash()?;
        if plan_name(&files.location("")).is_some_and(|(trace, digits)| trace != job.trace || !hash.starts_with(digits))
        {
            return Err(changed(&path));
        }
        let path = files.location(PLAN_FILE);
        let file = files.open(PLAN_FILE).map_err(|cause| unreadable(&path, "the plan", cause))?;
        let (plan, plan_hash) = PlanFile::read(StoreReader::new(file, 0), &path)?;
        if plan_hash != job.plan_blake3 || plan.partitions.len() != job.segments.len() {
            return Err(changed(&path));
        }
        Ok(StoredPlan { job, plan, hash })
    }

    /// A partition by its number.
    ///
    /// # Errors
    /// [`ErrorKind::Usage`] when there is none.
    pub(super) fn partition(&self, number: u32) -> Result<&Partition> {
        self.plan.partitions.get(number as usize).ok_or_else(|| {
            let last = self.plan.partitions.len().saturating_sub(1);
            Error::new(ErrorKind::Usage, format!("expected a partition from 0 to {last}, found {number}"))
                .with_hint("`etl2parquet plan --json` says how many partitions a plan has")
        })
    }

    /// Reads the segments of a partition.
    ///
    /// # Errors
    /// [`ErrorKind::Output`] when they are not there, or not those of the plan.
    pub(super) fn segments(
        &self,
        files: &dyn Store,
        partition: &Partition,
        space: &SpillSpace,
        progress: &dyn Progress,
    ) -> Result<Spilled<Segment>> {
        let path = segments_file(partition.number);
        let changed = || changed(&files.location(&path));
        let (mut events, mut damaged) = (0_u64, 0_u64);
        let is_sound = |block: &[Segment]| {
            events += block.iter().map(|segment| u64::from(segment.events)).sum::<u64>();
            damaged += block.iter().map(|segment| u64::from(segment.damaged())).sum::<u64>();
            block.iter().all(|segment| self.is_sound(segment, partition.number))
        };
        let stored =
            self.job.segments.get(partition.number as usize).filter(|stored| stored.count == partition.segments);
        let stored = stored.ok_or_else(changed)?;
        let segments = stored.read(files, &path, "the segments of the partition", space, progress, is_sound)?;
        if (events, damaged) != (partition.events, partition.damaged) {
            return Err(changed());
        }
        Ok(segments)
    }

    fn is_sound(&self, segment: &Segment, partition: u32) -> bool {
        usize::from(segment.input) < self.plan.inputs.len() && segment.partition == partition && segment.is_sound()
    }
}

/// Reads the report on a partition, if there is one. What it says is still to be checked.
///
/// # Errors
/// [`ErrorKind::Output`] when it cannot be read.
pub(super) fn read_report(files: &dyn Store, partition: u32) -> Result<Option<StoredReport>> {
    let file = report_file(partition);
    let path = files.location(&file);
    match files.get(&file, MAX_JSON) {
        Ok(text) => StoredReport::read(&path, &text).map(Some),
        Err(cause) if cause.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(cause) => Err(unreadable(&path, "the report on a partition", cause)),
    }
}

/// Reads the survey of the inputs that were planned. Copies of them may have other times, and so may the inputs themselves
/// by now.
///
/// # Errors
/// Those of [`SurveyResult::read`], and [`ErrorKind::Output`] when it is one of other inputs.
pub(super) fn read_survey(
    files: &dyn Store,
    planned: &[PlannedInput],
    space: &SpillSpace,
    progress: &dyn Progress,
) -> Result<SurveyResult> {
    let path = files.location(SURVEY_FACTS);
    let survey = SurveyResult::read(files, space, progress)?;
    let (expected, found) = (planned.len(), survey.files.len());
    if expected != found {
        let message = format!("expected the survey of the {expected} inputs that were planned, found one of {found}");
        return Err(foreign(&path, message).with_hint(PLAN_ANEW));
    }
    let is_other = |&(planned, (file, machine)): &(&PlannedInput, (&FileSurvey, u16))| {
        planned.without_time() != PlannedInput::of(file, machine).without_time()
    };
    let surveyed = survey.files.iter().zip(machines(&survey.files));
    if let Some((planned, (file, _))) = planned.iter().zip(surveyed).find(is_other) {
        let message = format!(
            "expected the survey of {}, which was planned, found that of another input or of another state of it ({})",
            planned.name, file.name
        );
        return Err(foreign(&path, message).with_hint(PLAN_ANEW));
    }
    Ok(survey)
}

fn parse<T: for<'a> Deserialize<'a>>(path: &Path, text: &[u8]) -> Result<T> {
    serde_json::from_slice(text).map_err(|cause| {
        let hint = "plan anew: the file is damaged, or was not written by this version";
        foreign(path, "cannot understand this file of a plan").caused_by(cause).with_hint(hint)
    })
}

/// What JSON cannot express.
pub(super) fn unexpected(cause: impl std::error::Error + Send + Sync + 'static) -> Error {
    Error::bug("cannot write the plan").caused_by(cause)
}

/// What is to be done where a report is not as it was left.
const CONVERT_ANEW: &str = "remove the file and convert the partition again";
