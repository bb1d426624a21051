//! Archives that several recordings of a run take members from: the directory is read once, and members that are packed
//! together are unpacked once.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::access::Identity;
use super::address::split_address;
use super::container::{Archive, Spool};
use super::local::LocalFile;
use crate::error::{ErrorKind, Result};
use crate::progress::Progress;

/// What the recordings of a run take from archives, until they are done with.
#[derive(Debug, Default)]
pub struct SharedMembers {
    archives: BTreeMap<PathBuf, SharedArchive>,
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
    /// Those that cannot be had with others, of which one was damaged.
    apart: BTreeSet<String>,
    /// What the archive was when it was unpacked, and where members lie.
    unpacked: Option<(Identity, BTreeMap<String, Place>)>,
}

/// A file without a name, and where in it the bytes of a member are.
pub(super) type Place = (Arc<File>, Range<u64>);

impl SharedMembers {
    /// For recordings with these inputs. Archives of which only one member is among them are left to themselves.
    pub fn of<'p>(addresses: impl IntoIterator<Item = &'p Path>) -> SharedMembers {
        let mut wanted = BTreeMap::<PathBuf, BTreeSet<String>>::new();
        for (container, member) in addresses.into_iter().filter_map(split_address) {
            wanted.entry(container).or_default().insert(member);
        }
        let several = wanted.into_iter().filter(|(_, names)| names.len() > 1);
        let shelf = |wanted| Mutex::new(Shelf { wanted, ..Shelf::default() });
        let archive = |names| SharedArchive { shelf: shelf(names), ..SharedArchive::default() };
        SharedMembers { archives: several.map(|(container, names)| (container, archive(names))).collect() }
    }

    /// Says that nobody asks for these again.
    pub fn forget<'p>(&self, addresses: impl IntoIterator<Item = &'p Path>) {
        for (container, member) in addresses.into_iter().filter_map(split_address) {
            let Some(mut shelf) = self.shelf(&container) else { continue };
            shelf.wanted.remove(&member);
            if let Some((_, places)) = &mut shelf.unpacked {
                places.remove(&member);
            }
        }
    }

    /// An archive, opened by `open` unless it was before and its file is still the same.
    ///
    /// # Errors
    /// Those of `open`.
    pub(super) fn archive(&self, container: &Path, open: impl FnOnce() -> Result<Archive>) -> Result<Arc<Archive>> {
        let Some(archive) = self.archives.get(container) else { return open().map(Arc::new) };
        let mut opened = archive.opened.lock().unwrap_or_else(PoisonError::into_inner);
        let now = LocalFile::identity_of(container);
        if let Some(archive) = opened.as_ref().filter(|archive| now.as_ref() == Some(archive.input().identity())) {
            return Ok(Arc::clone(archive));
        }
        Ok(Arc::clone(opened.insert(Arc::new(open()?))))
    }

    /// What is known of an archive, while nobody else unpacks it.
    pub(super) fn shelf(&self, container: &Path) -> Option<MutexGuard<'_, Shelf>> {
        let archive = self.archives.get(container)?;
        Some(archive.shelf.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Shelf {
    /// Where a member lies that was unpacked of the archive as it is now.
    pub(super) fn place(&self, name: &str, archive: &Identity) -> Option<Place> {
        let (of, places) = self.unpacked.as_ref()?;
        places.get(name).filter(|_| of == archive).cloned()
    }

    /// Those that are wanted and neither lie there nor have to be unpacked apart; `name` must be one of them.
    pub(super) fn missing(&self, name: &str, archive: &Archive) -> Option<BTreeSet<usize>> {
        let is_missing = |name: &String| {
            let lies_there = self.place(name, archive.input().identity()).is_some();
            self.wanted.contains(name) && !self.apart.contains(name) && !lies_there
        };
        let members = archive.members().iter().enumerate();
        let can = members.filter(|(_, member)| member.obstacle.is_none() && is_missing(&member.name));
        let missing: BTreeSet<usize> = can.map(|(index, _)| index).collect();
        (missing.len() > 1 && missing.iter().any(|&index| archive.members()[index].name == name)).then_some(missing)
    }

    /// Unpacks members in one go. One that is damaged ends it: it stays apart, where whoever asks for it is told, and those behind it
    /// are still missing.
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
        let (mut ranges, mut damaged) = (Vec::new(), None);
        let done = archive.unpack(members, progress, &mut |index, plain| {
            let member = &archive.members()[index];
            damaged = Some(member.name.clone());
            let range = spool.take(plain, member.size, archive.input().path())?;
            damaged = None;
            ranges.push((member.name.clone(), range));
            Ok(())
        });
        let file = Arc::new(spool.into_file());
        let now = archive.input().identity();
        let (of, places) = self.unpacked.get_or_insert_with(|| (now.clone(), BTreeMap::new()));
        if of != now {
            (*of, *places) = (now.clone(), BTreeMap::new());
        }
        places.extend(ranges.into_iter().map(|(name, range)| (name, (Arc::clone(&file), range))));
        match (done, damaged) {
            (Ok(()), _) => {}
            (Err(error), _) if error.kind() != ErrorKind::Input => return Err(error),
            (Err(_), Some(name)) => _ = self.apart.insert(name),
            // What is damaged lies between them.
            (Err(_), None) => self.apart.extend(members.iter().map(|&index| archive.members()[index].name.clone())),
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::fs;

    use super::*;
    use crate::input::{InputId, Inputs, OpenOptions, member_address};
    use crate::progress::NoProgress;

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
            lab.options.shared = Arc::new(SharedMembers::of(members.iter().map(PathBuf::as_path)));
            lab
        }

        fn address(&self, member: &str) -> PathBuf {
            member_address(&self.folder.path().join("two"), member).unwrap()
        }

        /// What a recording of one member reads, and how often something was unpacked until then.
        fn read(&self, member: &str) -> (Result<String>, u32) {
            let begin = |_| self.begun.set(self.begun.get() + 1);
            let text =
                Inputs::open_any(&[self.address(member)], &self.options, &begin, &NoProgress).and_then(|inputs| {
                    let input = inputs.get(InputId(0))?;
                    assert_eq!(input.path(), self.address(member));
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
    fn members_that_take_too_much_together_are_unpacked_apart() {
        let mut lab = Lab::new(SEVEN);
        lab.options.max_spool = Some(31);
        lab.t("b.etl", "second second\n", 1);
        lab.t("x/a.etl", "first first first\n", 2);
        lab.options.max_spool = Some(32);
        lab.t("b.etl", "second second\n", 3);
        lab.t("x/a.etl", "first first first\n", 3);
    }

    #[test]
    fn what_is_forgotten_is_not_kept() {
        let lab = Lab::new(SEVEN);
        lab.t("b.etl", "second second\n", 1);
        lab.options.shared.forget([lab.address("b.etl").as_path()]);
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
                    let told = |lab: &Lab| lab.read(member).0.map_err(|error| error.kind());
                    assert_eq!(told(&together), told(&alone), "{member}, byte {at} of {}", archive.len());
                }
            }
        }
    }
}
