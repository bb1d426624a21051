//! What the events of a shape say in words, whichever description its layout comes from.

use std::sync::Arc;

use schema::DecodeSource;
use schema::message::{MAX_NUMBER, MAX_TEMPLATE_BYTES};
use schema::model::EventSchema;
use schema::registry::Candidate;

use super::choose::Choice;
use crate::survey::{Issue, IssueCode, Severity};

/// Bytes of the templates of all shapes of a recording, one that several share counted for each: the sidecar writes it with each.
const MAX_ALL_BYTES: usize = 32 << 20;

/// The template of an event with this layout: of the descriptions in the trace, of the provider's own manifest, of the user's
/// files, of the built-in schemas, in this order, the first that has one. It must name the fields as the layout does, since it
/// inserts them by position.
pub(super) fn template(candidates: &[Candidate], choice: Option<&Choice>) -> Option<Arc<str>> {
    let rank = |candidate: &Candidate| match candidate.source {
        DecodeSource::EventInfo => 0,
        DecodeSource::EventSource => 1,
        DecodeSource::User => 2,
        _ => 3,
    };
    let is_usable = |candidate: &&Candidate| {
        let message = candidate.message.as_ref();
        message.is_some_and(|message| message.len() <= MAX_TEMPLATE_BYTES)
            && choice.is_none_or(|choice| names_alike(&candidate.schema, &choice.candidate.schema))
    };
    // Of several of one rank the first stands.
    candidates.iter().filter(is_usable).min_by_key(|candidate| rank(candidate))?.message.clone()
}

/// Whether the fields that a template can insert have the same names, as far as both have them: of a longer layout, the template
/// inserts the first.
fn names_alike(own: &Arc<EventSchema>, chosen: &Arc<EventSchema>) -> bool {
    let same =
        |(own, chosen): (&schema::model::Field, &schema::model::Field)| own.name.eq_ignore_ascii_case(&chosen.name);
    Arc::ptr_eq(own, chosen) || own.fields.iter().zip(&chosen.fields).take(MAX_NUMBER).all(same)
}

/// Takes away the templates of the last shapes, where all together are too long; says so, with the first input that is meant.
/// Of each shape its first input is given, and its template.
pub(super) fn limit<'a>(shapes: impl Iterator<Item = (u16, &'a mut Option<Arc<str>>)>) -> Option<(u16, Issue)> {
    let (mut bytes, mut lost) = (0_usize, Vec::new());
    for (input, template) in shapes {
        bytes = bytes.saturating_add(template.as_ref().map_or(0, |template| template.len()));
        if bytes > MAX_ALL_BYTES && template.take().is_some() {
            lost.push(input);
        }
    }
    let message = format!(
        "{} event shapes have no message template: expected at most {MAX_ALL_BYTES} bytes of them in a recording, found {bytes}",
        lost.len()
    );
    let input = lost.into_iter().min()?;
    Some((input, Issue::new(Severity::Warning, IssueCode::SchemaLimit, message)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn templates_beyond_the_room_for_them_are_left_out_and_counted() {
        let long: Arc<str> = "x".repeat(MAX_ALL_BYTES / 4).into();
        let mut all = vec![(3_u16, Some(Arc::clone(&long))); 5];
        all.insert(2, (1, None));
        let (input, issue) = limit(all.iter_mut().map(|(input, template)| (*input, template))).unwrap();
        assert_eq!((input, issue.code), (3, IssueCode::SchemaLimit));
        let kept: Vec<bool> = all.iter().map(|(_, template)| template.is_some()).collect();
        assert_eq!(kept, [true, true, false, true, true, false]);
        all.pop();
        assert!(limit(all.iter_mut().map(|(input, template)| (*input, template))).is_none());
    }
}
