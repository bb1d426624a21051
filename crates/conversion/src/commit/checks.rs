//! Checks that keep a trace from being published.

use crate::convert::{Checks, MaxLoss, Report, ShapeCounts};
use crate::survey::loss::LossRow;
use crate::survey::{FileFacts, FileSurvey, IssueCode};

/// All conditions that survey and plan break, in words.
pub fn check_survey(files: &[FileSurvey], facts: &[FileFacts], checks: &Checks) -> Option<String> {
    let is_disordered = checks.disorder && files.iter().any(|file| file.disorder.is_any());
    let is_damaged = checks.damage && files.iter().any(FileSurvey::is_damaged);
    let broken = [
        checks.max_loss.and_then(|limit| beyond(limit, files, facts)),
        known_loss(facts).filter(|_| checks.known_loss || checks.loss),
        possible_loss(facts).filter(|_| checks.loss),
        is_disordered.then(|| "the trace is not in the order that its recorder promises".to_owned()),
        is_damaged.then(|| "the trace is damaged".to_owned()),
        new_names(files).filter(|_| checks.new_names),
    ];
    let broken: Vec<String> = broken.into_iter().flatten().collect();
    (!broken.is_empty()).then(|| broken.join("; "))
}

/// What the schema lock does not settle.
fn new_names(files: &[FileSurvey]) -> Option<String> {
    let mut issues = files.iter().flat_map(|file| file.issues.rows());
    issues.find(|issue| issue.code == IssueCode::NotInSchemaLock).map(|issue| issue.message)
}

/// All rows of the ledgers, each with its file.
fn rows(facts: &[FileFacts]) -> impl Iterator<Item = (&str, &LossRow)> {
    facts.iter().flat_map(|file| file.ledger.rows.iter().map(|row| (file.source.as_str(), row)))
}

/// What proves that something was lost.
fn known_loss(facts: &[FileFacts]) -> Option<String> {
    let (source, row) = rows(facts).find(|(_, row)| row.is_known_loss())?;
    Some(format!("the recording lost {} ({source}: {})", amount(row), row.evidence))
}

/// What keeps everybody from knowing whether something was lost: a recorder that did not say, or a file that is not
/// whole.
fn possible_loss(facts: &[FileFacts]) -> Option<String> {
    unknown(facts).map(|why| format!("whether the recording lost something is unknown ({why})")).or_else(|| {
        let (source, row) = rows(facts).find(|(_, row)| row.is_damage())?;
        Some(format!("{} of the recording cannot be read ({source}: {})", amount(row), row.evidence))
    })
}

fn unknown(facts: &[FileFacts]) -> Option<String> {
    facts.iter().find_map(|file| Some(format!("{}: {}", file.source, file.ledger.unknown_because?)))
}

/// More events lost than the limit, or a number of them that nobody knows.
fn beyond(limit: MaxLoss, files: &[FileSurvey], facts: &[FileFacts]) -> Option<String> {
    let lost: u64 = facts.iter().map(|file| file.ledger.known_events_lost()).sum();
    let found: u64 = files.iter().map(FileSurvey::events).sum();
    if exceeds(limit, lost, found) {
        let lost = if lost == 1 { "1 event was".to_owned() } else { format!("{lost} events were") };
        return Some(format!("{lost} lost, more than the {limit} allowed"));
    }
    if let Some(why) = unknown(facts) {
        return Some(format!("how many events were lost is unknown ({why})"));
    }
    let uncounted = facts.iter().find_map(|file| Some((&file.source, file.ledger.uncounted_loss()?)));
    uncounted.map(|(source, row)| {
        format!("{} were lost, and how many events with them is unknown ({source}: {})", amount(row), row.evidence)
    })
}

fn amount(row: &LossRow) -> String {
    match row.count {
        Some(1) => format!("1 {}", row.unit.trim_end_matches('s')),
        Some(count) => format!("{count} {}", row.unit),
        None => row.unit.to_owned(),
    }
}

/// The condition that the conversion breaks, in words.
pub fn check_result(report: &Report, checks: &Checks) -> Option<String> {
    let undecoded: u64 = report.shapes.iter().map(ShapeCounts::undecoded).sum();
    (checks.undecoded && undecoded > 0).then(|| format!("{undecoded} events could not be decoded whole"))
}

fn exceeds(limit: MaxLoss, lost: u64, found: u64) -> bool {
    match limit {
        MaxLoss::Events(most) => lost > most,
        #[expect(clippy::cast_precision_loss, reason = "a share of events; a few more or less do not matter")]
        MaxLoss::Percent(most) => lost as f64 * 100.0 > most * (lost + found) as f64,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn losses_are_measured_against_their_limit() {
        for (limit, lost, found, expected) in [
            (MaxLoss::Events(3), 3, 100, false),
            (MaxLoss::Events(3), 4, 100, true),
            (MaxLoss::Percent(1.0), 1, 99, false),
            (MaxLoss::Percent(1.0), 2, 98, true),
            (MaxLoss::Percent(0.0), 0, 0, false),
        ] {
            assert_eq!(exceeds(limit, lost, found), expected, "{limit}: {lost} of {found}");
        }
    }
}
