//! What a footer says of a column chunk, in the bytes in which it says it.
//!
//! Structures are called as in the format's Thrift definition; the numbers are those of their fields there.

use parquet::data_type::AsBytes;
use parquet::file::metadata::{ColumnChunkMetaData, PageEncodingStats};
use parquet::file::page_index::column_index::ColumnIndexMetaData;
use parquet::file::page_index::offset_index::{OffsetIndexMetaData, PageLocation};
use parquet::file::statistics::Statistics;

use crate::chunks::CompactStruct;

/// The last field of `ColumnChunk` that [`put_column_chunk`] appends.
pub(super) const LAST_OF_COLUMN_CHUNK: u8 = 3;

/// Appends a `ColumnChunk` without what is known only when the file ends: where its indexes are. `moved` is the distance
/// from the offsets that `metadata` states to those in the file.
pub(super) fn put_column_chunk(metadata: &ColumnChunkMetaData, moved: i64, out: &mut Vec<u8>) {
    let mut fields = CompactStruct::new(out);
    // Of no use to anybody any more.
    fields.i64(2, 0);
    put_column_metadata(metadata, moved, fields.structure(LAST_OF_COLUMN_CHUNK));
}

fn put_column_metadata(metadata: &ColumnChunkMetaData, moved: i64, mut fields: CompactStruct<'_>) {
    let encodings: Vec<i32> = metadata.encodings().map(|encoding| encoding as i32).collect();
    fields.i32(1, metadata.column_type() as i32);
    fields.i32s(2, encodings.into_iter());
    fields.byte_lists(3, metadata.column_path().parts().iter());
    fields.i32(4, metadata.compression_codec() as i32);
    fields.i64(5, metadata.num_values());
    fields.i64(6, metadata.uncompressed_size());
    fields.i64(7, metadata.compressed_size());
    fields.i64(9, metadata.data_page_offset() + moved);
    if let Some(at) = metadata.dictionary_page_offset() {
        fields.i64(11, at + moved);
    }
    if let Some(statistics) = metadata.statistics() {
        put_statistics(statistics, fields.structure(12));
    }
    if let Some(stats) = metadata.page_encoding_stats() {
        fields.structures(13, stats.iter(), put_page_encoding_stats);
    }
    put_size_statistics(metadata, &mut fields);
    fields.end();
}

fn put_statistics(statistics: &Statistics, mut fields: CompactStruct<'_>) {
    let (min, max) = (statistics.min_bytes_opt(), statistics.max_bytes_opt());
    let mut put = |number, bound: Option<&[u8]>| bound.into_iter().for_each(|bound| fields.bytes(number, bound));
    if statistics.is_min_max_backwards_compatible() {
        put(1, max);
        put(2, min);
    }
    let count = |count: Option<u64>| count.and_then(|count| i64::try_from(count).ok());
    count(statistics.null_count_opt()).into_iter().for_each(|count| fields.i64(3, count));
    count(statistics.distinct_count_opt()).into_iter().for_each(|count| fields.i64(4, count));
    if !statistics.is_min_max_deprecated() {
        max.into_iter().for_each(|bound| fields.bytes(5, bound));
        min.into_iter().for_each(|bound| fields.bytes(6, bound));
    }
    fields.bool(7, statistics.max_is_exact());
    fields.bool(8, statistics.min_is_exact());
    count(statistics.nan_count_opt()).into_iter().for_each(|count| fields.i64(9, count));
    fields.end();
}

fn put_page_encoding_stats(stats: &PageEncodingStats, out: &mut Vec<u8>) {
    let mut fields = CompactStruct::new(out);
    fields.i32(1, stats.page_type as i32);
    fields.i32(2, stats.encoding as i32);
    fields.i32(3, stats.count);
    fields.end();
}

