//! What holds whatever the input: each function stops where it does not.
//!
//! An oracle knows no right answer. It knows what every right answer has in common.

use std::collections::HashSet;
use std::fmt::Debug;
use std::ops::Range;

use arrow_array::{Array, ArrayRef};
use base::names::folded;
use etl2parquet::EventCounts;

/// **Tiling**: the parts follow one another without gap and overlap and make up the whole.
pub fn tiling(parts: impl IntoIterator<Item = Range<u64>>, whole: Range<u64>) {
    let mut at = whole.start;
    for part in parts {
        assert_eq!(part.start, at, "tiling: a part begins where the one before it ends");
        assert!(part.end > part.start, "tiling: a part is not empty ({part:?})");
        at = part.end;
    }
    assert_eq!(at, whole.end, "tiling: the parts end where the whole ends");
}

/// **Alignment**: an event begins at a multiple of 8 bytes.
pub fn alignment(offset: u32) {
    assert_eq!(offset % 8, 0, "alignment: an event begins at {offset}");
}

/// **Names unique**, without regard to case.
pub fn unique<S: AsRef<str>>(names: impl IntoIterator<Item = S>) {
    let mut known = HashSet::new();
    for name in names {
        let name = name.as_ref();
        assert!(known.insert(folded(name)), "unique: {name:?} is there twice");
    }
}

/// **Monotone**: from one to the next, values do not fall.
pub fn monotone<T: PartialOrd + Debug>(values: impl IntoIterator<Item = T>) {
    let mut last: Option<T> = None;
    for value in values {
        if let Some(last) = &last {
            assert!(*last <= value, "monotone: {value:?} behind {last:?}");
        }
        last = Some(value);
    }
}

/// **Arrays valid in full**: offsets, lengths, texts and children are what Arrow demands.
pub fn valid_in_full(array: &ArrayRef, rows: usize) {
    assert_eq!(array.len(), rows, "valid: a column has a value or NULL in each row");
    array.to_data().validate_full().expect("valid: the array is one");
}

/// **Conserved**: every event found is written, filtered or damaged.
pub fn conserved(events: &EventCounts) {
    assert!(events.is_conserved(), "conserved: {events:?}");
}

/// **Read-back equality**: what was written and read again is what it was.
pub fn same<T: PartialEq + Debug>(read: &T, written: &T) {
    assert_eq!(read, written, "read back: it is what was written");
}

/// Elements and attributes that a page may have.
const ELEMENTS: &[&str] = &[
    "a",
    "body",
    "caption",
    "dd",
    "desc",
    "details",
    "div",
    "dl",
    "dt",
    "figcaption",
    "figure",
    "footer",
    "h1",
    "h2",
    "h3",
    "head",
    "header",
    "html",
    "i",
    "li",
    "main",
    "meta",
    "nav",
    "p",
    "polygon",
    "rect",
    "section",
    "span",
    "style",
    "summary",
    "svg",
    "table",
    "tbody",
    "td",
    "th",
    "thead",
    "title",
    "tr",
    "ul",
];
const ATTRIBUTES: &[&str] = &[
    "aria-hidden",
    "aria-label",
    "aria-labelledby",
    "charset",
    "class",
    "content",
    "data-head",
    "fill",
    "height",
    "href",
    "http-equiv",
    "id",
    "lang",
    "name",
    "points",
    "preserveAspectRatio",
    "role",
    "scope",
    "stroke",
    "style",
    "tabindex",
    "title",
    "viewBox",
    "width",
    "x",
    "xmlns",
    "y",
];

/// **Markup**: elements of few kinds, each ended where it should be, no id twice, nothing that is run or fetched, and text in which no
/// character has a meaning to a browser or moves what follows.
pub fn markup(page: &str) {
    let mut rest = page.strip_prefix("<!DOCTYPE html>\n").expect("markup: it begins as a page");
    let (mut open, mut ids) = (Vec::new(), HashSet::new());
    while let Some((before, behind)) = rest.split_once('<') {
        if open.last() != Some(&"style") {
            text_of_markup(before);
        }
        let (tag, behind) = behind.split_once('>').expect("markup: a tag ends");
        rest = behind;
        if let Some(name) = tag.strip_prefix('/') {
            assert_eq!(open.pop(), Some(name), "markup: an element ends within the one around it");
            continue;
        }
        let is_alone = tag.ends_with('/');
        let tag = tag.strip_suffix('/').unwrap_or(tag);
        let (name, attributes) = tag.split_once(' ').unwrap_or((tag, ""));
        assert!(ELEMENTS.contains(&name), "markup: <{tag}>");
        if !is_alone && name != "meta" {
            open.push(name);
        }
        attributes_of_markup(attributes, &mut ids);
    }
    assert!(open.is_empty() && rest == "\n", "markup: {open:?} has no end");
}

