//! What the work on a slice takes.

/// Bytes that the work on one slice may take: 8 MiB of the smallest events that have a time, which is what a slice that is
/// cut by bytes can hold at most. It fits into the smallest budget.
pub(super) const MAX_COST: u64 = 96 << 20;

/// Bytes that an event takes besides its own, twice, while its slice is in work: its place in the order, and its row.
pub(super) const EVENT_COST: u64 = 160;
