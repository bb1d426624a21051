//! Two sides, name by name.

use std::collections::BTreeSet;

use serde::Serialize;

use super::gather::TraceAmounts;
use super::measure::{By, Measure};
use super::sampled;
use super::side::{ComparedTrace, Recorded, Side};
use super::verdict::{Judged, LEVEL, MAY_BE_LOST, Verdict, judge};

/// Version of the document.
const FORMAT: u32 = 1;

/// Two sets of traces side by side.
#[derive(Clone, Debug, Serialize)]
pub struct Comparison {
    /// The version of this document.
    pub format: u32,
    /// What amounts belong to.
    pub by: By,
    /// The traces of the first set.
    pub a: Vec<ComparedTrace>,
    /// Those of the second.
    pub b: Vec<ComparedTrace>,
    /// What whoever reads the numbers must know of them.
    pub notes: Vec<String>,
    /// What is compared.
    pub measures: Vec<MeasureRows>,
}

/// One measure.
#[derive(Clone, Debug, Serialize)]
pub struct MeasureRows {
    /// Which.
    pub measure: Measure,
    /// What its amounts are; rates are by second of a recording.
    pub unit: &'static str,
    /// Why it is not compared.
    pub not_compared: Option<String>,
    /// What the first set has of all names.
    pub a: Option<Side>,
    /// What the second has.
    pub b: Option<Side>,
    /// The names with enough of it on one side, those with the largest difference first.
    pub rows: Vec<Row>,
    /// Names with less.
    pub small: usize,
    /// Rows that repeated traces decide about.
    pub tested: usize,
    /// How many of them chance alone would call proven: those times the level of the test.
    pub by_chance: f64,
}

/// A name.
#[derive(Clone, Debug, Serialize)]
pub struct Row {
    /// The name.
    pub name: String,
    /// What the first set has.
    pub a: Side,
    /// What the second has.
    pub b: Side,
    /// The second by the first, of the medians; `None` where the first has none.
    pub ratio: Option<f64>,
    /// What became of it.
    pub verdict: Verdict,
    /// The probability of a difference like this by chance, of repeated traces.
    pub p: Option<f64>,
    /// Why nothing is proven.
    pub because: Option<String>,
}

impl Row {
    /// How the second is to the first, as people read it: `+12.3%`, `new`, `gone`.
    pub fn change(&self) -> String {
        match self.ratio {
            None if self.b.per_second > 0.0 => "new".to_owned(),
            None => "-".to_owned(),
            Some(_) if self.b.per_second <= 0.0 => "gone".to_owned(),
            Some(ratio) if ratio >= 10.0 => format!("{ratio:.1} times"),
            Some(ratio) => format!("{:+.1}%", (ratio - 1.0) * 100.0),
        }
    }

    /// Whether it is proven to have grown by more than a part of what it was; where it was not there at all by whatever part.
    pub fn has_grown_by(&self, part: f64) -> bool {
        self.verdict == Verdict::Grew && self.ratio.is_none_or(|ratio| ratio - 1.0 > part)
    }
}

impl Comparison {
    /// The rows that have grown by more than a part of what they were.
    pub fn grown_by(&self, part: f64) -> impl Iterator<Item = (&MeasureRows, &Row)> {
        let rows = self.measures.iter().flat_map(|measure| measure.rows.iter().map(move |row| (measure, row)));
        rows.filter(move |(_, row)| row.has_grown_by(part))
    }

    /// Why nothing is known of whether differences would come back: `None` where both sides have several traces.
    pub fn is_of_single_traces(&self) -> bool {
        self.a.len() == 1 && self.b.len() == 1
    }
}

/// Compares what traces have; names with less than `min_share` of all on both sides are counted alone.
pub fn compared(by: By, a: &[TraceAmounts], b: &[TraceAmounts], min_share: f64) -> Comparison {
    let named = |traces: &[TraceAmounts]| traces.iter().map(ComparedTrace::of).collect();
    let measures = a.iter().chain(b).flat_map(|trace| trace.measures.iter().map(|(measure, _)| *measure));
    let measures: BTreeSet<Measure> = measures.collect();
    let measures: Vec<_> = measures.into_iter().map(|measure| rows_of(measure, a, b, min_share)).collect();
    let mut notes = notes(a, b);
    let is_sampled = |rows: &MeasureRows| rows.measure.is_sampled() && rows.not_compared.is_none();
    notes.extend(sampled::note(a, b).filter(|_| measures.iter().any(is_sampled)));
    Comparison { format: FORMAT, by, a: named(a), b: named(b), notes, measures }
}

