//! Who read, wrote, sent and received.

use base::readable::count::{ByteCount, Count, counted};
use base::readable::time::duration;

use super::super::facts::Facts;
use super::super::figures::{Figure, zoomed};
use super::super::html::{Section, note, table};
use super::super::tally::Ranked;
use super::super::unit::Unit;
use super::super::zoom::Slice;
use super::rows::rows;

/// A section on bytes that went two ways.
#[derive(Clone, Copy, Debug)]
struct Ways {
    figure: Figure<'static>,
    heading: &'static str,
    heads: [&'static str; 4],
    /// What the third counter counts.
    operations: &'static str,
    /// Whether the fourth counter is a time.
    has_time: bool,
}

const DISK: Ways = Ways {
    figure: Figure { id: "disk", title: "Bytes read and written by process", things: "processes", unit: Unit::Bytes },
    heading: "Disk by process",
    heads: ["process", "read", "written", "operations"],
    operations: "operations",
    has_time: true,
};

const NETWORK: Ways = Ways {
    figure: Figure {
        id: "network",
        title: "Bytes sent and received by process",
        things: "processes",
        unit: Unit::Bytes,
    },
    heading: "Network by process",
    heads: ["process", "sent", "received", "events"],
    operations: "events",
    has_time: false,
};

/// Who read and wrote disks; `None` where nobody is known to.
pub(in super::super) fn disk(facts: &Facts) -> Option<Section> {
    facts.disk.as_ref().map(|(ranked, slices)| bytes(facts, DISK, ranked, slices))
}

/// Who sent and received over TCP and UDP; `None` where nobody is known to.
pub(in super::super) fn network(facts: &Facts) -> Option<Section> {
    facts.network.as_ref().map(|ranked| bytes(facts, NETWORK, ranked, &[]))
}

fn bytes(facts: &Facts, ways: Ways, ranked: &Ranked, slices: &[Slice]) -> Section {
    let [_, there, back, _] = ways.heads;
    let lead = format!(
        "<p>{} {there} and {} {back} in {}.</p>\n",
        ByteCount(ranked.counter(0)),
        ByteCount(ranked.counter(1)),
        counted(ranked.counter(2), ways.operations)
    );
    let rows = rows(ranked, |amounts| {
        let [there, back, operations, took, timed, _] = amounts.counters;
        let mut cells = vec![ByteCount(there).to_string(), ByteCount(back).to_string(), Count(operations).to_string()];
        if ways.has_time {
            cells.push(took.checked_div(timed).map_or_else(|| "–".to_owned(), duration));
        }
        cells
    });
    let mut heads = ways.heads.to_vec();
    if ways.has_time {
        heads.push("mean time");
    }
    let unsized_ones = match ranked.counter(5) {
        0 => String::new(),
        more => note(&format!("The bytes of {} are not known.", counted(more, ways.operations))),
    };
    let chart = zoomed(ways.figure, &facts.axis, ranked, slices);
    let content = format!("{lead}{chart}{}{unsized_ones}", table(ways.figure.title, &heads, &rows));
    Section::new(ways.figure.id, ways.heading, content)
}
