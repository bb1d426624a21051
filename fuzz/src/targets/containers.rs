//! Containers of traces: what lies in them, and the bytes of it.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use base::progress::NoProgress;
use etl::input::container::{Archive, Format, Member};
use etl::input::{Address, Input, Inputs, MemoryInput, OpenOptions, SharedMembers};
use etl2parquet::{Error, ErrorKind};

use crate::digest::Digest;
use crate::oracle;

/// Bytes that are read of a member, and that all together may take in a spool.
const READ: u64 = 1 << 18;

/// Members that are read of a container.
const MEMBERS: usize = 8;

/// The container, as errors name it: standard input.
const CONTAINER: &str = "-";

/// Members by their number, each with its first bytes.
type Unpacked = BTreeMap<usize, Vec<u8>>;

/// Opens a container and unpacks its members; then once more with the check sums of its directory made right, because with
/// wrong ones nothing behind them is read.
///
/// Oracle: two readings of the directory are alike; a member has the bytes alone that it has among all others, as many as
/// the directory records, and in a zip archive or a gzip stream those of a check sum that stands there; so it has in a recording that
/// takes it alone or beside others of the archive; what lies in the file
/// as it is lies within it; a spool takes a member whole or, where it is larger than the spool may be, refuses it; what is
/// wrong is an error that blames the file.
pub fn containers(input: &[u8], digest: &mut Digest) {
    let resealed = resealed(input);
    container(input, digest);
    if let Some(resealed) = resealed.filter(|resealed| resealed != input) {
        container(&resealed, digest);
    }
}

fn container(input: &[u8], digest: &mut Digest) {
    let Some(format) = Format::of(input) else { return digest.count("none", "none") };
    let file: Arc<dyn Input> = Arc::new(MemoryInput::new(CONTAINER, input.to_vec()));
    let archive = Archive::open(Arc::clone(&file), format, &NoProgress);
    let again = Archive::open(Arc::clone(&file), format, &NoProgress);
    oracle::same(&shown(&again), &shown(&archive));
    let archive = match archive {
        Ok(archive) => archive,
        Err(error) => {
            blames_the_file(&error);
            return digest.count(format.name(), "refused");
        }
    };
    let readable = |(_, member): &(usize, &Member)| member.obstacle.is_none();
    let wanted: BTreeSet<usize> =
        archive.members().iter().enumerate().filter(readable).take(MEMBERS).map(|(index, _)| index).collect();
    let (together, all) = unpacked(&archive, &wanted);
    let addresses: Vec<Address> = wanted.iter().filter_map(|&index| address(&archive, index)).collect();
    let shared = Arc::new(SharedMembers::of(addresses.iter()));
    for &index in &wanted {
        let (mut alone, one) = unpacked(&archive, &BTreeSet::from([index]));
        let alone = alone.remove(&index);
        // An error of another one ends the reading of all.
        assert!(all.is_err() || one.is_ok(), "containers: what can be unpacked with others can be unpacked alone");
        if let Some(bytes) = together.get(&index) {
            assert_eq!(alone.as_ref(), Some(bytes), "containers: a member has the same bytes alone");
        }
        let whole = alone.filter(|bytes| one.is_ok() && (bytes.len() as u64) < READ);
        if let Some(bytes) = &whole {
            is_what_is_reported(input, format, &archive.members()[index], bytes);
        }
        lies_within(input, &archive, index, whole.as_deref());
        for shared in [&Arc::default(), &shared] {
            spooled(&file, address(&archive, index), shared, whole.as_deref());
        }
        digest.add((&archive.members()[index].name, &whole, one.is_ok()));
    }
    digest.count(format.name(), if all.is_ok() { "unpacked" } else { "damaged" });
}

fn shown(archive: &Result<Archive, Error>) -> Result<Vec<Member>, String> {
    archive.as_ref().map(|archive| archive.members().to_vec()).map_err(|error| error.to_string())
}

/// The first bytes of members that could be read, and the error that ended it.
fn unpacked(archive: &Archive, wanted: &BTreeSet<usize>) -> (Unpacked, Result<(), Error>) {
    let mut found = Unpacked::new();
    let done = archive.unpack(wanted, &NoProgress, &mut |index, plain| {
        let mut bytes = Vec::new();
        let read = plain.take(READ).read_to_end(&mut bytes);
        read.map_err(|cause| Error::new(ErrorKind::Input, "damaged").in_file(CONTAINER).caused_by(cause))?;
        assert!(found.insert(index, bytes).is_none(), "containers: a member is unpacked once");
        Ok(())
    });
    (found, done.inspect_err(blames_the_file))
}

/// A member that was read to its end without an error, against what the container says of it.
fn is_what_is_reported(input: &[u8], format: Format, member: &Member, bytes: &[u8]) {
    assert!(
        member.size.is_none_or(|size| size == bytes.len() as u64),
        "containers: a member has the size that is recorded"
    );
    let sum = crc32(bytes).to_le_bytes();
    // Of several streams in one file only the last one's size stands at its end.
    let is_one_stream = input.len() >= 8 && input[input.len() - 4..] == (bytes.len() as u32).to_le_bytes();
    let is_reported = match format {
        Format::Zip => input.windows(4).any(|word| word == sum),
        Format::Gzip if is_one_stream => input[input.len() - 8..input.len() - 4] == sum,
        _ => true,
    };
    assert!(is_reported, "containers: the check sum of a member stands in its container");
}

