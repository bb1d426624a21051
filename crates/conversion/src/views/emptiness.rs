//! Which answers can have no row, whatever the traces hold in the tables that they have.

use std::collections::HashSet;

use super::lake::Lake;
use super::template::{Part, Template};

/// Whether nothing is there that rows could be made of: no table, no file beside the traces, and no view but those `without_rows`.
pub(super) fn is_empty(template: &Template<'_>, lake: &Lake, beside: &[&str], without_rows: &HashSet<&str>) -> bool {
    let mut patterns =
        template.parts.iter().filter_map(|part| if let Part::Beside(it) = part { Some(it) } else { None });
    if let Some(pattern) = patterns.next() {
        return !beside.contains(pattern);
    }
    let tables = template.sources().filter(|source| source.events.is_some());
    let mut of_tables = tables.map(|source| lake.table(source.table).is_none()).peekable();
    let mut of_views = template.views().map(|view| without_rows.contains(view)).peekable();
    let is_made_of_any = of_tables.peek().is_some() || of_views.peek().is_some();
    is_made_of_any && of_tables.chain(of_views).all(|is_empty| is_empty)
}
