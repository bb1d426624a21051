//! Blocks of an input that lie packed in a file without a name, as many as find room there.

use std::fs::File;
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::local;

/// The level of Zstandard that keeps up with what comes: the buffers of a trace become a fifth to an eighth.
const LEVEL: i32 = 1;

/// A file of packed blocks, and where each of them lies: 16 bytes of memory for each block of the input.
#[derive(Debug)]
pub(super) struct PackedBlocks {
    /// Bytes that the file may have.
    most: u64,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    /// `None` once its disk is full.
    file: Option<Arc<File>>,
    /// Bytes of it that are taken.
    end: u64,
    /// Whether some block found no room: none is tried after it.
    is_full: bool,
    places: Vec<Place>,
}

/// Where a block lies. One that is as long there as it is was not packed, and one of no bytes is not there.
#[derive(Clone, Copy, Debug, Default)]
struct Place {
    offset: u64,
    len: u32,
}

impl PackedBlocks {
    /// Room for so many blocks in a file that is empty, and gets `most` bytes at most.
    pub(super) fn new(file: File, blocks: usize, most: u64) -> PackedBlocks {
        let places = vec![Place::default(); blocks];
        let state = State { file: Some(Arc::new(file)), end: 0, is_full: false, places };
        PackedBlocks { most, state: Mutex::new(state) }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // It is whole after any of its changes.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether a block is there.
    pub(super) fn has(&self, block: usize) -> bool {
        self.state().places.get(block).is_some_and(|place| place.len > 0)
    }

    /// Keeps a block, where it finds room. Where the disk has none, all that was kept is given up: what is written beside it needs
    /// the room, and blocks can be had again.
    ///
    /// # Errors
    /// Where the file cannot be written for another reason.
    pub(super) fn keep(&self, block: usize, bytes: &[u8]) -> io::Result<()> {
        if self.state().is_full {
            return Ok(());
        }
        let mut packed = vec![0; bytes.len()];
        // It is an error if it does not get shorter.
        let len = zstd::bulk::compress_to_buffer(bytes, &mut packed, LEVEL).ok().filter(|len| *len < bytes.len());
        let content = len.and_then(|len| packed.get(..len)).unwrap_or(bytes);
        let Some((file, place)) = self.reserve(content.len()) else { return Ok(()) };
        match local::write_all_at(&file, content, place.offset) {
            Ok(()) => self.state().put(block, place),
            Err(cause) if is_for_want_of_room(&cause) => self.state().give_up(),
            Err(cause) => return Err(cause),
        }
        Ok(())
    }

    /// Takes the next bytes of the file.
    fn reserve(&self, len: usize) -> Option<(Arc<File>, Place)> {
        let mut state = self.state();
        let place = Place { offset: state.end, len: u32::try_from(len).ok()? };
        let end = place.offset.saturating_add(place.len.into());
        state.is_full |= end > self.most;
        if state.is_full {
            return None;
        }
        state.end = end;
        Some((Arc::clone(state.file.as_ref()?), place))
    }

    /// A block of so many bytes; `None` where it is not there.
    ///
    /// # Errors
    /// Where the file cannot be read.
    pub(super) fn read(&self, block: usize, len: usize) -> Option<io::Result<Vec<u8>>> {
        let state = self.state();
        let place = *state.places.get(block).filter(|place| place.len > 0)?;
        let file = Arc::clone(state.file.as_ref()?);
        // Others may go on meanwhile.
        drop(state);
        Some(place.read(&file, len))
    }
}

impl State {
    fn put(&mut self, block: usize, place: Place) {
        // Others may have given up meanwhile.
        if self.file.is_some()
            && let Some(empty) = self.places.get_mut(block)
        {
            *empty = place;
        }
    }

