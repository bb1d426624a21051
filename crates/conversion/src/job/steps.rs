//! A conversion in steps, each of which another process or machine may take: plan, convert each partition, commit.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Instant, SystemTime};

use base::error::{Error, ErrorKind, Result};
use base::resources::pool;
use base::resources::{default_memory, default_threads};
use columnar::dataset::rows_in_footer;
use columnar::output::folder::{plan_name, trace_folder};
use columnar::output::{CommitRecord, IfExists, LocalFolder, Output, PlanOutput, StagedName, Store, store_at};
use etl::input::{InputId, Inputs, OpenOptions};
use schema::extend::Additions;
use spill::SpillSpace;
use zerocopy::IntoBytes;

use super::plan_folder::{self, StoredJob, StoredPlan, StoredReport};
pub use super::plan_place::PlanPlace;
use super::plan_place::discard;
use super::prepare::{Early, Prepared, RowsFollow, inputs, prepare, survey_joined};
use super::records::{PLAN_ANEW, StoredRecords};
use super::stored_dimensions::StoredDimensions;
use super::stored_stacks::PartitionStacks;
use super::stretches;
pub use super::stretches::survey_stretch;
use super::update::Update;
use crate::commit::Commit;
use crate::commit::lock_file;
use crate::commit::record::{self, RunContext};
use crate::convert::part_report::PartReport;
use crate::convert::partitions::Conversion;
use crate::convert::pipeline::Threads;
use crate::convert::report_check::ReportRules;
use crate::convert::{ConvertOptions, LockFrom};
use crate::convert::{JobProgress, Outcome, Recording, Stage, Surveyed};
use crate::dimensions::Owners;
use crate::plan::{CompiledFilter, PartitionView, PlanFile, PlannedInputs, Segment};
use crate::stacks::Stacks;
use crate::survey::{FileFacts, Stretches, SurveyResult};

/// What a step may use.
#[derive(Clone, Debug)]
pub struct StepOptions {
    /// Threads.
    pub threads: usize,
    /// Budget in bytes for what is in memory.
    pub memory: u64,
    /// How members of containers are had. Default: unpacked beside the output.
    pub open: OpenOptions,
    /// What the caller calls the run; a commit records it. Default: nothing.
    pub run_id: Option<String>,
}

impl Default for StepOptions {
    /// As many threads as this process may use, and a budget by them and the memory of this machine.
    fn default() -> Self {
        let threads = default_threads();
        StepOptions { threads, memory: default_memory(threads), open: OpenOptions::default(), run_id: None }
    }
}

/// What became of planning.
#[derive(Debug)]
pub enum PlanOutcome {
    /// The plan is in its folder.
    Planned {
        /// The folder.
        folder: PathBuf,
        /// How many partitions there are to convert.
        partitions: usize,
    },
    /// There is nothing to convert: the trace is there already, or nothing passes the filters, or a check keeps it from
    /// being published.
    Done(Outcome),
}

/// What became of a partition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PartOutcome {
    /// It is converted.
    Converted {
        /// Rows written.
        rows: u64,
    },
    /// Somebody has converted it before, or meanwhile.
    AlreadyConverted,
}

/// What became of a commit.
#[derive(Debug)]
pub enum CommitOutcome {
    /// What becomes of a job.
    Done(Outcome),
    /// This plan was committed before.
    AlreadyCommitted(PathBuf),
}

/// Surveys and plans a job, and leaves the plan in a folder of the output. The same job with the same options has the same
/// folder, and what is there stays.
///
/// # Errors
/// Those of [`convert`](super::convert) up to there.
pub fn plan(job: &Recording, options: &ConvertOptions, progress: &dyn JobProgress) -> Result<PlanOutcome> {
    columnar::output::folder::check_absent(&options.out, &job.name, options.if_exists)?;
    if options.if_exists == IfExists::Update
        && let Some(known) = Update::of(job, options).known(&pool(options.threads)?, progress)?
    {
        return Ok(PlanOutcome::Done(known));
    }
    let ahead = |inputs: &Inputs| Some(stretches::folder(&options.out, &job.name, inputs.identities()));
    plan_joined(job, options, ahead, progress, |trace, hash| {
        PlanPlace::begin(&options.out, (trace, hash), &options.open, progress)
    })
}

