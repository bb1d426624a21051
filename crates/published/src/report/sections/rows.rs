//! Rows of tables of amounts by name.

use super::super::figures::rest;
use super::super::html::Cell;
use super::super::tally::{Amounts, Ranked};

/// A row for each name, and one for the others.
pub(super) fn rows(ranked: &Ranked, cells: impl Fn(&Amounts) -> Vec<String>) -> Vec<Vec<Cell>> {
    let row = |name: &str, amounts: &Amounts| {
        let cells = cells(amounts).into_iter().map(Cell::Number);
        [Cell::text(name)].into_iter().chain(cells).collect::<Vec<Cell>>()
    };
    let mut rows: Vec<Vec<Cell>> = ranked.shown.iter().map(|(name, amounts)| row(name, amounts)).collect();
    rows.extend(ranked.rest.iter().zip(rest(ranked)).map(|(more, name)| row(&name, &more.amounts)));
    rows
}
