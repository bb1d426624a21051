//! What is unusual in a trace, with its place.

use std::collections::BTreeMap;
use std::ops::Range;

use serde::{Deserialize, Serialize};

use super::issue_code::IssueCode;

/// How grave an issue is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// No finding: what would likely have prevented one.
    Advice,
    /// Worth knowing.
    Info,
    /// Something may be missing or imprecise.
    Warning,
    /// Something could not be read.
    Error,
}

impl Severity {
    /// The name used in the sidecar.
    pub fn name(self) -> &'static str {
        match self {
            Severity::Advice => "advice",
            Severity::Info => "info",
            Severity::Warning => "warning",
            Severity::Error => "error",
        }
    }

    /// The severity of a name.
    pub fn of_name(name: &str) -> Option<Self> {
        [Severity::Advice, Severity::Info, Severity::Warning, Severity::Error]
            .into_iter()
            .find(|own| own.name() == name)
    }
}

/// Something unusual in an input file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Issue {
    /// How grave it is.
    pub severity: Severity,
    /// What kind it is of, as one word.
    pub code: IssueCode,
    /// The buffer, counted from 0 in file order.
    pub buffer: Option<u64>,
    /// File offset in bytes (within a compressed buffer: that of its header).
    pub offset: Option<u64>,
    /// Time in ticks of the session's clock.
    pub ticks: Option<i64>,
    /// What was expected and what was found.
    pub message: String,
}

impl Issue {
    /// An issue without a place.
    pub fn new(severity: Severity, code: IssueCode, message: impl Into<String>) -> Self {
        Issue { severity, code, buffer: None, offset: None, ticks: None, message: message.into() }
    }

    /// Names the buffer and the file offset.
    #[must_use]
    pub fn at(self, buffer: u64, offset: u64) -> Self {
        Issue { buffer: Some(buffer), offset: Some(offset), ..self }
    }
}

/// All issues of a file: of each code the first [`Issues::KEPT`] whole, the rest as a number.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Issues {
    kept: Vec<Issue>,
    counts: BTreeMap<IssueCode, Count>,
}

/// How many issues of one code there are, and how grave the gravest of those is that are not kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Count {
    all: u64,
    rest: Severity,
}

impl Issues {
    /// How many issues of one code are kept whole.
    pub const KEPT: u64 = 1000;

    /// Adds an issue; they must come in file order.
    pub fn push(&mut self, issue: Issue) {
        let count = self.counts.entry(issue.code).or_insert(Count { all: 0, rest: Severity::Info });
        count.all += 1;
        if count.all <= Issues::KEPT {
            self.kept.push(issue);
        } else {
            count.rest = count.rest.max(issue.severity);
        }
    }

    /// Adds all issues of another collection behind these.
    pub fn append(&mut self, other: Issues) {
        for issue in other.kept {
            self.push(issue);
        }
        for (code, theirs) in other.counts {
            if let (Some(own), Some(more)) = (self.counts.get_mut(&code), theirs.all.checked_sub(Issues::KEPT)) {
                own.all = own.all.saturating_add(more);
                own.rest = own.rest.max(theirs.rest);
            }
        }
    }

    /// The same issues of buffers whose numbers are higher by `shift`.
    pub(super) fn moved(mut self, shift: u64) -> Issues {
        let numbers = self.kept.iter_mut().filter_map(|issue| issue.buffer.as_mut());
        numbers.for_each(|number| *number = number.saturating_add(shift));
        self
    }

    /// Whether all are of buffers in a range of numbers, there are as many as counted, and no more than `most` of a code: what
    /// comes from a file is not believed.
    pub(super) fn are_of(&self, buffers: &Range<u64>, most: u64) -> bool {
        let mut kept: BTreeMap<IssueCode, u64> = BTreeMap::new();
        self.kept.iter().for_each(|issue| *kept.entry(issue.code).or_default() += 1);
        let is_counted = |(code, count): (&IssueCode, &Count)| {
            kept.get(code) == Some(&count.all.min(Issues::KEPT)) && count.all <= most
        };
        kept.len() == self.counts.len()
            && self.counts.iter().all(is_counted)
            && self.kept.iter().all(|issue| issue.buffer.is_some_and(|buffer| buffers.contains(&buffer)))
    }

    /// The kept issues, then one for each code of which there are more.
    pub fn rows(&self) -> impl Iterator<Item = Issue> + '_ {
        let rest = self.counts.iter().filter(|(_, count)| count.all > Issues::KEPT).map(|(code, count)| {
            Issue::new(count.rest, *code, format!("{} more issues of this kind", count.all - Issues::KEPT))
        });
        self.kept.iter().cloned().chain(rest)
    }

    /// How many issues of a code there are.
    pub fn count(&self, code: IssueCode) -> u64 {
        self.counts.get(&code).map_or(0, |count| count.all)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_flood_of_one_code_is_counted() {
        let mut issues = Issues::default();
        for _ in 0..1002 {
            issues.push(Issue::new(Severity::Error, IssueCode::DamagedEvent, "again"));
        }
        issues.push(Issue::new(Severity::Info, IssueCode::ZeroTail, "once"));
        let rows: Vec<_> = issues.rows().collect();
        assert_eq!(rows.len(), 1002);
        assert_eq!(rows[1000].code, IssueCode::ZeroTail);
        assert_eq!(
            (rows[1001].code, rows[1001].message.as_str()),
            (IssueCode::DamagedEvent, "2 more issues of this kind")
        );
        assert_eq!(rows[1001].severity, Severity::Error);
        assert_eq!(issues.count(IssueCode::DamagedEvent), 1002);
    }

    #[test]
    fn collections_add_up() {
        let flood = |count: u64| {
            let mut issues = Issues::default();
            (0..count).for_each(|_| issues.push(Issue::new(Severity::Warning, IssueCode::DamagedEvent, "again")));
            issues
        };
        for (own, other) in [(0, 1), (1, 1500), (1500, 1), (999, 1), (1200, 1300), (0, 0)] {
            let mut issues = flood(own);
            issues.append(flood(other));
            assert_eq!(issues, flood(own + other), "{own} and {other}");
        }
    }
}
