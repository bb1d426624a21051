//! `etl2parquet convert`.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use base::error::{Error, ErrorCode, ErrorKind, Result};
use base::names::folded;
use base::readable::count::counted;
use batch::recordings::{self, Merge, Recordings};
use batch::{inputs, probe};
use columnar::output::IfExists;
use columnar::output::folder::{published, trace_folder};
use columnar::output::refusal::Refusal;
use conversion::commit::lock_file::{LOCK_NAME, extend, names_of};
use conversion::convert::job::{InputFile, Outcome, Recording};
use conversion::convert::{ConvertOptions, LockFrom};
use conversion::job::workers::Workers;
use etl::input::OpenOptions;
use schema::extend::Additions;

use super::args::{ConvertArgs, JobArgs};
use super::choices::OnBadInput;
use super::console;
use super::fold::Width;
use super::log::Entry;
use super::look::Look;
use super::metrics::exposition;
use super::outcomes::Outcomes;
use super::run::Run;
use super::schema::load::LoadedSchemas;
use super::summary::TraceSummary;
use super::{log, options};

/// How a run ended that a signal has ended, as a word that stays.
const INTERRUPTED: &str = ErrorCode::Interrupted.as_str();

/// Converts; returns the exit code.
///
/// # Errors
/// What keeps the run from starting.
pub(super) fn run(args: &ConvertArgs) -> Result<u8> {
    let run = start(&args.job)?;
    let schemas = LoadedSchemas::load(&args.job.schemas, run.console)?;
    let options = options::of_job(&args.job, &run)?.run_id(args.id.run_id.clone()).dry_run(args.dry_run);
    let mut command = ConvertCommand::new(&args.job, &run, args.id.run_id.as_deref());
    if !args.dry_run {
        command.outcomes.keep_records()?;
    }
    let Inputs { jobs, open, schemas: found } = command.inputs()?;
    let mut options = options::with_schemas(options, schemas, &found, &run);
    options.open = open;
    run.interrupt.working(true);
    let converted = command.convert_all(&jobs, &options);
    run.interrupt.working(false);
    converted?;
    command.tell_not_begun(&jobs);
    if options.lock_in_use() == Some(LockFrom::Folder) && !options.dry_run {
        command.extend_lock(&options.out);
    }
    Ok(command.finish(args.summary.as_deref(), args.metrics.as_deref()))
}

/// Starts a run that writes.
///
/// # Errors
/// What keeps the run from starting.
pub(super) fn start(args: &JobArgs) -> Result<Run> {
    args.filters.check()?;
    if args.output.rehash && args.output.if_exists != IfExists::Update {
        return Err(Error::new(ErrorKind::Usage, "--rehash says how --if-exists update compares, and needs it"));
    }
    if args.checks.quarantine_dir.is_some() && args.checks.on_bad_input == OnBadInput::Fail {
        let message = "--quarantine-dir keeps records of inputs that --on-bad-input fail does not pass over";
        return Err(Error::new(ErrorKind::Usage, message).with_hint("give one of the two"));
    }
    inputs::check_no_url(&args.output.output)?;
    Run::start(&args.run)
}

/// What a run converts.
pub(super) struct Inputs {
    /// The recordings.
    pub jobs: Vec<Recording>,
    /// How their inputs are opened.
    pub open: OpenOptions,
    /// The schemas beside them, by name and path.
    pub schemas: Vec<(String, PathBuf)>,
}

/// A run of `convert`, or of `plan`.
pub(super) struct ConvertCommand<'a> {
    args: &'a JobArgs,
    run: &'a Run,
    pub(super) outcomes: Outcomes<'a>,
    /// The inputs, as they are called.
    found: Vec<String>,
}

impl<'a> ConvertCommand<'a> {
    pub(super) fn new(args: &'a JobArgs, run: &'a Run, run_id: Option<&str>) -> Self {
        ConvertCommand { args, run, outcomes: Outcomes::new(args, run, run_id), found: Vec::new() }
    }

    /// What is converted. Where one bad input decides over others, all are looked at before any work.
    pub(super) fn inputs(&mut self) -> Result<Inputs> {
        let output = &self.args.output;
        let open = options::open(&self.args.spool).or_in(&output.output);
        let found = inputs::find(&self.args.input.inputs, open);
        let led_nowhere = found.problems.iter().filter_map(|problem| problem.location().file.clone());
        let paths = found.all().into_iter().map(|input| input.path).chain(led_nowhere);
        self.found = paths.map(|path| path.display().to_string()).collect();
        let merge = Merge::of(output.merge.as_deref());
        let is_interrupted = || self.run.interrupt.is_set();
        let Recordings { list: mut jobs, clashes, notes } =
            recordings::recordings(&found, merge, output.name_from, is_interrupted)?;
        notes.iter().for_each(|note| self.run.console.line(note));
        clashes.iter().for_each(|clash| self.outcomes.clash(clash));
        found.notes.iter().for_each(|note| self.run.console.warning(note));
        for problem in &found.problems {
            self.outcomes.fail_input(problem, problem.location().file.as_deref(), None);
        }
        if matches!(merge, Merge::All(_)) || self.args.checks.on_bad_input == OnBadInput::Fail {
            for job in &mut jobs {
                let name = Some(job.name.as_str());
                let probed = |input: &InputFile| probe(input, &found.open);
                job.inputs.retain(|input| {
                    probed(input).map_err(|error| self.outcomes.fail_input(&error, Some(&input.path), name)).is_ok()
                });
            }
            jobs.retain(|job| !job.inputs.is_empty());
            if self.outcomes.stopped_by_bad_input {
                // None of them is converted, but they are readable.
                self.outcomes.status.readable += jobs.len() as u64;
            }
        }
        Ok(Inputs { jobs, open: found.open, schemas: found.schemas })
    }

