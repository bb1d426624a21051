//! What is doubtful about the layouts that were chosen.

use std::collections::HashSet;

use etl::event::EventIdentity;
use schema::Registry;

use super::choose::Choice;
use super::resolve::Resolved;
use crate::survey::{Issue, IssueCode, Severity};

/// The issues, each with the first input that has an event of the shape.
pub(super) fn of_choices(shapes: &[Resolved], registry: &Registry) -> Vec<(u16, Issue)> {
    let of_shape = |shape: &Resolved| {
        let found = [choice_limit(shape, registry), no_layout_fits(shape, registry)];
        found.into_iter().flatten().map(|issue| (shape.input, issue)).collect::<Vec<_>>()
    };
    let unused = unused_descriptions(shapes, registry).map(|issue| (0, issue));
    shapes.iter().flat_map(of_shape).chain(unused).collect()
}

fn choice_limit(shape: &Resolved, registry: &Registry) -> Option<Issue> {
    let unseen = shape.unseen;
    if unseen.is_nothing() {
        return None;
    }
    let message = format!(
        "{}: the layout was chosen without {} of {} candidates and {} of its samples: there are too many",
        shape.title(registry),
        unseen.candidates,
        shape.candidates,
        unseen.samples
    );
    let severity = if unseen.candidates > 0 { Severity::Warning } else { Severity::Info };
    Some(Issue::new(severity, IssueCode::ChoiceLimit, message))
}

/// Events that would fit with pointers of the other size have an issue of their own.
fn no_layout_fits(shape: &Resolved, registry: &Registry) -> Option<Issue> {
    let is_contradicted = |choice: &Choice| choice.is_contradicted && !choice.wrong_pointer_size;
    shape.choice.as_ref().filter(|choice| is_contradicted(choice))?;
    let message = format!(
        "{}: none of {} known layouts fits its payloads; rows that keep the payload and have no values: {}",
        shape.title(registry),
        shape.candidates,
        shape.events
    );
    Some(Issue::new(Severity::Warning, IssueCode::NoLayoutFits, message))
}

/// Whoever merges a trace describes the events that it holds; others stand for events that were filtered away, or lost.
fn unused_descriptions(shapes: &[Resolved], registry: &Registry) -> Option<Issue> {
    let identity = |shape: &Resolved| EventIdentity { provider: shape.schema_provider, ..shape.key.identity };
    let used: HashSet<_> = shapes.iter().filter_map(|shape| Registry::key_of(&identity(shape))).collect();
    let (all, unused) = registry
        .described_events()
        .fold((0_u64, 0_u64), |(all, unused), key| (all + 1, unused + u64::from(!used.contains(key))));
    let message = format!("of {all} events that the trace describes it holds none of {unused}");
    (unused > 0).then(|| Issue::new(Severity::Info, IssueCode::UnusedDescriptions, message))
}
