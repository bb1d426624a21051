//! Opens files without waiting for those that are none.

use std::fs::{File, Metadata};
use std::io;
use std::path::Path;

/// Opens for reading. A pipe that nobody writes to opens at once.
#[cfg(unix)]
pub fn open(path: &Path) -> io::Result<File> {
    use std::os::unix::fs::OpenOptionsExt;
    let at_once = i32::try_from(rustix::fs::OFlags::NONBLOCK.bits()).unwrap_or(0);
    File::options().read(true).custom_flags(at_once).open(path)
}

/// Opens for reading; here no path leads to a pipe that has to be waited for.
#[cfg(not(unix))]
pub fn open(path: &Path) -> io::Result<File> {
    File::open(path)
}

/// What something that is no file is, for people.
#[cfg(unix)]
pub fn kind(metadata: &Metadata) -> &'static str {
    use std::os::unix::fs::FileTypeExt;
    match metadata.file_type() {
        kind if kind.is_dir() => "a folder",
        kind if kind.is_fifo() => "a pipe",
        kind if kind.is_socket() => "a socket",
        _ => "a device",
    }
}

/// What something that is no file is, for people.
#[cfg(not(unix))]
pub fn kind(metadata: &Metadata) -> &'static str {
    if metadata.is_dir() { "a folder" } else { "a device" }
}
