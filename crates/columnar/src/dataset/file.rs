//! One Parquet file: pages as they come, the footer when it ends.
//!
//! The bytes are those of parquet's own file writer, which keeps the metadata of all row groups as structures instead.

use std::io::{BufWriter, Write};
use std::path::Path;
use std::sync::Arc;

use base::error::Result;
use parquet::errors::ParquetError;

use super::chunk::Chunk;
use super::encode::Encoder;
use super::errors::write_error;
use super::footer::{Footer, MAGIC};
use crate::output::OutputFile;
use crate::output::sink::Sink;

/// A file that grows by row groups. Between two of them it holds neither a descriptor nor a buffer, only what the footer will
/// say: there may be tens of thousands.
pub(super) struct FileWriter {
    sink: Sink,
    encoder: Arc<Encoder>,
    footer: Footer,
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
    /// Begins a file for row groups of this encoder, to which nothing may have been written.
    pub(super) fn new(file: Box<dyn OutputFile>, encoder: Arc<Encoder>) -> Self {
        FileWriter { sink: Sink::new(file), encoder, footer: Footer::default() }
    }

    /// Where the file is, for messages.
    fn location(&self) -> &Path {
        self.sink.location()
    }

    /// The column chunks that it holds.
    pub(super) fn column_chunks(&self) -> usize {
        self.footer.len() * self.encoder.descriptor().num_columns()
    }

    /// Appends a row group.
    pub(super) fn append(&mut self, chunks: &[Chunk]) -> Result<()> {
        self.write_pages(chunks).map_err(|cause| write_error(self.location(), cause))
    }

    /// Lets go of the file until the next row group.
    pub(super) fn release(&mut self) {
        self.sink.release();
    }

    /// Writes the pages of a row group and keeps its share of the footer.
    fn write_pages(&mut self, chunks: &[Chunk]) -> Result<(), ParquetError> {
        let at = self.sink.bytes().max(MAGIC.len() as u64);
        self.footer.push(at, chunks)?;
        let beginning = self.beginning();
        let mut output = BufWriter::new(&mut self.sink);
        output.write_all(beginning)?;
        chunks.iter().try_for_each(|chunk| output.write_all(&chunk.bytes))?;
        Ok(output.flush()?)
    }

    /// What has to be written before anything else.
    fn beginning(&self) -> &'static [u8] {
        if self.sink.bytes() == 0 { MAGIC } else { &[] }
    }

    /// Writes the footer with this key-value metadata: all column indexes, all offset indexes, the metadata.
    pub(super) fn finish(mut self, metadata: &[(String, String)]) -> Result<FinishedFile> {
        let location = self.location().to_owned();
        let written = self.write_footer(metadata).and_then(|()| Ok(self.sink.close()?));
        let (bytes, sha256) = written.map_err(|cause| write_error(&location, cause))?;
        Ok(FinishedFile { rows: self.footer.rows().unsigned_abs(), bytes, sha256 })
    }

    fn write_footer(&mut self, metadata: &[(String, String)]) -> Result<(), ParquetError> {
        let mut end = self.beginning().to_vec();
        self.footer.finish(self.encoder.footer_frame(), metadata, self.sink.bytes(), &mut end)?;
        Ok(self.sink.write_all(&end)?)
    }
}
