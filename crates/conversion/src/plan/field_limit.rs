//! How many rows the sidecar's table `fields` may have.

use super::datasets::InputIssue;
use super::resolve::Resolved;
use super::tables::ShapeColumns;
use crate::survey::{Issue, IssueCode, Severity};

/// Rows of all shapes together. Tens of thousands of shapes may share one schema with thousands of fields: the table would
/// grow beyond all measure of the input.
const MAX_ROWS: usize = 1 << 20;

/// Which shapes have their fields listed: in the order of their numbers, those for which there is room.
pub(super) fn listed(columns: &[Option<ShapeColumns>], shapes: &[Resolved]) -> (Vec<bool>, Option<InputIssue>) {
    let listed =
        within(columns.iter().map(|columns| columns.as_ref().map_or(0, |columns| columns.field_rows)), MAX_ROWS);
    let left_out = || listed.iter().zip(shapes).filter(|(is_listed, _)| !**is_listed).map(|(_, shape)| shape);
    let issue = left_out().map(|shape| shape.input).min().map(|input| {
        let message = format!(
            "the fields of {} event shapes are not listed in the table fields: all shapes together would have more than \
             {MAX_ROWS} rows there; their columns are not affected",
            left_out().count()
        );
        (input, Issue::new(Severity::Warning, IssueCode::FieldsLeftOut, message))
    });
    (listed, issue)
}

/// Which of these numbers, in order, fit into the limit together.
fn within(rows: impl Iterator<Item = usize>, limit: usize) -> Vec<bool> {
    let mut room = limit;
    let fits = |rows: usize| room.checked_sub(rows).inspect(|rest| room = *rest).is_some();
    rows.map(fits).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_does_not_fit_is_passed_over() {
        let t = |rows: &[usize], limit, expected: &[bool]| {
            assert_eq!(within(rows.iter().copied(), limit), expected, "{rows:?} {limit}");
        };
        t(&[3, 3, 3], 6, &[true, true, false]);
        t(&[3, 4, 3, 0], 6, &[true, false, true, true]);
        t(&[usize::MAX, 1], 6, &[false, true]);
    }
}
