//! Where the time of a job went.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use base::progress::{Parallelism, Step};

use super::fold::{Width, wrapped};
use super::text_table::{Align, TextTable};

/// Adds up what threads report.
#[derive(Debug, Default)]
pub(super) struct Stopwatch {
    /// Nanoseconds per kind of work, by number.
    busy: [AtomicU64; Step::ALL.len()],
    /// The parts of the job, and when each began.
    laps: Mutex<Vec<(&'static str, Instant)>>,
}

impl Stopwatch {
    /// A thread was busy with some work for so long.
    pub(super) fn worked(&self, step: Step, time: Duration) {
        // What was done is listed, even where the clock is too coarse to see it.
        let nanos = u64::try_from(time.as_nanos()).unwrap_or(u64::MAX).max(1);
        self.busy[step as usize].fetch_add(nanos, Ordering::Relaxed);
    }

    /// The next part of the job begins.
    pub(super) fn lap(&self, name: &'static str, now: Instant) {
        self.laps.lock().unwrap_or_else(PoisonError::into_inner).push((name, now));
    }

    /// All times, where the last part of the job ends now.
    pub(super) fn read(&self, now: Instant) -> Times {
        let busy = |step: Step| Duration::from_nanos(self.busy[step as usize].load(Ordering::Relaxed));
        let laps = self.laps.lock().unwrap_or_else(PoisonError::into_inner);
        let ends = laps.iter().skip(1).map(|(_, start)| *start).chain([now]);
        Times {
            busy: Step::ALL.into_iter().map(|step| (step, busy(step))).filter(|(_, time)| !time.is_zero()).collect(),
            laps: laps.iter().zip(ends).map(|((name, start), end)| (*name, end.duration_since(*start))).collect(),
        }
    }
}

/// The times of a job.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Times {
    /// Time of all threads together, per kind of work; what was not done is left out.
    busy: Vec<(Step, Duration)>,
    /// The parts of the job, one after another, by the clock on the wall.
    laps: Vec<(&'static str, Duration)>,
}

impl Times {
    /// The times as text, with a blank line below; empty for a job that has not begun.
    pub(super) fn page(&self, label: &str, width: Width) -> String {
        let all: Duration = self.busy.iter().map(|(_, time)| *time).sum();
        let wall: Duration = self.laps.iter().map(|(_, time)| *time).sum();
        if all.is_zero() || wall.is_zero() {
            return String::new();
        }
        let mut table = TextTable::new([
            ("STAGE", Align::Left),
            ("BUSY", Align::Right),
            ("SHARE", Align::Right),
            ("THREADS", Align::Left),
        ]);
        for (step, time) in &self.busy {
            let share = time.as_secs_f64() / all.as_secs_f64() * 100.0;
            table.row([step.name().into(), seconds(*time), format!("{share:.1} %"), threads(*step).into()]);
        }
        let laps: Vec<_> = self.laps.iter().map(|(name, time)| format!("{name} {}", seconds(*time))).collect();
        let threads = all.as_secs_f64() / wall.as_secs_f64();
        let title = format!("{label}: {}; {threads:.2} threads busy", laps.join(", "));
        format!("{}{}\n", wrapped(&title, width), table.render(width))
    }
}

fn seconds(time: Duration) -> String {
    format!("{:.3} s", time.as_secs_f64())
}

/// How many threads do this work at a time, for people.
fn threads(step: Step) -> &'static str {
    match step.parallelism() {
        Parallelism::One => "one",
        Parallelism::OnePerTable => "one per table",
        Parallelism::All => "all",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_read_like_this() {
        let (stopwatch, start) = (Stopwatch::default(), Instant::now());
        let at = |millis| start + Duration::from_millis(millis);
        for (name, millis) in [("survey", 0), ("plan", 1000), ("convert", 1005), ("publish", 11_005)] {
            stopwatch.lap(name, at(millis));
        }
        for (step, millis) in [
            (Step::Survey, 1500),
            (Step::Plan, 20),
            (Step::Decode, 7000),
            (Step::Decode, 1000),
            (Step::Encode, 10_000),
            (Step::Write, 479),
            (Step::Publish, 1),
        ] {
            stopwatch.worked(step, Duration::from_millis(millis));
        }
        stopwatch.worked(Step::CutRows, Duration::ZERO);
        let expected = "\
boot: survey 1.000 s, plan 0.005 s, convert 10.000 s, publish 0.095 s; 1.80 threads busy
  STAGE         BUSY   SHARE  THREADS
  survey     1.500 s   7.5 %  all
  plan       0.020 s   0.1 %  one
  decode     8.000 s  40.0 %  all
  cut rows   0.000 s   0.0 %  one
  encode    10.000 s  50.0 %  all
  write      0.479 s   2.4 %  one per table
  publish    0.001 s   0.0 %  one

";
        assert_eq!(stopwatch.read(at(11_100)).page("boot", Width::UNBOUNDED), expected);
    }

    #[test]
    fn a_job_that_has_not_begun_has_no_times() {
        let (stopwatch, now) = (Stopwatch::default(), Instant::now());
        assert_eq!(stopwatch.read(now).page("boot", Width::UNBOUNDED), "");
        stopwatch.lap("survey", now);
        assert_eq!(stopwatch.read(now + Duration::from_secs(1)).page("boot", Width::UNBOUNDED), "");
    }
}
