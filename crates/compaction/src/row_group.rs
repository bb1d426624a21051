//! The row groups of a table, cut by rows alone: however these were read, they lie in the same row groups.

use std::ops::Range;
use std::sync::Arc;

use arrow_array::types::Int32Type;
use arrow_array::{Array, ArrayRef, DictionaryArray, Int32Array, StringArray};
use arrow_schema::{ArrowError, SchemaRef};
use arrow_select::concat::concat;
use base::error::{Error, ErrorKind, Result};
use columnar::columns::RowSource;
use columnar::dataset::TableWriter;
use columnar::output::FileEntry;

use super::pieces::{Piece, Rows};
use super::sources::HINT;

/// Rows from which a row group ends, at the end of a block.
const MAX_ROWS: usize = 1 << 20;

/// Bytes of the rows that wait for a row group at most, and those of one block: with them, a file that is followed by another is
/// smaller than its target by no more than this.
const MAX_WEIGHT: usize = 96 << 20;

/// Values of a block, NULLs among them: a block ends where so many are read, at some thousand rows.
const BLOCK_VALUES: usize = 1 << 18;

/// Rows of a block, by the number of columns.
pub(crate) fn block_rows(columns: usize) -> usize {
    (BLOCK_VALUES / columns.max(1)).clamp(512, 4096)
}

/// Takes the rows of a table, trace by trace, and writes its files.
pub(crate) struct RowGroups<'a> {
    writer: &'a TableWriter,
    /// The names of traces, by place.
    traces: &'a [String],
    block_rows: usize,
    /// Of the trace at this place, the rows of this block that are no piece yet.
    open: Option<(usize, Vec<Rows>)>,
    pieces: Vec<Piece>,
    rows: usize,
    weight: usize,
    /// Of each row group that is written: rows, first and last trace.
    written: Vec<(u64, usize, usize)>,
}

/// A file with the places of its first and last trace.
pub(crate) type WrittenFile = (FileEntry, usize, usize);

impl<'a> RowGroups<'a> {
    /// Those of a table in blocks of so many rows.
    pub(crate) fn new(writer: &'a TableWriter, traces: &'a [String], block_rows: usize) -> Self {
        let (pieces, written) = (Vec::new(), Vec::new());
        RowGroups { writer, traces, block_rows, open: None, pieces, rows: 0, weight: 0, written }
    }

    /// Takes rows of the trace at a place.
    ///
    /// # Errors
    /// [`ErrorKind::Output`](base::error::ErrorKind::Output) when a file cannot be written.
    pub(crate) fn push(&mut self, trace: usize, new: &Rows) -> Result<()> {
        if self.open.as_ref().is_some_and(|(open, _)| *open != trace) {
            self.close_piece()?;
        }
        let mut at = 0;
        while at < new.rows {
            let rows = (new.rows - at).min(self.block_rows - self.rows % self.block_rows);
            self.open.get_or_insert_with(|| (trace, Vec::new())).1.push(new.slice(at, rows));
            at += rows;
            self.rows += rows;
            if self.rows.is_multiple_of(self.block_rows) {
                self.close_piece()?;
                if self.rows >= MAX_ROWS || self.weight >= MAX_WEIGHT {
                    self.write()?;
                }
            }
        }
        Ok(())
    }

    /// Writes what waits, and gives back the rows and the places of the first and last trace of each row group.
    ///
    /// # Errors
    /// As [`RowGroups::push`].
    pub(crate) fn finish(mut self) -> Result<Vec<(u64, usize, usize)>> {
        self.close_piece()?;
        self.write()?;
        Ok(self.written)
    }

    fn close_piece(&mut self) -> Result<()> {
        let Some((trace, parts)) = self.open.take() else { return Ok(()) };
        let piece = Piece::of(trace, &parts, self.writer.schema()).map_err(|cause| wrong_rows(&cause))?;
        self.weight += piece.weight();
        self.pieces.push(piece);
        Ok(())
    }

    fn write(&mut self) -> Result<()> {
        let pieces = std::mem::take(&mut self.pieces);
        let Some((first, last)) = pieces.first().zip(pieces.last()) else { return Ok(()) };
        let (first, last) = (first.trace, last.trace);
        let starts = pieces.iter().scan(0, |end, piece| {
            let start = *end;
            *end += piece.rows;
            Some(start)
        });
        let starts = starts.collect();
        let schema = SchemaRef::clone(self.writer.schema());
        let group = RowGroup { schema, traces: self.traces, pieces, starts, rows: self.rows };
        let encoded = self.writer.encode_parallel(&group)?;
        self.writer.append(self.written.len() as u64, encoded)?;
        self.written.push((self.rows as u64, first, last));
        (self.rows, self.weight) = (0, 0);
        Ok(())
    }
}

