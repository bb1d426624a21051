//! Which events a trace has most of, provider by provider.

use std::cmp::Reverse;
use std::collections::HashMap;

use base::readable::count::counted;
use base::readable::share::share;
use indicatif::HumanCount;
use serde::Serialize;

use super::fold::Width;
use super::text_table::{Align, TextTable};

/// Events of a provider that are told one by one.
const MOST_EVENTS: usize = 10;

/// Those of them that a page shows.
const SHOWN_EVENTS: usize = 3;

/// Providers that a page shows; the rest is a number.
const SHOWN_PROVIDERS: usize = 10;

/// The events of a provider.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub(super) struct TopEvents {
    /// Those that it has most of, by name.
    pub top_events: Vec<NamedEvents>,
    /// How many events it has, by name.
    pub distinct_events: u64,
}

/// Events of one name.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(super) struct NamedEvents {
    /// The name, or what stands for it: `107 v0`, for classic events `opcode 12 v2`, for messages the number.
    pub event: String,
    /// How many there are.
    pub events: u64,
}

impl TopEvents {
    /// Adds up shapes, of which several may have one name.
    pub(super) fn of(shapes: impl Iterator<Item = (String, u64)>) -> TopEvents {
        let mut sums = HashMap::<String, u64>::new();
        for (name, events) in shapes {
            let sum = sums.entry(name).or_default();
            *sum = sum.saturating_add(events);
        }
        let mut all: Vec<_> = sums.into_iter().map(|(event, events)| NamedEvents { event, events }).collect();
        let distinct_events = all.len() as u64;
        all.sort_by(|a, b| (Reverse(a.events), &a.event).cmp(&(Reverse(b.events), &b.event)));
        all.truncate(MOST_EVENTS);
        TopEvents { top_events: all, distinct_events }
    }
}

/// A table of some providers: the dataset of each, how many events it has, and which.
pub(super) fn table(providers: &[(&str, u64, &TopEvents)], width: Width) -> String {
    let mut table = TextTable::new([
        ("PROVIDER", Align::Left),
        ("EVENT", Align::Left),
        ("EVENTS", Align::Right),
        ("SHARE", Align::Right),
    ]);
    for (dataset, all, top) in providers.iter().take(SHOWN_PROVIDERS) {
        let mut rest = *all;
        let mut provider = (*dataset).to_owned();
        let mut row = |name: String, events: u64| {
            table.row([std::mem::take(&mut provider), name, HumanCount(events).to_string(), share(events, *all)]);
        };
        for NamedEvents { event, events } in top.top_events.iter().take(SHOWN_EVENTS) {
            row(event.clone(), *events);
            rest = rest.saturating_sub(*events);
        }
        match top.distinct_events.saturating_sub(SHOWN_EVENTS as u64) {
            0 => {}
            others => row(counted(others, "others"), rest),
        }
    }
    let more = match providers.len().saturating_sub(SHOWN_PROVIDERS) {
        0 => String::new(),
        more => format!("    and {}\n", counted(more as u64, "more providers")),
    };
    table.render(width) + &more
}

#[cfg(test)]
mod tests {
    use super::*;

    fn events(counts: &[(&str, u64)]) -> TopEvents {
        TopEvents::of(counts.iter().map(|&(name, events)| (name.to_owned(), events)))
    }

    #[test]
    fn shapes_of_one_name_are_added_up() {
        let top = events(&[("b", 2), ("a", 1), ("b", 3), ("c", 1)]);
        let named = |event: &str, events| NamedEvents { event: event.to_owned(), events };
        assert_eq!(
            top,
            TopEvents { top_events: vec![named("b", 5), named("a", 1), named("c", 1)], distinct_events: 3 }
        );
        let many: Vec<(String, u64)> = (0..30).map(|number| (format!("e{number}"), number)).collect();
        let top = TopEvents::of(many.into_iter());
        assert_eq!((top.top_events.len(), top.distinct_events), (MOST_EVENTS, 30));
        assert_eq!(top.top_events[0].event, "e29");
    }

    #[test]
    fn a_provider_has_some_lines_and_a_rest() {
        let (big, small) =
            (events(&[("Read", 60), ("Write", 30), ("Flush", 6), ("x", 3), ("y", 1)]), events(&[("z", 1)]));
        let table = table(&[("Disk", 100, &big), ("Other", 1, &small)], Width::UNBOUNDED);
        let expected = "  PROVIDER  EVENT     EVENTS  SHARE\n  \
                          Disk      Read          60  60.0%\n            \
                                    Write         30  30.0%\n            \
                                    Flush          6   6.0%\n            \
                                    2 others       4   4.0%\n  \
                          Other     z              1   100%\n";
        assert_eq!(table, expected);
    }
}
