//! What `report`, `query` and `export` are about: traces that are converted, or that are converted for them.

use std::collections::HashSet;
use std::ffi::OsString;
use std::path::Path;

use base::error::{Error, ErrorKind, Result};
use base::names::{NameFrom, folded};
use base::remote;
use batch::schemas::LoadedSchemas;
use batch::{inputs, recordings};
use columnar::output::folder::CleanupRegistry;
use conversion::convert::ConvertOptions;
use conversion::convert::{Outcome, Recording};
use conversion::job::convert;
use published::{PublishedTrace, all_published};
use tempfile::{Builder, TempDir};

use super::report_pages::repeated;
use super::run::Run;
use super::schema::args::SchemaArgs;

/// A trace.
pub(super) enum Subject {
    /// One that is converted already.
    Published(PublishedTrace),
    /// One that is not.
    Recording(Recording),
}

impl Subject {
    /// Whether it is converted already.
    pub(super) fn is_converted(&self) -> bool {
        matches!(self, Subject::Published(_))
    }
}

/// The traces that are asked for.
pub(super) struct Subjects {
    /// Each with its own name.
    pub traces: Vec<(String, Subject)>,
    /// Inputs that lead nowhere.
    pub problems: Vec<Error>,
    /// How those are converted that are not.
    options: ConvertOptions,
}

impl Subjects {
    /// Finds them. `options` are those of the conversion of traces that are not converted.
    ///
    /// # Errors
    /// Where there are none, or several of one name.
    pub(super) fn of(
        inputs: &[OsString],
        schemas: &SchemaArgs,
        mut options: ConvertOptions,
        run: &Run,
    ) -> Result<Subjects> {
        let schemas = LoadedSchemas::load(&schemas.choice(), options.language.as_deref(), run)?;
        let published = all_published(inputs).unwrap_or_default().into_iter();
        let published: Vec<_> = published.map(|trace| (name_of(&trace), Subject::Published(trace))).collect();
        // Nobody is to list a whole store for what may lie beside its traces.
        let is_remote = inputs.iter().any(|input| remote::url_of(Path::new(input)).is_some());
        let found = if is_remote && !published.is_empty() { &[] } else { inputs };
        let found = inputs::find(found, options.open.clone());
        if !published.is_empty() && found.all().is_empty() {
            return Subjects { traces: published, problems: Vec::new(), options }.checked();
        }
        found.notes.iter().for_each(|note| run.console.warning(note));
        let inputs = found.all();
        let by = |name_from| recordings::separate(&inputs, name_from);
        let mut recordings = by(NameFrom::Stem);
        if repeated(recordings.iter().map(|recording| recording.name.as_str())).is_some() {
            recordings = by(NameFrom::Path);
        }
        // One that is converted beside itself is one trace.
        let names: HashSet<String> = published.iter().map(|(name, _)| folded(name)).collect();
        let mut by_path = by(NameFrom::Path).into_iter();
        let mut is_published = |one: &Recording| {
            let of_path = by_path.next().is_some_and(|other| names.contains(&folded(&other.name)));
            of_path || names.contains(&folded(&one.name))
        };
        recordings.retain(|one| !is_published(one));
        let recordings = recordings.into_iter().map(|one| (one.name.clone(), Subject::Recording(one)));
        let traces = published.into_iter().chain(recordings).collect();
        options = schemas.into_options(options, &found.schemas, run);
        options.open = found.open;
        Subjects { traces, problems: found.problems, options }.checked()
    }

    /// Whether all are converted already.
    pub(super) fn are_converted(&self) -> bool {
        self.traces.iter().all(|(_, subject)| subject.is_converted())
    }

    fn checked(mut self) -> Result<Subjects> {
        if self.traces.is_empty() {
            let nothing = || Error::new(ErrorKind::Usage, "expected a trace, found none").with_hint("name one");
            return Err(self.problems.pop().unwrap_or_else(nothing));
        }
        if let Some(twice) = repeated(self.traces.iter().map(|(name, _)| name.as_str())) {
            let message = format!("several traces have the name {twice}, and would be one");
            return Err(Error::new(ErrorKind::Usage, message).with_hint("name them one by one"));
        }
        Ok(self)
    }

    /// Converts a trace into a folder.
    ///
    /// # Errors
    /// Where it cannot be read or converted, and where no event passes the filters.
    pub(super) fn convert_into(&self, staging: &Staging, recording: &Recording, run: &Run) -> Result<PublishedTrace> {
        let nothing = || Error::new(ErrorKind::Usage, "no event passes the filters");
        self.passing_into(staging, recording, run)?.ok_or_else(nothing)
    }

    /// Converts what passes the filters of a trace into a folder; `None` where no event does.
    ///
    /// # Errors
    /// Where the trace cannot be read or converted.
    pub(super) fn passing_into(
        &self,
        staging: &Staging,
        recording: &Recording,
        run: &Run,
    ) -> Result<Option<PublishedTrace>> {
        let mut options = self.options.clone();
        staging.path().clone_into(&mut options.out);
        match run.job(&recording.name, |progress| convert(recording, &options, progress))? {
            Outcome::Published(report) => Ok(Some(PublishedTrace::in_folder(&report.folder))),
            Outcome::Empty(_) => Ok(None),
            _ => Err(Error::bug("expected a converted trace")),
        }
    }
}

/// Refuses an option that decides how traces are converted, where all are converted already.
///
/// # Errors
/// [`ErrorKind::Usage`] where one is typed.
pub(super) fn refuse_for_converted(typed: Option<&str>) -> Result<()> {
    let Some(name) = typed else { return Ok(()) };
    let message = format!("--{name} is for traces that are not converted, and all of these are");
    Err(Error::new(ErrorKind::Usage, message).with_hint("convert the traces again with it"))
}

/// What a converted trace is called.
fn name_of(trace: &PublishedTrace) -> String {
    let name = trace.folder().file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    name.strip_prefix("trace=").map(str::to_owned).unwrap_or(name)
}

/// Where traces are converted to: a folder that goes with the run, however it ends.
pub(super) struct Staging {
    folder: TempDir,
    /// Removes it where the program is ended at once.
    #[expect(dead_code, reason = "it is kept for as long as the folder")]
    cleanup: CleanupRegistry,
}

impl Staging {
    /// Makes one in a folder.
    ///
    /// # Errors
    /// [`ErrorKind::Output`] where it cannot be made.
    pub(super) fn make_in(parent: &Path, run: &Run) -> Result<Staging> {
        let mut name = Builder::new();
        name.prefix(".etl2parquet-").suffix(".tmp");
        let made = run.interrupt.cleanup().temporary(|| name.tempdir_in(parent));
        let (folder, cleanup) = made.map_err(|cause| {
            Error::new(ErrorKind::Output, "cannot make a temporary folder").in_file(parent).caused_by(cause)
        })?;
        Ok(Staging { folder, cleanup })
    }

    /// The folder.
    pub(super) fn path(&self) -> &Path {
        self.folder.path()
    }
}
