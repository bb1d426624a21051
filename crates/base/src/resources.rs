//! How many threads and how much memory a run may use.

use std::fs;
use std::path::Path;
use std::sync::LazyLock;
use std::thread::available_parallelism;

use rayon::ThreadPool;

use crate::error::{Error, ErrorKind, Result};

/// The smallest budget: open row groups alone may take 192 MiB.
pub const MIN_MEMORY: u64 = 384 << 20;

const BASE_MEMORY: u64 = 512 << 20;
const MEMORY_PER_THREAD: u64 = 128 << 20;

/// The part of the memory that is there which the default budget takes at most.
const SHARE: u64 = 4;

/// Stack of a worker in bytes. One that waits for a part of its job takes up work of other jobs meanwhile.
const STACK: usize = 8 << 20;

/// The threads that this process may use; on Linux its control group counts. The system is asked once.
pub fn default_threads() -> usize {
    static THREADS: LazyLock<usize> = LazyLock::new(|| available_parallelism().map_or(1, usize::from));
    *THREADS
}

/// A pool of so many workers.
///
/// # Errors
/// [`ErrorKind::Internal`] when the system does not give them.
pub fn pool(threads: usize) -> Result<ThreadPool> {
    rayon::ThreadPoolBuilder::new()
        .num_threads(threads)
        .stack_size(STACK)
        .thread_name(|number| format!("worker-{number}"))
        .build()
        .map_err(|cause| Error::new(ErrorKind::Internal, "cannot start the worker threads").caused_by(cause))
}

/// The default memory budget in bytes. The system is asked once.
pub fn default_memory(threads: usize) -> u64 {
    // Elsewhere anybody might make a folder of that name.
    static PRESENT: LazyLock<Option<u64>> =
        LazyLock::new(|| if cfg!(target_os = "linux") { memory_present(Path::new("/")) } else { None });
    memory_within(threads, *PRESENT)
}

/// The budget asked for, raised to the least, or the default one.
pub fn memory_budget(asked: Option<u64>, threads: usize) -> u64 {
    asked.map_or_else(|| default_memory(threads), |asked| asked.max(MIN_MEMORY))
}

fn memory_within(threads: usize, present: Option<u64>) -> u64 {
    let threads = u64::try_from(threads).unwrap_or(u64::MAX);
    let wanted = BASE_MEMORY.saturating_add(MEMORY_PER_THREAD.saturating_mul(threads));
    wanted.min(present.map_or(u64::MAX, |bytes| bytes / SHARE)).max(MIN_MEMORY)
}

/// The memory of the host or of the control group, whichever is smaller, in bytes; `None` where the system has no
/// `/proc`. `root` is `/` but in tests.
fn memory_present(root: &Path) -> Option<u64> {
    let groups = fs::read_to_string(root.join("proc/self/cgroup")).unwrap_or_default();
    let limits = groups.lines().filter_map(|line| group_limit(root, line));
    limits.chain(host_memory(root)).min()
}

/// The most memory that this process has held at a time, in bytes; `None` where the system has no `/proc`.
pub fn peak_memory() -> Option<u64> {
    kilobytes(&fs::read_to_string("/proc/self/status").ok()?, "VmHWM:")
}

/// `MemTotal` of `/proc/meminfo`.
fn host_memory(root: &Path) -> Option<u64> {
    kilobytes(&fs::read_to_string(root.join("proc/meminfo")).ok()?, "MemTotal:")
}

/// What a file of `/proc` gives in `kB` behind a name, in bytes.
fn kilobytes(text: &str, name: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix(name))?;
    line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()?.checked_mul(1024)
}

