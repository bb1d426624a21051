//! Ctrl-C: DuckDB asks for it between calls alone, and one call may read a whole trace.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

use base::progress::Progress;
use base::remote::Stop;
use batch::Observer;
use batch::notice::Notice;
use conversion::convert::{JobProgress, Stage};
use signal_hook::consts::SIGINT;

/// Whether somebody has pressed Ctrl-C since a query began.
static PRESSED: OnceLock<Arc<AtomicBool>> = OnceLock::new();

/// Listens for Ctrl-C, beside those who did before: they hear of it as they did.
pub(crate) fn watch() {
    PRESSED.get_or_init(|| {
        let pressed = Arc::new(AtomicBool::new(false));
        // A system that lets nobody listen leaves the interruption to DuckDB.
        let _ = signal_hook::flag::register(SIGINT, Arc::clone(&pressed));
        pressed
    });
}

/// A query begins: what was pressed before was meant for another.
pub(crate) fn begin() {
    if let Some(pressed) = PRESSED.get() {
        pressed.store(false, Ordering::Relaxed);
    }
}

/// Whether the query is to stop.
pub(crate) fn is_pressed() -> bool {
    PRESSED.get().is_some_and(|pressed| pressed.load(Ordering::Relaxed))
}

/// Watches over the opening of a trace. What that has to say beside errors nobody hears: SQL has no place for it.
#[derive(Debug)]
pub(crate) struct Watch;

impl Progress for Watch {
    fn advance(&self, _amount: u64) {}

    fn is_cancelled(&self) -> bool {
        is_pressed()
    }

    fn stop(&self) -> Stop {
        Stop::when(is_pressed)
    }
}

impl JobProgress for Watch {
    fn stage(&self, _stage: Stage) {}
}

impl Observer for Watch {
    fn say(&self, _notice: &Notice) {}

    fn is_interrupted(&self) -> bool {
        is_pressed()
    }
}
