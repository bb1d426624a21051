//! Portable PDBs: the lines of managed methods, as the compilers of .NET write them.
//!
//! A portable PDB is metadata of ECMA-335, partition II, chapter 24, with tables of its own:
//! <https://github.com/dotnet/runtime/blob/main/docs/design/specs/PortablePdb-Metadata.md>.
//!
//! ```text
//! root            `BSJB`, a version, and the streams by their names
//! #Pdb            the identity, 20 bytes: the GUID that the assembly names, and a stamp
//! #~              tables; a row of 0x30 is a source file, one of 0x31 says which sequence points a method has
//! #Blob           what the rows name: names of files, and sequence points
//! ```
//!
//! Sequence points are decoded only for the methods that are asked for.

mod blobs;
mod metadata;
mod names;
mod open;
mod points;

pub use open::{MethodPlace, PortablePdb, SourceLine};
