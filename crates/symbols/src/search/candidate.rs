//! A file that may be the one that is asked for, whatever it lies in.

use std::collections::BTreeSet;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use base::progress::NoProgress;
use etl::input::container::{Archive, Format};
use etl::input::{Input, LocalFile, MemoryInput};

use crate::found::{Readable, Reason};

/// A file that may be the one that is asked for.
#[derive(Clone, Debug)]
pub(super) enum Candidate {
    /// As it is.
    File(PathBuf),
    /// The only member of a cabinet: `name.pd_`.
    Cabinet(PathBuf),
    /// A member of an archive.
    Member(PathBuf, Arc<Archive>, usize),
    /// A store says why it has none.
    Told(PathBuf, Reason),
}

/// A file that is open, and the bytes of memory that it takes.
pub(super) struct Opened {
    pub(super) input: Arc<dyn Input>,
    pub(super) taken: u64,
}

impl Candidate {
    /// Where it lies.
    pub(super) fn path(&self) -> PathBuf {
        match self {
            Candidate::File(path) | Candidate::Cabinet(path) | Candidate::Told(path, _) => path.clone(),
            Candidate::Member(path, archive, index) => {
                archive.members().get(*index).map_or_else(|| path.clone(), |member| path.join(&member.name))
            }
        }
    }

    /// Opens it; what is packed is unpacked into memory, as far as `limit` allows.
    pub(super) fn open(&self, limit: u64) -> Readable<Opened> {
        match self {
            Candidate::File(path) => Ok(Opened { input: Arc::new(LocalFile::open(path)?), taken: 0 }),
            Candidate::Cabinet(path) => {
                let archive = Archive::open(Arc::new(LocalFile::open(path)?), Format::Cabinet, &NoProgress)?;
                let mut readable = (0..archive.members().len()).filter(|&index| is_readable(&archive, index));
                let (Some(index), None) = (readable.next(), readable.next()) else {
                    return Err(Reason::damaged("a cabinet that holds anything but one file"));
                };
                unpack(&archive, index, path, limit)
            }
            Candidate::Member(_, archive, index) => unpack(archive, *index, &self.path(), limit),
            Candidate::Told(_, reason) => Err(reason.clone()),
        }
    }
}

fn is_readable(archive: &Archive, index: usize) -> bool {
    archive.members().get(index).is_some_and(|member| member.obstacle.is_none())
}

fn unpack(archive: &Archive, index: usize, path: &Path, limit: u64) -> Readable<Opened> {
    if !is_readable(archive, index) {
        return Err(Reason::unsupported("a member of an archive that is not read"));
    }
    let mut bytes = Vec::new();
    archive.unpack(&BTreeSet::from([index]), &NoProgress, &mut |_, plain| {
        let read = plain.take(limit.saturating_add(1)).read_to_end(&mut bytes);
        read.map(|_| ()).map_err(|error| archive.no_member(path).caused_by(error))
    })?;
    let taken = bytes.len() as u64;
    if taken > limit {
        return Err(Reason::damaged(format!("takes more than {limit} bytes of memory, unpacked")));
    }
    Ok(Opened { input: Arc::new(MemoryInput::new(&path.to_string_lossy(), bytes)), taken })
}
