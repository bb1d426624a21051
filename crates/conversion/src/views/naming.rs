//! What the views of tables are called.

use super::answers::{MESSAGES, names};
use super::lake::{Lake, LakeTable};

/// The view without rows that those of missing events select from.
pub(super) const MISSING: &str = "missing";

/// What is appended to the name of a dataset that is called like an answer.
const EVENTS: &str = "_events";

/// The view of a table: its name, and where that of a dataset is an answer's, the name and `_events`, as often as it takes for
/// one that nothing else has. Engines ignore case. A dataset `sidecar` is among them, or its events would be tables there.
pub fn view_of(lake: &Lake, table: &LakeTable) -> String {
    let mut name = table.name().to_owned();
    if table.is_event() && is_kept(&name) {
        while is_kept(&name) || lake.table(&name).is_some() {
            name.push_str(EVENTS);
        }
    }
    name
}

/// Whether a name, in any case, is one of the views that all scripts have.
fn is_kept(name: &str) -> bool {
    let mut kept = names().chain(["all_events", "sidecar", MISSING, MESSAGES]);
    kept.any(|kept| kept.eq_ignore_ascii_case(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(paths: &[&str]) -> Vec<String> {
        let mut lake = Lake::default();
        for path in paths {
            lake.add_file(path).unwrap();
        }
        lake.tables().map(|table| view_of(&lake, table)).collect()
    }

    #[test]
    fn a_dataset_that_is_called_like_an_answer_keeps_a_view_of_its_own() {
        let paths = ["events/A/0.parquet", "events/Processes/0.parquet", "sidecar/processes.parquet"];
        assert_eq!(named(&paths), ["A", "Processes_events", "sidecar/processes"]);
        let paths = ["events/loss/0.parquet", "events/LOSS_events/0.parquet", "events/sidecar/0.parquet"];
        assert_eq!(named(&paths), ["loss_events_events", "LOSS_events", "sidecar_events"]);
    }
}
