//! What a file's footer says of its row groups, kept as bytes until the file ends.
//!
//! As parquet's structures a column chunk takes more than a kilobyte, as the bytes of a footer some 150. So each row group
//! is written as the footer of a file that holds nothing else, and read again when the file ends. Two things are lost on
//! the way, and put back: see [`decode_options`] and [`with_deprecated_bounds`]. Most files of small traces have one row
//! group: while there are few of them, what it says stays as it came.
//!
//! ```text
//! of one row group:  column indexes │ offset indexes │ metadata with the schema │ its length, PAR1
//! of the file:       all column indexes │ all offset indexes │ metadata of all with the schema │ its length, PAR1
//! ```

use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use parquet::errors::{ParquetError, Result};
use parquet::file::FOOTER_SIZE;
use parquet::file::metadata::page_index::PageIndexBuilder;
use parquet::file::metadata::{
    ColumnChunkMetaData, FileMetaData, FooterTail, ParquetMetaData, ParquetMetaDataBuilder, ParquetMetaDataOptions,
    ParquetMetaDataReader, ParquetMetaDataWriter, RowGroupMetaData,
};
use parquet::file::page_index::column_index::ColumnIndexMetaData;
use parquet::file::page_index::offset_index::OffsetIndexMetaData;
use parquet::file::statistics::Statistics;
use parquet::schema::types::SchemaDescPtr;

/// How many column chunks in the whole process are described by structures: some 5 MiB.
const MAX_WHOLE_CHUNKS: usize = 4096;

/// What the row groups of a file say, in their order.
#[derive(Default)]
pub(super) struct Footers {
    /// What the first says, while there is no other.
    only: Option<OnlyFooter>,
    all: Vec<RowGroupFooter>,
}

/// What the only row group of a file says, as it came from the writer.
pub(super) struct OnlyFooter {
    row_group: RowGroupMetaData,
    pages: PageIndexes,
    /// Held for as long as the structures are.
    _room: Room,
}

/// A row group's share of the footer, as the footer of a file without any other.
pub(super) struct RowGroupFooter(Box<[u8]>);

/// A row group's share of the footer, read again.
pub(super) struct FooterParts<'a> {
    /// The page indexes with the least and the greatest value of each page, one column after another.
    pub(super) column_indexes: &'a [u8],
    /// The page indexes with the place of each page.
    pub(super) offset_indexes: &'a [u8],
    /// In it the page indexes are where they are in the row group's own footer.
    row_group: RowGroupMetaData,
}

/// The page indexes of a row group's columns, as they come from the writer.
pub(super) struct PageIndexes {
    pub(super) columns: Vec<Option<ColumnIndexMetaData>>,
    pub(super) offsets: Vec<Option<OffsetIndexMetaData>>,
}

impl Footers {
    /// The number of row groups.
    pub(super) fn len(&self) -> usize {
        self.all.len() + usize::from(self.only.is_some())
    }

    /// Keeps what the writer says of the next row group.
    pub(super) fn push(&mut self, row_group: RowGroupMetaData, pages: PageIndexes, with_paths: bool) -> Result<()> {
        if let Some(only) = self.only.take() {
            self.all.push(RowGroupFooter::new(only.row_group, only.pages, with_paths)?);
        }
        match self.all.is_empty().then(|| Room::take(row_group.num_columns())).flatten() {
            Some(room) => self.only = Some(OnlyFooter { row_group, pages, _room: room }),
            None => self.all.push(RowGroupFooter::new(row_group, pages, with_paths)?),
        }
        Ok(())
    }

    /// What the only row group says, if there is one alone and it is kept as it came.
    pub(super) fn take_only(&mut self) -> Option<OnlyFooter> {
        self.only.take()
    }

    /// All others.
    pub(super) fn all(&self) -> &[RowGroupFooter] {
        &self.all
    }
}

impl OnlyFooter {
    /// The metadata of the file.
    pub(super) fn metadata(self, file: FileMetaData) -> ParquetMetaData {
        metadata(file, self.row_group, self.pages)
    }
}

/// A file's metadata with one row group.
fn metadata(file: FileMetaData, row_group: RowGroupMetaData, pages: PageIndexes) -> ParquetMetaData {
    let mut index = PageIndexBuilder::new(1, row_group.num_columns());
    for (column, pages) in pages.columns.into_iter().enumerate() {
        pages.into_iter().for_each(|pages| index.put_column_index(pages, 0, column));
    }
    for (column, pages) in pages.offsets.into_iter().enumerate() {
        pages.into_iter().for_each(|pages| index.put_offset_index(pages, 0, column));
    }
    ParquetMetaDataBuilder::new(file)
        .set_row_groups(vec![row_group])
        .set_page_index(Some(Arc::new(index.build())))
        .build()
}

/// Room for the structures of so many column chunks.
struct Room(usize);

static WHOLE_CHUNKS: AtomicUsize = AtomicUsize::new(0);

