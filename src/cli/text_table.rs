//! Aligned text: columns of a table, and names with values.

use base::readable::printable::{cut, printable};

use super::fold::{Width, columns, fold, wrapped};

/// Characters of a cell that others stand behind.
const WIDEST: usize = 100;

/// Blanks in front of a column.
const GAP: usize = 2;

/// Columns that text is left, where there is too little room for all of it.
const NARROWEST: usize = 14;

/// Blanks in front of what stands below a row.
const REST_INDENT: usize = 6;

/// To which side a column is aligned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Align {
    /// Text, which goes on below where there is no room for it.
    Left,
    /// The same for what is read as one: an id, a time.
    Whole,
    /// A number, which is never broken either.
    Right,
}

/// A table with a heading; columns are as wide as their widest cell where there is room.
#[derive(Debug)]
pub(super) struct TextTable {
    align: Vec<Align>,
    has_heading: bool,
    rows: Vec<Vec<String>>,
    /// Rows whose last cell is to be copied, and stays on one line.
    to_copy: Vec<usize>,
}

impl TextTable {
    /// A table with these headings.
    pub(super) fn new<const N: usize>(columns: [(&str, Align); N]) -> Self {
        let heading = columns.iter().map(|(name, _)| (*name).to_owned()).collect();
        let align = columns.iter().map(|(_, align)| *align).collect();
        TextTable { align, has_heading: true, rows: vec![heading], to_copy: Vec::new() }
    }

    /// Names with values: two columns, no heading.
    pub(super) fn of_values() -> Self {
        TextTable { align: vec![Align::Left; 2], has_heading: false, rows: Vec::new(), to_copy: Vec::new() }
    }

    /// Adds a row, one cell per column.
    pub(super) fn row(&mut self, cells: impl IntoIterator<Item = String>) {
        let mut cells: Vec<String> = cells.into_iter().map(|cell| printable(&cell).into_owned()).collect();
        if let Some((_, aligned)) = cells.split_last_mut() {
            aligned.iter_mut().for_each(|cell| *cell = cut(cell.chars(), WIDEST));
        }
        self.rows.push(cells);
    }

    /// Adds a name and its value.
    pub(super) fn value(&mut self, name: &str, value: impl Into<String>) {
        self.row([name.to_owned(), value.into()]);
    }

    /// As [`TextTable::value`], of a text that somebody copies: a break would become part of it.
    pub(super) fn value_to_copy(&mut self, name: &str, value: impl Into<String>) {
        self.to_copy.push(self.rows.len());
        self.value(name, value);
    }

    /// The text, no line wider than `width`: each line two blanks in, two blanks between columns. Where the columns do not fit beside
    /// each other, text goes on below in its own column; columns for which no room is left even so stand below each row, with their
    /// names.
    pub(super) fn render(&self, width: Width) -> String {
        let widths = self.widths(width);
        let mut text = String::new();
        for (row, cells) in self.rows.iter().enumerate() {
            let is_kept = self.to_copy.contains(&row);
            self.push_row(cells, &widths, is_kept, &mut text);
            if row > 0 {
                self.push_rest(cells, widths.len(), width, &mut text);
            }
        }
        text
    }

    /// The widths of the columns that stand beside each other: all of them, or as many of the first ones as there is room for.
    fn widths(&self, width: Width) -> Vec<usize> {
        let all = 0..self.align.len();
        let wanted: Vec<usize> = all.clone().map(|column| self.wanted(column)).collect();
        let mut free = width.columns();
        let mut widths = Vec::with_capacity(wanted.len());
        for column in all {
            let needed = self.needed(column).min(wanted[column]).saturating_add(GAP);
            if needed > free && column > 0 {
                break;
            }
            widths.push(needed.min(free) - GAP);
            free = free.saturating_sub(needed);
        }
        // What is left goes to the narrowest that want more.
        while free > 0
            && let Some((column, _)) = widths
                .iter()
                .enumerate()
                .filter(|(column, width)| **width < wanted[*column])
                .min_by_key(|(_, width)| **width)
        {
            widths[column] += 1;
            free -= 1;
        }
        widths
    }

    fn cells(&self, column: usize) -> impl Iterator<Item = &String> {
        self.rows.iter().filter_map(move |row| row.get(column))
    }

    /// Columns of the widest cell.
    fn wanted(&self, column: usize) -> usize {
        self.cells(column).map(|cell| columns(cell)).max().unwrap_or(0)
    }

