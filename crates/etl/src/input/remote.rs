//! An input that lies in a store reached over a network, read once: what has come is kept.

use std::io;
use std::ops::Range;
use std::path::Path;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use base::error::{Error, ErrorCode, ErrorKind, Result};
use base::progress::Progress;
use base::remote::{self, ObjectFacts, Objects, Requests, Stop};

use super::access::{Identity, Input, Since, changed};
use super::address::Address;
use super::local;
use super::remote_packed::PackedBlocks;
use super::remote_space::{BLOCK, Kept, RemoteSpace, Room};

/// Blocks that are on their way side by side, unless more threads than that wait for one each.
const AHEAD: usize = 8;

/// How often whoever waits for a block of another thread looks whether to stop.
const LOOK: Duration = Duration::from_millis(100);

/// An object as an input. Its blocks come when they are wanted, and stay as far as there is room.
#[derive(Debug)]
pub(super) struct RemoteInput {
    identity: Identity,
    facts: ObjectFacts,
    url: String,
    client: Arc<dyn Objects>,
    since: Since,
    room: Arc<Room>,
    /// Blocks that may go from memory and need not come again.
    packed: Option<PackedBlocks>,
    blocks: Mutex<Blocks>,
    has_come: Condvar,
}

/// What is there of an input.
#[derive(Debug)]
struct Blocks {
    states: Vec<BlockState>,
    /// Those that some thread waits for.
    coming: usize,
    kept: Kept,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum BlockState {
    /// It was never asked for.
    #[default]
    Unknown,
    /// Some thread waits for it.
    Coming,
    /// It is kept.
    There,
    /// It was there, and had to go.
    Gone,
}

impl RemoteInput {
    /// Opens an object, or hands out the one that is open; what comes of it is kept in `space`, or in a file without a name in
    /// `folder`, of at most `most` bytes, packed where it would have more.
    ///
    /// # Errors
    /// Of the kind `Input` when it cannot be had, or is empty; `Usage` when the address is none that is read.
    pub(super) fn open(
        address: &Address,
        since: Since,
        space: &Arc<RemoteSpace>,
        (folder, most): (&Path, u64),
        progress: &dyn Progress,
    ) -> Result<Arc<dyn Input>> {
        space.watch(progress);
        let url = remote::url_of(address).unwrap_or_default();
        let client = remote::client(&url)?;
        Self::open_by(client, (address, url), since, space, (folder, most))
    }

    fn open_by(
        client: Arc<dyn Objects>,
        (address, url): (&Address, String),
        since: Since,
        space: &Arc<RemoteSpace>,
        (folder, most): (&Path, u64),
    ) -> Result<Arc<dyn Input>> {
        let stop = space.room().stop();
        let facts = client.head(&url, &stop).map_err(|cause| unreachable(address, cause, &stop))?;
        if facts.size == 0 {
            let error = Error::new(ErrorKind::Input, "expected a trace file, found an empty object");
            return Err(error.with_code(ErrorCode::NotATrace).in_file(address));
        }
        let (size, modified, tag) = (facts.size, facts.modified, facts.tag.clone());
        let identity = Identity { source: address.clone(), size, modified, tag };
        if let Some(open) = space.opened(address, &identity) {
            return Ok(open);
        }
        let count = usize::try_from(size.div_ceil(BLOCK)).map_err(|_| too_large(address))?;
        let (kept, packed) = space.keep(size, folder, most);
        let blocks = Blocks { states: vec![BlockState::Unknown; count], coming: 0, kept };
        let (blocks, has_come) = (Mutex::new(blocks), Condvar::new());
        let room = Arc::clone(space.room());
        let input = RemoteInput { identity, facts, url, client, since, room, packed, blocks, has_come };
        let input: Arc<dyn Input> = Arc::new(input);
        space.remember(&input);
        Ok(input)
    }

    /// What is known of an object that nobody opens; `None` where it cannot be had.
    pub(super) fn facts_at(address: &Address) -> Option<ObjectFacts> {
        let url = remote::url_of(address)?;
        remote::client(&url).ok()?.head(&url, &Stop::default()).ok()
    }

    fn blocks(&self) -> MutexGuard<'_, Blocks> {
        // A state changes by one store.
        self.blocks.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn range(&self, block: usize) -> Range<u64> {
        let start = block as u64 * BLOCK;
        start..start.saturating_add(BLOCK).min(self.facts.size)
    }

