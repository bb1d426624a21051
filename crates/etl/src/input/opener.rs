//! Opens the inputs of a recording, whatever they lie in.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Read;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use base::error::{Error, ErrorCode, ErrorKind, Result};
use base::progress::{NoProgress, Progress, Silent};
use base::remote;

use super::access::{Identity, Input, Since};
use super::address::Address;
use super::container::{Archive, Format, MemberInput, MemberPlace, Spool, SpoolLimit, decoder_fault, nearest};
use super::local::{self, LocalFile};
use super::memory::MemoryInput;
use super::remote::RemoteInput;
use super::remote_space::RemoteSpace;
use super::shared::{SharedMembers, UnpackedRange};

/// How inputs are had that are no plain files.
#[derive(Clone, Debug, Default)]
pub struct OpenOptions {
    /// Folder of the temporary file that members are unpacked to. Default: that of the output.
    pub spool_dir: Option<PathBuf>,
    /// Bytes that the members of a recording may take there. Default: by the size of the archives.
    pub max_spool: Option<u64>,
    /// What came through standard input, which `-` stands for.
    pub stdin: Option<Arc<dyn Input>>,
    /// What several recordings take from archives.
    pub shared: Arc<SharedMembers>,
    /// Memory for what comes over a network.
    pub remote: Arc<RemoteSpace>,
}

impl OpenOptions {
    /// The options, with a folder of this system for temporary files where none is chosen.
    #[must_use]
    pub fn or_in(&self, folder: &Path) -> OpenOptions {
        let own = remote::url_of(folder).is_none().then(|| folder.to_owned());
        OpenOptions { spool_dir: self.spool_dir.clone().or(own), ..self.clone() }
    }

    /// The options, and what is left of a budget of bytes, for who reads these inputs: what comes over a network has its share.
    #[must_use]
    pub fn within<'a>(&self, budget: u64, mut inputs: impl Iterator<Item = &'a Address>) -> (OpenOptions, u64) {
        if !inputs.any(|input| input.scheme().is_some()) {
            return (self.clone(), budget);
        }
        let share = RemoteSpace::share(budget);
        (OpenOptions { remote: Arc::new(RemoteSpace::new(share)), ..self.clone() }, budget - share)
    }

    /// The folder of this system that temporary files are in.
    pub fn folder(&self) -> PathBuf {
        self.spool_dir.clone().unwrap_or_else(std::env::temp_dir)
    }

    /// What members of archives of so many bytes may take.
    fn limit(&self, archives: u64) -> SpoolLimit {
        self.max_spool.map_or(SpoolLimit::Archives(archives), SpoolLimit::Bytes)
    }

    fn spool(&self, archives: u64) -> Spool {
        Spool::new(&self.folder(), self.limit(archives))
    }
}

/// Opens a container, whatever file it is; one that several recordings take members from is opened once.
///
/// # Errors
/// Of the kind `Input` when the file cannot be read, is no container, or one whose directory is damaged.
pub fn open_archive(path: &Address, options: &OpenOptions, progress: &dyn Progress) -> Result<Arc<Archive>> {
    options.shared.archive(path, || open_anew(path, options, progress))
}

fn open_anew(path: &Address, options: &OpenOptions, progress: &dyn Progress) -> Result<Archive> {
    let input = open_file(path, options, progress)?;
    let mut scratch = Vec::new();
    let format = Format::of(input.bytes(0, Format::SIGN, &mut scratch)?);
    let Some(format) = format else {
        let message = "expected an archive or a compressed file, found neither";
        return Err(Error::new(ErrorKind::Input, message).with_code(ErrorCode::UnreadableContainer).in_file(path));
    };
    Archive::open(input, format, &Silent(progress))
}

/// Opens what lies at an address, as it is: a file, an object of a store, or standard input.
///
/// # Errors
/// Of the kind `Input` when it cannot be read, or is empty; `Usage` for an address that is none.
pub fn open_file(path: &Address, options: &OpenOptions, progress: &dyn Progress) -> Result<Arc<dyn Input>> {
    open_since(path, Since::Opened, options, progress)
}

fn open_since(path: &Address, since: Since, options: &OpenOptions, progress: &dyn Progress) -> Result<Arc<dyn Input>> {
    if path.scheme().is_some() {
        let folder = nearest(&options.folder());
        let most = options.limit(u64::MAX).bytes();
        return RemoteInput::open(path, since, &options.remote, (&folder, most), progress);
    }
    if !path.is_stdin() {
        return Ok(Arc::new(LocalFile::open(path)?));
    }
    options.stdin.clone().ok_or_else(|| {
        Error::new(ErrorKind::Input, "standard input can be read only once, by the process that it was given to")
            .in_file(path)
            .with_hint("save it to a file first")
    })
}

