//! The corridor from inputs to a published trace: survey, plan, convert, commit.

pub mod harvest;
mod memory_gate;
pub mod one_stream;
pub mod part_stream;
mod plan_folder;
mod plan_place;
mod prepare;
mod records;
pub mod steps;
mod stored_dimensions;
mod stored_stacks;
pub mod stream;
mod stretches;
pub mod trace;
mod update;
pub mod workers;

use std::path::Path;
use std::sync::Arc;
use std::time::{Instant, SystemTime};

use base::error::{ErrorCode, Result};
use base::resources;
use columnar::output::manifest::BytesRead;
use columnar::output::{IfExists, LocalFolder, Output, folder, place};
use etl::event::subject::Subject;
use etl::input::Inputs;
use spill::SpillSpace;

use self::memory_gate::Ticket;
use self::prepare::{Early, OfInputs, Prepared, RowsFollow};
use self::update::Update;
use self::workers::Workers;
use crate::commit::Commit;
use crate::commit::record::{self, RunContext};
use crate::commit::report::of_survey;
use crate::convert::ConvertOptions;
use crate::convert::partitions::Conversion;
use crate::convert::pipeline::Threads;
use crate::convert::{JobProgress, Outcome, Recording, Report, Stage};
use crate::dimensions::{self, Dimensions, Owners, TakesFacts};
use crate::plan::PlannedInputs;
use crate::sidecar::SidecarFacts;
use crate::survey::FileSurvey;

/// Surveys and plans a recording and says what a conversion would find; writes nothing.
///
/// # Errors
/// Of the kind `Input` when a file is no trace or cannot be read.
pub fn inspect(job: &Recording, options: &ConvertOptions, progress: &dyn JobProgress) -> Result<Inspected> {
    let pool = resources::pool(options.threads)?;
    let (inputs, space) = (prepare::inputs(job, options, progress)?, SpillSpace::temporary());
    let files =
        prepare::survey(&pool, job, &inputs, options, &space, OfInputs::of_subjects(&[Subject::Process]), progress)?;
    let mut surveyed = prepare::plan(&pool, files, &inputs, options, progress)?;
    let planned = PlannedInputs::of(&surveyed.files, &inputs);
    let gather =
        || dimensions::gather(&[Subject::Process], &surveyed.files, &planned, &surveyed.plan, &space, progress);
    let (dimensions, issues) = pool.install(gather)?;
    issues.into_iter().for_each(|(input, issue)| surveyed.files[usize::from(input)].issues.push(issue));
    Ok(Inspected { report: of_survey(Path::new(""), surveyed), dimensions })
}

/// What is known of a recording that is not converted.
#[derive(Debug)]
pub struct Inspected {
    /// What the survey and the plan say.
    pub report: Report,
    /// Its processes, and of the other ids nothing.
    pub dimensions: Dimensions,
}

impl Inspected {
    /// What a document about it is made of.
    pub fn facts<'a>(&'a self, trace: &'a str) -> SidecarFacts<'a> {
        let Report { files, facts, plan, shapes, .. } = &self.report;
        let dimensions = &self.dimensions;
        SidecarFacts { files, facts, file_counts: &[], plan, shape_counts: shapes, dimensions, trace, events: &[] }
    }
}

/// Converts a recording and publishes it as one trace.
///
/// # Errors
/// Of the kind `Input` when a file is no trace or cannot be read, `Output` when the trace is there already or cannot be
/// written, `Interrupted` when the caller asked to stop, `Internal` when an input changed or the counts do not meet.
/// Whatever the error, nothing is left half-published.
pub fn convert(job: &Recording, options: &ConvertOptions, progress: &dyn JobProgress) -> Result<Outcome> {
    Workers::new(options)?.convert(job, options, progress)
}

impl Workers {
    /// As [`convert`], beside other jobs: any number of threads may call this. Each waits until there is memory for its job.
    ///
    /// # Errors
    /// Those of [`convert`].
    pub fn convert(&self, job: &Recording, options: &ConvertOptions, progress: &dyn JobProgress) -> Result<Outcome> {
        if options.if_exists != IfExists::Update || options.dry_run {
            return self.convert_anew(job, options, || Ok(None), progress);
        }
        let update = Update::of(job, options);
        // What a killed run has left goes when its trace is taken up.
        let is_begun = LocalFolder::is_begun(&options.out, &job.name);
        if !is_begun {
            // To compare what members hold is to unpack them.
            let unpacking = options.rehash.then(|| self.admit_unpacking(job, &options.open, progress)).transpose()?;
            if let Some(known) = update.known(&self.pool, progress)? {
                return Ok(known);
            }
            drop(unpacking);
        }
        let known_meanwhile = || {
            let now = Update::of(job, options);
            if is_begun || !now.is_still(&update) { now.known(&self.pool, progress) } else { Ok(None) }
        };
        let outcome = match self.convert_anew(job, options, known_meanwhile, progress) {
            Err(error) if error.code() == ErrorCode::OutputLocked => Ok(Outcome::Busy),
            outcome => outcome,
        };
        update.keep(&outcome);
        outcome
    }