    /// Copies what lies at a place of a block, when it has come.
    fn copy(&self, block: usize, within: u64, target: &mut [u8]) -> Result<()> {
        let mut blocks = self.blocks();
        loop {
            match blocks.states.get(block).copied() {
                None => return Err(self.changed()),
                Some(BlockState::There) => return self.copy_kept(blocks, block, within, target),
                Some(BlockState::Coming) => {
                    if self.room.stop().is_asked() {
                        return Err(interrupted());
                    }
                    blocks = self.has_come.wait_timeout(blocks, LOOK).unwrap_or_else(PoisonError::into_inner).0;
                }
                Some(BlockState::Unknown | BlockState::Gone) => {
                    let wanted = blocks.claim(block, self.packed.as_ref());
                    drop(blocks);
                    blocks = self.bring(&wanted)?;
                }
            }
        }
    }

    fn copy_kept(
        &self,
        mut blocks: MutexGuard<'_, Blocks>,
        block: usize,
        within: u64,
        target: &mut [u8],
    ) -> Result<()> {
        match &mut blocks.kept {
            Kept::Memory(memory) => memory.copy(block, within, target),
            Kept::File(file) => {
                let file = Arc::clone(file);
                // Others may go on meanwhile.
                drop(blocks);
                local::read_exact_at(&file, target, block as u64 * BLOCK + within)
                    .map_err(|cause| spool_error(self.path(), cause))
            }
        }
    }

    /// Brings blocks, and keeps them. Whatever happens nobody waits for them any more.
    fn bring(&self, wanted: &[(usize, BlockState)]) -> Result<MutexGuard<'_, Blocks>> {
        let brought = self.unpack(wanted).unwrap_or_else(|| self.fetch(wanted));
        let mut blocks = self.blocks();
        blocks.coming = blocks.coming.saturating_sub(wanted.len());
        let kept = brought.and_then(|brought| {
            wanted.iter().zip(brought).try_for_each(|((block, _), bytes)| self.keep(&mut blocks, *block, bytes))
        });
        for &(block, before) in wanted {
            if blocks.states[block] == BlockState::Coming {
                blocks.states[block] = before;
            }
        }
        self.has_come.notify_all();
        kept.map(|()| blocks)
    }

    /// The block that is wanted, where it is kept packed: such a one is claimed alone.
    fn unpack(&self, wanted: &[(usize, BlockState)]) -> Option<Result<Vec<Vec<u8>>>> {
        let [(block, _)] = wanted else { return None };
        let Range { start, end } = self.range(*block);
        let read = self.packed.as_ref()?.read(*block, usize::try_from(end - start).ok()?)?;
        Some(read.map(|bytes| vec![bytes]).map_err(|cause| spool_error(self.path(), cause)))
    }

    /// Asks for blocks, and keeps them packed, where they are to be.
    fn fetch(&self, wanted: &[(usize, BlockState)]) -> Result<Vec<Vec<u8>>> {
        let ranges: Vec<Range<u64>> = wanted.iter().map(|(block, _)| self.range(*block)).collect();
        let read = self.client.read(&self.url, &ranges, &self.facts, &self.room.stop());
        let read = read.map_err(|cause| self.failed(cause, ranges[0].start))?;
        let read = self.whole(&ranges, read)?;
        let again: u64 = of_second_time(wanted, &ranges);
        Requests { bytes_read_again: again, ..Requests::default() }.count();
        if let Some(packed) = &self.packed {
            let kept = wanted.iter().zip(&read).try_for_each(|((block, _), bytes)| packed.keep(*block, bytes));
            kept.map_err(|cause| spool_error(self.path(), cause))?;
        }
        Ok(read)
    }

    /// What came, where it is what was asked for.
    fn whole(&self, ranges: &[Range<u64>], read: Vec<Vec<u8>>) -> Result<Vec<Vec<u8>>> {
        let is_whole = |(range, bytes): (&Range<u64>, &Vec<u8>)| bytes.len() as u64 == range.end - range.start;
        if read.len() == ranges.len() && ranges.iter().zip(&read).all(is_whole) {
            return Ok(read);
        }
        let (expected, found) = (ranges.iter().map(|range| range.end - range.start), read.iter().map(Vec::len));
        let message = format!("expected {} bytes, the store sent {}", expected.sum::<u64>(), found.sum::<usize>());
        let error = Error::new(ErrorKind::Input, message).in_file(self.path()).at_offset(ranges[0].start);
        Err(error.with_hint("run again; where it happens again, copy the file here"))
    }

