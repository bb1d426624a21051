//! The compressor that a thread keeps for all pages that it makes.

use std::cell::RefCell;
use std::collections::HashMap;

use bytes::Bytes;
use parquet::basic::Compression;
use parquet::errors::{ParquetError, Result};
use zstd::bulk::Compressor;

/// Pages of so few bytes come again and again, those of columns that are NULL or have one value above all. To set up a frame
/// takes longer than to compress them.
const SMALL: usize = 32;

/// Small pages that a thread remembers.
const REMEMBERED: usize = 1024;

thread_local! {
    static THREAD: RefCell<Option<ThreadCompressor>> = const { RefCell::new(None) };
}

struct ThreadCompressor {
    level: i32,
    zstd: Compressor<'static>,
    output: Vec<u8>,
    small: HashMap<Vec<u8>, Bytes>,
}

/// Whether pages can be compressed here.
pub(super) fn covers(codec: Compression) -> bool {
    matches!(codec, Compression::ZSTD(_) | Compression::UNCOMPRESSED)
}

/// The page in the form in which it is written. The bytes are those of a compressor that was used for nothing before.
pub(super) fn compressed(codec: Compression, page: &[u8]) -> Result<Bytes> {
    let Compression::ZSTD(level) = codec else { return Ok(Bytes::copy_from_slice(page)) };
    THREAD.with_borrow_mut(|thread| {
        let level = level.compression_level();
        let kept = match thread.take().filter(|kept| kept.level == level) {
            Some(kept) => kept,
            None => ThreadCompressor::new(level)?,
        };
        thread.insert(kept).compress(page)
    })
}

impl ThreadCompressor {
    fn new(level: i32) -> Result<Self> {
        let zstd = Compressor::new(level).map_err(ParquetError::from)?;
        Ok(ThreadCompressor { level, zstd, output: Vec::new(), small: HashMap::new() })
    }

    fn compress(&mut self, page: &[u8]) -> Result<Bytes> {
        if page.len() > SMALL {
            return self.compress_any(page);
        }
        if let Some(known) = self.small.get(page) {
            return Ok(known.clone());
        }
        let compressed = self.compress_any(page)?;
        if self.small.len() >= REMEMBERED {
            self.small.clear();
        }
        self.small.insert(page.to_vec(), compressed.clone());
        Ok(compressed)
    }

    fn compress_any(&mut self, page: &[u8]) -> Result<Bytes> {
        self.output.clear();
        self.output.reserve(zstd::zstd_safe::compress_bound(page.len()));
        self.zstd.compress_to_buffer(page, &mut self.output)?;
        Ok(Bytes::copy_from_slice(&self.output))
    }
}
