//! The containers that PDBs come in: numbered streams of bytes in one file.

pub(crate) mod held;
pub(crate) mod msf;
pub(crate) mod msfz;
pub(crate) mod streams;

pub(crate) use held::Stream;
pub(crate) use streams::Streams;