    fn keep(&self, blocks: &mut Blocks, block: usize, bytes: Vec<u8>) -> Result<()> {
        match &mut blocks.kept {
            Kept::Memory(memory) => memory.keep(block, bytes),
            Kept::File(file) => {
                let file = Arc::clone(file);
                local::write_all_at(&file, &bytes, block as u64 * BLOCK)
                    .map_err(|cause| spool_error(self.path(), cause))?;
            }
        }
        blocks.states[block] = BlockState::There;
        Ok(())
    }

    fn failed(&self, cause: io::Error, offset: u64) -> Error {
        match cause.kind() {
            io::ErrorKind::StaleNetworkFileHandle => self.changed(),
            _ => unreachable(&self.identity.source, cause, &self.room.stop()).at_offset(offset),
        }
    }
}

impl Blocks {
    /// Takes it upon the caller to bring a block; where it is not kept packed, those behind it, too, that are not, where it goes on
    /// from one that was there.
    fn claim(&mut self, block: usize, packed: Option<&PackedBlocks>) -> Vec<(usize, BlockState)> {
        let is_packed = |block| packed.is_some_and(|packed| packed.has(block));
        let is_had = |state: &&BlockState| !matches!(state, BlockState::Unknown);
        let before = self.states[..block].iter().rev().take(AHEAD - 1).take_while(is_had).count();
        let most = (before + 1).min(self.kept.most_at_a_time()).min(AHEAD.saturating_sub(self.coming));
        let most = if is_packed(block) { 1 } else { most.max(1) };
        let wanted = self.states.iter().copied().enumerate().skip(block).take(most);
        let wanted = wanted.take_while(|&(number, state)| match state {
            BlockState::Unknown | BlockState::Gone => number == block || !is_packed(number),
            BlockState::Coming | BlockState::There => false,
        });
        let wanted: Vec<(usize, BlockState)> = wanted.collect();
        wanted.iter().for_each(|&(block, _)| self.states[block] = BlockState::Coming);
        self.coming += wanted.len();
        let gone = self.kept.make_room(self.coming);
        gone.into_iter().for_each(|block| self.states[block] = BlockState::Gone);
        wanted
    }
}

impl Input for RemoteInput {
    fn identity(&self) -> &Identity {
        &self.identity
    }

    fn read_into(&self, offset: u64, target: &mut [u8]) -> Result<()> {
        let end = offset.checked_add(target.len() as u64).filter(|end| *end <= self.facts.size);
        end.ok_or_else(|| self.changed().at_offset(offset))?;
        let (mut offset, mut rest) = (offset, target);
        while !rest.is_empty() {
            let (block, within) = (offset / BLOCK, offset % BLOCK);
            let len = usize::try_from(BLOCK - within).unwrap_or(usize::MAX).min(rest.len());
            let (now, later) = rest.split_at_mut(len);
            self.copy(usize::try_from(block).unwrap_or(usize::MAX), within, now)?;
            (offset, rest) = (offset + len as u64, later);
        }
        Ok(())
    }

    fn check_unchanged(&self) -> Result<()> {
        let now = self.client.head(&self.url, &self.room.stop());
        let now = now.map_err(|cause| self.failed(cause, 0))?;
        if now == self.facts { Ok(()) } else { Err(self.changed()) }
    }

    fn changed(&self) -> Error {
        changed(self.path(), self.since)
    }
}

/// Bytes of those that had come before.
fn of_second_time(wanted: &[(usize, BlockState)], ranges: &[Range<u64>]) -> u64 {
    let again = wanted.iter().zip(ranges).filter(|((_, before), _)| *before == BlockState::Gone);
    again.map(|(_, range)| range.end - range.start).sum()
}

fn interrupted() -> Error {
    Error::new(ErrorKind::Interrupted, "interrupted")
}

fn too_large(address: &Address) -> Error {
    Error::new(ErrorKind::Input, "the object is larger than this system can address").in_file(address)
}

