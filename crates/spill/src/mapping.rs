//! The memory map of a spill file: the only unsafe code of this crate.

use std::fs::File;

/// A read-only map of a whole file.
#[derive(Debug)]
pub(super) struct Mapping(memmap2::Mmap);

impl Mapping {
    /// Maps a spill file, or gives `None` where the system or the address space does not allow it.
    #[expect(unsafe_code, reason = "a file can only be mapped by promising that nobody changes it")]
    pub(super) fn of(file: &File) -> Option<Mapping> {
        // SAFETY: the map is only sound while nobody changes the file. A spill file has no name, so that no other process
        // can reach it, and this one maps it when all of it is written and never writes to it again.
        let map = unsafe { memmap2::Mmap::map(file) }.ok()?;
        Some(Mapping(map))
    }

    /// The bytes of the file.
    pub(super) fn bytes(&self) -> &[u8] {
        &self.0
    }
}
