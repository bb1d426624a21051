//! What can be said of a conversion.

use std::collections::BTreeMap;
use std::path::Path;

use columnar::output::manifest::EventCounts;

use crate::convert::{Report, Surveyed};
use crate::survey::{FileFacts, FileSurvey};

/// The report of a trace of which no event passes the filters.
pub fn all_filtered(report: Report) -> Report {
    let events = EventCounts { filtered: report.events.found - report.events.damaged, ..report.events };
    Report { events, ..report }
}

/// What can be said before pass 2.
pub fn of_survey(folder: &Path, surveyed: Surveyed) -> Report {
    let Surveyed { files, facts, plan } = surveyed;
    let damaged = files.iter().map(FileSurvey::damaged_events).sum::<u64>();
    let events = EventCounts {
        found: files.iter().map(FileSurvey::events).sum::<u64>() + damaged,
        written: 0,
        filtered: 0,
        damaged,
        damaged_bytes: files.iter().map(FileSurvey::damaged_bytes).sum(),
    };
    Report {
        folder: folder.to_owned(),
        time_range: window(&facts),
        files,
        facts,
        plan,
        shapes: Vec::new(),
        events,
        decode: BTreeMap::new(),
        partitions: None,
        owners: None,
        written: Vec::new(),
        warnings: Vec::new(),
    }
}

/// From the first to the last event of all files; of a ring, of the window that it holds.
pub fn window(facts: &[FileFacts]) -> Option<(i64, i64)> {
    let windows = || facts.iter().filter_map(|file| file.window);
    windows().map(|window| window.0).min().zip(windows().map(|window| window.1).max())
}

/// The time of the rows without what a ring keeps from before its window: the events of its header buffer.
pub(super) fn without_the_past((first, last): (i64, i64), facts: &[FileFacts]) -> (i64, i64) {
    let begin = window(facts).map_or(first, |window| window.0);
    if (first..=last).contains(&begin) { (begin, last) } else { (first, last) }
}
