//! What was not decoded, ranked, as reports show it.

use base::readable::count::Count;
use conversion::sidecar::undecoded::Undecoded;

use super::fold::Width;
use super::text_table::{Align, TextTable};

/// Entries that a page shows; the rest is a number.
const SHOWN: usize = 10;

/// The gravest entries as a table; nothing when there are none.
pub(super) fn table(entries: &[Undecoded], width: Width) -> String {
    let mut table =
        TextTable::new([("NOT DECODED", Align::Left), ("EVENTS", Align::Right), ("WHAT WOULD HELP", Align::Left)]);
    for entry in entries.iter().take(SHOWN) {
        table.row([entry.name.clone(), Count(entry.rows).to_string(), entry.fix.clone()]);
    }
    if let Some(rest @ [_, ..]) = entries.get(SHOWN..) {
        let rows = rest.iter().map(|entry| entry.rows).sum();
        table.row([format!("{} more", rest.len()), Count(rows).to_string(), String::new()]);
    }
    if entries.is_empty() { String::new() } else { table.render(width) }
}

/// Where what the gravest entries lack usually lies, and what to type with it; nothing where nothing is known of that.
pub(super) fn ways(entries: &[Undecoded], width: Width) -> String {
    let mut table = TextTable::new([("NOT DECODED", Align::Left), ("TYPE", Align::Left), ("WITH", Align::Left)]);
    let mut has_any = false;
    for entry in entries.iter().take(SHOWN) {
        if let Some(way) = &entry.way {
            table.row([entry.name.clone(), way.command.clone(), way.place.clone()]);
            has_any = true;
        }
    }
    if has_any { table.render(width) } else { String::new() }
}

#[cfg(test)]
mod tests {
    use conversion::sidecar::undecoded::Problem;

    use super::*;

    fn entry(name: &str, rows: u64, fix: &str) -> Undecoded {
        Undecoded {
            problem: Problem::NoSchema,
            name: name.to_owned(),
            provider_id: None,
            decode_source: "none",
            rows,
            events: Vec::new(),
            fix: fix.to_owned(),
            way: None,
        }
    }

    #[test]
    fn the_gravest_are_shown_and_the_rest_is_a_number() {
        assert_eq!(table(&[], Width::UNBOUNDED), "");
        let mut entries = vec![entry("Big", 12_345, "its manifest")];
        entries.extend((0..11).map(|number| entry("S", 20 - number, "x")));
        let table = table(&entries, Width::UNBOUNDED);
        let lines: Vec<&str> = table.lines().collect();
        assert_eq!(lines[..2], ["  NOT DECODED  EVENTS  WHAT WOULD HELP", "  Big          12,345  its manifest"]);
        assert_eq!(lines[11], "  2 more           21");
        assert_eq!(lines.len(), 12);
    }
}
