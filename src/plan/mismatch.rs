//! Events whose headers say another pointer size than their payloads have.

use super::catalog::event_name;
use super::resolve::Resolved;
use crate::schema::Registry;
use crate::survey::{FileSurvey, Finding, Severity, ShapeTally};

/// The code of a finding about the events of one shape.
const POINTER_SIZE_MISMATCH: &str = "pointer_size_mismatch";

/// A finding per shape of the file whose rows are refused for that. `shapes` are in the order of their keys.
pub(super) fn findings(file: &FileSurvey, shapes: &[Resolved], registry: &Registry) -> Vec<Finding> {
    let refused = file.shapes.iter().filter_map(|(key, tally)| {
        let index = shapes.binary_search_by(|shape| shape.key.cmp(key)).ok()?;
        let shape = shapes.get(index)?;
        let is_refused = shape.choice.as_ref().is_some_and(|choice| choice.wrong_pointer_size);
        is_refused.then(|| finding(shape, tally, registry))
    });
    refused.collect()
}

fn finding(shape: &Resolved, tally: &ShapeTally, registry: &Registry) -> Finding {
    let identity = &shape.key.identity;
    let name = event_name(shape, registry).unwrap_or_else(|| format!("{} {}", identity.provider, identity.id));
    let (own, other) = if identity.pointer_size == 4 { (4, 8) } else { (8, 4) };
    let message = format!(
        "{} events {name} version {}: their headers say pointers of {own} bytes, and their payloads fit the description \
         only with pointers of {other}; the rows have no values, only the payload",
        tally.events, identity.version
    );
    let first = tally.samples.iter().min();
    Finding {
        buffer: first.map(|at| at.ordinal),
        ticks: first.map(|at| at.ticks),
        ..Finding::new(Severity::Warning, POINTER_SIZE_MISMATCH, message)
    }
}
