//! Ctrl-C, termination, a closed terminal: the first asks the run to stop, the second ends the program. Neither leaves
//! anything half-written.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use base::remote::Stop;
use columnar::output::folder::CleanupRegistry;

/// Exit code after a signal: this plus its number, as shells have it.
const SIGNAL_BASE: u8 = 128;

/// Whether and by which signal the program has been asked to stop.
#[derive(Clone, Debug, Default)]
pub(super) struct Interrupt {
    signal: Arc<AtomicUsize>,
    /// Whether there is something to bring to an end.
    is_working: Arc<AtomicBool>,
    /// Whether the program is being ended.
    is_ending: Arc<AtomicBool>,
    cleanup: CleanupRegistry,
}

impl Interrupt {
    /// Begins to watch for signals.
    pub(super) fn watch() -> io::Result<Self> {
        let interrupt = Interrupt::default();
        watch(interrupt.clone())?;
        Ok(interrupt)
    }

    /// Whether a signal has to wait for work to end in order. While there is none, the first signal ends the program: it
    /// may be waiting for the system, for a pipe for example, and would not look whether to stop.
    pub(super) fn working(&self, is_working: bool) {
        self.is_working.store(is_working, Ordering::SeqCst);
        // Work that failed because all was taken from it: whoever ends the program says by which code.
        while self.is_ending.load(Ordering::SeqCst) {
            std::thread::park();
        }
    }

    /// Who removes what has been written when the program ends at once.
    pub(super) fn cleanup(&self) -> CleanupRegistry {
        self.cleanup.clone()
    }

    /// Whether to stop at the next opportunity.
    pub(super) fn is_set(&self) -> bool {
        self.signal.load(Ordering::Relaxed) != 0
    }

    /// The same question, for whoever waits for a network.
    pub(super) fn stop(&self) -> Stop {
        let signal = Arc::clone(&self.signal);
        Stop::when(move || signal.load(Ordering::Relaxed) != 0)
    }

    /// The exit code of a run that stopped: 130 or 143, or that of another signal.
    pub(super) fn code(&self) -> u8 {
        let signal = u8::try_from(self.signal.load(Ordering::Relaxed)).unwrap_or(0);
        // Who stops without a signal was stopped by hand.
        SIGNAL_BASE + if signal == 0 { 2 } else { signal }
    }

    /// A signal has come: the first one asks work to stop, any other and one that finds no work ends the program.
    #[cfg(any(unix, test))]
    fn signalled(&self, signal: usize) {
        let is_first = self.signal.compare_exchange(0, signal, Ordering::SeqCst, Ordering::SeqCst).is_ok();
        if !is_first || !self.is_working.load(Ordering::SeqCst) {
            self.end();
        }
    }

    /// The main thread is at work, or waits for the system.
    #[cfg(any(unix, test))]
    fn end(&self) -> ! {
        self.is_ending.store(true, Ordering::SeqCst);
        self.cleanup.abandon();
        std::process::exit(self.code().into());
    }
}

/// Signals are taken from a pipe by a thread that is free to do anything, as a handler is not.
#[cfg(unix)]
fn watch(interrupt: Interrupt) -> io::Result<()> {
    use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGXFSZ};
    use signal_hook::iterator::Signals;
    // With somebody listening, a write beyond the limit of file sizes is an error and not the end.
    signal_hook::flag::register(SIGXFSZ, Arc::default())?;
    let mut signals = Signals::new([SIGINT, SIGTERM, SIGQUIT])?;
    if !outlives_terminal() {
        signals.add_signal(SIGHUP)?;
    }
    let take = move || signals.forever().for_each(|signal| interrupt.signalled(usize::try_from(signal).unwrap_or(0)));
    std::thread::Builder::new().name("signals".to_owned()).spawn(take).map(|_| ())
}

/// Whether the program was started to go on without its terminal (`nohup`).
#[cfg(target_os = "linux")]
fn outlives_terminal() -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    ignores_hangup(&status)
}

/// Other systems do not say it, so that the signal keeps the meaning it was given.
#[cfg(all(unix, not(target_os = "linux")))]
fn outlives_terminal() -> bool {
    true
}

/// Whether the lowest bit of the mask of ignored signals is set, that of SIGHUP.
#[cfg(target_os = "linux")]
fn ignores_hangup(status: &str) -> bool {
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).is_some_and(|mask| mask & 1 != 0)
}

/// No thread can wait for signals here: the first one sets a flag, the second ends the program.
#[cfg(not(unix))]
fn watch(interrupt: Interrupt) -> io::Result<()> {
    use signal_hook::consts::{SIGINT, SIGTERM};
    use signal_hook::flag;
    // Ctrl-Break, which build machines send.
    const SIGBREAK: i32 = 21;
    let Interrupt { signal, .. } = interrupt;
    let asked = Arc::new(AtomicBool::new(false));
    for (number, name) in [(SIGINT, 2_usize), (SIGBREAK, 2), (SIGTERM, 15)] {
        // In this order: a signal that finds the flag set ends the program, then the flag is set.
        let code = i32::from(SIGNAL_BASE) + i32::try_from(name).unwrap_or(0);
        flag::register_conditional_shutdown(number, code, Arc::clone(&asked))?;
        flag::register(number, Arc::clone(&asked))?;
        flag::register_usize(number, Arc::clone(&signal), name)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_code_names_the_first_signal() {
        for (signal, code) in [(2, 130), (15, 143), (1, 129), (3, 131)] {
            let interrupt = Interrupt::default();
            assert!(!interrupt.is_set());
            interrupt.working(true);
            interrupt.signalled(signal);
            assert!(interrupt.is_set());
            assert_eq!(interrupt.code(), code);
        }
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn nohup_is_recognised() {
        assert!(ignores_hangup("Name:\tx\nSigBlk:\t0000000000000000\nSigIgn:\t0000000000001001\n"));
        assert!(!ignores_hangup("SigIgn:\t0000000000001000\n"));
        assert!(!ignores_hangup(""));
    }
}
