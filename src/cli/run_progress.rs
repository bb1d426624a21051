//! How far a run of many traces is, several of which are at work at a time.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use base::progress::{Progress, Step};
use base::readable::printable::printable;
use base::remote::Stop;
use columnar::output::folder::CleanupRegistry;
use conversion::convert::{JobProgress, Stage};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use super::console::Console;
use super::interrupt::Interrupt;
use super::progress::{DisplayMode, LINE_INTERVAL, line, phase_name};
use super::stopwatch::{Stopwatch, Times};

const TRACES: &str = "[{bar:32}] {pos} of {len} traces  {eta} left  {wide_msg}";

/// Time between two looks at what the first of the traces at work is doing, where there is a bar.
const BAR_INTERVAL: Duration = Duration::from_millis(100);

/// One display for all traces of a run.
#[derive(Debug)]
pub(super) struct RunProgress<'a> {
    interrupt: &'a Interrupt,
    traces: usize,
    /// `None` for lines of text.
    bar: Option<ProgressBar>,
    is_shown: bool,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    done: usize,
    at_work: BTreeMap<usize, Work>,
    next: Instant,
}

/// A trace at work.
#[derive(Clone, Debug)]
struct Work {
    label: String,
    stage: Stage,
    done: Arc<AtomicU64>,
}

/// The progress of one of the traces.
#[derive(Debug)]
pub(super) struct TraceProgress<'a> {
    board: &'a RunProgress<'a>,
    position: usize,
    label: String,
    done: Arc<AtomicU64>,
    cleanup: CleanupRegistry,
    stopwatch: Stopwatch,
}

impl<'a> RunProgress<'a> {
    /// For so many traces.
    pub(super) fn new(mode: DisplayMode, traces: usize, interrupt: &'a Interrupt) -> Self {
        let bar = (mode == DisplayMode::Bar).then(|| {
            let bar = ProgressBar::with_draw_target(Some(traces as u64), ProgressDrawTarget::stderr());
            bar.set_style(style());
            bar
        });
        let interval = if bar.is_some() { BAR_INTERVAL } else { LINE_INTERVAL };
        let state = Mutex::new(State { done: 0, at_work: BTreeMap::new(), next: Instant::now() + interval });
        RunProgress { interrupt, traces, bar, is_shown: mode != DisplayMode::Nothing, state }
    }

    /// A trace begins.
    pub(super) fn begin(&self, position: usize, label: &str) -> TraceProgress<'_> {
        TraceProgress {
            board: self,
            position,
            label: printable(label).into_owned(),
            done: Arc::default(),
            cleanup: self.interrupt.cleanup().beside(),
            stopwatch: Stopwatch::default(),
        }
    }

    /// Something is written to standard error, without a bar in its midst.
    pub(super) fn suspend<T>(&self, write: impl FnOnce() -> T) -> T {
        match &self.bar {
            Some(bar) => bar.suspend(write),
            None => write(),
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Shows what the first trace at work is doing, now and then.
    fn show(&self, state: &mut State) {
        let now = Instant::now();
        if now < state.next {
            return;
        }
        state.next = now + if self.bar.is_some() { BAR_INTERVAL } else { LINE_INTERVAL };
        let text = state.text(self.traces);
        match &self.bar {
            Some(bar) => {
                bar.set_message(text);
                bar.set_position(state.done as u64);
            }
            None => Console::default().line(format_args!("{} of {} traces; {text}", state.done, self.traces)),
        }
    }
}

impl State {
    fn text(&self, traces: usize) -> String {
        let Some(Work { label, stage, done }) = self.at_work.values().next() else {
            return format!("{} left", traces.saturating_sub(self.done));
        };
        let first = line(label, *stage, done.load(Ordering::Relaxed));
        match self.at_work.len() - 1 {
            0 => first,
            others => format!("{first}, and {others} more at work"),
        }
    }
}

impl Drop for RunProgress<'_> {
    fn drop(&mut self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

impl TraceProgress<'_> {
    /// Where the time of the trace went until now.
    pub(super) fn times(&self) -> Times {
        self.stopwatch.read(Instant::now())
    }
}

impl Drop for TraceProgress<'_> {
    fn drop(&mut self) {
        let mut state = self.board.state();
        state.done += 1;
        state.at_work.remove(&self.position);
    }
}

impl Progress for TraceProgress<'_> {
    fn advance(&self, amount: u64) {
        if !self.board.is_shown {
            return;
        }
        self.done.fetch_add(amount, Ordering::Relaxed);
        // Whoever finds the lock taken leaves it to the one that has it.
        if let Ok(mut state) = self.board.state.try_lock() {
            self.board.show(&mut state);
        }
    }

    fn is_cancelled(&self) -> bool {
        self.board.interrupt.is_set()
    }

    fn stop(&self) -> Stop {
        self.board.interrupt.stop()
    }

    fn worked(&self, step: Step, time: Duration) {
        self.stopwatch.worked(step, time);
    }
}

impl JobProgress for TraceProgress<'_> {
    fn cleanup(&self) -> CleanupRegistry {
        self.cleanup.clone()
    }

    fn stage(&self, stage: Stage) {
        self.stopwatch.lap(phase_name(stage), Instant::now());
        if !self.board.is_shown {
            return;
        }
        self.done.store(0, Ordering::Relaxed);
        let mut state = self.board.state();
        let work = Work { label: self.label.clone(), stage, done: Arc::clone(&self.done) };
        state.at_work.insert(self.position, work);
        self.board.show(&mut state);
    }
}

fn style() -> ProgressStyle {
    ProgressStyle::with_template(TRACES).expect("the template above is valid").progress_chars("=> ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_trace_at_work_is_shown() {
        let interrupt = Interrupt::default();
        let board = RunProgress::new(DisplayMode::Lines, 3, &interrupt);
        let text = || board.state().text(3);
        assert_eq!(text(), "3 left");
        let (boot, login) = (board.begin(0, "[1/3] boot"), board.begin(1, "[2/3] login"));
        login.stage(Stage::Plan);
        boot.stage(Stage::Convert { events: 1000 });
        boot.advance(250);
        assert_eq!(text(), "[1/3] boot convert: 25% (250 of 1,000 events), and 1 more at work");
        drop(boot);
        assert_eq!(text(), "[2/3] login plan");
        drop(login);
        assert_eq!((text(), board.state().done), ("1 left".to_owned(), 2));
    }

    #[test]
    fn the_template_is_valid() {
        let _ = style();
    }
}
