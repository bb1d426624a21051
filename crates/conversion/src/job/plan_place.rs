//! Where the files of a plan lie, in a folder of this system or in a store.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use base::error::Result;
use base::remote;
use columnar::output::folder::{CleanupRegistry, no_plan, plan_name};
use columnar::output::remote_store::RemoteStore;
use columnar::output::{LocalFolder, PlanOutput, RemoteOutput, clean};
use etl::input::OpenOptions;
use spill::SpillSpace;

use crate::convert::JobProgress;

/// Where a plan lies, and where the trace is published that it becomes.
#[derive(Debug)]
pub struct PlanPlace {
    /// The files of the plan, and those of the trace.
    pub output: Arc<dyn PlanOutput>,
    /// The folder of the output: members of archives are unpacked there unless [`StepOptions::open`](super::steps::StepOptions::open) says otherwise.
    pub out: PathBuf,
    /// What the trace is called in messages.
    pub target: PathBuf,
    /// For what does not fit into memory.
    pub space: SpillSpace,
}

impl PlanPlace {
    /// The folder of a plan on this system.
    pub fn local(folder: LocalFolder) -> PlanPlace {
        let (out, target) = (folder.out().to_owned(), folder.target());
        PlanPlace { out, target, space: SpillSpace::new(folder.folder()), output: Arc::new(folder) }
    }

    /// That of the plan of a trace with this hash in an output folder, or below its address.
    pub(super) fn begin(
        out: &Path,
        (name, hash): (&str, &str),
        open: &OpenOptions,
        progress: &dyn JobProgress,
    ) -> Result<PlanPlace> {
        if let Some(url) = remote::url_of(out) {
            return PlanPlace::remote(&url, (name, hash), open, progress);
        }
        Ok(PlanPlace::local(LocalFolder::create_plan(&progress.cleanup(), out, name, hash)?))
    }

    /// The plan of a trace below the address of a store; what is not sent yet lies in a folder that `open` says.
    fn remote(
        url: &str,
        (name, hash): (&str, &str),
        open: &OpenOptions,
        progress: &dyn JobProgress,
    ) -> Result<PlanPlace> {
        let output = RemoteOutput::plan((url, name, hash), &open.folder(), &progress.cleanup(), progress.stop())?;
        let (target, space) = (output.target(), SpillSpace::new(output.spool()));
        Ok(PlanPlace { out: url.into(), target, space, output: Arc::new(output) })
    }

    /// That of a plan whose folder or address is known.
    pub(super) fn of(
        folder: &Path,
        open: &OpenOptions,
        progress: &dyn JobProgress,
        local: OpenPlan,
    ) -> Result<PlanPlace> {
        let Some(url) = remote::url_of(folder) else {
            return Ok(PlanPlace::local(local(&progress.cleanup(), folder)?));
        };
        let out = url.rsplit_once('/').map(|(out, _)| out);
        let (out, named) = out.zip(plan_name(folder)).ok_or_else(|| no_plan(folder))?;
        PlanPlace::remote(out, named, open, progress)
    }
}

/// Opens the folder of a plan.
type OpenPlan = fn(&CleanupRegistry, &Path) -> Result<LocalFolder>;

/// Removes what is left of a plan whose trace is published.
pub(super) fn discard(folder: &Path) -> Result<()> {
    match remote::url_of(folder) {
        Some(url) => clean::remove_below(&RemoteStore::new(&url), ""),
        None => LocalFolder::discard_plan(folder),
    }
}
