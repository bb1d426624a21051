//! Which of the built-in layouts of an event version is taken where no payload can distinguish them: the one that is settled,
//! and without one the one that ranks first.

use schema::registry::{Candidate, DeclaringSource};
use schema::settled_layout::SettledLayout;
use schema::trust::Trust;

use super::measure::Measures;
use crate::decode::{ByteConsumption, settled_layout};
use crate::table::header;

/// The pointer size of the payloads for which layouts are settled.
const POINTER_SIZE: u8 = 8;

/// Moves the settled layouts of an event version in front of those that payloads cannot distinguish from them. Such a one is trusted
/// as far as any of them: they stand or fall together.
pub(super) fn prefer(candidates: &mut Vec<Candidate>, settled: &[SettledLayout]) {
    for layout in settled {
        let is_it = |candidate: &Candidate| is_built_in(candidate) && seen(candidate) == *layout;
        let Some(place) = candidates.iter().position(is_it) else { continue };
        let reach = reach(&candidates[place]);
        let is_alike = |other: &Candidate| is_built_in(other) && self::reach(other) == reach;
        let alike: Vec<usize> = (0..candidates.len()).filter(|&at| is_alike(&candidates[at])).collect();
        let trust = alike.iter().map(|&at| candidates[at].trust).min();
        let Some((&first, trust)) = alike.first().zip(trust) else { continue };
        let preferred = Candidate { trust, ..candidates.remove(place) };
        candidates.insert(first, preferred);
    }
}

/// Whether no payload can distinguish two built-in layouts that have other columns, so that one of them is settled.
pub(super) fn is_settled(chosen: &Candidate, other: &Candidate) -> bool {
    let both = [chosen, other];
    both.into_iter().all(is_built_in) && reach(chosen) == reach(other) && seen(chosen) != seen(other)
}

/// What is seen of a layout.
pub(super) fn seen(candidate: &Candidate) -> SettledLayout {
    settled_layout(&candidate.schema.fields, &header::reserved_names())
}

/// What a layout asks of a payload.
pub(super) fn reach(candidate: &Candidate) -> ByteConsumption {
    Measures::default().get(&candidate.schema, POINTER_SIZE).program.reach()
}

/// Whether the built-in schemas have the layout for exactly this version, and nothing of it was lost.
pub(super) fn is_built_in(candidate: &Candidate) -> bool {
    use DeclaringSource::{Class, Override, Pack};
    candidate.trust < Trust::Older && matches!(candidate.declaring_source, Pack | Override | Class)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use schema::DecodeSource;
    use schema::model::{EventSchema, Field, Wire};
    use schema::numbers::EventNumbers;
    use schema::settled::{EventNumber, SettledNames};

    use super::*;

    fn candidate(fields: &[(&str, Wire)], trust: Trust, declaring_source: DeclaringSource) -> Candidate {
        let fields = fields.iter().map(|&(name, wire)| Field::value(name, wire)).collect();
        Candidate {
            source: DecodeSource::Pack,
            origin: String::new(),
            schema: Arc::new(EventSchema { fields, ..EventSchema::default() }),
            trust,
            declaring_source,
            numbers: EventNumbers::default(),
            message: None,
            build: None,
        }
    }

    fn order(settled: &str, candidates: &[Candidate]) -> Vec<String> {
        let text = format!("P\t11111111-2222-3333-4444-555555555555\tLab\n{settled}\n");
        let names = SettledNames::read(&text).unwrap().pop_first().unwrap().1;
        let mut candidates = candidates.to_vec();
        prefer(&mut candidates, names.layouts(EventNumber::Id(1), 0));
        candidates.iter().map(|own| format!("{} {}", seen(own), own.trust.name()).replace('\t', " ")).collect()
    }

    #[test]
    fn a_settled_layout_comes_before_those_like_it() {
        use DeclaringSource::{EventInfo, Pack};
        use Trust::{Declared, Doubtful, Inferred};
        use Wire::{UInt32, UInt64, Utf16};
        let all = [
            candidate(&[("Old", UInt64)], Declared, EventInfo),
            candidate(&[("A", UInt64), ("T", Utf16)], Declared, Pack),
            candidate(&[("New", UInt64)], Declared, Pack),
            candidate(&[("X", UInt32), ("Y", UInt32)], Declared, Pack),
            candidate(&[("Old", UInt64)], Inferred, Pack),
            candidate(&[("Y", UInt64)], Doubtful, Pack),
        ];
        let [own, text, new, pair] =
            ["Old int declared", "A int T text declared", "New int declared", "X int Y int declared"];
        let rest = ["Old int inferred", "Y int doubtful"];
        let ruled: Vec<&str> = [own, text, new, pair].into_iter().chain(rest).collect();
        assert_eq!(order("", &all), ruled);
        assert_eq!(order("LE\t1\t0\told int", &all), [own, text, "Old int declared", new, pair, rest[1]]);
        assert_eq!(order("LE\t1\t0\tX int\tY int", &all), [own, text, pair, new, rest[0], rest[1]]);
        // Of another version, of none that is built in, one that may be wrong.
        for line in ["LE\t1\t1\tOld int", "LE\t1\t0\tNone int", "LE\t1\t0\tY int"] {
            assert_eq!(order(line, &all), ruled, "{line}");
        }
    }
}
