//! Which files and disks were read and written, and how long that took. The definitions are those of the views `disk_io`,
//! `page_faults` and `file_io`.

use base::error::Result;
use conversion::read_columns;

use super::file_paths::{FileKeys, FilePaths};
use super::io::operation;
use super::sums::Sums;
use super::tally::{Counters, Most, Ranked};
use crate::source::Source;

const DISK: &str = "Kernel-DiskIo";
const FAULTS: &str = "Kernel-PageFault";
/// Datasets of what programs asked of files.
const ASKED: [&str; 2] = ["Kernel-FileIo", "Microsoft-Windows-Kernel-File"];

/// Files and disks. Lists are empty where nothing was recorded.
#[derive(Debug, Default)]
pub(super) struct Files {
    /// Finished disk operations by file, those with most bytes first; counters are those of [`operation`].
    pub by_bytes: Ranked,
    /// The same, those that took longest first.
    pub by_time: Ranked,
    /// The same by number of the disk, those with most bytes first.
    pub by_disk: Ranked,
    /// Hard page faults by file, in nanoseconds: faults, bytes, and faults whose time or whose size is not known.
    pub faults: Ranked,
    /// Reads and writes that programs asked for by file, in bytes: bytes read, bytes written, operations, operations whose size is not
    /// known.
    pub asked: Ranked,
    /// Paths that there was no room for.
    pub left_out: u64,
}

/// Sums by the number of a path.
type ByPath = Sums<Option<usize>>;

read_columns! {
    /// A row of `Kernel-DiskIo`.
    struct DiskOperation<'b> {
        name: Option<&'b str> = "event_name",
        time: Option<i64> = "timestamp_ns",
        disk: Option<i64> = "DiskNumber",
        file: Option<i64> = "FileObject",
        bytes: Option<u64> = "TransferSize",
        took_ns: Option<u64> = "HighResResponseTime_ns",
        input: Option<i64> = "input",
    }
}

read_columns! {
    /// A row of `Kernel-PageFault`.
    struct Fault<'b> {
        name: Option<&'b str> = "event_name",
        time: Option<i64> = "timestamp_ns",
        began: Option<i64> = "InitialTime_ns",
        file: Option<i64> = "FileObject",
        bytes: Option<u64> = "ByteCount",
        input: Option<i64> = "input",
    }
}

read_columns! {
    /// A row of one of the datasets of [`ASKED`]. Names of columns differ in their case: `IoSize` and `IOSize`.
    struct FileOperation<'b> {
        name: Option<&'b str> = "event_name",
        time: Option<i64> = "timestamp_ns",
        key: Option<i64> = "FileKey",
        object: Option<i64> = "FileObject",
        open_path: Option<&'b str> = "OpenPath",
        file_name: Option<&'b str> = "FileName",
        kernel_bytes: Option<u64> = "IoSize",
        bytes: Option<u64> = "IOSize",
        input: Option<i64> = "input",
    }
}

impl FileOperation<'_> {
    fn file(&self) -> Option<i64> {
        self.key.or(self.object)
    }

    /// Bytes read, bytes written and so on; `None` of what moves no bytes.
    fn counters(&self) -> Option<Counters> {
        let bytes = self.kernel_bytes.or(self.bytes);
        let (amount, is_unsized) = (bytes.unwrap_or(0), u64::from(bytes.is_none()));
        match self.name?.trim_start_matches("FileIo/") {
            "Read" => Some([amount, 0, 1, is_unsized, 0, 0]),
            "Write" => Some([0, amount, 1, is_unsized, 0, 0]),
            _ => None,
        }
    }
}

/// Reads operations on disks and files.
///
/// # Errors
/// [`ErrorKind::Output`](base::error::ErrorKind::Output) when a table cannot be read.
pub(super) fn files(source: &Source<'_>, most: Most) -> Result<Files> {
    let mut paths = FilePaths::read(source, &keys(source)?)?;
    let (by_file, by_disk) = on_disks(source, &paths)?;
    let faults = hard_faults(source, &paths)?;
    let asked = asked(source, &mut paths)?;
    let name = |number: &Option<usize>| paths.text(*number).to_owned();
    let bytes = |[read, written, ..]: &Counters| read.saturating_add(*written);
    Ok(Files {
        by_bytes: by_file.ranked(most.places, bytes, name),
        by_time: by_file.ranked(most.places, |[_, _, _, took, ..]| *took, name),
        by_disk: by_disk
            .ranked(most.places, bytes, |disk| disk.map_or("not recorded".to_owned(), |disk| disk.to_string())),
        faults: faults.ranked(most.places, |[_, _, took, ..]| *took, name),
        asked: asked.ranked(most.places, bytes, name),
        left_out: paths.left_out(),
    })
}

/// The keys that operations name.
fn keys(source: &Source<'_>) -> Result<FileKeys> {
    let mut keys = FileKeys::default();
    source.events::<DiskOperation<'_>>(DISK, |row| keys.add(source.machine(row.input), row.file))?;
    source.events::<Fault<'_>>(FAULTS, |row| keys.add(source.machine(row.input), row.file))?;
    for dataset in ASKED {
        source.events::<FileOperation<'_>>(dataset, |row| {
            if row.counters().is_some() {
                keys.add(source.machine(row.input), row.file());
            }
        })?;
    }
    Ok(keys)
}

/// Finished disk operations by the number of their path, and by disk.
fn on_disks(source: &Source<'_>, paths: &FilePaths) -> Result<(ByPath, Sums<Option<i64>>)> {
    let (mut by_file, mut by_disk) = (Sums::default(), Sums::default());
    source.events::<DiskOperation<'_>>(DISK, |row| {
        let Some((counters, time)) = operation(row.name, row.bytes, row.took_ns).zip(row.time) else { return };
        by_file.add(paths.at(source.machine(row.input), row.file, time), counters);
        by_disk.add(row.disk, counters);
    })?;
    Ok((by_file, by_disk))
}

/// Hard page faults by the number of their path: faults, bytes, nanoseconds, faults of unknown time and of unknown size.
fn hard_faults(source: &Source<'_>, paths: &FilePaths) -> Result<ByPath> {
    let mut faults = Sums::default();
    source.events::<Fault<'_>>(FAULTS, |row| {
        let Some(time) = row.time.filter(|_| row.name == Some("PageFault/HardFault")) else { return };
        let took = row.began.and_then(|began| u64::try_from(time.checked_sub(began)?).ok());
        let unknown = [took.is_none(), row.bytes.is_none()].map(u64::from);
        let counters = [1, row.bytes.unwrap_or(0), took.unwrap_or(0), unknown[0], unknown[1], 0];
        faults.add(paths.at(source.machine(row.input), row.file, time), counters);
    })?;
    Ok(faults)
}

/// Reads and writes of programs by the number of their path: that of the event, else that which its key meant.
fn asked(source: &Source<'_>, paths: &mut FilePaths) -> Result<ByPath> {
    let mut asked = Sums::default();
    for dataset in ASKED {
        source.events::<FileOperation<'_>>(dataset, |row| {
            let Some((counters, time)) = row.counters().zip(row.time) else { return };
            let own = row.open_path.or(row.file_name).and_then(|path| paths.number(path));
            asked.add(own.or_else(|| paths.at(source.machine(row.input), row.file(), time)), counters);
        })?;
    }
    Ok(asked)
}