/// As [`plan`], in the place that `begin` gives for the name of the trace and the hash of the plan. What is published there already
/// is not looked at.
///
/// # Errors
/// Those of [`plan`] and of `begin`.
pub fn plan_in(
    job: &Recording,
    options: &ConvertOptions,
    progress: &dyn JobProgress,
    begin: impl FnOnce(&str, &str) -> Result<PlanPlace>,
) -> Result<PlanOutcome> {
    plan_joined(job, options, |_| None, progress, begin)
}

/// As [`plan_in`], with stretches of the inputs that were surveyed ahead, in the folder that `ahead` says.
fn plan_joined(
    job: &Recording,
    options: &ConvertOptions,
    ahead: impl FnOnce(&Inputs) -> Option<PathBuf>,
    progress: &dyn JobProgress,
    begin: impl FnOnce(&str, &str) -> Result<PlanPlace>,
) -> Result<PlanOutcome> {
    let pool = pool(options.threads)?;
    let space = SpillSpace::temporary();
    let inputs = inputs(job, options, progress)?;
    let folder = ahead(&inputs);
    let ahead =
        |input| folder.as_deref().map_or_else(|| Ok(Stretches::default()), |folder| stretches::find(folder, input));
    let files =
        survey_joined(&pool, job, &inputs, options, (&space, RowsFollow::Elsewhere.wants(options)), ahead, progress)?;
    let Prepared { surveyed: Surveyed { files, plan, .. }, dimensions, stacks, write, planned, partitions, .. } =
        match prepare(&pool, job, files, &inputs, (options, RowsFollow::Elsewhere), &space, progress)? {
            Early::Prepared(prepared) => prepared,
            Early::Outcome(outcome) => {
                folder.as_deref().map_or(Ok(()), discard)?;
                return Ok(PlanOutcome::Done(outcome));
            }
        };
    let segments = || partitions.list().iter().map(|partition| partitions.segments(partition));
    let of_partitions = PartitionStacks::of(&stacks, segments(), &space, progress)?;
    let plan = PlanFile::new(planned.into_planned(), plan, partitions.list().to_vec()).to_text()?;
    let job = StoredJob {
        trace: job.name.clone(),
        write,
        checks: options.checks,
        if_exists: options.if_exists,
        lock: options.lock_in_use(),
        byte_order: plan_folder::byte_order().to_owned(),
        plan_blake3: plan.hash().to_owned(),
        segments: segments().map(StoredRecords::of).collect(),
        dimensions: StoredDimensions::of(&dimensions),
        stacks: of_partitions.as_ref().map(|stored| stored.of_files(&stacks)),
    };
    inputs.check_unchanged()?;
    let place = begin(&job.trace, &job.hash()?[..16])?;
    let stored = place.output.files();
    for (partition, segments) in (0..).zip(segments()) {
        base::progress::stop_if_cancelled(progress)?;
        stored.put_first(&plan_folder::segments_file(partition), &[segments.as_bytes()])?;
    }
    StoredDimensions::write(&dimensions, stored)?;
    of_partitions.map_or(Ok(()), |of_partitions| of_partitions.write(&stacks, stored, progress))?;
    SurveyResult { files }.write(stored, progress)?;
    job.write(&plan, stored)?;
    place.output.keep();
    Ok(PlanOutcome::Planned { folder: stored.location(""), partitions: partitions.list().len() })
}

