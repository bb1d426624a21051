//! The pages of a column chunk and what its metadata says of them.

use std::ops::Range;
use std::sync::Arc;

use bytes::Bytes;
use parquet::basic::{BoundaryOrder, Encoding, EncodingMask, PageType};
use parquet::column::page::{CompressedPage, Page, PageWriter};
use parquet::column::writer::ColumnCloseResult;
use parquet::errors::{ParquetError, Result};
use parquet::file::metadata::{
    ColumnChunkMetaData, ColumnIndexBuilder, LevelHistogram, OffsetIndexBuilder, PageEncodingStats,
};
use parquet::file::statistics::Statistics;
use parquet::file::writer::{SerializedPageWriter, TrackedWrite};

use super::compress::compressed;
use super::leaf::Leaf;
use super::levels::Levels;
use super::values::{Bound, Dictionary, PageValues, Values};

/// A finished column chunk.
#[derive(Debug)]
pub struct EncodedChunk {
    /// Its pages, the dictionary first.
    pub bytes: Bytes,
    /// What the row group has to know of it, with offsets from the start of `bytes`.
    pub close: ColumnCloseResult,
}

/// The levels of one kind.
#[derive(Debug)]
struct LevelStream {
    levels: Levels,
    /// Of the page.
    histogram: LevelHistogram,
    /// Of the chunk.
    all: LevelHistogram,
}

/// A column chunk that grows page by page.
pub(super) struct Pages {
    pub(super) leaf: Arc<Leaf>,
    repetition: Option<LevelStream>,
    definition: Option<LevelStream>,
    /// Of the page.
    levels: usize,
    /// Of the page.
    pub(super) rows: usize,
    /// Levels of the page that have no value.
    nulls: usize,
    all_rows: u64,
    all_levels: u64,
    all_nulls: u64,
    dictionary: Option<CompressedPage>,
    data: Vec<CompressedPage>,
    offsets: OffsetIndexBuilder,
    index: PageIndex,
    /// The page before it is compressed.
    buffer: Vec<u8>,
}

/// The column index, and whether the pages' bounds rise or fall.
struct PageIndex {
    builder: ColumnIndexBuilder,
    last: Option<(Bound, Bound)>,
    rises: bool,
    falls: bool,
}

impl LevelStream {
    fn new(max: i16) -> Option<Self> {
        let (levels, histogram) = (Levels::new(max)?, LevelHistogram::try_new(max)?);
        Some(LevelStream { levels, all: histogram.clone(), histogram })
    }

    fn put(stream: Option<&mut Self>, level: u8, count: usize) {
        if let Some(stream) = stream.filter(|_| count > 0) {
            stream.levels.put(level, count);
            stream.histogram.increment_by(level.into(), i64::try_from(count).unwrap_or(i64::MAX));
        }
    }

    fn end_page(stream: Option<&mut Self>, page: &mut Vec<u8>) -> Option<LevelHistogram> {
        let stream = stream?;
        stream.levels.finish(page);
        stream.all.add(&stream.histogram);
        let histogram = stream.histogram.clone();
        stream.histogram.reset();
        Some(histogram)
    }
}

impl Pages {
    /// `None` for levels of more than 8 bits.
    pub(super) fn new(leaf: Arc<Leaf>) -> Option<Self> {
        let (max_repetition, max_definition) = (leaf.descr.max_rep_level(), leaf.descr.max_def_level());
        let (repetition, definition) = (LevelStream::new(max_repetition), LevelStream::new(max_definition));
        let covered = repetition.is_some() == (max_repetition > 0) && definition.is_some() == (max_definition > 0);
        let mut builder = ColumnIndexBuilder::new(leaf.descr.physical_type());
        if !leaf.page_statistics {
            builder.to_invalid();
        }
        covered.then(|| Pages {
            leaf,
            repetition,
            definition,
            levels: 0,
            rows: 0,
            nulls: 0,
            all_rows: 0,
            all_levels: 0,
            all_nulls: 0,
            dictionary: None,
            data: Vec::new(),
            offsets: OffsetIndexBuilder::new(),
            index: PageIndex { builder, last: None, rises: true, falls: true },
            buffer: Vec::new(),
        })
    }

