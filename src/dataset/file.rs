//! One Parquet file: pages as they come, and a footer at the end whose contents wait in the spool.
//!
//! The bytes are those of parquet's own file writer, which keeps the metadata of all row groups in memory instead.

use std::io::{self, Write};
use std::path::Path;
use std::sync::Arc;

use parquet::arrow::arrow_writer::ArrowColumnChunk;
use parquet::errors::ParquetError;
use parquet::file::metadata::page_index::PageIndexBuilder;
use parquet::file::metadata::{FileMetaData, ParquetMetaData, ParquetMetaDataBuilder, ParquetMetaDataWriter};
use parquet::file::page_index::column_index::ColumnIndexMetaData;
use parquet::file::page_index::offset_index::OffsetIndexMetaData;
use parquet::file::properties::WriterPropertiesPtr;
use parquet::file::writer::{SerializedRowGroupWriter, TrackedWrite};
use parquet::schema::types::SchemaDescPtr;

use super::footer::{FileFrame, RowGroupParts, shifted};
use crate::error::Result;
use crate::output::errors::{output_error, write_error};
use crate::output::sink::Sink;
use crate::output::spool::{Span, Spool};

/// What a file begins and ends with.
const MAGIC: &[u8; 4] = b"PAR1";

/// A file that grows by row groups. Between two of them it holds neither a descriptor nor a buffer.
pub(super) struct FileWriter {
    sink: Sink,
    schema: SchemaDescPtr,
    properties: WriterPropertiesPtr,
    spool: Arc<Spool>,
    row_groups: Vec<Spooled>,
    rows: i64,
}

/// Where the parts of the footer that belong to one row group lie.
struct Spooled {
    column_indexes: Span,
    offset_indexes: Span,
    metadata: Span,
}

/// A finished file.
pub(super) struct FinishedFile {
    /// Rows in all of its row groups.
    pub(super) rows: u64,
    /// Its length.
    pub(super) bytes: u64,
    /// SHA-256 in lower-case hexadecimal.
    pub(super) sha256: String,
}

impl FileWriter {
    /// Creates the file, which must not exist.
    pub(super) fn create(
        path: &Path,
        schema: SchemaDescPtr,
        properties: WriterPropertiesPtr,
        spool: Arc<Spool>,
    ) -> Result<Self> {
        let mut sink = Sink::create(path.to_owned()).map_err(|cause| output_error("create the file", path, cause))?;
        sink.write_all(MAGIC).map_err(|cause| output_error("write", path, cause))?;
        Ok(FileWriter { sink, schema, properties, spool, row_groups: Vec::new(), rows: 0 })
    }

    /// Where the file is.
    pub(super) fn path(&self) -> &Path {
        self.sink.path()
    }

    /// Appends a row group and lets go of the file until the next one.
    pub(super) fn append(&mut self, chunks: Vec<ArrowColumnChunk>) -> Result<()> {
        let written = self.write_pages(chunks).and_then(|metadata| self.footer_of(&metadata));
        self.sink.release();
        let footer = written.map_err(|cause| write_error(self.path(), cause))?;
        let parts = RowGroupParts::of(&footer).map_err(|cause| write_error(self.path(), cause))?;
        let spooled = Spooled {
            column_indexes: self.spool.append(&footer[parts.column_indexes])?,
            offset_indexes: self.spool.append(&footer[parts.offset_indexes])?,
            metadata: self.spool.append(&footer[parts.metadata])?,
        };
        self.row_groups.push(spooled);
        Ok(())
    }

    /// Writes the pages of a row group; returns metadata and page index of this row group alone.
    fn write_pages(&mut self, chunks: Vec<ArrowColumnChunk>) -> Result<ParquetMetaData, ParquetError> {
        let schema = &self.schema;
        let ordinal = i32::try_from(self.row_groups.len())?;
        let (mut metadata, mut pages) = (None, PageIndexBuilder::new(1, schema.num_columns()));
        let mut output = append_to(&mut self.sink)?;
        let on_close = |_: &mut _, row_group, _, column_indexes, offset_indexes| {
            metadata = Some(row_group);
            index_pages(&mut pages, column_indexes, offset_indexes);
            Ok(())
        };
        let mut row_group = SerializedRowGroupWriter::new(
            Arc::clone(schema),
            WriterPropertiesPtr::clone(&self.properties),
            &mut output,
            ordinal,
            Some(Box::new(on_close)),
        );
        for chunk in chunks {
            chunk.append_to_row_group(&mut row_group)?;
        }
        self.rows += row_group.close()?.num_rows();
        output.flush()?;
        // Of this only the row group stays.
        let file =
            FileMetaData::new(self.properties.writer_version().as_num(), 0, None, None, Arc::clone(&self.schema), None);
        let metadata = ParquetMetaDataBuilder::new(file)
            .set_row_groups(metadata.into_iter().collect())
            .set_page_index(Some(Arc::new(pages.build())));
        Ok(metadata.build())
    }

