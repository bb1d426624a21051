//! The payload of the header event: what the session was and how it ended.

use zerocopy::little_endian::{I32, I64, U16, U32};
use zerocopy::{FromBytes, Immutable, KnownLayout, Unaligned};

/// The fields up to the two pointers, which differ in size between 32- and 64-bit systems and hold no pointers.
#[doc(alias = "TRACE_LOGFILE_HEADER")]
#[derive(Clone, Copy, Debug, FromBytes, Immutable, KnownLayout, Unaligned)]
#[repr(C)]
pub struct LogfileHead {
    /// Bytes (not KiB) of an expanded buffer.
    pub buffer_size: U32,
    /// Major version of the recording system.
    pub major_version: u8,
    /// Minor version of the recording system.
    pub minor_version: u8,
    /// Major version of the file layout.
    pub sub_version: u8,
    /// Minor version of the file layout.
    pub sub_minor_version: u8,
    /// Build of the recording system.
    pub provider_version: U32,
    /// Processors, or 1 without per-processor buffers.
    pub number_of_processors: U32,
    /// File time of the end; 0 when the session was never closed.
    pub end_time: I64,
    /// Length of a timer tick in 100 ns.
    pub timer_resolution: U32,
    /// MiB, or KiB with mode bit 0x2000.
    pub maximum_file_size: U32,
    /// [`LOG_FILE_MODES`].
    pub log_file_mode: U32,
    /// Buffers written, this one included; 0 or stale when the session was never closed.
    pub buffers_written: U32,
    /// Buffers at the start.
    pub start_buffers: U32,
    /// 4 or 8: the system's pointer size.
    pub pointer_size: U32,
    /// Events that were not recorded.
    pub events_lost: U32,
    /// Processor speed in MHz.
    pub cpu_speed_mhz: U32,
}

/// The fields behind the two pointers; the names follow.
#[derive(Clone, Copy, Debug, FromBytes, Immutable, KnownLayout, Unaligned)]
#[repr(C)]
pub struct LogfileTail {
    /// The recording system's time zone.
    pub time_zone: TimeZone,
    _padding: [u8; 4],
    /// File time of the boot.
    pub boot_time: I64,
    /// Ticks per second of the performance counter.
    pub perf_frequency: I64,
    /// File time of the header event.
    pub start_time: I64,
    /// `ReservedFlags`: the clock type.
    pub clock_type: U32,
    /// Buffers that could not be written.
    pub buffers_lost: U32,
}

/// A time zone, informational: every time of the file is UTC or raw.
#[doc(alias = "TIME_ZONE_INFORMATION")]
#[derive(Clone, Copy, Debug, FromBytes, Immutable, KnownLayout, Unaligned)]
#[repr(C)]
pub struct TimeZone {
    /// Minutes: UTC = local time + bias.
    pub bias: I32,
    /// UTF-16 name of standard time, often a reference into a library.
    pub standard_name: [U16; 32],
    _standard_date: [u8; 16],
    _standard_bias: I32,
    _daylight_name: [U16; 32],
    _daylight_date: [u8; 16],
    _daylight_bias: I32,
}

const _: () = {
    assert!(size_of::<LogfileHead>() == 0x38);
    assert!(size_of::<TimeZone>() == 0xAC);
    assert!(size_of::<LogfileTail>() == 0x110 - 0x40);
};

/// Bits of the log file mode that change how a file is read.
pub mod mode {
    /// The oldest buffers are overwritten.
    pub const CIRCULAR: u32 = 0x0000_0002;
    /// An older file was continued: its buffers are of several sessions, one behind the other.
    pub const APPEND: u32 = 0x0000_0004;
    /// One of a numbered series of files.
    pub const NEWFILE: u32 = 0x0000_0008;
    /// The file was extended before it was filled.
    pub const PREALLOCATE: u32 = 0x0000_0020;
    /// A ring in memory, saved on request.
    pub const BUFFERING: u32 = 0x0000_0400;
    /// A session within one process.
    pub const PRIVATE_LOGGER: u32 = 0x0000_0800;
    /// The maximum file size counts KiB.
    pub const USE_KBYTES_FOR_SIZE: u32 = 0x0000_2000;
    /// Written by a tool that read another trace.
    pub const RELOG: u32 = 0x0001_0000;
    /// A session within one process that writes one file, whose name does not carry the process id.
    pub const PRIVATE_IN_PROC: u32 = 0x0002_0000;
    /// Kernel events are allowed.
    pub const SYSTEM_LOGGER: u32 = 0x0200_0000;
    /// Buffers are stored compressed.
    pub const COMPRESSED: u32 = 0x0400_0000;
    /// One stream of buffers for all processors.
    pub const NO_PER_PROCESSOR_BUFFERING: u32 = 0x1000_0000;
}

