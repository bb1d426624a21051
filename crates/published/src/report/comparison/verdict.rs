//! What of a difference is proven.

use base::words::Words as _;
use serde::{Serialize, Serializer};

use super::rank_test::{p_value, smallest};

/// Differences that chance alone makes rarer than this count as proven.
pub(super) const LEVEL: f64 = 0.05;

/// Standard deviations that two counts of a sampler differ by at least, where they count as different: chance makes it rarer than one in
/// 300.
const DEVIATIONS: f64 = 3.0;

/// Why nothing is proven where bounds are not apart.
pub(super) const MAY_BE_LOST: &str = "what was lost, or is not known, may be the difference";

/// What became of an amount.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It is larger in the second set.
    Grew,
    /// It is smaller.
    Shrank,
    /// What is recorded of it is the same.
    Same,
    /// It differs, and nothing proves that this is no chance or loss.
    Unsure,
}

base::words! { Verdict {
    Grew = "grew": "larger in the second set",
    Shrank = "shrank": "smaller in the second set",
    Same = "same": "recorded the same in both",
    Unsure = "unsure": "different, by chance or by what was lost",
} }

impl Serialize for Verdict {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.word())
    }
}

/// What an amount is in one trace: by second of the recording, at least and at most.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Bounds {
    /// What is recorded, in the time that is recorded.
    pub recorded: f64,
    /// That in the longest time that the recording may have; 0 where nothing bounds it.
    pub low: f64,
    /// What is recorded and what may be missing, in the time that is recorded; `None` where nothing bounds it.
    pub high: Option<f64>,
    /// The variance that chance gives a count of a sampler; 0 of other amounts.
    pub variance: f64,
}

/// A verdict with its reason.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Judged {
    pub verdict: Verdict,
    /// The probability of a difference like this by chance, where there are enough traces to say.
    pub p: Option<f64>,
    /// Why nothing is proven.
    pub because: Option<String>,
}

impl Judged {
    fn plain(verdict: Verdict) -> Judged {
        Judged { verdict, p: None, because: None }
    }

    pub(super) fn unsure(because: &str, p: Option<f64>) -> Judged {
        Judged { verdict: Verdict::Unsure, p, because: Some(because.to_owned()) }
    }
}

/// Holds the amounts of two sets of traces against each other.
pub(super) fn judge(a: &[Bounds], b: &[Bounds]) -> Judged {
    let is_equal = |bounds: &Bounds| a.first().is_some_and(|first| first.recorded.total_cmp(&bounds.recorded).is_eq());
    if a.iter().chain(b).all(is_equal) {
        return Judged::plain(Verdict::Same);
    }
    match (a, b) {
        ([a], [b]) => one_of_each(*a, *b),
        _ => several(a, b),
    }
}

/// One trace on each side: whether the two recordings differ, which says nothing of others.
fn one_of_each(a: Bounds, b: Bounds) -> Judged {
    let noise = DEVIATIONS * (a.variance + b.variance).sqrt();
    // By how much one is above the other whatever was lost, where it is.
    let above = |low: Bounds, high: Bounds| high.high.map(|high| low.low - high).filter(|by| *by > 0.0);
    match (above(b, a), above(a, b)) {
        (Some(by), _) if by > noise => Judged::plain(Verdict::Grew),
        (_, Some(by)) if by > noise => Judged::plain(Verdict::Shrank),
        (Some(_), _) | (_, Some(_)) => Judged::unsure("within the noise of sampling", None),
        _ => Judged::unsure(MAY_BE_LOST, None),
    }
}

/// Several traces: whether the sets differ by more than their traces do among themselves, whatever of them was lost.
fn several(a: &[Bounds], b: &[Bounds]) -> Judged {
    if smallest(a.len(), b.len()) >= LEVEL {
        return Judged::unsure("too few traces: four on each side are enough", None);
    }
    let recorded = |side: &[Bounds]| side.iter().map(|bounds| bounds.recorded).collect::<Vec<_>>();
    let lows = |side: &[Bounds]| side.iter().map(|bounds| bounds.low).collect::<Vec<_>>();
    let highs = |side: &[Bounds]| side.iter().map(|bounds| bounds.high.unwrap_or(f64::INFINITY)).collect::<Vec<_>>();
    // What may be missing is taken to be where it helps the other side.
    let above = |below: &[Bounds], above: &[Bounds]| {
        let (below, above) = (highs(below), lows(above));
        (median(&above) > median(&below)).then(|| p_value(&below, &above)).filter(|p| *p < LEVEL)
    };
    let p = p_value(&recorded(a), &recorded(b));
    match (above(a, b), above(b, a)) {
        (Some(p), _) => Judged { p: Some(p), ..Judged::plain(Verdict::Grew) },
        (_, Some(p)) => Judged { p: Some(p), ..Judged::plain(Verdict::Shrank) },
        _ if p < LEVEL => Judged::unsure(MAY_BE_LOST, Some(p)),
        _ => Judged::unsure("the traces of a side differ as much among themselves", Some(p)),
    }
}

