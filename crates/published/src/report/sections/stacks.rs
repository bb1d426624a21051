//! Which functions took the time, and who called them.

use base::readable::count::{Count, counted};
use base::readable::time::duration;

use super::super::bars::{BarChart, bar_chart};
use super::super::facts::Facts;
use super::super::figures::share;
use super::super::flame::{Flame, FunctionSums};
use super::super::html::{Cell, Section, note, table, text};
use super::super::unit::Unit;

/// What a section of stacks says.
struct Words<'a> {
    chart: BarChart<'a>,
    /// How much of how much has a stack.
    walked: String,
    /// What the tables are called.
    captions: [&'a str; 2],
}

/// Samples by stack; `None` where none has one.
pub(in super::super) fn sample_stacks(facts: &Facts) -> Option<Section> {
    let flame = facts.sample_stacks.as_ref()?;
    let chart = BarChart {
        id: "sample-stacks-bar",
        title: "Samples by stack",
        all: "all samples of busy processors",
        unit: Unit::Things("samples"),
    };
    let captions = ["Samples in each function", "Samples in each function and what it calls"];
    let walked = format!("{} of {}", Count(flame.walked), counted(flame.tree.weight(), "samples"));
    Some(Section::new("sample-stacks", "CPU by stack", content(&Words { chart, walked, captions }, flame)))
}

/// Time of waits by stack; `None` where none has one.
pub(in super::super) fn wait_stacks(facts: &Facts) -> Option<Section> {
    let flame = facts.wait_stacks.as_ref()?;
    let chart = BarChart { id: "wait-stacks-bar", title: "Waits by stack", all: "all waits", unit: Unit::Time };
    let captions = ["Waits in each function", "Waits in each function and what it calls"];
    let walked = format!("{} of {} of waits", duration(flame.walked), duration(flame.tree.weight()));
    Some(Section::new("wait-stacks", "Waits by stack", content(&Words { chart, walked, captions }, flame)))
}

fn content(words: &Words<'_>, flame: &Flame) -> String {
    let Words { chart, walked, captions: [own, all] } = words;
    let id = chart.id;
    let shown = |amount| text(&chart.unit.shown(amount));
    let lead = format!(
        "<p>{walked} have a stack ({}). From the top: the process, then each function above those that it calls; a bar is as wide as \
         what it stands for, and what is its own has nothing below it. Choose a bar to make it as wide as the chart, and \
         <a href=\"#{id}-0\">the topmost</a> to see all.</p>\n",
        text(&share(flame.walked, flame.tree.weight())),
    );
    let left_out = match flame.left_out {
        0 => String::new(),
        left_out => note(&format!("{} have a stack that had no room in this report.", shown(left_out))),
    };
    let names = note(
        "“module!?” stands for all functions of a module whose names are not known; where they call each other, they are one bar. \
         A function that calls itself counts once in what it has with what it calls.",
    );
    let skip = format!("<a class=\"skip\" href=\"#{id}-functions\">Past the chart</a>\n");
    let tables = format!(
        "<h3 id=\"{id}-functions\">Functions by what is their own</h3>\n{}<h3>Functions with what they call</h3>\n{}",
        functions(chart, own, flame, &flame.by_own),
        functions(chart, all, flame, &flame.by_all)
    );
    format!("{lead}{skip}{}{left_out}{names}{tables}", bar_chart(*chart, flame))
}

fn functions(chart: &BarChart<'_>, caption: &str, flame: &Flame, functions: &[FunctionSums]) -> String {
    let weight = flame.tree.weight();
    let row = |sums: &FunctionSums| {
        let amounts = [sums.own, sums.all].map(|amount| [chart.unit.shown(amount), share(amount, weight)]);
        let cells = amounts.into_iter().flatten().map(Cell::Number);
        [Cell::text(flame.labels.text(sums.label))].into_iter().chain(cells).collect::<Vec<Cell>>()
    };
    let rows: Vec<Vec<Cell>> = functions.iter().map(row).collect();
    let more = match flame.functions {
        all if all > functions.len() => note(&format!("of {} functions", Count(all as u64))),
        _ => String::new(),
    };
    let heads = ["function", "its own", "share", "with what it calls", "share"];
    table(caption, &heads, &rows) + &more
}