    /// Columns without which a column cannot be read: a number is never broken, a heading at its blanks alone.
    fn needed(&self, column: usize) -> usize {
        let word = |heading: &String| heading.split(' ').map(columns).max();
        let heading = if self.has_heading { self.cells(column).next().and_then(word).unwrap_or(0) } else { 0 };
        let cells = self.cells(column).skip(usize::from(self.has_heading)).map(|cell| columns(cell)).max().unwrap_or(0);
        let is_text = self.align.get(column) == Some(&Align::Left);
        heading.max(if is_text { cells.min(NARROWEST) } else { cells })
    }

    fn push_row(&self, cells: &[String], widths: &[usize], is_kept: bool, text: &mut String) {
        let room = |width: &usize| if is_kept { usize::MAX } else { *width };
        let folded: Vec<Vec<&str>> =
            cells.iter().zip(widths).map(|(cell, width)| fold(cell, room(width), room(width))).collect();
        for number in 0..folded.iter().map(Vec::len).max().unwrap_or(0) {
            let mut line = String::new();
            for ((lines, align), &width) in folded.iter().zip(&self.align).zip(widths) {
                let piece = lines.get(number).copied().unwrap_or_default();
                let blanks = std::iter::repeat_n(' ', width.saturating_sub(columns(piece)));
                line.push_str("  ");
                match align {
                    Align::Left | Align::Whole => line.extend(piece.chars().chain(blanks)),
                    Align::Right => line.extend(blanks.chain(piece.chars())),
                }
            }
            // One that says nothing but below needs no line of its own.
            if number > 0 || widths.len() == cells.len() || !line.trim().is_empty() {
                text.push_str(line.trim_end());
                text.push('\n');
            }
        }
    }

    /// The cells of a row behind the first `shown` ones, with the names of their columns; those without a value are left out.
    fn push_rest(&self, cells: &[String], shown: usize, width: Width, text: &mut String) {
        let headings = self.rows.first().into_iter().flatten();
        let rest = headings.zip(cells).skip(shown).filter(|(_, cell)| !matches!(cell.as_str(), "" | "-"));
        let rest: Vec<String> = rest.map(|(heading, cell)| format!("{}: {cell}", heading.to_lowercase())).collect();
        if !rest.is_empty() {
            *text += &wrapped(&format!("{}{}", " ".repeat(REST_INDENT), rest.join("; ")), width);
        }
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
        assert_eq!(table.render(Width::UNBOUNDED), expected);
    }

    #[test]
    fn a_name_without_end_is_cut() {
        let mut table = TextTable::new([("NAME", Align::Left), ("ROWS", Align::Right)]);
        table.row(["N".repeat(70_000), "1".into()]);
        let expected = format!("  NAME{}  ROWS\n  {}…     1\n", " ".repeat(96), "N".repeat(99));
        assert_eq!(table.render(Width::UNBOUNDED), expected);
    }

    #[test]
    fn text_goes_on_below_where_the_line_ends() {
        let mut table = TextTable::new([
            ("NAME", Align::Left),
            ("ROWS", Align::Right),
            ("BETWEEN BUFFERS", Align::Right),
            ("WHAT WOULD HELP", Align::Left),
        ]);
        table.row(["Kernel-Process".into(), "1".into(), "12,345".into(), "its manifest, or a pack".into()]);
        table.row(["a".into(), "2".into(), "1".into(), String::new()]);
        let wide = "  NAME            ROWS  BETWEEN BUFFERS  WHAT WOULD HELP
  Kernel-Process     1           12,345  its manifest, or a pack
  a                  2                1
";
        assert_eq!((table.render(Width::UNBOUNDED), table.render(Width::of(64))), (wide.to_owned(), wide.to_owned()));
        let narrow = "  NAME            ROWS  BETWEEN  WHAT WOULD
                        BUFFERS  HELP
  Kernel-Process     1   12,345  its manifest,
                                 or a pack
  a                  2        1
";
        assert_eq!(table.render(Width::of(47)), narrow);
        let below = "  NAME            ROWS  BETWEEN BUFFERS
  Kernel-Process     1           12,345
      what would help: its manifest, or a
          pack
  a                  2                1
";
        assert_eq!(table.render(Width::of(42)), below);
    }

    #[test]
    fn no_line_is_wider_than_asked_for() {
        let mut table = TextTable::new([("NAME", Align::Left), ("ROWS", Align::Right), ("NOTE", Align::Left)]);
        table.row(["大きい箱".repeat(9), "18,446,744,073,709,551,615".into(), "out/".repeat(30)]);
        let mut values = TextTable::of_values();
        values.value("a-name-of-many-words", "x y ".repeat(40));
        for width in 20..130 {
            for line in table.render(Width::of(width)).lines().chain(values.render(Width::of(width)).lines()) {
                assert!(columns(line) <= width, "{width}: {line}");
            }
        }
    }
}
