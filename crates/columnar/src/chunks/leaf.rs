//! What the properties say about one leaf column.

use std::sync::Arc;

use parquet::basic::{Compression, Encoding, LogicalType, SortOrder, Type};
use parquet::file::properties::{EnabledStatistics, WriterProperties, WriterVersion};
use parquet::schema::types::ColumnDescPtr;

use super::compress;
use super::number::Meaning;

/// A leaf column and its settings, for all chunks of it.
#[derive(Debug)]
pub struct Leaf {
    pub(super) descr: ColumnDescPtr,
    pub(super) codec: Compression,
    pub(super) dictionary: bool,
    /// Of the values, or, with a dictionary, of those that come once it is full.
    pub(super) encoding: Encoding,
    pub(super) page_statistics: bool,
    /// Rows at which a page ends.
    pub(super) page_rows: usize,
    /// Bytes of values at which a page ends.
    pub(super) page_bytes: usize,
    /// Bytes at which a dictionary is full.
    pub(super) dictionary_bytes: usize,
    /// Levels after which the ends are looked at, where they are not all one.
    pub(super) batch: usize,
    /// Bytes to which the statistics of texts and binary values are cut.
    pub(super) statistics_bytes: Option<usize>,
}

impl Leaf {
    /// `None` for settings that arrow-rs alone knows what to make of.
    pub fn new(descr: &ColumnDescPtr, properties: &WriterProperties) -> Option<Leaf> {
        let path = descr.path();
        let (statistics, codec) = (properties.statistics_enabled(path), properties.compression(path));
        let covered = properties.writer_version() == WriterVersion::PARQUET_1_0
            && compress::covers(codec)
            && statistics != EnabledStatistics::None
            && !properties.offset_index_disabled()
            && !properties.write_page_header_statistics(path)
            && properties.bloom_filter_properties(path).is_none()
            && !properties.write_row_group_number_distinct_values()
            && descr.physical_type() != Type::INT96
            && descr.logical_type_ref().is_none_or(is_covered);
        let has_dictionary = properties.dictionary_enabled(path) && descr.physical_type() != Type::BOOLEAN;
        covered.then(|| Leaf {
            descr: Arc::clone(descr),
            codec,
            dictionary: has_dictionary,
            encoding: properties.encoding(path).unwrap_or(Encoding::PLAIN),
            page_statistics: statistics == EnabledStatistics::Page,
            page_rows: properties.column_data_page_row_count_limit(path),
            page_bytes: properties.column_data_page_size_limit(path),
            dictionary_bytes: properties.column_dictionary_page_size_limit(path),
            batch: properties.write_batch_size(),
            statistics_bytes: properties.statistics_truncate_length(),
        })
    }

    /// The definition level of a value.
    pub(super) fn max_definition(&self) -> u8 {
        u8::try_from(self.descr.max_def_level()).unwrap_or(u8::MAX)
    }

    /// What the bits of a number stand for.
    pub(super) fn meaning(&self) -> Meaning {
        match (self.descr.physical_type(), self.descr.sort_order()) {
            (Type::FLOAT | Type::DOUBLE, _) => Meaning::Floating,
            (_, SortOrder::UNSIGNED) => Meaning::Unsigned,
            _ => Meaning::Signed,
        }
    }

    pub(super) fn is_text(&self) -> bool {
        self.descr.logical_type_ref() == Some(&LogicalType::String)
    }

    /// Whether values are in the order of signed numbers, which is that of deprecated statistics too.
    pub(super) fn is_signed(&self) -> bool {
        self.descr.sort_order().is_signed()
    }
}

/// Logical types whose order and statistics are those of their bytes or numbers.
fn is_covered(logical: &LogicalType) -> bool {
    matches!(
        logical,
        LogicalType::String | LogicalType::Timestamp { .. } | LogicalType::Integer { .. } | LogicalType::Uuid
    )
}
