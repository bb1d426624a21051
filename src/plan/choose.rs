//! Which of several layouts a shape uses.
//!
//! The candidates come in the order in which their sources are believed. The first one keeps its place unless a
//! sample payload contradicts it and a lower one describes every sample to its last byte, or unless no sample fits it
//! at all. A layout that no sample fits fills no columns. The choice is made once per shape, on samples that depend on
//! the data alone: rows of one shape never change columns half-way.

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
    /// Whether no sample payload fits it: rows of such a shape are not decoded.
    pub is_contradicted: bool,
    /// Whether its payloads fit only if their pointers had the other size: rows of such a shape are not decoded.
    pub wrong_pointer_size: bool,
}

impl Choice {
    /// Whether the layout fills no columns.
    pub fn is_refused(&self) -> bool {
        self.is_contradicted || self.wrong_pointer_size
    }
}

/// How a candidate fares on the samples.
struct Trial {
    exact: usize,
    whole: usize,
    /// Samples that do not contradict it.
    fitting: usize,
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
        let fits = |(candidate, trial): (&Candidate, &Trial)| candidate.trust < Trust::Older && trial.whole == all;
        candidates.iter().zip(&trials).position(fits)
    };
    let trusted = |least: usize| {
        let fits = |(candidate, trial): (&Candidate, &Trial)| !candidate.trust.is_doubtful() && trial.fitting >= least;
        candidates.iter().zip(&trials).position(fits)
    };
    let index = is_exact(Trust::Declared)
        .or_else(is_whole)
        .or_else(|| is_exact(Trust::Inferred))
        .or_else(|| is_exact(Trust::Older))
        .or_else(|| is_exact(Trust::Doubtful))
        .or_else(|| trusted(1))
        .or_else(|| trusted(0))?;
    let (candidate, trial) = (candidates.get(index)?, trials.get(index)?);
    Some(Choice {
        candidate: candidate.clone(),
        is_contradicted: trial.fitting == 0 && all > 0,
        reason: reason(index, candidates.len(), trial, all),
        wrong_pointer_size: fits_other_pointer_size(candidate, &payloads, pointer_size),
    })
}

fn attempt(candidate: &Candidate, payloads: &[&[u8]], pointer_size: u8) -> Trial {
    let plan = Plan::measuring(&candidate.schema, pointer_size);
    let mut trial = Trial { exact: 0, whole: 0, fitting: 0 };
    for payload in payloads {
        let status = plan.consumes(payload);
        trial.exact += usize::from(status == Status::Ok);
        trial.whole += usize::from(status.is_whole());
        trial.fitting += usize::from(may_fit(status, candidate.trust));
    }
    trial
}

/// Whether a payload leaves a layout standing. One that ends early lacks fields at its end; one that goes on was written
/// by a newer version, which only an older version's layout allows for.
fn may_fit(status: Status, trust: Trust) -> bool {
    match status {
        Status::Ok | Status::Padded | Status::Short => true,
        Status::Extra => trust == Trust::Older,
        Status::Error => false,
    }
}

fn fits_other_pointer_size(candidate: &Candidate, payloads: &[&[u8]], pointer_size: u8) -> bool {
    let other = if pointer_size == 4 { 8 } else { 4 };
    let [own, other] = [pointer_size, other].map(|size| Plan::measuring(&candidate.schema, size));
    pointer_size_mismatch(&own, &other, payloads)
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
        use Trust::{Declared, Doubtful, Inferred, Older};
        let a = || candidate("a", &[Wire::UInt32], Declared);
        let b = || candidate("b", &[Wire::HexInt32], Declared);
        let c = || candidate("c", &[Wire::UInt64], Declared);
        let rest = || candidate("rest", &[Wire::RestBinary], Inferred);
        let doubtful = || candidate("doubtful", &[Wire::UInt64], Doubtful);
        let inferred = || candidate("inferred", &[Wire::UInt64], Inferred);
        let older = || candidate("older", &[Wire::UInt64], Older);
        for (candidates, lens, expected) in [
            (vec![a(), b()], vec![4, 4], Some("a")),
            (vec![a(), c()], vec![8, 8], Some("c")),
            (vec![a(), c()], vec![8, 4], Some("a")),
            (vec![a(), rest()], vec![9, 9], Some("rest")),
            (vec![doubtful(), c()], vec![8], Some("c")),
            (vec![doubtful()], vec![8], Some("doubtful")),
            (vec![doubtful()], vec![9], None),
            // One that fits some samples ranks above one that fits none, and an older version's before a doubtful one.
            (vec![a(), inferred()], vec![8, 16], Some("inferred")),
            (vec![doubtful(), older()], vec![8], Some("older")),
            (vec![older(), inferred()], vec![8], Some("inferred")),
            (vec![], vec![4], None),
        ] {
            assert_eq!(winner(&candidates, &lens).map(|w| w.0).as_deref(), expected, "{lens:?}");
        }
    }

    #[test]
    fn a_layout_that_no_sample_fits_is_refused() {
        use Trust::{Declared, Older};
        let is_refused = |trust, lens: &[usize]| {
            let samples: Vec<_> = lens.iter().map(|&len| sample(len)).collect();
            let layout = candidate("a", &[Wire::UInt32, Wire::UInt32], trust);
            choose(&[layout], &samples, 8).map(|choice| choice.is_refused())
        };
        for (trust, lens, refused) in [
            (Declared, vec![8], false),
            (Declared, vec![9, 10], true),
            (Declared, vec![8, 9], false),
            // Up to a field's end, and into a field.
            (Declared, vec![4], false),
            (Declared, vec![5, 6], true),
            (Declared, vec![], false),
            // Newer versions append fields.
            (Older, vec![9, 10], false),
            (Older, vec![5], true),
        ] {
            assert_eq!(is_refused(trust, &lens), Some(refused), "{trust:?} {lens:?}");
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
