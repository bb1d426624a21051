//! Inputs of the benches: synthetic traces on disk, the same for every run.

use std::io::Write;
use std::path::Path;

use base::clock::ClockAnchor;
use base::progress::NoProgress;
use conversion::plan::{self, PlanOptions, PlanResult};
use conversion::survey::{self, FileSurvey, SurveyOptions};
use etl::input::{Inputs, LocalFile};
use tempfile::{NamedTempFile, TempPath};

use crate::synth::{Bulk, bulk};

/// Events of a bench's trace: 13 MB, a few milliseconds per stage.
const EVENTS: u64 = 150_000;

/// Eight providers and four processors.
pub(crate) fn trace() -> Bulk {
    bulk(EVENTS, 8, 4, 1)
}

pub(crate) fn on_disk(trace: &Bulk) -> TempPath {
    let mut file = NamedTempFile::with_suffix(".etl").expect("the temporary folder can be written");
    file.write_all(&trace.to_bytes()).expect("the temporary folder has room");
    file.into_temp_path()
}

pub(crate) fn surveyed(path: &Path) -> FileSurvey {
    let options = SurveyOptions { anchor: ClockAnchor::Start, hash: false, ..SurveyOptions::default() };
    let source = LocalFile::open(path).expect("the trace was written just now");
    survey::survey(&source, String::new(), &options, &NoProgress).expect("the trace is valid")
}

pub(crate) fn inputs(files: &[FileSurvey]) -> Inputs {
    Inputs::local(files.iter().map(|file| file.identity.clone()))
}

pub(crate) fn planned(files: &[FileSurvey]) -> PlanResult {
    plan::plan(files, &inputs(files), &PlanOptions::default(), &NoProgress).expect("the trace is valid").0
}
