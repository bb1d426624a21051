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
use super::zoom::Slice;

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
    let begin = match axis.moment(0) {
        0 => "0".to_owned(),
        begin => format!("+{}", duration(begin)),
    };
    let middle = duration(axis.moment(BINS / 2));
    format!(
        "<div class=\"scale\" aria-hidden=\"true\"><span>{begin}</span><span>+{middle}</span><span>+{}</span></div>\n",
        duration(axis.moment(0).saturating_add(axis.length()))
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
    let colors: Vec<usize> = (0..ranked.shown.len()).collect();
    colored(figure, axis, ranked, &colors, "")
}

/// The same with a colour for each name, and something below the axis of the time, which is HTML.
fn colored(figure: Figure<'_>, axis: &Axis, ranked: &Ranked, colors: &[usize], below: &str) -> String {
    let Figure { id, title, unit, .. } = figure;
    let peak = ranked.peak();
    if peak == 0 {
        return note("There is nothing to draw.");
    }
    let top = format!("The top of the chart is {} in {}", text(&unit.shown(peak)), duration(axis.offset(1)));
    let names: Vec<String> = ranked.shown.iter().map(|(name, _)| text(name)).collect();
    let description = format!("{top}. From the most to the least: {}.", names.join(", "));
    let hover = of_stack(axis, ranked, unit);
    let svg = stacked(Words { id, title, description: &description, hover: &hover }, ranked, colors, peak);
    let numbers = details("Numbers of this chart", &numbers(figure, axis, ranked));
    let legend = legend(ranked, colors);
    format!(
        "<figure>\n<figcaption>{title}. {top}.</figcaption>\n{svg}{}{below}{legend}{numbers}</figure>\n",
        scale(axis)
    )
}

/// A chart whose time leads to finer ones: below its axis are links to slices, each with a chart and a table of its own.
pub(super) fn zoomed(figure: Figure<'_>, axis: &Axis, ranked: &Ranked, slices: &[Slice]) -> String {
    if slices.iter().all(|slice| slice.ranked.peak() == 0) {
        return self::figure(figure, axis, ranked);
    }
    let Figure { id, title, .. } = figure;
    let links = slices.iter().zip(0..).fold(String::new(), |mut links, (slice, number)| {
        let begin = duration(slice.axis.moment(0));
        let _ = writeln!(links, "<a href=\"#{id}-slice-{number}\" title=\"{}\">+{begin}</a>", span(&slice.axis));
        links
    });
    let ruler =
        format!("<nav class=\"ruler\" aria-label=\"{title}: slices of the time, by their begin\">\n{links}</nav>\n");
    let colors: Vec<usize> = (0..ranked.shown.len()).collect();
    let whole = colored(figure, axis, ranked, &colors, &ruler);
    let charts: String = (0..slices.len()).map(|number| slice(figure, ranked, slices, number)).collect();
    format!("<div class=\"zoom\" id=\"{id}-whole\">\n{whole}{charts}</div>\n")
}

/// From when to when a slice is.
fn span(axis: &Axis) -> String {
    format!("+{} to +{}", duration(axis.moment(0)), duration(axis.moment(BINS)))
}

/// A slice with its chart, and links to those beside it.
fn slice(whole: Figure<'_>, ranked: &Ranked, slices: &[Slice], number: usize) -> String {
    let Some(Slice { axis, ranked: own }) = slices.get(number) else { return String::new() };
    let (id, from_to) = (whole.id, span(axis));
    let (name, title) = (format!("{id}-{number}"), format!("{}, {from_to}", whole.title));
    let link = |word: &str, number: Option<usize>| {
        let number = number.filter(|number| *number < slices.len());
        number.map_or_else(String::new, |number| format!("<a href=\"#{id}-slice-{number}\">{word}</a>\n"))
    };
    let (before, behind) = (link("earlier", number.checked_sub(1)), link("later", number.checked_add(1)));
    let chart = colored(Figure { id: &name, title: &title, ..whole }, axis, own, &colors_of(ranked, own), "");
    format!(
        "<div class=\"slice\" id=\"{id}-slice-{number}\">\n<h3>{from_to}</h3>\n<p class=\"steps\">{before}{behind}\
         <a href=\"#{id}-whole\">all of the time</a></p>\n{chart}</div>\n"
    )
}