/// The middle one of some numbers, or the mean of the two in the middle; 0 of none.
pub(super) fn median(numbers: &[f64]) -> f64 {
    let mut sorted = numbers.to_vec();
    sorted.sort_by(f64::total_cmp);
    let middle = sorted.len() / 2;
    match (sorted.len() % 2, sorted.get(middle.wrapping_sub(1)), sorted.get(middle)) {
        (0, Some(below), Some(above)) => f64::midpoint(*below, *above),
        (_, _, middle) => middle.copied().unwrap_or(0.0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn exact(low: f64) -> Bounds {
        Bounds { recorded: low, low, high: Some(low), variance: 0.0 }
    }

    #[track_caller]
    fn t(a: &[Bounds], b: &[Bounds], expected: Verdict) -> Option<String> {
        let judged = judge(a, b);
        assert_eq!(judged.verdict, expected, "{judged:?}");
        let turned = match expected {
            Verdict::Grew => Verdict::Shrank,
            Verdict::Shrank => Verdict::Grew,
            other => other,
        };
        assert_eq!(judge(b, a).verdict, turned);
        judged.because
    }

    #[test]
    fn two_recordings_differ_where_nothing_else_explains_it() {
        t(&[exact(5.0)], &[exact(5.0)], Verdict::Same);
        t(&[exact(5.0)], &[exact(6.0)], Verdict::Grew);
        let lost = Bounds { high: Some(6.5), ..exact(5.0) };
        t(&[lost], &[exact(7.0)], Verdict::Grew);
        let because = t(&[lost], &[exact(6.0)], Verdict::Unsure);
        assert_eq!(because.as_deref(), Some("what was lost, or is not known, may be the difference"));
        let unbounded = Bounds { high: None, ..exact(5.0) };
        t(&[unbounded], &[exact(1e9)], Verdict::Unsure);
        t(&[unbounded], &[exact(4.0)], Verdict::Shrank);
        t(&[unbounded], &[unbounded], Verdict::Same);
    }

    #[test]
    fn a_recording_that_may_have_been_longer_had_less_by_second() {
        // Five by second, or two and a half in twice the time; what the lost part held, nobody knows.
        let cut = Bounds { low: 2.5, high: None, ..exact(5.0) };
        t(&[cut], &[exact(2.0)], Verdict::Shrank);
        t(&[cut], &[exact(3.0)], Verdict::Unsure);
        t(&[cut], &[exact(1e9)], Verdict::Unsure);
        let endless = Bounds { low: 0.0, ..cut };
        t(&[endless], &[exact(0.0)], Verdict::Unsure);
        t(&[endless], &[exact(5.0)], Verdict::Same);
        let side = |bounds: Bounds| [bounds; 4];
        t(&side(cut), &side(exact(2.0)), Verdict::Shrank);
        let because = t(&side(cut), &side(exact(3.0)), Verdict::Unsure);
        assert_eq!(because.as_deref(), Some(MAY_BE_LOST));
    }

    #[test]
    fn counts_of_a_sampler_differ_by_chance() {
        let samples = |count: f64| Bounds { variance: count, ..exact(count) };
        // The deviation of the difference of 100 and 140 is the root of 240, 15.5.
        let because = t(&[samples(100.0)], &[samples(140.0)], Verdict::Unsure);
        assert_eq!(because.as_deref(), Some("within the noise of sampling"));
        t(&[samples(100.0)], &[samples(150.0)], Verdict::Grew);
        // Of 104 at most, the difference to 150 is 46, and three deviations, three times the root of 250, are 47.4.
        let lost = Bounds { high: Some(104.0), ..samples(100.0) };
        let because = t(&[lost], &[samples(150.0)], Verdict::Unsure);
        assert_eq!(because.as_deref(), Some("within the noise of sampling"));
    }

    #[test]
    fn repeated_traces_say_how_much_is_chance() {
        let side = |numbers: [f64; 4]| numbers.map(exact);
        t(&side([1.0, 2.0, 3.0, 4.0]), &side([5.0, 6.0, 7.0, 8.0]), Verdict::Grew);
        let because = t(&side([1.0, 2.0, 3.0, 6.0]), &side([4.0, 5.0, 7.0, 8.0]), Verdict::Unsure);
        assert_eq!(because.as_deref(), Some("the traces of a side differ as much among themselves"));
        let because = t(&side([1.0, 2.0, 3.0, 4.0])[..3], &side([5.0, 6.0, 7.0, 8.0])[..3], Verdict::Unsure);
        assert_eq!(because.as_deref(), Some("too few traces: four on each side are enough"));
        let mut lost = side([1.0, 2.0, 3.0, 4.0]);
        lost[0].high = None;
        let because = t(&lost, &side([5.0, 6.0, 7.0, 8.0]), Verdict::Unsure);
        assert_eq!(because.as_deref(), Some("what was lost, or is not known, may be the difference"));
    }

    #[test]
    fn medians() {
        assert_eq!((median(&[]), median(&[3.0]), median(&[4.0, 1.0]), median(&[9.0, 1.0, 2.0])), (0.0, 3.0, 2.5, 2.0));
    }
}