/// Converts one partition of a plan, from its own parts of the inputs alone. Any number of processes may do so at a time,
/// for the same partition, too: the first one that ends counts.
///
/// # Errors
/// Of the kind `Output` when the plan is not there or a file cannot be written, `Usage` when there is no such partition,
/// `Input` and `Internal` when an input cannot be read or has changed, `Interrupted` when the caller asked to stop. What
/// was written is removed then.
pub fn convert_partition(
    folder: &Path,
    number: u32,
    options: &StepOptions,
    progress: &dyn JobProgress,
) -> Result<PartOutcome> {
    let plan = store_at(folder);
    let stored = StoredPlan::read(&*plan)?;
    stored.partition(number)?;
    if plan_folder::read_report(&*plan, number)?.is_some() {
        return Ok(PartOutcome::AlreadyConverted);
    }
    let place = PlanPlace::of(folder, &options.open, progress, LocalFolder::open_plan)?;
    convert_stored(stored, number, &place, options, progress)
}

/// As [`convert_partition`], of a plan in any place.
///
/// # Errors
/// Those of [`convert_partition`].
pub fn convert_partition_in(
    place: &PlanPlace,
    number: u32,
    options: &StepOptions,
    progress: &dyn JobProgress,
) -> Result<PartOutcome> {
    let plan = place.output.files();
    let stored = StoredPlan::read(plan)?;
    if plan_folder::read_report(plan, number)?.is_some() {
        return Ok(PartOutcome::AlreadyConverted);
    }
    convert_stored(stored, number, place, options, progress)
}

/// Converts a partition of a plan that has been read.
fn convert_stored(
    stored: StoredPlan,
    number: u32,
    place: &PlanPlace,
    options: &StepOptions,
    progress: &dyn JobProgress,
) -> Result<PartOutcome> {
    let (pool, files) = (pool(options.threads)?, Arc::clone(&place.output) as Arc<dyn Output>);
    let open = options.open.or_in(&place.out);
    let part = StoredPart {
        stored: &stored,
        number,
        plan: place.output.files(),
        space: &place.space,
        open: &open,
        filter: None,
    };
    let mut reports = part.convert(options.memory, progress, |conversion, view| {
        conversion.write(Threads::Pool(&pool), &[view], &files, progress)
    })?;
    let report = reports.pop().unwrap_or_default();
    let rows = report.files.iter().map(|file| file.rows).sum();
    let report = StoredReport { plan: stored.hash, attempt: place.output.attempt().to_owned(), report };
    let text = report.to_text()?;
    let is_first = place.output.vouch_first(&plan_folder::report_file(number), &text, progress)?;
    Ok(if is_first { PartOutcome::Converted { rows } } else { PartOutcome::AlreadyConverted })
}

/// A partition of a plan that has been read, and where its parts are.
pub(super) struct StoredPart<'a> {
    pub stored: &'a StoredPlan,
    pub number: u32,
    /// The folder of the plan.
    pub plan: &'a dyn Store,
    /// For what does not fit into memory.
    pub space: &'a SpillSpace,
    /// How members of containers are had.
    pub open: &'a OpenOptions,
    /// Which events become rows, if not all that the plan leaves.
    pub filter: Option<&'a CompiledFilter>,
}

impl StoredPart<'_> {
    /// Reads what the conversion of the partition needs, and has `work` do it.
    pub(super) fn convert<T>(
        &self,
        memory: u64,
        progress: &dyn JobProgress,
        work: impl FnOnce(&Conversion<'_>, PartitionView<'_>) -> Result<T>,
    ) -> Result<T> {
        let StoredPart { stored, number, plan, space, open, filter } = *self;
        let partition = stored.partition(number)?;
        let segments = stored.segments(plan, partition, space, progress)?;
        let (open, memory) = open.within(memory, stored.plan.inputs.iter().map(|input| &input.identity.source));
        let inputs = planned_inputs(stored, &segments, &open, progress)?;
        progress.stage(Stage::Convert { events: partition.events });
        let planned = PlannedInputs::new(stored.plan.inputs.clone(), &inputs);
        let view = PartitionView { inputs: &planned, partition, segments: &segments };
        let dimensions = stored.job.dimensions.read_owners(plan, space, progress)?;
        let stacks = match &stored.job.stacks {
            Some(stacks) => stacks.read(plan, number, space, progress)?,
            None => Stacks::default(),
        };
        let conversion = Conversion {
            plan: &stored.plan.result,
            filter: filter.or(stored.plan.result.filter.as_ref()),
            inputs: &planned,
            owners: &Owners::of(&dimensions),
            late: None,
            stacks: &stacks,
            options: &stored.job.write,
            memory,
            space,
        };
        let done = work(&conversion, view)?;
        view.check_unchanged()?;
        Ok(done)
    }
}

