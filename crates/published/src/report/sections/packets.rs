//! Packets on their way through a machine.

use base::readable::count::{ByteCount, Count, counted};

use super::super::facts::Facts;
use super::super::html::{Section, note, table};
use super::super::packets::Packets;
use super::super::tally::Amounts;
use super::rows::rows;

/// Packets by who recorded them, by component, and drops by reason; `None` where none is recorded.
pub(in super::super) fn packets(facts: &Facts) -> Option<Section> {
    let Some(Packets { by_source, by_component, drops, left_out }) = &facts.packets else { return None };
    let lead = format!(
        "<p>{} of {}, of which {} were dropped; {} of them.</p>\n",
        counted(by_source.counter(0), "packets"),
        ByteCount(by_source.counter(1)),
        Count(by_source.counter(2)),
        counted(by_source.counter(3), "reports")
    );
    let of_source = |amounts: &Amounts| {
        let [packets, bytes, dropped, reports, ..] = amounts.counters;
        vec![
            Count(packets).to_string(),
            ByteCount(bytes).to_string(),
            Count(dropped).to_string(),
            Count(reports).to_string(),
        ]
    };
    let of_component = |amounts: &Amounts| {
        let [reports, bytes, drops, ..] = amounts.counters;
        vec![Count(reports).to_string(), ByteCount(bytes).to_string(), Count(drops).to_string()]
    };
    let heads = ["recorded by", "packets", "bytes", "dropped", "reports"];
    let mut content = lead + &table("Packets by who recorded them", &heads, &rows(by_source, of_source));
    content += &note(
        "pktmon reports a packet once for each component that sees it; its numbers say which reports are of one packet, whose bytes count \
         once here. Without them, and of NDIS, every report is a packet.",
    );
    if by_source.counter(4) > 0 {
        content += &note(&format!("The size of {} is not known.", counted(by_source.counter(4), "packets")));
    }
    let heads = ["component or interface", "reports", "bytes", "drops"];
    content += "<h3>Where packets were seen</h3>\n";
    content += &table("Reports of packets by component", &heads, &rows(by_component, of_component));
    if drops.counter(0) > 0 {
        let cells = |amounts: &Amounts| vec![Count(amounts.weight).to_string()];
        content += "<h3>Drops</h3>\n";
        content += &table("Drops by reason and component", &["reason and component", "drops"], &rows(drops, cells));
    }
    if *left_out > 0 {
        let reports = counted(*left_out, "reports");
        content += &note(&format!("{reports} had no room in this report: each counts as a packet."));
    }
    Some(Section::new("packets", "Packets", content))
}
