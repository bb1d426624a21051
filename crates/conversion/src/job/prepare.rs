//! What a job needs before its events become rows.

use std::sync::Arc;

use base::error::Result;
use base::progress::{Step, timed};
use columnar::output::manifest::FORMAT_VERSION;
use columnar::output::{IfExists, folder, options_hash};
use etl::event::subject::Subject;
use etl::input::{Address, InputId, Inputs};
use etl::session;
use rayon::ThreadPool;
use spill::SpillSpace;

use crate::commit::report::{all_filtered, of_survey};
use crate::commit::{checks, record};
use crate::convert::ConvertOptions;
use crate::convert::repeated;
use crate::convert::write_options::WriteOptions;
use crate::convert::{JobProgress, MessagePolicy, Outcome, Recording, Report, StackPolicy, Stage, Surveyed};
use crate::dimensions::{self, BEFORE_ROWS, Dimensions, LateDimensions, LateFacts, Owners};
use crate::plan::{self, CompiledFilter, Partitions, PlanOptions, PlanResult, PlannedInputs, partition};
use crate::stacks::{self, Stacks};
use crate::survey::walks::WalkLog;
use crate::survey::{self, DescriptiveEvents, FileFacts, FileSurvey, Issue, Keeps, Stretches, SurveyOptions};

/// Rows of the row groups of a stream: what a reader waits for before the first batch.
pub(super) const STREAM_ROWS: u32 = 1 << 17;

/// Opens the inputs of a recording; what is packed is unpacked beside the output where nothing else is said.
pub(super) fn inputs(job: &Recording, options: &ConvertOptions, progress: &dyn JobProgress) -> Result<Inputs> {
    let addresses: Vec<Address> = job.inputs.iter().map(|input| input.address.clone()).collect();
    let open = if options.dry_run { options.open.clone() } else { options.open.or_in(&options.out) };
    Inputs::open_any(&addresses, &open, &|bytes| progress.stage(Stage::Unpack { bytes }), progress)
}

/// Looks whether the only input of a recording begins as traces do, which takes one read. Of several the survey shows it.
///
/// # Errors
/// Of the kind `Input` when it does not.
pub(super) fn check_begin(inputs: &Inputs) -> Result<()> {
    if inputs.len() == 1 { session::read(&*inputs.get(InputId(0))?).map(drop) } else { Ok(()) }
}

/// What is wanted of inputs besides what a survey finds anyway.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct OfInputs {
    /// Whether they are hashed.
    pub hash: bool,
    /// What is kept of their events.
    pub keeps: Keeps,
}

impl OfInputs {
    /// For what describes some subjects, without a hash.
    pub(super) fn of_subjects(subjects: &'static [Subject]) -> Self {
        OfInputs { hash: false, keeps: Keeps { subjects, stacks: false } }
    }
}

/// Surveys the inputs of a recording.
///
/// # Errors
/// Those of [`convert`](super::convert) up to there.
pub(super) fn survey(
    pool: &ThreadPool,
    job: &Recording,
    inputs: &Inputs,
    options: &ConvertOptions,
    space: &SpillSpace,
    wanted: OfInputs,
    progress: &dyn JobProgress,
) -> Result<Vec<FileSurvey>> {
    survey_joined(pool, job, inputs, options, (space, wanted), |_| Ok(Stretches::default()), progress)
}

/// The same, of inputs of which `stretches` may have been surveyed ahead.
///
/// # Errors
/// Those of [`survey`] and of `stretches`.
pub(super) fn survey_joined(
    pool: &ThreadPool,
    job: &Recording,
    inputs: &Inputs,
    options: &ConvertOptions,
    (space, wanted): (&SpillSpace, OfInputs),
    stretches: impl Fn(u16) -> Result<Stretches> + Sync,
    progress: &dyn JobProgress,
) -> Result<Vec<FileSurvey>> {
    progress.stage(Stage::Survey { bytes: inputs.identities().map(|identity| identity.size).sum() });
    pool.install(|| {
        let mut files = Vec::with_capacity(inputs.len());
        for (id, input) in (0..).map(InputId).zip(&job.inputs) {
            let file = inputs.get(id)?;
            let OfInputs { hash, keeps } = wanted;
            let survey_options = SurveyOptions { anchor: options.anchor, hash, offset_ns: input.offset_ns, keeps };
            let (name, ahead) = (input.source.clone(), stretches(id.0)?);
            files.push(survey::survey_joined(space, &*file, name, &survey_options, &ahead, progress)?);
        }
        repeated::check(&mut files, options.allow_repeated)?;
        timed(progress, Step::Plan, || survey::settle(&mut files));
        Ok(files)
    })
}

