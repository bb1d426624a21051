//! Any container: what it holds, and the bytes of its members.

use std::collections::BTreeSet;
use std::io::{BufRead, Read};
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use base::error::{Error, ErrorKind, Result};
use base::progress::Progress;
use flate2::Crc;

use super::cabinet::CabinetDirectory;
use super::cursor::Cursor;
use super::fault::{damaged, of_decoder};
use super::format::Format;
use super::member::Member;
use super::seven::SevenDirectory;
use super::stream;
use super::zip::ZipDirectory;
use crate::input::access::Input;

/// A container whose directory has been read.
#[derive(Debug)]
pub struct Archive {
    input: Arc<dyn Input>,
    format: Format,
    directory: Directory,
    members: Vec<Member>,
    /// Their numbers, by name; of members of one name the first comes first.
    by_name: Vec<usize>,
}

#[derive(Debug)]
enum Directory {
    Zip(ZipDirectory),
    SevenZip(SevenDirectory),
    Cabinet(CabinetDirectory),
    Stream,
}

impl Archive {
    /// Reads the directory of a container of this format.
    ///
    /// # Errors
    /// Of the kind `Input` when it cannot be read or is damaged, `Interrupted` when the caller asked to stop.
    pub fn open(input: Arc<dyn Input>, format: Format, progress: &dyn Progress) -> Result<Archive> {
        let (directory, members) = match format {
            Format::Zip => {
                let (directory, members) = ZipDirectory::read(&input, progress)?;
                (Directory::Zip(directory), members)
            }
            Format::SevenZip => {
                let (directory, members) = SevenDirectory::read(&*input, progress)?;
                (Directory::SevenZip(directory), members)
            }
            Format::Cabinet => {
                let (directory, members) = CabinetDirectory::read(&*input, progress)?;
                (Directory::Cabinet(directory), members)
            }
            Format::Gzip | Format::Zstd | Format::Xz | Format::Bzip2 => (Directory::Stream, vec![within(&input)]),
        };
        let mut by_name: Vec<usize> = (0..members.len()).collect();
        by_name.sort_by_key(|&index| &members[index].name);
        let archive = Archive { input, format, directory, members, by_name };
        archive.refuse_overlaps()?;
        Ok(archive)
    }

    /// Its members, in the order of its directory, without folders.
    pub fn members(&self) -> &[Member] {
        &self.members
    }

    /// What it is.
    pub fn format(&self) -> Format {
        self.format
    }

    /// The file.
    pub fn input(&self) -> &Arc<dyn Input> {
        &self.input
    }

    /// The number of the member of this name.
    pub fn find(&self, name: &str) -> Option<usize> {
        let place = self.by_name.partition_point(|&index| *self.members[index].name < *name);
        self.by_name.get(place).copied().filter(|&index| self.members[index].name == name)
    }

    /// Bytes of the file that have to be read for these members, about.
    pub fn packed_size(&self, wanted: &BTreeSet<usize>) -> u64 {
        match &self.directory {
            Directory::Zip(zip) => wanted.iter().fold(0_u64, |sum, &index| sum.saturating_add(zip.packed_size(index))),
            _ => self.input.size(),
        }
    }

    /// The number of the stream that a member is packed in, where others may be: unpacking one of them takes what lies before it.
    pub(in crate::input) fn stream_of(&self, index: usize) -> Option<usize> {
        match &self.directory {
            Directory::SevenZip(seven) => seven.place(index).map(|(folder, _)| folder),
            Directory::Cabinet(cabinet) => cabinet.place_of(index).map(|(folder, _)| folder),
            Directory::Zip(_) | Directory::Stream => None,
        }
    }

    /// What orders members as they lie in the file: the stream, or none, and the place.
    pub fn lies_at(&self, index: usize) -> (usize, u64) {
        match &self.directory {
            Directory::Zip(zip) => (0, zip.lies_at(index)),
            Directory::SevenZip(seven) => seven.place(index).map_or((0, 0), |(folder, place)| (folder, place as u64)),
            Directory::Cabinet(cabinet) => cabinet.place_of(index).unwrap_or_default(),
            Directory::Stream => (0, 0),
        }
    }

