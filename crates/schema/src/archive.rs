//! Schema files in archives: zip archives, cabinets and 7z archives.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Read;
use std::path::Path;
use std::sync::Arc;

use base::error::{Error, ErrorKind, Result};
use base::progress::NoProgress;
use etl::input::LocalFile;
use etl::input::container::{Archive, Format};

use super::wevt::Binary;

/// A binary that is unpacked takes no more memory.
const MAX_MEMBER: u64 = 256 << 20;
/// What is kept of all members together takes no more, in bytes.
const MAX_KEPT: usize = 256 << 20;

/// What came of the members of an archive.
#[derive(Debug, Default)]
pub(crate) struct Members {
    /// Those that are schemas, by name; of binaries their extracts.
    pub(crate) files: BTreeMap<String, Vec<u8>>,
    /// Those that cannot be used, and why.
    pub(crate) unusable: Vec<(String, String)>,
    /// How many are binaries that declare no events.
    pub(crate) without_events: u64,
}

/// The format of the archive that a file is, by its first bytes.
pub(crate) fn format(head: &[u8]) -> Option<Format> {
    Format::of(head).filter(|format| !format.is_stream())
}

/// Reads the members of an archive that are schemas; `limit` says by the first bytes of a member how long it may be, if it is one.
///
/// # Errors
/// When the archive is damaged.
pub(crate) fn members(path: &Path, format: Format, limit: impl Fn(&[u8]) -> Option<u64>) -> Result<Members> {
    let archive = Archive::open(Arc::new(LocalFile::open(path)?), format, &NoProgress)?;
    let readable = archive.members().iter().enumerate().filter(|(_, member)| member.obstacle.is_none());
    let wanted: BTreeSet<usize> = readable.map(|(index, _)| index).collect();
    let mut found = Found { limit, left: MAX_KEPT, members: Members::default(), binaries: BTreeMap::new() };
    archive.unpack(&wanted, &NoProgress, &mut |index, plain| {
        let name = archive.members().get(index).map_or("", |member| member.name.as_str());
        found.take(name, plain).map_err(|cause| unreadable(path, cause))
    })?;
    Ok(found.finish())
}

struct Found<L> {
    limit: L,
    left: usize,
    members: Members,
    binaries: BTreeMap<String, Binary>,
}

impl<L: Fn(&[u8]) -> Option<u64>> Found<L> {
    fn take(&mut self, name: &str, plain: &mut dyn Read) -> std::io::Result<()> {
        let mut bytes = Vec::new();
        plain.take(Binary::SIGN.len() as u64).read_to_end(&mut bytes)?;
        let is_binary = bytes.starts_with(Binary::SIGN);
        let limit = if is_binary {
            MAX_MEMBER
        } else {
            plain.take(64 << 10).read_to_end(&mut bytes)?;
            let Some(limit) = (self.limit)(&bytes) else { return Ok(()) };
            limit
        };
        plain.take(limit).read_to_end(&mut bytes)?;
        if bytes.len() as u64 > limit {
            let reason = format!("expected a schema file of at most {limit} bytes, found more");
            self.members.unusable.push((name.to_owned(), reason));
        } else if !is_binary {
            self.keep(name, bytes);
        } else {
            match Binary::of_bytes(name, bytes) {
                Ok(binary) => self.keep_binary(name, binary),
                Err(reason) => self.members.unusable.push((name.to_owned(), reason)),
            }
        }
        Ok(())
    }

    fn keep(&mut self, name: &str, bytes: Vec<u8>) {
        if self.has_room(name, bytes.len()) {
            self.members.files.insert(name.to_owned(), bytes);
        }
    }

    /// Keeps those that declare events, and those that may be the texts of others.
    fn keep_binary(&mut self, name: &str, binary: Binary) {
        let is_of_texts = name.to_ascii_lowercase().ends_with(".mui");
        if !binary.declares_events() && !is_of_texts {
            self.members.without_events += 1;
        } else if self.has_room(name, binary.footprint()) {
            self.binaries.insert(name.to_owned(), binary);
        }
    }

    /// Takes room for what is kept of a member, if there is so much.
    fn has_room(&mut self, name: &str, bytes: usize) -> bool {
        let left = self.left.checked_sub(bytes);
        if left.is_none() {
            let reason = format!("expected at most {MAX_KEPT} bytes of schemas in an archive, found more");
            self.members.unusable.push((name.to_owned(), reason));
        }
        self.left = left.unwrap_or(self.left);
        left.is_some()
    }

    fn finish(mut self) -> Members {
        let count = self.binaries.len();
        let declaring = Binary::join(self.binaries);
        self.members.without_events += (count - declaring.len()) as u64;
        for (name, binary) in declaring {
            match binary.extract() {
                Ok(extract) => drop(self.members.files.insert(name, extract)),
                Err(reason) => self.members.unusable.push((name, reason)),
            }
        }
        self.members
    }
}

fn unreadable(path: &Path, cause: std::io::Error) -> Error {
    Error::new(ErrorKind::Input, "the archive cannot be read").in_file(path).caused_by(cause)
}
