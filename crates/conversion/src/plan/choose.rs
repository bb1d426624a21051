//! Which of several layouts a shape uses.
//!
//! The candidates come in the order in which their sources are believed. The first one keeps its place unless a
//! sample payload contradicts it and a lower one describes every sample to its last byte, or unless no sample fits it
//! at all. A layout that no sample fits fills no columns. The choice is made once per shape, on samples that depend on
//! the data alone: rows of one shape never change columns half-way.

use std::sync::Arc;

use schema::DecodeSource;
use schema::registry::Candidate;
use schema::trust::Trust;

use super::measure::{Measure, Measures};
use super::preferred;
use super::samples::Sample;
use crate::decode::{Status, pointer_size_mismatch};

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
    /// Whether its names are those of another event: its task or its opcode is not the event's.
    pub names_another: bool,
}

impl Choice {
    /// Whether the layout fills no columns.
    pub fn is_refused(&self) -> bool {
        self.is_contradicted || self.wrong_pointer_size
    }
}

/// How a candidate fares on the samples.
struct Fit {
    measure: Arc<Measure>,
    exact: usize,
    described: usize,
    /// Samples that do not contradict it.
    fitting: usize,
}

/// The steps that the choices of a recording may take in all: a second or two of one thread.
const MAX_STEPS: u64 = 1 << 30;
/// The steps that a choice may take however many there are, and however few.
const LEAST_STEPS: u64 = 1 << 14;
const MOST_STEPS: u64 = 1 << 26;

/// The steps that the choice of each of so many shapes may take.
pub fn steps(shapes: usize) -> u64 {
    (MAX_STEPS / (shapes as u64).max(1)).clamp(LEAST_STEPS, MOST_STEPS)
}

/// What compiling a field takes, in steps of a walk through a payload; what each walk takes besides its fields; and how
/// many bytes of a payload are a step.
const STEPS_PER_FIELD: u64 = 32;
const STEPS_PER_PAYLOAD: u64 = 32;
const BYTES_PER_STEP: u64 = 4;

/// What a choice did not look at, because it would have taken too many steps.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Unseen {
    /// Candidates of the lowest rank.
    pub candidates: usize,
    /// Samples.
    pub samples: usize,
}

impl Unseen {
    /// The first candidate and the first sample are always looked at.
    fn of(candidates: &[Candidate], samples: &[Sample], steps: u64) -> Unseen {
        let fields: Vec<u64> = known_fields(candidates, steps);
        let mut seen = samples.len();
        while seen > 1 && efforts(&fields, &samples[..seen]).sum::<u64>() > steps {
            seen /= 2;
        }
        let mut sum = 0;
        let fitting = efforts(&fields, &samples[..seen]).take_while(|effort| {
            sum += effort;
            sum <= steps
        });
        let tried = fitting.count().max(1).min(candidates.len());
        Unseen { candidates: candidates.len() - tried, samples: samples.len() - seen }
    }

    /// Whether everything is looked at.
    pub fn is_nothing(self) -> bool {
        self == Unseen::default()
    }
}

/// The number of fields of each candidate, up to the one with which compiling alone takes too many steps: to count them
/// takes time, too.
fn known_fields(candidates: &[Candidate], steps: u64) -> Vec<u64> {
    let mut sum = 0;
    // Nobody asks for more.
    let limit = usize::try_from(steps / STEPS_PER_FIELD + 1).unwrap_or(usize::MAX);
    let counts = candidates.iter().map(|candidate| candidate.schema.field_count_to(limit) as u64);
    let known = counts.take_while(|fields| {
        let is_affordable = sum <= steps;
        sum += fields * STEPS_PER_FIELD;
        is_affordable
    });
    known.collect()
}

/// Walks through a payload that show whether it was written with the other pointer size: it is measured and its texts are
/// looked at, with both sizes.
const POINTER_WALKS: u64 = 4;

/// The steps of a walk through a payload of so many bytes.
fn payload_effort(fields: u64, bytes: usize) -> u64 {
    fields + STEPS_PER_PAYLOAD + bytes as u64 / BYTES_PER_STEP
}

/// The steps of holding each candidate against all samples.
fn efforts(fields: &[u64], samples: &[Sample]) -> impl Iterator<Item = u64> {
    let bytes: u64 = samples.iter().map(|sample| sample.payload.len() as u64 / BYTES_PER_STEP).sum();
    let count = samples.len() as u64;
    fields.iter().map(move |fields| fields * STEPS_PER_FIELD + count * (fields + STEPS_PER_PAYLOAD) + bytes)
}

