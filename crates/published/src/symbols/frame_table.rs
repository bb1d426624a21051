//! The frames of a trace as a table beside it, for programs that run no views.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow_array::{ArrayRef, BooleanArray, RecordBatch};
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use base::error::{Error, ErrorKind, Result};
use conversion::convert::JobProgress;
use serde::Serialize;

use super::frame_rows::{FrameRow, TraceFrames};
use super::tables::{integers, texts};
use super::trace_table::{TraceTable, WrittenTable, name_of};
use crate::PublishedTrace;
use crate::beside::{OfTrace, content};
use crate::source::Source;

/// Rows that are encoded at a time.
const BATCH_ROWS: usize = 1 << 14;

/// A table of the frames of a trace.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct FrameTable {
    /// The name of the trace.
    pub trace: String,
    /// The file.
    pub path: PathBuf,
    /// Its rows.
    pub rows: u64,
    /// Whether it was written: one that is there with the same bytes stays as it is.
    pub is_new: bool,
}

/// Writes the frames of a trace beside it, by what the tables of symbols know.
///
/// # Errors
/// [`ErrorKind::Output`] when the trace or a table cannot be read, or the table cannot be written; [`ErrorKind::Interrupted`] when the
/// caller asked to stop. Then a table that was there is there still.
pub(super) fn write(trace: &PublishedTrace, root: &Path, progress: &dyn JobProgress) -> Result<FrameTable> {
    let source = Source::open(trace, progress)?;
    let name = name_of(trace);
    let frames = TraceFrames::read(&source, root, &name)?;
    let schema = schema();
    let mut table = TraceTable::begin(root, (OfTrace::Frames, &name), SchemaRef::clone(&schema), progress)?;
    let mut waiting = Vec::with_capacity(BATCH_ROWS);
    let mut add = |rows: &[FrameRow<'_>]| {
        let batch = RecordBatch::try_new(SchemaRef::clone(&schema), columns(&name, rows));
        table.add(&batch.map_err(|cause| Error::new(ErrorKind::Output, "cannot make rows of frames").caused_by(cause))?)
    };
    frames.rows(progress, |row| {
        waiting.push(row);
        if waiting.len() < BATCH_ROWS {
            return Ok(());
        }
        add(&waiting)?;
        waiting.clear();
        Ok(())
    })?;
    add(&waiting)?;
    let WrittenTable { path, rows, is_new } = table.finish(content(&source.record))?;
    Ok(FrameTable { trace: name, path, rows, is_new })
}

/// The columns of the view `frames`.
fn schema() -> SchemaRef {
    let integer = |name: &str| Field::new(name, DataType::Int64, true);
    let text = |name: &str| Field::new(name, DataType::Utf8, true);
    Arc::new(Schema::new(vec![
        text("trace"),
        integer("process_id"),
        integer("stack_id"),
        integer("frame"),
        integer("depth"),
        integer("inline_depth"),
        integer("address"),
        text("module"),
        text("module_path"),
        integer("module_offset"),
        text("function"),
        text("kind"),
        text("file"),
        integer("line"),
        Field::new("is_first", DataType::Boolean, true),
        text("unknown_because"),
        integer("machine"),
    ]))
}

/// The values of some rows, in the order of [`schema`].
fn columns(trace: &str, rows: &[FrameRow<'_>]) -> Vec<ArrayRef> {
    let integer = |of: &dyn Fn(&FrameRow<'_>) -> Option<i64>| integers(rows.iter().map(of));
    let whole = |of: &dyn Fn(&FrameRow<'_>) -> i64| integers(rows.iter().map(|row| Some(of(row))));
    let is_first: BooleanArray = rows.iter().map(|row| Some(row.is_first)).collect();
    vec![
        texts(rows.iter().map(|_| Some(trace))),
        integer(&|row| row.process_id),
        whole(&|row| row.stack_id),
        whole(&|row| row.frame),
        whole(&|row| row.depth),
        whole(&|row| row.inline_depth),
        whole(&|row| row.address),
        texts(rows.iter().map(|row| row.module)),
        texts(rows.iter().map(|row| row.module_path)),
        integer(&|row| row.module_offset),
        texts(rows.iter().map(|row| row.function)),
        texts(rows.iter().map(|row| row.kind)),
        texts(rows.iter().map(|row| row.file)),
        integer(&|row| row.line),
        Arc::new(is_first),
        texts(rows.iter().map(|row| row.unknown_because)),
        whole(&|row| row.machine),
    ]
}
