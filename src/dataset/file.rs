//! One Parquet file: pages as they come, the footer when it ends.
//!
//! The bytes are those of parquet's own file writer, which keeps the metadata of all row groups as structures instead.

use std::io::Write;
use std::path::Path;
use std::sync::Arc;

use parquet::arrow::arrow_writer::ArrowColumnChunk;
use parquet::errors::ParquetError;
use parquet::file::metadata::{FileMetaData, ParquetMetaDataBuilder, ParquetMetaDataWriter};
use parquet::file::properties::WriterPropertiesPtr;
use parquet::file::writer::{SerializedRowGroupWriter, TrackedWrite};
use parquet::schema::types::SchemaDescPtr;

use super::errors::write_error;
use super::footer::{FooterParts, PageIndexes, RowGroupFooter, decode_options};
use crate::error::Result;
use crate::output::OutputFile;
use crate::output::sink::Sink;

/// What a file begins and ends with.
const MAGIC: &[u8; 4] = b"PAR1";

/// A file that grows by row groups. Between two of them it holds no descriptor, but 8 KiB of buffer, from which parquet
/// takes the position in the file, and what the footer will say.
pub(super) struct FileWriter {
    output: TrackedWrite<Sink>,
    schema: SchemaDescPtr,
    properties: WriterPropertiesPtr,
    footers: Vec<RowGroupFooter>,
    rows: i64,
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
    /// Begins a file, to which nothing may have been written.
    pub(super) fn new(
        file: Box<dyn OutputFile>,
        schema: SchemaDescPtr,
        properties: WriterPropertiesPtr,
    ) -> Result<Self> {
        let output = TrackedWrite::new(Sink::new(file));
        let mut writer = FileWriter { output, schema, properties, footers: Vec::new(), rows: 0 };
        let begun = writer.output.write_all(MAGIC).and_then(|()| writer.output.flush());
        begun.map_err(|cause| write_error(writer.location(), cause.into()))?;
        Ok(writer)
    }

    /// Where the file is, for messages.
    fn location(&self) -> &Path {
        self.output.inner().location()
    }

    /// The column chunks that it holds.
    pub(super) fn column_chunks(&self) -> usize {
        self.footers.len() * self.schema.num_columns()
    }

    /// Appends a row group and lets go of the file until the next one.
    pub(super) fn append(&mut self, chunks: Vec<ArrowColumnChunk>) -> Result<()> {
        let written = self.write_pages(chunks);
        self.output.inner_mut().release();
        self.footers.push(written.map_err(|cause| write_error(self.location(), cause))?);
        Ok(())
    }

    /// Writes the pages of a row group; returns its share of the footer.
    fn write_pages(&mut self, chunks: Vec<ArrowColumnChunk>) -> Result<RowGroupFooter, ParquetError> {
        let ordinal = i32::try_from(self.footers.len())?;
        let with_paths = self.properties.write_path_in_schema();
        let mut footer = None;
        let on_close = |_: &mut _, row_group, _, columns, offsets| {
            footer = Some(RowGroupFooter::new(row_group, PageIndexes { columns, offsets }, with_paths)?);
            Ok(())
        };
        let mut row_group = SerializedRowGroupWriter::new(
            Arc::clone(&self.schema),
            WriterPropertiesPtr::clone(&self.properties),
            &mut self.output,
            ordinal,
            Some(Box::new(on_close)),
        );
        for chunk in chunks {
            chunk.append_to_row_group(&mut row_group)?;
        }
        self.rows += row_group.close()?.num_rows();
        self.output.flush()?;
        footer.ok_or_else(|| ParquetError::General("a closed row group has no metadata".to_owned()))
    }

    /// Writes the footer: all column indexes, all offset indexes, the metadata.
    pub(super) fn finish(mut self) -> Result<FinishedFile> {
        let location = self.location().to_owned();
        let written = self.write_footer().and_then(|()| Ok(self.output.inner_mut().close()?));
        let (bytes, sha256) = written.map_err(|cause| write_error(&location, cause))?;
        Ok(FinishedFile { rows: self.rows.unsigned_abs(), bytes, sha256 })
    }

    fn write_footer(&mut self) -> Result<(), ParquetError> {
        let options = decode_options(Arc::clone(&self.schema));
        let parts = self.footers.iter().map(|footer| footer.parts(&options)).collect::<Result<Vec<_>, _>>()?;
        let column_indexes = append_each(&mut self.output, &parts, |part| part.column_indexes)?;
        let offset_indexes = append_each(&mut self.output, &parts, |part| part.offset_indexes)?;
        let mut row_groups = Vec::with_capacity(parts.len());
        for ((part, columns_at), offsets_at) in parts.into_iter().zip(column_indexes).zip(offset_indexes) {
            row_groups.push(part.placed(row_groups.len(), columns_at, offsets_at)?);
        }
        let metadata = ParquetMetaDataBuilder::new(self.file_metadata()).set_row_groups(row_groups).build();
        ParquetMetaDataWriter::new(&mut self.output, &metadata)
            .with_write_path_in_schema(self.properties.write_path_in_schema())
            .finish()?;
        Ok(self.output.flush()?)
    }

    /// What the metadata states once per file.
    fn file_metadata(&self) -> FileMetaData {
        let (schema, properties) = (Arc::clone(&self.schema), &self.properties);
        let created_by = Some(properties.created_by().to_owned());
        let pairs = properties.key_value_metadata().cloned();
        FileMetaData::new(properties.writer_version().as_num(), self.rows, created_by, pairs, schema, None)
    }
}

/// Appends a piece of each part to the file; returns where each of them begins.
fn append_each<'a>(
    output: &mut TrackedWrite<Sink>,
    parts: &[FooterParts<'a>],
    piece: impl Fn(&FooterParts<'a>) -> &'a [u8],
) -> Result<Vec<u64>, ParquetError> {
    let mut starts = Vec::with_capacity(parts.len());
    for part in parts {
        starts.push(output.bytes_written() as u64);
        output.write_all(piece(part))?;
    }
    Ok(starts)
}
