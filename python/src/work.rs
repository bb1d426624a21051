//! Work that Python waits for: without its lock, and no longer than its user wants.

use std::process;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread::{self, ThreadId};
use std::time::Duration;

use base::error::{Error, ErrorKind, Result};
use base::progress::Progress;
use base::remote::Stop;
use batch::notice::{Level, Notice};
use batch::{Observer, caught};
use conversion::convert::{JobProgress, Stage};
use pyo3::intern;
use pyo3::prelude::*;

use crate::errors::exception;

/// How often Python is asked whether its user has pressed Ctrl-C, and hears how far the work is.
pub(crate) const LOOK: Duration = Duration::from_millis(100);

/// Stack of the thread that works, in bytes: as much as that of a program.
const STACK: usize = 8 << 20;

/// How far work is, whether it is to stop, and the first error that it has told.
#[derive(Debug, Default)]
pub(crate) struct State {
    stop: Arc<AtomicBool>,
    done: AtomicU64,
    stage: Mutex<(&'static str, Option<u64>)>,
    /// Traces that have ended, and all.
    traces: (AtomicU64, AtomicU64),
    first_error: Mutex<Option<Notice>>,
    has_ended: Mutex<bool>,
    ended: Condvar,
}

impl State {
    /// So many traces are to be converted.
    pub(crate) fn expect_traces(&self, traces: usize) {
        self.traces.1.store(traces as u64, Ordering::Relaxed);
    }

    /// A trace has ended.
    pub(crate) fn end_trace(&self) {
        self.traces.0.fetch_add(1, Ordering::Relaxed);
    }

    /// The first error that was told.
    pub(crate) fn first_error(&self) -> Option<Notice> {
        locked(&self.first_error).clone()
    }

    fn end(&self) {
        *locked(&self.has_ended) = true;
        self.ended.notify_all();
    }

    /// Looks after Python until the work has ended; returns what it was interrupted by.
    fn watch(&self, told: Option<&Py<PyAny>>) -> Option<PyErr> {
        let mut interrupted = None;
        let mut has_ended = locked(&self.has_ended);
        while !*has_ended {
            (has_ended, _) = self.ended.wait_timeout(has_ended, LOOK).unwrap_or_else(PoisonError::into_inner);
            if *has_ended || interrupted.is_some() {
                continue;
            }
            drop(has_ended);
            interrupted = Python::attach(|py| self.look(py, told)).err();
            if interrupted.is_some() {
                self.stop.store(true, Ordering::Relaxed);
            }
            has_ended = locked(&self.has_ended);
        }
        interrupted
    }

    fn look(&self, py: Python<'_>, told: Option<&Py<PyAny>>) -> PyResult<()> {
        py.check_signals()?;
        let Some(told) = told else { return Ok(()) };
        let (stage, total) = *locked(&self.stage);
        if stage.is_empty() {
            return Ok(());
        }
        let (ended, traces) = (self.traces.0.load(Ordering::Relaxed), self.traces.1.load(Ordering::Relaxed));
        told.call1(py, (stage, self.done.load(Ordering::Relaxed), total, ended, traces)).map(drop)
    }
}

impl Progress for State {
    fn advance(&self, amount: u64) {
        self.done.fetch_add(amount, Ordering::Relaxed);
    }

    fn is_cancelled(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    fn stop(&self) -> Stop {
        let stop = Arc::clone(&self.stop);
        Stop::when(move || stop.load(Ordering::Relaxed))
    }
}

impl JobProgress for State {
    fn stage(&self, stage: Stage) {
        *locked(&self.stage) = match stage {
            Stage::Unpack { bytes } => ("unpack", Some(bytes)),
            Stage::Survey { bytes } => ("survey", Some(bytes)),
            Stage::Plan => ("plan", None),
            Stage::Convert { events } => ("convert", Some(events)),
            Stage::Publish => ("publish", None),
        };
        self.done.store(0, Ordering::Relaxed);
    }
}

/// What is said goes to the logger `etl2parquet`.
impl Observer for State {
    fn say(&self, notice: &Notice) {
        if notice.level == Level::Error {
            locked(&self.first_error).get_or_insert_with(|| notice.clone());
        }
        Python::attach(|py| {
            // A logger that fails has nobody to say so to.
            let _ = log(py, notice);
        });
    }

