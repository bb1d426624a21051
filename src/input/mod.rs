//! Inputs: files of a recording, read at any offset from any thread.

pub mod local;
pub(crate) mod regular;

pub use local::LocalFile;
