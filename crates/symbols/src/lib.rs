//! Functions, lines and inlined functions of addresses, and lines of managed methods, from PDBs that lie on this machine, or that symbol
//! servers send.
//!
//! # How symbols are found
//!
//! A trace names each module by the identity of its PDB, a GUID and an age, or by the time stamp and the size of its binary, in which
//! the identity of the PDB stands. A [`SymbolPath`] finds either in folders and archives, and opens a PDB only if it has
//! exactly that identity: [`Found`] says what became of it. A file that is missing, of another link, damaged or of an unknown
//! kind is a status, never an error, and never a guess.
//!
//! # What a PDB tells
//!
//! A PDB is a file of numbered streams, in a container of pages (MSF) or of compressed fragments (MSFZ). [`Pdb::resolve`] reads
//! those that the addresses at hand need:
//!
//! | stream | |
//! |---|---|
//! | PDB, DBI | the identity; modules, and which of them each part of the code comes from; section headers; maps of rearranged code |
//! | globals | publics: names that the linker knows, decorated |
//! | one of each module | procedures, lines, and the functions that are inlined in them; annotations of the source code |
//! | names | source files |
//! | identities, types | the names of inlined functions, and of their classes; enumerations |
//!
//! Which function an address lies in: the procedure that it lies in, of the module that the linker took that code from; else the
//! last public before it, if nothing else begins between the two and both come from one module. Never one of data, never one
//! across the end of its section. Functions that the linker folded into one are called by the procedure that stands first in that
//! module, or by the public that sorts first.
//!
//! # What a portable PDB tells
//!
//! Compilers of .NET write portable PDBs, which have nothing in common with the others but the name: tables of metadata (ECMA-335) and
//! a heap of blobs. [`PortablePdb::lines`] reads
//!
//! | part | |
//! |---|---|
//! | `#Pdb` | the identity, whose age is 1 for all |
//! | `Document` | the names of source files |
//! | `MethodDebugInformation` | by the token of a method: its sequence points, which say where in its IL a line begins |
//!
//! Names of methods, and where their machine code lies, are no part of it: a trace has them. A portable PDB is a file, or lies packed in
//! its assembly ([`SymbolPath::open_portable`]).
//!
//! # Memory and time
//!
//! Of a file at most the bytes that the caller allows are in memory at a time, and what is made of them. No size that a file
//! claims is believed: streams together are no longer than the file (of MSFZ, than the limit), so neither memory nor time can be
//! had for nothing. A portable PDB is in memory as a whole; no byte of its sequence points is decoded for two methods.
//!
//! ```no_run
//! use symbols::{Found, Module, SymbolPath};
//!
//! let path = SymbolPath::parse(r"C:\symbols;srv*cache*https://msdl.microsoft.com/download/symbols", 256 << 20);
//! let module = Module { file_name: "attach.dll".to_owned(), time_stamp: Some(0x6AA9_A872), size: Some(0xC000), pdb: None };
//! if let Found::Found((name, id)) = path.identify(&module)
//!     && let Found::Found(mut pdb) = path.open(&name, id)
//! {
//!     let symbols = pdb.resolve(&[0x1000, 0x1234], true)?;
//!     println!("{symbols:?}");
//! }
//! # Ok::<(), symbols::Reason>(())
//! ```

mod bytes;
mod container;
mod debug;
mod found;
mod identity;
mod image;
mod pdb;
mod portable;
mod search;
mod symbol;

pub use found::{Found, Readable, Reason};
pub use identity::{Module, PdbId};
pub use image::{Image, Resource, ResourceName, Resources};
pub use pdb::Pdb;
pub use portable::{MethodPlace, PortablePdb, SourceLine};
pub use search::SymbolPath;
pub use symbol::{Inlined, Symbol, SymbolKind};
