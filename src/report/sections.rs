//! Sections on the recording itself: what it is, its events over time, its buffers, its clocks, what was found in it.

use std::fmt::Write as _;

use indicatif::{HumanBytes, HumanCount};

use super::axis::Axis;
use super::charts::{Words, lane, row};
use super::facts::Facts;
use super::figures::{moment, rest, scale, share};
use super::html::{Cell, and_more, note, section, table, text, values};
use super::lanes::{Lane, Lanes, Loss};
use super::providers::Providers;
use super::recorded::{Clock, Recorded, Session};
use crate::calendar::rfc3339;
use crate::error::Result;
use crate::readable::count::counted;
use crate::readable::time::duration;

/// What recorded, where and when.
pub(super) fn about(facts: &Facts) -> String {
    let recorded = &facts.recorded;
    let mut content = String::new();
    if let Some(machine) = &recorded.machine {
        let mut about = Vec::new();
        let name = [machine.name.as_deref(), machine.domain.as_deref()];
        let name: Vec<String> = name.into_iter().flatten().map(text).collect();
        if !name.is_empty() {
            about.push(("Machine", name.join(", ")));
        }
        let hardware = [
            machine.mhz.map(|mhz| format!("processors of {mhz} MHz")),
            machine.memory_mib.map(|mib| {
                format!("{} of memory", HumanBytes(u64::try_from(mib).unwrap_or(0).saturating_mul(1 << 20)))
            }),
        ];
        about.push(("Hardware", hardware.into_iter().flatten().collect::<Vec<_>>().join(", ")));
        content += &values(&about);
    }
    for session in recorded.shown() {
        if recorded.sessions.len() > 1 {
            let _ = writeln!(content, "<h3>{}</h3>", text(&session.source));
        }
        content += &values(&of_session(session));
    }
    content += &and_more(recorded.more_inputs, "inputs");
    let events = facts.record.events;
    if events.filtered > 0 {
        content +=
            &note(&format!("Filters left out {} of {} events.", HumanCount(events.filtered), HumanCount(events.found)));
    }
    section("about", "Recording", &content)
}

fn of_session(session: &Session) -> Vec<(&'static str, String)> {
    let time = |time: Option<i64>| time.map_or_else(|| "not recorded".to_owned(), rfc3339);
    let [start, end, boot] = session.times;
    let end = if session.is_closed { time(end) } else { "never closed".to_owned() };
    let known = |text_of: &Option<String>| text_of.as_deref().map_or_else(|| "not recorded".to_owned(), text);
    let mut values = vec![
        ("File", format!("{} ({})", text(&session.source), HumanBytes(session.size))),
        ("Session", known(&session.logger)),
        ("Written to", known(&session.log_file)),
        ("Started", time(start)),
        ("Ended", end),
        ("System booted", time(boot)),
        (
            "System",
            format!("{}, {} bits, {}", text(&session.system), session.bits, counted(session.processors, "processors")),
        ),
        ("Buffers", format!("{} of {}", HumanCount(session.buffers), HumanBytes(session.buffer_size))),
        ("Mode", text(&session.modes.join(", "))),
    ];
    if !session.flags.is_empty() {
        values.push(("Kernel flags", text(&session.flags.join(", "))));
    }
    values.push(("Lost", lost(session)));
    if let Some(hash) = &session.blake3 {
        values.push(("BLAKE3", text(hash)));
    }
    values
}

fn lost(session: &Session) -> String {
    let [events, buffers] = session.lost;
    let count = |count: Option<u64>, things| {
        count.map_or_else(|| format!("{things} not recorded"), |count| counted(count, things))
    };
    let known = format!("{}, {}", count(events, "events"), count(buffers, "buffers"));
    match &session.unknown_because {
        Some(reason) => format!("{known}; nobody can know all: {}", text(reason)),
        None => known,
    }
}

