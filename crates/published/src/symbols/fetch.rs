//! Asks symbol servers for the files of many modules at once.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use ::symbols::{Module, SymbolPath};
use base::error::Result;
use base::progress::{Progress, stop_if_cancelled};
use base::remote;

/// Requests that are under way at a time.
const AT_A_TIME: usize = 16;

/// Asks the servers of a path for what so many modules need, by number in this order; `module` says of which one anything is needed.
///
/// # Errors
/// [`ErrorKind::Interrupted`](base::error::ErrorKind::Interrupted) when the caller asked to stop. What no server sends is no error.
pub(super) fn fetch(
    path: &SymbolPath,
    count: usize,
    module: impl Fn(usize) -> Option<Module> + Sync,
    progress: &dyn Progress,
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
                    module(number).iter().for_each(|module| path.fetch(module, &stop));
                }
            });
        }
    });
    stop_if_cancelled(progress)
}