/// The inputs of a plan; of members of containers those that lie in a segment are had.
fn planned_inputs(
    stored: &StoredPlan,
    segments: &[Segment],
    open: &OpenOptions,
    progress: &dyn JobProgress,
) -> Result<Inputs> {
    let needed: HashSet<u16> = segments.iter().map(|segment| segment.input).collect();
    let identities = stored.plan.inputs.iter().map(|input| input.identity.clone());
    let begin = |bytes| progress.stage(Stage::Unpack { bytes });
    Inputs::planned(identities, |InputId(id)| needed.contains(&id), open, &begin, progress)
}

/// Publishes the trace of a plan, all partitions of which are converted; needs no input. Can be repeated after it was
/// interrupted, and after it succeeded.
///
/// # Errors
/// Of the kind `Output` when a partition is not converted or the trace cannot be written, `Internal` when the counts do not
/// meet, `Interrupted` when the caller asked to stop; nothing is published then.
pub fn commit(folder: &Path, options: &StepOptions, progress: &dyn JobProgress) -> Result<CommitOutcome> {
    let started = (SystemTime::now(), Instant::now());
    if let Some(target) = committed(folder) {
        extend_lock(&target)?;
        discard(folder)?;
        return Ok(CommitOutcome::AlreadyCommitted(target));
    }
    let place = PlanPlace::of(folder, &options.open, progress, LocalFolder::open_plan_to_publish)?;
    let outcome = commit_started(&place, options, started, progress)?;
    if let Outcome::Published(report) = &outcome {
        extend_lock(&report.folder)?;
    }
    Ok(CommitOutcome::Done(outcome))
}

/// As [`commit`], of a plan in any place. Whether it was committed before is not looked at, and no schema lock is extended.
///
/// # Errors
/// Those of [`commit`].
pub fn commit_in(place: &PlanPlace, options: &StepOptions, progress: &dyn JobProgress) -> Result<Outcome> {
    commit_started(place, options, (SystemTime::now(), Instant::now()), progress)
}

fn commit_started(
    place: &PlanPlace,
    options: &StepOptions,
    started: (SystemTime, Instant),
    progress: &dyn JobProgress,
) -> Result<Outcome> {
    let (pool, plan) = (pool(options.threads)?, place.output.files());
    let stored = StoredPlan::read(plan)?;
    let (reports, staged) = reports(&stored, &*place.output)?;
    let SurveyResult { files } = plan_folder::read_survey(plan, &stored.plan.inputs, &place.space, progress)?;
    let dimensions = stored.job.dimensions.read(plan, &place.space, progress)?;
    let StoredPlan { job, plan, hash } = stored;
    // All that they know is in the plan.
    let identities = plan.inputs.iter().map(|input| &input.identity);
    discard(&stretches::folder(&place.out, &job.trace, identities))?;
    let facts = FileFacts::of(&files, progress)?;
    let commit = Commit {
        name: &job.trace,
        target: place.target.clone(),
        dimensions: &dimensions,
        options: &job.write,
        checks: &job.checks,
        if_exists: job.if_exists,
        run: RunContext {
            threads: options.threads,
            memory: options.memory,
            bytes_read: None,
            out: place.out.clone(),
            id: options.run_id.clone(),
            options: record::publish_options(job.if_exists, job.checks, job.lock),
            plan: Some(hash),
        },
        started,
        staged,
    };
    let (surveyed, partitions) = (Surveyed { files, facts, plan: plan.result }, plan.partitions);
    let output = Arc::clone(&place.output) as Arc<dyn Output>;
    let finished = pool.install(|| commit.finish(surveyed, &partitions, reports, &output, || Ok(()), progress))?;
    finished.publish(&output, progress)
}

