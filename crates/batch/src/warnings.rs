//! The warnings of a run: of each kind the first one, with its place; of the others, how many there are and where they stand.

use std::collections::BTreeMap;

use base::error::Location;
use base::readable::count::counted;
use conversion::survey::{FileSurvey, Issue, IssueCode, Severity};

use super::notice::Notice;

/// Issues of one input that are shown with `-v`.
const SHOWN: usize = 20;

/// How many warnings of each kind were counted and not shown.
#[derive(Debug, Default)]
pub(crate) struct Warnings {
    rest: BTreeMap<IssueCode, u64>,
}

impl Warnings {
    /// Counts the warnings of an input; gives those that are to be shown: the first of each kind in the run and those that another
    /// option would mend, or with `is_verbose` the first ones of the input.
    pub(crate) fn of_input(&mut self, file: &FileSurvey, is_verbose: bool) -> Vec<Notice> {
        let mut shown = Vec::new();
        for issue in file.issues.rows().filter(|issue| is_warning(issue) || issue.code == IssueCode::WideTable) {
            let is_first = !self.rest.contains_key(&issue.code);
            let rest = self.rest.entry(issue.code).or_default();
            if is_first || issue.code == IssueCode::WideTable || (is_verbose && shown.len() < SHOWN) {
                shown.push(entry(file, &issue));
            } else {
                *rest += 1;
            }
        }
        shown
    }

    /// How many more there are than were shown, by kind, most first; `None` where all were shown.
    pub(crate) fn rest(&self) -> Option<String> {
        let mut kinds: Vec<_> = self.rest.iter().filter(|(_, count)| **count > 0).collect();
        kinds.sort_by_key(|(code, count)| (std::cmp::Reverse(**count), **code));
        let total = kinds.iter().map(|(_, count)| **count).sum();
        let kinds: Vec<_> = kinds.iter().map(|(code, count)| counted(**count, code.as_str())).collect();
        (total > 0).then(|| format!("{}: {}", counted(total, "more warnings"), kinds.join(", ")))
    }
}

/// Whether an issue is more than worth knowing.
pub(crate) fn is_warning(issue: &Issue) -> bool {
    issue.severity > Severity::Info
}

fn entry(file: &FileSurvey, issue: &Issue) -> Notice {
    let (buffer, offset) = (issue.buffer, issue.offset);
    let location = Location { file: Some(file.name.clone().into()), buffer, offset };
    let text = format!("{location}: {} ({})", issue.message, issue.code);
    Notice::warning(text).with_message(&*issue.message).with_code(issue.code.as_str()).with_location(location)
}
