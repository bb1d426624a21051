//! Inputs: the files of a recording, read at any offset from any thread.

pub mod access;
pub mod address;
pub mod container;
mod counted;
pub mod inputs;
pub mod local;
pub mod memory;
pub mod opener;
pub mod regular;
mod remote;
mod remote_packed;
mod remote_space;
pub mod shared;
pub mod unopened;

pub use access::{Identity, Input};
pub use address::{Address, STDIN};
pub use inputs::{InputId, Inputs};
pub use local::LocalFile;
pub use memory::MemoryInput;
pub use opener::{OpenOptions, open_archive, open_file, open_head, read_stdin, room_to_unpack};
pub use remote_space::RemoteSpace;
pub use shared::SharedMembers;
pub use unopened::Unopened;
