//! Values that a chart shows where the pointer is: parts of the time that nothing is drawn in, each with a title.

use std::fmt::Write as _;

use base::readable::count::{ByteCount, counted};
use base::readable::printable::cut;
use base::readable::time::duration;

use super::axis::{Axis, BINS};
use super::charts::STEP;
use super::html::text;
use super::lanes::{Lane, Lost};
use super::tally::Ranked;
use super::unit::Unit;

/// Parts of the axis that share a title in a chart that is one row of many.
const PARTS: usize = 8;
/// Characters of a name in a title, which stands there for every part of the time.
const LONGEST: usize = 40;
/// Names that a title has.
const MOST_NAMES: usize = 8;

/// Titles of a chart of several series, for every part of the time that has something.
pub(super) fn of_stack(axis: &Axis, ranked: &Ranked, unit: Unit) -> String {
    titles(axis, 1, |part| {
        let amount = |bins: &[u64]| bins.get(part).copied().filter(|amount| *amount > 0);
        let mut shown: Vec<(&str, u64)> = ranked
            .shown
            .iter()
            .filter_map(|(name, amounts)| Some((name.as_str(), amount(&amounts.bins)?)))
            .chain(ranked.rest.iter().filter_map(|rest| Some(("all others", amount(&rest.amounts.bins)?))))
            .collect();
        shown.sort_by_key(|(_, amount)| std::cmp::Reverse(*amount));
        let more = shown.len().saturating_sub(MOST_NAMES);
        let names = shown
            .iter()
            .take(MOST_NAMES)
            .map(|(name, amount)| format!("{} {}", text(&cut(name.chars(), LONGEST)), unit.shown(*amount)));
        let more = (more > 0).then(|| format!("and {more} more"));
        let names: Vec<String> = names.chain(more).collect();
        (!names.is_empty()).then(|| names.join(", "))
    })
}

/// Titles of a chart of one series.
pub(super) fn of_row(axis: &Axis, bins: &[u64], things: &str) -> String {
    titles(axis, PARTS, |first| {
        let sum = bins.iter().skip(first).take(PARTS).fold(0_u64, |sum, amount| sum.saturating_add(*amount));
        (sum > 0).then(|| counted(sum, things))
    })
}

/// Titles of a chart of one series of sizes, of which the largest of a part counts.
pub(super) fn of_peaks(axis: &Axis, bins: &[u64]) -> String {
    titles(axis, PARTS, |first| {
        let peak = bins.iter().skip(first).take(PARTS).max().copied().filter(|peak| *peak > 0);
        peak.map(|peak| format!("up to {}", ByteCount(peak)))
    })
}

/// Titles of a chart of the buffers of a processor.
pub(super) fn of_lane(axis: &Axis, lane: &Lane) -> String {
    titles(axis, PARTS, |first| {
        let fill = lane.bins.iter().skip(first).take(PARTS).max().copied().filter(|fill| *fill > 0);
        let lost = lane.lost.iter().skip(first).take(PARTS).max();
        let fill = fill.map(|fill| format!("up to {}.{} % full", fill / 10, fill % 10));
        let lost = match lost {
            Some(Lost::Certain) => Some("lost for certain".to_owned()),
            Some(Lost::Possible) => Some("possibly lost".to_owned()),
            Some(Lost::Nothing) | None => None,
        };
        let words: Vec<String> = fill.into_iter().chain(lost).collect();
        (!words.is_empty()).then(|| words.join(", "))
    })
}

/// A part without a mark for each step of the axis for which there are words, which are HTML.
fn titles(axis: &Axis, step: usize, words: impl Fn(usize) -> Option<String>) -> String {
    let mut titles = String::new();
    for first in (0..BINS).step_by(step) {
        let Some(words) = words(first) else { continue };
        let (from, to) = (duration(axis.moment(first)), duration(axis.moment(first + step)));
        let [x, width] = [first, step].map(|parts| parts * STEP.unsigned_abs() as usize);
        let _ = writeln!(
            titles,
            "<rect class=\"at\" x=\"{x}\" width=\"{width}\" height=\"100%\"><title>+{from} to +{to}: {words}</title></rect>"
        );
    }
    titles
}

#[cfg(test)]
mod tests {
    use super::super::tally::Tally;
    use super::*;

    #[test]
    fn a_title_has_the_amounts_of_its_part_largest_first() {
        let mut tally = Tally::<String>::default();
        for (name, bin, amount) in [("<a>", 3, 2), ("b", 3, 5), ("b", 4, 1), ("c", 4, 9)] {
            tally.of(name).count_one(1);
            tally.of(name).draw(bin, amount);
        }
        let titles = of_stack(&Axis::new(0, 1599), &tally.ranked(2), Unit::Things("samples"));
        let expected = "<rect class=\"at\" x=\"24\" width=\"8\" height=\"100%\"><title>+30 ns to +40 ns: b 5 samples, &lt;a&gt; 2 samples</title></rect>\n\
            <rect class=\"at\" x=\"32\" width=\"8\" height=\"100%\"><title>+40 ns to +50 ns: all others 9 samples, b 1 sample</title></rect>\n";
        assert_eq!(titles, expected);
    }

    #[test]
    fn parts_of_a_row_share_a_title() {
        let mut bins = vec![0; BINS];
        (bins[0], bins[7], bins[8]) = (1, 2, 4);
        let titles = of_row(&Axis::new(0, 1599), &bins, "events");
        assert_eq!(titles.matches("<title>").count(), 2);
        assert!(titles.contains("x=\"0\" width=\"64\" height=\"100%\"><title>+0 ns to +80 ns: 3 events"), "{titles}");
        assert!(
            titles.contains("x=\"64\" width=\"64\" height=\"100%\"><title>+80 ns to +160 ns: 4 events"),
            "{titles}"
        );
    }
}
