//! Which fields of an event record what of its subject. Names of fields are compared without regard to case, and the first
//! that the event has counts.
//!
//! What is recorded of a subject has one place among the numbers or texts of its facts and spans, whatever the source.

use etl::event::subject::Subject;

/// How many numbers are recorded of a subject.
pub(super) const NUMBERS: usize = 6;

/// How many texts.
pub(super) const TEXTS: usize = 4;

/// Names of a field, from the one that is asked for first.
type Names = &'static [&'static str];

/// Where an event has what it records of a subject.
#[derive(Debug)]
pub(super) struct Attributes {
    /// The id.
    pub key: Names,
    /// The process in which the id holds.
    pub scope: Scope,
    /// By place.
    pub numbers: [Names; NUMBERS],
    /// By place.
    pub texts: [Names; TEXTS],
}

/// Within what an id stands for one subject at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Scope {
    /// The system.
    System,
    /// The process that a field names, and where there is none, the one that wrote the event.
    Process(Names),
}

/// Places of what is recorded of a process.
pub mod process {
    /// Address of the process object.
    pub const UNIQUE_KEY: usize = 0;
    /// Id of the process that started it.
    pub const PARENT: usize = 1;
    /// Terminal session.
    pub const SESSION: usize = 2;
    /// What it ended with.
    pub const EXIT_STATUS: usize = 3;
    /// Bits, of the kernel's own events: [`WOW64`] and [`SYSTEM_32`].
    pub const FLAGS: usize = 4;
    /// When it was started, in Unix nanoseconds.
    pub const CREATE_TIME: usize = 5;
    /// When a defunct process ended, in Unix nanoseconds: of one, nothing says when it was started.
    pub const EXIT_TIME: usize = CREATE_TIME;
    /// Path or name of its image.
    pub const IMAGE: usize = 0;
    /// Command line.
    pub const COMMAND_LINE: usize = 1;
    /// Its user.
    pub const USER: usize = 2;
    /// Full name of its package.
    pub const PACKAGE: usize = 3;
    /// A 32-bit process of a 64-bit system, in [`FLAGS`].
    pub const WOW64: u64 = 2;
    /// A process of a 32-bit system, in [`FLAGS`]: no bit of an event, but its pointer size.
    pub const SYSTEM_32: u64 = 1 << 63;
}

/// Places of what is recorded of a thread.
pub mod thread {
    /// Its process.
    pub const PROCESS: usize = 0;
    /// Where it was asked to start.
    pub const START_ADDRESS: usize = 1;
    /// Its name.
    pub const NAME: usize = 0;
}

/// Places of what is recorded of a module.
pub mod image {
    /// Bytes.
    pub const SIZE: usize = 0;
    /// Time stamp of its headers.
    pub const TIME_STAMP: usize = 1;
    /// Checksum of its headers.
    pub const CHECKSUM: usize = 2;
    /// Age of its symbol file.
    pub const PDB_AGE: usize = 3;
    /// Path.
    pub const PATH: usize = 0;
    /// Name of its symbol file.
    pub const PDB_NAME: usize = 1;
    /// GUID of its symbol file.
    pub const PDB_GUID: usize = 2;
}

/// Places of what is recorded of a file.
pub mod file {
    /// Path.
    pub const PATH: usize = 0;
}

/// Places of what is recorded of a method body.
pub mod method {
    /// Bytes.
    pub const SIZE: usize = 0;
    /// Flags of the load event of .NET.
    pub const FLAGS: usize = 1;
    /// Namespace and class.
    pub const NAMESPACE: usize = 0;
    /// Name.
    pub const NAME: usize = 1;
    /// Signature.
    pub const SIGNATURE: usize = 2;

    /// The code was compiled while the program ran, in [`FLAGS`].
    const JITTED: u64 = 8;