    /// Bytes that unpacking a member takes in memory at most.
    pub(in crate::input) fn room(&self, index: usize) -> u64 {
        match &self.directory {
            Directory::Zip(zip) => zip.room(index),
            _ => self.format.room(),
        }
    }

    /// Where in the file the bytes of a member lie as they are, if they do.
    ///
    /// # Errors
    /// Of the kind `Input` when they are not there.
    pub fn stored(&self, index: usize) -> Result<Option<Stored>> {
        match &self.directory {
            Directory::Zip(zip) => Ok(zip.stored(index)?.map(|(range, crc32)| Stored { range, crc32 })),
            _ => Ok(None),
        }
    }

    /// Unpacks members in one go, and hands the bytes of each to `take`, in the order in which they lie in the file.
    ///
    /// # Errors
    /// Of the kind `Input` when one is damaged, and those of `take`.
    pub fn unpack(
        &self,
        wanted: &BTreeSet<usize>,
        progress: &dyn Progress,
        take: &mut dyn FnMut(usize, &mut dyn Read) -> Result<()>,
    ) -> Result<()> {
        match &self.directory {
            Directory::Zip(zip) => {
                let mut wanted: Vec<usize> = wanted.iter().copied().collect();
                wanted.sort_by_key(|&index| zip.lies_at(index));
                wanted.into_iter().try_for_each(|index| zip.unpack(index, progress, &mut |plain| take(index, plain)))
            }
            Directory::SevenZip(seven) => seven.unpack(&*self.input, wanted, progress, take),
            Directory::Cabinet(cabinet) => cabinet.unpack(&*self.input, wanted, progress, take),
            Directory::Stream => wanted.iter().try_for_each(|&index| {
                stream::unpack(&*self.input, self.format, progress, &mut |plain| take(index, plain))
            }),
        }
    }

    /// The error of who asks for a member that there is not.
    pub fn no_member(&self, path: &Path) -> Error {
        let message = format!("there is no such member in this {}", self.format.name());
        Error::new(ErrorKind::Input, message).in_file(path)
    }

    /// Members that share their bytes would make unpacking all of them take more time than the archive is long.
    fn refuse_overlaps(&self) -> Result<()> {
        let Directory::Zip(zip) = &self.directory else { return Ok(()) };
        let packed = (0..self.members.len()).fold(0_u64, |sum, index| sum.saturating_add(zip.packed_size(index)));
        if packed <= self.input.size() {
            return Ok(());
        }
        Err(damaged("members of the archive overlap: together they are longer than it", self.input.path()))
    }
}

/// The one member of a compressed file.
fn within(input: &Arc<dyn Input>) -> Member {
    let name = input.path().file_name().unwrap_or_default().to_string_lossy();
    Member { name: stream::name_within(&name), size: None, obstacle: None }
}

/// A member whose bytes lie in the file as they are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stored {
    /// Where they lie.
    pub range: Range<u64>,
    crc32: u32,
}

impl Stored {
    /// Holds the bytes against the check sum of the directory.
    ///
    /// # Errors
    /// Of the kind `Input`, naming `path`, when they are others.
    pub fn check(&self, input: &dyn Input, path: &Path, progress: &dyn Progress) -> Result<()> {
        let (mut from, mut crc) = (Cursor::new(input, self.range.clone(), progress), Crc::new());
        loop {
            let bytes = from.fill_buf().map_err(|cause| of_decoder(cause, path))?;
            if bytes.is_empty() {
                break;
            }
            crc.update(bytes);
            let len = bytes.len();
            from.consume(len);
        }
        if crc.sum() == self.crc32 {
            return Ok(());
        }
        let message = format!("expected the check sum {:08x}, found {:08x}", self.crc32, crc.sum());
        Err(damaged(message, path))
    }
}

