//! `etl2parquet report`.

use std::fs;
use std::path::{Path, PathBuf};

use base::error::{Error, ErrorKind, Result};
use batch::RunStatus;
use conversion::convert::{JobProgress, Stage, settings};
use published::PublishedTrace;
use published::report::{Entry, Facts, facts, index, page};

use super::args::ReportArgs;
use super::report_pages::{INDEX, Pages};
use super::run::Run;
use super::subjects::{Staging, Subject, Subjects, refuse_for_converted};
use super::{browser, console, options, output_file};

/// Writes reports; returns the exit code.
///
/// # Errors
/// What keeps the run from starting.
pub(super) fn run(args: &ReportArgs) -> Result<u8> {
    if args.open && args.output == Path::new("-") {
        let message = "--open shows a file, and the page goes to standard output";
        return Err(Error::new(ErrorKind::Usage, message).with_hint("name a file with -o"));
    }
    output_file::check(&args.output, &args.inputs)?;
    let run = Run::start(&args.run)?;
    let options = options::of_report(args, &run, &folder_of(&args.output));
    let subjects = Subjects::of(&args.inputs, &args.schemas, options, &run)?;
    if subjects.are_converted() {
        refuse_for_converted(args.reading.typed_of(&settings::CLOCK))?;
    }
    let pages = Pages::of(&args.output, subjects.traces.len())?;
    let mut reports = Reports { run, pages, status: RunStatus::default(), entries: Vec::new() };
    subjects.problems.iter().for_each(|problem| reports.failed(problem));
    let first = reports.write(&subjects);
    if let Some(page) = first.filter(|_| args.open)
        && let Err(cause) = browser::open(&page)
    {
        let warning = format!("the page cannot be shown: {cause}; open {} in a browser", page.display());
        reports.run.console.warning(warning);
    }
    Ok(reports.code())
}

/// The pages of a run, and what became of them.
struct Reports {
    run: Run,
    pages: Pages,
    status: RunStatus,
    /// Those that are written.
    entries: Vec<Entry>,
}

impl Reports {
    fn failed(&mut self, error: &Error) {
        self.run.fail(&mut self.status, error);
    }

    /// Writes the page of every trace, and the one that leads to them; returns the page to look at first.
    fn write(&mut self, subjects: &Subjects) -> Option<PathBuf> {
        let is_new = match self.pages.prepare() {
            Ok(is_new) => is_new,
            Err(error) => {
                self.failed(&error);
                return None;
            }
        };
        let mut first = None;
        for (name, subject) in &subjects.traces {
            match self.one(subjects, name, subject) {
                Ok(page) => first = first.or(Some(page)),
                Err(error) => self.failed(&error),
            }
            if self.status.is_stopped() || self.run.interrupt.is_set() {
                break;
            }
        }
        match &self.pages {
            // There was no folder, and there is nothing for it.
            Pages::Each(folder) if is_new && self.entries.is_empty() => drop(fs::remove_dir(folder)),
            Pages::Each(folder) if subjects.traces.len() > 1 && !self.entries.is_empty() => {
                let page = folder.join(INDEX);
                let text = index(&self.entries, subjects.traces.len().saturating_sub(self.entries.len()));
                return match self.publish(&page, &text) {
                    Ok(()) => Some(page),
                    Err(error) => {
                        self.failed(&error);
                        first
                    }
                };
            }
            Pages::Each(_) | Pages::One(_) => {}
        }
        first
    }

    /// Writes the page of a trace.
    fn one(&mut self, subjects: &Subjects, name: &str, subject: &Subject) -> Result<PathBuf> {
        let file = self.pages.page(name);
        self.run.interrupt.working(true);
        let made = self.facts(subjects, subject, &file).map(|facts| {
            let of_index = file.file_name().map(|name| Entry::new(&facts, &name.to_string_lossy()));
            (page(&facts), of_index, facts.is_damaged())
        });
        self.run.interrupt.working(false);
        let (text, of_index, is_damaged) = made?;
        self.publish(&file, &text)?;
        self.status.readable += 1;
        self.status.damaged |= is_damaged;
        self.entries.extend(of_index);
        Ok(file)
    }

    /// What is known of a trace; one that is not converted is, beside its page.
    fn facts(&self, subjects: &Subjects, subject: &Subject, page: &Path) -> Result<Facts> {
        match subject {
            Subject::Published(trace) => facts_of(trace, &self.run),
            Subject::Recording(recording) => {
                let staging = Staging::make_in(&folder_of(page), &self.run)?;
                facts_of(&subjects.convert_into(&staging, recording, &self.run)?, &self.run)
            }
        }
    }

    /// Writes a page and says so.
    fn publish(&self, page: &Path, text: &str) -> Result<()> {
        let is_file = page != Path::new("-");
        // A signal need not wait for who reads the page from a pipe; a file is written to its end.
        self.run.interrupt.working(is_file);
        let written = console::to_file_within(page, text, &self.run.interrupt.cleanup());
        self.run.interrupt.working(false);
        if written.is_ok() && is_file {
            self.run.console.line(format_args!("wrote {}", page.display()));
        }
        written
    }

    /// The exit code.
    fn code(&self) -> u8 {
        if self.run.interrupt.is_set() { self.run.interrupt.code() } else { self.status.code() }
    }
}

fn facts_of(trace: &PublishedTrace, run: &Run) -> Result<Facts> {
    run.job("report", |progress: &dyn JobProgress| {
        progress.stage(Stage::Publish);
        facts(trace, progress)
    })
}

/// The folder of a file; of standard output, of a device or a pipe that for temporary files.
fn folder_of(output: &Path) -> PathBuf {
    let is_no_file = output == Path::new("-") || fs::metadata(output).is_ok_and(|there| !there.is_file());
    match output.parent() {
        _ if is_no_file => std::env::temp_dir(),
        Some(parent) if !parent.as_os_str().is_empty() => parent.to_owned(),
        _ => PathBuf::from("."),
    }
}
