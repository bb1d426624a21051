//! A finished column chunk, whoever encoded it.

use bytes::Bytes;
use parquet::arrow::arrow_writer::ArrowColumnChunk;
use parquet::column::writer::ColumnCloseResult;
use parquet::errors::{ParquetError, Result};
use parquet::file::properties::WriterPropertiesPtr;
use parquet::file::writer::{SerializedRowGroupWriter, TrackedWrite};
use parquet::schema::types::SchemaDescPtr;

use crate::chunks::EncodedChunk;

/// A column chunk, with offsets from its own beginning.
pub(super) type Chunk = Box<EncodedChunk>;

/// The chunks of all leaves of `schema` that arrow-rs has encoded. It gives their pages to a row group only: to one that
/// nobody reads.
pub(super) fn of_arrow(
    leaves: Vec<ArrowColumnChunk>,
    schema: SchemaDescPtr,
    properties: WriterPropertiesPtr,
) -> Result<Vec<Chunk>> {
    let mut sink = TrackedWrite::new(Vec::new());
    let mut row_group = SerializedRowGroupWriter::new(schema, properties, &mut sink, 0, None);
    let mut closes = Vec::with_capacity(leaves.len());
    for leaf in leaves {
        closes.push(dictionary_first(leaf.close().clone())?);
        leaf.append_to_row_group(&mut row_group)?;
    }
    row_group.close()?;
    let mut rest = Bytes::from(sink.into_inner().map_err(|cause| ParquetError::External(Box::new(cause)))?);
    let chunks = closes.into_iter().map(|close| {
        let len = usize::try_from(close.metadata.compressed_size())?;
        if len > rest.len() {
            return Err(ParquetError::General("a column chunk is shorter than it says".to_owned()));
        }
        Ok(Box::new(EncodedChunk { bytes: rest.split_to(len), close }))
    });
    chunks.collect()
}

/// arrow-rs states the offsets of a dictionary that it writes last, and puts it first when a row group takes it.
fn dictionary_first(close: ColumnCloseResult) -> Result<ColumnCloseResult> {
    if close.metadata.dictionary_page_offset().is_none() {
        return Ok(close);
    }
    let pages = close.offset_index.iter().flat_map(|index| &index.page_locations);
    let pages: i64 = pages.map(|page| i64::from(page.compressed_page_size)).sum();
    let dictionary = usize::try_from(close.metadata.compressed_size() - pages)?;
    close.update_dictionary_location(dictionary)
}