    /// Keeps nothing any more. The file ends with whoever reads it just now.
    fn give_up(&mut self) {
        self.file = None;
        self.is_full = true;
        self.places = Vec::new();
    }
}

impl Place {
    fn read(self, file: &File, len: usize) -> io::Result<Vec<u8>> {
        let mut content = vec![0; usize::try_from(self.len).unwrap_or(usize::MAX)];
        local::read_exact_at(file, &mut content, self.offset)?;
        if content.len() == len {
            return Ok(content);
        }
        let plain = zstd::bulk::decompress(&content, len)?;
        if plain.len() == len { Ok(plain) } else { Err(io::ErrorKind::InvalidData.into()) }
    }
}

fn is_for_want_of_room(cause: &io::Error) -> bool {
    use io::ErrorKind::{FileTooLarge, QuotaExceeded, StorageFull};
    matches!(cause.kind(), StorageFull | QuotaExceeded | FileTooLarge)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Bytes that are packed to less, and some that are not.
    fn blocks() -> (Vec<u8>, Vec<u8>) {
        let words =
            |count: u64| (0..count).map(|word| word.wrapping_mul(0x9E37_79B9_7F4A_7C15)).flat_map(u64::to_le_bytes);
        (words(1000).flat_map(|byte| [byte; 64]).collect(), words(1000).collect())
    }

    fn kept(most: u64, of: &[&[u8]]) -> PackedBlocks {
        let packed = PackedBlocks::new(tempfile::tempfile().unwrap(), of.len(), most);
        of.iter().enumerate().for_each(|(block, bytes)| packed.keep(block, bytes).unwrap());
        packed
    }

    #[test]
    fn blocks_are_read_as_they_were() {
        let (small, plain) = blocks();
        let packed = kept(u64::MAX, &[&small, &plain, &small[..9]]);
        for (block, bytes) in [&small[..], &plain, &small[..9]].into_iter().enumerate() {
            assert!(packed.has(block));
            assert!(packed.read(block, bytes.len()).unwrap().unwrap() == bytes, "{block}");
        }
        let lens: Vec<usize> = packed.state().places.iter().map(|place| place.len as usize).collect();
        assert!(lens[0] < small.len() / 8, "{lens:?}");
        assert_eq!(lens[1..], [plain.len(), 9], "what does not get shorter lies there as it is");
        assert!(!packed.has(3) && packed.read(3, 1).is_none());
        assert_eq!(size_of::<Place>(), 16);
    }

    #[test]
    fn the_file_gets_no_more_than_it_may() {
        let (_, plain) = blocks();
        let most = 2 * plain.len() as u64;
        let packed = kept(most, &[&plain, &plain, &[7], &plain]);
        assert_eq!([0, 1, 2, 3].map(|block| packed.has(block)), [true, true, false, false]);
        assert_eq!(packed.state().file.as_ref().unwrap().metadata().unwrap().len(), most);
        let packed = kept(most - 1, &[&plain, &plain, &[7]]);
        assert_eq!(
            [0, 1, 2].map(|block| packed.has(block)),
            [true, false, false],
            "none is tried after one without room"
        );
    }

    #[test]
    fn what_was_cut_is_an_error() {
        let (small, _) = blocks();
        let packed = kept(u64::MAX, &[&small]);
        assert_eq!(packed.read(0, small.len() + 1).unwrap().unwrap_err().kind(), io::ErrorKind::InvalidData);
        packed.state().file.as_ref().unwrap().set_len(10).unwrap();
        assert_eq!(packed.read(0, small.len()).unwrap().unwrap_err().kind(), io::ErrorKind::UnexpectedEof);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_full_disk_ends_the_file_and_nothing_else() {
        let full = File::options().read(true).write(true).open("/dev/full").unwrap();
        let packed = PackedBlocks::new(full, 2, u64::MAX);
        packed.keep(0, &[1; 100]).unwrap();
        assert!(!packed.has(0) && packed.read(0, 100).is_none() && packed.state().file.is_none());
        packed.keep(1, &[1; 100]).unwrap();
        assert!(!packed.has(1));
    }
}