/// Chooses among candidates in about so many steps at most; `None` without any that may be used. Also says what was not
/// looked at.
pub fn choose(
    candidates: &[Candidate],
    samples: &[Sample],
    pointer_size: u8,
    steps: u64,
    measures: &Measures,
) -> (Option<Choice>, Unseen) {
    let unseen = Unseen::of(candidates, samples, steps);
    let tried = candidates.len() - unseen.candidates;
    let seen = samples.len() - unseen.samples;
    let payloads: Vec<&[u8]> = samples[..seen].iter().map(|sample| sample.payload.as_slice()).collect();
    let choice = Chooser { pointer_size, steps, measures }.choose(&candidates[..tried], &payloads);
    (choice, unseen)
}

struct Chooser<'a> {
    pointer_size: u8,
    steps: u64,
    measures: &'a Measures,
}

impl Chooser<'_> {
    fn choose(&self, candidates: &[Candidate], payloads: &[&[u8]]) -> Option<Choice> {
        let fits: Vec<Fit> = candidates.iter().map(|candidate| self.fit(candidate, payloads)).collect();
        let all = payloads.len();
        let first = |matches: &dyn Fn(&Candidate, &Fit) -> bool| {
            candidates.iter().zip(&fits).position(|(candidate, fit)| matches(candidate, fit))
        };
        let exact = |trust| first(&|candidate, fit| candidate.trust == trust && fit.exact == all);
        let described = || first(&|candidate, fit| candidate.trust < Trust::Older && fit.described == all);
        let trusted = |least| first(&|candidate, fit| !candidate.trust.is_doubtful() && fit.fitting >= least);
        let index = exact(Trust::Declared)
            .or_else(described)
            .or_else(|| exact(Trust::Inferred))
            .or_else(|| exact(Trust::Older))
            .or_else(|| exact(Trust::Doubtful))
            .or_else(|| trusted(1))
            .or_else(|| trusted(0))?;
        let (candidate, fit) = (candidates.get(index)?, fits.get(index)?);
        Some(Choice {
            candidate: candidate.clone(),
            is_contradicted: fit.fitting == 0 && all > 0,
            reason: reason(index, candidates.len(), fit, all) + &rivals(index, candidates, &fits, all),
            wrong_pointer_size: self.fits_other_pointer_size(candidate, fit, payloads),
            names_another: false,
        })
    }

    fn fit(&self, candidate: &Candidate, payloads: &[&[u8]]) -> Fit {
        let measure = self.measures.get(&candidate.schema, self.pointer_size);
        let mut fit = Fit { measure, exact: 0, described: 0, fitting: 0 };
        for payload in payloads {
            let status = fit.measure.program.consumes(payload);
            fit.exact += usize::from(status == Status::Ok);
            fit.described += usize::from(status.is_whole());
            fit.fitting += usize::from(may_fit(status, candidate.trust));
        }
        fit
    }

    /// Whether the payloads were written with pointers of the other size; looks at so many of them as the steps allow.
    fn fits_other_pointer_size(&self, candidate: &Candidate, fit: &Fit, payloads: &[&[u8]]) -> bool {
        if !fit.measure.has_pointers || payloads.is_empty() {
            return false;
        }
        let other = self.measures.get(&candidate.schema, if self.pointer_size == 4 { 8 } else { 4 });
        let limit = usize::try_from(self.steps).unwrap_or(usize::MAX);
        let fields = candidate.schema.field_count_to(limit) as u64;
        let effort = |payload: &&[u8]| POINTER_WALKS * payload_effort(fields, payload.len());
        let mut sum = fields * STEPS_PER_FIELD;
        let seen = payloads.iter().take_while(|payload| {
            sum += effort(payload);
            sum <= self.steps
        });
        let seen = seen.count().max(1);
        pointer_size_mismatch(&fit.measure.program, &other.program, &payloads[..seen])
    }
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

fn reason(index: usize, candidates: usize, fit: &Fit, samples: usize) -> String {
    let standing = match (index, candidates) {
        (_, 1) => "the only candidate".to_owned(),
        (0, _) => "the most trusted candidate".to_owned(),
        _ => format!("{index} more trusted candidates do not fit"),
    };
    format!("{standing}; describes {} of {samples} samples to the last byte", fit.exact)
}

/// Says that the samples leave the choice among layouts of one version open: which one is taken is settled, or it ranks
/// first.
fn rivals(index: usize, candidates: &[Candidate], fits: &[Fit], samples: usize) -> String {
    let is_exact = |at: usize| samples > 0 && fits.get(at).is_some_and(|fit| fit.exact == samples);
    let Some(chosen) = candidates.get(index).filter(|_| is_exact(index)) else { return String::new() };
    let is_rival = |(at, other): &(usize, &Candidate)| {
        is_exact(*at) && other.trust < Trust::Older && other.schema.fields != chosen.schema.fields
    };
    let rivals: Vec<&Candidate> = candidates.iter().enumerate().filter(is_rival).map(|(_, other)| other).collect();
    let ranked = match chosen.source {
        _ if rivals.iter().any(|other| preferred::is_settled(chosen, other)) => ": the table of settled names has it",
        DecodeSource::Pack => ": the built-in schemas rank it first",
        _ => "",
    };
    match rivals.len() {
        0 => String::new(),
        1 => format!(", as 1 other layout does{ranked}"),
        rivals => format!(", as {rivals} other layouts do{ranked}"),
    }
}

