//! A sidecar table: rows become a Parquet file as they come.

use std::ops::Range;
use std::sync::Arc;

use arrow_array::ArrayRef;
use arrow_schema::{Field, Schema};
use base::error::Result;
use base::progress::stop_if_cancelled;
use columnar::columns::{IntegerType, RowSource};
use columnar::dataset::{EncodeOptions, FileNaming, TableSpec, TableWriter};
use columnar::output::FileEntry;

use super::row::{SidecarColumn, SidecarRow};
use super::target::SidecarTarget;

/// Rows at which a row group is closed.
const GROUP_ROWS: usize = 1 << 20;

/// Bytes of rows, their texts and binary values at which a row group is closed: so much is held until it is written. Far
/// below the 2 GiB that one Arrow array can hold.
const GROUP_WEIGHT: usize = 32 << 20;

/// Groups with fewer rows are encoded by one thread.
const PARALLEL_ROWS: usize = 1 << 12;

/// Writes a table below `sidecar`; of its rows only one row group's are held at a time.
///
/// # Errors
/// [`Output`](base::error::ErrorKind::Output) when the file cannot be written.
pub(super) fn write<R: SidecarRow>(
    target: &SidecarTarget<'_>,
    mut rows: impl Iterator<Item = R>,
) -> Result<Vec<FileEntry>> {
    let columns = R::columns(target.types.integers);
    let spec = TableSpec {
        folder: "sidecar".to_owned(),
        files: FileNaming::Single(R::TABLE.to_owned()),
        schema: Arc::new(schema(&columns)),
        metadata: Vec::new(),
        provider_id: None,
        provider_name: None,
    };
    let options = EncodeOptions { rising: R::RISING, ..target.encode.clone() };
    let writer = TableWriter::new(Arc::clone(&target.output), spec, &options)?;
    for ordinal in 0.. {
        let batch = RowBatch::next(&columns, target.types.integers, &mut rows);
        if batch.rows.is_empty() {
            break;
        }
        stop_if_cancelled(target.progress)?;
        let encoded =
            if batch.rows() < PARALLEL_ROWS { writer.encode(&batch)? } else { writer.encode_parallel(&batch)? };
        writer.append(ordinal, encoded)?;
    }
    writer.finish()
}

/// As [`write`], but a table without rows has no file.
///
/// # Errors
/// Those of [`write`].
pub(super) fn write_if_any<R: SidecarRow>(
    target: &SidecarTarget<'_>,
    rows: impl Iterator<Item = R>,
) -> Result<Vec<FileEntry>> {
    let mut rows = rows.peekable();
    if rows.peek().is_none() { Ok(Vec::new()) } else { write(target, rows) }
}

/// The columns of a table.
pub(super) fn schema<R>(columns: &[SidecarColumn<R>]) -> Schema {
    let field = |column: &SidecarColumn<R>| Field::new(column.name, column.data_type.clone(), true);
    Schema::new(columns.iter().map(field).collect::<Vec<_>>())
}

/// The rows of the next row group.
fn next_rows<R: SidecarRow>(rows: &mut impl Iterator<Item = R>) -> Vec<R> {
    let most = GROUP_ROWS.min(GROUP_WEIGHT / size_of::<R>().max(1));
    let (mut batch, mut weight) = (Vec::with_capacity(rows.size_hint().0.min(most)), 0usize);
    while batch.len() < GROUP_ROWS && weight < GROUP_WEIGHT {
        let Some(row) = rows.next() else { break };
        weight = weight.saturating_add(size_of::<R>() + row.weight());
        batch.push(row);
    }
    batch
}

/// The rows of one row group.
pub(super) struct RowBatch<'a, R> {
    columns: &'a [SidecarColumn<R>],
    integers: IntegerType,
    rows: Vec<R>,
}

impl<'a, R: SidecarRow> RowBatch<'a, R> {
    /// The next rows; without any at the end.
    pub(super) fn next(
        columns: &'a [SidecarColumn<R>],
        integers: IntegerType,
        rows: &mut impl Iterator<Item = R>,
    ) -> RowBatch<'a, R> {
        RowBatch { columns, integers, rows: next_rows(rows) }
    }

    /// All columns of all rows.
    pub(super) fn arrays(&self) -> Vec<ArrayRef> {
        self.columns.iter().map(|column| (column.array)(&self.rows, self.integers)).collect()
    }
}

impl<R: SidecarRow> RowSource for RowBatch<'_, R> {
    fn rows(&self) -> usize {
        self.rows.len()
    }

    fn column(&self, index: usize, rows: Range<usize>) -> Result<ArrayRef> {
        Ok((self.columns[index].encoded)(&self.rows[rows], self.integers))
    }

    fn all_null(&self, index: usize, rows: Range<usize>) -> bool {
        self.rows[rows].iter().all(self.columns[index].is_null)
    }
}

#[cfg(test)]
mod tests {
    use base::progress::NoProgress;
    use columnar::columns::TypeOptions;
    use columnar::output::{LocalFolder, Output};
    use parquet::file::metadata::{ParquetMetaDataReader, RowGroupMetaData};

    use super::*;
    use crate::convert::ViewScripts;
    use crate::sidecar::row::sidecar_row;

    sidecar_row! {
        #[expect(unreachable_pub, reason = "rows are public")]
        "t" Heavy { n: u64, }
        weight: |_| 25 << 20
    }

    #[test]
    fn heavy_rows_close_a_row_group_early() {
        let folder = tempfile::tempdir().unwrap();
        let folder = Arc::new(LocalFolder::create(folder.path(), "a").unwrap());
        let output = Arc::clone(&folder) as Arc<dyn Output>;
        let types = TypeOptions::default();
        let (encode, scripts) = (EncodeOptions::default(), ViewScripts::None);
        let target = SidecarTarget { output, encode, types, scripts, progress: &NoProgress };
        let files = write(&target, (0..5).map(|n| Heavy { n })).unwrap();
        assert_eq!((files.len(), files[0].rows), (1, 5));
        let file = std::fs::File::open(folder.locate("sidecar/t.parquet").unwrap()).unwrap();
        let footer = ParquetMetaDataReader::new().parse_and_finish(&file).unwrap();
        let groups: Vec<_> = footer.row_groups().iter().map(RowGroupMetaData::num_rows).collect();
        assert_eq!(groups, [2, 2, 1]);
    }
}
