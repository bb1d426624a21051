//! The row group cutter: finished slices become row groups, cut by the data alone.
//!
//! A group closes at a number of rows, at a weight, or, when all open groups together pass a weight, the heaviest
//! first. Slices and their weights depend on the input only, so the cuts do, too: never on threads, timing or budget.

use std::cmp::Reverse;
use std::ops::Range;
use std::sync::Arc;

use super::layout::TableColumns;
use super::row_group::{Chunk, RowGroup};

/// Weight at which a group closes: bytes of its non-null values as Arrow holds them.
pub const GROUP_WEIGHT: u64 = 128 << 20;

/// Weight of all open groups at which the heaviest close.
pub const OPEN_WEIGHT: u64 = 192 << 20;

/// A group that is complete.
#[derive(Debug)]
pub struct CompletedRowGroup {
    /// Index of the table.
    pub table: u32,
    /// Number of the group in its table.
    pub ordinal: u64,
    /// Its rows.
    pub group: RowGroup,
    /// Its weight.
    pub weight: u64,
}

/// The open groups of all tables.
#[derive(Debug)]
pub struct RowGroupCutter {
    row_group_rows: u64,
    open: Vec<OpenGroup>,
    weight: u64,
}

#[derive(Debug)]
struct OpenGroup {
    layout: Arc<TableColumns>,
    parts: Vec<(Arc<Chunk>, Range<u32>)>,
    rows: u64,
    weight: u64,
    next_ordinal: u64,
}

impl RowGroupCutter {
    /// A cutter for tables of the given layouts, in the order of their providers.
    pub fn new(layouts: &[Arc<TableColumns>], row_group_rows: u32) -> Self {
        let open = layouts.iter().map(|layout| OpenGroup {
            layout: Arc::clone(layout),
            parts: Vec::new(),
            rows: 0,
            weight: 0,
            next_ordinal: 0,
        });
        RowGroupCutter { row_group_rows: u64::from(row_group_rows.max(1)), open: open.collect(), weight: 0 }
    }

    /// Takes the rows of the next slice in order; gives back the groups that they complete.
    pub fn push(&mut self, chunks: Vec<(u32, Chunk)>) -> Vec<CompletedRowGroup> {
        let mut closed = Vec::new();
        for (table, chunk) in chunks {
            self.add(table, &Arc::new(chunk), &mut closed);
        }
        while self.weight > OPEN_WEIGHT {
            // Tables stand in the order of their providers, so the first of the heaviest wins.
            let Some(heaviest) = (0u32..).zip(&self.open).max_by_key(|(table, open)| (open.weight, Reverse(*table)))
            else {
                break;
            };
            closed.extend(self.close(heaviest.0));
        }
        closed
    }

    /// Closes what is open, table by table.
    pub fn finish(&mut self) -> Vec<CompletedRowGroup> {
        (0u32..).zip(0..self.open.len()).filter_map(|(table, _)| self.close(table)).collect()
    }

    fn add(&mut self, table: u32, chunk: &Arc<Chunk>, closed: &mut Vec<CompletedRowGroup>) {
        let total = u64::from(chunk.rows);
        let mut range = 0..chunk.rows;
        while !range.is_empty() {
            let open = &mut self.open[table as usize];
            let room = u32::try_from(self.row_group_rows - open.rows).unwrap_or(u32::MAX);
            let end = range.start.saturating_add(room).min(range.end);
            let part = range.start..end;
            let weight = weight_of(chunk.weight, &part, total);
            open.rows += part.len() as u64;
            open.weight += weight;
            self.weight += weight;
            range.start = end;
            open.parts.push((Arc::clone(chunk), part));
            if open.rows >= self.row_group_rows || open.weight >= GROUP_WEIGHT {
                closed.extend(self.close(table));
            }
        }
    }

    fn close(&mut self, table: u32) -> Option<CompletedRowGroup> {
        let open = &mut self.open[table as usize];
        if open.parts.is_empty() {
            return None;
        }
        let ordinal = open.next_ordinal;
        let weight = std::mem::take(&mut open.weight);
        open.next_ordinal += 1;
        open.rows = 0;
        self.weight -= weight;
        let group = RowGroup::new(Arc::clone(&open.layout), std::mem::take(&mut open.parts));
        Some(CompletedRowGroup { table, ordinal, group, weight })
    }
}

/// The weight of some rows of a chunk, as if all weighed the same.
fn weight_of(weight: u64, part: &Range<u32>, total: u64) -> u64 {
    let share = u128::from(weight) * part.len() as u128 / u128::from(total.max(1));
    u64::try_from(share).unwrap_or(weight)
}

#[cfg(test)]
mod tests {
    use arrow_schema::Schema;
    use columnar::columns::{KeyTable, PackedColumns, TypeOptions};

    use super::*;

    fn cutter(tables: u32, rows: u32) -> RowGroupCutter {
        let layout = || {
            let schema = Arc::new(Schema::empty());
            let no_names = Arc::new(KeyTable::of_texts([]));
            Arc::new(TableColumns::new(Vec::new(), schema, TypeOptions::default(), &[], Arc::default(), no_names))
        };
        RowGroupCutter::new(&(0..tables).map(|_| layout()).collect::<Vec<_>>(), rows)
    }

    fn chunk(rows: u32, weight: u64) -> Chunk {
        Chunk { rows, columns: PackedColumns::default(), weight }
    }

    /// Table, number and row ranges of a group.
    type Summary = (u32, u64, Vec<(u32, u32)>);

    fn summary(closed: &[CompletedRowGroup]) -> Vec<Summary> {
        let ranges = |group: &RowGroup| group.ranges().map(|range| (range.start, range.end)).collect();
        closed.iter().map(|closed| (closed.table, closed.ordinal, ranges(&closed.group))).collect()
    }

    #[test]
    fn a_group_closes_at_its_number_of_rows() {
        let mut cutter = cutter(1, 10);
        assert_eq!(summary(&cutter.push(vec![(0, chunk(4, 4))])), []);
        let closed = cutter.push(vec![(0, chunk(19, 19))]);
        assert_eq!(summary(&closed), [(0, 0, vec![(0, 4), (0, 6)]), (0, 1, vec![(6, 16)])]);
        assert_eq!(summary(&cutter.finish()), [(0, 2, vec![(16, 19)])]);
        assert_eq!(summary(&cutter.finish()), []);
    }

    #[test]
    fn a_group_closes_at_its_weight() {
        let mut cutter = cutter(1, 1000);
        assert_eq!(summary(&cutter.push(vec![(0, chunk(1, GROUP_WEIGHT - 1))])), []);
        assert_eq!(summary(&cutter.push(vec![(0, chunk(1, 1))])), [(0, 0, vec![(0, 1), (0, 1)])]);
    }

    #[test]
    fn the_heaviest_of_all_open_groups_closes_first() {
        let mut cutter = cutter(3, 1000);
        let third = OPEN_WEIGHT / 3;
        let closed = cutter.push(vec![(0, chunk(1, third)), (1, chunk(2, third + 1)), (2, chunk(3, third + 1))]);
        assert_eq!(summary(&closed), [(1, 0, vec![(0, 2)])]);
    }
}
