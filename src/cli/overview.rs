//! `inspect` of many inputs: a line each.

use base::readable::count::{ByteCount, Count, counted};
use base::readable::share::share;
use conversion::inspect::Inspection;

use super::fold::Width;
use super::page::span;
use super::text_table::{Align, TextTable};

/// Providers that a line names, those with most events.
const TOP: usize = 3;

/// The lines of traces, in their order.
#[derive(Debug)]
pub(super) struct Overview(TextTable);

impl Overview {
    pub(super) fn new() -> Self {
        Overview(TextTable::new([
            ("TRACE", Align::Left),
            ("SIZE", Align::Right),
            ("SPAN", Align::Right),
            ("EVENTS", Align::Right),
            ("LOST", Align::Left),
            ("DECODABLE", Align::Right),
            ("MOST EVENTS", Align::Left),
        ]))
    }

    pub(super) fn add(&mut self, inspection: &Inspection) {
        let top = inspection.providers.iter().take(TOP).map(|provider| provider.dataset.as_str());
        self.0.row([
            inspection.trace.clone(),
            ByteCount(inspection.files.iter().map(|file| file.size).sum()).to_string(),
            inspection.time.ns().map(span).unwrap_or_default(),
            Count(inspection.events).to_string(),
            lost(inspection),
            share(inspection.decodable_events, inspection.events),
            top.collect::<Vec<_>>().join(", "),
        ]);
    }

    pub(super) fn page(&self, width: Width) -> String {
        self.0.render(width)
    }
}

/// What is known to be lost, in a few words: `-`, `12 events`, `at least 1 buffer`, `unknown`.
fn lost(inspection: &Inspection) -> String {
    let totals = || inspection.files.iter().map(|file| &file.loss.totals);
    let is_unknown = totals().any(|totals| totals.counts.unknown_because.is_some());
    let events = (totals().map(|totals| totals.known_events).sum(), "events");
    let buffers = (totals().map(|totals| totals.known_buffers).sum(), "buffers");
    let known = [events, buffers].into_iter().filter(|(count, _)| *count > 0).map(|(count, what)| counted(count, what));
    let known = known.collect::<Vec<_>>().join(", ");
    match (known.is_empty(), is_unknown) {
        (true, true) => "unknown".to_owned(),
        (true, false) if totals().any(|totals| !totals.gaps.is_empty()) => "gaps".to_owned(),
        (true, false) => "-".to_owned(),
        (false, true) => format!("at least {known}"),
        (false, false) => known,
    }
}
