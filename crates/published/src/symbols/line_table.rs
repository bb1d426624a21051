//! Source lines of addresses in the methods of .NET of a trace, as a table beside it.

use std::path::Path;
use std::sync::Arc;

use arrow_array::{ArrayRef, RecordBatch};
use arrow_schema::{Field, Schema, SchemaRef};
use base::error::{Error, ErrorKind, Result};
use base::progress::Progress;
use columnar::output::store_at;
use conversion::convert::JobProgress;
use conversion::read_columns;

use super::tables::{damaged, integers, texts};
use super::trace_table::TraceTable;
use crate::TableFile;
use crate::beside::{FOLDER, OfTrace};
use crate::frames::MethodBody;

/// What is known of an address in a method: a row of `symbols/lines/<trace>.parquet`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct LineRow {
    pub body: MethodBody,
    /// Where a frame executes or calls.
    pub address: i64,
    /// The token of the method in the metadata of its assembly.
    pub token: Option<u32>,
    /// The offset in the IL of the method.
    pub il_offset: Option<u32>,
    /// The name of the file of the assembly.
    pub assembly: Option<String>,
    /// Name, GUID and age of the symbol file for the IL of the assembly.
    pub pdb: Option<(String, String, u32)>,
    pub line: Option<(Arc<str>, u32)>,
    /// Why there is no line.
    pub unknown_because: Option<String>,
    /// Frames of events at this address.
    pub frames: u64,
}

read_columns! {
    /// A stored row.
    struct StoredLine<'b> {
        machine: Option<i64> = "machine",
        process: Option<i64> = "process_id",
        base: Option<i64> = "base",
        from: Option<i64> = "from_ns",
        address: Option<i64> = "address",
        token: Option<u32> = "method_token",
        il_offset: Option<u32> = "il_offset",
        pdb_guid: Option<&'b str> = "pdb_guid",
        pdb_age: Option<u32> = "pdb_age",
        file: Option<&'b str> = "file",
        line: Option<u32> = "line",
        unknown_because: Option<&'b str> = "unknown_because",
    }
}

/// A row that was written before.
pub(super) struct KnownLine<'b> {
    /// Machine, process, base and begin of the body, and the address.
    pub place: Option<LinePlace>,
    /// GUID and age of the symbol file, token and offset in IL.
    pub il: Option<(&'b str, u32, u32, u32)>,
    pub line: Option<(&'b str, u32)>,
    pub unknown_because: Option<&'b str>,
}

/// An address in a body: machine, process, base and begin of the body, and the address.
pub(super) type LinePlace = (i64, i64, i64, i64, i64);

impl LineRow {
    fn place(&self) -> LinePlace {
        place(self.body, self.address)
    }
}

/// An address in a body.
pub(super) fn place(body: MethodBody, address: i64) -> LinePlace {
    (body.machine, body.process_id, body.base, body.from_ns, address)
}

/// Hands over the rows of the table of a trace, where there is one.
///
/// # Errors
/// [`ErrorKind::Output`] when the table cannot be read.
pub(super) fn each(
    root: &Path,
    trace: &str,
    progress: &dyn Progress,
    mut each: impl FnMut(KnownLine<'_>),
) -> Result<()> {
    let (store, path) = (store_at(root).below(FOLDER), OfTrace::Lines.path(trace));
    if !store.has(&path) {
        return Ok(());
    }
    let file = TableFile::open(&*store, &path).map_err(damaged)?;
    let rows = file.rows::<StoredLine<'_>>(None, progress, |row| {
        let body = row.machine.zip(row.process).zip(row.base.zip(row.from)).zip(row.address);
        let il = row.pdb_guid.zip(row.pdb_age).zip(row.token.zip(row.il_offset));
        each(KnownLine {
            place: body.map(|(((machine, process), (base, from)), address)| (machine, process, base, from, address)),
            il: il.map(|((guid, age), (token, il_offset))| (guid, age, token, il_offset)),
            line: row.file.zip(row.line),
            unknown_because: row.unknown_because,
        });
    });
    rows.map_err(damaged)
}

/// Writes the table of a trace with this content; removes the one that is there where there is no row.
///
/// # Errors
/// [`ErrorKind::Output`] when it cannot be written.
pub(super) fn put(
    root: &Path,
    (trace, content): (&str, &str),
    rows: &mut [LineRow],
    progress: &dyn JobProgress,
) -> Result<()> {
    if rows.is_empty() {
        let (store, path) = (store_at(root).below(FOLDER), OfTrace::Lines.path(trace));
        return if store.has(&path) { store.remove(&path) } else { Ok(()) };
    }
    rows.sort_unstable_by_key(LineRow::place);
    let columns = columns(trace, rows);
    let fields: Vec<Field> =
        columns.iter().map(|(name, column)| Field::new(*name, column.data_type().clone(), true)).collect();
    let schema = Arc::new(Schema::new(fields));
    let mut table = TraceTable::begin(root, (OfTrace::Lines, trace), SchemaRef::clone(&schema), progress)?;
    let batch = RecordBatch::try_new(schema, columns.into_iter().map(|(_, column)| column).collect());
    let batch =
        batch.map_err(|cause| Error::new(ErrorKind::Output, "cannot make rows of source lines").caused_by(cause));
    table.add(&batch?)?;
    table.finish(content.to_owned()).map(|_| ())
}

/// A column of texts.
fn text(rows: &[LineRow], of: impl Fn(&LineRow) -> Option<&str>) -> ArrayRef {
    texts(rows.iter().map(of))
}

/// The columns of the view `method_lines`.
fn columns(trace: &str, rows: &[LineRow]) -> Vec<(&'static str, ArrayRef)> {
    let whole = |of: &dyn Fn(&LineRow) -> i64| integers(rows.iter().map(|row| Some(of(row))));
    let number = |of: &dyn Fn(&LineRow) -> Option<u32>| integers(rows.iter().map(|row| of(row).map(i64::from)));
    vec![
        ("trace", texts(rows.iter().map(|_| Some(trace)))),
        ("process_id", whole(&|row| row.body.process_id)),
        ("base", whole(&|row| row.body.base)),
        ("from_ns", whole(&|row| row.body.from_ns)),
        ("address", whole(&|row| row.address)),
        ("method_token", number(&|row| row.token)),
        ("il_offset", number(&|row| row.il_offset)),
        ("assembly", text(rows, |row| row.assembly.as_deref())),
        ("pdb_name", text(rows, |row| Some(row.pdb.as_ref()?.0.as_str()))),
        ("pdb_guid", text(rows, |row| Some(row.pdb.as_ref()?.1.as_str()))),
        ("pdb_age", number(&|row| Some(row.pdb.as_ref()?.2))),
        ("file", text(rows, |row| Some(&*row.line.as_ref()?.0))),
        ("line", number(&|row| Some(row.line.as_ref()?.1))),
        ("unknown_because", text(rows, |row| row.unknown_because.as_deref())),
        ("frames", whole(&|row| i64::try_from(row.frames).unwrap_or(i64::MAX))),
        ("machine", whole(&|row| row.body.machine)),
    ]
}
