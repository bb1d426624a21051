//! What a file's footer says of its row groups, kept as bytes until the file ends.
//!
//! As parquet's structures a column chunk takes more than a kilobyte, as the bytes of a footer some 150. All that a row group
//! has to say is known when it is written, but for the places of its page indexes: they stand behind all row groups.
//!
//! ```text
//! of one row group:  column indexes │ offset indexes │ metadata of the columns
//! of the file:       all column indexes │ all offset indexes │ metadata of the file with that of all columns │ its length, PAR1
//! ```

use std::sync::Arc;

use parquet::errors::{ParquetError, Result};
use parquet::file::FOOTER_SIZE;
use parquet::file::metadata::{FileMetaData, ParquetMetaDataBuilder, ParquetMetaDataWriter, SortingColumn};
use parquet::file::properties::WriterPropertiesPtr;
use parquet::schema::types::SchemaDescPtr;

use super::chunk::Chunk;
use super::column_meta::{LAST_OF_COLUMN_CHUNK, put_column_chunk, put_column_index, put_offset_index};
use crate::chunks::CompactStruct;

/// What a file begins and ends with.
pub(super) const MAGIC: &[u8; 4] = b"PAR1";

/// What the footers of all files with the same columns have in common.
pub(super) struct FooterFrame {
    /// From the beginning to the number of rows: the schema.
    head: Box<[u8]>,
    created_by: String,
    /// Behind the name of the program, to the end: how columns are ordered.
    tail: Box<[u8]>,
    sorting: Option<Vec<SortingColumn>>,
}

/// A footer that grows by row groups.
#[derive(Default)]
pub(super) struct Footer {
    row_groups: Vec<RowGroupFooter>,
}

/// What a footer says of one row group.
struct RowGroupFooter {
    /// Column indexes, offset indexes, and `ColumnChunk`s without the places of their indexes.
    bytes: Box<[u8]>,
    columns: Box<[ColumnParts]>,
    rows: i64,
    /// Where its pages begin in the file.
    at: i64,
    uncompressed: i64,
    compressed: i64,
}

/// The bytes of a row group's footer that are of one column.
#[derive(Clone, Copy, Default)]
struct ColumnParts {
    column_index: u32,
    offset_index: u32,
    metadata: u32,
}

impl FooterFrame {
    /// Takes the parts from a file without rows that parquet writes.
    pub(super) fn new(schema: &SchemaDescPtr, properties: &WriterPropertiesPtr) -> Result<FooterFrame> {
        let (version, created_by) = (properties.writer_version().as_num(), properties.created_by().to_owned());
        let file = FileMetaData::new(version, 0, Some(created_by.clone()), None, Arc::clone(schema), None);
        let mut footer = Vec::new();
        ParquetMetaDataWriter::new(&mut footer, &ParquetMetaDataBuilder::new(file).build()).finish()?;
        let mut between = Vec::new();
        let mut fields = CompactStruct::behind(2, &mut between);
        fields.i64(3, 0);
        fields.structures(4, std::iter::empty::<()>(), |(), _| {});
        fields.bytes(6, created_by.as_bytes());
        // The last place: behind it is no text.
        let at = footer.windows(between.len()).rposition(|part| part == between);
        let parts = at.and_then(|at| {
            let tail = footer.get(at + between.len()..footer.len().checked_sub(FOOTER_SIZE)?)?;
            Some((footer[..at].into(), tail.into()))
        });
        let (head, tail) = parts.ok_or_else(|| ParquetError::General("a footer is not as it was".to_owned()))?;
        Ok(FooterFrame { head, created_by, tail, sorting: properties.sorting_columns().cloned() })
    }
}

impl Footer {
    /// The number of row groups.
    pub(super) fn len(&self) -> usize {
        self.row_groups.len()
    }

    /// The rows of all row groups.
    pub(super) fn rows(&self) -> i64 {
        self.row_groups.iter().map(|group| group.rows).sum()
    }

    /// Adds a row group that begins at `at`, its columns one behind the other.
    ///
    /// # Errors
    /// When its columns do not have the same rows.
    pub(super) fn push(&mut self, at: u64, columns: &[Chunk]) -> Result<()> {
        self.row_groups.push(RowGroupFooter::new(i64::try_from(at)?, columns)?);
        Ok(())
    }

    /// Appends the end of a file to `footer`, which follows `bytes` bytes.
    ///
    /// # Errors
    /// When the file is larger than the format can say.
    pub(super) fn finish(
        &self,
        frame: &FooterFrame,
        metadata: &[(String, String)],
        bytes: u64,
        footer: &mut Vec<u8>,
    ) -> Result<()> {
        let column_indexes_at = self.put_indexes(bytes, RowGroupFooter::column_indexes, footer)?;
        let offset_indexes_at = self.put_indexes(bytes, RowGroupFooter::offset_indexes, footer)?;
        let start = footer.len();
        footer.extend_from_slice(&frame.head);
        let mut fields = CompactStruct::behind(2, footer);
        fields.i64(3, self.rows());
        let places = column_indexes_at.into_iter().zip(offset_indexes_at);
        let row_groups = self.row_groups.iter().zip(places).enumerate();
        fields.structures(4, row_groups, |(ordinal, (group, (columns_at, offsets_at))), out| {
            // The format numbers row groups in 16 bits, and then either all of them or none.
            let ordinal = i16::try_from(self.len()).and_then(|_| i16::try_from(ordinal)).ok();
            group.put(ordinal, frame.sorting.as_deref(), (columns_at, offsets_at), out);
        });
        if !metadata.is_empty() {
            fields.structures(5, metadata.iter(), |(key, value), out| {
                let mut fields = CompactStruct::new(out);
                fields.bytes(1, key.as_bytes());
                fields.bytes(2, value.as_bytes());
                fields.end();
            });
        }
        fields.bytes(6, frame.created_by.as_bytes());
        footer.extend_from_slice(&frame.tail);
        let length = u32::try_from(footer.len() - start)?;
        footer.extend_from_slice(&length.to_le_bytes());
        footer.extend_from_slice(MAGIC);
        Ok(())
    }