/// Bytes that unpacking what stands at an address takes in memory at most; 0 of what is no member of a container, lies there as it is
/// or unpacked already, or cannot be read, which whoever opens it reports.
pub fn room_to_unpack(address: &Address, options: &OpenOptions) -> u64 {
    let Some((container, name)) = options.shared.split(address) else { return 0 };
    if !options.shared.is_shared(&container) {
        // Its directory is read by whoever opens it.
        let format = open_file(&container, options, &NoProgress).ok();
        let format = format.and_then(|input| Format::of(input.bytes(0, Format::SIGN, &mut Vec::new()).ok()?));
        return format.map_or(0, Format::room);
    }
    let Ok(archive) = open_archive(&container, options, &NoProgress) else { return 0 };
    let Some(index) = archive.find(&name) else { return 0 };
    let shelf = options.shared.shelf(&container);
    let lies_there = shelf.is_some_and(|shelf| !matches!(shelf.place(&archive, index, address), Ok(None)));
    if lies_there { 0 } else { archive.room(index) }
}

/// Bytes of a member that show what it is.
const HEAD: u64 = 1 << 20;

/// What stands at an address, or the first bytes of it where it is a member of a container. One that is packed with
/// others that are wanted is unpacked with them.
///
/// # Errors
/// Those of [`open_archive`], and of the kind `Input` when there is no such member or it cannot be read.
pub fn open_head(address: &Address, options: &OpenOptions, progress: &dyn Progress) -> Result<Arc<dyn Input>> {
    let Some((container, name)) = options.shared.split(address) else { return open_file(address, options, progress) };
    let archive = open_archive(&container, options, progress)?;
    let index = archive.find(&name).ok_or_else(|| archive.no_member(address))?;
    if let Some(obstacle) = &archive.members()[index].obstacle {
        return Err(obstacle.error(address));
    }
    let opener = Opener { options, since: Since::Opened, begin: &|_| {}, progress };
    if let Some((bytes, range)) = opener.shared(&archive, &container, index, address)? {
        let Identity { modified, .. } = *archive.input().identity();
        let identity = Identity { source: address.clone(), size: range.end - range.start, modified, tag: None };
        let place = MemberPlace::Spool(bytes, None);
        return Ok(Arc::new(MemberInput { identity, start: range.start, place, since: Since::Opened }));
    }
    let mut head = Vec::new();
    archive.unpack(&BTreeSet::from([index]), progress, &mut |_, plain| {
        let read = plain.take(HEAD).read_to_end(&mut head);
        read.map(|_| ()).map_err(|cause| decoder_fault(cause, address))
    })?;
    Ok(Arc::new(MemoryInput::at(address, head)))
}

/// Keeps what comes through standard input.
///
/// # Errors
/// Of the kind `Input` when it cannot be read, is empty or too much, `Output` when it cannot be kept.
pub fn read_stdin(from: &mut dyn Read, options: &OpenOptions) -> Result<Arc<dyn Input>> {
    let most = options.max_spool.unwrap_or(SpoolLimit::Archives(u64::MAX).bytes());
    let mut spool = Spool::new(&options.folder(), SpoolLimit::Bytes(most));
    let address = &Address::stdin();
    let range = spool.take(from, None, address)?;
    if range.is_empty() {
        return Err(empty(address));
    }
    let identity = Identity { source: address.clone(), size: range.end, modified: None, tag: None };
    let place = MemberPlace::Spool(Arc::new(spool.into_bytes()), None);
    Ok(Arc::new(MemberInput { identity, start: 0, place, since: Since::Opened }))
}

/// The members that are wanted of one container: their places in the recording, addresses and names.
type Wanted = Vec<(usize, Address, String)>;

/// What opens the inputs of a recording that are no plain files.
pub(super) struct Opener<'a> {
    pub(super) options: &'a OpenOptions,
    pub(super) since: Since,
    /// Called with how many bytes of containers are to be unpacked.
    pub(super) begin: &'a dyn Fn(u64),
    pub(super) progress: &'a dyn Progress,
}

