//! The compressor that a thread keeps for all pages that it makes.

use std::cell::RefCell;
use std::collections::HashMap;

use bytes::Bytes;
use lz4_flex::block as lz4;
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
    codec: Compression,
    encoder: Encoder,
    output: Vec<u8>,
    small: HashMap<Vec<u8>, Bytes>,
}

/// What compresses pages, with the memory that it leaves from one page to the next.
enum Encoder {
    Zstd(Compressor<'static>),
    Snappy(Box<snap::raw::Encoder>),
    Lz4,
}

/// Whether pages can be compressed here.
pub(super) fn covers(codec: Compression) -> bool {
    use Compression::{LZ4_RAW, SNAPPY, UNCOMPRESSED, ZSTD};
    matches!(codec, ZSTD(_) | SNAPPY | LZ4_RAW | UNCOMPRESSED)
}

/// The page in the form in which it is written. The bytes are those of a compressor that was used for nothing before.
pub(super) fn compressed(codec: Compression, page: &[u8]) -> Result<Bytes> {
    if codec == Compression::UNCOMPRESSED {
        return Ok(Bytes::copy_from_slice(page));
    }
    THREAD.with_borrow_mut(|thread| {
        let kept = match thread.take().filter(|kept| kept.codec == codec) {
            Some(kept) => kept,
            None => ThreadCompressor::new(codec)?,
        };
        thread.insert(kept).compress(page)
    })
}

impl ThreadCompressor {
    fn new(codec: Compression) -> Result<Self> {
        Ok(ThreadCompressor { codec, encoder: Encoder::new(codec)?, output: Vec::new(), small: HashMap::new() })
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
        let most = self.encoder.most(page.len());
        if self.output.len() < most {
            self.output.resize(most, 0);
        }
        let len = self.encoder.encode(page, &mut self.output)?;
        Ok(Bytes::copy_from_slice(&self.output[..len]))
    }
}

impl Encoder {
    fn new(codec: Compression) -> Result<Self> {
        Ok(match codec {
            Compression::ZSTD(level) => Encoder::Zstd(Compressor::new(level.compression_level())?),
            Compression::SNAPPY => Encoder::Snappy(Box::new(snap::raw::Encoder::new())),
            Compression::LZ4_RAW => Encoder::Lz4,
            other => return Err(ParquetError::NYI(format!("pages are not compressed with {other} here"))),
        })
    }

    /// The most bytes that a page of so many bytes comes to.
    fn most(&self, len: usize) -> usize {
        match self {
            Encoder::Zstd(_) => zstd::zstd_safe::compress_bound(len),
            Encoder::Snappy(_) => snap::raw::max_compress_len(len),
            Encoder::Lz4 => lz4::get_maximum_output_size(len),
        }
    }

    /// Compresses a page to the begin of `output`; returns how many bytes there are.
    fn encode(&mut self, page: &[u8], output: &mut [u8]) -> Result<usize> {
        match self {
            Encoder::Zstd(zstd) => Ok(zstd.compress_to_buffer(page, output)?),
            Encoder::Snappy(snappy) => Ok(snappy.compress(page, output)?),
            Encoder::Lz4 => lz4::compress_into(page, output).map_err(|error| ParquetError::External(Box::new(error))),
        }
    }
}
