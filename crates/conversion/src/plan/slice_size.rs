//! How large slices are.

use std::ops::RangeInclusive;

/// Slices that keep many cores busy to the end, where a partition is small.
const MANY_SLICES: u64 = 64;

/// The least and the most event bytes of a slice: large enough that what it costs to begin one does not count, small
/// enough that slices in flight fit into the smallest budget.
const SLICE_BYTES: RangeInclusive<u64> = 1 << 20..=8 << 20;

/// Event bytes per event shape of a slice: every table takes a handful of allocations from every slice, however few its
/// rows.
const SHAPE_BYTES: u64 = 8 << 10;

/// Buffers per stream of a slice: those at its ends lie in two slices, and are walked through, or even expanded, again.
const STREAM_BUFFERS: u64 = 8;

/// What the size of slices depends on.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct SliceSize {
    /// Event bytes of the partition.
    pub bytes: u64,
    /// Event shapes of the input that has most.
    pub shapes: u64,
    /// Event bytes of one buffer of every stream.
    pub stream_bytes: u64,
}

impl SliceSize {
    /// Event bytes of a slice.
    pub(super) fn slice_bytes(self) -> u64 {
        let by_shapes = self.shapes.saturating_mul(SHAPE_BYTES);
        let by_streams = self.stream_bytes.saturating_mul(STREAM_BUFFERS);
        let wanted = (self.bytes / MANY_SLICES).max(by_shapes).max(by_streams);
        wanted.clamp(*SLICE_BYTES.start(), *SLICE_BYTES.end())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slices_are_many_unless_they_would_be_too_small() {
        const KIB: u64 = 1 << 10;
        const MIB: u64 = 1 << 20;
        for (bytes, shapes, stream_bytes, expected) in [
            (0, 0, 0, MIB),
            (24 * MIB, 2, 4 * KIB, MIB),
            (24 * MIB, 384, 4 * KIB, 3 * MIB),
            (24 * MIB, 2, 256 * KIB, 2 * MIB),
            (128 * MIB, 3, 64 * KIB, 2 * MIB),
            (128 * MIB, 1 << 32, 4 * KIB, 8 * MIB),
            (128 * MIB, 3, 64 * MIB, 8 * MIB),
            (1 << 40, 3, 64 * KIB, 8 * MIB),
        ] {
            let size = SliceSize { bytes, shapes, stream_bytes };
            assert_eq!(size.slice_bytes(), expected, "{bytes} {shapes} {stream_bytes}");
        }
    }
}