#[cfg(test)]
mod tests {
    use base::progress::NoProgress;

    use super::*;
    use crate::input::MemoryInput;

    /// `x/a.etl` of three words and `b.etl` of two, packed by 7-Zip 25.01 and gcab 1.5.
    const ARCHIVES: [(&[u8], Format); 4] = [
        (include_bytes!("testdata/two.zip"), Format::Zip),
        (include_bytes!("testdata/two.7z"), Format::SevenZip),
        (include_bytes!("testdata/two.lzma.7z"), Format::SevenZip),
        (include_bytes!("testdata/two.cab"), Format::Cabinet),
    ];

    fn open(bytes: &[u8]) -> Result<Archive> {
        let format = Format::of(bytes).expect("it begins like a container");
        Archive::open(Arc::new(MemoryInput::new("two", bytes.to_owned())), format, &NoProgress)
    }

    fn unpacked(archive: &Archive, wanted: &[usize]) -> Result<Vec<(String, String)>> {
        let mut found = Vec::new();
        archive.unpack(&wanted.iter().copied().collect(), &NoProgress, &mut |index, plain| {
            let mut text = String::new();
            plain.read_to_string(&mut text).map_err(|cause| of_decoder(cause, Path::new("two")))?;
            found.push((archive.members()[index].name.clone(), text));
            Ok(())
        })?;
        found.sort();
        Ok(found)
    }

    #[test]
    fn members_are_those_that_were_packed() {
        for (bytes, format) in ARCHIVES {
            let archive = open(bytes).unwrap();
            assert_eq!(archive.format(), format);
            let mut listed: Vec<_> = archive.members().iter().map(|member| (&*member.name, member.size)).collect();
            listed.sort_unstable();
            assert_eq!(listed, [("b.etl", Some(14)), ("x/a.etl", Some(18))], "{format:?}");
            let (b, a) = (("b.etl", "second second\n"), ("x/a.etl", "first first first\n"));
            let [b, a] = [b, a].map(|(name, text)| (name.to_owned(), text.to_owned()));
            assert_eq!(unpacked(&archive, &[0, 1]).unwrap(), [b.clone(), a.clone()], "{format:?}");
            let second = archive.find("b.etl").unwrap();
            assert_eq!(unpacked(&archive, &[second]).unwrap(), [b], "{format:?}");
            assert_eq!(unpacked(&archive, &[1 - second]).unwrap(), [a], "{format:?}");
        }
    }

    #[test]
    fn archives_that_are_cut_off_are_refused() {
        for (bytes, format) in ARCHIVES {
            for len in 0..bytes.len() {
                let Some(found) = Format::of(&bytes[..len]) else { continue };
                assert_eq!(found, format);
                let read = open(&bytes[..len]).and_then(|archive| unpacked(&archive, &[0, 1]));
                assert!(read.is_err(), "{format:?} of {len} bytes");
            }
        }
    }

    #[test]
    fn a_changed_byte_is_found_or_changes_nothing_of_a_member() {
        for (bytes, format) in ARCHIVES {
            let texts = |bytes: &[u8]| {
                let texts = unpacked(&open(bytes).ok()?, &[0, 1]).ok()?;
                Some(texts.into_iter().map(|(_, text)| text).collect::<std::collections::BTreeSet<_>>())
            };
            let whole = texts(bytes).unwrap();
            for at in 0..bytes.len() {
                let mut changed = bytes.to_owned();
                changed[at] ^= 0x10;
                if Format::of(&changed).is_some()
                    && let Some(found) = texts(&changed)
                {
                    assert!(found.is_subset(&whole) || format == Format::Cabinet, "{format:?}, byte {at}");
                }
            }
        }
    }

    #[test]
    fn an_encrypted_directory_is_called_that() {
        let error = open(include_bytes!("testdata/encrypted.7z")).unwrap_err().to_string();
        assert_eq!(error, "two: the directory is encrypted (unpack it and convert the trace)");
    }
}
