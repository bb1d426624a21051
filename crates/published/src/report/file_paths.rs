//! What the keys of files meant at a time: paths, each once.

use std::collections::{HashMap, HashSet};

use base::error::Result;
use conversion::read_columns;
use conversion::sidecar::dimensions::FileRow;

use crate::source::Source;
use crate::who::{Span, Spans};

/// Keys that are looked up; the files of others have no path.
const MOST_KEYS: usize = 1 << 20;
/// Bytes of paths that are held; files beyond have none.
const MOST_BYTES: usize = 256 << 20;
/// What files are listed under whose paths the trace does not record.
pub(super) const PATHLESS: &str = "(path not recorded)";

/// Keys that events name, by machine.
#[derive(Debug, Default)]
pub(super) struct FileKeys(HashSet<(i64, i64)>);

impl FileKeys {
    /// Adds the key of an event.
    pub(super) fn add(&mut self, machine: i64, key: Option<i64>) {
        let Some(key) = key else { return };
        if self.0.len() < MOST_KEYS {
            self.0.insert((machine, key));
        }
    }
}

/// Paths of keys.
#[derive(Debug, Default)]
pub(super) struct FilePaths {
    paths: Vec<String>,
    numbers: HashMap<String, usize>,
    spans: Spans,
    bytes: usize,
    left_out: u64,
}

read_columns! {
    /// A span of a file key.
    struct FileSpan<'b> of FileRow<'static> {
        file_key: i64,
        path: Option<&'b str>,
        from_ns: i64,
        to_ns: i64,
        machine: i64,
    }
}

impl FilePaths {
    /// Reads what keys meant.
    ///
    /// # Errors
    /// [`ErrorKind::Output`](base::error::ErrorKind::Output) when the sidecar cannot be read.
    pub(super) fn read(source: &Source<'_>, keys: &FileKeys) -> Result<FilePaths> {
        let mut found = FilePaths::default();
        source.sidecar::<FileSpan<'_>>(|FileSpan { file_key: id, path, from_ns: from, to_ns: to, machine }| {
            if keys.0.contains(&(machine, id)) {
                let means = path.and_then(|path| found.number(path)).and_then(|number| i64::try_from(number).ok());
                found.spans.add(Span { machine, id, from, to, means });
            }
        })?;
        found.spans.settle();
        Ok(found)
    }

    /// The number of a path; `None` where there is no room for it.
    pub(super) fn number(&mut self, path: &str) -> Option<usize> {
        if let Some(number) = self.numbers.get(path) {
            return Some(*number);
        }
        // The text is held twice.
        let bytes = self.bytes.saturating_add(path.len().saturating_mul(2));
        if bytes > MOST_BYTES {
            self.left_out = self.left_out.saturating_add(1);
            return None;
        }
        self.bytes = bytes;
        self.paths.push(path.to_owned());
        self.numbers.insert(path.to_owned(), self.paths.len() - 1);
        Some(self.paths.len() - 1)
    }

    /// The number of the path that a key meant at a time.
    pub(super) fn at(&self, machine: i64, key: Option<i64>, time: i64) -> Option<usize> {
        usize::try_from(self.spans.at(machine, key?, time)?).ok()
    }

    /// The path of a number.
    pub(super) fn text(&self, number: Option<usize>) -> &str {
        number.and_then(|number| self.paths.get(number)).map_or(PATHLESS, String::as_str)
    }

    /// Paths that there was no room for.
    pub(super) fn left_out(&self) -> u64 {
        self.left_out.saturating_add(self.spans.left_out())
    }
}
