//! `issues`: everything unusual that was found in the inputs, and advice on their losses.

use super::row::sidecar_row;
use crate::survey::{FileFacts, FileSurvey, IssueCode, Severity};

sidecar_row! {
    /// Something unusual.
    "issues" IssueRow {
        /// The path relative to the input named by the user, with `/`.
        source: String,
        /// How grave it is.
        severity: Severity,
        /// What it is, as one word.
        code: IssueCode,
        /// The buffer, counted from 0 in file order.
        buffer: Option<u64>,
        /// File offset in bytes (within a compressed buffer: that of its header).
        offset: Option<u64>,
        /// When, in Unix nanoseconds.
        time_ns: Option<i64>,
        /// What was expected and what was found.
        message: String,
    }
}

/// The advice on an input, which is no finding.
pub fn advice(facts: &FileFacts) -> impl Iterator<Item = IssueRow> {
    facts.advice.iter().map(|advice| IssueRow {
        source: facts.source.clone(),
        severity: advice.severity,
        code: advice.code,
        buffer: None,
        offset: None,
        time_ns: None,
        message: advice.message.clone(),
    })
}

/// What was found in an input.
pub fn rows(file: &FileSurvey) -> impl Iterator<Item = IssueRow> {
    file.issues.rows().map(|issue| IssueRow {
        source: file.name.clone(),
        severity: issue.severity,
        code: issue.code,
        buffer: issue.buffer,
        offset: issue.offset,
        time_ns: issue.ticks.map(|ticks| file.unix_ns(ticks)),
        message: issue.message,
    })
}
