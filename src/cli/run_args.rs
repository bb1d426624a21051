//! What can be typed about how a command runs. Doc comments are help texts, as in [`super::args`].

use base::sizes::parse_size;
use base::words::Words;
use clap::{Args, value_parser};

use super::choices::{ProgressMode, words};

#[derive(Debug, Args)]
#[command(next_help_heading = "Running")]
pub(super) struct RunArgs {
    /// Threads [default: as many as this process may use, on Linux within its control group]
    #[arg(long, value_name = "N")]
    #[arg(value_parser = value_parser!(u16).range(1..=1024))]
    pub threads: Option<u16>,
    /// Memory budget, in bytes or with a unit (MiB, GiB); at least 384 MiB
    ///
    /// [default: 512 MiB and 128 MiB per thread, on Linux at most a quarter of what the machine or container has]
    #[arg(long, value_name = "SIZE", value_parser = parse_size)]
    pub memory: Option<u64>,
    /// Without effect: files are never mapped into memory
    #[arg(long, hide = true)]
    pub no_mmap: bool,
    /// Progress display on standard error
    #[arg(long, value_name = "WHEN")]
    #[arg(value_parser = words::<ProgressMode>(), default_value = ProgressMode::default().word())]
    pub progress: ProgressMode,
    /// Errors only: no progress, no warnings, no summary
    #[arg(short, long)]
    pub quiet: bool,
    /// More detail on standard error: resources, the first issues of each input, and where the time went; not
    /// with --quiet
    #[arg(short, long)]
    pub verbose: bool,
}
