//! Few arenas for many threads: the allocator of the GNU C library gives each thread an arena of its own, and an arena keeps
//! what was freed in it. Of 16 threads that is more than a small budget has.
//!
//! The library reads how many it may make once, when a process starts, from its environment. So a run with a budget that is
//! small for its threads begins again with that variable set, before it has read an input or written anything.

/// Bytes of the budget for each thread from which on arenas are no matter: with eight threads of 48 MiB a run took 200 MiB more
/// than its budget, with four of 96 MiB none.
const ENOUGH_PER_THREAD: u64 = 96 << 20;

/// How many it may make: with two, 16 copies of a bomb of descriptions take 377 to 460 MiB with 16 threads at a budget of
/// 384 MiB, with one for each thread 558 to 622 (`scripts/check/hostile --only copies`).
#[cfg(all(target_os = "linux", target_env = "gnu"))]
const FEW: &str = "2";

/// What says so.
const VARIABLE: &str = "MALLOC_ARENA_MAX";

/// Begins again with few arenas where the budget is small for the threads and nobody has said how many there may be. Comes
/// back where that is not so, or cannot be done.
pub(super) fn keep_few(threads: usize, memory: u64) {
    let is_small = memory < ENOUGH_PER_THREAD.saturating_mul(threads as u64);
    if is_small && std::env::var_os(VARIABLE).is_none() {
        begin_again();
    }
}

#[cfg(all(target_os = "linux", target_env = "gnu"))]
fn begin_again() {
    use std::os::unix::process::CommandExt;

    let mut arguments = std::env::args_os();
    let name = arguments.next().unwrap_or_default();
    // The file may have been replaced since; what runs is still there under this name. Where it cannot be run, nothing is lost.
    let _ = std::process::Command::new("/proc/self/exe").arg0(name).args(arguments).env(VARIABLE, FEW).exec();
}

#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
fn begin_again() {}
