//! Runs a target on an input and says whether it held.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, PanicHookInfo, catch_unwind};
use std::sync::{Mutex, MutexGuard, Once, PoisonError};
use std::time::Duration;

use cpu_time::ProcessTime;
use peak_alloc::PeakAlloc;

use crate::digest::Digest;
use crate::planted;
use crate::target::{Limits, Target};

/// Why an input did not hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Failure {
    /// Something panicked: a room, a worker, or an oracle that was contradicted. Says what and where.
    Panic(String),
    /// It took so many bytes on the heap.
    Memory(usize),
    /// It took so much time of all threads.
    Time(Duration),
}

/// What an input took.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cost {
    /// Bytes on the heap at a time, beside those that were there before.
    pub memory: usize,
    /// Time of all threads.
    pub time: Duration,
}

/// Runs one input within the target's limits.
pub fn run(target: &Target, input: &[u8], digest: &mut Digest) -> (Cost, Result<(), Failure>) {
    run_within(target, target.limits, input, digest)
}

/// Runs one input within other limits. One input at a time in the whole process, since memory and time are those of all
/// threads.
pub fn run_within(target: &Target, limits: Limits, input: &[u8], digest: &mut Digest) -> (Cost, Result<(), Failure>) {
    let _alone = alone();
    keep_panics();
    let (started, before) = (ProcessTime::now(), PeakAlloc.current_usage());
    PeakAlloc.reset_peak_usage();
    QUIET.set(true);
    let ended = catch_unwind(AssertUnwindSafe(|| {
        planted::strike();
        (target.run)(input, digest);
    }));
    QUIET.set(false);
    let cost = Cost { memory: PeakAlloc.peak_usage().saturating_sub(before), time: started.elapsed() };
    let result = match ended {
        Err(_) => Err(Failure::Panic(last_panic())),
        Ok(()) if cost.memory > limits.memory => Err(Failure::Memory(cost.memory)),
        Ok(()) if cost.time > limits.time => Err(Failure::Time(cost.time)),
        Ok(()) => Ok(()),
    };
    digest.add(result.is_ok());
    (cost, result)
}

impl std::fmt::Display for Failure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Failure::Panic(text) => write!(f, "panic: {text}"),
            Failure::Memory(bytes) => write!(f, "memory: {bytes} bytes at a time"),
            Failure::Time(time) => write!(f, "time: {time:?}"),
        }
    }
}

static ALONE: Mutex<()> = Mutex::new(());
static LAST_PANIC: Mutex<String> = Mutex::new(String::new());

thread_local! {
    /// Whether this thread runs an input.
    static QUIET: Cell<bool> = const { Cell::new(false) };
}

/// Memory and time are those of the whole process: one at a time.
pub(crate) fn alone() -> MutexGuard<'static, ()> {
    ALONE.lock().unwrap_or_else(PoisonError::into_inner)
}

fn last_panic() -> String {
    LAST_PANIC.lock().unwrap_or_else(PoisonError::into_inner).clone()
}

/// From now on the text of a panic is kept, and printed only where no input is to blame.
fn keep_panics() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let print = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info: &PanicHookInfo<'_>| {
            let at = info.location().map_or_else(String::new, |at| format!(" ({}:{})", at.file(), at.line()));
            let payload = info.payload();
            let text = payload.downcast_ref::<&str>().copied().or(payload.downcast_ref::<String>().map(String::as_str));
            let text = text.unwrap_or("of no text");
            *LAST_PANIC.lock().unwrap_or_else(PoisonError::into_inner) = format!("{text}{at}");
            let is_worker = std::thread::current().name().is_some_and(|name| name.starts_with("worker-"));
            if !QUIET.get() && !is_worker {
                print(info);
            }
        }));
    });
}
