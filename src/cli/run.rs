//! What all commands share: threads, memory, signals, progress.

use base::error::{Error, ErrorKind, Result};
use base::readable::count::ByteCount;
use base::remote;
use base::resources::{MIN_MEMORY, default_threads, memory_budget};
use batch::notice::Notice;
use batch::{Observer, RunStatus, caught};
use conversion::convert::{JobProgress, Report};
use conversion::job::steps::StepOptions;
use etl::input::OpenOptions;

use super::arenas;
use super::console::{self, Console};
use super::fold::Width;
use super::interrupt::Interrupt;
use super::log;
use super::progress::{DisplayMode, ProgressDisplay};
use super::run_args::RunArgs;
use super::stopwatch::Times;

/// A run of a command.
#[derive(Debug)]
pub(super) struct Run {
    /// What is said.
    pub console: Console,
    /// Whether to stop.
    pub interrupt: Interrupt,
    /// Threads of a job.
    pub threads: usize,
    /// Memory budget in bytes.
    pub memory: u64,
    /// How progress is shown.
    pub display_mode: DisplayMode,
}

impl Run {
    /// Settles what the run may use.
    ///
    /// # Errors
    /// [`ErrorKind::Internal`] when the system gives no signals.
    pub(super) fn start(args: &RunArgs) -> Result<Self> {
        let console = Console { quiet: args.quiet, verbose: args.verbose && !args.quiet };
        let threads = args.threads.map_or_else(default_threads, usize::from);
        let memory = memory_budget(args.memory, threads);
        arenas::keep_few(threads, memory);
        if let Some(asked) = args.memory.filter(|&asked| asked < MIN_MEMORY) {
            let (asked, minimum) = (ByteCount(asked), ByteCount(MIN_MEMORY));
            console.warning(format_args!("a memory budget of {asked} is too small: {minimum} are used"));
        }
        if console.verbose {
            console.line(format_args!("threads: {threads}, memory: {}", ByteCount(memory)));
        }
        let interrupt = Interrupt::watch()
            .map_err(|cause| Error::new(ErrorKind::Internal, "cannot watch for signals").caused_by(cause))?;
        remote::stop_by(interrupt.stop());
        Ok(Run { console, interrupt, threads, memory, display_mode: DisplayMode::of(args.progress, args.quiet) })
    }

    /// What a step may use.
    pub(super) fn step_options(&self, open: OpenOptions) -> StepOptions {
        StepOptions { threads: self.threads, memory: self.memory, open, run_id: None }
    }

    /// Says what is not as it should be in the output folder.
    pub(super) fn report(&self, report: &Report) {
        report.warnings.iter().for_each(|warning| self.console.warning(warning));
    }

    /// Says why a command ends without a result; returns the exit code.
    pub(super) fn failed(&self, error: &Error) -> u8 {
        let mut status = RunStatus::default();
        self.fail(&mut status, error);
        status.code()
    }

    /// Says what failed, and counts it for the exit code.
    pub(super) fn fail(&self, status: &mut RunStatus, error: &Error) {
        console::error(error);
        status.fail(error.kind(), self.interrupt.code());
    }

    /// Does the work of a job. A panic is an internal error, and the other jobs go on.
    ///
    /// # Errors
    /// Those of the job, and [`ErrorKind::Internal`] for a panic.
    pub(super) fn job<T>(&self, label: &str, work: impl FnOnce(&dyn JobProgress) -> Result<T>) -> Result<T> {
        let display = ProgressDisplay::new(self.display_mode, label, &self.interrupt);
        let done = caught(|| work(&display));
        let times = display.times();
        // A bar must be gone before anything is written.
        drop(display);
        self.show_times(label, &times);
        done
    }

    /// With `-v`, where the time of a job went.
    pub(super) fn show_times(&self, label: &str, times: &Times) {
        if self.console.verbose {
            self.console.page(&times.page(label, Width::of_stderr()));
        }
    }
}

impl Observer for Run {
    fn say(&self, notice: &Notice) {
        Observer::say(&self.console, notice);
    }

    fn is_verbose(&self) -> bool {
        self.console.verbose
    }

    fn hears_each(&self) -> bool {
        log::is_json()
    }

    fn is_interrupted(&self) -> bool {
        self.interrupt.is_set()
    }

    fn interrupted_code(&self) -> u8 {
        self.interrupt.code()
    }
}

/// What a job is called while it runs.
pub(super) fn label(name: &str, position: usize, jobs: usize) -> String {
    if jobs == 1 { name.to_owned() } else { format!("[{}/{jobs}] {name}", position + 1) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_job_needs_no_number() {
        assert_eq!(label("boot", 0, 1), "boot");
        assert_eq!(label("boot", 1, 12), "[2/12] boot");
    }
}
