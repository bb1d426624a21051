//! Charts with the words and numbers around them.

use std::fmt::Write as _;

use base::calendar::rfc3339;
use base::readable::count::Count;
use base::readable::time::duration;

use super::axis::{Axis, BINS};
use super::charts::{PALETTE, Words, stacked};
use super::hover::of_stack;
use super::html::{Cell, details, note, table, text};
use super::tally::Ranked;
use super::unit::Unit;

/// Slices of the time in the table behind a chart.
const SLICES: usize = 8;
/// Parts of the axis in a slice.
const PARTS: usize = BINS / SLICES;

/// A share in percent: two digits that count where it is small.
pub(super) fn share(part: u64, whole: u64) -> String {
    if whole == 0 {
        return "–".to_owned();
    }
    let hundredths = u128::from(part) * 10_000 / u128::from(whole);
    match hundredths {
        0 if part > 0 => "< 0.01 %".to_owned(),
        _ => format!("{}.{:02} %", hundredths / 100, hundredths % 100),
    }
}

/// A time from the first event on, as the axes have it; one before that as it is.
pub(super) fn moment(axis: &Axis, time: i64) -> String {
    let behind = time.checked_sub(axis.first()).and_then(|ns| u64::try_from(ns).ok());
    behind.map_or_else(|| rfc3339(time), |ns| format!("+{}", duration(ns)))
}

/// The beginning, the middle and the end of the time, below a chart.
pub(super) fn scale(axis: &Axis) -> String {
    let middle = duration(axis.offset(BINS / 2));
    format!(
        "<div class=\"scale\" aria-hidden=\"true\"><span>0</span><span>+{middle}</span><span>+{}</span></div>\n",
        duration(axis.length())
    )
}

/// What a chart of several series says.
#[derive(Clone, Copy, Debug)]
pub(super) struct Figure<'a> {
    /// Its name among those of the page.
    pub id: &'a str,
    /// What it shows, in words of the program.
    pub title: &'a str,
    /// What names are.
    pub things: &'a str,
    /// What amounts are.
    pub unit: Unit,
}

/// A chart of amounts by name on top of one another, with a legend and a table of its numbers.
pub(super) fn figure(figure: Figure<'_>, axis: &Axis, ranked: &Ranked) -> String {
    let Figure { id, title, unit, .. } = figure;
    let peak = ranked.peak();
    if peak == 0 {
        return note("There is nothing to draw.");
    }
    let top = format!("The top of the chart is {} in {}", text(&unit.shown(peak)), duration(axis.offset(1)));
    let names: Vec<String> = ranked.shown.iter().map(|(name, _)| text(name)).collect();
    let description = format!("{top}. From the most to the least: {}.", names.join(", "));
    let hover = of_stack(axis, ranked, unit);
    let svg = stacked(Words { id, title, description: &description, hover: &hover }, ranked, peak);
    let numbers = details("Numbers of this chart", &numbers(figure, axis, ranked));
    let legend = legend(ranked);
    format!("<figure>\n<figcaption>{title}. {top}.</figcaption>\n{svg}{}{legend}{numbers}</figure>\n", scale(axis))
}

/// What is left out of a list of names, and counted.
pub(super) fn rest(ranked: &Ranked) -> Option<String> {
    let rest = ranked.rest.as_ref()?;
    let others = if rest.is_open { ", and others" } else { "" };
    Some(format!("and {} more{others}", Count(rest.names as u64)))
}

fn legend(ranked: &Ranked) -> String {
    let mut items = String::new();
    for ((name, _), color) in ranked.shown.iter().zip(0..) {
        let _ = writeln!(items, "<li><i class=\"c{color}\"></i>{}</li>", text(name));
    }
    if let Some(rest) = rest(ranked) {
        let _ = writeln!(items, "<li><i class=\"c{}\"></i>{}</li>", PALETTE.len() - 1, text(&rest));
    }
    format!("<ul class=\"legend\">\n{items}</ul>\n")
}

/// The numbers of a chart: a row for each name, a column for each slice of the time.
fn numbers(figure: Figure<'_>, axis: &Axis, ranked: &Ranked) -> String {
    let begins: Vec<String> = (0..SLICES).map(|slice| format!("+{}", duration(axis.offset(slice * PARTS)))).collect();
    let mut heads = vec![figure.things, "in all"];
    heads.extend(begins.iter().map(String::as_str));
    let row = |name: &str, bins: &[u64]| {
        let slices: Vec<u64> =
            bins.chunks(PARTS).map(|parts| parts.iter().fold(0, |sum: u64, x| sum.saturating_add(*x))).collect();
        let all = slices.iter().fold(0_u64, |sum, slice| sum.saturating_add(*slice));
        let amounts = [all].into_iter().chain(slices).map(|amount| Cell::number(&figure.unit.shown(amount)));
        [Cell::text(name)].into_iter().chain(amounts).collect::<Vec<Cell>>()
    };
    let mut rows: Vec<Vec<Cell>> = ranked.shown.iter().map(|(name, amounts)| row(name, &amounts.bins)).collect();
    rows.extend(ranked.rest.iter().zip(rest(ranked)).map(|(more, name)| row(&name, &more.amounts.bins)));
    table(&format!("{}: amounts by time from the beginning", figure.title), &heads, &rows)
}

#[cfg(test)]
mod tests {
    use super::super::tally::Tally;
    use super::*;

    #[test]
    fn shares_are_exact_to_a_hundredth() {
        assert_eq!(
            (share(1, 3), share(2, 2), share(0, 5), share(1, 100_000)),
            ("33.33 %".into(), "100.00 %".into(), "0.00 %".into(), "< 0.01 %".into())
        );
        assert_eq!((share(0, 0), share(u64::MAX, u64::MAX)), ("–".to_owned(), "100.00 %".to_owned()));
    }

    #[test]
    fn numbers_behind_a_chart_are_those_of_slices() {
        let mut tally = Tally::<String>::default();
        tally.of("a").count_one(9);
        tally.of("a").draw(19, 4);
        tally.of("a").draw(20, 5);
        let figure = Figure { id: "x", title: "T", things: "processes", unit: Unit::Things("samples") };
        let numbers = numbers(figure, &Axis::new(0, 1599), &tally.ranked(1));
        assert!(numbers.contains(">a</th><td class=\"n\">9 samples</td><td class=\"n\">4 samples</td><td class=\"n\">5 samples</td><td class=\"n\">0 samples</td>"), "{numbers}");
        assert!(numbers.contains("<th scope=\"col\" class=\"n\">+200 ns</th>"), "{numbers}");
    }

    #[test]
    fn a_rest_is_counted() {
        let mut tally = Tally::<String>::default();
        ["a", "b", "c"].iter().for_each(|name| tally.of(*name).count_one(1));
        assert_eq!(rest(&tally.ranked(1)).as_deref(), Some("and 2 more"));
    }

    #[test]
    fn a_moment_counts_from_the_first_event_on() {
        let axis = Axis::new(1_000_000_000, 2_000_000_000);
        assert_eq!(moment(&axis, 1_000_000_000), "+0 ns");
        assert_eq!(moment(&axis, 2_500_000_000), "+1.5 s");
        assert_eq!(moment(&axis, 0), rfc3339(0));
        assert_eq!(moment(&axis, i64::MIN), rfc3339(i64::MIN));
    }
}
