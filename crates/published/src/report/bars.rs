//! Call paths as bars in bars: each is as wide as what it stands for, and a link on it makes it as wide as the chart.

use std::fmt::Write as _;

use super::call_tree::{Bar, BarLabel};
use super::figures::share;
use super::flame::Flame;
use super::html::text;
use super::labels::LabelKind;
use super::unit::Unit;

/// Bars that are drawn of one chart, without those that stand for several.
const MOST_BARS: usize = 1500;
/// Bytes of one chart, so that texts of a trace do not make a page longer than it may be.
const MOST_BYTES: usize = 400 << 10;

/// What a chart of call paths says.
#[derive(Clone, Copy, Debug)]
pub(super) struct BarChart<'a> {
    /// Its name among those of the page.
    pub id: &'a str,
    /// What it shows, in words of the program.
    pub title: &'a str,
    /// What all of it is.
    pub all: &'a str,
    /// What amounts are.
    pub unit: Unit,
}

/// The chart: of the widest paths, as many as there is room for.
pub(super) fn bar_chart(chart: BarChart<'_>, flame: &Flame) -> String {
    let mut most = MOST_BARS;
    loop {
        let html = drawn(chart, flame, &flame.tree.bars(most));
        if html.len() <= MOST_BYTES || most <= 1 {
            return html;
        }
        most /= 2;
    }
}

fn drawn(chart: BarChart<'_>, flame: &Flame, bars: &[Bar]) -> String {
    let levels = bars.iter().map(|bar| bar.depth).max().unwrap_or(0) + 1;
    let mut html = format!(
        "<div class=\"flame\" tabindex=\"0\" role=\"group\" aria-label=\"{}\">\n<div style=\"height:calc({levels} * 1.25rem)\">",
        text(chart.title)
    );
    let mut open = 0;
    for (bar, number) in bars.iter().zip(0..) {
        (bar.depth..open).for_each(|_| html.push_str("</div>"));
        html.push('\n');
        html.push_str(&element(chart, flame, *bar, number));
        open = bar.depth + 1;
    }
    (0..open).for_each(|_| html.push_str("</div>"));
    html + "\n</div>\n</div>\n"
}

/// The element of a bar, left open for what it calls.
fn element(chart: BarChart<'_>, flame: &Flame, bar: Bar, number: usize) -> String {
    let shown = |name: &str| {
        let amount = text(&chart.unit.shown(bar.weight));
        format!("{}: {amount}, {}", text(name), text(&share(bar.weight, flame.tree.weight())))
    };
    let link = |class: &str, name: &str| {
        let id = chart.id;
        format!(
            "<div class=\"b {class}\" id=\"{id}-{number}\"{}><a href=\"#{id}-{number}\" title=\"{}\"></a>",
            place(bar),
            shown(name)
        )
    };
    match bar.label {
        BarLabel::All => link("all", chart.all),
        BarLabel::One(label) => link(class(flame.labels.kind(label)), flame.labels.text(label)),
        BarLabel::More { count, is_open } => {
            let name = match (count, is_open) {
                (0, _) => "… and more".to_owned(),
                (count, false) => format!("… and {count} more"),
                (count, true) => format!("… and {count} more, and others"),
            };
            format!("<div class=\"b\"{}><span title=\"{}\"></span>", place(bar), shown(&name))
        }
    }
}

/// Where a bar is in that above it: cut to a ten thousandth of a percent, so that it ends where the next one begins.
fn place(bar: Bar) -> String {
    const PARTS: u128 = 1_000_000;
    let part = |amount: u64| u128::from(amount) * PARTS / u128::from(bar.of.max(1));
    let (begin, end) = (part(bar.begin), part(bar.begin.saturating_add(bar.weight)));
    let percent = |parts: u128| {
        let digits = format!("{}.{:04}", parts / 10_000, parts % 10_000);
        digits.trim_end_matches('0').trim_end_matches('.').to_owned()
    };
    let mut style = String::new();
    if begin > 0 {
        // Writing to a string cannot fail.
        let _ = write!(style, "left:{}%;", percent(begin));
    }
    format!(" style=\"{style}width:{}%\"", percent(end.saturating_sub(begin)))
}

fn class(kind: LabelKind) -> &'static str {
    match kind {
        LabelKind::Process => "process",
        LabelKind::Kernel | LabelKind::KernelModule => "kernel",
        LabelKind::Program | LabelKind::ProgramModule => "program",
        LabelKind::Managed => "managed",
        LabelKind::Unknown => "unknown",
    }
}

#[cfg(test)]
mod tests {
    use super::super::call_tree::CallTree;
    use super::super::labels::Labels;
    use super::*;

    #[test]
    fn long_names_make_fewer_bars() {
        let (mut labels, mut tree) = (Labels::default(), CallTree::default());
        for number in 0..2000_u64 {
            let name = format!("{number}{}", "\u{202e}".repeat(200));
            tree.add([labels.number(&name, LabelKind::Program)], 5000 - number);
        }
        tree.settle(|label| labels.text(label));
        let all = tree.weight();
        let flame = Flame { tree, labels, walked: all, by_own: vec![], by_all: vec![], functions: 0, left_out: 0 };
        let chart = BarChart { id: "x", title: "T", all: "all", unit: Unit::Things("samples") };
        let html = bar_chart(chart, &flame);
        assert!(html.len() <= MOST_BYTES, "{}", html.len());
        // Half of 1,500, and half of that, until they fit: without that of all they are 186.
        let drawn = 186;
        assert_eq!(html.matches("class=\"b program\"").count(), drawn);
        assert_eq!(html.matches(&format!("… and {} more: ", 2000 - drawn)).count(), 1);
        assert_eq!(html.matches("<div").count(), html.matches("</div>").count());
    }

    #[test]
    fn a_bar_ends_where_the_next_begins() {
        let t = |begin, weight, of, expected: &str| {
            let bar = Bar { depth: 1, label: BarLabel::All, begin, weight, of };
            assert_eq!(place(bar), format!(" style=\"{expected}\""));
        };
        t(0, 5, 5, "width:100%");
        t(0, 1, 3, "width:33.3333%");
        t(1, 1, 3, "left:33.3333%;width:33.3333%");
        t(2, 1, 3, "left:66.6666%;width:33.3334%");
        t(1, 1, 4, "left:25%;width:25%");
        t(u64::MAX - 1, 1, u64::MAX, "left:99.9999%;width:0.0001%");
        t(0, 0, 0, "width:0%");
    }
}