/// Plans what was surveyed.
///
/// # Errors
/// Those of [`convert`](super::convert) up to there.
pub(super) fn plan(
    pool: &ThreadPool,
    mut files: Vec<FileSurvey>,
    inputs: &Inputs,
    options: &ConvertOptions,
    progress: &dyn JobProgress,
) -> Result<Surveyed> {
    progress.stage(Stage::Plan);
    let plan_options = PlanOptions {
        types: options.types,
        all_columns: options.all_columns,
        layout: options.layout,
        schemas: Arc::clone(&options.schemas),
        reports_new_names: options.reports_new_names(),
        filter: options.filter.clone(),
        language: options.language.clone(),
        renders_messages: options.messages == MessagePolicy::Text,
    };
    pool.install(|| {
        let (facts, plan) = rayon::join(
            || timed(progress, Step::Plan, || FileFacts::of(&files, progress)),
            || plan::plan(&files, inputs, &plan_options, progress),
        );
        let (facts, (plan, issues)) = (facts?, plan?);
        for (file, issues) in files.iter_mut().zip(issues) {
            file.issues.append(issues);
        }
        Ok(Surveyed { files, facts, plan })
    })
}

/// A recording whose events are to become rows.
pub(super) struct Prepared<'a> {
    pub surveyed: Surveyed,
    pub dimensions: Dimensions,
    /// What takes the facts of ids that come with the rows; the dimensions lack them.
    pub late: Option<LateFacts>,
    pub stacks: Stacks,
    pub write: WriteOptions,
    pub planned: PlannedInputs<'a>,
    pub partitions: Partitions,
}

/// What is known of a recording before its events are read a second time.
pub(super) enum Early<T> {
    /// Events of it are to become rows.
    Prepared(T),
    /// It has ended: none of its events need become rows.
    Outcome(Outcome),
}

/// Who makes the rows of what is prepared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RowsFollow {
    /// Whoever prepares, of all events together.
    AtOnce,
    /// Others, of parts.
    Elsewhere,
}

impl RowsFollow {
    /// What the survey of the inputs is to find for the rows.
    pub(super) fn wants(self, options: &ConvertOptions) -> OfInputs {
        let subjects: &[Subject] = match self {
            _ if options.dry_run => &[],
            RowsFollow::AtOnce if options.filter.is_empty() => &BEFORE_ROWS,
            RowsFollow::AtOnce | RowsFollow::Elsewhere => &Subject::ALL,
        };
        let stacks = options.filter.may_pass_kernel() && !options.dry_run && options.stacks == StackPolicy::Join;
        OfInputs { hash: true, keeps: Keeps { subjects, stacks } }
    }
}

