//! A run over many recordings: their inputs are found, they are converted, and what became of each is reported and kept.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use base::error::Result;
use base::names::folded;
use base::readable::count::counted;
use columnar::output::folder::{published, trace_folder};
use columnar::output::refusal::Refusal;
use columnar::output::{IfExists, store_at};
use conversion::commit::lock_file::{LOCK_NAME, extend, names_of};
use conversion::convert::ConvertOptions;
use conversion::convert::{InputFile, Outcome, Recording};
use etl::input::{Address, OpenOptions, RemoteSpace};
use schema::extend::Additions;

use super::begin::probe;
use super::inputs;
use super::notice::Notice;
use super::observer::{Converter, Observer};
use super::options::{BatchOptions, OnBadInput};
use super::outcomes::Outcomes;
use super::recordings::{self, Merge, Recordings};
use super::summary::TraceSummary;

/// What a run converts.
#[derive(Debug)]
pub struct Inputs {
    /// The recordings.
    pub jobs: Vec<Recording>,
    /// How their inputs are opened.
    pub open: OpenOptions,
    /// The schemas beside them, by name and path.
    pub schemas: Vec<(String, PathBuf)>,
}

/// Has recordings opened by `open`; what comes of them over a network takes its share of the memory.
pub fn open_by(options: &mut ConvertOptions, jobs: &[Recording], open: OpenOptions) {
    if jobs.iter().flat_map(Recording::addresses).any(|address| address.scheme().is_some()) {
        options.memory -= RemoteSpace::share(options.memory);
    }
    options.open = open;
}

/// Adds to the lock of an output folder what these traces of it use.
///
/// # Errors
/// [`ErrorKind::Output`](base::error::ErrorKind::Output) when the lock cannot be read or written.
pub fn extend_lock<'t>(out: &Path, traces: impl Iterator<Item = &'t str>, observer: &dyn Observer) -> Result<()> {
    let mut additions = Additions::default();
    traces.filter_map(|trace| names_of(&*store_at(&trace_folder(out, trace)))).for_each(|names| additions.add(&names));
    let extended = extend(&*store_at(out), &additions);
    let lines = extended.map_err(|error| error.with_hint("the traces themselves are not affected"))?;
    if lines > 0 {
        let (file, lines) = (out.join(LOCK_NAME), counted(lines as u64, "lines"));
        observer.say(&Notice::info(format!("{}: {lines} of new names", file.display())));
    }
    Ok(())
}

/// A run over many recordings.
#[derive(Debug)]
pub struct Batch<'a> {
    options: &'a BatchOptions,
    observer: &'a dyn Observer,
    /// What has become of inputs and traces.
    pub outcomes: Outcomes<'a>,
    /// The inputs, as they are called.
    found: Vec<String>,
}

impl<'a> Batch<'a> {
    /// A run that begins.
    pub fn new(options: &'a BatchOptions, observer: &'a dyn Observer) -> Self {
        Batch { options, observer, outcomes: Outcomes::new(options, observer), found: Vec::new() }
    }