/// Where a member lies in the file as it is, it lies there.
fn lies_within(input: &[u8], archive: &Archive, index: usize, whole: Option<&[u8]>) {
    let Ok(Some(stored)) = archive.stored(index).inspect_err(blames_the_file) else { return };
    let lies = usize::try_from(stored.range.start).ok().zip(usize::try_from(stored.range.end).ok());
    let lies = lies.and_then(|(start, end)| input.get(start..end)).expect("containers: it lies within the file");
    let checked = stored.check(&**archive.input(), Path::new(CONTAINER), &NoProgress);
    assert_eq!(checked.is_ok(), whole.is_some(), "containers: in its place or unpacked, a member is damaged or is not");
    assert!(whole.is_none_or(|whole| whole == lies), "containers: in its place or unpacked, a member is the same");
}

fn address(archive: &Archive, index: usize) -> Option<Address> {
    Address::from(CONTAINER).member(&archive.members()[index].name)
}

/// The way that a recording takes, alone or beside others of the same archive.
fn spooled(file: &Arc<dyn Input>, address: Option<Address>, shared: &Arc<SharedMembers>, whole: Option<&[u8]>) {
    let Some(address) = address else { return };
    let shared = Arc::clone(shared);
    let stdin = Some(Arc::clone(file));
    // Where possible in memory.
    let folder = PathBuf::from("/dev/shm");
    let options = OpenOptions {
        spool_dir: folder.is_dir().then_some(folder),
        max_spool: Some(READ),
        stdin,
        shared,
        ..OpenOptions::default()
    };
    let opened = Inputs::open_any(&[address], &options, &|_| (), &NoProgress);
    let found = opened.as_ref().ok().and_then(|inputs| inputs.get(etl::input::InputId(0)).ok());
    match (found, whole) {
        (Some(member), whole) => {
            let whole = whole.expect("containers: a member that is damaged or too large is refused");
            let mut bytes = vec![0; whole.len()];
            assert_eq!(member.size(), whole.len() as u64, "containers: a member has one size");
            member.read_into(0, &mut bytes).expect("containers: it can be read");
            assert!(bytes == whole, "containers: a spool keeps what a member holds");
        }
        (None, Some(whole)) => assert!(whole.is_empty(), "containers: {:?}", opened.err()),
        (None, None) => {}
    }
}

fn blames_the_file(error: &Error) {
    assert_eq!(error.kind(), ErrorKind::Input, "{error}");
    assert_eq!(error.location().file.as_deref(), Some(Path::new(CONTAINER)), "{error}");
}

/// The same with the check sums made right that stand before everything else in a 7z archive or an xz stream.
fn resealed(input: &[u8]) -> Option<Vec<u8>> {
    let mut bytes = input.to_vec();
    let long = |at: usize| bytes.get(at..at + 8).and_then(|bytes| bytes.try_into().ok()).map(u64::from_le_bytes);
    match Format::of(input)? {
        Format::SevenZip => {
            let start = usize::try_from(long(12)?.checked_add(32)?).ok()?;
            let end = start.checked_add(usize::try_from(long(20)?).ok()?)?;
            let sum = crc32(bytes.get(start..end)?);
            bytes.get_mut(28..32)?.copy_from_slice(&sum.to_le_bytes());
            let sum = crc32(bytes.get(12..32)?);
            bytes.get_mut(8..12)?.copy_from_slice(&sum.to_le_bytes());
        }
        Format::Xz => {
            let sum = crc32(bytes.get(6..8)?);
            bytes.get_mut(8..12)?.copy_from_slice(&sum.to_le_bytes());
            // The header of the first block, whose length stands before it.
            let end = 12 + usize::from(*bytes.get(12)?) * 4;
            let sum = crc32(bytes.get(12..end)?);
            bytes.get_mut(end..end + 4)?.copy_from_slice(&sum.to_le_bytes());
        }
        _ => {}
    }
    Some(bytes)
}

/// CRC-32 as ISO 3309 has it, bit by bit.
fn crc32(bytes: &[u8]) -> u32 {
    !bytes.iter().fold(u32::MAX, |crc, byte| {
        (0..8).fold(crc ^ u32::from(*byte), |crc, _| (crc >> 1) ^ if crc & 1 == 1 { 0xEDB8_8320 } else { 0 })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_check_sum_is_that_of_the_catalogue() {
        assert_eq!(crc32(b"123456789"), 0xCBF4_3926);
    }

    #[test]
    fn what_is_whole_stays_and_what_was_changed_is_sealed_again() {
        for (name, at) in [("two.7z", 12), ("two.7z", 160), ("hello.crc64.xz", 6), ("hello.crc64.xz", 13)] {
            let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("seeds/containers").join(name);
            let whole = std::fs::read(path).expect("the seed is there");
            assert_eq!(resealed(&whole).as_ref(), Some(&whole), "{name}");
            let mut changed = whole.clone();
            changed[at] ^= 1;
            let sealed = resealed(&changed);
            assert!(sealed.is_none_or(|sealed| sealed != changed && sealed != whole), "{name}, byte {at}");
        }
    }
}
