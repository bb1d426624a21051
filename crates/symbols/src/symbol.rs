//! What there is to say of an address.

use std::sync::Arc;

/// The function that an address lies in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Symbol {
    /// Where the function begins, relative to the image base.
    pub start: u32,
    /// Its bytes; `None` where the code of the binary was rearranged: it may lie in several pieces.
    pub size: Option<u32>,
    /// Its name without parameters: `Namespace::Class::method`.
    pub name: Arc<str>,
    /// Its name with parameters, where the PDB tells them.
    pub full_name: Option<Arc<str>>,
    /// What tells of it.
    pub kind: SymbolKind,
    /// The source file that the code at the address comes from, as its compiler was told it; of code of an inlined function, the
    /// file that calls it.
    pub file: Option<Arc<str>>,
    /// The line in that file, from 1.
    pub line: Option<u32>,
    /// The functions that are inlined at the address, from the outermost to the innermost.
    pub inlined: Vec<Inlined>,
}

/// What a name comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum SymbolKind {
    /// A name that the linker knows; where it ends is where the next one begins.
    Public,
    /// A procedure, as its compiler describes it.
    Private,
}

impl SymbolKind {
    /// The kind as a word for tables.
    pub fn word(self) -> &'static str {
        match self {
            SymbolKind::Public => "public",
            SymbolKind::Private => "private",
        }
    }
}

/// A function that is inlined at an address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Inlined {
    /// Its name without parameters: `Namespace::Class::method`.
    pub name: Arc<str>,
    /// The source file that the code at the address comes from; where another function is inlined in this one, the file that calls
    /// that.
    pub file: Option<Arc<str>>,
    /// The line in that file, from 1.
    pub line: Option<u32>,
}