/// Plans a job that was surveyed and cuts it into partitions; where no events need become rows, says what becomes of it.
///
/// # Errors
/// Those of [`convert`](super::convert) up to there.
pub(super) fn prepare<'a>(
    pool: &ThreadPool,
    job: &Recording,
    files: Vec<FileSurvey>,
    inputs: &'a Inputs,
    (options, rows): (&ConvertOptions, RowsFollow),
    space: &SpillSpace,
    progress: &dyn JobProgress,
) -> Result<Early<Prepared<'a>>> {
    let surveyed = plan(pool, files, inputs, options, progress)?;
    let lock_use = surveyed.plan.lock_use.as_ref();
    let settings = record::settings(options, &job.inputs, lock_use.map(|names| &*names.hash));
    let surveyed = match ended_early(job, options, &settings, surveyed)? {
        Early::Prepared(surveyed) => surveyed,
        Early::Outcome(outcome) => return Ok(Early::Outcome(outcome)),
    };
    let planned = PlannedInputs::of(&surveyed.files, inputs);
    if options.dry_run {
        let cut = || cut(&surveyed, &planned, options, space, progress);
        let partitions = Some(pool.install(cut)?.list().len() as u64);
        let report = of_survey(&folder::trace_folder(&options.out, &job.name), surveyed);
        return Ok(Early::Outcome(Outcome::DryRun(Box::new(Report { partitions, ..report }))));
    }
    let plan = &surveyed.plan;
    let comes_late = rows == RowsFollow::AtOnce && plan.filter.is_none() && dimensions::can_come_late(plan);
    let late = comes_late.then(|| LateFacts::of(&surveyed.files, &planned, plan)).flatten();
    let subjects: &[_] = if comes_late { &BEFORE_ROWS } else { &Subject::ALL };
    let needs = Needs { subjects, ..Needs::of_all(plan.filter.clone()) };
    let mut surveyed = surveyed;
    let logs = take_walks(&mut surveyed.files);
    let gathered = gather(pool, (&surveyed, logs), &planned, (options, &needs), space, progress)?;
    let Gathered { dimensions, stacks, partitions } = gathered.noted_in(&mut surveyed.files);
    surveyed.files.iter_mut().for_each(|file| file.descriptive = DescriptiveEvents::default());
    let write = write_options(options, settings);
    Ok(Early::Prepared(Prepared { surveyed, dimensions, late, stacks, write, planned, partitions }))
}

/// What a conversion needs besides survey and plan.
#[derive(Debug)]
pub(super) struct Gathered {
    /// What ids meant.
    pub dimensions: Dimensions,
    /// Which stack is of which event.
    pub stacks: Stacks,
    /// The parts of the recording that are converted as one.
    pub partitions: Partitions,
}

/// What was gathered, and what is unusual about it.
pub(super) struct GatheredWithIssues {
    gathered: Gathered,
    /// By number of the input.
    issues: Vec<(u16, Issue)>,
}

impl GatheredWithIssues {
    /// Adds what is unusual to the issues of the files.
    pub(super) fn noted_in(self, files: &mut [FileSurvey]) -> Gathered {
        self.issues.into_iter().for_each(|(input, issue)| files[usize::from(input)].issues.push(issue));
        if let (Some(first), Some(issue)) = (files.first_mut(), Owners::of(&self.gathered.dimensions).issue()) {
            first.issues.push(issue);
        }
        self.gathered
    }
}

/// For what the meaning of ids and stacks is needed.
pub(super) struct Needs {
    /// Whose facts are gathered.
    pub subjects: &'static [Subject],
    /// Whether events have the stacks that others record, where the options say so, too.
    pub stacks: bool,
    /// The events that become rows; `None` where all of them do.
    pub filter: Option<CompiledFilter>,
}

impl Needs {
    /// For whole rows, and all tables of ids.
    pub(super) fn of_all(filter: Option<CompiledFilter>) -> Needs {
        Needs { subjects: &Subject::ALL, stacks: true, filter }
    }
}

/// What the survey has taken down of stacks, by input.
pub(super) fn take_walks(files: &mut [FileSurvey]) -> Vec<Option<WalkLog>> {
    files.iter_mut().map(|file| file.walks.take()).collect()
}

