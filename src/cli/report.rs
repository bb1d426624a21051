//! `etl2parquet report`.

use std::path::{Path, PathBuf};

use tempfile::{Builder, TempDir};

use super::args::ReportArgs;
use super::run::Run;
use super::{console, exit, inputs, jobs, options, published_page};
use crate::convert::ConvertOptions;
use crate::convert::job::{JobProgress, Outcome, Stage};
use crate::error::{Error, ErrorKind, Result};
use crate::job::convert;
use crate::names::NameFrom;
use crate::output::folder::Custody;
use crate::published::PublishedTrace;
use crate::report::{facts, page};

/// Writes a report; returns the exit code.
///
/// # Errors
/// What keeps the run from starting, and a report that cannot be written.
pub(super) fn run(args: &ReportArgs) -> Result<u8> {
    let run = Run::start(&args.run)?;
    let subject = Subject::of(args, &run)?;
    run.interrupt.working(true);
    let made = subject.page(args, &run);
    // A signal need not wait for who reads the page from a pipe; a file is written to its end.
    run.interrupt.working(made.is_ok() && args.output != Path::new("-"));
    let written = made.and_then(|(page, is_damaged)| {
        console::to_file_within(&args.output, &page, &run.interrupt.custody())?;
        Ok(is_damaged)
    });
    run.interrupt.working(false);
    Ok(match written {
        Err(error) => run.failed(&error),
        Ok(_) if run.interrupt.is_set() => run.interrupt.code(),
        Ok(true) => exit::DAMAGED,
        Ok(false) => exit::SUCCESS,
    })
}

/// What a report is about.
enum Subject {
    /// A trace that is converted already.
    Published(PublishedTrace),
    /// One that is not.
    Recording(Box<(crate::convert::job::Recording, ConvertOptions)>),
}

impl Subject {
    fn of(args: &ReportArgs, run: &Run) -> Result<Subject> {
        let inputs = std::slice::from_ref(&args.input);
        if let Some(mut traces) = published_page::asked_for(inputs) {
            let count = traces.len();
            let one = traces.pop().filter(|_| count == 1).map(Subject::Published);
            return one.ok_or_else(|| not_one(count, "name one of its folders trace=NAME"));
        }
        let found = inputs::find(inputs, options::open(&args.spool).or_in(&folder_of(&args.output)));
        found.notes.iter().for_each(|note| run.console.warning(note));
        let mut recordings = jobs::separate_jobs(&found.all(), NameFrom::Stem);
        if recordings.len() != 1 {
            return match found.problems.into_iter().next() {
                Some(problem) => Err(problem),
                None => {
                    Err(not_one(recordings.len(), "name one of them; `convert --merge` makes one trace of several"))
                }
            };
        }
        let options = ConvertOptions { open: found.open, ..options::of_report(args, run)? };
        let recording = recordings.pop().ok_or_else(|| not_one(0, "name one"))?;
        Ok(Subject::Recording(Box::new((recording, options))))
    }

    /// The page, and whether what it tells of is damaged.
    fn page(self, args: &ReportArgs, run: &Run) -> Result<(String, bool)> {
        match self {
            Subject::Published(trace) => page_of(&trace, run),
            Subject::Recording(subject) => {
                let (recording, options) = *subject;
                let staging = Staging::beside(&args.output, run)?;
                let options = ConvertOptions { out: staging.folder.path().to_owned(), ..options };
                let outcome = run.job(&recording.name, |progress| convert(&recording, &options, progress))?;
                let Outcome::Published(report) = outcome else { return Err(Error::bug("expected a converted trace")) };
                page_of(&PublishedTrace { folder: report.folder.clone() }, run)
            }
        }
    }
}

fn not_one(count: usize, hint: &'static str) -> Error {
    Error::new(ErrorKind::Usage, format!("expected one trace, found {count}")).with_hint(hint)
}

/// The page of a converted trace, and whether that is damaged.
fn page_of(trace: &PublishedTrace, run: &Run) -> Result<(String, bool)> {
    run.job("report", |progress: &dyn JobProgress| {
        progress.stage(Stage::Publish);
        let facts = facts(trace, progress)?;
        Ok((page(&facts)?, facts.is_damaged()))
    })
}

/// Where a trace is converted to: a folder that goes with the run, however it ends.
struct Staging {
    folder: TempDir,
    /// Removes it where the program is ended at once.
    #[expect(dead_code, reason = "it is kept for as long as the folder")]
    custody: Custody,
}

impl Staging {
    fn beside(output: &Path, run: &Run) -> Result<Staging> {
        let parent = folder_of(output);
        let mut name = Builder::new();
        name.prefix(".etl2parquet-").suffix(".tmp");
        let made = run.interrupt.custody().temporary(|| name.tempdir_in(&parent));
        let (folder, custody) = made.map_err(|cause| {
            Error::new(ErrorKind::Output, "cannot make a temporary folder").in_file(&parent).caused_by(cause)
        })?;
        Ok(Staging { folder, custody })
    }
}

/// The folder of a file; of standard output, of a device or a pipe that for temporary files.
fn folder_of(output: &Path) -> PathBuf {
    let is_no_file = output == Path::new("-") || std::fs::metadata(output).is_ok_and(|there| !there.is_file());
    match output.parent() {
        _ if is_no_file => std::env::temp_dir(),
        Some(parent) if !parent.as_os_str().is_empty() => parent.to_owned(),
        _ => PathBuf::from("."),
    }
}
