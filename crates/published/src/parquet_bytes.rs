//! A file of a store as the Parquet reader takes it.

use std::io::BufReader;
use std::sync::Arc;

use bytes::Bytes;
use columnar::output::StoredFile;
use columnar::output::store::StoreReader;
use parquet::errors::{ParquetError, Result};
use parquet::file::reader::{ChunkReader, Length};

/// The bytes of a Parquet file.
#[derive(Clone, Debug)]
pub struct ParquetBytes(pub Arc<dyn StoredFile>);

impl Length for ParquetBytes {
    fn len(&self) -> u64 {
        self.0.len()
    }
}

impl ChunkReader for ParquetBytes {
    type T = BufReader<StoreReader>;

    fn get_read(&self, start: u64) -> Result<Self::T> {
        Ok(BufReader::new(StoreReader::new(Arc::clone(&self.0), start)))
    }

    fn get_bytes(&self, start: u64, length: usize) -> Result<Bytes> {
        // A damaged footer may ask for any length.
        if start.checked_add(length as u64).is_none_or(|end| end > self.0.len()) {
            return Err(ParquetError::EOF(format!("expected {length} bytes at {start}, found {}", self.0.len())));
        }
        let mut bytes = vec![0; length];
        self.0.read_exact_at(start, &mut bytes)?;
        Ok(bytes.into())
    }
}
