//! What a run of many recordings is asked for, besides the conversion of each.

use std::ffi::OsString;
use std::path::PathBuf;

use base::names::NameFrom;
use base::words;
use columnar::output::IfExists;
use etl::input::OpenOptions;

use super::missing::GivenFilters;

/// What becomes of an input that cannot be read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OnBadInput {
    /// It is named with its reason, and the run goes on.
    #[default]
    Quarantine,
    /// The run stops.
    Fail,
}

words! { OnBadInput {
    Quarantine = "quarantine": "Name it with its reason, in the summary too, and go on with the others",
    Fail = "fail": "Stop",
} }

/// A run of many recordings.
#[derive(Clone, Debug, Default)]
pub struct BatchOptions {
    /// Files, folders, patterns, lists, archives.
    pub inputs: Vec<OsString>,
    /// How they are opened.
    pub open: OpenOptions,
    /// The output folder.
    pub output: PathBuf,
    /// What becomes of a trace that is there already.
    pub if_exists: IfExists,
    /// Which inputs become one recording: none, all of them as one of this name, or `auto`.
    pub merge: Option<String>,
    /// What names the recordings.
    pub name_from: NameFrom,
    /// The filters, for what is said about them.
    pub filters: GivenFilters,
    /// What becomes of an input that cannot be read.
    pub on_bad_input: OnBadInput,
    /// Gets a record of each input in quarantine.
    pub quarantine_dir: Option<PathBuf>,
    /// What the caller calls the run.
    pub run_id: Option<String>,
}
