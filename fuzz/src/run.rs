//! A target's share of the loop: a fixed range of inputs, the same in every run.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use cpu_time::ProcessTime;

use crate::digest::Digest;
use crate::harness::{self, Cost, Failure};
use crate::mutate;
use crate::planted::{self, Fault};
use crate::target::{Limits, Target};

/// What to run.
#[derive(Clone, Debug)]
pub struct Share<'a> {
    /// The target.
    pub target: &'a Target,
    /// Its seeds.
    pub seeds: &'a [Vec<u8>],
    /// The numbers of the inputs.
    pub numbers: Range<u64>,
    /// What an input may take.
    pub limits: Limits,
    /// A fault on purpose, and the number of the input that makes it.
    pub planted: Option<(u64, Fault)>,
}

/// What came of it.
#[derive(Clone, Debug, Default)]
pub struct Summary {
    /// Inputs.
    pub inputs: u64,
    /// Those that did not hold, by number.
    pub failures: Vec<(u64, Failure)>,
    /// The most that one of them took.
    pub most: Cost,
    /// Time of all threads.
    pub time: Duration,
    /// Hash of all outcomes.
    pub hash: u64,
    /// Inputs by class and outcome, where the target distinguishes them.
    pub classes: BTreeMap<(&'static str, &'static str), u64>,
}

impl<'a> Share<'a> {
    /// All of the numbers, without a fault.
    pub fn new(target: &'a Target, seeds: &'a [Vec<u8>], numbers: Range<u64>) -> Share<'a> {
        Share { target, seeds, numbers, limits: target.limits, planted: None }
    }

    /// Runs it; `before` gets each number first.
    pub fn run(&self, mut before: impl FnMut(u64)) -> Summary {
        let (mut summary, mut digest) = (Summary::default(), Digest::default());
        let started = ProcessTime::now();
        for number in self.numbers.clone() {
            before(number);
            planted::plant(self.planted.filter(|(at, _)| *at == number).map(|(_, fault)| fault));
            let input = mutate::input(self.target, self.seeds, number);
            let (cost, result) = harness::run_within(self.target, self.limits, &input, &mut digest);
            summary.inputs += 1;
            summary.most.memory = summary.most.memory.max(cost.memory);
            summary.most.time = summary.most.time.max(cost.time);
            summary.failures.extend(result.err().map(|failure| (number, failure)));
        }
        (summary.time, summary.hash) = (started.elapsed(), digest.value());
        summary.classes.clone_from(digest.classes());
        summary
    }
}

/// Ends the process where an input has no end: nobody can stop a thread.
#[derive(Debug)]
pub struct Watchdog {
    /// The number of the input, one more than that; 0 while there is none.
    number: AtomicU64,
}

/// How many times its limit an input may take before nobody waits for its end.
const PATIENCE: u32 = 4;
/// How long it may sleep.
const LONGEST_SLEEP: Duration = Duration::from_secs(300);

impl Watchdog {
    /// Watches over inputs that may take so much time; `bark` gets the number of one that does not end, and has to end
    /// the process.
    pub fn watch(limit: Duration, bark: impl Fn(u64) + Send + 'static) -> &'static Watchdog {
        let watchdog: &Watchdog = Box::leak(Box::new(Watchdog { number: AtomicU64::new(0) }));
        std::thread::spawn(move || {
            let (mut seen, mut time, mut clock) = (0, ProcessTime::now(), Instant::now());
            loop {
                std::thread::sleep(Duration::from_millis(100));
                let number = watchdog.number.load(Ordering::Relaxed);
                if number != seen {
                    (seen, time, clock) = (number, ProcessTime::now(), Instant::now());
                }
                let is_endless = time.elapsed() > limit * PATIENCE || clock.elapsed() > LONGEST_SLEEP;
                if let Some(number) = number.checked_sub(1).filter(|_| is_endless) {
                    bark(number);
                }
            }
        });
        watchdog
    }

    /// An input begins.
    pub fn begins(&self, number: u64) {
        self.number.store(number + 1, Ordering::Relaxed);
    }

    /// There are no more.
    pub fn rest(&self) {
        self.number.store(0, Ordering::Relaxed);
    }
}