/// A failure of the store.
fn unreachable(address: &Address, cause: io::Error, stop: &Stop) -> Error {
    if stop.is_asked() {
        return interrupted();
    }
    let (message, hint) = match cause.kind() {
        io::ErrorKind::NotFound => ("there is no such object", "check the address"),
        io::ErrorKind::PermissionDenied => {
            ("the store does not let this user read the object", "check the credentials, their end and the region")
        }
        _ => ("the object cannot be read", "check the network and the address, then run again"),
    };
    let code = if cause.kind() == io::ErrorKind::NotFound { None } else { Some(ErrorCode::UnreadableInput) };
    let error = Error::new(ErrorKind::Input, message).in_file(address).caused_by(cause).with_hint(hint);
    match code {
        Some(code) => error.with_code(code),
        None => error,
    }
}

fn spool_error(path: &Path, cause: io::Error) -> Error {
    let hint = "free some space, or name another folder with --spool-dir";
    Error::new(ErrorKind::Output, "cannot keep what came of it in a temporary file")
        .in_file(path)
        .caused_by(cause)
        .with_hint(hint)
}

#[cfg(test)]
mod tests {
    use base::remote::memory::{Fault, MemoryObjects};

    use super::*;

    const URL: &str = "s3://lab/a.etl";

    /// So many half blocks of bytes that no other block has.
    fn content(halves: u64) -> Vec<u8> {
        let words = (0..halves * BLOCK / 2 / 8).map(|word| word.wrapping_mul(0x9E37_79B9_7F4A_7C15));
        words.flat_map(u64::to_le_bytes).collect()
    }

    struct Lab {
        objects: Arc<MemoryObjects>,
        space: Arc<RemoteSpace>,
        folder: tempfile::TempDir,
        content: Vec<u8>,
    }

    impl Lab {
        /// An object and the memory for it, in half blocks.
        fn new(halves: u64, memory: u64) -> Lab {
            Lab::of(content(halves), memory)
        }

        fn of(content: Vec<u8>, memory: u64) -> Lab {
            let objects = Arc::new(MemoryObjects::default());
            objects.set(URL, &content);
            let space = Arc::new(RemoteSpace::new(memory * BLOCK / 2));
            Lab { objects, space, folder: tempfile::tempdir().unwrap(), content }
        }

        fn open(&self, most: u64) -> Result<Arc<dyn Input>> {
            let client = Arc::clone(&self.objects) as Arc<dyn Objects>;
            let address = (&Address::from(URL), URL.to_owned());
            RemoteInput::open_by(client, address, Since::Opened, &self.space, (self.folder.path(), most))
        }

        /// Reads an input from its start to its end; returns requests and bytes that it took, in blocks.
        fn read(&self, input: &dyn Input) -> (u64, u64) {
            let before = self.objects.counts();
            let mut target = vec![0; 3 << 20];
            for offset in (0..input.size()).step_by(target.len()) {
                let len = input.available(offset, target.len());
                input.read_into(offset, &mut target[..len]).unwrap();
                let start = usize::try_from(offset).unwrap();
                assert!(target[..len] == self.content[start..start + len], "{offset}");
            }
            let after = self.objects.counts();
            (after.0 - before.0, (after.1 - before.1).div_ceil(BLOCK))
        }
    }

    #[test]
    fn an_input_that_finds_room_comes_once() {
        for (memory, most) in [(12, 0), (2, u64::MAX)] {
            let lab = Lab::new(11, memory);
            let input = lab.open(most).unwrap();
            assert_eq!(lab.read(&*input), (6, 6));
            assert_eq!(lab.read(&*input), (0, 0), "all of it is there");
            // Who opens it again asks whether it is the same.
            assert_eq!(lab.read(&*lab.open(most).unwrap()), (0, 0));
        }
    }

    #[test]
    fn of_one_that_finds_none_the_last_blocks_are_kept() {
        let lab = Lab::new(18, 8);
        let input = lab.open(0).unwrap();
        let before = Requests::so_far();
        assert_eq!(lab.read(&*input), (9, 9));
        assert_eq!(lab.read(&*input), (9, 9), "each block had to go for another");
        assert!(Requests::so_far().since(before).bytes_read_again >= 9 * BLOCK);
        // Nobody reads it any more: what it had of the memory is there for others.
        drop(input);
        lab.objects.set(URL, &lab.content[..3 << 23]);
        let small = Lab { content: lab.content[..3 << 23].to_vec(), ..lab };
        let input = small.open(0).unwrap();
        assert_eq!((small.read(&*input), small.read(&*input)), ((3, 3), (0, 0)));
    }

    /// Nine blocks: the last half of each is packed to nearly nothing.
    fn halves_of_zeros() -> Vec<u8> {
        let mut content = content(18);
        content.chunks_mut(1 << 22).skip(1).step_by(2).for_each(|half| half.fill(0));
        content
    }

