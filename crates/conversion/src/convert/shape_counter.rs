//! Counts the rows of a slice by shape.

use crate::table::RowStatus;

/// The counts of the shapes with rows; a count is found by the number of its shape.
#[derive(Debug, Default)]
pub(super) struct ShapeCounter {
    /// By number of the shape: one more than the position in `counts`; 0 for a shape without rows.
    positions: Vec<u32>,
    counts: Vec<(u32, ShapeRows)>,
}

/// The rows of a shape by status, and the bytes of their payloads.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct ShapeRows {
    pub statuses: [u64; RowStatus::ALL.len()],
    pub payload_bytes: u64,
}

impl ShapeCounter {
    #[inline]
    pub(super) fn count(&mut self, shape: u32, status: RowStatus, payload: usize) {
        let position = match self.positions.get(shape as usize) {
            Some(&position) if position > 0 => position,
            _ => self.add(shape),
        };
        let (_, rows) = &mut self.counts[position as usize - 1];
        rows.statuses[usize::from(status.code())] += 1;
        rows.payload_bytes += payload as u64;
    }

    #[cold]
    fn add(&mut self, shape: u32) -> u32 {
        if self.positions.len() <= shape as usize {
            self.positions.resize(shape as usize + 1, 0);
        }
        self.counts.push((shape, ShapeRows::default()));
        // No more than there are shapes, whose numbers have 32 bits.
        let position = u32::try_from(self.counts.len()).unwrap_or(u32::MAX);
        self.positions[shape as usize] = position;
        position
    }

    /// Takes out the counts of the shapes with rows.
    pub(super) fn take(&mut self) -> Vec<(u32, ShapeRows)> {
        self.counts.iter().for_each(|&(shape, _)| self.positions[shape as usize] = 0);
        std::mem::take(&mut self.counts)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::decode::Status;

    #[test]
    fn what_was_taken_counts_from_zero() {
        let (ok, none) = (RowStatus::Decoded(Status::Ok), RowStatus::NoSchema);
        let mut counter = ShapeCounter::default();
        counter.count(7, ok, 3);
        counter.count(2, none, 4);
        counter.count(7, none, 5);
        let counted: Vec<_> =
            counter.take().into_iter().map(|(shape, rows)| (shape, rows.statuses, rows.payload_bytes)).collect();
        assert_eq!(counted, [(7, [1, 0, 0, 0, 0, 1], 8), (2, [0, 0, 0, 0, 0, 1], 4)]);
        counter.count(2, ok, 1);
        let counted: Vec<_> = counter.take().into_iter().map(|(shape, rows)| (shape, rows.payload_bytes)).collect();
        assert_eq!(counted, [(2, 1)]);
        assert!(counter.take().is_empty());
    }
}
