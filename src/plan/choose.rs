//! Which of several layouts a shape uses.
//!
//! The candidates come in the order in which their sources are believed. The first one keeps its place unless a
//! sample payload contradicts it and a lower one describes every sample to its last byte. The choice is made once per
//! shape, on samples that depend on the data alone: rows of one shape never change columns half-way.

use super::evidence::Sample;
use crate::decode::{Plan, Status, pointer_size_mismatch};
use crate::schema::registry::{Candidate, Trust};

/// The chosen layout and why.
#[derive(Clone, Debug)]
pub struct Choice {
    /// The winner.
    pub candidate: Candidate,
    /// Why it won.
    pub reason: String,
    /// Whether no sample payload fits it.
    pub is_contradicted: bool,
    /// Whether its payloads fit only if their pointers had the other size: rows of such a shape are not decoded.
    pub wrong_pointer_size: bool,
}

/// How a candidate fares on the samples.
struct Trial {
    exact: usize,
    whole: usize,
}

/// Chooses among candidates; `None` without any that may be used.
pub fn choose(candidates: &[Candidate], samples: &[Sample], pointer_size: u8) -> Option<Choice> {
    let payloads: Vec<&[u8]> = samples.iter().map(|sample| sample.payload.as_slice()).collect();
    let trials: Vec<Trial> = candidates.iter().map(|candidate| attempt(candidate, &payloads, pointer_size)).collect();
    let all = payloads.len();
    let is_exact = |trust: Trust| {
        let fits = |(candidate, trial): &(&Candidate, &Trial)| candidate.trust == trust && trial.exact == all;
        candidates.iter().zip(&trials).position(|pair| fits(&pair))
    };
    let is_whole = || {
        let fits = |(candidate, trial): (&Candidate, &Trial)| !candidate.trust.is_doubtful() && trial.whole == all;
        candidates.iter().zip(&trials).position(fits)
    };
    let trusted = || candidates.iter().position(|candidate| !candidate.trust.is_doubtful());
    let index = is_exact(Trust::Declared)
        .or_else(is_whole)
        .or_else(|| is_exact(Trust::Inferred))
        .or_else(|| is_exact(Trust::Doubtful))
        .or_else(trusted)?;
    let (candidate, trial) = (candidates.get(index)?, trials.get(index)?);
    Some(Choice {
        candidate: candidate.clone(),
        is_contradicted: trial.whole == 0 && all > 0,
        reason: reason(index, candidates.len(), trial, all),
        wrong_pointer_size: trial.exact < all && fits_other_pointer_size(candidate, &payloads, pointer_size),
    })
}

fn attempt(candidate: &Candidate, payloads: &[&[u8]], pointer_size: u8) -> Trial {
    let plan = Plan::measuring(&candidate.schema, pointer_size);
    let mut trial = Trial { exact: 0, whole: 0 };
    for payload in payloads {
        let status = plan.consumes(payload);
        trial.exact += usize::from(status == Status::Ok);
        trial.whole += usize::from(status.is_whole());
    }
    trial
}

fn fits_other_pointer_size(candidate: &Candidate, payloads: &[&[u8]], pointer_size: u8) -> bool {
    let other = if pointer_size == 4 { 8 } else { 4 };
    let [own, other] = [pointer_size, other].map(|size| Plan::measuring(&candidate.schema, size));
    pointer_size_mismatch(&own, &other, payloads.iter().copied())
}

fn reason(index: usize, candidates: usize, trial: &Trial, samples: usize) -> String {
    let standing = match (index, candidates) {
        (_, 1) => "the only candidate".to_owned(),
        (0, _) => "the most trusted candidate".to_owned(),
        _ => format!("{index} more trusted candidates do not fit"),
    };
    format!("{standing}; describes {} of {samples} samples to the last byte", trial.exact)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema::DecodeSource;
    use crate::schema::model::{EventSchema, Field, Wire};
    use crate::schema::registry::Library;
    use std::sync::Arc;

    fn candidate(origin: &str, wires: &[Wire], trust: Trust) -> Candidate {
        let fields = wires.iter().map(|&wire| Field::value("f", wire)).collect();
        Candidate {
            source: DecodeSource::Pack,
            origin: origin.to_owned(),
            schema: Arc::new(EventSchema { fields, ..EventSchema::default() }),
            trust,
            library: Library::Pack,
        }
    }

    fn sample(len: usize) -> Sample {
        Sample { payload: vec![1; len], process_id: None, string_only: false, traits: None }
    }

    fn winner(candidates: &[Candidate], lens: &[usize]) -> Option<(String, bool)> {
        let samples: Vec<_> = lens.iter().map(|&len| sample(len)).collect();
        choose(candidates, &samples, 8).map(|choice| (choice.candidate.origin, choice.wrong_pointer_size))
    }

    #[test]
    fn rank_decides_until_payloads_contradict() {
        use Trust::{Declared, Doubtful, Inferred};
        let a = || candidate("a", &[Wire::UInt32], Declared);
        let b = || candidate("b", &[Wire::HexInt32], Declared);
        let c = || candidate("c", &[Wire::UInt64], Declared);
        let rest = || candidate("rest", &[Wire::RestBinary], Inferred);
        let doubtful = || candidate("doubtful", &[Wire::UInt64], Doubtful);
        for (candidates, lens, expected) in [
            (vec![a(), b()], vec![4, 4], Some("a")),
            (vec![a(), c()], vec![8, 8], Some("c")),
            (vec![a(), c()], vec![8, 4], Some("a")),
            (vec![a(), rest()], vec![9, 9], Some("rest")),
            (vec![doubtful(), c()], vec![8], Some("c")),
            (vec![doubtful()], vec![8], Some("doubtful")),
            (vec![doubtful()], vec![9], None),
            (vec![], vec![4], None),
        ] {
            assert_eq!(winner(&candidates, &lens).map(|w| w.0).as_deref(), expected, "{lens:?}");
        }
    }

    #[test]
    fn payloads_of_the_other_pointer_size_are_recognised() {
        let pointer = candidate("p", &[Wire::Pointer, Wire::UInt32], Trust::Declared);
        assert_eq!(winner(std::slice::from_ref(&pointer), &[12, 12]), Some(("p".to_owned(), false)));
        assert_eq!(winner(std::slice::from_ref(&pointer), &[8, 8]), Some(("p".to_owned(), true)));
        assert_eq!(winner(&[pointer], &[8, 7]), Some(("p".to_owned(), false)));
    }
}
