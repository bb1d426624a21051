//! `etl2parquet convert`.

use std::collections::HashSet;
use std::path::Path;
use std::sync::Arc;

use super::args::{ConvertArgs, JobArgs};
use super::board::Board;
use super::choices::OnBadInput;
use super::console::{self, Console};
use super::exit::RunStatus;
use super::fold::Width;
use super::groups::Facts;
use super::jobs::AUTO;
use super::metrics::exposition;
use super::quarantine::{BadInput, Quarantine};
use super::run::{Run, caught, label, probe, session_of};
use super::run_facts::RunFacts;
use super::suggest::nearest;
use super::summary::{QuarantinedInput, Summary, TraceResult, TraceSummary};
use super::{inputs, jobs, lanes, options};
use crate::convert::ConvertOptions;
use crate::convert::job::{InputFile, Outcome, Recording, Report};
use crate::error::{Error, ErrorCode, ErrorKind, Result};
use crate::input::{OpenOptions, SharedMembers};
use crate::job::workers::Workers;
use crate::names::fold_case;
use crate::output::IfExists;
use crate::output::folder::published;
use crate::output::refusal::{Refusal, RefusalKind};
use crate::plan::filter::NamePattern;
use crate::readable::count::counted;
use crate::survey::{FileSurvey, Issue, IssueCode, Severity};

/// Issues of one input that are shown with `-v`.
const SHOWN: usize = 20;

/// Converts; returns the exit code.
///
/// # Errors
/// What keeps the run from starting.
pub(super) fn run(args: &ConvertArgs) -> Result<u8> {
    let run = start(&args.job)?;
    let options = options::of_job(&args.job, &run)?.run_id(args.id.run_id.clone()).dry_run(args.dry_run);
    let mut command = ConvertCommand::new(&args.job, &run, args.id.run_id.as_deref());
    if !args.dry_run {
        command.keep_records()?;
    }
    let (jobs, open) = command.jobs()?;
    let options = ConvertOptions { open, ..options };
    run.interrupt.working(true);
    let converted = command.convert_all(&jobs, &options);
    run.interrupt.working(false);
    converted?;
    command.tell_not_begun(&jobs);
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

/// A run of `convert`, or of `plan`.
pub(super) struct ConvertCommand<'a> {
    args: &'a JobArgs,
    run: &'a Run,
    pub(super) status: RunStatus,
    summary: Summary,
    quarantine: Quarantine,
    /// The inputs, as they are called.
    found: Vec<String>,
    /// Whether an unreadable input has ended the run.
    stopped_by_bad_input: bool,
}

impl<'a> ConvertCommand<'a> {
    pub(super) fn new(args: &'a JobArgs, run: &'a Run, run_id: Option<&str>) -> Self {
        let summary = Summary::of(RunFacts::start(run_id), &args.output.output);
        let (status, quarantine, found) = (RunStatus::default(), Quarantine::default(), Vec::new());
        ConvertCommand { args, run, status, summary, quarantine, found, stopped_by_bad_input: false }
    }

    /// Keeps records of inputs in quarantine, where that is asked for.
    ///
    /// # Errors
    /// [`ErrorKind::Output`] when their folder cannot be made.
    pub(super) fn keep_records(&mut self) -> Result<()> {
        self.quarantine = Quarantine::in_folder(self.args.checks.quarantine_dir.as_deref())?;
        Ok(())
    }

    /// The recordings to convert, and how their inputs are opened. Where one bad input decides over others, all are looked at before any work.
    pub(super) fn jobs(&mut self) -> Result<(Vec<Recording>, OpenOptions)> {
        let output = &self.args.output;
        let open = options::open(&self.args.spool).or_in(&output.output);
        let mut found = inputs::find(&self.args.input.inputs, open);
        let led_nowhere = found.problems.iter().filter_map(|problem| problem.location().file.clone());
        let paths = found.all().into_iter().map(|input| input.path).chain(led_nowhere);
        self.found = paths.map(|path| path.display().to_string()).collect();
        let merge = output.merge.as_deref().filter(|merge| *merge != AUTO);
        let (mut jobs, clashes) = match output.merge {
            Some(_) if merge.is_none() => self.grouped(&found)?,
            _ => jobs::jobs(
                std::mem::take(&mut found.inputs),
                std::mem::take(&mut found.merged),
                merge,
                output.name_from,
            )?,
        };
        self.status.clashing = !clashes.is_empty();
        clashes.iter().for_each(|clash| self.say(clash.to_string()));
        found.notes.iter().for_each(|note| self.run.console.warning(note));
        for problem in &found.problems {
            self.fail_input(problem, problem.location().file.as_deref(), None);
        }
        if merge.is_some() || self.args.checks.on_bad_input == OnBadInput::Fail {
            for job in &mut jobs {
                let name = Some(job.name.as_str());
                let probed = |input: &InputFile| probe(input, &found.open);
                job.inputs.retain(|input| {
                    probed(input).map_err(|error| self.fail_input(&error, Some(&input.path), name)).is_ok()
                });
            }
            jobs.retain(|job| !job.inputs.is_empty());
            if self.stopped_by_bad_input {
                // None of them is converted, but they are readable.
                self.status.readable += jobs.len() as u64;
            }
        }
        Ok((jobs, found.open))
    }

