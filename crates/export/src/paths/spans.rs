//! Texts that ids meant, and when.

use std::fmt;
use std::ops::Range;

use crate::cut::cut;

/// Spans that are kept.
const MOST_SPANS: usize = 1 << 20;
/// Bytes of all texts together, and of one.
const MOST_BYTES: usize = 64 << 20;
pub(crate) const MOST_TEXT: usize = 4096;

/// Texts by machine, id and time, within a bound.
#[derive(Default)]
pub(crate) struct Spans {
    rows: Vec<Row>,
    text: String,
    /// Those that there was no room for.
    pub(crate) left_out: u64,
}

struct Row {
    machine: i64,
    id: i64,
    from: i64,
    to: i64,
    text: Range<usize>,
}

impl Spans {
    /// Adds what an id meant from a time on and before another, as far as there is room.
    pub(crate) fn add(&mut self, (machine, id): (i64, i64), (from, to): (i64, i64), text: &str) {
        let text = cut(text, MOST_TEXT);
        let begin = self.text.len();
        let end = begin.saturating_add(text.len());
        if self.rows.len() >= MOST_SPANS || end > MOST_BYTES {
            self.left_out = self.left_out.saturating_add(1);
            return;
        }
        self.text.push_str(text);
        self.rows.push(Row { machine, id, from, to, text: begin..end });
    }

    /// Brings all into order, before the first look-up.
    pub(crate) fn settle(&mut self) {
        self.rows.sort_by_key(|row| (row.machine, row.id, row.from, row.to));
    }

    /// What an id meant at a time.
    pub(crate) fn at(&self, machine: i64, id: i64, time: i64) -> Option<&str> {
        let behind = self.rows.partition_point(|row| (row.machine, row.id, row.from) <= (machine, id, time));
        let row = self.rows.get(behind.checked_sub(1)?)?;
        let is_it = (row.machine, row.id) == (machine, id) && time < row.to;
        self.text.get(row.text.clone()).filter(|_| is_it)
    }
}

impl fmt::Debug for Spans {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Spans").field("rows", &self.rows.len()).field("bytes", &self.text.len()).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_means_a_text_for_a_time() {
        let mut spans = Spans::default();
        spans.add((0, 8), (50, 90), "b");
        spans.add((0, 8), (0, 50), "a");
        spans.add((1, 8), (0, 90), "other");
        spans.settle();
        let found = [49, 50, 89, 90, -1].map(|time| spans.at(0, 8, time));
        assert_eq!(found, [Some("a"), Some("b"), Some("b"), None, None]);
        assert_eq!((spans.at(1, 8, 49), spans.at(0, 9, 1), spans.left_out), (Some("other"), None, 0));
    }
}