    /// Adds definition levels, one for each value and each place without one.
    pub(super) fn put_definition(&mut self, level: u8, count: usize) {
        LevelStream::put(self.definition.as_mut(), level, count);
        self.levels += count;
        if level < self.leaf.max_definition() {
            self.nulls += count;
        }
    }

    /// Adds the definition levels of some rows, of which these have a value.
    pub(super) fn put_present(&mut self, rows: &Range<usize>, present: &[u32]) {
        let max = self.leaf.max_definition();
        let nulls = rows.len().saturating_sub(present.len());
        if let Some(stream) = &mut self.definition {
            // No lists come here: a value, or no row.
            stream.levels.put_listed(rows, present, max);
            for (level, count) in [(max, present.len()), (0, nulls)] {
                stream.histogram.increment_by(level.into(), i64::try_from(count).unwrap_or(i64::MAX));
            }
        }
        self.levels += rows.len();
        self.nulls += nulls;
    }

    /// Adds repetition levels: 0 where a row begins.
    pub(super) fn put_repetition(&mut self, level: u8, count: usize) {
        LevelStream::put(self.repetition.as_mut(), level, count);
    }

    pub(super) fn is_empty(&self) -> bool {
        self.levels == 0
    }

    /// Ends the page with the values of its levels.
    pub(super) fn end_page(&mut self, values: &mut impl Values) -> Result<()> {
        let mut page = std::mem::take(&mut self.buffer);
        page.clear();
        let repetition = LevelStream::end_page(self.repetition.as_mut(), &mut page);
        let definition = LevelStream::end_page(self.definition.as_mut(), &mut page);
        let PageValues { encoding, range, bytes } = values.end_page(&mut page);
        self.index.add(range, self.rows == self.nulls, self.nulls);
        self.index.builder.append_histograms(&repetition, &definition);
        self.offsets.append_row_count(i64::try_from(self.rows)?);
        self.offsets.append_unencoded_byte_array_data_bytes(bytes);
        let data = Page::DataPage {
            buf: compressed(self.leaf.codec, &page)?,
            num_values: u32::try_from(self.levels)?,
            encoding,
            def_level_encoding: Encoding::RLE,
            rep_level_encoding: Encoding::RLE,
            statistics: None,
        };
        self.data.push(CompressedPage::new(data, page.len()));
        self.all_rows += self.rows as u64;
        self.all_levels += self.levels as u64;
        self.all_nulls += self.nulls as u64;
        (self.rows, self.levels, self.nulls) = (0, 0, 0);
        self.buffer = page;
        Ok(())
    }

    pub(super) fn set_dictionary(&mut self, dictionary: &Dictionary) -> Result<()> {
        let page = Page::DictionaryPage {
            buf: compressed(self.leaf.codec, &dictionary.page)?,
            num_values: u32::try_from(dictionary.count)?,
            encoding: Encoding::PLAIN,
            is_sorted: false,
        };
        self.dictionary = Some(CompressedPage::new(page, dictionary.page.len()));
        Ok(())
    }