    /// Converts the recordings, and looks again at the end at those that another run had in work.
    fn convert_all(&mut self, jobs: &[Recording], options: &ConvertOptions) -> Result<()> {
        if self.outcomes.is_stopped() {
            return Ok(());
        }
        if self.args.output.if_exists == IfExists::Update {
            Refusal::clear_leftovers(&self.args.output.output);
            self.tell_of_others(jobs);
        }
        let workers = Workers::new(options)?;
        let look = Look { run: self.run, workers: &workers, jobs, options };
        let busy = self.look_at_all(&look);
        if self.outcomes.is_stopped() {
            busy.iter().for_each(|_| self.outcomes.status.count(&Outcome::Busy));
            return Ok(());
        }
        look.at(&busy, |position, outcome| {
            self.outcomes.tell(position, &jobs[position], outcome, jobs.len() > 1);
            !self.outcomes.is_stopped()
        });
        Ok(())
    }

    /// Converts all recordings but those that another run has in work, whose positions come back: that run may end without them.
    fn look_at_all(&mut self, look: &Look<'_>) -> Vec<usize> {
        let (jobs, mut busy) = (look.jobs, Vec::new());
        let all: Vec<usize> = (0..jobs.len()).collect();
        look.at(&all, |position, outcome| {
            if matches!(outcome, Ok(Outcome::Busy)) {
                self.outcomes.set_aside(&jobs[position]);
                busy.push(position);
            } else {
                self.outcomes.tell(position, &jobs[position], outcome, jobs.len() > 1);
            }
            !self.outcomes.is_stopped()
        });
        busy
    }

    /// The recordings that the run has ended before.
    fn tell_not_begun(&mut self, jobs: &[Recording]) {
        // They are told in their order.
        let rest = jobs.get(self.outcomes.summary.traces.len()..).unwrap_or_default();
        let reason = || Some("the run ended before".to_owned());
        let not_begun = rest.iter().map(|job| TraceSummary::of(job, "not_begun", reason(), None));
        self.outcomes.summary.traces.extend(not_begun);
    }

    /// Adds to the lock of the output folder what the traces of the run use, converted or there already.
    fn extend_lock(&mut self, out: &Path) {
        let is_there = |trace: &&TraceSummary| matches!(trace.status, "published" | "skipped");
        let traces = self.outcomes.summary.traces.iter().filter(is_there);
        let mut additions = Additions::default();
        traces.filter_map(|trace| names_of(&trace_folder(out, &trace.trace))).for_each(|names| additions.add(&names));
        match extend(out, &additions) {
            Ok(0) => {}
            Ok(lines) => {
                let (file, lines) = (out.join(LOCK_NAME), counted(lines as u64, "lines"));
                self.run.console.line(format_args!("{}: {lines} of new names", file.display()));
            }
            Err(error) => self.outcomes.fail(&error.with_hint("the traces themselves are not affected"), None),
        }
    }

    /// Traces of the output folder that none of the inputs becomes stay there.
    fn tell_of_others(&self, jobs: &[Recording]) {
        let names: HashSet<String> = jobs.iter().map(|job| folded(&job.name)).collect();
        let mut others = published(&self.args.output.output);
        others.retain(|name| !names.contains(&folded(name)));
        if let Some(first) = others.first() {
            let count = counted(others.len() as u64, "traces");
            self.run
                .console
                .line(format_args!("left as published: {count} without an input in this run, trace={first} first"));
        }
    }

    fn finish(mut self, summary: Option<&Path>, metrics: Option<&Path>) -> u8 {
        let (console, custody) = (self.run.console, self.run.interrupt.custody());
        let outcomes = &mut self.outcomes;
        if self.args.output.if_exists == IfExists::Update {
            let unchanged = outcomes.summary.traces.iter().filter(|trace| trace.status == "skipped").count() as u64;
            console.line(format_args!("unchanged: {}", counted(unchanged, "traces")));
        }
        outcomes.tell_missing();
        if let Some(rest) = outcomes.warnings.rest() {
            console.warning(format_args!("{rest}; {}", outcomes.summary.place_of_issues()));
        }
        if log::is_json() {
            console.line(outcomes.summary.ends());
        } else {
            console.page(&outcomes.summary.page(Width::of_stderr()));
        }
        if self.run.interrupt.is_set() {
            let text = "ended before the last trace: what is published is whole, run again for the rest";
            Entry::error(format_args!("{text} ({})", outcomes.summary.ends())).code(INTERRUPTED).write();
        }
        if summary.is_some() || metrics.is_some() {
            // Looks at every input once more.
            outcomes.summary.end(outcomes.status.code(), &self.found);
        }
        let json = summary.map(|path| (path, console::json(&outcomes.summary)));
        let exposition = metrics.map(|path| (path, exposition(&outcomes.summary)));
        for (path, text) in json.into_iter().chain(exposition) {
            let written = console::to_file_within(path, &text, &custody);
            let written = written.map_err(|error| error.with_hint("the traces themselves are not affected"));
            written.unwrap_or_else(|error| outcomes.fail(&error, None));
        }
        outcomes.status.code()
    }
}