/// Gathers what a conversion needs besides survey and plan; `logs` are those of the survey, by input.
///
/// # Errors
/// Those of [`convert`](super::convert) up to there.
pub(super) fn gather(
    pool: &ThreadPool,
    (surveyed, logs): (&Surveyed, Vec<Option<WalkLog>>),
    planned: &PlannedInputs<'_>,
    (options, needs): (&ConvertOptions, &Needs),
    space: &SpillSpace,
    progress: &dyn JobProgress,
) -> Result<GatheredWithIssues> {
    let Surveyed { files, plan, .. } = surveyed;
    let gather_ids = || dimensions::gather(needs.subjects, files, planned, plan, space, progress);
    let join_stacks = || match options.stacks {
        StackPolicy::Join if needs.stacks => {
            stacks::gather((files, logs), planned, plan, needs.filter.as_ref(), space, progress)
        }
        StackPolicy::Join | StackPolicy::Keep => Ok(Default::default()),
    };
    let cut = || cut(surveyed, planned, options, space, progress);
    // What some of them do by one thread, the others use the rest for.
    let ((dimensions, stacks), partitions) = pool.install(|| rayon::join(|| rayon::join(gather_ids, join_stacks), cut));
    let ((dimensions, issues), (stacks, not_joined), partitions) = (dimensions?, stacks?, partitions?);
    let issues = issues.into_iter().chain(not_joined).collect();
    Ok(GatheredWithIssues { gathered: Gathered { dimensions, stacks, partitions }, issues })
}

/// Adds what was gathered with the rows; where it was too much for that, all is gathered now.
///
/// # Errors
/// Those of [`gather`].
pub(super) fn complete(
    dimensions: Dimensions,
    late: Option<LateDimensions>,
    (surveyed, planned): (&Surveyed, &PlannedInputs<'_>),
    space: &SpillSpace,
    progress: &dyn JobProgress,
) -> Result<Dimensions> {
    let Surveyed { files, plan, .. } = surveyed;
    match late {
        None => Ok(dimensions),
        Some(LateDimensions::Folded(late)) => Ok(dimensions.with_late(late)),
        Some(LateDimensions::TooMany) => {
            // What is left out of all ids is nothing: they are few enough to come late.
            let (dimensions, _) = dimensions::gather(&Subject::ALL, files, planned, plan, space, progress)?;
            Ok(dimensions)
        }
    }
}

fn cut(
    surveyed: &Surveyed,
    planned: &PlannedInputs<'_>,
    options: &ConvertOptions,
    space: &SpillSpace,
    progress: &dyn JobProgress,
) -> Result<Partitions> {
    let size = options.partition_bytes.unwrap_or_else(|| partition::size_for(surveyed.plan.shapes.len()));
    partition::cut(&surveyed.files, planned, size, space, progress)
}

/// What becomes of a job of which no events need become rows: none passes the filters, the trace is there already, or a
/// check keeps it from being published. Gives back what was surveyed where some do.
///
/// # Errors
/// [`ErrorKind::Output`] when there is another trace of the name.
fn ended_early(
    job: &Recording,
    options: &ConvertOptions,
    settings: &serde_json::Value,
    surveyed: Surveyed,
) -> Result<Early<Surveyed>> {
    let target = folder::trace_folder(&options.out, &job.name);
    if passes_nothing(&surveyed.plan) {
        let report = all_filtered(of_survey(&target, surveyed));
        return Ok(Early::Outcome(Outcome::Empty(Box::new(report))));
    }
    if options.if_exists == IfExists::Skip {
        let hashes: Vec<String> = surveyed.files.iter().filter_map(|file| file.blake3.clone()).collect();
        if folder::is_current(&options.out, &job.name, &hashes, FORMAT_VERSION, &options_hash(settings))? {
            return Ok(Early::Outcome(Outcome::Skipped));
        }
    }
    if let Some(reason) = checks::check_survey(&surveyed.files, &surveyed.facts, &options.checks) {
        return Ok(Early::Outcome(Outcome::Refused(Box::new(of_survey(&target, surveyed)), reason)));
    }
    Ok(Early::Prepared(surveyed))
}

/// Whether the filters leave out every event shape.
fn passes_nothing(plan: &PlanResult) -> bool {
    plan.filter.is_some() && (0..).zip(&plan.shapes).all(|(shape, _)| !plan.may_pass(shape))
}

/// What of the options decides the bytes of files.
pub(super) fn write_options(options: &ConvertOptions, settings: serde_json::Value) -> WriteOptions {
    WriteOptions {
        settings,
        types: options.types,
        raw: options.raw,
        views: options.views,
        compression: options.compression,
        row_group_rows: options.row_group_rows,
        max_file_size: options.max_file_size,
        encoder: options.encoder,
    }
}