    /// Writes the footer: all column indexes, all offset indexes, the metadata. One row group's share of it is in memory at
    /// a time.
    pub(super) fn finish(mut self) -> Result<FinishedFile> {
        let row_groups = std::mem::take(&mut self.row_groups);
        let start = self.sink.bytes();
        for row_group in &row_groups {
            self.write(&self.spool.read(row_group.column_indexes)?)?;
        }
        let middle = self.sink.bytes();
        for row_group in &row_groups {
            self.write(&self.spool.read(row_group.offset_indexes)?)?;
        }
        self.write_metadata(&row_groups, (start, middle))?;
        let (bytes, sha256) = self.sink.identity();
        Ok(FinishedFile { rows: self.rows.unsigned_abs(), bytes, sha256 })
    }

    /// Writes the metadata, given where the first column index and the first offset index are, and the end of the file.
    fn write_metadata(&mut self, row_groups: &[Spooled], first: (u64, u64)) -> Result<()> {
        let path = self.path().to_owned();
        let failed = |cause| write_error(&path, cause);
        let start = self.sink.bytes();
        let frame = ParquetMetaData::new(self.file_metadata(), Vec::new());
        let frame = self.footer_of(&frame).map_err(failed)?;
        let frame = FileFrame::of(&frame).map_err(failed)?;
        self.write(&frame.before(self.rows, row_groups.len()))?;
        let (mut column_index, mut offset_index) = first;
        let ordinals = i16::try_from(row_groups.len()).is_ok();
        for row_group in row_groups {
            // In its own footer, the column indexes are at 0 and the offset indexes right behind them.
            let shifts = (column_index, offset_index - row_group.column_indexes.len());
            let metadata = self.spool.read(row_group.metadata)?;
            self.write(&shifted(&metadata, shifts, ordinals).map_err(failed)?)?;
            column_index += row_group.column_indexes.len();
            offset_index += row_group.offset_indexes.len();
        }
        self.write(frame.after())?;
        let len = u32::try_from(self.sink.bytes() - start).map_err(|cause| failed(cause.into()))?;
        self.write(&len.to_le_bytes())?;
        self.write(MAGIC)
    }

    fn write(&mut self, bytes: &[u8]) -> Result<()> {
        self.sink.write_all(bytes).map_err(|cause| output_error("write", self.path(), cause))
    }

    /// What the metadata states once per file.
    fn file_metadata(&self) -> FileMetaData {
        let (schema, properties) = (Arc::clone(&self.schema), &self.properties);
        let created_by = Some(properties.created_by().to_owned());
        let pairs = properties.key_value_metadata().cloned();
        FileMetaData::new(properties.writer_version().as_num(), 0, created_by, pairs, schema, None)
    }

    /// What would end a file with this metadata and without pages.
    fn footer_of(&self, metadata: &ParquetMetaData) -> Result<Vec<u8>, ParquetError> {
        let mut footer = Vec::new();
        ParquetMetaDataWriter::new(&mut footer, metadata)
            .with_write_path_in_schema(self.properties.write_path_in_schema())
            .finish()?;
        Ok(footer)
    }
}

/// A writer that goes on at the end of a file.
///
/// parquet takes the positions in a file from the number of bytes that a writer has passed on. A new one is made to count
/// what the file holds already, which is cheap as that is written nowhere, and dropped after use with its buffer.
fn append_to(sink: &mut Sink) -> io::Result<TrackedWrite<Appending<'_>>> {
    static COUNTED: [u8; 1 << 16] = [0; 1 << 16];
    let mut left = sink.bytes();
    let mut output = TrackedWrite::new(Appending { written_before: left, sink });
    while left > 0 {
        let counted = usize::try_from(left).map_or(COUNTED.len(), |left| left.min(COUNTED.len()));
        output.write_all(&COUNTED[..counted])?;
        left -= counted as u64;
    }
    output.flush()?;
    Ok(output)
}

/// Passes on what comes after the bytes that the sink has.
struct Appending<'a> {
    written_before: u64,
    sink: &'a mut Sink,
}

impl Write for Appending<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.written_before == 0 {
            return self.sink.write(bytes);
        }
        let counted = usize::try_from(self.written_before).map_or(bytes.len(), |before| before.min(bytes.len()));
        self.written_before -= counted as u64;
        Ok(counted)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.sink.flush()
    }
}

/// Collects the page index of a row group.
fn index_pages(
    pages: &mut PageIndexBuilder,
    column_indexes: Vec<Option<ColumnIndexMetaData>>,
    offset_indexes: Vec<Option<OffsetIndexMetaData>>,
) {
    for (column, index) in column_indexes.into_iter().enumerate() {
        index.into_iter().for_each(|index| pages.put_column_index(index, 0, column));
    }
    for (column, index) in offset_indexes.into_iter().enumerate() {
        index.into_iter().for_each(|index| pages.put_offset_index(index, 0, column));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn writing_goes_on_where_the_file_ends() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a");
        let mut sink = Sink::create(path.clone()).unwrap();
        let mut content = Vec::new();
        for len in [0usize, 1, 4, 8192, (1 << 16) - 5, 1 << 16, 200_000, 3] {
            let mut output = append_to(&mut sink).unwrap();
            assert_eq!(output.bytes_written(), content.len());
            let piece = vec![u8::try_from(len % 251).unwrap(); len];
            output.write_all(&piece).unwrap();
            output.flush().unwrap();
            content.extend(piece);
            assert_eq!(output.bytes_written(), content.len());
        }
        assert_eq!(sink.bytes(), content.len() as u64);
        assert!(std::fs::read(path).unwrap() == content);
    }
}
