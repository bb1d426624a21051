//! One Parquet file: pages as they come, the footer when it ends.
//!
//! The bytes are those of parquet's own file writer, which keeps the metadata of all row groups as structures instead.

use std::io::{self, BufWriter, Write};
use std::path::Path;
use std::sync::Arc;

use parquet::errors::ParquetError;
use parquet::file::metadata::{FileMetaData, KeyValue, ParquetMetaDataBuilder, ParquetMetaDataWriter};
use parquet::file::properties::WriterPropertiesPtr;
use parquet::file::writer::{SerializedRowGroupWriter, TrackedWrite};
use parquet::schema::types::SchemaDescPtr;

use super::chunk::Chunk;
use super::errors::write_error;
use super::footer::{FooterParts, Footers, OnlyFooter, PageIndexes, decode_options};
use crate::error::Result;
use crate::output::OutputFile;
use crate::output::sink::Sink;

/// What a file begins and ends with.
const MAGIC: &[u8; 4] = b"PAR1";

/// A file that grows by row groups. Between two of them it holds neither a descriptor nor a buffer, only what the footer will
/// say: there may be tens of thousands.
pub(super) struct FileWriter {
    sink: Sink,
    schema: SchemaDescPtr,
    properties: WriterPropertiesPtr,
    /// The key-value metadata of the footer.
    metadata: Vec<(String, String)>,
    footers: Footers,
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
        metadata: Vec<(String, String)>,
    ) -> Result<Self> {
        let (sink, footers) = (Sink::new(file), Footers::default());
        let mut writer = FileWriter { sink, schema, properties, metadata, footers, rows: 0 };
        writer.sink.write_all(MAGIC).map_err(|cause| write_error(writer.location(), cause.into()))?;
        Ok(writer)
    }

    /// Where the file is, for messages.
    fn location(&self) -> &Path {
        self.sink.location()
    }

    /// The column chunks that it holds.
    pub(super) fn column_chunks(&self) -> usize {
        self.footers.len() * self.schema.num_columns()
    }

    /// Appends a row group and lets go of the file until the next one.
    pub(super) fn append(&mut self, chunks: Vec<Chunk>) -> Result<()> {
        let written = self.write_pages(chunks);
        self.sink.release();
        written.map_err(|cause| write_error(self.location(), cause))
    }

    /// Writes the pages of a row group and keeps its share of the footer.
    fn write_pages(&mut self, chunks: Vec<Chunk>) -> Result<(), ParquetError> {
        let ordinal = i32::try_from(self.footers.len())?;
        let with_paths = self.properties.write_path_in_schema();
        let mut output = append_to(self.sink.bytes(), &mut self.sink)?;
        let footers = &mut self.footers;
        let on_close = |_: &mut _, row_group, _, columns, offsets| {
            footers.push(row_group, PageIndexes { columns, offsets }, with_paths)
        };
        let mut row_group = SerializedRowGroupWriter::new(
            Arc::clone(&self.schema),
            WriterPropertiesPtr::clone(&self.properties),
            &mut output,
            ordinal,
            Some(Box::new(on_close)),
        );
        for chunk in chunks {
            chunk.append_to(&mut row_group)?;
        }
        self.rows += row_group.close()?.num_rows();
        Ok(output.flush()?)
    }

    /// Writes the footer: all column indexes, all offset indexes, the metadata.
    pub(super) fn finish(mut self) -> Result<FinishedFile> {
        let location = self.location().to_owned();
        let written = self.write_footer().and_then(|()| Ok(self.sink.close()?));
        let (bytes, sha256) = written.map_err(|cause| write_error(&location, cause))?;
        Ok(FinishedFile { rows: self.rows.unsigned_abs(), bytes, sha256 })
    }

    fn write_footer(&mut self) -> Result<(), ParquetError> {
        match self.footers.take_only() {
            Some(only) => self.write_only(only),
            None => self.write_all(),
        }
    }

    /// The footer of a file with one row group, put together in memory: what counts the bytes hides errors at its end.
    fn write_only(&mut self, only: OnlyFooter) -> Result<(), ParquetError> {
        let metadata = only.metadata(self.file_metadata());
        let mut footer = Vec::new();
        let output = append_to(self.sink.bytes(), &mut footer)?;
        ParquetMetaDataWriter::new_with_tracked(output, &metadata)
            .with_write_path_in_schema(self.properties.write_path_in_schema())
            .finish()?;
        Ok(self.sink.write_all(&footer)?)
    }

    fn write_all(&mut self) -> Result<(), ParquetError> {
        let options = decode_options(Arc::clone(&self.schema));
        let parts = self.footers.all().iter().map(|footer| footer.parts(&options)).collect::<Result<Vec<_>, _>>()?;
        let column_indexes = append_each(&mut self.sink, &parts, |part| part.column_indexes)?;
        let offset_indexes = append_each(&mut self.sink, &parts, |part| part.offset_indexes)?;
        let mut row_groups = Vec::with_capacity(parts.len());
        for ((part, columns_at), offsets_at) in parts.into_iter().zip(column_indexes).zip(offset_indexes) {
            row_groups.push(part.placed(row_groups.len(), columns_at, offsets_at)?);
        }
        let metadata = ParquetMetaDataBuilder::new(self.file_metadata()).set_row_groups(row_groups).build();
        let mut output = BufWriter::new(&mut self.sink);
        ParquetMetaDataWriter::new(&mut output, &metadata)
            .with_write_path_in_schema(self.properties.write_path_in_schema())
            .finish()?;
        Ok(output.flush()?)
    }

    /// What the metadata states once per file.
    fn file_metadata(&self) -> FileMetaData {
        let (schema, properties) = (Arc::clone(&self.schema), &self.properties);
        let created_by = Some(properties.created_by().to_owned());
        let pairs: Vec<_> =
            self.metadata.iter().map(|(key, value)| KeyValue::new(key.clone(), value.clone())).collect();
        let pairs = (!pairs.is_empty()).then_some(pairs);
        FileMetaData::new(properties.writer_version().as_num(), self.rows, created_by, pairs, schema, None)
    }
}