    /// The recordings of `--merge auto`, and what cannot be one; says what was merged, and why.
    fn grouped(&self, found: &inputs::Found) -> Result<(Vec<Recording>, Vec<Error>)> {
        let is_interrupted = || self.run.interrupt.is_set();
        let facts_of = |input: &InputFile| {
            let session = (!is_interrupted()).then(|| session_of(input, &found.open))?;
            Some(Facts::of(&session.ok()?))
        };
        let grouped = jobs::auto_jobs(found, self.args.output.name_from, facts_of)?;
        grouped.notes.iter().for_each(|note| self.run.console.line(note));
        Ok((grouped.recordings, grouped.clashes))
    }

    /// Converts the recordings, several at a time where they are small.
    fn convert_all(&mut self, jobs: &[Recording], options: &ConvertOptions) -> Result<()> {
        if self.is_stopped() {
            return Ok(());
        }
        if self.args.output.if_exists == IfExists::Update {
            Refusal::clear_leftovers(&self.args.output.output);
            self.tell_of_others(jobs);
        }
        let mut options = options.clone();
        options.open.shared = Arc::new(SharedMembers::of(jobs.iter().flat_map(Recording::addresses)));
        let options = &options;
        let workers = Workers::new(options)?;
        let run = self.run;
        if let [job] = jobs {
            let outcome = run.job(&job.name, |progress| workers.convert(job, options, progress));
            self.tell(job, outcome, false);
            return Ok(());
        }
        let board = Board::new(run.display_mode, jobs.len(), &run.interrupt);
        let work = |position: usize| {
            let job = &jobs[position];
            if run.interrupt.is_set() {
                return None;
            }
            let progress = board.begin(position, &label(&job.name, position, jobs.len()));
            let outcome = caught(|| workers.convert(job, options, &progress));
            options.open.shared.forget(job.addresses());
            Some((outcome, progress.times()))
        };
        lanes::drive(jobs.len(), workers.lanes(), work, |position, done| {
            let Some((outcome, times)) = done else { return !self.is_stopped() };
            let job = &jobs[position];
            board.suspend(|| {
                run.tell_times(&label(&job.name, position, jobs.len()), &times);
                self.tell(job, outcome, true);
            });
            !self.is_stopped()
        });
        Ok(())
    }

    /// The recordings that the run has ended before.
    fn tell_not_begun(&mut self, jobs: &[Recording]) {
        // They are told in their order.
        let rest = jobs.get(self.summary.traces.len()..).unwrap_or_default();
        let reason = || Some("the run ended before".to_owned());
        let not_begun = rest.iter().map(|job| TraceSummary::of(job, "not_begun", reason(), None));
        self.summary.traces.extend(not_begun);
    }

    /// Traces of the output folder that none of the inputs becomes stay there.
    fn tell_of_others(&self, jobs: &[Recording]) {
        let names: HashSet<String> = jobs.iter().map(|job| fold_case(&job.name)).collect();
        let mut others = published(&self.args.output.output);
        others.retain(|name| !names.contains(&fold_case(name)));
        if let Some(first) = others.first() {
            let count = counted(others.len() as u64, "traces");
            self.run
                .console
                .line(format_args!("left as published: {count} without an input in this run, trace={first} first"));
        }
    }