/// What whoever reads the numbers must know.
fn notes(a: &[TraceAmounts], b: &[TraceAmounts]) -> Vec<String> {
    let all = || a.iter().chain(b);
    let unproven = |trace: &TraceAmounts| {
        let because = trace.unproven.as_ref()?;
        Some(format!(
            "{}: nothing says that anything was lost, and nothing proves that nothing was: {because}",
            trace.trace
        ))
    };
    let mut notes: Vec<String> = all().filter_map(unproven).collect();
    notes.extend(all().filter(|trace| trace.filtered > 0).map(|trace| {
        format!(
            "{}: filters left out {} of its events when it was converted: no difference from it is proven",
            trace.trace, trace.filtered
        )
    }));
    let is_unbounded =
        |trace: &&TraceAmounts| trace.lost.is_some() && trace.longest_ns.is_none() && trace.filtered == 0;
    notes.extend(all().filter(is_unbounded).map(|trace| {
        format!("{}: nothing says how long it was with what was lost: no difference from it is proven", trace.trace)
    }));
    let options: BTreeSet<&str> = all().map(|trace| trace.options_hash.as_str()).collect();
    if options.len() > 1 {
        notes.push("the traces were converted with different options".to_owned());
    }
    notes
}

fn rows_of(measure: Measure, a: &[TraceAmounts], b: &[TraceAmounts], min_share: f64) -> MeasureRows {
    let mut rows = MeasureRows {
        measure,
        unit: measure.unit(),
        not_compared: None,
        a: None,
        b: None,
        rows: Vec::new(),
        small: 0,
        tested: 0,
        by_chance: 0.0,
    };
    let (a, b) = match (Recorded::of(a, measure), Recorded::of(b, measure)) {
        (Ok(a), Ok(b)) => (a, b),
        (Err(because), _) | (_, Err(because)) => {
            rows.not_compared = Some(because);
            return rows;
        }
    };
    let shown: BTreeSet<&str> = a.names(min_share).chain(b.names(min_share)).collect();
    let all: BTreeSet<&str> = a.all_names().chain(b.all_names()).collect();
    rows.small = all.len() - shown.len();
    rows.rows = shown.into_iter().map(|name| row(name, measure, &a, &b)).collect();
    let difference = |row: &Row| (row.a.per_second - row.b.per_second).abs();
    rows.rows.sort_by(|x, y| difference(y).total_cmp(&difference(x)).then_with(|| x.name.cmp(&y.name)));
    rows.tested = rows.rows.iter().filter(|row| row.p.is_some()).count();
    rows.by_chance = f64::from(u32::try_from(rows.tested).unwrap_or(u32::MAX)) * LEVEL;
    if measure.adds_up() {
        (rows.a, rows.b) = (Some(a.whole()), Some(b.whole()));
    }
    rows
}

fn row(name: &str, measure: Measure, a: &Recorded<'_>, b: &Recorded<'_>) -> Row {
    let judged = judged(name, measure, a, b);
    let sides = (a.side(name), b.side(name));
    let name = a.spelled(name).or_else(|| b.spelled(name)).unwrap_or(name).to_owned();
    let (a, b) = sides;
    let ratio = (a.per_second > 0.0).then(|| b.per_second / a.per_second);
    Row { name, a, b, ratio, verdict: judged.verdict, p: judged.p, because: judged.because }
}

/// What is proven of a name.
fn judged(name: &str, measure: Measure, a: &Recorded<'_>, b: &Recorded<'_>) -> Judged {
    if measure.is_sampled() && !sampled::is_alike(a.traces().chain(b.traces())) {
        return Judged::unsure(sampled::STAND_FOR_OTHER_TIMES, None);
    }
    let mut judged = judge(&a.bounds(name, measure), &b.bounds(name, measure));
    if judged.because.as_deref() == Some(MAY_BE_LOST) {
        judged.because = a.may_be_missing().or_else(|| b.may_be_missing()).or(judged.because);
    }
    judged
}