    /// How a body was compiled: bits 7 to 9 of [`FLAGS`] of one that was compiled while the program ran, under the names of
    /// the run-time's own `OptimizationTier`. `None` where it does not record it, as before .NET Core 3.
    pub fn tier(flags: u64) -> Option<&'static str> {
        const TIERS: [Option<&str>; 8] = [
            None,
            Some("MinOptJitted"),
            Some("Optimized"),
            Some("QuickJitted"),
            Some("OptimizedTier1"),
            Some("OptimizedTier1OSR"),
            Some("QuickJittedInstrumented"),
            Some("OptimizedTier1Instrumented"),
        ];
        if flags & JITTED == 0 { Some("PreJIT") } else { TIERS[(flags >> 7 & 7) as usize] }
    }
}

/// Places of what is recorded of a volume.
pub(super) mod volume {
    /// Its path in the system's own form, such as `\Device\HarddiskVolume2\`.
    pub(crate) const NT_PATH: usize = 0;
    /// Its path as people know it, such as `C:\`.
    pub(crate) const DOS_PATH: usize = 1;
}

const NONE: Names = &[];
/// The id of a process, in kernel events and in those of `Microsoft-Windows-Kernel-Process`.
const PROCESS_ID: Names = &["ProcessId"];

static PROCESS: Attributes = Attributes {
    key: PROCESS_ID,
    scope: Scope::System,
    numbers: [
        &["UniqueProcessKey"],
        &["ParentId", "ParentProcessId"],
        &["SessionId"],
        &["ExitStatus", "ExitCode"],
        &["Flags"],
        &["CreateTime", "ExitTime"],
    ],
    texts: [&["ImageFileName", "ImageName"], &["CommandLine"], &["UserSID"], &["PackageFullName"]],
};

static THREAD: Attributes = Attributes {
    key: &["TThreadId", "ThreadId"],
    scope: Scope::System,
    numbers: [PROCESS_ID, &["Win32StartAddr", "StartAddr"], NONE, NONE, NONE, NONE],
    texts: [&["ThreadName"], NONE, NONE, NONE],
};

static IMAGE: Attributes = Attributes {
    key: &["ImageBase", "BaseAddress"],
    scope: Scope::Process(PROCESS_ID),
    numbers: [&["ImageSize", "ModuleSize"], &["TimeDateStamp"], &["ImageChecksum"], &["Age"], NONE, NONE],
    texts: [&["FileName", "ImageFileName", "ImageName"], &["PdbFileName"], &["GuidSig"], NONE],
};

static FILE: Attributes = Attributes {
    key: &["FileKey", "FileObject"],
    scope: Scope::System,
    numbers: [NONE; NUMBERS],
    texts: [&["FileName", "OpenPath"], NONE, NONE, NONE],
};

static METHOD: Attributes = Attributes {
    key: &["MethodStartAddress"],
    scope: Scope::Process(NONE),
    numbers: [&["MethodSize"], &["MethodFlags"], NONE, NONE, NONE, NONE],
    texts: [&["MethodNamespace"], &["MethodName"], &["MethodSignature"], NONE],
};

static VOLUME: Attributes = Attributes {
    key: NONE,
    scope: Scope::System,
    numbers: [NONE; NUMBERS],
    texts: [&["NtPath"], &["DosPath"], NONE, NONE],
};

impl Attributes {
    /// Where events have what they record of a subject.
    pub(super) fn of(subject: Subject) -> &'static Attributes {
        match subject {
            Subject::Process => &PROCESS,
            Subject::Thread => &THREAD,
            Subject::Image => &IMAGE,
            Subject::File => &FILE,
            Subject::Method => &METHOD,
            Subject::Volume => &VOLUME,
        }
    }

    /// Whether a column is needed.
    pub(super) fn needs(&self, column: &str) -> bool {
        let scope = match self.scope {
            Scope::System => NONE,
            Scope::Process(names) => names,
        };
        let all = [self.key, scope].into_iter().chain(self.numbers).chain(self.texts);
        all.flatten().any(|name| name.eq_ignore_ascii_case(column))
    }
}
