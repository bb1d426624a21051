//! The comparison as a page of HTML.

use std::fmt::Write as _;

use base::readable::count::counted;
use base::readable::time::duration;
use base::words::Words as _;

use super::super::document::document;
use super::super::html::{Cell, and_more, note, records, table, text};
use super::compared::{Comparison, MeasureRows, Row};
use super::side::ComparedTrace;

/// Rows of a measure that the page shows.
const MOST_ROWS: usize = 200;

/// The page of a comparison: HTML that asks for nothing else.
pub fn page(comparison: &Comparison) -> String {
    let mut body = String::from("<header>\n<h1>Traces compared</h1>\n");
    let _ = writeln!(
        body,
        "<p class=\"lead\">By {}, by second of the recordings.</p>\n</header>\n<main>",
        comparison.by.word()
    );
    body.push_str(&section("traces", "Traces", &traces(comparison)));
    for (number, measure) in comparison.measures.iter().enumerate() {
        body.push_str(&section(&format!("m{number}"), measure.measure.name(), &rows(measure)));
    }
    body.push_str("</main>\n");
    document("Traces compared", &body)
}

fn section(id: &str, heading: &str, content: &str) -> String {
    let heading = text(heading);
    format!("<section aria-labelledby=\"h-{id}\">\n<h2 id=\"h-{id}\">{heading}</h2>\n{content}</section>\n")
}

fn traces(comparison: &Comparison) -> String {
    let of = |side: &str, traces: &[ComparedTrace]| {
        let row = |trace: &ComparedTrace| {
            let unknown = || trace.unproven.as_ref().map(|_| "not known".to_owned());
            let lost = trace.lost.clone().or_else(unknown).unwrap_or_else(|| "nothing".to_owned());
            vec![
                Cell::text(side),
                Cell::text(trace.trace.as_str()),
                Cell::number(&duration(trace.length_ns)),
                Cell::text(lost),
            ]
        };
        traces.iter().map(row).collect::<Vec<_>>()
    };
    let rows = [of("A", &comparison.a), of("B", &comparison.b)].concat();
    let notes: String = comparison.notes.iter().map(|one| note(&text(one))).collect();
    table("Traces", &["side", "trace", "length", "lost"], &rows) + &notes
}

fn rows(measure: &MeasureRows) -> String {
    if let Some(because) = &measure.not_compared {
        return note(&format!("Not compared: {}.", text(because)));
    }
    let shown: Vec<Vec<Cell>> = measure.rows.iter().take(MOST_ROWS).map(|row| cells(measure, row)).collect();
    let heads = ["name", "A by second", "B by second", "change", "verdict"];
    let by_chance = match measure.tested {
        0 => String::new(),
        tested => {
            let tested = counted(tested as u64, "rows");
            note(&format!("{tested} tested: by chance about {:.1} would seem to differ.", measure.by_chance))
        }
    };
    records(measure.measure.name(), &heads, &shown)
        + &and_more(measure.rows.len().saturating_sub(MOST_ROWS), "rows")
        + &below_share(measure.small)
        + &by_chance
}

/// How many names are left out.
fn below_share(names: usize) -> String {
    if names == 1 { note("and 1 more name below the share") } else { and_more(names, "names below the share") }
}

fn cells(measure: &MeasureRows, row: &Row) -> Vec<Cell> {
    let verdict = match &row.because {
        Some(because) => format!("{}: {because}", row.verdict.word()),
        None => row.verdict.word().to_owned(),
    };
    vec![
        Cell::text(row.name.as_str()),
        Cell::number(&row.a.shown(measure.measure)),
        Cell::number(&row.b.shown(measure.measure)),
        Cell::number(&row.change()),
        Cell::text(verdict),
    ]
}