    /// The chunk; `bytes` are those of all texts or binary values. All pages are ended.
    pub(super) fn close(self, values: &impl Values) -> Result<EncodedChunk> {
        let mut written = Written::default();
        let data: usize = self.data.iter().chain(&self.dictionary).map(|page| page.compressed_size() + 64).sum();
        let mut sink = TrackedWrite::new(Vec::with_capacity(data));
        let mut offsets = self.offsets;
        let mut writer = SerializedPageWriter::new(&mut sink);
        for page in self.dictionary.into_iter().chain(self.data) {
            written.add(&mut writer, page, &mut offsets)?;
        }
        let offsets = offsets.build();
        let bytes = offsets.unencoded_byte_array_data_bytes.as_ref().map(|bytes| bytes.iter().sum());
        let statistics: Statistics = values.statistics(&self.leaf, self.all_nulls);
        let metadata = ColumnChunkMetaData::builder(Arc::clone(&self.leaf.descr))
            .set_compression(self.leaf.codec)
            .set_encodings_mask(EncodingMask::new_from_encodings(written.encodings.iter()))
            .set_page_encoding_stats(written.stats)
            .set_total_compressed_size(i64::try_from(written.compressed)?)
            .set_total_uncompressed_size(i64::try_from(written.uncompressed)?)
            .set_num_values(i64::try_from(self.all_levels)?)
            .set_data_page_offset(written.data_at)
            .set_dictionary_page_offset(written.dictionary_at)
            .set_statistics(statistics)
            .set_unencoded_byte_array_data_bytes(bytes)
            .set_repetition_level_histogram(self.repetition.map(|stream| stream.all))
            .set_definition_level_histogram(self.definition.map(|stream| stream.all))
            .build()?;
        let close = ColumnCloseResult {
            bytes_written: written.compressed as u64,
            rows_written: self.all_rows,
            metadata,
            bloom_filter: None,
            column_index: self.index.finish()?,
            offset_index: Some(offsets),
        };
        let bytes = sink.into_inner().map_err(|cause| ParquetError::External(Box::new(cause)))?;
        Ok(EncodedChunk { bytes: bytes.into(), close })
    }
}

/// What is to be said of the pages of a chunk.
struct Written {
    encodings: Vec<Encoding>,
    stats: Vec<PageEncodingStats>,
    compressed: usize,
    uncompressed: usize,
    dictionary_at: Option<i64>,
    data_at: i64,
}

impl Default for Written {
    fn default() -> Self {
        // Levels are always runs.
        let encodings = vec![Encoding::RLE];
        Written { encodings, stats: Vec::new(), compressed: 0, uncompressed: 0, dictionary_at: None, data_at: 0 }
    }
}

impl Written {
    fn add(
        &mut self,
        writer: &mut impl PageWriter,
        page: CompressedPage,
        offsets: &mut OffsetIndexBuilder,
    ) -> Result<()> {
        let (page_type, encoding) = (page.page_type(), page.encoding());
        let spec = writer.write_page(page)?;
        let at = i64::try_from(spec.offset)?;
        if page_type == PageType::DICTIONARY_PAGE {
            self.dictionary_at = Some(at);
        } else {
            if self.stats.iter().all(|stats| stats.page_type == PageType::DICTIONARY_PAGE) {
                self.data_at = at;
            }
            offsets.append_offset_and_size(at, i32::try_from(spec.compressed_size)?);
        }
        match self.stats.last_mut().filter(|last| last.page_type == page_type && last.encoding == encoding) {
            Some(stats) => stats.count += 1,
            None => self.stats.push(PageEncodingStats { page_type, encoding, count: 1 }),
        }
        self.encodings.push(encoding);
        self.compressed += spec.compressed_size;
        self.uncompressed += spec.uncompressed_size;
        Ok(())
    }
}

impl PageIndex {
    fn add(&mut self, range: Option<(Bound, Bound)>, is_null: bool, nulls: usize) {
        if !self.builder.valid() {
            return;
        }
        let nulls = i64::try_from(nulls).unwrap_or(i64::MAX);
        match range {
            _ if is_null => self.builder.append(true, Vec::new(), Vec::new(), nulls, None),
            None => self.builder.to_invalid(),
            Some((min, max)) => {
                if let Some((last_min, last_max)) = &self.last {
                    self.rises &= last_min.order <= min.order && last_max.order <= max.order;
                    self.falls &= last_min.order >= min.order && last_max.order >= max.order;
                }
                self.builder.append(false, min.bytes.clone(), max.bytes.clone(), nulls, None);
                self.last = Some((min, max));
            }
        }
    }

    fn finish(mut self) -> Result<Option<parquet::file::page_index::column_index::ColumnIndexMetaData>> {
        self.builder.set_boundary_order(match (self.rises, self.falls) {
            (true, _) => BoundaryOrder::ASCENDING,
            (false, true) => BoundaryOrder::DESCENDING,
            (false, false) => BoundaryOrder::UNORDERED,
        });
        self.builder.valid().then(|| self.builder.build()).transpose()
    }
}
