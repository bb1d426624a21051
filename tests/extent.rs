//! Very wide tables, and very many of them, through the whole tool.

#![allow(clippy::unwrap_used, reason = "a test may stop at what should not happen")]

mod support;
mod synth;

use support::{START_NS, Table, convert};
use synth::*;

/// Those of every provider table, whatever its events are.
const COMMON_COLUMNS: usize = 39;

/// The payload columns of a row that have a value, as `name=value`.
fn payload_of(table: &Table, row: usize) -> Vec<String> {
    let cells = table.names.iter().zip(&table.rows[row]).skip(COMMON_COLUMNS);
    cells.filter(|(_, value)| *value != "-").map(|(name, value)| format!("{name}={value}")).collect()
}

#[test]
fn a_provider_of_1500_fields() {
    let found = convert(&wide(120, 1500).to_bytes());
    assert_eq!(found.datasets(), ["Kernel-EventTrace", "Synth.Wide"]);
    assert_eq!(found.counts(), (121, 121, 0, 0, 0));
    let table = found.events("Synth.Wide");
    assert_eq!((table.names.len(), table.rows.len()), (COMMON_COLUMNS + 1500, 120));
    assert_eq!(table.names[COMMON_COLUMNS - 1], "recovered");
    let names: Vec<String> = (0..1500).map(|n| format!("f{n:04}")).collect();
    assert_eq!(table.names[COMMON_COLUMNS..], names);
    // Fifty kinds of thirty fields take turns.
    let place = "timestamp_ns seq cpu event_name decode_source decode_status payload";
    for (row, expected) in [
        (0, format!("{}|1|0|Kind00|tracelogging|ok|-", START_NS + 20_000)),
        (117, format!("{}|118|3|Kind17|tracelogging|ok|-", START_NS + 118 * 20_000)),
    ] {
        assert_eq!(table.row(row, place), expected);
    }
    for row in 0..120 {
        assert_eq!(payload_of(&table, row).len(), 30, "row {row}");
    }
}

#[test]
fn each_field_has_its_own_column() {
    let table = convert(&wide(120, 1500).to_bytes()).events("Synth.Wide");
    let first = ["f0000=0", "f0001=-1", "f0002=2", "f0003=-3", "f0004=1", "f0005=text 5", "f0006=item 6", "f0007=7"];
    assert_eq!(payload_of(&table, 0)[..8], first);
    // Row 117 is of kind 17, whose fields are 510 to 539; field 510 has the value 627.
    let later = [
        "f0510=item 627",
        "f0511=628",
        "f0512=117",
        "f0513=-630",
        "f0514=631",
        "f0515=-632",
        "f0516=158.25",
        "f0517=text 34",
    ];
    assert_eq!(payload_of(&table, 117)[..8], later);
    // Row 99 is of kind 49, the last one.
    let last = ["f1496=59", "f1497=-1596", "f1498=1597", "f1499=-1598"];
    assert_eq!(payload_of(&table, 99)[26..], last);
}

#[test]
fn the_last_kind_has_what_remains() {
    let table = convert(&wide(4, 31).to_bytes()).events("Synth.Wide");
    assert_eq!(table.names.len(), COMMON_COLUMNS + 31);
    assert_eq!(table.lines("event_name f0030"), ["Kind00|-", "Kind01|item 31", "Kind00|-", "Kind01|item 33"]);
}

#[test]
fn a_thousand_providers() {
    let found = convert(&bulk(40_000, 1000, 4, 1).to_bytes());
    let datasets = found.datasets();
    // Three of the kernel's events, and one of the header event.
    assert_eq!(datasets.len(), 1000 + 3 + 1);
    let of = |start: &str| datasets.iter().filter(|name| name.starts_with(start)).count();
    assert_eq!((of("Kernel-"), of("Synth-Bulk-"), of("Synth.Bulk.")), (4, 500, 500));
    // Each of the 500 providers with a manifest logs it in one event.
    let rows: usize = datasets.iter().map(|dataset| found.events(dataset).rows.len()).sum();
    assert_eq!(rows, 40_000 + 500 + 1);
    assert_eq!(found.counts(), (40_501, 40_501, 0, 0, 0));
}