/// Appends a piece of each part to the file; returns where each of them begins.
fn append_each<'a>(
    sink: &mut Sink,
    parts: &[FooterParts<'a>],
    piece: impl Fn(&FooterParts<'a>) -> &'a [u8],
) -> Result<Vec<u64>, ParquetError> {
    let mut starts = Vec::with_capacity(parts.len());
    for part in parts {
        starts.push(sink.bytes());
        sink.write_all(piece(part))?;
    }
    Ok(starts)
}

/// A writer that goes on at the end of a file of so many bytes.
///
/// parquet takes the positions in a file from the number of bytes that a writer has passed on. A new one is made to count
/// what the file holds already, which is cheap as that is written nowhere, and dropped after use with its buffer.
fn append_to<W: Write>(bytes: u64, end: W) -> io::Result<TrackedWrite<Appending<W>>> {
    static COUNTED: [u8; 1 << 16] = [0; 1 << 16];
    let mut left = bytes;
    let mut output = TrackedWrite::new(Appending { written_before: left, end });
    while left > 0 {
        let counted = usize::try_from(left).map_or(COUNTED.len(), |left| left.min(COUNTED.len()));
        output.write_all(&COUNTED[..counted])?;
        left -= counted as u64;
    }
    output.flush()?;
    Ok(output)
}

/// Passes on what comes after the bytes that the file has.
struct Appending<W> {
    written_before: u64,
    end: W,
}

impl<W: Write> Write for Appending<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.written_before == 0 {
            return self.end.write(bytes);
        }
        let counted = usize::try_from(self.written_before).map_or(bytes.len(), |before| before.min(bytes.len()));
        self.written_before -= counted as u64;
        Ok(counted)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.end.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::output::{MemoryOutput, Output};

    #[test]
    fn writing_goes_on_where_the_file_ends() {
        let memory = MemoryOutput::new("a");
        let mut sink = Sink::new(memory.create("x").unwrap());
        let mut content = Vec::new();
        for len in [0usize, 1, 4, 8192, (1 << 16) - 5, 1 << 16, 200_000, 3] {
            let mut output = append_to(sink.bytes(), &mut sink).unwrap();
            assert_eq!(output.bytes_written(), content.len());
            let piece = vec![u8::try_from(len % 251).unwrap(); len];
            output.write_all(&piece).unwrap();
            output.flush().unwrap();
            content.extend(piece);
            assert_eq!(output.bytes_written(), content.len());
        }
        assert_eq!(sink.bytes(), content.len() as u64);
        assert!(memory.read(&memory.own("x"), 0..sink.bytes()).unwrap() == content);
    }
}
