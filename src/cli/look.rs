//! Recordings of a run are converted, several at a time where they are small.

use base::error::Result;
use batch::{Converter, caught, lanes};
use conversion::convert::ConvertOptions;
use conversion::convert::{Outcome, Recording};
use conversion::job::workers::Workers;

use super::run::{Run, label};
use super::run_progress::RunProgress;

/// Converts recordings, and shows how far they are.
pub(super) struct Look<'a> {
    pub run: &'a Run,
    pub workers: &'a Workers,
}

impl Converter for Look<'_> {
    fn convert(
        &self,
        jobs: &[Recording],
        positions: &[usize],
        options: &ConvertOptions,
        report: &mut dyn FnMut(usize, Result<Outcome>) -> bool,
    ) {
        match (jobs, positions) {
            ([job], [position]) => {
                let done = self.run.job(&job.name, |progress| self.workers.convert(job, options, progress));
                report(*position, done);
            }
            _ => self.convert_several(jobs, positions, options, report),
        }
    }
}

impl Look<'_> {
    fn convert_several(
        &self,
        jobs: &[Recording],
        positions: &[usize],
        options: &ConvertOptions,
        report: &mut dyn FnMut(usize, Result<Outcome>) -> bool,
    ) {
        let Look { run, workers } = self;
        let label = |position: usize| label(&jobs[position].name, position, jobs.len());
        let board = RunProgress::new(run.display_mode, positions.len(), &run.interrupt);
        let work = |place: usize| {
            let job = &jobs[positions[place]];
            if run.interrupt.is_set() {
                return None;
            }
            let progress = board.begin(place, &label(positions[place]));
            let outcome = caught(|| workers.convert(job, options, &progress));
            options.open.shared.forget(job.addresses());
            Some((outcome, progress.times()))
        };
        lanes::drive(positions.len(), workers.lanes(), work, |place, done| {
            let Some((outcome, times)) = done else { return false };
            board.suspend(|| {
                run.show_times(&label(positions[place]), &times);
                report(positions[place], outcome)
            })
        });
    }
}
