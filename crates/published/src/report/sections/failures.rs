//! What failed.

use std::fmt::Write as _;

use base::readable::count::{Count, counted};

use super::super::facts::Facts;
use super::super::html::{Section, table};
use super::super::tally::Amounts;
use super::rows::rows;

/// Events of errors, and exceptions of .NET; `None` where there are neither.
pub(in super::super) fn failures(facts: &Facts) -> Option<Section> {
    let errors = &facts.providers.errors;
    let mut content = String::new();
    let cells = |amounts: &Amounts| vec![Count(amounts.weight).to_string()];
    if errors.weight() > 0 {
        let events = counted(errors.weight(), "events");
        let _ = writeln!(content, "<p>{events} that their providers call errors.</p>");
        content += &table("Events of errors", &["event", "times"], &rows(errors, cells));
    }
    if let Some(exceptions) = &facts.exceptions {
        let of_net = counted(exceptions.weight(), "exceptions");
        let _ = writeln!(content, "<p>{of_net} of .NET.</p>");
        content += &table("Exceptions of .NET", &["type", "times"], &rows(exceptions, cells));
    }
    (!content.is_empty()).then(|| Section::new("failures", "Errors and exceptions", content))
}
