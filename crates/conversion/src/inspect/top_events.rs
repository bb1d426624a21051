//! Which events a trace has most of, provider by provider.

use std::cmp::Reverse;
use std::collections::HashMap;

use serde::Serialize;

/// Events of a provider that are listed one by one.
const MOST_EVENTS: usize = 10;

/// The events of a provider.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct TopEvents {
    /// Those that it has most of, by name.
    pub top_events: Vec<NamedEvents>,
    /// How many events it has, by name.
    pub distinct_events: u64,
}

/// Events of one name.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct NamedEvents {
    /// The name, or what stands for it: `107 v0`, for classic events `opcode 12 v2`, for messages the number.
    pub event: String,
    /// How many there are.
    pub events: u64,
}

impl TopEvents {
    /// Adds up shapes, of which several may have one name.
    pub fn of(shapes: impl Iterator<Item = (String, u64)>) -> TopEvents {
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
}
