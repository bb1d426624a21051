//! What is asked first of a trace.

use base::calendar::rfc3339;
use base::readable::count::{Count, counted};
use base::readable::time::duration;

use super::facts::Facts;
use super::figures::share;
use super::sections::lost_in_all;

/// The first and the last time.
pub(super) fn when(facts: &Facts) -> String {
    let (first, last) = (facts.axis.first(), facts.axis.last());
    match facts.recorded.span {
        Some(_) => format!("{} to {}", rfc3339(first), rfc3339(last)),
        None => "without an event".to_owned(),
    }
}

/// What is asked first of a trace: what it is, and how much.
pub(super) fn key_figures(facts: &Facts) -> [(&'static str, String); 6] {
    let events = facts.record.events;
    let is_whole = |kind: &str| kind.ends_with("/ok") || kind.ends_with("/padded");
    let decode = &facts.record.decode;
    let sum = |of: &dyn Fn(&str) -> bool| {
        decode.iter().filter(|(kind, _)| of(kind)).fold(0_u64, |sum, (_, rows)| sum.saturating_add(*rows))
    };
    let ranked = &facts.providers.by_dataset;
    let providers = ranked.shown.len() + ranked.rest.as_ref().map_or(0, |rest| rest.names);
    [
        ("Events", Count(events.written).to_string()),
        ("Length", duration(facts.axis.length())),
        ("Providers", Count(providers as u64).to_string()),
        ("Decoded", share(sum(&is_whole), sum(&|_| true))),
        ("Lost", lost_in_all(facts)),
        ("Damaged", damage(facts)),
    ]
}

/// What could not be read, and what is not there.
fn damage(facts: &Facts) -> String {
    let events = facts.record.events;
    let parts = [
        (events.damaged_bytes, "bytes", ""),
        (events.damaged, "events", ""),
        (facts.lanes.absent_buffers, "buffers", " missing"),
    ];
    let parts = parts.into_iter().filter(|(count, ..)| *count > 0);
    let parts: Vec<String> = parts.map(|(count, things, what)| counted(count, things) + what).collect();
    if parts.is_empty() { "nothing".to_owned() } else { parts.join(", ") }
}
