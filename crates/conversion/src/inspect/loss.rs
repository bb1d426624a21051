//! What a recording lost, in numbers and in words.

use std::collections::BTreeMap;

use base::readable::count::counted;
use columnar::output::manifest::LossCounts;
use serde::Serialize;

use crate::commit::record;
use crate::sidecar::LossRow;
use crate::survey::FileFacts;

/// The losses of a file.
#[derive(Debug, Serialize)]
pub struct InputLoss {
    /// What it adds up to.
    #[serde(flatten)]
    pub totals: LossTotals,
    /// The ledger, as in `lost_events.parquet`.
    pub ledger: Vec<LossRow>,
}

/// The losses of a recording.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct LossTotals {
    /// The counters, as in the manifest.
    #[serde(flatten)]
    pub counts: LossCounts,
    /// Rows of the ledger that are no counters of the header, by kind.
    pub gaps: BTreeMap<&'static str, u64>,
    /// Known to be lost, of whatever else may have been.
    #[serde(skip)]
    pub known_events: u64,
    /// Buffers known to be lost, of whatever else may have been.
    #[serde(skip)]
    pub known_buffers: u64,
}

impl LossTotals {
    /// The losses of a recording of these files.
    pub fn of(files: &[FileFacts]) -> Self {
        let mut gaps = BTreeMap::new();
        for row in files.iter().flat_map(|file| &file.ledger.rows).filter(|row| !row.is_counter()) {
            *gaps.entry(row.kind.as_str()).or_default() += 1;
        }
        LossTotals {
            counts: record::lost(files),
            gaps,
            known_events: files.iter().map(|file| file.ledger.known_events_lost()).sum(),
            known_buffers: files.iter().map(|file| file.ledger.known_buffers_lost()).sum(),
        }
    }

    /// One line: `12 events, 0 buffers; 3 sequence_gap`.
    pub fn words(&self) -> String {
        let is_nothing = (self.known_events, self.known_buffers) == (0, 0);
        let known = format!("{}, {}", counted(self.known_events, "events"), counted(self.known_buffers, "buffers"));
        let counted = match &self.counts.unknown_because {
            Some(why) if is_nothing => format!("unknown: {why}"),
            Some(why) => format!("{known}; whether more is unknown: {why}"),
            None if is_nothing && self.gaps.is_empty() => return "nothing".to_owned(),
            None => known,
        };
        std::iter::once(counted).chain(kinds(&self.gaps)).collect::<Vec<_>>().join("; ")
    }
}

/// One line for several recordings: what is known adds up, what is unknown is counted. `44 events known to be lost; 17
/// traces unknown`.
pub fn words_of_all(recordings: &[&LossTotals]) -> String {
    if let [one] = recordings {
        return one.words();
    }
    let sum = |of: fn(&LossTotals) -> u64| recordings.iter().map(|recording| of(recording)).sum();
    let known: Vec<String> = [(sum(|lost| lost.known_events), "events"), (sum(|lost| lost.known_buffers), "buffers")]
        .into_iter()
        .filter(|(count, _)| *count > 0)
        .map(|(count, things)| counted(count, things))
        .collect();
    let unknown = recordings.iter().filter(|lost| lost.counts.unknown_because.is_some()).count() as u64;
    let mut gaps = BTreeMap::new();
    for (kind, rows) in recordings.iter().flat_map(|lost| &lost.gaps) {
        *gaps.entry(*kind).or_default() += rows;
    }
    let known = if known.is_empty() { "nothing".to_owned() } else { known.join(" and ") };
    if unknown == 0 && gaps.is_empty() && known == "nothing" {
        return known;
    }
    let unknown = (unknown > 0).then(|| format!("{} unknown", counted(unknown, "traces")));
    let parts = std::iter::once(format!("{known} known to be lost")).chain(unknown).chain(kinds(&gaps));
    parts.collect::<Vec<_>>().join("; ")
}

/// `3 sequence_gap`: rows of the ledger by kind.
fn kinds<'a>(gaps: &'a BTreeMap<&'static str, u64>) -> impl Iterator<Item = String> + 'a {
    gaps.iter().map(|(kind, rows)| counted(*rows, kind))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Losses of one recording: counters, or why they are unknown.
    fn totals(events: Result<u64, &str>, gaps: &[(&'static str, u64)]) -> LossTotals {
        LossTotals {
            counts: LossCounts {
                events_lost: events.ok(),
                buffers_lost: events.ok().map(|_| 0),
                unknown_because: events.err().map(str::to_owned),
            },
            gaps: gaps.iter().copied().collect(),
            known_events: events.unwrap_or(0),
            known_buffers: 0,
        }
    }

    #[test]
    fn losses_read_as_one_line() {
        let t = |totals: &LossTotals, words: &str| assert_eq!(totals.words(), words);
        t(&totals(Ok(0), &[]), "nothing");
        t(&totals(Ok(1), &[]), "1 event, 0 buffers");
        t(&totals(Ok(1234), &[]), "1,234 events, 0 buffers");
        t(
            &totals(Ok(0), &[("sequence_gap", 2), ("truncated_tail", 1)]),
            "0 events, 0 buffers; 2 sequence_gap; 1 truncated_tail",
        );
        t(&totals(Err("the session was never closed"), &[]), "unknown: the session was never closed");
        let at_least = LossTotals { known_events: 2, ..totals(Err("a merged file"), &[("sequence_gap", 2)]) };
        t(&at_least, "2 events, 0 buffers; whether more is unknown: a merged file; 2 sequence_gap");
    }

    #[test]
    fn what_is_known_adds_up_and_what_is_unknown_is_counted() {
        let (some, more) = (totals(Ok(3), &[("sequence_gap", 1)]), totals(Ok(41), &[("sequence_gap", 2)]));
        let (none, unknown) = (totals(Ok(0), &[]), totals(Err("a merged file"), &[]));
        assert_eq!(words_of_all(&[&some, &more]), "44 events known to be lost; 3 sequence_gap");
        assert_eq!(words_of_all(&[&totals(Ok(44), &[]), &unknown]), "44 events known to be lost; 1 trace unknown");
        assert_eq!(words_of_all(&[&none, &unknown, &unknown]), "nothing known to be lost; 2 traces unknown");
        assert_eq!(words_of_all(&[&none, &none]), "nothing");
        let buffers = LossTotals { known_buffers: 50, ..some };
        assert_eq!(words_of_all(&[&buffers, &none]), "3 events and 50 buffers known to be lost; 1 sequence_gap");
        assert_eq!(words_of_all(&[&more]), "41 events, 0 buffers; 2 sequence_gap");
    }
}
