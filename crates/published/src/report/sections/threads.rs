//! Which processes ran, and what kept their threads from running.

use base::readable::count::{Count, counted};
use base::readable::time::duration;

use super::super::facts::Facts;
use super::super::figures::{Figure, figure, moment, zoomed};
use super::super::html::{Cell, Section, and_more, note, table};
use super::super::processes::{Named, Processes};
use super::super::unit::Unit;
use super::rows::rows;

/// How long threads were off the processors; `None` without context switches.
pub(in super::super) fn waits(facts: &Facts) -> Option<Section> {
    let Some(waits) = &facts.waits else { return None };
    let ranked = &waits.by_process;
    let words = Figure { id: "waits", title: "Threads that waited, by process", things: "processes", unit: Unit::Time };
    let lead = format!(
        "<p>{} of {} in all, from leaving a processor until running again; and {} of {} in which a thread could have run on.</p>\n",
        counted(ranked.counter(0), "waits"),
        duration(ranked.weight()),
        counted(ranked.counter(1), "preemptions"),
        duration(ranked.counter(2))
    );
    let rows = rows(ranked, |amounts| {
        let [waits, preemptions, preempted, ..] = amounts.counters;
        vec![
            duration(amounts.weight),
            Count(waits).to_string(),
            duration(amounts.largest),
            Count(preemptions).to_string(),
            duration(preempted),
        ]
    });
    let heads = ["process", "waited", "waits", "longest", "preemptions", "preempted for"];
    let left_out = match waits.left_out {
        0 => String::new(),
        more => note(&format!("{} had no room in this report.", counted(more, "further waits"))),
    };
    let chart = zoomed(words, &facts.axis, ranked, &waits.slices);
    let content = format!("{lead}{chart}{}{left_out}", table("Waits by process", &heads, &rows));
    Some(Section::new("waits", "Waits by process", content))
}

/// How long .NET kept threads stopped; `None` where it did not.
pub(in super::super) fn pauses(facts: &Facts) -> Option<Section> {
    let Some(pauses) = &facts.pauses else { return None };
    let ranked = &pauses.by_process;
    let words =
        Figure { id: "pauses", title: "Time that threads of .NET were stopped", things: "processes", unit: Unit::Time };
    let longest = pauses.longest.first().map_or(0, |pause| pause.length);
    let lead = format!(
        "<p>{} of {} in all; the longest took {}.</p>\n",
        counted(ranked.counter(0), "pauses"),
        duration(ranked.weight()),
        duration(longest)
    );
    let by_process = rows(ranked, |amounts| vec![Count(amounts.counters[0]).to_string(), duration(amounts.weight)]);
    let longest = pauses.longest.iter().map(|pause| {
        vec![
            Cell::text(&pause.process),
            Cell::number(&duration(pause.length)),
            Cell::number(&moment(&facts.axis, pause.from)),
            Cell::text(pause.reason.as_deref().unwrap_or("–")),
        ]
    });
    let longest: Vec<Vec<Cell>> = longest.collect();
    let left_out = match pauses.left_out {
        0 => String::new(),
        more => note(&format!("{} had no room in this report.", counted(more, "further marks of pauses"))),
    };
    let content = format!(
        "{lead}{}{}<h3>Longest pauses</h3>\n{}{left_out}",
        figure(words, &facts.axis, ranked),
        table("Pauses by process", &["process", "pauses", "in all"], &by_process),
        table("Longest pauses", &["process", "length", "at", "reason"], &longest)
    );
    Some(Section::new("pauses", "Pauses of .NET", content))
}

/// Which processes ran; `None` where the trace names none.
pub(in super::super) fn processes(facts: &Facts) -> Option<Section> {
    let Processes { shown, more, left_out, defunct } = &facts.processes;
    if shown.is_empty() {
        return None;
    }
    let rows: Vec<Vec<Cell>> = shown.iter().map(of_name).collect();
    let mut content = table("Processes by name", &["process", "processes", "started", "ended", "ids"], &rows);
    content += &and_more(*more, "names");
    if *left_out > 0 {
        content += &note(&format!("{} had no room in this report.", counted(*left_out, "processes of further names")));
    }
    if *defunct > 0 {
        content += &note(&format!("{} had ended before the trace began.", counted(*defunct, "further processes")));
    }
    Some(Section::new("processes", "Processes", content))
}

fn of_name(named: &Named) -> Vec<Cell> {
    let mut ids: Vec<String> = named.ids.iter().map(i64::to_string).collect();
    if named.count > named.ids.len() as u64 {
        ids.push("…".to_owned());
    }
    vec![
        Cell::text(named.name.as_deref().unwrap_or("no name recorded")),
        Cell::number(&Count(named.count)),
        Cell::number(&Count(named.started)),
        Cell::number(&Count(named.ended)),
        Cell::text(ids.join(", ")),
    ]
}
