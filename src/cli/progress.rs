//! How far a job is, on standard error.

use std::io::{self, IsTerminal};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use base::progress::{Progress, Step};
use base::readable::count::{ByteCount, Count};
use base::readable::printable::printable;
use base::remote::Stop;
use columnar::output::folder::CleanupRegistry;
use conversion::convert::{JobProgress, Stage};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use super::choices::ProgressMode;
use super::console::Console;
use super::interrupt::Interrupt;
use super::log;
use super::stopwatch::{Stopwatch, Times};

/// Time between two lines where there is no terminal to draw a bar on.
pub(super) const LINE_INTERVAL: Duration = Duration::from_secs(5);

const BYTES: &str = "{prefix} {msg:<8} [{bar:32}] {percent:>3}%  {binary_bytes} of {binary_total_bytes}  {eta} left";
const EVENTS: &str = "{prefix} {msg:<8} [{bar:32}] {percent:>3}%  {human_pos} of {human_len} events  {eta} left";
const STEP: &str = "{prefix} {msg}";

/// How progress is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum DisplayMode {
    Nothing,
    Bar,
    Lines,
}

impl DisplayMode {
    /// What the user's choice means where the program runs.
    pub(super) fn of(mode: ProgressMode, quiet: bool) -> DisplayMode {
        match (mode, io::stderr().is_terminal()) {
            _ if quiet => DisplayMode::Nothing,
            // A machine that asks for it gets lines.
            (ProgressMode::Auto, _) if log::is_json() => DisplayMode::Nothing,
            (ProgressMode::Always, _) if log::is_json() => DisplayMode::Lines,
            (ProgressMode::Never, _) | (ProgressMode::Auto, false) => DisplayMode::Nothing,
            (_, true) => DisplayMode::Bar,
            (ProgressMode::Always, false) => DisplayMode::Lines,
        }
    }
}

/// The progress of one job.
#[derive(Debug)]
pub(super) struct ProgressDisplay<'a> {
    interrupt: &'a Interrupt,
    stopwatch: Stopwatch,
    display: Display,
}

#[derive(Debug)]
enum Display {
    Nothing,
    Bar(ProgressBar),
    Lines(LogLines),
}

impl<'a> ProgressDisplay<'a> {
    /// A display that calls the job by `label`.
    pub(super) fn new(show: DisplayMode, label: &str, interrupt: &'a Interrupt) -> Self {
        let label = printable(label).into_owned();
        let display = match show {
            DisplayMode::Nothing => Display::Nothing,
            DisplayMode::Bar => {
                let bar = ProgressBar::with_draw_target(Some(1), ProgressDrawTarget::stderr());
                // Without a style it would draw a bar of its own, of nothing.
                bar.set_style(style(STEP));
                bar.set_prefix(label);
                Display::Bar(bar)
            }
            DisplayMode::Lines => Display::Lines(LogLines::new(label)),
        };
        ProgressDisplay { interrupt, stopwatch: Stopwatch::default(), display }
    }

    /// Where the time of the job went until now.
    pub(super) fn times(&self) -> Times {
        self.stopwatch.read(Instant::now())
    }
}

impl Drop for ProgressDisplay<'_> {
    fn drop(&mut self) {
        if let Display::Bar(bar) = &self.display {
            bar.finish_and_clear();
        }
    }
}

impl Progress for ProgressDisplay<'_> {
    fn advance(&self, amount: u64) {
        match &self.display {
            Display::Nothing => {}
            Display::Bar(bar) => bar.inc(amount),
            Display::Lines(lines) => lines.advance(amount),
        }
    }

    fn is_cancelled(&self) -> bool {
        self.interrupt.is_set()
    }

    fn stop(&self) -> Stop {
        self.interrupt.stop()
    }

    fn worked(&self, step: Step, time: Duration) {
        self.stopwatch.worked(step, time);
    }
}

impl JobProgress for ProgressDisplay<'_> {
    fn cleanup(&self) -> CleanupRegistry {
        self.interrupt.cleanup()
    }

    fn stage(&self, stage: Stage) {
        self.stopwatch.lap(phase_name(stage), Instant::now());
        match &self.display {
            Display::Nothing => {}
            Display::Bar(bar) => begin(bar, stage),
            Display::Lines(lines) => lines.begin(stage),
        }
    }
}