/// Colours of the names of a slice: those that they have in the whole; names that it does not list have others.
fn colors_of(whole: &Ranked, slice: &Ranked) -> Vec<usize> {
    let own = |name: &str| whole.shown.iter().position(|(other, _)| other == name);
    let taken: Vec<usize> = slice.shown.iter().filter_map(|(name, _)| own(name)).collect();
    let mut free = (0..PALETTE.len() - 1).rev().filter(|color| !taken.contains(color));
    let color = |(name, _): &(String, _)| own(name).or_else(|| free.next()).unwrap_or(PALETTE.len() - 1);
    slice.shown.iter().map(color).collect()
}

/// What is left out of a list of names, and counted.
pub(super) fn rest(ranked: &Ranked) -> Option<String> {
    let rest = ranked.rest.as_ref()?;
    let others = if rest.is_open { ", and others" } else { "" };
    Some(format!("and {} more{others}", Count(rest.names as u64)))
}

fn legend(ranked: &Ranked, colors: &[usize]) -> String {
    let mut items = String::new();
    for ((name, _), color) in ranked.shown.iter().zip(colors) {
        let _ = writeln!(items, "<li><i class=\"c{color}\"></i>{}</li>", text(name));
    }
    if let Some(rest) = rest(ranked) {
        let _ = writeln!(items, "<li><i class=\"c{}\"></i>{}</li>", PALETTE.len() - 1, text(&rest));
    }
    format!("<ul class=\"legend\">\n{items}</ul>\n")
}

/// The numbers of a chart: a row for each name, a column for each slice of the time.
fn numbers(figure: Figure<'_>, axis: &Axis, ranked: &Ranked) -> String {
    let begins: Vec<String> = (0..SLICES).map(|slice| format!("+{}", duration(axis.moment(slice * PARTS)))).collect();
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
    use super::super::zoom::Zoom;
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
    fn a_name_keeps_its_colour_in_a_slice() {
        let ranked = |names: &[&str]| {
            let mut tally = Tally::<String>::default();
            names.iter().zip((0..99).rev()).for_each(|(name, weight)| tally.of(*name).count_one(weight));
            tally.ranked(12)
        };
        let whole = ranked(&["a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l"]);
        assert_eq!(colors_of(&whole, &ranked(&["c", "x", "l", "y", "a"])), [2, 10, 11, 9, 0]);
    }

    #[test]
    fn a_chart_leads_to_its_slices() {
        let axis = Axis::new(0, 3199);
        let (mut tally, mut zoom) = (Tally::<String>::default(), Zoom::new(&axis, 2));
        tally.of("a").draw(3, 7);
        zoom.spread(&"a".to_owned(), 60, 67);
        let figure = Figure { id: "x", title: "T", things: "processes", unit: Unit::Time };
        let html = zoomed(figure, &axis, &tally.ranked(1), &zoom.ranked(1));
        assert!(
            html.contains(
                "title=\"+0 ns to +1.6 µs\">+0 ns</a>\n<a href=\"#x-slice-1\" title=\"+1.6 µs to +3.2 µs\">+1.6 µs</a>\n</nav>"
            ),
            "{html}"
        );
        assert!(
            html.contains("<div class=\"slice\" id=\"x-slice-0\">") && html.contains("aria-labelledby=\"t-x-0 d-x-0\""),
            "{html}"
        );
        assert!(html.contains("<h3>+1.6 µs to +3.2 µs</h3>\n<p class=\"steps\"><a href=\"#x-slice-0\">earlier</a>\n<a href=\"#x-whole\">"), "{html}");
        assert_eq!(html.matches("There is nothing to draw.").count(), 1);
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