fn put_size_statistics(metadata: &ColumnChunkMetaData, fields: &mut CompactStruct<'_>) {
    let bytes = metadata.unencoded_byte_array_data_bytes();
    let (repetition, definition) = (metadata.repetition_level_histogram(), metadata.definition_level_histogram());
    if bytes.is_none() && repetition.is_none() && definition.is_none() {
        return;
    }
    let mut sizes = fields.structure(16);
    bytes.into_iter().for_each(|bytes| sizes.i64(1, bytes));
    repetition.into_iter().for_each(|histogram| sizes.i64s(2, histogram.values()));
    definition.into_iter().for_each(|histogram| sizes.i64s(3, histogram.values()));
    sizes.end();
}

/// Appends an `OffsetIndex`; `moved` as for [`put_column_chunk`].
pub(super) fn put_offset_index(index: &OffsetIndexMetaData, moved: i64, out: &mut Vec<u8>) {
    let mut fields = CompactStruct::new(out);
    fields.structures(1, index.page_locations.iter(), |page: &PageLocation, out| {
        let mut fields = CompactStruct::new(out);
        fields.i64(1, page.offset + moved);
        fields.i32(2, page.compressed_page_size);
        fields.i64(3, page.first_row_index);
        fields.end();
    });
    if let Some(bytes) = &index.unencoded_byte_array_data_bytes {
        fields.i64s(2, bytes);
    }
    fields.end();
}

/// Appends a `ColumnIndex`.
pub(super) fn put_column_index(index: &ColumnIndexMetaData, out: &mut Vec<u8>) {
    use ColumnIndexMetaData::{BOOLEAN, BYTE_ARRAY, DOUBLE, FIXED_LEN_BYTE_ARRAY, FLOAT, INT32, INT64, INT96};
    let (min, max) = match index {
        BOOLEAN(of) => (bounds(of.min_values_iter()), bounds(of.max_values_iter())),
        INT32(of) => (bounds(of.min_values_iter()), bounds(of.max_values_iter())),
        INT64(of) => (bounds(of.min_values_iter()), bounds(of.max_values_iter())),
        INT96(of) => (bounds(of.min_values_iter()), bounds(of.max_values_iter())),
        FLOAT(of) => (bounds(of.min_values_iter()), bounds(of.max_values_iter())),
        DOUBLE(of) => (bounds(of.min_values_iter()), bounds(of.max_values_iter())),
        BYTE_ARRAY(of) | FIXED_LEN_BYTE_ARRAY(of) => (bounds(of.min_values_iter()), bounds(of.max_values_iter())),
    };
    let mut fields = CompactStruct::new(out);
    fields.bools(1, (0..min.len()).map(|page| index.is_null_page(page)));
    fields.byte_lists(2, min.iter());
    fields.byte_lists(3, max.iter());
    index.get_boundary_order().into_iter().for_each(|order| fields.i32(4, order as i32));
    let of_pages = |histogram: fn(&ColumnIndexMetaData, usize) -> Option<&[i64]>| {
        let pages: Option<Vec<_>> = (0..min.len()).map(|page| histogram(index, page)).collect();
        pages.map(|pages| pages.concat())
    };
    let (repetition, definition) = (
        of_pages(ColumnIndexMetaData::repetition_level_histogram),
        of_pages(ColumnIndexMetaData::definition_level_histogram),
    );
    index.null_counts().into_iter().for_each(|counts| fields.i64s(5, counts));
    repetition.into_iter().for_each(|levels| fields.i64s(6, &levels));
    definition.into_iter().for_each(|levels| fields.i64s(7, &levels));
    index.nan_counts().into_iter().for_each(|counts| fields.i64s(8, counts));
    fields.end();
}

/// The bytes of the bounds of pages; none where a page has no value.
fn bounds<'a, T: AsBytes + ?Sized + 'a>(pages: impl Iterator<Item = Option<&'a T>>) -> Vec<&'a [u8]> {
    pages.map(|bound| bound.map(AsBytes::as_bytes).unwrap_or_default()).collect()
}