/// Starts the bar over for the next stage.
fn begin(bar: &ProgressBar, stage: Stage) {
    let (template, total) = match stage {
        Stage::Unpack { bytes } | Stage::Survey { bytes } => (BYTES, bytes),
        Stage::Convert { events } => (EVENTS, events),
        Stage::Plan | Stage::Publish => (STEP, 1),
    };
    // The style first, so that no other is drawn with these numbers.
    bar.set_style(style(template));
    bar.set_message(phase_name(stage));
    bar.set_length(total);
    bar.reset();
    bar.tick();
}

fn style(template: &str) -> ProgressStyle {
    let style = ProgressStyle::with_template(template).expect("the templates above are valid");
    style.progress_chars("=> ")
}

pub(super) fn phase_name(stage: Stage) -> &'static str {
    match stage {
        Stage::Unpack { .. } => "unpack",
        Stage::Survey { .. } => "survey",
        Stage::Plan => "plan",
        Stage::Convert { .. } => "convert",
        Stage::Publish => "publish",
    }
}

/// Progress as lines of text, a few per minute.
#[derive(Debug)]
struct LogLines {
    label: String,
    done: AtomicU64,
    state: Mutex<LineState>,
}

#[derive(Debug)]
struct LineState {
    stage: Stage,
    next: Instant,
}

impl LogLines {
    fn new(label: String) -> Self {
        let state = LineState { stage: Stage::Publish, next: Instant::now() };
        LogLines { label, done: AtomicU64::new(0), state: Mutex::new(state) }
    }

    fn begin(&self, stage: Stage) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        self.done.store(0, Ordering::Relaxed);
        *state = LineState { stage, next: Instant::now() + LINE_INTERVAL };
        self.write(stage, 0);
    }

    fn advance(&self, amount: u64) {
        let done = self.done.fetch_add(amount, Ordering::Relaxed).saturating_add(amount);
        // Whoever finds the lock taken leaves the line to the one that has it.
        let Ok(mut state) = self.state.try_lock() else { return };
        let now = Instant::now();
        if now >= state.next {
            state.next = now + LINE_INTERVAL;
            self.write(state.stage, done);
        }
    }

    fn write(&self, stage: Stage, done: u64) {
        Console::default().line(line(&self.label, stage, done));
    }
}

/// One line of text.
pub(super) fn line(label: &str, stage: Stage, done: u64) -> String {
    let percent = |total: u64| u128::from(done.min(total)) * 100 / u128::from(total.max(1));
    let name = phase_name(stage);
    match stage {
        Stage::Unpack { bytes } | Stage::Survey { bytes } => {
            format!("{label} {name}: {}% ({} of {})", percent(bytes), ByteCount(done), ByteCount(bytes))
        }
        Stage::Convert { events } => {
            format!("{label} {name}: {}% ({} of {} events)", percent(events), Count(done), Count(events))
        }
        Stage::Plan | Stage::Publish => format!("{label} {name}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_say_how_much_of_what_is_done() {
        let t = |stage, done, expected: &str| assert_eq!(line("boot", stage, done), expected);
        t(Stage::Survey { bytes: 4 << 20 }, 1 << 20, "boot survey: 25% (1.00 MiB of 4.00 MiB)");
        t(Stage::Convert { events: 2000 }, 1999, "boot convert: 99% (1,999 of 2,000 events)");
        t(Stage::Convert { events: 0 }, 0, "boot convert: 0% (0 of 0 events)");
        t(Stage::Plan, 0, "boot plan");
        t(Stage::Publish, 0, "boot publish");
    }

    #[test]
    fn every_template_is_valid() {
        let bar = ProgressBar::hidden();
        let stages =
            [Stage::Unpack { bytes: 3 }, Stage::Survey { bytes: 7 }, Stage::Plan, Stage::Convert { events: 9 }];
        for stage in stages.into_iter().chain([Stage::Publish]) {
            begin(&bar, stage);
            assert_eq!(bar.message(), phase_name(stage));
        }
        assert_eq!(bar.length(), Some(1));
    }

    #[test]
    fn quiet_shows_nothing() {
        for mode in [ProgressMode::Auto, ProgressMode::Always, ProgressMode::Never] {
            assert_eq!(DisplayMode::of(mode, true), DisplayMode::Nothing);
        }
        assert_eq!(DisplayMode::of(ProgressMode::Never, false), DisplayMode::Nothing);
        assert_ne!(DisplayMode::of(ProgressMode::Always, false), DisplayMode::Nothing);
    }
}
