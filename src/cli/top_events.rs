//! Which events a trace has most of, provider by provider.

use base::readable::count::{Count, counted};
use base::readable::share::share;
use conversion::inspect::{NamedEvents, TopEvents};

use super::fold::Width;
use super::text_table::{Align, TextTable};

/// Events of a provider that a page shows; the rest is a number.
const SHOWN_EVENTS: usize = 3;

/// Providers that a page shows; the rest is a number.
const SHOWN_PROVIDERS: usize = 10;

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
            table.row([std::mem::take(&mut provider), name, Count(events).to_string(), share(events, *all)]);
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
