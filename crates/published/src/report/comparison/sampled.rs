//! Whether samples of traces stand for the same time.

use base::readable::time::duration;

use super::gather::TraceAmounts;
use crate::sampling::Sampling;

/// Why samples prove nothing where they do not.
pub(super) const STAND_FOR_OTHER_TIMES: &str = "samples of the traces stand for times that differ, or are not known";

/// Whether the samples of all traces are as far apart, as far as anything says. Where no trace says it, they are taken to be; where one
/// does, what the others do not say may be anything.
pub(super) fn is_alike<'a>(traces: impl IntoIterator<Item = &'a TraceAmounts>) -> bool {
    let mut all = traces.into_iter().map(|trace| trace.sampling);
    let first = all.next().unwrap_or_default();
    first != Sampling::Changed && all.all(|other| other == first)
}

/// What to know of the samples of traces.
pub(super) fn note(a: &[TraceAmounts], b: &[TraceAmounts]) -> Option<String> {
    let all = || a.iter().chain(b);
    if !is_alike(all()) {
        let mut said: Vec<String> = Vec::new();
        for trace in all() {
            let one = format!("{} {}", trace.trace, described(trace.sampling));
            if !said.contains(&one) {
                said.push(one);
            }
        }
        return Some(format!("samples prove nothing: {}", said.join(", ")));
    }
    let is_not_said = all().all(|trace| trace.sampling == Sampling::NotSaid);
    is_not_said
        .then(|| "no trace says how far its samples are apart: they are compared as if all were as far".to_owned())
}

fn described(sampling: Sampling) -> String {
    match sampling {
        Sampling::NotSaid => "does not say how far its samples are apart".to_owned(),
        Sampling::Changed => "changes how far its samples are apart".to_owned(),
        Sampling::Every(nanoseconds) => format!("has a sample every {}", duration(nanoseconds)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn t(samplings: [Sampling; 2], expected: Option<&str>, alike: bool) {
        let of = |trace: &str, sampling| TraceAmounts { trace: trace.to_owned(), sampling, ..TraceAmounts::default() };
        let [a, b] = samplings;
        let (a, b) = ([of("a", a)], [of("b", b)]);
        assert_eq!(note(&a, &b).as_deref(), expected);
        assert_eq!(is_alike(a.iter().chain(&b)), alike);
    }

    #[test]
    fn samples_are_as_far_apart_or_prove_nothing() {
        let (one, eighth) = (Sampling::Every(1_000_000), Sampling::Every(125_000));
        t([one, one], None, true);
        let differ = "samples prove nothing: a has a sample every 1 ms, b has a sample every 125 µs";
        t([one, eighth], Some(differ), false);
        let not_said = "samples prove nothing: a has a sample every 1 ms, b does not say how far its samples are apart";
        t([one, Sampling::NotSaid], Some(not_said), false);
        let changed =
            "samples prove nothing: a changes how far its samples are apart, b changes how far its samples are apart";
        t([Sampling::Changed; 2], Some(changed), false);
        let assumed = "no trace says how far its samples are apart: they are compared as if all were as far";
        t([Sampling::NotSaid; 2], Some(assumed), true);
    }
}
