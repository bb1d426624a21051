//! The end of a conversion: accounts, sidecar, commit record, one rename.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Instant, SystemTime};

use base::error::Result;
use base::progress::{Step, stop_if_cancelled, timed};
use columnar::output::manifest::MANIFEST_PATH;
use columnar::output::{FileEntry, IfExists, Output, Published, StagedName};

use super::record::{self, RunContext};
use super::report::{all_filtered, of_survey, without_the_past};
use super::{account, checks};
use crate::convert::part_report::{JoinedCounts, PartReport};
use crate::convert::seen::{RowOwners, SeenIds};
use crate::convert::write_options::WriteOptions;
use crate::convert::{Checks, JobProgress, Outcome, Report, Stage, Surveyed};
use crate::dimensions::{Dimensions, Owners};
use crate::plan::{CompiledFilter, Partition};
use crate::sidecar::{self, SidecarFacts, SidecarTarget};

/// What a commit needs besides survey, plan and reports.
#[derive(Debug)]
pub struct Commit<'a> {
    /// Name of the trace, without `trace=`.
    pub name: &'a str,
    /// Where the trace will be, for messages.
    pub target: PathBuf,
    /// What ids meant.
    pub dimensions: &'a Dimensions,
    /// How files are written.
    pub options: &'a WriteOptions,
    /// What keeps the trace from being published.
    pub checks: &'a Checks,
    /// What to do about a trace that is there already.
    pub if_exists: IfExists,
    /// What the record says of the run.
    pub run: RunContext,
    /// When the run began.
    pub started: (SystemTime, Instant),
    /// The event files that other processes have written.
    pub staged: Vec<StagedName>,
}

/// A trace of which nothing is left to compute.
#[derive(Debug)]
pub enum Finished {
    /// To be published.
    Ready {
        /// What is reported of it.
        report: Box<Report>,
        /// Its files.
        files: Vec<StagedName>,
        /// What to do about a trace that is there already.
        if_exists: IfExists,
    },
    /// What became of it instead.
    Done(Outcome),
}

impl Finished {
    /// Publishes the trace, if it is to be. Waits for disks, and so is not to be called in the pool.
    ///
    /// # Errors
    /// Of the kind `Output` when the trace is there already or cannot be written, `Interrupted` when the caller asked to
    /// stop; nothing is published then.
    pub fn publish(self, output: &Arc<dyn Output>, progress: &dyn JobProgress) -> Result<Outcome> {
        match self {
            Finished::Done(outcome) => Ok(outcome),
            Finished::Ready { report, files, if_exists } => {
                let Published { folder, warnings } = output.publish(&files, if_exists, progress)?;
                Ok(Outcome::Published(Box::new(Report { folder, warnings, ..*report })))
            }
        }
    }
}

impl Commit<'_> {
    /// Finishes what the reports describe, if the accounts are right; `check_inputs` is asked last whether the inputs are
    /// still what they were.
    ///
    /// # Errors
    /// Of the kind `Internal` when the counts do not meet or an input has changed, `Output` when a file cannot be written,
    /// `Interrupted` when the caller asked to stop.
    pub fn finish(
        self,
        surveyed: Surveyed,
        partitions: &[Partition],
        reports: Vec<PartReport>,
        output: &Arc<dyn Output>,
        check_inputs: impl FnOnce() -> Result<()>,
        progress: &dyn JobProgress,
    ) -> Result<Finished> {
        let shapes = surveyed.plan.shapes.len();
        let (counts, events) = account::account(&surveyed.files, shapes, partitions, &reports, account::rows_in_files)?;
        let target = self.target.clone();
        let asks_whose = surveyed.plan.filter.as_ref().is_some_and(CompiledFilter::asks_whose);
        let owners = asks_whose.then(|| self.owners(&counts.seen));
        if events.written == 0 && events.filtered > 0 {
            let report = Report { owners, ..all_filtered(of_survey(&target, surveyed)) };
            return Ok(Finished::Done(Outcome::Empty(Box::new(report))));
        }
        progress.stage(Stage::Publish);
        stop_if_cancelled(progress)?;
        let partitions = Some(partitions.len() as u64);
        let mut written: Vec<FileEntry> = reports.into_iter().flat_map(|report| report.files).collect();
        let sidecar = || self.write_sidecar(&surveyed, &counts, &written, output, progress);
        let sidecar = timed(progress, Step::Publish, sidecar)?;
        written.extend(sidecar);
        let JoinedCounts { shapes, time_range, decode, .. } = counts;
        let time_range = time_range.map(|range| without_the_past(range, &surveyed.facts));
        let known = of_survey(&target, surveyed);
        let report = Report { shapes, events, decode, partitions, owners, written, time_range, ..known };
        if let Some(reason) = checks::check_result(&report, self.checks) {
            return Ok(Finished::Done(Outcome::Refused(Box::new(report), reason)));
        }
        stop_if_cancelled(progress)?;
        timed(progress, Step::Publish, || {
            let mut run = record::run(&self.run, &report.files, self.started);
            run.data = output.data_folder().map(str::to_owned);
            let manifest = record::manifest(self.name, self.options.settings.clone(), &report, run);
            output.write(MANIFEST_PATH, manifest.to_json()?.as_bytes())?;
            check_inputs()
        })?;
        stop_if_cancelled(progress)?;
        // What others have written first; of the rest every file is this process's own.
        let others = self.staged.len();
        let paths = report.written.iter().skip(others).map(|file| file.path.as_str()).chain([MANIFEST_PATH]);
        let own: Vec<StagedName> = paths.map(|path| output.own(path)).collect();
        let files = [self.staged, own].concat();
        Ok(Finished::Ready { report: Box::new(report), files, if_exists: self.if_exists })
    }

    /// Whose rows with these ids are.
    fn owners(&self, seen: &SeenIds) -> RowOwners {
        let owners = Owners::of(self.dimensions);
        let text = |number: &u32| owners.names().text(*number as usize).map(str::to_owned);
        RowOwners {
            seen: seen.clone(),
            names: seen.names.iter().filter_map(text).collect(),
            all_names: owners.names().texts().flatten().map(str::to_owned).collect(),
        }
    }

    fn write_sidecar(
        &self,
        surveyed: &Surveyed,
        counts: &JoinedCounts,
        events: &[FileEntry],
        output: &Arc<dyn Output>,
        progress: &dyn JobProgress,
    ) -> Result<Vec<FileEntry>> {
        let facts = SidecarFacts {
            files: &surveyed.files,
            facts: &surveyed.facts,
            file_counts: &counts.inputs,
            plan: &surveyed.plan,
            shape_counts: &counts.shapes,
            dimensions: self.dimensions,
            trace: self.name,
            events,
        };
        let (encode, types) = (self.options.encode_options(), self.options.types);
        let target = SidecarTarget { output: Arc::clone(output), encode, types, scripts: self.options.views, progress };
        sidecar::write(&target, &facts)
    }
}
