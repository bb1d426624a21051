//! The columns of a converted file, ready to be encoded once more.

use std::error::Error;
use std::fs::File;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow_array::{Array, ArrayRef, RecordBatch, RecordBatchReader};
use arrow_select::concat::concat_batches;
use columnar::columns::RowSource;
use columnar::dataset::{EncodeOptions, EncoderKind, FileNaming, TableSpec, TableWriter};
use columnar::output::{LocalFolder, Output};
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use parquet::basic::Encoding;
use parquet::file::metadata::ColumnChunkMetaData;

pub(crate) type Result<T> = std::result::Result<T, Box<dyn Error>>;

/// A file that the converter wrote with default options.
#[derive(Debug)]
pub(crate) struct ReadyFile {
    path: PathBuf,
    pattern: ParquetRecordBatchReaderBuilder<File>,
}

impl ReadyFile {
    pub(crate) fn open(path: &Path) -> Result<ReadyFile> {
        let pattern = ParquetRecordBatchReaderBuilder::try_new(File::open(path)?)?;
        Ok(ReadyFile { path: path.to_owned(), pattern })
    }

    pub(crate) fn row_groups(&self) -> usize {
        self.pattern.metadata().num_row_groups()
    }

    /// A row group, whole.
    pub(crate) fn row_group(&self, ordinal: usize) -> Result<Ready> {
        let builder = ParquetRecordBatchReaderBuilder::try_new(File::open(&self.path)?)?;
        let rows = usize::try_from(builder.metadata().row_group(ordinal).num_rows())?;
        let reader = builder.with_row_groups(vec![ordinal]).with_batch_size(rows).build()?;
        let schema = reader.schema();
        let batches = reader.collect::<std::result::Result<Vec<_>, _>>()?;
        Ok(Ready(concat_batches(&schema, &batches)?))
    }

    /// The columns of numbers that are stored as differences, and not only where a dictionary was full.
    fn rising(&self) -> Vec<&'static str> {
        let Some(group) = self.pattern.metadata().row_groups().first() else { return Vec::new() };
        let is_rising = |column: &&ColumnChunkMetaData| {
            let is_of_differences = column.encodings().any(|encoding| encoding == Encoding::DELTA_BINARY_PACKED);
            is_of_differences && column.dictionary_page_offset().is_none()
        };
        group.columns().iter().filter(is_rising).map(|column| &*column.column_path().string().leak()).collect()
    }

    /// A writer of the same table in another dataset.
    pub(crate) fn writer(
        &self,
        output: &Arc<LocalFolder>,
        folder: String,
        encoder: EncoderKind,
    ) -> Result<TableWriter> {
        let pairs = self.pattern.metadata().file_metadata().key_value_metadata().into_iter().flatten();
        let spec = TableSpec {
            folder,
            files: FileNaming::Single("again".to_owned()),
            schema: Arc::clone(self.pattern.schema()),
            metadata: pairs.map(|pair| (pair.key.clone(), pair.value.clone().unwrap_or_default())).collect(),
            provider_id: None,
            provider_name: None,
        };
        let rising: &'static [&'static str] = self.rising().leak();
        let options = EncodeOptions { max_file_size: u64::MAX, encoder, rising, ..EncodeOptions::default() };
        Ok(TableWriter::new(Arc::clone(output) as Arc<dyn Output>, spec, &options)?)
    }
}

/// A row group whose columns are there.
#[derive(Debug)]
pub(crate) struct Ready(RecordBatch);

impl RowSource for Ready {
    fn rows(&self) -> usize {
        self.0.num_rows()
    }

    fn column(&self, index: usize, rows: Range<usize>) -> etl2parquet::Result<ArrayRef> {
        Ok(self.0.column(index).slice(rows.start, rows.len()))
    }

    fn all_null(&self, index: usize, rows: Range<usize>) -> bool {
        let column = self.0.column(index);
        column.null_count() == column.len() || column.slice(rows.start, rows.len()).null_count() == rows.len()
    }
}
