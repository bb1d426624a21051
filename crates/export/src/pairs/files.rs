//! Operations on files: a program asks the system for one, and `OperationEnd` of the same I/O request packet ends it.

use base::error::Result;
use conversion::read_columns;

use super::marks::{Again, Key, Mark, Pairs};
use crate::exported::Exported;
use crate::opened::Opened;
use crate::paths::{Spans, paths};

/// Datasets of operations on files.
const DATASETS: [&str; 2] = ["Kernel-FileIo", "Microsoft-Windows-Kernel-File"];
const END: &str = "OperationEnd";

/// What the begin of an operation says, and what its end.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Operation {
    key: Option<i64>,
    named: Option<u32>,
    /// Where a file is opened: what its key means is the path that was found.
    is_opening: bool,
    /// Where in the file, in bytes.
    pub(crate) offset: Option<i64>,
    /// Bytes that are asked for.
    pub(crate) bytes: Option<u64>,
    /// What became of it, an `NTSTATUS`; the end says it.
    pub(crate) status: Option<i64>,
}

/// All operations whose ends are recorded, and paths of files.
#[derive(Debug)]
pub(crate) struct FileOperations {
    /// The operations.
    pub(crate) pairs: Pairs<Operation>,
    paths: Spans,
}

read_columns! {
    /// A row of these datasets.
    struct FileEvent<'b> {
        seq: Option<i64> = "seq",
        time: Option<i64> = "timestamp_ns",
        name: Option<&'b str> = "event_name",
        input: Option<i64> = "input",
        process: Option<i64> = "process_id",
        thread: Option<i64> = "thread_id",
        kernel_packet: Option<i64> = "IrpPtr",
        manifest_packet: Option<i64> = "Irp",
        key: Option<i64> = "FileKey",
        object: Option<i64> = "FileObject",
        file_name: Option<&'b str> = "FileName",
        open_path: Option<&'b str> = "OpenPath",
        kernel_offset: Option<i64> = "Offset",
        manifest_offset: Option<i64> = "ByteOffset",
        kernel_bytes: Option<u64> = "IoSize",
        manifest_bytes: Option<u64> = "IOSize",
        kernel_status: Option<i64> = "NtStatus",
        manifest_status: Option<i64> = "Status",
    }
}

/// Reads the operations whose begin is asked for.
///
/// # Errors
/// [`ErrorKind::Output`](base::error::ErrorKind::Output) when a table cannot be read.
pub(crate) fn file_operations(opened: &Opened<'_>, exported: &mut Exported) -> Result<FileOperations> {
    let mut pairs = Pairs::new();
    for (provider, dataset) in (0u32..).zip(DATASETS) {
        opened.source.events_passing::<FileEvent<'_>>(dataset, opened.filter.as_deref(), |passes, row| {
            let machine = opened.source.machine(row.input);
            if let Some(mark) = mark(&mut pairs, provider, machine, passes, &row) {
                pairs.add(mark);
            }
        })?;
    }
    pairs.settle(Again::Instead);
    pairs.warn("operations on files", exported);
    let paths = if pairs.iter().next().is_some() { paths(opened)? } else { Spans::default() };
    exported.warn_of(paths.left_out, "paths of files are left out: there are too many");
    Ok(FileOperations { pairs, paths })
}

fn mark(
    pairs: &mut Pairs<Operation>,
    provider: u32,
    machine: i64,
    passes: bool,
    row: &FileEvent<'_>,
) -> Option<Mark<Operation>> {
    let name = row.name?;
    let name = name.strip_prefix("FileIo/").unwrap_or(name);
    let packet = row.kernel_packet.or(row.manifest_packet).filter(|packet| *packet != 0)?;
    let is_listing = ["DirEnum", "DirNotify"].contains(&name);
    let named = row.open_path.or(row.file_name).filter(|_| !is_listing);
    let detail = Operation {
        key: row.key.or(row.object),
        named: named.and_then(|path| pairs.texts.number(path)),
        is_opening: ["Create", "CreateNewFile"].contains(&name),
        offset: row.kernel_offset.or(row.manifest_offset),
        bytes: row.kernel_bytes.or(row.manifest_bytes),
        status: row.kernel_status.or(row.manifest_status),
    };
    Some(Mark {
        seq: row.seq?,
        time: row.time?,
        machine,
        process: row.process,
        thread: row.thread,
        name: pairs.texts.number(name),
        key: Key { provider: Some(provider), number: Some(packet), ..Key::default() },
        is_begin: name != END,
        passes,
        detail,
    })
}

impl FileOperations {
    /// The path of the file that an operation is on, as the view `file_io` has it.
    pub(crate) fn path(&self, begin: &Mark<Operation>) -> Option<&str> {
        let by_key = begin.detail.key.and_then(|key| self.paths.at(begin.machine, key, begin.time));
        let named = self.pairs.texts.get(begin.detail.named);
        if begin.detail.is_opening { by_key.or(named) } else { named.or(by_key) }
    }
}
