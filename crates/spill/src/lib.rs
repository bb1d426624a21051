//! Plain records that go to a temporary file where they are too many for memory.
//!
//! What is known of every buffer, and of every part of a slice, grows with the input and is needed at any place until the
//! trace is written. It is written once, in order, and then only read: through a memory map, so that the pages belong to
//! the system, which may take them away and fetch them again. The file has no name, and ends with the program.

mod mapping;

use std::fmt;
use std::fs::File;
use std::io::{self, Read, Seek, Write};
use std::marker::PhantomData;
use std::ops::Deref;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use base::error::{Error, ErrorKind, Result};
use mapping::Mapping;
use zerocopy::{FromBytes, Immutable, IntoBytes};

/// A record without pointers and padding: the bytes in memory are the bytes on disk.
pub trait Record: FromBytes + IntoBytes + Immutable + Copy {}

impl<T: FromBytes + IntoBytes + Immutable + Copy> Record for T {}

/// Bytes that all finished records of a job may take in memory; the others are on disk.
const ROOM: usize = 32 << 20;

/// Bytes of records that wait to be written.
const BLOCK: usize = 4 << 20;

/// Bytes of records that wait, from which on room for them grows fourfold: in smaller steps they are copied again and again,
/// and room for all that ever wait is too much for those of a small trace.
const GROWN: usize = 256 << 10;

/// Where the records of a job go.
#[derive(Clone, Debug)]
pub struct SpillSpace {
    folder: PathBuf,
    room: Arc<AtomicUsize>,
    block: usize,
}

impl SpillSpace {
    /// Records go to files without a name in `folder`, once they are too many.
    pub fn new(folder: &Path) -> Self {
        SpillSpace::with_room(folder, ROOM, BLOCK)
    }

    /// Records go to the system's folder for temporary files, once they are too many.
    pub fn temporary() -> Self {
        SpillSpace::new(&std::env::temp_dir())
    }

    /// As [`SpillSpace::new`], with other limits, in bytes: what finished records may take in memory together, and how
    /// many are written at a time.
    pub fn with_room(folder: &Path, room: usize, block: usize) -> Self {
        SpillSpace { folder: folder.to_owned(), room: Arc::new(AtomicUsize::new(room)), block }
    }

    /// A list of records that is to be filled.
    pub fn records<T: Record>(&self) -> SpillWriter<T> {
        SpillWriter { space: self.clone(), file: None, written: 0, waiting: Vec::new() }
    }

    /// Takes room in memory, if there is so much left.
    fn lease(&self, bytes: usize) -> Option<Lease> {
        let taken = self.room.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(bytes));
        taken.is_ok().then(|| Lease { room: Arc::clone(&self.room), bytes })
    }

    fn error(&self, cause: io::Error) -> Error {
        let message = "cannot keep what is known of the trace in a temporary file in this folder";
        let hint = match cause.kind() {
            io::ErrorKind::FileTooLarge => "raise the limit of file sizes (ulimit -f)",
            _ => "free some space there; the folder is that of the output, and without output TMPDIR names it",
        };
        Error::new(ErrorKind::Output, message).in_file(&self.folder).caused_by(cause).with_hint(hint)
    }
}

/// Room in memory, until it is dropped.
#[derive(Debug)]
struct Lease {
    room: Arc<AtomicUsize>,
    bytes: usize,
}

impl Drop for Lease {
    fn drop(&mut self) {
        self.room.fetch_add(self.bytes, Ordering::Relaxed);
    }
}

/// A list of records while it is filled.
#[derive(Debug)]
pub struct SpillWriter<T> {
    space: SpillSpace,
    file: Option<File>,
    /// Records in the file.
    written: usize,
    waiting: Vec<T>,
}

impl<T: Record> SpillWriter<T> {
    /// How many records there are.
    pub fn len(&self) -> usize {
        self.written + self.waiting.len()
    }

    /// Whether there is none yet.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Adds a record.
    ///
    /// # Errors
    /// [`ErrorKind::Output`] when the temporary file cannot be written.
    pub fn push(&mut self, record: T) -> Result<()> {
        self.extend(&[record])
    }

    /// Adds records in their order.
    ///
    /// # Errors
    /// Those of [`SpillWriter::push`].
    pub fn extend(&mut self, records: &[T]) -> Result<()> {
        self.make_room(records.len());
        self.waiting.extend_from_slice(records);
        if size_of_val(&self.waiting[..]) < self.space.block {
            return Ok(());
        }
        self.write().map_err(|cause| self.space.error(cause))
    }

    fn make_room(&mut self, more: usize) {
        let waiting = self.waiting.len();
        if self.waiting.capacity() - waiting < more && size_of_val(&self.waiting[..]) >= GROWN {
            let all = self.space.block.div_ceil(size_of::<T>().max(1));
            let room = all.min(waiting.saturating_mul(4));
            self.waiting.reserve_exact(room.saturating_sub(waiting).max(more));
        }
    }