#[cfg(test)]
mod tests {
    use super::super::gather::Amounts;
    use super::*;
    use crate::sampling::Sampling;

    fn trace(name: &str, length_ns: u64, events: &[(&str, u64)]) -> TraceAmounts {
        let by_name = events.iter().map(|(name, events)| ((*name).to_owned(), *events)).collect();
        let total = events.iter().map(|(_, events)| events).sum();
        let amounts = Amounts { by_name, missing: Some(0), total, ..Amounts::default() };
        let measures = vec![(Measure::Events, Some(amounts)), (Measure::PayloadBytes, None)];
        let longest_ns = Some(length_ns);
        TraceAmounts { trace: name.to_owned(), length_ns, longest_ns, measures, ..TraceAmounts::default() }
    }

    #[test]
    fn traces_of_other_lengths_are_compared_by_the_second() {
        let a = trace("a", 1_000_000_000, &[("x", 30), ("y", 60), ("z", 9), ("small", 1)]);
        let b = trace("b", 2_000_000_000, &[("x", 60), ("y", 30), ("new", 110)]);
        let found = compared(By::Event, &[a], &[b], 0.05);
        let events = &found.measures[0];
        let shown: Vec<_> = events.rows.iter().map(|row| (row.name.as_str(), row.verdict, row.ratio)).collect();
        assert_eq!(
            shown,
            [
                ("new", Verdict::Grew, None),
                ("y", Verdict::Shrank, Some(0.25)),
                ("z", Verdict::Shrank, Some(0.0)),
                ("x", Verdict::Same, Some(1.0)),
            ]
        );
        assert_eq!((events.small, events.tested), (1, 0));
        let side = |per_second, total, share| Side {
            per_second,
            lowest: per_second,
            highest: per_second,
            total,
            share: Some(share),
        };
        assert_eq!((events.rows[1].a, events.rows[1].b), (side(60.0, 60, 0.6), side(15.0, 30, 0.15)));
        assert_eq!((events.a, events.b), (Some(side(100.0, 100, 1.0)), Some(side(100.0, 200, 1.0))));
        assert_eq!(found.measures[1].not_compared.as_deref(), Some("a does not record it"));
        let grown = |part| found.grown_by(part).map(|(_, row)| row.name.as_str()).collect::<Vec<_>>();
        assert_eq!((grown(0.1), grown(1e6)), (vec!["new"], vec!["new"]));
    }

    #[test]
    fn repeated_traces_are_compared_by_their_medians() {
        let of = |name: &str, counts: [u64; 4]| counts.map(|count| trace(name, 1_000_000_000, &[("x", count)]));
        let found = compared(By::Event, &of("a", [10, 12, 11, 30]), &of("b", [40, 42, 41, 60]), 0.01);
        let row = &found.measures[0].rows[0];
        assert_eq!((row.verdict, row.ratio), (Verdict::Grew, Some(41.5 / 11.5)));
        assert_eq!((row.a.lowest, row.a.highest, row.a.total), (10.0, 30.0, 63));
        assert_eq!((found.measures[0].tested, found.measures[0].by_chance), (1, 0.05));
        assert!((row.p.unwrap() - 2.0 / 70.0).abs() < 1e-12);
    }

    #[test]
    fn what_was_lost_is_said() {
        let mut a = trace("a", 5, &[("x", 1)]);
        a.unproven = Some("it was merged".to_owned());
        let mut b = trace("b", 5, &[("x", 1)]);
        (b.filtered, b.options_hash) = (7, "other".to_owned());
        assert_eq!(
            compared(By::Event, &[a], &[b], 0.0).notes,
            [
                "a: nothing says that anything was lost, and nothing proves that nothing was: it was merged",
                "b: filters left out 7 of its events when it was converted: no difference from it is proven",
                "the traces were converted with different options",
            ]
        );
    }

    fn verdicts(found: &Comparison) -> Vec<(&str, Verdict, Option<&str>)> {
        let rows = found.measures[0].rows.iter();
        rows.map(|row| (row.name.as_str(), row.verdict, row.because.as_deref())).collect()
    }

