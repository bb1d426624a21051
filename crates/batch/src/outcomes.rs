//! What becomes of inputs and traces in a run of `convert` or `plan`: reported as it comes, counted for the exit code, kept for the
//! summary.

use std::path::Path;

use base::error::{Error, ErrorCode, ErrorKind, Result};
use columnar::output::IfExists;
use columnar::output::refusal::{Refusal, RefusalKind};
use conversion::convert::{Outcome, Recording, Report};

use super::missing::{Missing, nothing_passes};
use super::notice::Notice;
use super::observer::Observer;
use super::options::{BatchOptions, OnBadInput};
use super::quarantine::{BadInput, Quarantine};
use super::run_facts::RunFacts;
use super::status::RunStatus;
use super::summary::{QuarantinedInput, Summary, TraceResult, TraceSummary};
use super::warnings::Warnings;

/// Why a trace is busy.
const BUSY: &str = "another run is writing it";

/// What has become of inputs and traces so far.
#[derive(Debug)]
pub struct Outcomes<'a> {
    options: &'a BatchOptions,
    observer: &'a dyn Observer,
    /// What decides the exit code.
    pub status: RunStatus,
    /// What is known of the run.
    pub summary: Summary,
    quarantine: Quarantine,
    warnings: Warnings,
    missing: Missing,
    /// Whether an unreadable input has ended the run.
    pub stopped_by_bad_input: bool,
}

impl<'a> Outcomes<'a> {
    /// Of a run that begins.
    pub(crate) fn new(options: &'a BatchOptions, observer: &'a dyn Observer) -> Self {
        let summary = Summary::of(RunFacts::start(options.convert.run_id.as_deref()), &options.convert.out);
        let (status, quarantine) = (RunStatus::default(), Quarantine::default());
        let (warnings, missing) = (Warnings::default(), Missing::of(&options.convert.filter));
        Outcomes { options, observer, status, summary, quarantine, warnings, missing, stopped_by_bad_input: false }
    }

    /// Keeps records of inputs in quarantine, where that is asked for.
    ///
    /// # Errors
    /// [`ErrorKind::Output`] when their folder cannot be made.
    pub fn keep_records(&mut self) -> Result<()> {
        self.quarantine = Quarantine::in_folder(self.options.quarantine_dir.as_deref())?;
        Ok(())
    }

    /// Another run has a trace in work; the place of it in the summary is kept for what comes of it.
    pub(crate) fn set_aside(&mut self, job: &Recording) {
        let trace = TraceSummary::of(job, "busy", Some(BUSY.to_owned()), None);
        if self.observer.is_verbose() {
            let text = format!("{}: {BUSY}; looked at again at the end", job.name);
            self.observer.say(&Notice::info(text).with_trace(Some(&job.name)));
        }
        self.summary.traces.push(trace);
    }

    /// What became of the trace at a position of the summary, or of the next one, with a line where one is due.
    pub(crate) fn report(&mut self, position: usize, job: &Recording, outcome: Result<Outcome>, is_one_of_many: bool) {
        let trace = self.trace_summary(job, outcome);
        let is_reported = match trace.status {
            // Of ten thousand that have not changed, their number is enough.
            "skipped" if self.options.convert.if_exists == IfExists::Update => {
                self.observer.is_verbose() || !is_one_of_many
            }
            "skipped" | "busy" => true,
            // The page at the end, which describes one alone, is for people.
            _ => is_one_of_many || self.observer.hears_each(),
        };
        if is_reported {
            self.observer.say(&trace.notice());
        }
        match self.summary.traces.get_mut(position) {
            Some(before) => *before = trace,
            None => self.summary.traces.push(trace),
        }
    }

    /// Whether the run ends before its next trace.
    pub fn is_stopped(&mut self) -> bool {
        if self.observer.is_interrupted() {
            self.status.fail(ErrorKind::Interrupted, self.observer.interrupted_code());
        }
        self.stopped_by_bad_input || self.status.is_stopped()
    }

