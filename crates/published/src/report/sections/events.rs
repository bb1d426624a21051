//! Events by name, by provider and over time, and which are not decoded.

use std::fmt::Write as _;

use base::readable::count::{Count, counted};

use super::super::charts::{Words, row};
use super::super::facts::Facts;
use super::super::figures::{rest, scale, share};
use super::super::hover::of_row;
use super::super::html::{Cell, Section, and_more, note, records, table, text};
use super::super::providers::{Event, Providers};

/// All of that.
pub(in super::super) fn events(facts: &Facts) -> Section {
    let content =
        [by_name(&facts.providers), by_provider(&facts.providers), timeline(facts), undecoded(&facts.providers)];
    Section::new("events", "Events", content.concat())
}

fn by_name(providers: &Providers) -> String {
    let all = providers.by_dataset.weight();
    let rows: Vec<Vec<Cell>> = providers.by_event.iter().map(|event| of_name(event, all)).collect();
    let heads = ["event", "events", "share", "decoded", "provider"];
    format!("<h3>By name</h3>\n{}{}", table("Events by name", &heads, &rows), and_more(providers.more_events, "names"))
}

fn of_name(event: &Event, all: u64) -> Vec<Cell> {
    vec![
        Cell::text(&event.name),
        Cell::number(&Count(event.rows)),
        Cell::Number(share(event.rows, all)),
        Cell::Number(share(event.whole, event.rows)),
        Cell::text(&event.dataset),
    ]
}

fn by_provider(providers: &Providers) -> String {
    let ranked = &providers.by_dataset;
    let all = ranked.weight();
    let rows = super::rows::rows(ranked, |amounts| {
        let [whole, ..] = amounts.counters;
        vec![Count(amounts.weight).to_string(), share(amounts.weight, all), share(whole, amounts.weight)]
    });
    format!("<h3>By provider</h3>\n{}", table("Events by provider", &["provider", "events", "share", "decoded"], &rows))
}

/// Events of each provider over time.
fn timeline(facts: &Facts) -> String {
    let ranked = &facts.providers.by_dataset;
    let rest = rest(ranked);
    let others = ranked.rest.iter().zip(&rest).map(|(rest, name)| (name.as_str(), &rest.amounts));
    let mut rows = String::new();
    for ((name, amounts), number) in
        ranked.shown.iter().map(|(name, amounts)| (name.as_str(), amounts)).chain(others).zip(0..)
    {
        let (name, count) = (text(name), counted(amounts.weight, "events"));
        let id = format!("timeline-{number}");
        let title = format!("Events of {name} over time");
        let hover = of_row(&facts.axis, &amounts.bins, "events");
        let svg = row(Words { id: &id, title: &title, description: &count, hover: &hover }, &amounts.bins, 0);
        let _ = write!(rows, "<div><div class=\"head\"><span>{name}</span><span>{count}</span></div>\n{svg}</div>\n");
    }
    let outside = match ranked.counter(1) {
        0 => String::new(),
        outside => note(&format!("{} before the window that the ring kept, or behind it.", counted(outside, "events"))),
    };
    let lead = "<h3>Over time</h3>\n<p>Each row has a scale of its own: its highest mark is its busiest time.</p>\n";
    format!("{lead}<div class=\"rows\">\n{rows}</div>\n{}{outside}", scale(&facts.axis))
}

fn undecoded(providers: &Providers) -> String {
    let Providers { undecoded, more_undecoded, .. } = providers;
    let mut content = "<h3>Not decoded</h3>\n".to_owned();
    if undecoded.is_empty() {
        return content + &note("Every event is decoded whole.");
    }
    let rows = undecoded.iter().map(|event| {
        vec![
            Cell::text(&event.dataset),
            Cell::text(&event.name),
            Cell::number(&Count(event.undecoded())),
            Cell::text(event.hint.as_deref().unwrap_or("–")),
        ]
    });
    let rows: Vec<Vec<Cell>> = rows.collect();
    content += &records("Events that are not decoded", &["provider", "event", "rows", "what would help"], &rows);
    content + &and_more(*more_undecoded, "events")
}