    /// Converts what `known_meanwhile`, asked when nobody else can work on the trace any more, does not know.
    fn convert_anew(
        &self,
        job: &Recording,
        options: &ConvertOptions,
        known_meanwhile: impl FnOnce() -> Result<Option<Outcome>>,
        progress: &dyn JobProgress,
    ) -> Result<Outcome> {
        let started = (SystemTime::now(), Instant::now());
        let spool = options.open.or_in(&options.out).folder();
        let staged = || place::begin((&options.out, &job.name), &spool, &progress.cleanup(), &self.disks, progress);
        // What is no trace, or may not be published, needs no folder. Where there is one, another run is at work or was killed.
        let is_begun = !options.dry_run && LocalFolder::is_begun(&options.out, &job.name);
        let staging = is_begun.then(staged).transpose()?;
        folder::check_absent(&options.out, &job.name, options.if_exists)?;
        let unpacking = self.admit_unpacking(job, &options.open, progress)?;
        let inputs = &prepare::inputs(job, options, progress)?;
        let staging = match staging {
            None if !options.dry_run => {
                prepare::check_begin(inputs)?;
                let staging = staged()?;
                folder::check_absent(&options.out, &job.name, options.if_exists)?;
                Some(staging)
            }
            staging => staging,
        };
        if let Some(known) = known_meanwhile()? {
            return Ok(known);
        }
        let space = staging.as_ref().map_or_else(SpillSpace::temporary, |_| SpillSpace::new(&spool));
        ConversionRun { job, options, inputs, workers: self, space, started }.run(staging, unpacking, progress)
    }
}

/// Converts inputs that are opened already, those of the job in their order, and publishes the trace in an output of the
/// caller's own kind.
///
/// # Errors
/// Those of [`convert`].
pub fn convert_inputs(
    job: &Recording,
    inputs: &Inputs,
    output: Arc<dyn Output>,
    options: &ConvertOptions,
    progress: &dyn JobProgress,
) -> Result<Outcome> {
    let started = (SystemTime::now(), Instant::now());
    let workers = &Workers::new(options)?;
    ConversionRun { job, options, inputs, workers, space: SpillSpace::temporary(), started }.run(
        Some(output),
        None,
        progress,
    )
}

/// Counts what is read of the inputs from one look to the next.
struct ReadMeter<'a> {
    inputs: &'a Inputs,
    seen: u64,
}

impl ReadMeter<'_> {
    fn since_last(&mut self) -> u64 {
        let now = self.inputs.bytes_read();
        now - std::mem::replace(&mut self.seen, now)
    }
}

/// A conversion whose inputs are open.
struct ConversionRun<'a> {
    job: &'a Recording,
    options: &'a ConvertOptions,
    inputs: &'a Inputs,
    workers: &'a Workers,
    space: SpillSpace,
    started: (SystemTime, Instant),
}

impl ConversionRun<'_> {
    /// Goes all the way; without an output, up to where something would be written. What there was room for to unpack is
    /// given back.
    fn run(
        self,
        output: Option<Arc<dyn Output>>,
        unpacking: Option<Ticket<'_>>,
        progress: &dyn JobProgress,
    ) -> Result<Outcome> {
        let ConversionRun { job, options, inputs, workers, ref space, started } = self;
        let (pool, mut meter) = (&workers.pool, ReadMeter { inputs, seen: 0 });
        let ticket = workers.admit(unpacking, inputs, progress)?;
        let files = prepare::survey(pool, job, inputs, options, space, RowsFollow::AtOnce.wants(options), progress)?;
        let read = BytesRead { survey: meter.since_last(), ..BytesRead::default() };
        let ticket = workers.admit_planning(ticket, &files, progress)?;
        let Prepared { surveyed, dimensions, late, stacks, write, planned, partitions } =
            match prepare::prepare(pool, job, files, inputs, (options, RowsFollow::AtOnce), space, progress)? {
                Early::Prepared(prepared) => prepared,
                Early::Outcome(outcome) => return Ok(outcome),
            };
        let read = BytesRead { plan: meter.since_last(), ..read };
        let ticket = workers.readmit(ticket, &surveyed, progress)?;
        // Without it this was a dry run, which has ended.
        let Some(output) = output else { return Ok(Outcome::Skipped) };
        progress.stage(Stage::Convert { events: surveyed.files.iter().map(FileSurvey::events).sum() });
        let spans = late.as_ref().map(|late| late.begin(&dimensions.processes, space));
        let conversion = Conversion {
            plan: &surveyed.plan,
            filter: surveyed.plan.filter.as_ref(),
            inputs: &planned,
            owners: &Owners::of(&dimensions),
            late: spans.as_ref().map(|spans| spans as &dyn TakesFacts),
            stacks: &stacks,
            options: &write,
            memory: options.memory,
            space,
        };
        let views: Vec<_> = partitions.list().iter().map(|partition| partitions.view(partition, &planned)).collect();
        let reports = if workers::is_one_task(&surveyed) {
            pool.install(|| conversion.write(Threads::Caller, &views, &output, progress))
        } else {
            conversion.write(Threads::Pool(pool), &views, &output, progress)
        }?;
        let late = spans.map(|spans| pool.install(|| spans.finish(space, progress))).transpose()?;
        let complete = || prepare::complete(dimensions, late, (&surveyed, &planned), space, progress);
        let dimensions = pool.install(complete)?;
        let commit = Commit {
            name: &job.name,
            target: folder::trace_folder(&options.out, &job.name),
            dimensions: &dimensions,
            options: &write,
            checks: &options.checks,
            if_exists: options.if_exists,
            run: RunContext {
                threads: options.threads,
                memory: options.memory,
                bytes_read: Some(BytesRead { convert: meter.since_last(), ..read }),
                out: options.out.clone(),
                id: options.run_id.clone(),
                options: record::run_options(options),
                plan: None,
            },
            started,
            staged: Vec::new(),
        };
        let check_inputs = || inputs.check_unchanged();
        let finish = || commit.finish(surveyed, partitions.list(), reports, &output, check_inputs, progress);
        let finished = pool.install(finish)?;
        // While this waits for disks, the next one is converted.
        drop((ticket, planned, partitions));
        finished.publish(&output, progress)
    }
}