    /// Brings what waits to disk.
    fn write(&mut self) -> io::Result<()> {
        let file = match &mut self.file {
            Some(file) => file,
            none @ None => none.insert(tempfile::tempfile_in(&self.space.folder)?),
        };
        file.write_all(self.waiting.as_bytes())?;
        self.written += self.waiting.len();
        self.waiting.clear();
        Ok(())
    }

    /// The records, to be read at any place.
    ///
    /// # Errors
    /// Those of [`SpillWriter::push`].
    pub fn finish(mut self) -> Result<Spilled<T>> {
        if self.file.is_none()
            && let Some(lease) = self.space.lease(size_of_val(&self.waiting[..]))
        {
            self.waiting.shrink_to_fit();
            return Ok(Spilled::in_memory(self.waiting, Some(lease)));
        }
        self.written().map_err(|cause| self.space.error(cause))
    }

    /// The records, all of which go to the file.
    fn written(&mut self) -> io::Result<Spilled<T>> {
        self.write()?;
        let Some(mut file) = self.file.take() else { return Ok(Spilled::default()) };
        if let Some(mapping) = Mapping::of(&file) {
            return Ok(Spilled { records: Records::Mapped(mapping, PhantomData) });
        }
        // Some file systems map nothing.
        let mut records = Vec::new();
        records.resize_with(self.written, T::new_zeroed);
        file.rewind()?;
        file.read_exact(records.as_mut_bytes())?;
        Ok(Spilled::in_memory(records, None))
    }
}

/// A list of records, in memory or mapped; to its users a slice.
pub struct Spilled<T> {
    records: Records<T>,
}

enum Records<T> {
    Kept(Vec<T>, #[expect(dead_code, reason = "dropping it gives the room back")] Option<Lease>),
    /// Its length is a multiple of that of a record, and it starts with a page.
    Mapped(Mapping, PhantomData<T>),
}

impl<T> Spilled<T> {
    fn in_memory(records: Vec<T>, lease: Option<Lease>) -> Self {
        Spilled { records: Records::Kept(records, lease) }
    }
}

impl<T> Default for Spilled<T> {
    fn default() -> Self {
        Spilled::in_memory(Vec::new(), None)
    }
}

impl<T: Record> Deref for Spilled<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        match &self.records {
            Records::Kept(records, _) => records,
            Records::Mapped(mapping, _) => <[T]>::ref_from_bytes(mapping.bytes()).unwrap_or_default(),
        }
    }
}

impl<T: Record> fmt::Debug for Spilled<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Spilled").field("len", &self.len()).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    fn is_mapped<T: Record>(records: &Spilled<T>) -> bool {
        matches!(records.records, Records::Mapped(..))
    }

    fn filled(space: &SpillSpace, count: u32) -> Spilled<u32> {
        let mut writer = space.records();
        (0..count).for_each(|record| writer.push(record).unwrap());
        assert_eq!(writer.len(), count as usize);
        writer.finish().unwrap()
    }

    #[test]
    fn records_are_the_same_in_memory_and_on_disk() {
        let folder = tempfile::tempdir().unwrap();
        // Four records wait at a time, and finished lists may hold ten together.
        let space = SpillSpace::with_room(folder.path(), 40, 16);
        for (count, on_disk) in [(0, false), (1, false), (3, false), (4, true), (5, true), (1000, true)] {
            let records = filled(&space, count);
            assert_eq!(is_mapped(&records), on_disk, "{count}");
            assert!(records.iter().copied().eq(0..count), "{count}");
            let names = || fs::read_dir(folder.path()).unwrap().count();
            // Windows has no files without a name, but ones that end with who uses them.
            assert_eq!(names(), usize::from(cfg!(windows) && on_disk), "the file has a name");
            drop(records);
            assert_eq!(names(), 0);
        }
    }

    #[test]
    fn room_is_shared_and_given_back() {
        let folder = tempfile::tempdir().unwrap();
        let space = SpillSpace::with_room(folder.path(), 40, 1 << 20);
        let (first, second) = (filled(&space, 6), filled(&space.clone(), 6));
        assert_eq!((is_mapped(&first), is_mapped(&second)), (false, true));
        assert_eq!(second[5], 5);
        drop(first);
        assert!(!is_mapped(&filled(&space, 10)));
    }

    #[test]
    fn a_failure_names_the_folder() {
        let folder = tempfile::tempdir().unwrap().path().join("gone");
        let mut writer = SpillSpace::with_room(&folder, 0, 4).records();
        let error = writer.push(1u32).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Output);
        assert_eq!(error.location().file.as_deref(), Some(&*folder));
        assert!(error.to_string().contains("free some space there"), "{error}");
    }
}