/// Names of the log file mode's bits, lowest first.
pub const LOG_FILE_MODES: [(u32, &str); 31] = [
    (SEQUENTIAL, "SEQUENTIAL"),
    (mode::CIRCULAR, "CIRCULAR"),
    (mode::APPEND, "APPEND"),
    (mode::NEWFILE, "NEWFILE"),
    (0x0000_0010, "USE_MS_FLUSH_TIMER"),
    (mode::PREALLOCATE, "PREALLOCATE"),
    (0x0000_0040, "NONSTOPPABLE"),
    (0x0000_0080, "SECURE"),
    (0x0000_0100, "REAL_TIME"),
    (0x0000_0200, "DELAY_OPEN_FILE"),
    (mode::BUFFERING, "BUFFERING"),
    (mode::PRIVATE_LOGGER, "PRIVATE_LOGGER"),
    (0x0000_1000, "ADD_HEADER"),
    (mode::USE_KBYTES_FOR_SIZE, "USE_KBYTES_FOR_SIZE"),
    (0x0000_4000, "USE_GLOBAL_SEQUENCE"),
    (0x0000_8000, "USE_LOCAL_SEQUENCE"),
    (mode::RELOG, "RELOG"),
    (mode::PRIVATE_IN_PROC, "PRIVATE_IN_PROC"),
    (0x0004_0000, "BUFFER_INTERFACE"),
    (0x0008_0000, "KD_FILTER"),
    (0x0010_0000, "REALTIME_RELOG"),
    (0x0020_0000, "LOST_EVENTS_DEBUG"),
    (0x0040_0000, "STOP_ON_HYBRID_SHUTDOWN"),
    (0x0080_0000, "PERSIST_ON_HYBRID_SHUTDOWN"),
    (0x0100_0000, "USE_PAGED_MEMORY"),
    (mode::SYSTEM_LOGGER, "SYSTEM_LOGGER"),
    (mode::COMPRESSED, "COMPRESSED"),
    (0x0800_0000, "INDEPENDENT_SESSION"),
    (mode::NO_PER_PROCESSOR_BUFFERING, "NO_PER_PROCESSOR_BUFFERING"),
    (0x2000_0000, "BLOCKING"),
    (0x8000_0000, "ADDTO_TRIAGE_DUMP"),
];

/// Names of the system logger's enable flags, lowest first; the remaining bits have none.
pub const ENABLE_FLAGS: [(u32, &str); 27] = [
    (0x1, "PROCESS"),
    (0x2, "THREAD"),
    (0x4, "IMAGE_LOAD"),
    (0x8, "PROCESS_COUNTERS"),
    (0x10, "CSWITCH"),
    (0x20, "DPC"),
    (0x40, "INTERRUPT"),
    (0x80, "SYSTEMCALL"),
    (0x100, "DISK_IO"),
    (0x200, "DISK_FILE_IO"),
    (0x400, "DISK_IO_INIT"),
    (0x800, "DISPATCHER"),
    (0x1000, "MEMORY_PAGE_FAULTS"),
    (0x2000, "MEMORY_HARD_FAULTS"),
    (0x4000, "VIRTUAL_ALLOC"),
    (0x8000, "VAMAP"),
    (0x1_0000, "NETWORK_TCPIP"),
    (0x2_0000, "REGISTRY"),
    (0x4_0000, "DBGPRINT"),
    (0x8_0000, "JOB"),
    (0x10_0000, "ALPC"),
    (0x20_0000, "SPLIT_IO"),
    (0x80_0000, "DRIVER"),
    (0x100_0000, "PROFILE"),
    (0x200_0000, "FILE_IO"),
    (0x400_0000, "FILE_IO_INIT"),
    (0x1000_0000, "NO_SYSCONFIG"),
];

/// Names of a log file mode. None of the bits means a file that is filled from its start on, like the bit of that name.
pub fn log_file_mode_names(mode: u32) -> Vec<String> {
    bit_names(if mode == 0 { SEQUENTIAL } else { mode }, &LOG_FILE_MODES)
}

const SEQUENTIAL: u32 = 0x0000_0001;

/// Resolves the set bits of `mask` to names, lowest first; what is left without one stands behind them as one
/// hexadecimal number.
pub fn bit_names(mask: u32, names: &[(u32, &str)]) -> Vec<String> {
    let known = names.iter().filter(|(bit, _)| mask & bit != 0);
    let rest = known.clone().fold(mask, |rest, (bit, _)| rest & !bit);
    let rest = (rest != 0).then(|| format!("{rest:#x}"));
    known.map(|(_, name)| (*name).to_owned()).chain(rest).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unknown_bits_stay_visible() {
        assert_eq!(bit_names(0x0001_0001, &LOG_FILE_MODES), ["SEQUENTIAL", "RELOG"]);
        assert_eq!(bit_names(0x8000_0101, &ENABLE_FLAGS), ["PROCESS", "DISK_IO", "0x80000000"]);
        assert_eq!(bit_names(0xC040_0001, &ENABLE_FLAGS), ["PROCESS", "0xc0400000"]);
        assert_eq!(log_file_mode_names(0x4000_0002), ["CIRCULAR", "0x40000000"]);
    }

    #[test]
    fn no_mode_is_sequential() {
        assert_eq!(log_file_mode_names(0), ["SEQUENTIAL"]);
        assert_eq!(log_file_mode_names(0x80), ["SECURE"]);
    }
}
