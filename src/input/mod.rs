//! Inputs: the files of a recording, read at any offset from any thread.

pub mod access;
pub mod inputs;
pub mod local;
pub mod memory;
pub(crate) mod regular;

pub use access::{Identity, Input};
pub use inputs::{InputId, Inputs};
pub use local::LocalFile;
pub use memory::MemoryInput;