    fn tell(&mut self, job: &Recording, outcome: Result<Outcome>, is_one_of_many: bool) {
        let trace = self.trace_summary(job, outcome);
        let is_told = match trace.status {
            // Of ten thousand that have not changed, their number is enough.
            "skipped" if self.args.output.if_exists == IfExists::Update => self.run.console.verbose || !is_one_of_many,
            "skipped" | "busy" => true,
            _ => is_one_of_many,
        };
        if is_told {
            self.run.console.line(trace.line());
        }
        self.summary.traces.push(trace);
    }

    /// Whether the run ends before its next trace.
    pub(super) fn is_stopped(&mut self) -> bool {
        if self.run.interrupt.is_set() {
            self.status.fail(ErrorKind::Interrupted, self.run.interrupt.code());
        }
        self.stopped_by_bad_input || self.status.is_stopped()
    }

    /// What became of a trace, counted for the exit code.
    pub(super) fn trace_summary(&mut self, job: &Recording, outcome: Result<Outcome>) -> TraceSummary {
        let summary = |status, reason, result| TraceSummary::of(job, status, reason, result);
        outcome.iter().for_each(|outcome| self.status.count(outcome));
        if outcome.as_ref().is_ok_and(is_readable) {
            self.release(job);
        }
        match outcome {
            Ok(Outcome::KnownRefusal(known)) => {
                let (status, reason) = self.known_refusal(job, &known);
                summary(status, Some(reason), None)
            }
            Ok(Outcome::Busy) => summary("busy", Some("another run is writing it".to_owned()), None),
            Ok(Outcome::Published(report)) => summary("published", None, Some(self.result(&report, true))),
            Ok(Outcome::DryRun(report)) => summary("dry_run", None, Some(self.result(&report, false))),
            Ok(Outcome::Skipped) => {
                let why = "it is there already, from the same input and with the same options";
                summary("skipped", Some(why.to_owned()), None)
            }
            Ok(Outcome::Empty(report)) => {
                let why = nothing_passes(&report, &self.args.filters.provider);
                self.run.console.warning(format_args!("trace={} is not published: {why}", job.name));
                summary("empty", Some(why), Some(self.result(&report, false)))
            }
            Ok(Outcome::Refused(report, why)) => {
                self.say(format!("trace={} is not published: {why}", job.name));
                summary("gated", Some(why), Some(self.result(&report, false)))
            }
            Err(error) => {
                let input = match job.inputs.as_slice() {
                    [input] => Some(input.path.as_path()),
                    _ => error.location().file.as_deref(),
                };
                self.fail_input(&error, input, Some(&job.name));
                let status = match error.kind() {
                    ErrorKind::Interrupted => "interrupted",
                    ErrorKind::Input if job.inputs.len() == 1 && self.quarantines() => "quarantined",
                    _ => "failed",
                };
                summary(status, Some(error.to_string()), None)
            }
        }
    }

    /// Tells again what an earlier run has found, and counts it for the exit code as that one did.
    fn known_refusal(&mut self, job: &Recording, known: &Refusal) -> (&'static str, String) {
        let trace = &job.name;
        let reason = format!("{} (found by an earlier run; the input has not changed)", known.reason);
        match known.kind {
            RefusalKind::Unreadable => {
                self.say(reason.clone());
                if !self.quarantines() {
                    self.stopped_by_bad_input = true;
                    return ("failed", reason);
                }
                for input in &job.inputs {
                    let code = ErrorCode::NotATrace.as_str();
                    self.quarantine(&BadInput { input: &input.path, trace: Some(trace), code, reason: &known.reason });
                }
                ("quarantined", reason)
            }
            RefusalKind::Empty => {
                self.run.console.warning(format_args!("trace={trace} is not published: {reason}"));
                ("empty", reason)
            }
            RefusalKind::Gated => {
                self.say(format!("trace={trace} is not published: {reason}"));
                ("gated", reason)
            }
        }
    }

    /// What is told of a recording that could be read.
    fn result(&self, report: &Report, written: bool) -> TraceResult {
        self.run.tell(report);
        for file in &report.files {
            warnings(file, self.run.console);
        }
        TraceResult::of(report, written)
    }

    fn say(&mut self, failure: String) {
        console::error(&failure);
        self.summary.errors.push(failure);
    }

    fn fail(&mut self, error: &Error) {
        // Of traces that were at work together, one says so.
        if error.kind() != ErrorKind::Interrupted || !self.status.is_stopped() {
            self.say(error.to_string());
        }
        self.status.fail(error.kind(), self.run.interrupt.code());
    }