    /// What is converted. Where one bad input decides over others, all are looked at before any work.
    ///
    /// # Errors
    /// Those of [`recordings::recordings`].
    pub fn inputs(&mut self) -> Result<Inputs> {
        let options = self.options;
        let open = OpenOptions {
            remote: Arc::new(RemoteSpace::new(RemoteSpace::share(options.convert.memory))),
            ..options.convert.open.clone()
        };
        let found = inputs::find(&options.inputs, open.or_in(&options.convert.out));
        let led_nowhere = found.problems.iter().filter_map(|problem| problem.location().file.clone());
        let paths = found.all().into_iter().map(|input| input.address).chain(led_nowhere.map(Address::from));
        self.found = paths.map(|path| path.display().to_string()).collect();
        let merge = Merge::of(options.merge.as_deref());
        let is_interrupted = || self.observer.is_interrupted();
        let Recordings { list: mut jobs, clashes, notes } =
            recordings::recordings(&found, merge, options.name_from, is_interrupted)?;
        notes.iter().for_each(|note| self.observer.say(&Notice::info(note)));
        clashes.iter().for_each(|clash| self.outcomes.clash(clash));
        found.notes.iter().for_each(|note| self.observer.say(&Notice::warning(note)));
        for problem in &found.problems {
            self.outcomes.fail_input(problem, problem.location().file.as_deref(), None);
        }
        if matches!(merge, Merge::All(_)) || options.on_bad_input == OnBadInput::Fail {
            for job in &mut jobs {
                let name = Some(job.name.as_str());
                let probed = |input: &InputFile| probe(input, &found.open);
                job.inputs.retain(|input| {
                    probed(input).map_err(|error| self.outcomes.fail_input(&error, Some(&input.address), name)).is_ok()
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

    /// Converts the recordings, and looks again at the end at those that another run had in work. Those that the run has ended
    /// before are in the summary, too.
    pub fn convert_all(&mut self, jobs: &[Recording], options: &ConvertOptions, converter: &dyn Converter) {
        self.convert_until_stopped(jobs, options, converter);
        self.add_not_begun(jobs);
    }

    fn convert_until_stopped(&mut self, jobs: &[Recording], options: &ConvertOptions, converter: &dyn Converter) {
        if self.outcomes.is_stopped() {
            return;
        }
        if self.options.convert.if_exists == IfExists::Update {
            Refusal::clear_leftovers(&*store_at(&self.options.convert.out));
            self.report_of_others(jobs);
        }
        let busy = self.look_at_all(jobs, options, converter);
        if self.outcomes.is_stopped() {
            busy.iter().for_each(|_| self.outcomes.status.count(&Outcome::Busy));
            return;
        }
        converter.convert(jobs, &busy, options, &mut |position, outcome| {
            self.outcomes.report(position, &jobs[position], outcome, jobs.len() > 1);
            !self.outcomes.is_stopped()
        });
    }

    /// Converts all recordings but those that another run has in work, whose positions come back: that run may end without them.
    fn look_at_all(&mut self, jobs: &[Recording], options: &ConvertOptions, converter: &dyn Converter) -> Vec<usize> {
        let (all, mut busy) = ((0..jobs.len()).collect::<Vec<_>>(), Vec::new());
        converter.convert(jobs, &all, options, &mut |position, outcome| {
            if matches!(outcome, Ok(Outcome::Busy)) {
                self.outcomes.set_aside(&jobs[position]);
                busy.push(position);
            } else {
                self.outcomes.report(position, &jobs[position], outcome, jobs.len() > 1);
            }
            !self.outcomes.is_stopped()
        });
        busy
    }

    fn add_not_begun(&mut self, jobs: &[Recording]) {
        // They are reported in their order.
        let rest = jobs.get(self.outcomes.summary.traces.len()..).unwrap_or_default();
        let reason = || Some("the run ended before".to_owned());
        let not_begun = rest.iter().map(|job| TraceSummary::of(job, "not_begun", reason(), None));
        self.outcomes.summary.traces.extend(not_begun);
    }

    /// Adds to the lock of the output folder what the traces of the run use, converted or there already.
    pub fn extend_lock(&mut self, out: &Path) {
        let is_there = |trace: &&TraceSummary| matches!(trace.status, "published" | "skipped");
        let traces = self.outcomes.summary.traces.iter().filter(is_there).map(|trace| trace.trace.as_str());
        if let Err(error) = extend_lock(out, traces, self.observer) {
            self.outcomes.fail(&error, None);
        }
    }

    /// Traces of the output folder that none of the inputs becomes stay there.
    fn report_of_others(&self, jobs: &[Recording]) {
        let names: HashSet<String> = jobs.iter().map(|job| folded(&job.name)).collect();
        let mut others = published(&self.options.convert.out);
        others.retain(|name| !names.contains(&folded(name)));
        if let Some(first) = others.first() {
            let count = counted(others.len() as u64, "traces");
            let text = format!("left as published: {count} without an input in this run, trace={first} first");
            self.observer.say(&Notice::info(text));
        }
    }

    /// The run is over: what is left to say is said, and the summary ends with the exit code.
    pub fn finish(&mut self) {
        let outcomes = &mut self.outcomes;
        if self.options.convert.if_exists == IfExists::Update {
            let unchanged = outcomes.summary.traces.iter().filter(|trace| trace.status == "skipped").count() as u64;
            self.observer.say(&Notice::info(format_args!("unchanged: {}", counted(unchanged, "traces"))));
        }
        outcomes.report_missing();
        outcomes.report_other_warnings();
    }

    /// Looks at every input once more, for the summary.
    pub fn end_summary(&mut self) {
        let code = self.outcomes.status.code();
        self.outcomes.summary.end(code, &self.found);
    }
}
