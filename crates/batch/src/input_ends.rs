//! What became of each input of a run.

use std::collections::{HashMap, HashSet};

use etl::input::{Address, Unopened};
use serde::Serialize;

/// An input, and how it ended.
#[derive(Debug, PartialEq, Eq, Serialize)]
pub struct InputEnd {
    /// As the run calls it: its path, with `!/` before a member of an archive.
    pub input: String,
    /// Bytes of the file; `None` for a member of an archive, for standard input, and where there is no file.
    pub size: Option<u64>,
    /// The trace that it became, or would have become.
    pub trace: Option<String>,
    /// That of its trace; of an input without one `quarantined` or `failed`.
    pub status: &'static str,
}

/// A trace with its inputs, as it ended.
#[derive(Clone, Copy, Debug)]
pub(crate) struct EndedTrace<'a> {
    pub trace: &'a str,
    pub status: &'static str,
    pub inputs: &'a [String],
}

/// The ends of all inputs that the run has found, in their order, and behind them of those that led nowhere. `quarantined`
/// has inputs, each with the trace that it would have become.
pub(crate) fn ends(found: &[String], traces: &[EndedTrace<'_>], quarantined: &[(&str, Option<&str>)]) -> Vec<InputEnd> {
    let of_input: HashMap<&str, &EndedTrace<'_>> =
        traces.iter().flat_map(|trace| trace.inputs.iter().map(move |input| (input.as_str(), trace))).collect();
    let of_quarantine: HashMap<&str, Option<&str>> = quarantined.iter().copied().collect();
    let mut seen = HashSet::new();
    let inputs = found.iter().map(String::as_str).chain(quarantined.iter().map(|(input, _)| *input));
    let end = |input: &str| {
        let (trace, status) = match (of_quarantine.get(input), of_input.get(input)) {
            (Some(trace), of) => (trace.or_else(|| of.map(|of| of.trace)), "quarantined"),
            (None, Some(of)) => (Some(of.trace), of.status),
            (None, None) => (None, "failed"),
        };
        let size = Unopened::at(&Address::from(input)).and_then(|file| file.size);
        InputEnd { input: input.to_owned(), size, trace: trace.map(str::to_owned), status }
    };
    inputs.filter(|input| seen.insert(*input)).map(end).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_input_ends_once() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name).display().to_string();
        std::fs::write(path("a.etl"), "seven b").unwrap();
        let found = ["a.etl", "b.etl", "c.etl", "d.etl", "e.etl", "f.zip!/g.etl"].map(path);
        let ended = |trace, status, inputs| EndedTrace { trace, status, inputs };
        let traces = [
            ended("ab", "published", &found[..2]),
            ended("c", "quarantined", &found[2..3]),
            ended("g", "not_begun", &found[5..]),
        ];
        let archive = path("h.zip");
        let quarantined: [(&str, Option<&str>); 3] =
            [(&found[2], Some("c")), (&found[3], Some("ab")), (&archive, None)];
        let ended = ends(&found, &traces, &quarantined);
        let reported: Vec<_> = ended.iter().map(|end| (end.size, end.trace.as_deref(), end.status)).collect();
        let expected = [
            (Some(7), Some("ab"), "published"),
            (None, Some("ab"), "published"),
            (None, Some("c"), "quarantined"),
            (None, Some("ab"), "quarantined"),
            (None, None, "failed"),
            (None, Some("g"), "not_begun"),
            (None, None, "quarantined"),
        ];
        assert_eq!(reported, expected);
        assert_eq!(ended[6].input, archive);
    }
}
