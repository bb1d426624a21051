//! A finished column chunk, whoever encoded it.

use std::io::Write;

use parquet::arrow::arrow_writer::ArrowColumnChunk;
use parquet::column::writer::ColumnCloseResult;
use parquet::errors::Result;
use parquet::file::writer::SerializedRowGroupWriter;

use crate::chunks::EncodedChunk;

/// A column chunk on its way to a file.
pub(super) enum Chunk {
    Own(Box<EncodedChunk>),
    Arrow(Box<ArrowColumnChunk>),
}

impl Chunk {
    /// What its file has to know of it.
    pub(super) fn close(&self) -> &ColumnCloseResult {
        match self {
            Chunk::Own(chunk) => &chunk.close,
            Chunk::Arrow(chunk) => chunk.close(),
        }
    }

    /// Appends it as the next column.
    pub(super) fn append_to<W: Write + Send>(self, row_group: &mut SerializedRowGroupWriter<'_, W>) -> Result<()> {
        match self {
            Chunk::Own(chunk) => row_group.append_column(&chunk.bytes, chunk.close),
            Chunk::Arrow(chunk) => chunk.append_to_row_group(row_group),
        }
    }
}