impl Opener<'_> {
    /// Opens those of the inputs that are no plain files; `None` stands for one that is.
    ///
    /// # Errors
    /// Those of [`open_archive`], of the kind `Input` when there is no such member or it cannot be read, and `Output` when
    /// there is no room to unpack it.
    pub(super) fn open<'p>(&self, addresses: impl Iterator<Item = &'p Address>) -> Result<Vec<Option<Arc<dyn Input>>>> {
        let (mut opened, mut containers) = (Vec::new(), BTreeMap::<Address, Wanted>::new());
        for (position, address) in addresses.enumerate() {
            if let Some((container, member)) = self.options.shared.split(address) {
                opened.push(None);
                containers.entry(container).or_default().push((position, address.clone(), member));
                continue;
            }
            let is_plain = !address.is_stdin() && address.scheme().is_none();
            let open = || open_since(address, self.since, self.options, self.progress);
            opened.push(if is_plain { None } else { Some(open()?) });
        }
        let (mut spool, mut held) = (None, OpenMembers::default());
        for (container, wanted) in containers {
            self.open_members(&container, wanted, &mut spool, &mut held)?;
        }
        let bytes = spool.map(|spool: Spool| Arc::new(spool.into_bytes()));
        for (position, identity, range, archive) in held.spooled {
            let Some(bytes) = &bytes else { continue };
            let place = MemberPlace::Spool(Arc::clone(bytes), archive);
            held.open.push((position, MemberInput { identity, start: range.start, place, since: self.since }));
        }
        for (position, member) in held.open {
            opened[position] = Some(Arc::new(member));
        }
        Ok(opened)
    }

    /// Opens members of one container: in their place where they lie there as they are, else in the spool.
    fn open_members(
        &self,
        container: &Address,
        wanted: Wanted,
        spool: &mut Option<Spool>,
        held: &mut OpenMembers,
    ) -> Result<()> {
        let archive = open_archive(container, self.options, self.progress)?;
        let of_archive = archive.input().identity();
        let modified = of_archive.modified;
        let may_stay = held.open.len() < local::most_open();
        let mut packed = BTreeMap::new();
        for (position, address, name) in wanted {
            let index = archive.find(&name).ok_or_else(|| archive.no_member(&address))?;
            let member = &archive.members()[index];
            if let Some(obstacle) = &member.obstacle {
                return Err(obstacle.error(&address));
            }
            let stored = if may_stay { archive.stored(index)? } else { None };
            let Some(stored) = stored.filter(|stored| !stored.range.is_empty()) else {
                packed.insert(index, (position, address));
                continue;
            };
            // Who works by a plan reads what it needs and nothing else.
            if self.since == Since::Opened {
                (self.begin)(stored.range.end - stored.range.start);
                stored.check(&**archive.input(), &address, self.progress)?;
            }
            let (start, size) = (stored.range.start, stored.range.end - stored.range.start);
            let identity = Identity { source: address, size, modified, tag: None };
            let place = MemberPlace::Archive(Arc::clone(archive.input()));
            held.open.push((position, MemberInput { identity, start, place, since: self.since }));
        }
        // A store is asked with every read.
        let on_disk = (!container.is_stdin() && container.scheme().is_none()).then(|| of_archive.clone());
        let mut apart = BTreeMap::new();
        for (index, (position, address)) in packed {
            let Some((bytes, range)) = self.shared(&archive, container, index, &address)? else {
                apart.insert(index, (position, address));
                continue;
            };
            let identity = Identity { source: address, size: range.end - range.start, modified, tag: None };
            let place = MemberPlace::Spool(bytes, on_disk.clone());
            held.open.push((position, MemberInput { identity, start: range.start, place, since: self.since }));
        }
        if apart.is_empty() {
            return Ok(());
        }
        let spool = match spool {
            Some(spool) => spool,
            none @ None => none.insert(self.options.spool(0)),
        };
        spool.allow(archive.input().size());
        let numbers = apart.keys().copied().collect();
        (self.begin)(archive.packed_size(&numbers));
        archive.unpack(&numbers, self.progress, &mut |index, plain| {
            let Some((position, address)) = apart.remove(&index) else { return Ok(()) };
            let range = spool.take(plain, archive.members()[index].size, &address)?;
            if range.is_empty() {
                return Err(empty(&address));
            }
            let identity = Identity { source: address, size: range.end - range.start, modified, tag: None };
            held.spooled.push((position, identity, range, on_disk.clone()));
            Ok(())
        })
    }

    /// Where a member lies that others are unpacked with, now or before; `None` where it has to be unpacked by itself, as all do
    /// that are packed by themselves.
    fn shared(
        &self,
        archive: &Archive,
        container: &Address,
        index: usize,
        address: &Address,
    ) -> Result<Option<UnpackedRange>> {
        let Some(mut shelf) = self.options.shared.shelf(container) else { return Ok(None) };
        let mut place = shelf.place(archive, index, address)?;
        if place.is_none() {
            let packed = archive.input().size();
            let members = shelf.batch(archive, index, self.options.limit(packed).bytes());
            if members.is_empty() {
                return Ok(None);
            }
            (self.begin)(archive.packed_size(&members));
            shelf.unpack(archive, &members, self.options.spool(packed), self.progress)?;
            place = shelf.place(archive, index, address)?;
        }
        if place.as_ref().is_some_and(|(_, range)| range.is_empty()) { Err(empty(address)) } else { Ok(place) }
    }
}

/// Members that are open.
#[derive(Default)]
struct OpenMembers {
    open: Vec<(usize, MemberInput)>,
    spooled: Vec<(usize, Identity, Range<u64>, Option<Identity>)>,
}

fn empty(path: &Path) -> Error {
    Error::new(ErrorKind::Input, "expected a trace, found nothing").with_code(ErrorCode::NotATrace).in_file(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_comes_over_a_network_has_a_third_of_the_budget() {
        let options = OpenOptions::default();
        let t = |inputs: &[&str], expected: (u64, bool)| {
            let inputs: Vec<Address> = inputs.iter().map(|input| Address::from(*input)).collect();
            let (open, left) = options.within(900, inputs.iter());
            assert_eq!((left, Arc::ptr_eq(&open.remote, &options.remote)), expected);
        };
        t(&[], (900, true));
        t(&["a.etl", "b.zip!/c.etl"], (900, true));
        t(&["a.etl", "s3://lab/b.etl"], (600, false));
    }
}
