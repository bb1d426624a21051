//! The amounts of one name in the traces of one side.

use base::readable::count::Count;
use serde::Serialize;

use super::gather::{Amounts, TraceAmounts};
use super::measure::Measure;
use super::verdict::{Bounds, median};

/// Nanoseconds of a second.
const SECOND: f64 = 1e9;

/// A trace of a side.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ComparedTrace {
    /// Its name.
    pub trace: String,
    /// Nanoseconds from its first event to its last; where times are left out, of those that are there.
    pub length_ns: u64,
    /// How many these may be where what was lost lies before or behind; `None` where nothing bounds that.
    pub longest_ns: Option<u64>,
    /// What was lost, for certain: its amounts may be larger than what it records.
    pub lost: Option<String>,
    /// Why nobody knows whether anything was lost, where nothing says that it was.
    pub unproven: Option<String>,
}

impl ComparedTrace {
    pub(super) fn of(trace: &TraceAmounts) -> ComparedTrace {
        let TraceAmounts { trace, length_ns, longest_ns, lost, unproven, .. } = trace;
        ComparedTrace {
            trace: trace.clone(),
            length_ns: *length_ns,
            longest_ns: *longest_ns,
            lost: lost.clone(),
            unproven: unproven.clone(),
        }
    }
}

/// What the traces of a side have of a name.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Side {
    /// By second of the recording, in units of the measure: the median of the traces.
    pub per_second: f64,
    /// The smallest of them.
    pub lowest: f64,
    /// The largest.
    pub highest: f64,
    /// What all traces have together.
    pub total: u64,
    /// The part that this is of all names; `None` where there is nothing.
    pub share: Option<f64>,
}

/// The traces of a side that have a measure, with what they have.
#[derive(Clone, Debug)]
pub(super) struct Recorded<'a> {
    traces: Vec<(&'a TraceAmounts, &'a Amounts)>,
}

impl<'a> Recorded<'a> {
    /// Those of a side; else why they cannot be compared.
    pub(super) fn of(traces: &'a [TraceAmounts], measure: Measure) -> Result<Recorded<'a>, String> {
        let amounts = |trace: &'a TraceAmounts| {
            let found = trace.measures.iter().find(|(own, _)| *own == measure);
            let found = found.and_then(|(_, amounts)| amounts.as_ref());
            match found {
                None => Err(format!("{} does not record it", trace.trace)),
                Some(_) if trace.length_ns == 0 => Err(format!("{} has no length", trace.trace)),
                Some(amounts) => Ok((trace, amounts)),
            }
        };
        Ok(Recorded { traces: traces.iter().map(amounts).collect::<Result<_, _>>()? })
    }

    /// The traces.
    pub(super) fn traces(&self) -> impl Iterator<Item = &'a TraceAmounts> {
        self.traces.iter().map(|(trace, _)| *trace)
    }

    /// The names that have at least such a part of all of a side.
    pub(super) fn names(&self, min_share: f64) -> impl Iterator<Item = &'a str> {
        self.all_names().filter(move |name| self.share(self.total_of(name)).is_some_and(|share| share >= min_share))
    }

    /// All names, those of several traces several times.
    pub(super) fn all_names(&self) -> impl Iterator<Item = &'a str> {
        self.traces.iter().flat_map(|(_, amounts)| amounts.by_name.keys().map(String::as_str))
    }

    /// How the first trace that has a name spells it.
    pub(super) fn spelled(&self, name: &str) -> Option<&'a str> {
        let mut having = self.traces.iter().filter_map(|(_, amounts)| {
            let (own, _) = amounts.by_name.get_key_value(name)?;
            Some(amounts.spelled.get(name).unwrap_or(own).as_str())
        });
        having.next()
    }

    /// Why a difference is not proven: what filters left out, where they did, else what was lost.
    pub(super) fn may_be_missing(&self) -> Option<String> {
        let trace = self.traces.iter().map(|(trace, _)| trace).find(|trace| trace.filtered > 0)?;
        Some(format!("filters left out {} of the events of {}", Count(trace.filtered), trace.trace))
    }

    /// What there is of a name.
    pub(super) fn side(&self, name: &str) -> Side {
        let total = self.total_of(name);
        let numbers = self.numbers(|amounts| amounts.by_name.get(name).copied().unwrap_or(0));
        Side { total, share: self.share(total), ..Side::of_numbers(&numbers) }
    }

    /// What there is of all names.
    pub(super) fn whole(&self) -> Side {
        let total = self.total();
        Side { total, share: self.share(total), ..Side::of_numbers(&self.numbers(|amounts| amounts.total)) }
    }

    /// What each trace has of a name, and at least and at most may have.
    pub(super) fn bounds(&self, name: &str, measure: Measure) -> Vec<Bounds> {
        let bounds = |&(trace, amounts): &(&TraceAmounts, &Amounts)| {
            let amount = amounts.by_name.get(name).copied().unwrap_or(0);
            // What filters left out may be anything.
            let is_whole = trace.filtered == 0;
            let most = amounts.missing.and_then(|missing| amount.checked_add(missing)).filter(|_| is_whole);
            let longest = trace.longest_ns.filter(|_| is_whole);
            let recorded = rate(amount, trace.length_ns);
            // The variance of a count is the count; that of a rate is divided by the length once more.
            let variance = if measure.is_sampled() { recorded / seconds(trace.length_ns) } else { 0.0 };
            Bounds {
                recorded,
                low: longest.map_or(0.0, |longest| rate(amount, longest)),
                high: most.map(|most| rate(most, trace.length_ns)),
                variance,
            }
        };
        self.traces.iter().map(bounds).collect()
    }

    fn numbers(&self, amount: impl Fn(&Amounts) -> u64) -> Vec<f64> {
        self.traces.iter().map(|(trace, amounts)| rate(amount(amounts), trace.length_ns)).collect()
    }

    fn total_of(&self, name: &str) -> u64 {
        let amounts = self.traces.iter().filter_map(|(_, amounts)| amounts.by_name.get(name));
        amounts.fold(0, |sum, amount| sum.saturating_add(*amount))
    }

    fn total(&self) -> u64 {
        self.traces.iter().fold(0, |sum, (_, amounts)| sum.saturating_add(amounts.total))
    }

    #[expect(clippy::cast_precision_loss, reason = "a share is shown with three digits")]
    fn share(&self, part: u64) -> Option<f64> {
        let total = self.total();
        (total > 0).then(|| part as f64 / total as f64)
    }
}

impl Side {
    /// The median by second as people read it, with the smallest and the largest where traces differ.
    pub fn shown(&self, measure: Measure) -> String {
        let amount = |rate| measure.rate(rate);
        if self.lowest < self.highest {
            format!("{} ({} to {})", amount(self.per_second), amount(self.lowest), amount(self.highest))
        } else {
            amount(self.per_second)
        }
    }

    fn of_numbers(numbers: &[f64]) -> Side {
        let extreme = |choose: fn(f64, f64) -> f64| numbers.iter().copied().reduce(choose).unwrap_or(0.0);
        Side { per_second: median(numbers), lowest: extreme(f64::min), highest: extreme(f64::max), ..Side::default() }
    }
}

#[expect(clippy::cast_precision_loss, reason = "lengths are below 104 days, or rounded to a nanosecond of that")]
fn seconds(length_ns: u64) -> f64 {
    length_ns as f64 / SECOND
}

#[expect(clippy::cast_precision_loss, reason = "a rate is shown with four digits")]
fn rate(amount: u64, length_ns: u64) -> f64 {
    amount as f64 / seconds(length_ns)
}
