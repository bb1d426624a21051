//! What a Parquet file says of itself, from its end alone.

use std::sync::Arc;

use base::error::{Error, ErrorKind, Result};
use columnar::output::{Store, StoredFile};
use parquet::file::metadata::{ParquetMetaData, ParquetMetaDataReader};
use parquet::file::statistics::Statistics;

use super::columns::columns;
use super::parquet_bytes::ParquetBytes;

/// The footer of a file.
#[derive(Debug)]
pub struct Footer {
    /// All of it.
    pub metadata: ParquetMetaData,
}

/// The columns of a file, each with its type in the words of docs/columns.md; a structure is followed by its members, which are called by
/// their paths.
pub fn column_types(metadata: &ParquetMetaData) -> Vec<(String, String)> {
    let columns = columns(metadata.file_metadata().schema()).into_iter();
    columns.map(|column| (column.path, column.data_type)).collect()
}

impl Footer {
    /// Reads that of a file.
    ///
    /// # Errors
    /// [`ErrorKind::Output`] for a file that cannot be read, or has none.
    pub fn read(store: &dyn Store, path: &str) -> Result<Footer> {
        let failure = |what: &str| Error::new(ErrorKind::Output, what).in_file(store.location(path));
        let file = store.open(path).map_err(|cause| failure("cannot open").caused_by(cause))?;
        Footer::of(&file).map_err(|error| error.in_file(store.location(path)))
    }

    /// Reads that of an open file.
    ///
    /// # Errors
    /// As [`Footer::read`], without the name of the file.
    pub fn of(file: &Arc<dyn StoredFile>) -> Result<Footer> {
        let metadata = ParquetMetaDataReader::new().parse_and_finish(&ParquetBytes(Arc::clone(file)));
        let metadata = metadata.map_err(|cause| {
            Error::new(ErrorKind::Output, "expected a Parquet file, found no footer that can be read").caused_by(cause)
        })?;
        Ok(Footer { metadata })
    }

    /// The columns with their types.
    pub fn column_types(&self) -> Vec<(String, String)> {
        column_types(&self.metadata)
    }

    /// Whether there is such a column.
    pub(crate) fn has_column(&self, name: &str) -> bool {
        self.metadata.file_metadata().schema().get_fields().iter().any(|field| field.name() == name)
    }

    /// The rows, added up over row groups; saturates.
    pub fn rows(&self) -> u64 {
        let groups = self.metadata.row_groups().iter();
        groups.map(|group| group.num_rows().unsigned_abs()).fold(0, u64::saturating_add)
    }

    /// The least and greatest value of a column of `INT64` or `INT32`, by the statistics of all row groups; `None` where it, or one
    /// of them, is missing.
    pub fn range(&self, column: &str) -> Option<(i64, i64)> {
        let ranges = self.group_ranges(column);
        if ranges.len() < self.metadata.num_row_groups() {
            return None;
        }
        ranges.into_iter().reduce(|(least, greatest), (min, max)| (least.min(min), greatest.max(max)))
    }

    /// That of each row group that has statistics of it.
    pub fn group_ranges(&self, column: &str) -> Vec<(i64, i64)> {
        let Some(leaf) = self.leaf(column) else { return Vec::new() };
        let of_group = |statistics: &Statistics| match statistics {
            Statistics::Int64(values) => Some((*values.min_opt()?, *values.max_opt()?)),
            Statistics::Int32(values) => Some((i64::from(*values.min_opt()?), i64::from(*values.max_opt()?))),
            _ => None,
        };
        let groups = self.metadata.row_groups().iter();
        groups.filter_map(|group| of_group(group.columns().get(leaf)?.statistics()?)).collect()
    }

    /// The number of a leaf that is a column of its own.
    fn leaf(&self, column: &str) -> Option<usize> {
        let leaves = self.metadata.file_metadata().schema_descr().columns();
        leaves.iter().position(|leaf| matches!(leaf.path().parts(), [name] if name == column))
    }

    /// A value of the key-value metadata.
    pub fn value(&self, key: &str) -> Option<&str> {
        let pairs = self.metadata.file_metadata().key_value_metadata()?;
        pairs.iter().find(|pair| pair.key == key)?.value.as_deref()
    }
}
