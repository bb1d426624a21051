//! What was lost, for certain and possibly, and what else is unusual.

use std::fmt::Write as _;

use base::readable::count::{Count, counted};
use conversion::sidecar::LossRow;

use super::super::axis::Axis;
use super::super::facts::Facts;
use super::super::figures::moment;
use super::super::html::{Cell, Section, and_more, note, records, text};
use super::super::lanes::Lanes;

/// What is known to be lost, and what may be: `0 events, possibly 2 buffers`.
pub(in super::super) fn lost_in_all(facts: &Facts) -> String {
    let lost = &facts.record.lost;
    let known: Vec<String> = [(lost.events_lost, "events", true), (lost.buffers_lost, "buffers", false)]
        .into_iter()
        .filter_map(|(count, things, shows_none)| Some((count?, things, shows_none)))
        .filter(|(count, _, shows_none)| *count > 0 || *shows_none && lost.unknown_because.is_none())
        .map(|(count, things, _)| counted(count, things))
        .collect();
    let known = match (known.is_empty(), lost.unknown_because.is_some()) {
        (true, _) => "unknown".to_owned(),
        (false, true) => format!("at least {}", known.join(", ")),
        (false, false) => known.join(", "),
    };
    [known].into_iter().chain(facts.lanes.possible()).collect::<Vec<_>>().join(", ")
}

/// The ledger of losses.
pub(in super::super) fn losses(facts: &Facts) -> Section {
    let Lanes { losses, more_losses, .. } = &facts.lanes;
    let content = if losses.is_empty() {
        note("Nothing says that anything was lost.")
    } else {
        let rows: Vec<Vec<Cell>> = losses.iter().map(|one| of_loss(one, &facts.axis)).collect();
        let heads = ["what", "how much", "certain", "processor", "from", "to", "evidence"];
        records("Losses and gaps", &heads, &rows)
            + &and_more(usize::try_from(*more_losses).unwrap_or(usize::MAX), "rows")
    };
    let lead = format!("<p>Lost: {}.</p>\n", text(&lost_in_all(facts)));
    Section::new("losses", "Losses and gaps", lead + &content)
}

fn of_loss(loss: &LossRow, axis: &Axis) -> Vec<Cell> {
    let time = |time: Option<i64>| Cell::number(&time.map_or_else(|| "–".to_owned(), |time| moment(axis, time)));
    // Of a counter that was not recorded nothing follows.
    let amount = loss.count.map(|count| counted(count, &loss.unit));
    let (amount, is_certain) = match (amount, loss.is_certain) {
        (None, _) if loss.is_counter() => ("not recorded".to_owned(), "–"),
        (amount, true) => (amount.unwrap_or_else(|| "unknown".to_owned()), "yes"),
        (amount, false) => (amount.unwrap_or_else(|| "unknown".to_owned()), "possible"),
    };
    let evidence = match &loss.note {
        Some(note) => format!("{} ({note})", loss.evidence),
        None => loss.evidence.clone(),
    };
    vec![
        Cell::text(loss.kind.as_str().replace('_', " ")),
        Cell::Number(amount),
        Cell::text(is_certain),
        Cell::Number(loss.cpu.map_or_else(|| "–".to_owned(), |cpu| cpu.to_string())),
        time(loss.from_time_ns),
        time(loss.to_time_ns),
        Cell::text(evidence),
    ]
}

/// What is unusual, and what would likely have prevented a loss.
pub(in super::super) fn findings(facts: &Facts) -> Section {
    let recorded = &facts.recorded;
    let mut content = String::new();
    if recorded.findings.is_empty() {
        content += &note("Nothing unusual.");
    } else {
        let rows = recorded.findings.iter().map(|finding| {
            vec![
                Cell::text(finding.code.as_str().replace('_', " ")),
                Cell::text(finding.severity.name()),
                Cell::number(&Count(finding.rows)),
                Cell::text(&finding.message),
            ]
        });
        let rows: Vec<Vec<Cell>> = rows.collect();
        content += &records("Findings", &["finding", "severity", "times", "the first"], &rows);
        content += &and_more(recorded.more_findings, "kinds of findings");
    }
    content += "<h3>Advice</h3>\n";
    if recorded.advice.is_empty() {
        content += &note(match facts.lanes.possible() {
            None => "None: nothing is known to be lost that other settings of the session would have kept.",
            Some(_) => "None: what is known of the possible losses names no setting that would have kept it.",
        });
    } else {
        let items =
            recorded.advice.iter().fold(String::new(), |items, advice| items + "<li>" + &text(advice) + "</li>\n");
        let _ = write!(content, "<ul>\n{items}</ul>\n");
    }
    Section::new("findings", "Findings and advice", content)
}
