//! What a page of `report` is about: a trace that is converted, or one that is converted for it.

use std::path::{Path, PathBuf};

use base::error::{Error, ErrorKind, Result};
use base::names::NameFrom;
use batch::{inputs, recordings};
use columnar::output::folder::CleanupRegistry;
use conversion::convert::ConvertOptions;
use conversion::convert::{JobProgress, Outcome, Recording, Stage};
use conversion::job::convert;
use published::report::{Facts, facts};
use published::{PublishedTrace, all_published};
use tempfile::{Builder, TempDir};

use super::args::ReportArgs;
use super::options;
use super::report_pages::are_distinct;
use super::run::Run;
use super::schema::load::LoadedSchemas;

/// A trace.
pub(super) enum Subject {
    /// One that is converted already.
    Published(PublishedTrace),
    /// One that is not.
    Recording(Recording),
}

/// The traces that pages are asked for.
pub(super) struct Subjects {
    /// Each with its own name.
    pub traces: Vec<(String, Subject)>,
    /// Inputs that lead nowhere.
    pub problems: Vec<Error>,
    /// How those are converted that are not.
    options: ConvertOptions,
}

impl Subjects {
    /// Finds them.
    ///
    /// # Errors
    /// Where there are none, or several of one name.
    pub(super) fn of(args: &ReportArgs, run: &Run) -> Result<Subjects> {
        let (schemas, options) = (LoadedSchemas::load(&args.schemas, run.console)?, options::of_report(args, run));
        if let Some(traces) = all_published(&args.inputs) {
            let traces = traces.into_iter().map(|trace| (name_of(&trace), Subject::Published(trace))).collect();
            return Subjects { traces, problems: Vec::new(), options }.checked();
        }
        let found = inputs::find(&args.inputs, args.reading.options.open.clone().or_in(&folder_of(&args.output)));
        found.notes.iter().for_each(|note| run.console.warning(note));
        let inputs = found.all();
        let by = |name_from| recordings::separate(&inputs, name_from);
        let mut recordings = by(NameFrom::Stem);
        if !are_distinct(recordings.iter().map(|recording| recording.name.as_str())) {
            recordings = by(NameFrom::Path);
        }
        let traces = recordings.into_iter().map(|one| (one.name.clone(), Subject::Recording(one))).collect();
        let mut options = options::with_schemas(options, schemas, &found.schemas, run);
        options.open = found.open;
        Subjects { traces, problems: found.problems, options }.checked()
    }

    fn checked(mut self) -> Result<Subjects> {
        if self.traces.is_empty() {
            let nothing = || Error::new(ErrorKind::Usage, "expected a trace, found none").with_hint("name one");
            return Err(self.problems.pop().unwrap_or_else(nothing));
        }
        if !are_distinct(self.traces.iter().map(|(name, _)| name.as_str())) {
            let message = "several traces have the same name, and their pages would be one";
            return Err(Error::new(ErrorKind::Usage, message).with_hint("make their pages one by one"));
        }
        Ok(self)
    }

    /// What is known of a trace; one that is not converted is, beside its page.
    ///
    /// # Errors
    /// Where it cannot be read or converted.
    pub(super) fn facts(&self, subject: &Subject, page: &Path, run: &Run) -> Result<Facts> {
        let recording = match subject {
            Subject::Published(trace) => return facts_of(trace, run),
            Subject::Recording(recording) => recording,
        };
        let staging = Staging::beside(page, run)?;
        let mut options = self.options.clone();
        staging.folder.path().clone_into(&mut options.out);
        let outcome = run.job(&recording.name, |progress| convert(recording, &options, progress))?;
        let Outcome::Published(report) = outcome else { return Err(Error::bug("expected a converted trace")) };
        facts_of(&PublishedTrace::in_folder(&report.folder), run)
    }
}

fn facts_of(trace: &PublishedTrace, run: &Run) -> Result<Facts> {
    run.job("report", |progress: &dyn JobProgress| {
        progress.stage(Stage::Publish);
        facts(trace, progress)
    })
}

/// What a converted trace is called.
fn name_of(trace: &PublishedTrace) -> String {
    let name = trace.folder().file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    name.strip_prefix("trace=").map(str::to_owned).unwrap_or(name)
}

/// Where a trace is converted to: a folder that goes with the run, however it ends.
struct Staging {
    folder: TempDir,
    /// Removes it where the program is ended at once.
    #[expect(dead_code, reason = "it is kept for as long as the folder")]
    cleanup: CleanupRegistry,
}

impl Staging {
    fn beside(output: &Path, run: &Run) -> Result<Staging> {
        let parent = folder_of(output);
        let mut name = Builder::new();
        name.prefix(".etl2parquet-").suffix(".tmp");
        let made = run.interrupt.cleanup().temporary(|| name.tempdir_in(&parent));
        let (folder, cleanup) = made.map_err(|cause| {
            Error::new(ErrorKind::Output, "cannot make a temporary folder").in_file(&parent).caused_by(cause)
        })?;
        Ok(Staging { folder, cleanup })
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