    #[test]
    fn what_filters_left_out_may_be_the_difference() {
        let a = trace("a", 1_000_000_000, &[("x", 30), ("gone", 60), ("same", 9)]);
        let mut b = trace("b", 1_000_000_000, &[("x", 90), ("new", 110), ("same", 9)]);
        b.filtered = 1234;
        let (a, b) = ([a], [b]);
        let because = Some("filters left out 1,234 of the events of b");
        let unsure = |name| (name, Verdict::Unsure, because);
        let expected = [unsure("new"), unsure("gone"), unsure("x"), ("same", Verdict::Same, None)];
        assert_eq!(verdicts(&compared(By::Event, &a, &b, 0.0)), expected);
        let found = compared(By::Event, &b, &a, 0.0);
        assert_eq!((verdicts(&found)[0], found.grown_by(0.0).count()), (unsure("new"), 0));
    }

    #[test]
    fn a_trace_that_may_have_been_longer_has_less_by_second() {
        // Nobody knows what the other three seconds held: x was 15 by second at least, y 5.
        let mut a = trace("a", 1_000_000_000, &[("x", 60), ("y", 20)]);
        (a.longest_ns, a.lost) = (Some(4_000_000_000), Some("2 buffers".to_owned()));
        let (_, amounts) = &mut a.measures[0];
        amounts.as_mut().unwrap().missing = None;
        let (mut a, b) = ([a], [trace("b", 1_000_000_000, &[("x", 14), ("y", 6)])]);
        let found = compared(By::Event, &a, &b, 0.0);
        let unsure = ("y", Verdict::Unsure, Some(MAY_BE_LOST));
        assert_eq!(verdicts(&found), [("x", Verdict::Shrank, None), unsure]);
        assert_eq!(found.notes, [""; 0]);
        a[0].longest_ns = None;
        let found = compared(By::Event, &a, &b, 0.0);
        assert_eq!(verdicts(&found), [("x", Verdict::Unsure, Some(MAY_BE_LOST)), unsure]);
        assert_eq!(
            found.notes,
            ["a: nothing says how long it was with what was lost: no difference from it is proven"]
        );
    }

    #[test]
    fn samples_that_stand_for_other_times_prove_nothing() {
        let of = |name: &str, samples: u64, nanoseconds: u64| {
            let mut trace = trace(name, 1_000_000_000, &[("x", samples)]);
            trace.sampling = Sampling::Every(nanoseconds);
            let (_, amounts) = trace.measures.remove(0);
            trace.measures = vec![(Measure::Samples, amounts)];
            trace
        };
        let found = compared(By::Process, &[of("a", 1000, 1_000_000)], &[of("b", 8000, 125_000)], 0.0);
        let because = Some("samples of the traces stand for times that differ, or are not known");
        assert_eq!(verdicts(&found), [("x", Verdict::Unsure, because)]);
        assert_eq!(found.notes, ["samples prove nothing: a has a sample every 1 ms, b has a sample every 125 µs"]);
        let found = compared(By::Process, &[of("a", 1000, 125_000)], &[of("b", 8000, 125_000)], 0.0);
        assert_eq!((verdicts(&found), found.notes.len()), (vec![("x", Verdict::Grew, None)], 0));
    }

    #[test]
    fn names_are_spelled_as_in_the_first_trace_that_has_them() {
        let of = |name: &str, spelled: &[(&str, &str)]| {
            let mut trace = trace(name, 1_000_000_000, &[("a.dll!F", 1), ("b.dll!F", 1)]);
            let (_, amounts) = &mut trace.measures[0];
            let spelled = spelled.iter().map(|(key, name)| ((*key).to_owned(), (*name).to_owned()));
            amounts.as_mut().unwrap().spelled = spelled.collect();
            trace
        };
        let (a, b) = (of("a", &[("a.dll!F", "A.dll!F")]), of("b", &[("a.dll!F", "A.DLL!F"), ("b.dll!F", "B.dll!F")]));
        let same = |name| (name, Verdict::Same, None);
        assert_eq!(verdicts(&compared(By::Function, &[a], &[b], 0.0)), [same("A.dll!F"), same("b.dll!F")]);
    }

    #[test]
    fn a_trace_without_a_length_has_no_rates() {
        let (a, b) = (trace("a", 0, &[("x", 1)]), trace("b", 5, &[("x", 1)]));
        let found = compared(By::Event, &[a], &[b], 0.0);
        assert_eq!(found.measures[0].not_compared.as_deref(), Some("a has no length"));
    }
}
