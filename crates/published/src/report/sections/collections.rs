//! Garbage collections of .NET.

use std::fmt::Write as _;

use base::readable::count::{ByteCount, Count, counted};
use base::readable::time::duration;

use super::super::charts::{Words, row};
use super::super::collections::{Collections, Heap};
use super::super::facts::Facts;
use super::super::figures::scale;
use super::super::hover::of_peaks;
use super::super::html::{Cell, Section, and_more, note, table, text};
use super::super::tally::Amounts;
use super::rows::rows;

/// Which generations were collected, and how large heaps were; `None` where nothing was collected.
pub(in super::super) fn collections(facts: &Facts) -> Option<Section> {
    let Some(collections) = &facts.collections else { return None };
    let ranked = &collections.by_generation;
    let (all, stopped) = (ranked.counter(0), ranked.counter(1));
    let lead = format!(
        "<p>{}, of which {} stopped within the recording, {} from start to stop in all.</p>\n",
        counted(all, "collections"),
        Count(stopped),
        duration(ranked.counter(2))
    );
    let cells = |amounts: &Amounts| {
        let [all, stopped, took, paused, known, promoted] = amounts.counters;
        let paused = if known == 0 { "–".to_owned() } else { duration(paused) };
        let mean = took.checked_div(stopped).map_or_else(|| "–".to_owned(), duration);
        vec![Count(all).to_string(), paused, Count(stopped).to_string(), mean, ByteCount(promoted).to_string()]
    };
    let heads = ["process and generation", "collections", "paused", "stopped", "mean time", "survived"];
    let mut content = lead + &table("Collections by process and generation", &heads, &rows(ranked, cells));
    content += &note(
        "A pause in which several collections begin stands with each. Survived is what statistics behind collections say, \
         where those are recorded.",
    );
    content += &heaps(facts, collections);
    if collections.left_out > 0 {
        let marks = counted(collections.left_out, "further marks of collections");
        content += &note(&format!("{marks} had no room in this report."));
    }
    Some(Section::new("collections", "Garbage collections of .NET", content))
}

/// How large heaps were behind collections, over time and in a table; nothing where no size is recorded.
fn heaps(facts: &Facts, collections: &Collections) -> String {
    if collections.heaps.is_empty() {
        return String::new();
    }
    let mut charts = String::new();
    for (heap, number) in collections.heaps.iter().zip(0..) {
        let (name, most) = (text(&heap.name), format!("up to {}", ByteCount(heap.largest)));
        let (id, title) = (format!("heap-{number}"), format!("Heap of {name} over time"));
        let hover = of_peaks(&facts.axis, &heap.bins);
        let svg = row(Words { id: &id, title: &title, description: &most, hover: &hover }, &heap.bins, 0);
        let _ = write!(charts, "<div><div class=\"head\"><span>{name}</span><span>{most}</span></div>\n{svg}</div>\n");
    }
    let cells = |heap: &Heap| {
        let bytes = [heap.largest, heap.last].map(|bytes| Cell::number(&ByteCount(bytes)));
        [Cell::text(&heap.name), Cell::number(&Count(heap.sizes))].into_iter().chain(bytes).collect()
    };
    let cells: Vec<Vec<Cell>> = collections.heaps.iter().map(cells).collect();
    let heads = ["process", "sizes known", "largest", "last"];
    format!(
        "<h3>Heaps behind collections</h3>\n<p>Each row has a scale of its own; where no collection stopped, it is empty.</p>\n\
         <div class=\"rows\">\n{charts}</div>\n{}{}{}",
        scale(&facts.axis),
        table("Heaps behind collections", &heads, &cells),
        and_more(collections.more_heaps, "processes")
    )
}
