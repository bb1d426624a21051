//! Finds files of symbols where debuggers keep them.

mod archive;
mod binary;
mod candidate;
mod folder;
mod path;
mod portable;
mod server;

pub use path::SymbolPath;