#[cfg(test)]
mod tests {
    use schema::model::{EventSchema, Field, Wire};
    use schema::numbers::EventNumbers;
    use schema::registry::DeclaringSource;

    use super::*;

    fn candidate(origin: &str, wires: &[Wire], trust: Trust) -> Candidate {
        let fields = wires.iter().map(|&wire| Field::value("f", wire)).collect();
        Candidate {
            source: DecodeSource::Pack,
            origin: origin.to_owned(),
            schema: Arc::new(EventSchema { fields, ..EventSchema::default() }),
            trust,
            declaring_source: DeclaringSource::Pack,
            numbers: EventNumbers::default(),
            message: None,
            build: None,
        }
    }

    fn sample(len: usize) -> Sample {
        Sample { payload: vec![1; len], process_id: None, string_only: false, traits: None, task: None }
    }

    fn winner(candidates: &[Candidate], lens: &[usize]) -> Option<(String, bool)> {
        let samples: Vec<_> = lens.iter().map(|&len| sample(len)).collect();
        choose(candidates, &samples, 8, MOST_STEPS, &Measures::default())
            .0
            .map(|choice| (choice.candidate.origin, choice.wrong_pointer_size))
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
    fn the_reason_says_where_samples_leave_the_choice_open() {
        let of = |wire, trust| candidate("a", &[wire], trust);
        let reason = |candidates: &[Candidate]| {
            choose(candidates, &[sample(4)], 8, MOST_STEPS, &Measures::default()).0.expect("a choice").reason
        };
        let (first, same) = (of(Wire::UInt32, Trust::Declared), of(Wire::UInt32, Trust::Inferred));
        let own = "the most trusted candidate; describes 1 of 1 samples to the last byte";
        assert_eq!(reason(&[first.clone(), same, of(Wire::UInt64, Trust::Declared)]), own);
        let rivals = [first.clone(), of(Wire::Int32, Trust::Declared), of(Wire::IPv4, Trust::Inferred)];
        assert_eq!(reason(&rivals[..2]), format!("{own}, as 1 other layout does: the built-in schemas rank it first"));
        // Of those with other columns one is settled.
        assert_eq!(reason(&rivals), format!("{own}, as 2 other layouts do: the table of settled names has it"));
        // That of another version is no rival.
        assert_eq!(reason(&[first, of(Wire::Int32, Trust::Doubtful)]), own);
    }

    #[test]
    fn a_layout_that_no_sample_fits_is_refused() {
        use Trust::{Declared, Older};
        let is_refused = |trust, lens: &[usize]| {
            let samples: Vec<_> = lens.iter().map(|&len| sample(len)).collect();
            let layout = candidate("a", &[Wire::UInt32, Wire::UInt32], trust);
            choose(&[layout], &samples, 8, MOST_STEPS, &Measures::default()).0.map(|choice| choice.is_refused())
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

    #[test]
    fn a_choice_takes_a_bounded_number_of_steps() {
        let wrong = || candidate("wrong", &[Wire::UInt32], Trust::Declared);
        let right = || candidate("right", &[Wire::UInt64], Trust::Declared);
        let candidates: Vec<_> = (0..7).map(|_| wrong()).chain([right()]).collect();
        let samples: Vec<_> = (0..64).map(|_| sample(8)).collect();
        // A field takes 32 steps once, and 32 + 1 + 8 / 4 with each sample.
        let all = 8 * (32 + 64 * 35);
        assert_eq!(efforts(&[1; 8], &samples).sum::<u64>(), all);
        let look = |steps| {
            let (choice, unseen) = choose(&candidates, &samples, 8, steps, &Measures::default());
            (choice.map(|choice| choice.candidate.origin), unseen.candidates, unseen.samples)
        };
        let named = |name: &str| Some(name.to_owned());
        assert_eq!(look(all), (named("right"), 0, 0));
        assert_eq!(look(all - 1), (named("right"), 0, 32));
        assert_eq!(look(8 * (32 + 35)), (named("right"), 0, 63));
        assert_eq!(look(8 * (32 + 35) - 1), (named("wrong"), 1, 63));
        assert_eq!(look(0), (named("wrong"), 7, 63));
        assert_eq!(choose(&[], &samples, 8, 0, &Measures::default()).1, Unseen::default());
    }

    #[test]
    fn the_steps_of_a_recording_are_shared() {
        for (shapes, expected) in [(0, 1 << 26), (1, 1 << 26), (16, 1 << 26), (1 << 10, 1 << 20), (1 << 20, 1 << 14)] {
            assert_eq!(steps(shapes), expected, "{shapes}");
        }
    }
}