/// The limit that one line of `/proc/self/cgroup` leads to: `0::/path` in version 2, `7:memory:/path` in version 1.
/// The limits of all groups above count too. Where a container hides them, its own group is mounted at the top.
fn group_limit(root: &Path, line: &str) -> Option<u64> {
    let mut parts = line.splitn(3, ':');
    let (number, controllers, path) = (parts.next()?, parts.next()?, parts.next()?);
    let (mount, file) = match (number, controllers) {
        ("0", "") => ("sys/fs/cgroup", "memory.max"),
        _ if controllers.split(',').any(|name| name == "memory") => ("sys/fs/cgroup/memory", "memory.limit_in_bytes"),
        _ => return None,
    };
    let mount = root.join(mount);
    let group = mount.join(path.trim_start_matches('/'));
    let groups = group.ancestors().take_while(|folder| folder.starts_with(&mount));
    // Without a limit version 2 says `max`, version 1 a number beyond any machine.
    groups.filter_map(|folder| fs::read_to_string(folder.join(file)).ok()?.trim().parse().ok()).min()
}

#[cfg(test)]
mod tests {
    use super::*;

    const MIB: u64 = 1 << 20;

    #[test]
    fn a_small_budget_is_raised_to_the_smallest_one() {
        assert_eq!(memory_budget(Some(64 << 20), 1), 384 << 20);
        assert_eq!(memory_budget(Some(1 << 30), 1), 1 << 30);
        assert!(memory_budget(None, 1) >= 384 << 20);
    }

    #[test]
    fn the_peak_is_that_of_the_status() {
        let status = "Name:\tx\nVmPeak:\t  9000 kB\nVmHWM:\t   2048 kB\n";
        assert_eq!(kilobytes(status, "VmHWM:"), Some(2 * MIB));
        assert_eq!(kilobytes(status, "VmRSS:"), None);
        assert_eq!(kilobytes("VmHWM: 99999999999999999999 kB", "VmHWM:"), None);
        if cfg!(target_os = "linux") {
            assert!(peak_memory().is_some_and(|bytes| bytes > MIB));
        }
    }

    #[test]
    fn the_default_budget_grows_with_the_threads_up_to_a_quarter() {
        let t = |threads, present: Option<u64>, mib: u64| {
            assert_eq!(memory_within(threads, present.map(|mib| mib * MIB)), mib * MIB, "{threads} threads");
        };
        t(1, None, 640);
        t(8, None, 1536);
        t(8, Some(64 << 10), 1536);
        t(8, Some(4096), 1024);
        t(8, Some(512), 384);
        assert_eq!(memory_within(usize::MAX, None), u64::MAX);
    }

    /// A system with the given files.
    fn system(files: &[(&str, &str)]) -> tempfile::TempDir {
        let root = tempfile::tempdir().unwrap();
        for (path, text) in files {
            let path = root.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        root
    }

    #[test]
    fn the_smallest_limit_of_host_and_groups_counts() {
        let host = ("proc/meminfo", "MemTotal:       16000000 kB\nMemFree: 1 kB\n");
        let t = |files: &[(&str, &str)], bytes: Option<u64>| assert_eq!(memory_present(system(files).path()), bytes);
        t(&[], None);
        t(&[host], Some(16_384_000_000));
        let v2 = ("proc/self/cgroup", "0::/jobs/nightly\n");
        t(&[host, v2, ("sys/fs/cgroup/jobs/nightly/memory.max", "max\n")], Some(16_384_000_000));
        t(&[host, v2, ("sys/fs/cgroup/jobs/nightly/memory.max", "1048576\n")], Some(1_048_576));
        t(
            &[host, v2, ("sys/fs/cgroup/jobs/memory.max", "4096\n"), ("sys/fs/cgroup/jobs/nightly/memory.max", "8192")],
            Some(4096),
        );
        t(&[host, v2, ("sys/fs/cgroup/memory.max", "777\n")], Some(777));
        let v1 = ("proc/self/cgroup", "9:cpu,cpuacct:/a\n7:memory:/docker/x\n0::/\n");
        t(&[host, v1, ("sys/fs/cgroup/memory/docker/x/memory.limit_in_bytes", "999")], Some(999));
        t(&[host, v1, ("sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712")], Some(16_384_000_000));
    }
}
