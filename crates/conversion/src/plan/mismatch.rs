//! Events whose headers say another pointer size than their payloads have.

use schema::Registry;

use super::resolve::Resolved;
use crate::survey::{FileSurvey, Issue, IssueCode, Issues, Severity, ShapeSummary};

/// Adds an issue per shape of the file whose rows are refused for that. `shapes` are in the order of their keys.
pub(super) fn report(found: &mut Issues, file: &FileSurvey, shapes: &[Resolved], registry: &Registry) {
    for (key, summary) in &file.shapes {
        let index = shapes.binary_search_by(|shape| shape.key.cmp(key)).ok();
        let Some(shape) = index.and_then(|index| shapes.get(index)) else { continue };
        if shape.choice.as_ref().is_some_and(|choice| choice.wrong_pointer_size) {
            found.push(issue(file, shape, summary, registry));
        }
    }
}

fn issue(file: &FileSurvey, shape: &Resolved, summary: &ShapeSummary, registry: &Registry) -> Issue {
    let identity = &shape.key.identity;
    let (own, other) = if identity.pointer_size == 4 { (4, 8) } else { (8, 4) };
    let message = format!(
        "{}: the headers say pointers of {own} bytes, the payloads fit their description only with \
         pointers of {other}; rows with the payload and without values: {}",
        shape.title(registry),
        summary.events
    );
    let first = summary.samples.iter().min();
    Issue {
        buffer: first.map(|at| at.ordinal),
        offset: first.and_then(|at| file.buffer(at.ordinal)).map(|buffer| buffer.extent.offset),
        ticks: first.map(|at| at.ticks),
        ..Issue::new(Severity::Warning, IssueCode::PointerSizeMismatch, message)
    }
}