    #[test]
    fn blocks_that_are_kept_packed_come_once() {
        // Half of it, and what packed zeros and nine heads of frames take.
        let lab = Lab::of(halves_of_zeros(), 4);
        let input = lab.open((9 * BLOCK / 2) + (64 << 10)).unwrap();
        let before = Requests::so_far();
        assert_eq!(lab.read(&*input), (9, 9));
        assert_eq!(lab.read(&*input), (0, 0), "all of it is there");
        assert_eq!(Requests::so_far().since(before).bytes_read_again, 0);
        assert_eq!(lab.read(&*lab.open(u64::MAX).unwrap()), (0, 0), "the one that is open is handed out");
    }

    #[test]
    fn packed_blocks_that_find_no_room_come_again() {
        // Four of nine, packed, fit in; of blocks that do not get shorter two.
        for (content, packed) in [(halves_of_zeros(), 4), (content(18), 2)] {
            let lab = Lab::of(content, 4);
            let input = lab.open(5 * BLOCK / 2).unwrap();
            assert_eq!(lab.read(&*input), (9, 9));
            assert_eq!(lab.read(&*input), (9 - packed, 9 - packed));
            assert_eq!(lab.read(&*input), (9 - packed, 9 - packed));
        }
    }

    #[test]
    fn threads_that_read_packed_blocks_wait_for_each_other() {
        let lab = Lab::of(halves_of_zeros(), 4);
        let input = lab.open(5 * BLOCK).unwrap();
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| lab.read(&*input));
            }
        });
        assert_eq!(lab.objects.counts().1, 9 * BLOCK, "no block came twice");
    }

    #[test]
    fn many_threads_wait_for_one_request() {
        let lab = Lab::new(8, 8);
        let input = lab.open(0).unwrap();
        std::thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| lab.read(&*input));
            }
        });
        assert_eq!(lab.objects.counts().1, 4 * BLOCK, "no block came twice");
    }

    #[test]
    fn failures_say_what_to_do_and_leave_nothing_half_read() {
        let t = |fault: Fault, kind: ErrorKind, expected: &str| {
            let lab = Lab::new(3, 4);
            let input = lab.open(0).unwrap();
            lab.objects.fail_after(0, fault);
            let error = input.read_into(10, &mut [0; 100]).unwrap_err();
            assert_eq!(error.kind(), kind);
            assert!(error.to_string().contains(expected), "{error}");
            lab.objects.heal();
            lab.read(&*input);
        };
        t(Fault::Refused, ErrorKind::Input, "s3://lab/a.etl, offset 0x0: the object cannot be read");
        t(Fault::Forbidden, ErrorKind::Input, "the store does not let this user read the object");
        t(Fault::CutShort, ErrorKind::Input, "expected 8388608 bytes, the store sent 8388607");
    }

    #[test]
    fn another_object_in_its_place_is_a_change() {
        let lab = Lab::new(3, 4);
        let input = lab.open(0).unwrap();
        input.read_into(0, &mut [0; 10]).unwrap();
        input.check_unchanged().unwrap();
        lab.objects.set(URL, &lab.content);
        assert_eq!(input.check_unchanged().unwrap_err().code(), ErrorCode::InputChanged);
        assert_eq!(input.read_into(BLOCK, &mut [0; 10]).unwrap_err().code(), ErrorCode::InputChanged);
        assert_eq!(lab.read(&*lab.open(0).unwrap()), (2, 2), "who opens it now has the new one");
        assert!(input.read_into(lab.content.len() as u64 - 1, &mut [0; 2]).is_err(), "nothing is behind the end");
        lab.objects.set(URL, b"");
        assert_eq!(lab.open(0).unwrap_err().code(), ErrorCode::NotATrace);
    }

    #[test]
    fn whoever_waits_can_be_stopped() {
        struct Asked;
        impl Progress for Asked {
            fn advance(&self, _amount: u64) {}

            fn stop(&self) -> Stop {
                Stop::when(|| true)
            }
        }
        let lab = Lab::new(2, 4);
        let input = lab.open(0).unwrap();
        lab.space.watch(&Asked);
        lab.objects.fail_after(0, Fault::Refused);
        assert_eq!(input.read_into(0, &mut [0; 10]).unwrap_err().kind(), ErrorKind::Interrupted);
    }
}