/// Events of each provider over time.
///
/// # Errors
/// [`ErrorKind::Internal`](crate::ErrorKind::Internal) when a chart cannot be drawn.
pub(super) fn timeline(facts: &Facts) -> Result<String> {
    let ranked = &facts.providers.by_dataset;
    let rest = rest(ranked);
    let others = ranked.rest.iter().zip(&rest).map(|(rest, name)| (name.as_str(), &rest.amounts));
    let mut rows = String::new();
    for ((name, amounts), number) in
        ranked.shown.iter().map(|(name, amounts)| (name.as_str(), amounts)).chain(others).zip(0..)
    {
        let (name, count) = (text(name), counted(amounts.weight, "events"));
        let id = format!("timeline-{number}");
        let title = format!("Events of {name} over time");
        let svg = row(Words { id: &id, title: &title, description: &count }, &amounts.bins, 0)?;
        let _ = write!(rows, "<div><div class=\"head\"><span>{name}</span><span>{count}</span></div>\n{svg}</div>\n");
    }
    let outside = ranked.all().fold(0_u64, |sum, amounts| sum.saturating_add(amounts.counters[1]));
    let outside = match outside {
        0 => String::new(),
        outside => note(&format!("{} before the window that the ring kept, or behind it.", counted(outside, "events"))),
    };
    let lead = "<p>Each row has a scale of its own: its highest mark is its busiest time.</p>\n";
    let content = format!("{lead}<div class=\"rows\">\n{rows}</div>\n{}{outside}", scale(&facts.axis));
    Ok(section("timeline", "Events over time", &content))
}

/// Buffers of each processor over time.
///
/// # Errors
/// [`ErrorKind::Internal`](crate::ErrorKind::Internal) when a chart cannot be drawn.
pub(super) fn lanes(facts: &Facts) -> Result<String> {
    let Lanes { shown, more, losses, more_losses, .. } = &facts.lanes;
    let mut rows = String::new();
    for (one, number) in shown.iter().zip(0..) {
        let name = name_of(one, &facts.recorded);
        let numbers = numbers_of(one);
        let title = format!("Buffers of {name} over time");
        let svg = lane(Words { id: &format!("lane-{number}"), title: &title, description: &numbers }, one)?;
        let _ = write!(rows, "<div><div class=\"head\"><span>{name}</span><span>{numbers}</span></div>\n{svg}</div>\n");
    }
    let lead = "<p>How full the fullest buffer was at each time, from empty to full; blank where no buffer has events.</p>\n\
        <ul class=\"legend\"><li><i class=\"c0\"></i>fill</li><li><i class=\"certain\"></i>lost for certain</li>\
        <li><i class=\"possible\"></i>possibly lost</li></ul>\n";
    let mut content =
        format!("{lead}<div class=\"rows\">\n{rows}</div>\n{}{}", scale(&facts.axis), and_more(*more, "processors"));
    content += "<h3>Losses and gaps</h3>\n";
    if losses.is_empty() {
        content += &note("Nothing says that anything was lost.");
    } else {
        let rows: Vec<Vec<Cell>> = losses.iter().map(|one| loss(one, &facts.axis)).collect();
        content +=
            &table("Losses and gaps", &["what", "how much", "processor", "certain", "from", "to", "evidence"], &rows);
        content += &and_more(usize::try_from(*more_losses).unwrap_or(usize::MAX), "rows");
    }
    Ok(section("lanes", "Buffers and losses", &content))
}

fn name_of(lane: &Lane, recorded: &Recorded) -> String {
    let cpu = lane.cpu.map_or_else(|| "all processors".to_owned(), |cpu| format!("CPU {cpu}"));
    match recorded.sessions.get(lane.input).filter(|_| recorded.sessions.len() > 1) {
        Some(session) => format!("{}, {cpu}", text(&session.source)),
        None => cpu,
    }
}

fn numbers_of(lane: &Lane) -> String {
    let fill = format!("{}.{} % full", lane.fill / 10, lane.fill % 10);
    let mut numbers = vec![counted(lane.buffers, "buffers"), fill, counted(lane.events, "events")];
    if lane.gaps > 0 {
        numbers.push(counted(lane.gaps, "gaps"));
    }
    if lane.possible_gaps > 0 {
        numbers.push(counted(lane.possible_gaps, "possible gaps"));
    }
    numbers.join(" · ")
}

fn loss(loss: &Loss, axis: &Axis) -> Vec<Cell> {
    let time = |time: Option<i64>| Cell::number(&time.map_or_else(|| "–".to_owned(), |time| moment(axis, time)));
    let count = loss.count.map(|count| counted(u64::try_from(count).unwrap_or(0), &loss.unit));
    vec![
        Cell::text(loss.kind.replace('_', " ")),
        Cell::number(&count.unwrap_or_else(|| "unknown".to_owned())),
        Cell::number(&loss.cpu.map_or_else(|| "–".to_owned(), |cpu| cpu.to_string())),
        Cell::text(if loss.is_certain { "yes" } else { "possible" }),
        time(loss.span.0),
        time(loss.span.1),
        Cell::text(&loss.evidence),
    ]
}

