//! What events are called that reports, comparisons and exports read.

/// Datasets of TCP and UDP.
pub const NETWORK: [&str; 3] = ["Kernel-TcpIp", "Kernel-UdpIp", "Microsoft-Windows-Kernel-Network"];

/// The number of the event of .NET that an exception was thrown, in `Microsoft-Windows-DotNETRuntime`.
pub const EXCEPTION: i64 = 80;

/// Whether an event of `Kernel-DiskIo` is that of a finished operation.
pub fn is_finished_disk_operation(event: &str) -> bool {
    matches!(event, "DiskIo/Read" | "DiskIo/Write" | "DiskIo/FlushBuffers")
}
