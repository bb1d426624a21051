//! What a file holds traces in, by its first bytes.

/// The largest window of Zstandard data that is read, in bytes.
const ZSTD_WINDOW: u64 = 128 << 20;

/// The largest window of any LZMA data that is read, in bytes; 7-Zip's best setting has no larger one.
pub(super) const LZMA_WINDOW: u64 = 256 << 20;

/// A kind of container.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// A zip archive, of which `.diagsession` is one.
    Zip,
    /// A 7z archive.
    SevenZip,
    /// A Windows cabinet.
    Cabinet,
    /// A gzip stream.
    Gzip,
    /// A Zstandard stream.
    Zstd,
    /// An xz stream.
    Xz,
    /// A bzip2 stream.
    Bzip2,
}

impl Format {
    /// Bytes that show the format.
    pub const SIGN: usize = 8;

    /// The format of a file that begins with these bytes, if it is a container.
    pub fn of(head: &[u8]) -> Option<Format> {
        const SIGNS: [(&[u8], Format); 8] = [
            (b"PK\x03\x04", Format::Zip),
            (b"PK\x05\x06", Format::Zip),
            (b"7z\xBC\xAF\x27\x1C", Format::SevenZip),
            (b"MSCF\0\0\0\0", Format::Cabinet),
            (b"\x1F\x8B\x08", Format::Gzip),
            (b"\x28\xB5\x2F\xFD", Format::Zstd),
            (b"\xFD7zXZ\0", Format::Xz),
            (b"BZh", Format::Bzip2),
        ];
        SIGNS.iter().find(|(sign, _)| head.starts_with(sign)).map(|(_, format)| *format)
    }

    /// What it is called.
    pub fn name(self) -> &'static str {
        match self {
            Format::Zip => "zip archive",
            Format::SevenZip => "7z archive",
            Format::Cabinet => "cabinet",
            Format::Gzip => "gzip stream",
            Format::Zstd => "zstd stream",
            Format::Xz => "xz stream",
            Format::Bzip2 => "bzip2 stream",
        }
    }

    /// Bytes that unpacking it takes in memory at most: the largest window that its methods may have, and what goes in and out.
    pub fn room(self) -> u64 {
        const BUFFERS: u64 = 16 << 20;
        match self {
            Format::Gzip | Format::Bzip2 | Format::Cabinet => BUFFERS,
            Format::Zip | Format::Zstd => ZSTD_WINDOW + BUFFERS,
            Format::SevenZip | Format::Xz => LZMA_WINDOW + BUFFERS,
        }
    }

    /// Whether it holds one nameless file, and no directory of members.
    pub fn is_stream(self) -> bool {
        matches!(self, Format::Gzip | Format::Zstd | Format::Xz | Format::Bzip2)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_trace_is_no_container() {
        assert_eq!(Format::of(b"\0\0\x01\0\x48\0\0\0"), None);
        assert_eq!(Format::of(b"PK"), None);
        assert_eq!(Format::of(b""), None);
        assert_eq!(Format::of(b"PK\x03\x04\x14\0\0\0"), Some(Format::Zip));
    }
}