/// Events of each provider, and what is not decoded.
pub(super) fn providers(facts: &Facts) -> String {
    let Providers { by_dataset: ranked, undecoded, more_undecoded } = &facts.providers;
    let all = ranked.weight();
    let row = |name: &str, weight: u64, whole: u64| {
        let number = |text: String| Cell::Number(text);
        vec![
            Cell::text(name),
            number(HumanCount(weight).to_string()),
            number(share(weight, all)),
            number(share(whole, weight)),
        ]
    };
    let mut rows: Vec<Vec<Cell>> =
        ranked.shown.iter().map(|(name, amounts)| row(name, amounts.weight, amounts.counters[0])).collect();
    let others = ranked.rest.iter().zip(rest(ranked));
    rows.extend(others.map(|(rest, name)| row(&name, rest.amounts.weight, rest.amounts.counters[0])));
    let mut content = table("Events by provider", &["provider", "events", "share", "decoded"], &rows);
    content += "<h3>Not decoded</h3>\n";
    if undecoded.is_empty() {
        content += &note("Every event is decoded whole.");
    } else {
        let rows: Vec<Vec<Cell>> = undecoded
            .iter()
            .map(|one| {
                let hint = one.hint.as_deref().unwrap_or("–");
                vec![
                    Cell::text(&one.dataset),
                    Cell::text(&one.event),
                    Cell::number(&HumanCount(one.rows)),
                    Cell::text(hint),
                ]
            })
            .collect();
        content += &table("Events that are not decoded", &["provider", "event", "rows", "what would help"], &rows);
        content += &and_more(*more_undecoded, "events");
    }
    section("providers", "Providers", &content)
}

/// Clocks of the inputs.
pub(super) fn clocks(facts: &Facts) -> String {
    let mut content = String::new();
    for clock in &facts.recorded.clocks {
        if facts.recorded.clocks.len() > 1 {
            let _ = writeln!(content, "<h3>{}</h3>", text(&clock.source));
        }
        content += &values(&of_clock(clock));
    }
    section("clocks", "Clocks", &content)
}

fn of_clock(clock: &Clock) -> Vec<(&'static str, String)> {
    let quality = match clock.quality.as_str() {
        "good" => "good: monotonic, does not see adjustments of the system time",
        "coarse" => "coarse: steps of the timer tick, so that many events share one time",
        "adjustable" => "adjustable: system time, which may have been set while this was recorded",
        "unreliable" => "unreliable: cycles of a processor whose rate is known in whole MHz",
        other => other,
    };
    let [back, forward] = clock.steps_ns;
    let mut values = vec![("Clock", text(&clock.kind)), ("Quality", text(quality))];
    values.extend(clock.resolution_ns.map(|ns| ("Resolution", duration(ns))));
    let zone = clock.bias_min.map(|bias| {
        let sign = if bias > 0 { '−' } else { '+' };
        let (hours, minutes) = (bias.unsigned_abs() / 60, bias.unsigned_abs() % 60);
        format!("UTC{sign}{hours:02}:{minutes:02} {}", clock.zone.as_deref().map(text).unwrap_or_default())
    });
    values.extend(zone.map(|zone| ("Time zone", zone)));
    let order = match clock.disorder {
        0 => "every buffer in order".to_owned(),
        disorder => format!("{}, the largest of {}", counted(disorder, "steps back"), duration(back)),
    };
    values.push(("Order", order));
    values.push(("Longest pause", format!("{} between two buffers", duration(forward))));
    values
}

/// What is unusual, and what would likely have prevented a loss.
pub(super) fn findings(recorded: &Recorded) -> String {
    let mut content = String::new();
    if recorded.findings.is_empty() {
        content += &note("Nothing unusual.");
    } else {
        let rows: Vec<Vec<Cell>> = recorded
            .findings
            .iter()
            .map(|finding| {
                vec![
                    Cell::text(finding.code.replace('_', " ")),
                    Cell::text(&finding.severity),
                    Cell::number(&HumanCount(finding.rows)),
                    Cell::text(&finding.message),
                ]
            })
            .collect();
        content += &table("Findings", &["finding", "severity", "times", "the first"], &rows);
        content += &and_more(recorded.more_findings, "kinds of findings");
    }
    content += "<h3>Advice</h3>\n";
    if recorded.advice.is_empty() {
        content += &note("None: nothing is known to be lost that other settings of the session would have kept.");
    } else {
        let items =
            recorded.advice.iter().fold(String::new(), |items, advice| items + "<li>" + &text(advice) + "</li>\n");
        let _ = write!(content, "<ul>\n{items}</ul>\n");
    }
    section("findings", "Findings and advice", &content)
}
