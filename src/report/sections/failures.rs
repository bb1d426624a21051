//! What failed.

use indicatif::HumanCount;

use super::super::facts::Facts;
use super::super::html::{Section, table};
use super::super::tally::Amounts;
use super::rows::rows;
use crate::readable::count::counted;

/// Events of errors, and exceptions of .NET; `None` where there are neither.
pub(in super::super) fn failures(facts: &Facts) -> Option<Section> {
    let errors = &facts.providers.errors;
    let mut content = String::new();
    let cells = |amounts: &Amounts| vec![HumanCount(amounts.weight).to_string()];
    if errors.weight() > 0 {
        content += &format!("<p>{} that their providers call errors.</p>\n", counted(errors.weight(), "events"));
        content += &table("Events of errors", &["event", "times"], &rows(errors, cells));
    }
    if let Some(exceptions) = &facts.exceptions {
        content += &format!("<p>{} of .NET.</p>\n", counted(exceptions.weight(), "exceptions"));
        content += &table("Exceptions of .NET", &["type", "times"], &rows(exceptions, cells));
    }
    (!content.is_empty()).then(|| Section::new("failures", "Errors and exceptions", content))
}
