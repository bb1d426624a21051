//! Archives that several recordings of a run take members from: the directory is read once, and members that are packed
//! together are unpacked once.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use base::error::{ErrorKind, Result};
use base::progress::Progress;

use super::access::Identity;
use super::address::Address;
use super::container::{Archive, Spool, Unpacked};
use super::local::LocalFile;

/// What the recordings of a run take from archives, until they are done with.
#[derive(Debug, Default)]
pub struct SharedMembers {
    archives: BTreeMap<Address, SharedArchive>,
    /// The addresses of all members of these.
    addresses: HashMap<Address, (Address, String)>,
}

/// An archive that several recordings take members from.
#[derive(Debug, Default)]
struct SharedArchive {
    /// The archive, once somebody has opened it.
    opened: Mutex<Option<Arc<Archive>>>,
    shelf: Mutex<Shelf>,
}

/// The members of one archive.
#[derive(Debug, Default)]
pub(super) struct Shelf {
    /// Names of those that some recording may still ask for.
    wanted: BTreeSet<String>,
    known: Option<KnownArchive>,
}

/// What is known of an archive as it is now.
#[derive(Debug)]
struct KnownArchive {
    archive: Identity,
    /// Of each stream that several wanted members lie in, these, in the order in which they lie there.
    streams: BTreeMap<usize, Vec<usize>>,
    /// What came of members that were unpacked, by name.
    unpacked: BTreeMap<String, Result<UnpackedRange>>,
}

/// Unpacked bytes, and where among them those of a member are.
pub(super) type UnpackedRange = (Arc<Unpacked>, Range<u64>);

