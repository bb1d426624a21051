//! What a file in the output says of itself.

use base::error::Result;
use parquet::file::FOOTER_SIZE;
use parquet::file::metadata::{FooterTail, ParquetMetaDataReader};

use super::errors::unreadable;
use crate::output::{Output, StagedName};

/// The rows of a Parquet file of this length, from its footer; of the file nothing else is read.
///
/// # Errors
/// [`ErrorKind::Output`](base::error::ErrorKind::Output) for a file that is not there, shorter, or without a footer at its end.
pub fn rows_in_footer(output: &dyn Output, file: &StagedName, bytes: u64) -> Result<u64> {
    let end = bytes.saturating_sub(FOOTER_SIZE as u64);
    let tail = output.read(file, end..bytes)?;
    let metadata = FooterTail::try_from(tail.as_slice()).map_err(|cause| unreadable(file, cause))?.metadata_length();
    // Beyond the beginning of the file, `read` refuses.
    let start = end.checked_sub(metadata as u64).unwrap_or(u64::MAX);
    let metadata = output.read(file, start..end)?;
    let metadata = ParquetMetaDataReader::decode_metadata(&metadata).map_err(|cause| unreadable(file, cause))?;
    Ok(metadata.row_groups().iter().map(|group| group.num_rows().unsigned_abs()).fold(0, u64::saturating_add))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow_array::{ArrayRef, Int64Array};
    use arrow_schema::{DataType, Field, Schema};
    use base::error::ErrorKind;

    use super::*;
    use crate::columns::RowSource;
    use crate::dataset::{EncodeOptions, FileNaming, TableSpec, TableWriter};
    use crate::output::MemoryOutput;

    struct Numbers(usize);

    impl RowSource for Numbers {
        fn rows(&self) -> usize {
            self.0
        }

        fn column(&self, _index: usize, rows: std::ops::Range<usize>) -> Result<ArrayRef> {
            Ok(Arc::new(Int64Array::from(vec![7; rows.len()])))
        }

        fn all_null(&self, _index: usize, _rows: std::ops::Range<usize>) -> bool {
            false
        }
    }

    #[test]
    fn rows_are_those_of_all_row_groups() {
        let output = MemoryOutput::new("a");
        let spec = TableSpec {
            folder: "events/A".to_owned(),
            files: FileNaming::Parts,
            schema: Arc::new(Schema::new(vec![Field::new("n", DataType::Int64, false)])),
            metadata: Vec::new(),
            provider_id: None,
            provider_name: None,
        };
        let table = TableWriter::new(Arc::new(output.clone()), spec, &EncodeOptions::default()).unwrap();
        for (ordinal, rows) in [(0, 70_000), (1, 5)] {
            table.append(ordinal, table.encode(&Numbers(rows)).unwrap()).unwrap();
        }
        let [entry] = <[_; 1]>::try_from(table.finish().unwrap()).unwrap();
        let name = output.own(&entry.path);
        assert_eq!(rows_in_footer(&output, &name, entry.bytes).unwrap(), 70_005);
        for wrong in [0, 7, 8, entry.bytes - 1, entry.bytes + 1] {
            assert_eq!(rows_in_footer(&output, &name, wrong).unwrap_err().kind(), ErrorKind::Output, "{wrong}");
        }
        // A length of metadata that reaches beyond the beginning.
        let long = output.write("long", b"xxxx\xFF\xFF\xFF\x7FPAR1").unwrap();
        assert_eq!(rows_in_footer(&output, &long, 12).unwrap_err().kind(), ErrorKind::Output);
    }
}