    fn is_interrupted(&self) -> bool {
        self.is_cancelled()
    }
}

fn log(py: Python<'_>, notice: &Notice) -> PyResult<()> {
    let logger = py.import("logging")?.call_method1("getLogger", ("etl2parquet",))?;
    let level = match notice.level {
        Level::Error => intern!(py, "error"),
        Level::Warning => intern!(py, "warning"),
        Level::Info => intern!(py, "info"),
    };
    logger.call_method1(level, ("%s", &notice.text)).map(drop)
}

/// Does work on a thread of its own and waits for it, without the lock of Python. Every tenth of a second `told` hears how far
/// it is; when that fails, or the user presses Ctrl-C, the work stops and what it was interrupted by is raised.
pub(crate) fn wait<T: Send>(
    py: Python<'_>,
    told: Option<Py<PyAny>>,
    work: impl FnOnce(&State) -> Result<T> + Send,
) -> PyResult<T> {
    know_main(py)?;
    let state = State::default();
    let (done, interrupted) = py.detach(|| {
        thread::scope(|scope| {
            let at_work = || {
                let done = caught(|| work(&state));
                state.end();
                done
            };
            match thread::Builder::new().name("etl2parquet".to_owned()).stack_size(STACK).spawn_scoped(scope, at_work) {
                Ok(worker) => {
                    let interrupted = state.watch(told.as_ref());
                    (worker.join().unwrap_or_else(|_| Err(Error::bug("the thread of the work failed"))), interrupted)
                }
                Err(cause) => {
                    (Err(Error::new(ErrorKind::Internal, "the system gives no thread").caused_by(cause)), None)
                }
            }
        })
    });
    match interrupted {
        Some(interrupted) => Err(interrupted),
        None => done.map_err(|error| exception(py, error)),
    }
}

fn locked<T>(value: &Mutex<T>) -> MutexGuard<'_, T> {
    // Nothing that can panic runs while one is locked.
    value.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The thread that Python handles signals on, once it has asked for anything.
static MAIN: OnceLock<ThreadId> = OnceLock::new();

/// Remembers the calling thread where it is the one that handles signals.
pub(crate) fn know_main(py: Python<'_>) -> PyResult<()> {
    if MAIN.get().is_none() {
        let threading = py.import("threading")?;
        if threading.call_method0("current_thread")?.is(&threading.call_method0("main_thread")?) {
            MAIN.get_or_init(|| thread::current().id());
        }
    }
    Ok(())
}

/// Whether Python's user has pressed Ctrl-C, asked by whoever waits for rows. Only the thread that handles signals can know, and
/// only it may ask: another might have Python wait for it. Python raises the interruption once it goes on.
pub(crate) fn is_interrupted() -> bool {
    if MAIN.get() != Some(&thread::current().id()) {
        return false;
    }
    Python::attach(|py| {
        let is_interrupted = py.check_signals().is_err();
        if is_interrupted {
            let _ = py.import("_thread").and_then(|module| module.call_method0("interrupt_main"));
        }
        is_interrupted
    })
}

/// The process that something was opened in: threads do not outlive a fork.
#[derive(Clone, Copy, Debug)]
pub(crate) struct OfProcess(u32);

impl OfProcess {
    /// This one.
    pub(crate) fn current() -> OfProcess {
        OfProcess(process::id())
    }

    /// Refuses to go on in another one.
    ///
    /// # Errors
    /// [`ErrorKind::Usage`].
    pub(crate) fn check(self) -> Result<()> {
        if self.0 == process::id() {
            return Ok(());
        }
        let message = "the trace was opened in another process, whose threads are not in this one";
        Err(Error::new(ErrorKind::Usage, message).with_hint("open it here, or start processes by spawn"))
    }
}
