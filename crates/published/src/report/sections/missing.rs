//! What the trace does not answer.

use super::super::facts::Facts;
use super::super::html::{Cell, Section, note, table};

/// What to record for the questions that this trace does not answer; `None` where it answers all.
pub(in super::super) fn missing(facts: &Facts) -> Option<Section> {
    let unanswered = &facts.recorded.unanswered;
    if unanswered.is_empty() {
        return None;
    }
    let rows: Vec<Vec<Cell>> =
        unanswered.iter().map(|(question, needed)| vec![Cell::text(question), Cell::text(needed)]).collect();
    let lead = note("Views that have no rows here, and what a trace needs for them.");
    let table = table("Not in this trace", &["view", "to answer it, record"], &rows);
    Some(Section::new("missing", "Not in this trace", lead + &table))
}
