//! Whose names an event has: a description's only where its task and opcode are the event's.

use std::sync::Arc;

use schema::model::EventSchema;
use schema::numbers::EventNumbers;
use schema::registry::Candidate;
use schema::trust::Trust;

use super::choose::Choice;

/// The choice, with the names of the candidate that ranks first among those whose numbers are the event's. Where there is
/// none, or it has no name, the choice keeps its own and says that they are another event's.
pub(super) fn named(choice: Choice, candidates: &[Candidate], event: EventNumbers) -> Choice {
    if choice.candidate.numbers.agree(event) {
        return choice;
    }
    let is_it = |other: &&Candidate| {
        other.trust < Trust::Older && other.schema.event_name.is_some() && other.numbers.agree(event)
    };
    let Some(other) = candidates.iter().find(is_it) else {
        return Choice { names_another: true, ..choice };
    };
    let fields = choice.candidate.schema.fields.clone();
    let names = EventSchema { fields: Vec::new(), ..EventSchema::clone(&other.schema) };
    let schema = Arc::new(EventSchema { fields, ..names });
    let reason = format!("{}; named by {}, which has the event's task and opcode", choice.reason, other.origin);
    Choice { candidate: Candidate { schema, ..choice.candidate }, reason, ..choice }
}

#[cfg(test)]
mod tests {
    use schema::DecodeSource;
    use schema::model::{Field, Wire};
    use schema::registry::DeclaringSource;

    use super::*;

    fn candidate(name: Option<&str>, trust: Trust, opcode: Option<u8>) -> Candidate {
        let fields = vec![Field::value(format!("of {name:?}"), Wire::UInt8)];
        Candidate {
            source: DecodeSource::Pack,
            origin: format!("source of {name:?}"),
            schema: Arc::new(EventSchema { event_name: name.map(str::to_owned), fields, ..EventSchema::default() }),
            trust,
            declaring_source: DeclaringSource::Pack,
            numbers: EventNumbers { task: None, opcode },
            message: None,
            build: None,
        }
    }

    fn name(candidates: &[Candidate]) -> (Option<String>, String) {
        let candidate = candidates[0].clone();
        let fields = candidate.schema.fields.clone();
        let choice = Choice {
            candidate,
            reason: "it".into(),
            is_contradicted: false,
            wrong_pointer_size: false,
            names_another: false,
        };
        let named = named(choice, candidates, EventNumbers { task: Some(7), opcode: Some(1) });
        assert_eq!(named.candidate.schema.fields, fields);
        let mark = if named.names_another { ", another's" } else { "" };
        (named.candidate.schema.event_name.clone(), named.reason + mark)
    }

    #[test]
    fn names_are_those_of_the_source_with_the_events_numbers() {
        let own = || candidate(Some("Own"), Trust::Declared, Some(2));
        let other = |opcode| candidate(Some("Other"), Trust::Inferred, opcode);
        let it = |name: &str| (Some(name.to_owned()), "it".to_owned());
        assert_eq!(name(&[candidate(Some("Own"), Trust::Declared, Some(1)), other(Some(1))]), it("Own"));
        assert_eq!(name(&[candidate(Some("Own"), Trust::Declared, None), other(Some(1))]), it("Own"));
        let reason = "it; named by source of Some(\"Other\"), which has the event's task and opcode";
        assert_eq!(name(&[own(), other(Some(3)), other(Some(1))]), (Some("Other".into()), reason.into()));
        let another = (Some("Own".to_owned()), "it, another's".to_owned());
        assert_eq!(name(&[own(), other(Some(3)), candidate(None, Trust::Declared, Some(1))]), another);
        // Another version's name may be another event's.
        assert_eq!(name(&[own(), candidate(Some("Newer"), Trust::Doubtful, Some(1))]), another);
    }
}