impl Room {
    /// `None` where there is no room: of very many files most are kept as bytes. The files are the same.
    fn take(chunks: usize) -> Option<Room> {
        let with = |taken: usize| taken.checked_add(chunks).filter(|&all| all <= MAX_WHOLE_CHUNKS);
        WHOLE_CHUNKS.fetch_update(Ordering::Relaxed, Ordering::Relaxed, with).is_ok().then_some(Room(chunks))
    }
}

impl Drop for Room {
    fn drop(&mut self) {
        WHOLE_CHUNKS.fetch_sub(self.0, Ordering::Relaxed);
    }
}

impl RowGroupFooter {
    /// Keeps what the writer says of a row group.
    fn new(row_group: RowGroupMetaData, pages: PageIndexes, with_paths: bool) -> Result<Self> {
        let file = FileMetaData::new(0, 0, None, None, row_group.schema_descr_ptr(), None);
        let metadata = metadata(file, row_group, pages);
        let mut footer = Vec::new();
        ParquetMetaDataWriter::new(&mut footer, &metadata).with_write_path_in_schema(with_paths).finish()?;
        Ok(RowGroupFooter(footer.into_boxed_slice()))
    }

    /// Takes it apart.
    pub(super) fn parts(&self, options: &ParquetMetaDataOptions) -> Result<FooterParts<'_>> {
        let metadata = self.metadata().ok_or_else(not_ours)?;
        let decoded = ParquetMetaDataReader::decode_metadata_with_options(&self.0[metadata.clone()], Some(options))?;
        let Ok([row_group]) = <[_; 1]>::try_from(decoded.into_builder().take_row_groups()) else {
            return Err(not_ours());
        };
        let first = row_group.columns().iter().filter_map(ColumnChunkMetaData::offset_index_offset).min();
        let first = first.map_or(Ok(metadata.start), usize::try_from)?;
        let column_indexes = self.0.get(..first).ok_or_else(not_ours)?;
        let offset_indexes = self.0.get(first..metadata.start).ok_or_else(not_ours)?;
        Ok(FooterParts { column_indexes, offset_indexes, row_group })
    }

    /// Where the metadata is.
    fn metadata(&self) -> Option<Range<usize>> {
        let end = self.0.len().checked_sub(FOOTER_SIZE)?;
        let tail = FooterTail::try_from(&self.0[end..]).ok()?;
        Some(end.checked_sub(tail.metadata_length())?..end)
    }
}

impl FooterParts<'_> {
    /// The row group as one of a whole file: its number there, and where its column indexes and its offset indexes begin.
    pub(super) fn placed(self, ordinal: usize, column_indexes: u64, offset_indexes: u64) -> Result<RowGroupMetaData> {
        let columns_at = i64::try_from(column_indexes)?;
        let offsets_at = i64::try_from(offset_indexes)? - i64::try_from(self.column_indexes.len())?;
        let mut row_group = self.row_group.into_builder().set_ordinal(i32::try_from(ordinal)?);
        let columns = row_group.take_columns().into_iter().map(|column| {
            let (of_values, of_pages) = (column.column_index_offset(), column.offset_index_offset());
            with_deprecated_bounds(column)?
                .into_builder()
                .set_column_index_offset(of_values.map(|at| at + columns_at))
                .set_offset_index_offset(of_pages.map(|at| at + offsets_at))
                .build()
        });
        let columns = columns.collect::<Result<_>>()?;
        row_group.set_column_metadata(columns).build()
    }
}

/// How footers are read: with a schema that is known already, and with the encodings of pages counted, which by default
/// become a mask that cannot be written again.
pub(super) fn decode_options(schema: SchemaDescPtr) -> ParquetMetaDataOptions {
    ParquetMetaDataOptions::new().with_schema(schema).with_encoding_stats_as_mask(false)
}

/// Has the bounds of a column written in the fields for old readers, too, where they can be understood by these: the writer
/// does so, but what it has written does not say it.
fn with_deprecated_bounds(column: ColumnChunkMetaData) -> Result<ColumnChunkMetaData> {
    if !column.column_descr().sort_order().is_signed() {
        return Ok(column);
    }
    let Some(statistics) = column.statistics().cloned() else { return Ok(column) };
    let statistics = match statistics {
        Statistics::Boolean(values) => values.with_backwards_compatible_min_max(true).into(),
        Statistics::Int32(values) => values.with_backwards_compatible_min_max(true).into(),
        Statistics::Int64(values) => values.with_backwards_compatible_min_max(true).into(),
        Statistics::Int96(values) => values.with_backwards_compatible_min_max(true).into(),
        Statistics::Float(values) => values.with_backwards_compatible_min_max(true).into(),
        Statistics::Double(values) => values.with_backwards_compatible_min_max(true).into(),
        Statistics::ByteArray(values) => values.with_backwards_compatible_min_max(true).into(),
        Statistics::FixedLenByteArray(values) => values.with_backwards_compatible_min_max(true).into(),
    };
    column.into_builder().set_statistics(statistics).build()
}

fn not_ours() -> ParquetError {
    ParquetError::General("a row group's part of the footer is not what was written".to_owned())
}
