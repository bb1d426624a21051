//! The memory map of an input, or of what was spilled: the only unsafe code of this crate.

use std::fs::File;

/// A read-only map of a whole file.
#[derive(Debug)]
pub(crate) struct Mapping(memmap2::Mmap);

impl Mapping {
    /// Maps a file, or gives `None` where the system or the address space does not allow it.
    #[expect(unsafe_code, reason = "a file can only be mapped by promising that nobody changes it")]
    pub(crate) fn of(file: &File) -> Option<Mapping> {
        // SAFETY: the map is only sound while no process changes the file. This crate cannot promise that itself; it
        // passes the promise on to the user, who is told (README, `--no-mmap`) not to change a trace while it is
        // converted. Only closed traces on local file systems are mapped, every byte is treated as hostile input and
        // copied or parsed by value, and size and modification time are compared before anything is published. A
        // file that somebody truncates ends the process with SIGBUS; the next run cleans up after it. A spill file has no
        // name, is mapped when all of it is written, and nobody else can reach it.
        let map = unsafe { memmap2::Mmap::map(file) }.ok()?;
        Some(Mapping(map))
    }

    /// The bytes of the file.
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.0
    }
}

/// Whether the file lies on a file system whose files can change or vanish without the local system knowing.
#[cfg(target_os = "linux")]
pub(super) fn is_on_network(file: &File) -> bool {
    // Magic numbers of `statfs(2)`: NFS, SMB, SMB2, CIFS, FUSE, 9P, AFS, Coda, Ceph.
    const NETWORK: [u32; 9] =
        [0x6969, 0x517B, 0xFE53_4D42, 0xFF53_4D42, 0x6573_5546, 0x0102_1997, 0x5346_414F, 0x7375_7245, 0x00C3_6400];
    rustix::fs::fstatfs(file)
        .is_ok_and(|system| NETWORK.iter().any(|&magic| i128::from(magic) == i128::from(system.f_type)))
}

/// Elsewhere the system does not say; `--no-mmap` is there for the cases that matter.
#[cfg(not(target_os = "linux"))]
pub(super) fn is_on_network(_file: &File) -> bool {
    false
}
