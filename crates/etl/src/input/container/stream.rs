//! Compressed files: one member without a name.

use std::io::{self, BufRead, Read};
use std::path::Path;

use base::error::{Error, Result};
use base::progress::Progress;
use bzip2::bufread::MultiBzDecoder;
use flate2::bufread::GzDecoder;

use super::cursor::Cursor;
use super::fault::of_decoder;
use super::format::Format;
use super::xz::XzStream;
use crate::input::access::Input;

/// Unpacks a compressed file, and hands its bytes to `take`.
///
/// # Errors
/// Of the kind `Input` when it is damaged, and those of `take`.
pub(super) fn unpack(
    input: &dyn Input,
    format: Format,
    progress: &dyn Progress,
    take: &mut dyn FnMut(&mut dyn Read) -> Result<()>,
) -> Result<()> {
    let packed = Cursor::new(input, 0..input.size(), progress);
    match format {
        Format::Gzip => take(&mut GzipMembers(Some(GzDecoder::new(packed)))),
        Format::Bzip2 => take(&mut MultiBzDecoder::new(packed)),
        Format::Xz => take(&mut XzStream::new(packed)),
        Format::Zstd => take(&mut zstd_frames(packed, input.path())?),
        Format::Zip | Format::SevenZip | Format::Cabinet => Err(Error::bug("an archive is no stream")),
    }
}

/// All members of a gzip file, which zeros may follow: tapes and backups fill up their blocks.
struct GzipMembers<R>(Option<GzDecoder<R>>);

impl<R: BufRead> Read for GzipMembers<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while let Some(member) = &mut self.0 {
            let count = member.read(buffer)?;
            if count > 0 || buffer.is_empty() {
                return Ok(count);
            }
            self.0 =
                self.0.take().map(GzDecoder::into_inner).map(behind_zeros).transpose()?.flatten().map(GzDecoder::new);
        }
        Ok(0)
    }
}

/// What follows zeros, if anything does.
fn behind_zeros<R: BufRead>(mut rest: R) -> io::Result<Option<R>> {
    loop {
        let bytes = rest.fill_buf()?;
        let (zeros, all) = (bytes.iter().take_while(|byte| **byte == 0).count(), bytes.len());
        rest.consume(zeros);
        if all == 0 {
            return Ok(None);
        }
        if zeros < all {
            return Ok(Some(rest));
        }
    }
}

/// All frames of a file; a window of more than 128 MiB is an error, as in the zstd tool.
fn zstd_frames<R: BufRead>(packed: R, path: &Path) -> Result<impl Read> {
    zstd::stream::read::Decoder::with_buffer(packed).map_err(|cause| of_decoder(cause, path))
}

/// Endings of compressed files, and what the file without them is called.
const ENDINGS: [(&str, &str); 7] =
    [(".etlgz", ".etl"), (".gz", ""), (".gzip", ""), (".zst", ""), (".zstd", ""), (".xz", ""), (".bz2", "")];

/// The name of what a compressed file of this name holds.
pub fn name_within(name: &str) -> String {
    let lower = name.to_ascii_lowercase();
    let ending = ENDINGS.iter().find(|(ending, _)| lower.ends_with(ending) && lower.len() > ending.len());
    match ending.and_then(|(ending, other)| Some(name.get(..name.len() - ending.len())?.to_owned() + other)) {
        Some(name) => name,
        None => name.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::name_within;

    #[test]
    fn endings_of_compression_are_left_out() {
        let t = |name: &str, expected: &str| assert_eq!(name_within(name), expected);
        t("boot.etl.gz", "boot.etl");
        t("Boot.ETLGZ", "Boot.etl");
        t("a.etl.ZST", "a.etl");
        t("a.b.xz", "a.b");
        t(".gz", ".gz");
        t("odd.etl", "odd.etl");
    }
}