fn attributes_of_markup<'p>(mut attributes: &'p str, ids: &mut HashSet<&'p str>) {
    while let Some((name, behind)) = attributes.trim_start().split_once("=\"") {
        let (value, behind) = behind.split_once('"').expect("markup: a value ends");
        assert!(ATTRIBUTES.contains(&name), "markup: {name}=\"{value}\"");
        assert!(name != "href" || value.starts_with('#'), "markup: the page asks for {value}");
        assert!(name != "style" || is_place(value), "markup: {value} is no place");
        assert!(name != "id" || ids.insert(value), "markup: the id {value} is there twice");
        text_of_markup(value);
        attributes = behind;
    }
    assert!(attributes.trim().is_empty(), "markup: {attributes}");
}

/// Whether a style says where something is and how large, and nothing else.
fn is_place(style: &str) -> bool {
    let is_size = |value: &str| value.chars().all(|c| c.is_ascii_digit() || ".%* ".contains(c));
    style.split(';').all(|part| match part.split_once(':') {
        Some(("left" | "width", value)) => is_size(value),
        Some(("height", value)) => {
            value.strip_prefix("calc(").and_then(|value| value.strip_suffix("rem)")).is_some_and(is_size)
        }
        _ => false,
    })
}

fn text_of_markup(text: &str) {
    for behind in text.split('&').skip(1) {
        let is_written_out = ["amp;", "lt;", "gt;", "quot;", "#39;"].iter().any(|name| behind.starts_with(name));
        assert!(is_written_out, "markup: &{}", behind.chars().take(9).collect::<String>());
    }
    let moves = |c: char| {
        (c.is_control() && c != '\n')
            || matches!(c, '\u{61C}' | '\u{200E}' | '\u{200F}' | '\u{2028}'..='\u{202E}' | '\u{2066}'..='\u{2069}')
    };
    assert!(!text.contains(moves), "markup: {text:?} moves what follows");
    assert!(!text.contains('>'), "markup: {text:?} has a mark that ends a tag");
}

#[cfg(test)]
mod tests {
    use std::panic::{AssertUnwindSafe, catch_unwind};
    use std::sync::Arc;

    use arrow_array::Int8Array;

    use super::*;

    fn stops(oracle: impl FnOnce()) -> bool {
        catch_unwind(AssertUnwindSafe(oracle)).is_err()
    }

    #[test]
    fn every_oracle_is_content_with_what_is_right() {
        tiling([0..3, 3..8], 0..8);
        tiling([], 5..5);
        alignment(24);
        unique(["a", "b", "a~2"]);
        monotone([1, 1, 2]);
        valid_in_full(&(Arc::new(Int8Array::from(vec![Some(1), None])) as ArrayRef), 2);
        conserved(&EventCounts { found: 6, written: 1, filtered: 2, damaged: 3, damaged_bytes: 9 });
        same(&1, &1);
        markup("<!DOCTYPE html>\n<p id=\"a\">&lt;b&gt; &amp; <i class=\"c\"></i><rect x=\"0\"/></p>\n");
        markup("<!DOCTYPE html>\n<div style=\"height:calc(3 * 1.25rem)\"><i style=\"left:0.5%;width:9%\"></i></div>\n");
    }

    #[test]
    fn every_oracle_stops_at_what_is_wrong() {
        assert!(stops(|| tiling([0..3, 4..8], 0..8)), "a gap");
        assert!(stops(|| tiling([0..3, 2..8], 0..8)), "an overlap");
        assert!(stops(|| tiling([0..3, 3..6], 0..8)), "an early end");
        assert!(stops(|| tiling([0..3, 3..3, 3..8], 0..8)), "a part without bytes");
        assert!(stops(|| alignment(12)));
        assert!(stops(|| unique(["Name", "nAME"])));
        assert!(stops(|| monotone([2, 1])));
        assert!(stops(|| valid_in_full(&(Arc::new(Int8Array::from(vec![1])) as ArrayRef), 2)));
        assert!(stops(|| conserved(&EventCounts { found: 7, ..EventCounts::default() })));
        assert!(stops(|| same(&1, &2)));
        let page = |inside: &str| stops(|| markup(&format!("<!DOCTYPE html>\n<p>{inside}</p>\n")));
        assert!(!page("a"));
        for inside in [
            "<script>x</script>",
            "<b>",
            "</p>",
            "<i></p>",
            "<i onclick=\"x\"></i>",
            "<i class='x'></i>",
            "<i style=\"background:url(x)\"></i>",
            "<i style=\"left:expression(1)\"></i>",
            "<a href=\"http://x\"></a>",
            "<i id=\"a\"></i><i id=\"a\"></i>",
            "&",
            "&#x3c;",
            ">",
            "\u{1b}",
            "\u{202e}",
        ] {
            assert!(page(inside), "{inside:?}");
        }
    }
}
