//! Runs of packed values on their way to the rows of an array or a batch.

use std::ops::Range;

use super::batch::PackedColumns;
use super::packed::{BytesValues, Elements, ListValues, Packed};
use super::prefix::PrefixColumn;
use super::presence::RowSelection;

/// A run of packed values and where it goes.
#[derive(Debug)]
pub(super) struct Piece<'a> {
    pub(super) values: Values<'a>,
    pub(super) rows: RowSelection<'a>,
    /// Positions of NULLs among all packed values.
    pub(super) nulls: &'a [u32],
    /// Whether the rows are those of the piece before, which has no values in these.
    pub(super) overlays: bool,
}

#[derive(Clone, Copy, Debug)]
pub(super) enum Values<'a> {
    None,
    Packed(&'a Packed),
    /// Numbers, at the top level only.
    Prefix(PrefixColumn<'a>),
}

impl<'a> Piece<'a> {
    /// Those of a column in some rows of several batches, one after another.
    pub(super) fn of(parts: &[(&'a PackedColumns, Range<u32>)], column: usize) -> Vec<Self> {
        let mut pieces = Vec::with_capacity(parts.len());
        parts.iter().for_each(|(values, rows)| Piece::add(values, column, rows, &mut pieces));
        pieces
    }

    /// The values of a column in some rows of a batch; one piece at least.
    fn add(values: &'a PackedColumns, column: usize, rows: &Range<u32>, pieces: &mut Vec<Self>) {
        let before = pieces.len();
        if let Some(column) = values.column(column) {
            pieces.push(Piece::new(Values::Packed(&column.values), column.rows.select(rows)));
        }
        for column in values.prefix_columns(column) {
            let piece = Piece::new(Values::Prefix(column), column.rows.select(rows));
            pieces.push(Piece { overlays: pieces.len() > before, ..piece });
        }
        if pieces.len() == before {
            pieces.push(Piece::new(Values::None, RowSelection::empty(rows.len())));
        }
    }

    fn new(values: Values<'a>, rows: RowSelection<'a>) -> Self {
        Piece { values, rows, nulls: &[], overlays: false }
    }

    /// A member's values, or NULL where there is no structure.
    pub(super) fn member(&self, index: usize) -> Self {
        match self.values {
            Values::Packed(Packed::Struct(structure)) => Piece::nested(&structure.members[index], self.rows.clone()),
            _ => Piece::new(Values::None, self.rows.clone()),
        }
    }

    fn nested(nested: &'a Elements, rows: RowSelection<'a>) -> Self {
        let before = |end: usize| nested.nulls.partition_point(|&null| (null as usize) < end);
        let nulls = &nested.nulls[before(rows.values.start)..before(rows.values.end)];
        Piece { nulls, ..Piece::new(Values::Packed(&nested.values), rows) }
    }

    /// Puts the values of numbers at their rows.
    pub(super) fn put<T: Copy + Default>(&self, values: impl ExactSizeIterator<Item = T>, all: &mut Vec<T>) {
        if self.overlays {
            self.rows.scatter_into(values, all);
        } else {
            self.rows.scatter(values, all);
        }
    }

    pub(super) fn bytes(&self) -> Option<&'a BytesValues> {
        if let Values::Packed(Packed::Bytes(bytes)) = self.values { Some(bytes) } else { None }
    }

    pub(super) fn list(&self) -> Option<&'a ListValues> {
        if let Values::Packed(Packed::List(list)) = self.values { Some(list) } else { None }
    }

    /// The items of the lists, one after another.
    pub(super) fn items(&self) -> Option<Self> {
        let list = self.list()?;
        Some(Piece::nested(&list.items, RowSelection::full(extent(&list.ends, &self.rows.values))))
    }
}

/// The rows of some pieces.
pub(super) fn total(pieces: &[Piece<'_>]) -> usize {
    pieces.iter().filter(|piece| !piece.overlays).map(|piece| piece.rows.len).sum()
}

/// The items of some packed values, from the ends of all of them.
pub(super) fn extent(ends: &[i32], values: &Range<usize>) -> Range<usize> {
    end_of(ends, values.start)..end_of(ends, values.end)
}

/// Where the first `count` values end.
pub(super) fn end_of(ends: &[i32], count: usize) -> usize {
    let last = count.checked_sub(1).and_then(|last| ends.get(last));
    // Builders refuse what passes 2^31, so ends are never negative.
    last.map_or(0, |&end| usize::try_from(end).unwrap_or(0))
}
