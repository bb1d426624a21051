//! What is rejected of a text.

use crate::model::SchemaError;

/// More rejected declarations of a file are counted.
const MOST: usize = 1000;

/// Rejected declarations, with their lines.
#[derive(Debug, Default)]
pub(super) struct Faults {
    kept: Vec<(usize, String)>,
    uncounted: usize,
}

impl Faults {
    pub(super) fn report(&mut self, line: usize, reason: impl Into<String>) {
        if self.kept.len() < MOST {
            self.kept.push((line, reason.into()));
        } else {
            self.uncounted = self.uncounted.saturating_add(1);
        }
    }

    /// By line.
    pub(super) fn into_list(mut self) -> Vec<SchemaError> {
        self.kept.sort_by_key(|&(line, _)| line);
        let last = self.kept.last().map_or(0, |&(line, _)| line);
        let more = (self.uncounted > 0).then(|| (last, format!("and {} more in this file", self.uncounted)));
        self.kept.into_iter().chain(more).map(|(line, reason)| SchemaError::at_line(line, reason)).collect()
    }
}

/// A text from the file as a message shows it: not all of a long one.
pub(super) fn quoted(text: &str) -> String {
    const SHOWN: usize = 60;
    match text.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
        None => text.to_owned(),
    }
}
