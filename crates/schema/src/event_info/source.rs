//! Where a description was resolved.

/// Where the recording machine had the description from (`DECODING_SOURCE`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum DecodingSource {
    /// An instrumentation manifest.
    Manifest,
    /// A MOF class.
    Mof,
    /// A TMF file.
    Wpp,
    /// Metadata on the event.
    TraceLogging,
    /// A number without a known meaning.
    Other(u32),
}
