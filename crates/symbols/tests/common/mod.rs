//! The files that tests read.

#![allow(dead_code, unreachable_pub, reason = "not each test needs all of it")]
#![allow(clippy::unwrap_used, reason = "a test may stop at what should not happen")]

use std::path::{Path, PathBuf};

/// The binaries, whose PDBs are called alike.
pub const BINARIES: [&str; 6] = [
    "attach_amd64.dll",
    "attach_x86.dll",
    "inject_dll_amd64.exe",
    "inject_dll_x86.exe",
    "run_code_on_dllmain_amd64.dll",
    "run_code_on_dllmain_x86.dll",
];

/// Bytes of memory that a PDB may take in tests.
pub const LIMIT: u64 = 64 << 20;

/// A file of the test data.
pub fn data(name: &str) -> Vec<u8> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data").join(format!("{name}.zst"));
    let packed = std::fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    zstd::decode_all(&packed[..]).unwrap()
}

/// The name of the PDB of a binary.
pub fn pdb_of(binary: &str) -> String {
    Path::new(binary).with_extension("pdb").display().to_string()
}

/// Puts a file of the test data somewhere.
pub fn put(name: &str, path: &Path) -> PathBuf {
    write(path, &data(name))
}

/// Writes a file, and the folders that it lies in.
pub fn write(path: &Path, bytes: &[u8]) -> PathBuf {
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, bytes).unwrap();
    path.to_owned()
}
