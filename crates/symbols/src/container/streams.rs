//! A container of either kind.

use std::sync::Arc;

use etl::input::Input;

use super::held::{Room, Stream};
use super::msf::{self, Msf};
use super::msfz::{self, Msfz};
use crate::found::{Readable, Reason};

/// The streams of a PDB, by number.
#[derive(Debug)]
pub(crate) enum Streams {
    Msf(Msf),
    Msfz(Msfz),
}

/// Bytes by which kinds of files are told apart.
pub(crate) const HEAD: usize = msf::OLD_MAGIC.len();
/// How a portable PDB begins, which describes .NET methods alone.
pub(crate) const PORTABLE: &[u8] = b"BSJB";
/// How a program of Windows begins.
const PROGRAM: &[u8] = b"MZ";

impl Streams {
    /// Opens a container by its first bytes; at most `limit` bytes of it are in memory at a time.
    pub(crate) fn open(input: Arc<dyn Input>, limit: u64) -> Readable<Streams> {
        let mut scratch = Vec::new();
        let head = input.bytes(0, HEAD, &mut scratch)?;
        let room = Room::new(limit);
        if head.starts_with(msf::MAGIC) {
            return Msf::open(input, room).map(Streams::Msf);
        }
        if head.starts_with(msfz::MAGIC) {
            return Msfz::open(input, room).map(Streams::Msfz);
        }
        Err(other(head))
    }

    /// The bytes of a stream; `None` where there is none of this number.
    pub(crate) fn stream(&self, number: u32) -> Readable<Option<Stream>> {
        match self {
            Streams::Msf(msf) => msf.stream(number),
            Streams::Msfz(msfz) => msfz.stream(number),
        }
    }

    /// The bytes of a stream that every PDB has.
    pub(crate) fn needed(&self, number: u32, what: &str) -> Readable<Stream> {
        self.stream(number)?.ok_or_else(|| Reason::damaged(format!("the PDB has no {what}")))
    }

    /// The bytes of a stream that a 16-bit field names, where it names one.
    pub(crate) fn named_by(&self, number: u16) -> Readable<Option<Stream>> {
        if number == u16::MAX { Ok(None) } else { self.stream(number.into()) }
    }
}

/// Whether a file that begins so is a PDB of Windows: in a container.
pub(crate) fn is_of_windows(head: &[u8]) -> bool {
    head.starts_with(msf::MAGIC) || head.starts_with(msfz::MAGIC)
}

/// What is said of a file that begins so, and is another than the one that is asked for.
pub(crate) fn other(head: &[u8]) -> Reason {
    match head {
        _ if head.starts_with(PORTABLE) => Reason::unsupported("a portable PDB, which has no native functions"),
        _ if head.starts_with(msf::OLD_MAGIC) => Reason::unsupported("a PDB of the format of before 2000"),
        _ if head.starts_with(PROGRAM) => Reason::damaged("a program, not a PDB"),
        _ => Reason::damaged("neither a PDB nor an MSFZ"),
    }
}
