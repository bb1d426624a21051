//! A file that others find whole, or not at all.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use super::folder::CleanupRegistry;
use base::disk;
use tempfile::{Builder, NamedTempFile};

/// A file that is written beside its place and given its name when it is whole: a file of that name stays as it is until it is
/// replaced. What is there and no file, as a device or a pipe, is written to.
#[derive(Debug)]
pub struct WholeFile(Kind);

#[derive(Debug)]
enum Kind {
    Device(File),
    Staged {
        /// Where it belongs.
        path: PathBuf,
        file: NamedTempFile,
        /// Has it removed by whoever ends the program.
        held: CleanupRegistry,
    },
}

impl WholeFile {
    /// Begins it. Whoever ends the program removes what is written beside the place through the cleanup.
    ///
    /// # Errors
    /// Those of the system.
    pub fn begin(path: &Path, cleanup: &CleanupRegistry) -> io::Result<WholeFile> {
        // A link stays one: what it leads to is replaced.
        let path = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
        let before = fs::metadata(&path).ok();
        if before.as_ref().is_some_and(|before| !before.is_file()) {
            return Ok(WholeFile(Kind::Device(OpenOptions::new().write(true).open(path)?)));
        }
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let mut builder = Builder::new();
        builder.prefix(".etl2parquet-").suffix(".tmp");
        #[cfg(unix)]
        builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
        if before.is_some() {
            // Who may not write to the old one may not replace it either.
            OpenOptions::new().write(true).open(&path)?;
        }
        let (file, held) = cleanup.temporary(|| builder.tempfile_in(folder))?;
        if let Some(before) = before {
            file.as_file().set_permissions(before.permissions())?;
        }
        Ok(WholeFile(Kind::Staged { path, file, held }))
    }

    /// Brings it to disk and then gives it its name. One that is dropped without leaves nothing.
    ///
    /// # Errors
    /// Those of the system; then nothing of it is left.
    pub fn finish(self) -> io::Result<()> {
        let (path, file, _held) = match self.0 {
            Kind::Device(mut device) => return device.flush(),
            Kind::Staged { path, file, held } => (path, file, held),
        };
        disk::sync(file.as_file())?;
        let mut staged = Some(file.into_temp_path());
        disk::patiently(|| match staged.take().map(|staged| staged.persist(&path)) {
            Some(Err(refused)) => {
                staged = Some(refused.path);
                Err(refused.error)
            }
            _ => Ok(()),
        })
    }
}

impl Write for WholeFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match &mut self.0 {
            Kind::Device(device) => device.write(bytes),
            Kind::Staged { file, .. } => file.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match &mut self.0 {
            Kind::Device(device) => device.flush(),
            Kind::Staged { file, .. } => file.flush(),
        }
    }
}

/// Writes a file of that content, as a [`WholeFile`].
///
/// # Errors
/// Those of the system; then nothing of it is left.
pub fn write(path: &Path, content: &[u8], cleanup: &CleanupRegistry) -> io::Result<()> {
    let mut file = WholeFile::begin(path, cleanup)?;
    file.write_all(content)?;
    file.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn write(path: &Path, content: &[u8]) -> io::Result<()> {
        super::write(path, content, &CleanupRegistry::default())
    }

    /// Names of a folder, sorted.
    fn names(folder: &Path) -> Vec<String> {
        let entries = fs::read_dir(folder).unwrap();
        let mut names: Vec<_> = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    #[test]
    fn a_file_is_replaced_and_nothing_is_beside_it() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.json");
        for content in ["one", "another"] {
            write(&path, content.as_bytes()).unwrap();
            assert_eq!(fs::read_to_string(&path).unwrap(), content);
        }
        assert_eq!(names(folder.path()), ["a.json"]);
    }

    #[test]
    fn what_cannot_be_written_leaves_what_was_there() {
        let folder = tempfile::tempdir().unwrap();
        let below = folder.path().join("below");
        fs::create_dir(&below).unwrap();
        fs::write(below.join("a"), "old").unwrap();
        assert!(write(&below, b"new").is_err(), "a folder");
        assert_eq!(write(&folder.path().join("missing/a"), b"new").unwrap_err().kind(), io::ErrorKind::NotFound);
        assert_eq!((names(folder.path()), names(&below)), (vec!["below".to_owned()], vec!["a".to_owned()]));
    }

    #[cfg(unix)]
    #[test]
    fn the_file_before_is_open_to_its_reader_as_it_was() {
        use std::io::Read;
        use std::os::unix::fs::{MetadataExt, PermissionsExt};
        let folder = tempfile::tempdir().unwrap();
        let (path, link) = (folder.path().join("a.json"), folder.path().join("link"));
        fs::write(&path, "old").unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();
        std::os::unix::fs::symlink("a.json", &link).unwrap();
        let mut reader = fs::File::open(&path).unwrap();
        write(&link, b"new").unwrap();
        let mut text = String::new();
        reader.read_to_string(&mut text).unwrap();
        assert_eq!((text.as_str(), fs::read_to_string(&path).unwrap().as_str()), ("old", "new"));
        assert_eq!(fs::metadata(&path).unwrap().mode() & 0o777, 0o640);
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_device_is_written_to() {
        write(Path::new("/dev/null"), b"text").unwrap();
        assert!(!fs::metadata("/dev/null").unwrap().is_file());
        assert!(write(Path::new("/dev/full"), b"text").is_err());
    }
}
