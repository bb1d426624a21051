//! Asks symbol servers for many files at once.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use ::symbols::SymbolPath;
use base::error::Result;
use base::progress::{Progress, stop_if_cancelled};
use base::remote::{self, Stop};

/// Requests that are under way at a time.
const AT_A_TIME: usize = 16;

/// Has so many files asked for of the servers of a path, by number in this order; `ask` does it, until it is to stop.
///
/// # Errors
/// [`ErrorKind::Interrupted`](base::error::ErrorKind::Interrupted) when the caller asked to stop. What no server sends is no error.
pub(super) fn fetch(
    path: &SymbolPath,
    count: usize,
    progress: &dyn Progress,
    ask: impl Fn(usize, &Stop) + Sync,
) -> Result<()> {
    if !path.asks_servers() {
        return Ok(());
    }
    let own = progress.stop();
    let stop = if own.can_be_asked() { own } else { remote::stop_of_process() };
    let next = AtomicUsize::new(0);
    thread::scope(|scope| {
        for _ in 0..AT_A_TIME.min(count) {
            scope.spawn(|| {
                loop {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    if number >= count || progress.is_cancelled() {
                        break;
                    }
                    ask(number, &stop);
                }
            });
        }
    });
    stop_if_cancelled(progress)
}
