//! One look at recordings of a run: they are converted, several at a time where they are small.

use base::error::Result;
use batch::lanes;
use conversion::convert::ConvertOptions;
use conversion::convert::job::{Outcome, Recording};
use conversion::job::workers::Workers;

use super::board::Board;
use super::run::{Run, caught, label};

/// What every look of a run uses.
pub(super) struct Look<'a> {
    pub run: &'a Run,
    pub workers: &'a Workers,
    pub jobs: &'a [Recording],
    pub options: &'a ConvertOptions,
}

impl Look<'_> {
    /// Converts the recordings at these positions, and tells what became of each, in that order. When `tell` says that it is
    /// enough, no further one begins.
    pub(super) fn at(&self, positions: &[usize], mut tell: impl FnMut(usize, Result<Outcome>) -> bool) {
        match (self.jobs, positions) {
            ([job], [position]) => {
                let done = self.run.job(&job.name, |progress| self.workers.convert(job, self.options, progress));
                tell(*position, done);
            }
            _ => self.at_several(positions, tell),
        }
    }

    fn at_several(&self, positions: &[usize], mut tell: impl FnMut(usize, Result<Outcome>) -> bool) {
        let Look { run, workers, jobs, options } = self;
        let label = |position: usize| label(&jobs[position].name, position, jobs.len());
        let board = Board::new(run.display_mode, positions.len(), &run.interrupt);
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
                run.tell_times(&label(positions[place]), &times);
                tell(positions[place], outcome)
            })
        });
    }
}
