//! What Windows leaves in the unused part of a buffer.

/// Whether bytes are zeros and FF only, which no event begins with.
pub(super) fn is_filler(bytes: &[u8]) -> bool {
    /// So many bytes are compared without a branch.
    const BLOCK: usize = 256;
    bytes.chunks(BLOCK).all(|block| block.iter().fold(true, |filler, &byte| filler & matches!(byte, 0 | 0xFF)))
}