    /// What became of a trace, counted for the exit code.
    pub fn trace_summary(&mut self, job: &Recording, outcome: Result<Outcome>) -> TraceSummary {
        let summary = |status, reason, result| TraceSummary::of(job, status, reason, result);
        outcome.iter().for_each(|outcome| self.status.count(outcome));
        if outcome.as_ref().is_ok_and(is_readable) {
            self.release(job);
        }
        // What a trace has that was not looked into is not known.
        self.missing.is_known &= outcome.as_ref().is_ok_and(|outcome| outcome.report().is_some());
        match outcome {
            Ok(Outcome::KnownRefusal(known)) => {
                let (status, reason) = self.known_refusal(job, &known);
                summary(status, Some(reason), None)
            }
            Ok(Outcome::Busy) => summary("busy", Some(BUSY.to_owned()), None),
            Ok(Outcome::Published(report)) => summary("published", None, Some(self.result(&report, true))),
            Ok(Outcome::DryRun(report)) => summary("dry_run", None, Some(self.result(&report, false))),
            Ok(Outcome::Skipped) => {
                let why = "it is there already, from the same input and with the same options";
                summary("skipped", Some(why.to_owned()), None)
            }
            Ok(Outcome::Empty(report)) => {
                let why = nothing_passes(&report, &self.options.convert.filter);
                self.observer.say(&not_published(Notice::warning, &job.name, "empty", &why));
                summary("empty", Some(why), Some(self.result(&report, false)))
            }
            Ok(Outcome::Refused(report, why)) => {
                self.say(&not_published(Notice::error, &job.name, "gated", &why));
                summary("gated", Some(why), Some(self.result(&report, false)))
            }
            Err(error) => {
                let input = match job.inputs.as_slice() {
                    [input] => Some(&*input.address),
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

    /// Reports again what an earlier run has found, and counts it for the exit code as that one did.
    fn known_refusal(&mut self, job: &Recording, known: &Refusal) -> (&'static str, String) {
        let trace = &job.name;
        let reason = format!("{} (found by an earlier run; the input has not changed)", known.reason);
        match known.kind {
            RefusalKind::Unreadable => {
                let code = ErrorCode::NotATrace.as_str();
                self.say(&Notice::error(&reason).with_trace(Some(trace)).with_code(code));
                if !self.quarantines() {
                    self.stopped_by_bad_input = true;
                    return ("failed", reason);
                }
                for input in &job.inputs {
                    self.quarantine(&BadInput {
                        input: &input.address,
                        trace: Some(trace),
                        code,
                        reason: &known.reason,
                    });
                }
                ("quarantined", reason)
            }
            RefusalKind::Empty => {
                self.observer.say(&not_published(Notice::warning, trace, "empty", &reason));
                ("empty", reason)
            }
            RefusalKind::Gated => {
                self.say(&not_published(Notice::error, trace, "gated", &reason));
                ("gated", reason)
            }
        }
    }

    /// What is reported of a recording that could be read.
    fn result(&mut self, report: &Report, written: bool) -> TraceResult {
        report.warnings.iter().for_each(|warning| self.observer.say(&Notice::warning(warning)));
        self.missing.look(report);
        for file in &report.files {
            let shown = self.warnings.of_input(file, self.observer.is_verbose());
            shown.iter().for_each(|notice| self.observer.say(notice));
        }
        TraceResult::of(report, written)
    }

    /// Says which values of the filters no trace has, where all traces were looked into. Of one alone that is empty, its
    /// reason says so.
    pub(crate) fn report_missing(&self) {
        let traces = &self.summary.traces;
        let is_reported = matches!(traces.as_slice(), [] | [TraceSummary { status: "empty", .. }]);
        if !is_reported && !traces.iter().any(|trace| matches!(trace.status, "not_begun" | "busy")) {
            self.missing.sentences().iter().for_each(|sentence| self.observer.say(&Notice::warning(sentence)));
        }
    }

    /// Says how many more warnings there are than were shown, and where they stand.
    pub(crate) fn report_other_warnings(&self) {
        if let Some(rest) = self.warnings.rest() {
            let text = format!("{rest}; {}", self.summary.place_of_issues());
            self.observer.say(&Notice::warning(text));
        }
    }

    /// Two inputs that would become one trace.
    pub(crate) fn clash(&mut self, clash: &Error) {
        self.missing.is_known = false;
        self.status.usage = true;
        self.say(&Notice::of(clash));
    }

    fn say(&mut self, failure: &Notice) {
        self.observer.say(failure);
        self.summary.errors.push(failure.text.clone());
    }

    /// Says that something failed, and counts it for the exit code.
    pub fn fail(&mut self, error: &Error, trace: Option<&str>) {
        self.missing.is_known = false;
        // Of traces that were at work together, one says so.
        if error.kind() != ErrorKind::Interrupted || !self.status.is_stopped() {
            self.say(&Notice::of(error).with_trace(trace));
        }
        match (error.kind(), trace) {
            // What makes no sense for one trace is no reason to leave out others.
            (ErrorKind::Usage, Some(_)) => self.status.usage = true,
            (kind, _) => self.status.fail(kind, self.observer.interrupted_code()),
        }
    }

    /// Says why an input, or the trace that it would become, is not there. One that cannot be read goes into quarantine,
    /// or ends the run.
    pub fn fail_input(&mut self, error: &Error, input: Option<&Path>, trace: Option<&str>) {
        self.fail(error, trace);
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
        self.options.on_bad_input == OnBadInput::Quarantine
    }

    fn quarantine(&mut self, bad: &BadInput<'_>) {
        self.summary.quarantined.push(QuarantinedInput::of(bad));
        if let Err(error) = self.quarantine.add(bad) {
            self.fail(&error, bad.trace);
        }
    }

    /// Takes the inputs of a recording out of quarantine.
    pub fn release(&mut self, job: &Recording) {
        for input in &job.inputs {
            if let Err(error) = self.quarantine.release(&input.address) {
                self.fail(&error, Some(&job.name));
            }
        }
    }
}

/// Whether the inputs were read as a trace, now or before. An input that another run has in work is reported by that run.
fn is_readable(outcome: &Outcome) -> bool {
    match outcome {
        Outcome::KnownRefusal(known) => known.kind != RefusalKind::Unreadable,
        Outcome::Busy | Outcome::DryRun(_) => false,
        Outcome::Published(_) | Outcome::Skipped | Outcome::Empty(_) | Outcome::Refused(..) => true,
    }
}

fn not_published(of: fn(String) -> Notice, trace: &str, status: &'static str, why: &str) -> Notice {
    let notice = of(format!("trace={trace} is not published: {why}"));
    notice.with_message(format!("not published: {why}")).with_trace(Some(trace)).with_status(status)
}
