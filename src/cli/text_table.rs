//! Aligned text: columns of a table, and names with values.

use super::console::{cut, printable};

/// Characters of a cell that others stand behind.
const WIDEST: usize = 100;

/// To which side a column is aligned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Align {
    Left,
    Right,
}

/// A table with a heading; columns are as wide as their widest cell.
#[derive(Debug)]
pub(super) struct TextTable {
    align: Vec<Align>,
    rows: Vec<Vec<String>>,
}

impl TextTable {
    /// A table with these headings.
    pub(super) fn new<const N: usize>(columns: [(&str, Align); N]) -> Self {
        let heading = columns.iter().map(|(name, _)| (*name).to_owned()).collect();
        TextTable { align: columns.iter().map(|(_, align)| *align).collect(), rows: vec![heading] }
    }

    /// Names with values: two columns, no heading.
    pub(super) fn of_values() -> Self {
        TextTable { align: vec![Align::Left; 2], rows: Vec::new() }
    }

    /// Adds a row, one cell per column.
    pub(super) fn row<const N: usize>(&mut self, cells: [String; N]) {
        let mut cells: Vec<String> = cells.map(|cell| printable(&cell).into_owned()).into();
        if let Some((_, aligned)) = cells.split_last_mut() {
            aligned.iter_mut().for_each(|cell| *cell = cut(cell.chars(), WIDEST));
        }
        self.rows.push(cells);
    }

    /// Adds a name and its value.
    pub(super) fn value(&mut self, name: &str, value: impl Into<String>) {
        self.row([name.to_owned(), value.into()]);
    }

    /// The text: each line two blanks in, two blanks between columns.
    pub(super) fn render(&self) -> String {
        let width = |column: usize| {
            let cells = self.rows.iter().filter_map(|row| row.get(column));
            cells.map(|cell| cell.chars().count()).max().unwrap_or(0)
        };
        let widths: Vec<usize> = (0..self.align.len()).map(width).collect();
        let mut text = String::new();
        for row in &self.rows {
            let mut line = String::new();
            for ((cell, align), &width) in row.iter().zip(&self.align).zip(&widths) {
                let blanks = std::iter::repeat_n(' ', width.saturating_sub(cell.chars().count()));
                line.push_str("  ");
                match align {
                    Align::Left => line.extend(cell.chars().chain(blanks)),
                    Align::Right => line.extend(blanks.chain(cell.chars())),
                }
            }
            text += line.trim_end();
            text.push('\n');
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_aligned() {
        let mut table = TextTable::new([("NAME", Align::Left), ("ROWS", Align::Right), ("NOTE", Align::Left)]);
        table.row(["größe".into(), "1".into(), String::new()]);
        table.row(["a".into(), "12,345".into(), "x\ty".into()]);
        let expected = "  NAME     ROWS  NOTE\n  größe       1\n  a      12,345  x\u{fffd}y\n";
        assert_eq!(table.render(), expected);
    }

    #[test]
    fn a_name_without_end_is_cut() {
        let mut table = TextTable::new([("NAME", Align::Left), ("ROWS", Align::Right)]);
        table.row(["N".repeat(70_000), "1".into()]);
        let expected = format!("  NAME{}  ROWS\n  {}…     1\n", " ".repeat(96), "N".repeat(99));
        assert_eq!(table.render(), expected);
    }
}