/// Gives files the first and last of their row groups' traces.
pub(crate) fn with_traces(files: Vec<FileEntry>, groups: &[(u64, usize, usize)]) -> Vec<WrittenFile> {
    let mut groups = groups.iter();
    let of_file = |file: FileEntry| {
        let (mut left, mut range) = (file.rows, None::<(usize, usize)>);
        while let Some(rest) = left.checked_sub(1) {
            let Some((rows, first, last)) = groups.next() else { break };
            range = Some((range.map_or(*first, |(first, _)| first), *last));
            left = rest.saturating_sub(rows.saturating_sub(1));
        }
        let (first, last) = range.unwrap_or_default();
        (file, first, last)
    };
    files.into_iter().map(of_file).collect()
}

/// A row group on its way into a file.
struct RowGroup<'a> {
    schema: SchemaRef,
    traces: &'a [String],
    pieces: Vec<Piece>,
    /// The first row of each piece.
    starts: Vec<usize>,
    rows: usize,
}

impl RowGroup<'_> {
    /// The pieces of some rows, with the rows of each.
    fn within(&self, rows: Range<usize>) -> impl Iterator<Item = (&Piece, Range<usize>)> {
        let first = self.starts.partition_point(|&start| start <= rows.start).saturating_sub(1);
        let behind = self.pieces.iter().zip(&self.starts).skip(first);
        behind.take_while(move |(_, start)| **start < rows.end).map(move |(piece, &start)| {
            (piece, rows.start.saturating_sub(start)..piece.rows.min(rows.end.saturating_sub(start)))
        })
    }

    /// The names of traces, each once.
    fn names(&self, rows: Range<usize>) -> Result<ArrayRef, ArrowError> {
        let (mut names, mut keys): (Vec<&str>, Vec<i32>) = (Vec::new(), Vec::with_capacity(rows.len()));
        let mut last = None;
        for (piece, rows) in self.within(rows) {
            if last != Some(piece.trace) {
                last = Some(piece.trace);
                names.push(self.traces.get(piece.trace).map_or("", String::as_str));
            }
            let key = i32::try_from(names.len() - 1).unwrap_or(i32::MAX);
            keys.extend(std::iter::repeat_n(key, rows.len()));
        }
        let names = Arc::new(StringArray::from(names));
        Ok(Arc::new(DictionaryArray::<Int32Type>::try_new(Int32Array::from(keys), names)?))
    }
}

impl RowSource for RowGroup<'_> {
    fn rows(&self) -> usize {
        self.rows
    }

    fn column(&self, index: usize, rows: Range<usize>) -> Result<ArrayRef> {
        let made = match index.checked_sub(1) {
            None => self.names(rows),
            Some(index) => {
                let of = self.schema.fields().get(index + 1).map(|field| field.data_type());
                let of = of.ok_or_else(|| Error::bug("expected a column of the table"))?;
                let parts = self.within(rows).map(|(piece, rows)| piece.values(index, rows, of));
                parts.collect::<Result<Vec<_>, _>>().and_then(|parts| match &parts[..] {
                    [one] => Ok(ArrayRef::clone(one)),
                    several => concat(&several.iter().map(|part| &**part as &dyn Array).collect::<Vec<_>>()),
                })
            }
        };
        made.map_err(|cause| wrong_rows(&cause))
    }

    fn all_null(&self, index: usize, rows: Range<usize>) -> bool {
        index.checked_sub(1).is_some_and(|index| self.within(rows).all(|(piece, _)| piece.is_null(index)))
    }
}

fn wrong_rows(cause: &ArrowError) -> Error {
    let error = Error::new(ErrorKind::Output, format!("rows of a table do not fit it: {cause}"));
    error.with_hint(HINT)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_have_the_traces_of_their_row_groups() {
        let file = |rows| FileEntry { rows, ..FileEntry::default() };
        let found = with_traces(vec![file(30), file(5)], &[(10, 0, 3), (20, 3, 4), (5, 4, 9)]);
        let found: Vec<_> = found.iter().map(|(file, first, last)| (file.rows, *first, *last)).collect();
        assert_eq!(found, [(30, 0, 4), (5, 4, 9)]);
    }

    #[test]
    fn a_block_has_fewer_rows_of_a_wide_table() {
        assert_eq!([1, 60, 100, 256, 100_000].map(block_rows), [4096, 4096, 2621, 1024, 512]);
    }
}
