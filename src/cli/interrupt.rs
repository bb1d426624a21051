//! Ctrl-C and termination: the first asks the run to stop, the second ends the program.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::flag;

/// Exit code after a signal: this plus its number, as shells have it.
const SIGNAL_BASE: u8 = 128;

/// Whether and by which signal the program has been asked to stop.
#[derive(Debug, Default)]
pub(super) struct Interrupt {
    signal: Arc<AtomicUsize>,
}

impl Interrupt {
    /// Begins to watch for signals.
    pub(super) fn watch() -> io::Result<Self> {
        let interrupt = Interrupt::default();
        let asked = Arc::new(AtomicBool::new(false));
        for (number, name) in [(SIGINT, 2_usize), (SIGTERM, 15)] {
            // In this order: a signal that finds the flag set ends the program, then the flag is set.
            flag::register_conditional_shutdown(number, 128 + number, Arc::clone(&asked))?;
            flag::register(number, Arc::clone(&asked))?;
            flag::register_usize(number, Arc::clone(&interrupt.signal), name)?;
        }
        Ok(interrupt)
    }

    /// Whether to stop at the next opportunity.
    pub(super) fn is_set(&self) -> bool {
        self.signal.load(Ordering::Relaxed) != 0
    }

    /// The exit code of a run that stopped: 130 or 143.
    pub(super) fn code(&self) -> u8 {
        let signal = u8::try_from(self.signal.load(Ordering::Relaxed)).unwrap_or(0);
        // Who stops without a signal was stopped by hand.
        SIGNAL_BASE + if signal == 0 { 2 } else { signal }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_code_names_the_signal() {
        let interrupt = Interrupt::default();
        assert!(!interrupt.is_set());
        for (signal, code) in [(2, 130), (15, 143)] {
            interrupt.signal.store(signal, Ordering::Relaxed);
            assert!(interrupt.is_set());
            assert_eq!(interrupt.code(), code);
        }
    }
}