/// Adds the names of a trace to the lock of the output folder, where it was planned with that.
fn extend_lock(target: &Path) -> Result<()> {
    let is_from_folder =
        CommitRecord::read(&*store_at(target)).is_ok_and(|it| record::lock_of(&it) == Some(LockFrom::Folder));
    let (true, Some(out), Some(names)) = (is_from_folder, target.parent(), lock_file::names_of(&*store_at(target)))
    else {
        return Ok(());
    };
    let mut additions = Additions::default();
    additions.add(&names);
    lock_file::extend(&*store_at(out), &additions).map(drop)
}

/// The trace of a plan, where it is published already.
fn committed(folder: &Path) -> Option<PathBuf> {
    let (trace, hash) = plan_name(folder)?;
    let target = trace_folder(folder.parent()?, trace);
    let record = CommitRecord::read(&*store_at(&target)).ok()?;
    record.run.plan.is_some_and(|plan| plan.starts_with(hash)).then_some(target)
}

/// The reports on all partitions, in their order, and the files that they name.
fn reports(stored: &StoredPlan, output: &dyn PlanOutput) -> Result<(Vec<PartReport>, Vec<StagedName>)> {
    let plan = output.files();
    let (mut reports, mut files, mut missing) = (Vec::new(), Vec::new(), Vec::new());
    let rules = ReportRules::of(&stored.plan);
    for partition in &stored.plan.partitions {
        let number = partition.number;
        let Some(report) = plan_folder::read_report(plan, number)? else {
            missing.push(number.to_string());
            continue;
        };
        report.check(stored, &rules, plan, partition)?;
        files.extend(report.staged());
        reports.push(report.report);
    }
    if !missing.is_empty() {
        let count = missing.len();
        let shown = missing.iter().take(10).map(String::as_str).collect::<Vec<_>>().join(", ");
        let message = format!("{count} of {} partitions are not converted: {shown}", stored.plan.partitions.len());
        let hint = "run `etl2parquet convert-partition PLAN N` for each of them";
        return Err(Error::new(ErrorKind::Output, message).in_file(plan.location("")).with_hint(hint));
    }
    check_files(&reports, &files, output)?;
    Ok((reports, files))
}

/// Every file that a report names is there, as long as the report says, and has as many rows in its footer.
fn check_files(reports: &[PartReport], files: &[StagedName], output: &dyn PlanOutput) -> Result<()> {
    let folder = || output.files().location("");
    let found: HashMap<(String, Option<String>), u64> =
        output.list()?.into_iter().map(|file| ((file.path, file.attempt), file.bytes)).collect();
    for (entry, name) in reports.iter().flat_map(|report| &report.files).zip(files) {
        // An interrupted publication may have taken it already.
        let names = [Some(name.attempt.clone()), None].map(|attempt| (name.path.clone(), attempt));
        let there = names.iter().find_map(|name| found.get(name)).copied();
        if there != Some(entry.bytes) {
            let found = there.map_or("none".to_owned(), |bytes| format!("one of {bytes}"));
            let message = format!("expected a file {} of {} bytes, found {found}", entry.path, entry.bytes);
            return Err(Error::new(ErrorKind::Output, message).in_file(folder()).with_hint(PLAN_ANEW));
        }
        let rows = rows_in_footer(output, name, entry.bytes)?;
        if rows != entry.rows {
            let message = format!("expected {} rows in {}, found {rows}", entry.rows, entry.path);
            return Err(Error::new(ErrorKind::Output, message).in_file(folder()).with_hint(PLAN_ANEW));
        }
    }
    Ok(())
}
