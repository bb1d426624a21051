//! Gates that keep a trace from being published.

use super::job::{Gates, MaxLoss, Report};
use super::run::undecoded_rows;
use crate::error::Result;
use crate::survey::{FileSurvey, loss, streams};

/// The first gate that the survey alone trips, in words.
///
/// # Errors
/// When a file cannot be read.
pub fn before(files: &[FileSurvey], gates: &Gates) -> Result<Option<String>> {
    // The counter of a session that was never closed says nothing, and what is unknown may be any number.
    let is_unknown = files.iter().any(|file| !file.session.is_closed());
    if gates.max_loss.is_some() && is_unknown {
        return Ok(Some("the session was never closed: how many events it lost is unknown".to_owned()));
    }
    let lost: u64 = files.iter().map(|file| u64::from(file.session.events_lost)).sum();
    let found: u64 = files.iter().map(FileSurvey::events).sum();
    if let Some(limit) = gates.max_loss.filter(|limit| exceeds(*limit, lost, found)) {
        return Ok(Some(format!("{lost} events were lost, more than the {limit} allowed")));
    }
    if gates.loss {
        for file in files {
            let ledger = loss::ledger(file)?;
            if let Some(row) = ledger.iter().find(|row| row.is_certain && row.count != Some(0) && is_loss(row)) {
                return Ok(Some(format!("the recording lost something: {} ({})", row.kind, row.evidence)));
            }
        }
    }
    if gates.disorder && files.iter().any(|file| streams::disorder(file).is_any()) {
        return Ok(Some("the trace is not in the order that its recorder promises".to_owned()));
    }
    if gates.damage && files.iter().any(FileSurvey::is_damaged) {
        return Ok(Some("the trace is damaged".to_owned()));
    }
    Ok(None)
}

/// A counter that was not recorded is no proof of a loss.
fn is_loss(row: &loss::LossRow) -> bool {
    row.count.is_some() || row.from_ns.is_some()
}

/// The first gate that the conversion trips, in words.
pub fn after(report: &Report, gates: &Gates) -> Option<String> {
    let undecoded = undecoded_rows(&report.shapes);
    (gates.undecoded && undecoded > 0).then(|| format!("{undecoded} events could not be decoded whole"))
}

fn exceeds(limit: MaxLoss, lost: u64, found: u64) -> bool {
    match limit {
        MaxLoss::Events(most) => lost > most,
        #[expect(clippy::cast_precision_loss, reason = "a share of events; a few more or less do not matter")]
        MaxLoss::Percent(most) => lost as f64 * 100.0 > most * (lost + found) as f64,
    }
}

impl std::fmt::Display for MaxLoss {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            MaxLoss::Events(most) => write!(f, "{most}"),
            MaxLoss::Percent(most) => write!(f, "{most} %"),
        }
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