    /// Says why an input, or the trace that it would become, is not there. One that cannot be read goes into quarantine,
    /// or ends the run.
    fn fail_input(&mut self, error: &Error, input: Option<&Path>, trace: Option<&str>) {
        self.fail(error);
        if error.kind() != ErrorKind::Input {
            return;
        }
        if !self.quarantines() {
            self.stopped_by_bad_input = true;
        } else if let Some(input) = input {
            let (code, reason) = (error.code().as_str(), error.to_string());
            self.quarantine(&BadInput { input, trace, code, reason: &reason });
        }
    }

    fn quarantines(&self) -> bool {
        self.args.checks.on_bad_input == OnBadInput::Quarantine
    }

    fn quarantine(&mut self, bad: &BadInput<'_>) {
        self.summary.quarantined.push(QuarantinedInput::of(bad));
        if let Err(error) = self.quarantine.add(bad) {
            self.fail(&error);
        }
    }

    /// Takes the inputs of a recording out of quarantine.
    pub(super) fn release(&mut self, job: &Recording) {
        for input in &job.inputs {
            if let Err(error) = self.quarantine.release(&input.path) {
                self.fail(&error);
            }
        }
    }

    fn finish(mut self, summary: Option<&Path>, metrics: Option<&Path>) -> u8 {
        self.summary.end(self.status.code(), &self.found);
        if self.args.output.if_exists == IfExists::Update {
            let unchanged = self.summary.traces.iter().filter(|trace| trace.status == "skipped").count() as u64;
            self.run.console.line(format_args!("unchanged: {}", counted(unchanged, "traces")));
        }
        self.summary.page(Width::of_stderr()).lines().for_each(|line| self.run.console.line(line));
        let (json, exposition) = (console::json(&self.summary), exposition(&self.summary));
        for (path, text) in [(summary, json), (metrics, exposition)] {
            let Some(path) = path else { continue };
            let written = console::to_file(path, &text);
            let written = written.map_err(|error| error.with_hint("the traces themselves are not affected"));
            written.unwrap_or_else(|error| self.fail(&error));
        }
        self.status.code()
    }
}

/// Whether the inputs were read as a trace, now or before. Of one that another run has in work, that one tells.
fn is_readable(outcome: &Outcome) -> bool {
    match outcome {
        Outcome::KnownRefusal(known) => known.kind != RefusalKind::Unreadable,
        Outcome::Busy | Outcome::DryRun(_) => false,
        Outcome::Published(_) | Outcome::Skipped | Outcome::Empty(_) | Outcome::Refused(..) => true,
    }
}

/// Why a trace is empty, and which provider may have been meant.
fn nothing_passes(report: &Report, wanted: &[NamePattern]) -> String {
    let names = || report.plan.catalog().flat_map(|entry| [entry.provider_name(), Some(entry.dataset())]);
    let names = || names().flatten();
    let ids = |name: &NamePattern| {
        let mut ids = report.plan.shapes.iter().filter_map(|shape| shape.key.identity.provider_id());
        ids.any(|id| name.matches(&id.to_string()))
    };
    let missing = wanted.iter().find(|wanted| !names().any(|name| wanted.matches(name)) && !ids(wanted));
    let Some(missing) = missing else { return "no event passes the filters".to_owned() };
    match nearest(&missing.to_string(), names()) {
        Some(name) => {
            format!("no event passes the filters: no provider here is called {missing}; did you mean {name}?")
        }
        None => format!("no event passes the filters: no provider here is called {missing}"),
    }
}

/// The issues of an input, the first ones whole. What other options would mend is said even without `-v`.
fn warnings(file: &FileSurvey, console: Console) {
    let is_shown =
        |issue: &Issue| issue.code == IssueCode::WideTable || (console.verbose && issue.severity > Severity::Info);
    let found: Vec<_> = file.issues.rows().filter(is_shown).collect();
    for issue in found.iter().take(SHOWN) {
        let buffer = issue.buffer.map_or(String::new(), |buffer| format!(", buffer {buffer}"));
        let offset = issue.offset.map_or(String::new(), |offset| format!(", offset {offset:#x}"));
        console.warning(format_args!("{}{buffer}{offset}: {} ({})", file.name, issue.message, issue.code));
    }
    if found.len() > SHOWN {
        console.warning(format_args!("{}: {} more, see issues.parquet", file.name, found.len() - SHOWN));
    }
}