impl SharedMembers {
    /// For recordings with these inputs. Archives of which only one member is among them are left to themselves.
    pub fn of<'p>(addresses: impl IntoIterator<Item = &'p Address>) -> SharedMembers {
        let mut addresses: HashMap<Address, (Address, String)> =
            addresses.into_iter().filter_map(|address| Some((address.clone(), address.split()?))).collect();
        let mut wanted = BTreeMap::<Address, BTreeSet<String>>::new();
        for (container, member) in addresses.values() {
            wanted.entry(container.clone()).or_default().insert(member.clone());
        }
        wanted.retain(|_, names| names.len() > 1);
        addresses.retain(|_, (container, _)| wanted.contains_key(container));
        let archive = |wanted| SharedArchive {
            opened: Mutex::default(),
            shelf: Mutex::new(Shelf { wanted, ..Shelf::default() }),
        };
        let archives = wanted.into_iter().map(|(container, names)| (container, archive(names))).collect();
        SharedMembers { archives, addresses }
    }

    /// The archive and the member that an address names, as [`Address::split`] finds them; asks the system for none that are
    /// shared.
    pub(super) fn split(&self, address: &Address) -> Option<(Address, String)> {
        self.addresses.get(address).cloned().or_else(|| address.split())
    }

    /// Says that nobody asks for these again. An archive of which nobody asks for anything is closed.
    pub fn forget<'p>(&self, addresses: impl IntoIterator<Item = &'p Address>) {
        for (container, member) in addresses.into_iter().filter_map(|address| self.addresses.get(address)) {
            let Some(archive) = self.archives.get(container) else { continue };
            let mut shelf = archive.shelf.lock().unwrap_or_else(PoisonError::into_inner);
            shelf.wanted.remove(member);
            if let Some(known) = &mut shelf.known {
                known.unpacked.remove(member);
            }
            if shelf.wanted.is_empty() {
                *archive.opened.lock().unwrap_or_else(PoisonError::into_inner) = None;
            }
        }
    }

    /// Whether several recordings take members from this archive.
    pub(super) fn is_shared(&self, container: &Address) -> bool {
        self.archives.contains_key(container)
    }

    /// An archive, opened by `open` unless it was before and its file is still the same.
    ///
    /// # Errors
    /// Those of `open`.
    pub(super) fn archive(&self, container: &Address, open: impl FnOnce() -> Result<Archive>) -> Result<Arc<Archive>> {
        let Some(archive) = self.archives.get(container) else { return open().map(Arc::new) };
        let mut opened = archive.opened.lock().unwrap_or_else(PoisonError::into_inner);
        let now = LocalFile::identity_of(container);
        // Of an object the store sees to it with every read.
        let is_same =
            |archive: &&Arc<Archive>| container.scheme().is_some() || now.as_ref() == Some(archive.input().identity());
        if let Some(archive) = opened.as_ref().filter(is_same) {
            return Ok(Arc::clone(archive));
        }
        Ok(Arc::clone(opened.insert(Arc::new(open()?))))
    }

    /// What is known of an archive, while nobody else unpacks it.
    pub(super) fn shelf(&self, container: &Address) -> Option<MutexGuard<'_, Shelf>> {
        let archive = self.archives.get(container)?;
        Some(archive.shelf.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Shelf {
    /// What came of a member of the archive as it is now; `None` where it was not unpacked with others.
    ///
    /// # Errors
    /// What keeps the member from being read, which is at `address`.
    pub(super) fn place(&self, archive: &Archive, index: usize, address: &Address) -> Result<Option<UnpackedRange>> {
        let known = self.known.as_ref().filter(|known| known.archive == *archive.input().identity());
        match known.and_then(|known| known.unpacked.get(name(archive, index))) {
            None => Ok(None),
            Some(Ok(place)) => Ok(Some(place.clone())),
            Some(Err(error)) => Err(error.again().in_file(address)),
        }
    }

    /// The members to unpack in one go for this one: all of its stream that are wanted and were not unpacked, or where they take more
    /// than `limit` bytes together, as many as do not from this one on. None where it has no others.
    pub(super) fn batch(&mut self, archive: &Archive, index: usize, limit: u64) -> BTreeSet<usize> {
        self.know(archive);
        let known = archive.stream_of(index).zip(self.known.as_ref());
        let Some(of_stream) = known.and_then(|(stream, known)| known.streams.get(&stream)) else {
            return BTreeSet::new();
        };
        let is_missing = |index: &usize| {
            let name = name(archive, *index);
            self.wanted.contains(name) && self.known.as_ref().is_some_and(|known| !known.unpacked.contains_key(name))
        };
        let missing: Vec<usize> = of_stream.iter().copied().filter(is_missing).collect();
        let Some(at) = missing.iter().position(|missing| *missing == index) else { return BTreeSet::new() };
        let size = |index: &usize| archive.members().get(*index).and_then(|member| member.size).unwrap_or(u64::MAX);
        let all = missing.iter().map(size).fold(0, u64::saturating_add);
        let mut left = limit;
        let mut fits = |index: &usize| {
            let rest = left.checked_sub(size(index));
            left = rest.unwrap_or_default();
            rest.is_some()
        };
        let from = if all <= limit { 0 } else { at };
        missing.into_iter().skip(from).take_while(&mut fits).collect()
    }

    /// Makes sure that what is known is of the archive as it is now.
    fn know(&mut self, archive: &Archive) {
        if self.known.as_ref().is_some_and(|known| known.archive == *archive.input().identity()) {
            return;
        }
        let mut streams = BTreeMap::<usize, Vec<usize>>::new();
        for (index, member) in archive.members().iter().enumerate() {
            if let Some(stream) = archive.stream_of(index)
                && member.obstacle.is_none()
                && self.wanted.contains(&member.name)
            {
                streams.entry(stream).or_default().push(index);
            }
        }
        streams.retain(|_, members| members.len() > 1);
        streams.values_mut().for_each(|members| members.sort_by_key(|&index| archive.lies_at(index)));
        self.known =
            Some(KnownArchive { archive: archive.input().identity().clone(), streams, unpacked: BTreeMap::new() });
    }

    /// Unpacks members in one go. Whoever asks for a damaged member gets the error.
    ///
    /// # Errors
    /// Of the kind `Output` when there is no room, `Interrupted` when the caller asked to stop.
    pub(super) fn unpack(
        &mut self,
        archive: &Archive,
        members: &BTreeSet<usize>,
        mut spool: Spool,
        progress: &dyn Progress,
    ) -> Result<()> {
        let mut taken = BTreeMap::new();
        let done = archive.unpack(members, progress, &mut |index, plain| {
            let size = archive.members().get(index).and_then(|member| member.size);
            let range = spool.take(plain, size, archive.input().path());
            if let Err(error) = &range
                && error.kind() != ErrorKind::Input
            {
                return range.map(drop);
            }
            taken.insert(index, range);
            Ok(())
        });
        if let Err(error) = &done
            && error.kind() != ErrorKind::Input
        {
            return done;
        }
        let Some(known) = &mut self.known else { return Ok(()) };
        let bytes = Arc::new(spool.into_bytes());
        for &index in members {
            let outcome = match (taken.remove(&index), &done) {
                (Some(range), _) => range.map(|range| (Arc::clone(&bytes), range)),
                (None, Err(error)) => Err(error.again()),
                (None, Ok(())) => continue,
            };
            known.unpacked.insert(name(archive, index).to_owned(), outcome);
        }
        Ok(())
    }
}

fn name(archive: &Archive, index: usize) -> &str {
    archive.members().get(index).map_or("", |member| &member.name)
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::fs;

    use base::progress::NoProgress;

    use super::*;
    use crate::input::access::Input;
    use crate::input::container::Format;
    use crate::input::{InputId, Inputs, OpenOptions};

    /// `x/a.etl` of three words and `b.etl` of two; the cabinet has them in one folder, the 7z archive in one stream.
    const SEVEN: &[u8] = include_bytes!("container/testdata/two.7z");
    const CABINET: &[u8] = include_bytes!("container/testdata/two.cab");
    const ZIP: &[u8] = include_bytes!("container/testdata/two.zip");

    struct Lab {
        folder: tempfile::TempDir,
        options: OpenOptions,
        begun: Cell<u32>,
    }

    impl Lab {
        fn new(archive: &[u8]) -> Lab {
            let folder = tempfile::tempdir().unwrap();
            fs::write(folder.path().join("two"), archive).unwrap();
            let spool_dir = Some(folder.path().to_owned());
            let mut lab =
                Lab { folder, options: OpenOptions { spool_dir, ..OpenOptions::default() }, begun: Cell::new(0) };
            let members = [lab.address("x/a.etl"), lab.address("b.etl")];
            lab.options.shared = Arc::new(SharedMembers::of(members.iter()));
            lab
        }

        fn address(&self, member: &str) -> Address {
            Address::from(self.folder.path().join("two")).member(member).unwrap()
        }

        /// What a recording of one member reads, and how often something was unpacked until then.
        fn read(&self, member: &str) -> (Result<String>, u32) {
            let begin = |_| self.begun.set(self.begun.get() + 1);
            let text =
                Inputs::open_any(&[self.address(member)], &self.options, &begin, &NoProgress).and_then(|inputs| {
                    let input = inputs.get(InputId(0))?;
                    assert_eq!(input.path(), &*self.address(member));
                    let mut bytes = vec![0; input.size().try_into().unwrap()];
                    input.read_into(0, &mut bytes).map(|()| String::from_utf8(bytes).unwrap())
                });
            (text, self.begun.get())
        }

        fn t(&self, member: &str, text: &str, begun: u32) {
            let (found, times) = self.read(member);
            assert_eq!((found.unwrap().as_str(), times), (text, begun), "{member}");
        }
    }

    #[test]
    fn what_is_packed_together_is_unpacked_once() {
        for archive in [SEVEN, CABINET] {
            let lab = Lab::new(archive);
            lab.t("b.etl", "second second\n", 1);
            lab.t("x/a.etl", "first first first\n", 1);
            lab.t("b.etl", "second second\n", 1);
        }
    }

    #[test]
    fn what_is_packed_apart_is_unpacked_apart() {
        let lab = Lab::new(ZIP);
        lab.t("b.etl", "second second\n", 1);
        lab.t("x/a.etl", "first first first\n", 2);
    }

    #[test]
    fn members_that_take_too_much_together_are_unpacked_as_many_as_go() {
        let mut lab = Lab::new(SEVEN);
        lab.options.max_spool = Some(31);
        lab.t("b.etl", "second second\n", 1);
        lab.t("x/a.etl", "first first first\n", 2);
        lab.t("b.etl", "second second\n", 2);
        let mut lab = Lab::new(SEVEN);
        lab.options.max_spool = Some(32);
        lab.t("b.etl", "second second\n", 1);
        lab.t("x/a.etl", "first first first\n", 1);
    }

    #[test]
    fn an_archive_is_opened_once_and_closed_when_nobody_asks_for_its_members() {
        let lab = Lab::new(SEVEN);
        let (shared, path) = (&lab.options.shared, Address::from(lab.folder.path().join("two")));
        let opened = Cell::new(0);
        let open = || {
            let archive = shared.archive(&path, || {
                opened.set(opened.get() + 1);
                let input: Arc<dyn Input> = Arc::new(LocalFile::open(&path)?);
                Archive::open(input, Format::SevenZip, &NoProgress)
            });
            assert_eq!(archive.unwrap().members().len(), 2);
            opened.get()
        };
        assert_eq!([open(), open()], [1, 1]);
        shared.forget([&lab.address("b.etl")]);
        assert_eq!(open(), 1);
        shared.forget([&lab.address("x/a.etl")]);
        assert_eq!(open(), 2);
    }

    #[test]
    fn what_is_forgotten_is_not_kept() {
        let lab = Lab::new(SEVEN);
        lab.t("b.etl", "second second\n", 1);
        lab.options.shared.forget([&lab.address("b.etl")]);
        lab.t("x/a.etl", "first first first\n", 1);
        lab.t("b.etl", "second second\n", 2);
    }

    #[test]
    fn another_archive_of_the_same_name_is_read_anew() {
        let lab = Lab::new(SEVEN);
        lab.t("b.etl", "second second\n", 1);
        fs::write(lab.folder.path().join("two"), CABINET).unwrap();
        lab.t("b.etl", "second second\n", 2);
        lab.t("x/a.etl", "first first first\n", 2);
    }

    #[test]
    fn of_a_damaged_archive_each_member_is_what_it_is_alone() {
        for archive in [SEVEN, CABINET] {
            for at in 0..archive.len() {
                let mut changed = archive.to_owned();
                changed[at] ^= 0x10;
                let together = Lab::new(&changed);
                for member in ["b.etl", "x/a.etl", "b.etl"] {
                    let alone = Lab { options: OpenOptions::default(), ..Lab::new(&changed) };
                    let described = |lab: &Lab| lab.read(member).0.map_err(|error| error.kind());
                    assert_eq!(described(&together), described(&alone), "{member}, byte {at} of {}", archive.len());
                }
                // Unless the directory has another member in the place of one of them.
                let once = together.begun.get() <= 1;
                assert!(once || together.read("b.etl").0.is_err() || together.read("x/a.etl").0.is_err());
            }
        }
    }
}
