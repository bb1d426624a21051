//! The seeds that the project's own trace writer makes. `make-seeds` writes them to `seeds/`, and a test holds them against
//! what lies there.

mod binaries;
pub(crate) mod blobs;
mod traces;

/// A seed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Seed {
    /// The folder below `seeds/`.
    pub folder: &'static str,
    /// The file.
    pub name: &'static str,
    /// What it holds.
    pub bytes: Vec<u8>,
}

impl Seed {
    fn new(folder: &'static str, name: &'static str, bytes: impl Into<Vec<u8>>) -> Seed {
        Seed { folder, name, bytes: bytes.into() }
    }
}

/// All of them.
pub fn all() -> Vec<Seed> {
    [binaries::all(), blobs::all(), traces::all()].concat()
}