    /// Appends the indexes of one kind, and says where those of each row group begin in the file.
    fn put_indexes(&self, bytes: u64, of: fn(&RowGroupFooter) -> &[u8], footer: &mut Vec<u8>) -> Result<Vec<i64>> {
        let place = |group| {
            let at = i64::try_from(bytes + footer.len() as u64)?;
            footer.extend_from_slice(of(group));
            Ok(at)
        };
        self.row_groups.iter().map(place).collect()
    }
}

impl RowGroupFooter {
    fn new(at: i64, columns: &[Chunk]) -> Result<Self> {
        let rows = columns.first().map_or(0, |column| column.close.rows_written);
        if columns.iter().any(|column| column.close.rows_written != rows) {
            return Err(ParquetError::General("columns of a row group have different numbers of rows".to_owned()));
        }
        let (mut next, mut uncompressed) = (at, 0);
        let place = |column: &Chunk| {
            let metadata = &column.close.metadata;
            let first = metadata.dictionary_page_offset().unwrap_or(metadata.data_page_offset());
            let moved = next - first;
            next += metadata.compressed_size();
            uncompressed += metadata.uncompressed_size();
            moved
        };
        let moved: Vec<i64> = columns.iter().map(place).collect();
        let compressed = next - at;
        let (mut bytes, mut parts) = (Vec::new(), vec![ColumnParts::default(); columns.len()]);
        for (column, parts) in columns.iter().zip(&mut parts) {
            let put = |index, out: &mut Vec<u8>| put_column_index(index, out);
            parts.column_index = appended(column.close.column_index.as_ref(), put, &mut bytes)?;
        }
        for ((column, parts), &moved) in columns.iter().zip(&mut parts).zip(&moved) {
            let put = |index, out: &mut Vec<u8>| put_offset_index(index, moved, out);
            parts.offset_index = appended(column.close.offset_index.as_ref(), put, &mut bytes)?;
        }
        for ((column, parts), &moved) in columns.iter().zip(&mut parts).zip(&moved) {
            let put = |metadata, out: &mut Vec<u8>| put_column_chunk(metadata, moved, out);
            parts.metadata = appended(Some(&column.close.metadata), put, &mut bytes)?;
        }
        let (bytes, columns, rows) = (bytes.into_boxed_slice(), parts.into_boxed_slice(), i64::try_from(rows)?);
        Ok(RowGroupFooter { bytes, columns, rows, at, uncompressed, compressed })
    }

    fn column_indexes(&self) -> &[u8] {
        &self.bytes[..self.length_of(|parts| parts.column_index)]
    }

    fn offset_indexes(&self) -> &[u8] {
        &self.bytes[self.column_indexes().len()..][..self.length_of(|parts| parts.offset_index)]
    }

    fn length_of(&self, of: fn(&ColumnParts) -> u32) -> usize {
        self.columns.iter().map(|parts| of(parts) as usize).sum()
    }

    /// Appends a `RowGroup` whose indexes lie at these places, one behind the other.
    fn put(
        &self,
        ordinal: Option<i16>,
        sorting: Option<&[SortingColumn]>,
        (mut column_index_at, mut offset_index_at): (i64, i64),
        out: &mut Vec<u8>,
    ) {
        let mut rest = &self.bytes[self.column_indexes().len() + self.offset_indexes().len()..];
        let mut fields = CompactStruct::new(out);
        fields.structures(1, self.columns.iter(), |parts, out| {
            let (metadata, behind) = rest.split_at(parts.metadata as usize);
            rest = behind;
            out.extend_from_slice(metadata);
            let mut fields = CompactStruct::behind(LAST_OF_COLUMN_CHUNK, out);
            put_place(&mut fields, 4, &mut offset_index_at, parts.offset_index);
            put_place(&mut fields, 6, &mut column_index_at, parts.column_index);
            fields.end();
        });
        fields.i64(2, self.uncompressed);
        fields.i64(3, self.rows);
        if let Some(sorting) = sorting {
            fields.structures(4, sorting.iter(), |column, out| {
                let mut fields = CompactStruct::new(out);
                fields.i32(1, column.column_idx);
                fields.bool(2, column.descending);
                fields.bool(3, column.nulls_first);
                fields.end();
            });
        }
        fields.i64(5, self.at);
        fields.i64(6, self.compressed);
        ordinal.into_iter().for_each(|ordinal| fields.i16(7, ordinal));
        fields.end();
    }
}

/// Where an index lies and how long it is, in two fields; none without an index.
fn put_place(fields: &mut CompactStruct<'_>, number: u8, at: &mut i64, length: u32) {
    if length > 0 {
        fields.i64(number, *at);
        fields.i32(number + 1, length.cast_signed());
        *at += i64::from(length);
    }
}

/// How many bytes `put` appends for a part of a footer that is there.
fn appended<T>(part: Option<T>, put: impl FnOnce(T, &mut Vec<u8>), bytes: &mut Vec<u8>) -> Result<u32> {
    let before = bytes.len();
    if let Some(part) = part {
        put(part, bytes);
    }
    Ok(i32::try_from(bytes.len() - before)?.cast_unsigned())
}
