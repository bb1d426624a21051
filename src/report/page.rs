//! The page as a whole.

use std::fmt::Write as _;

use indicatif::HumanCount;

use super::answers::answers;
use super::facts::Facts;
use super::figures::share;
use super::html::{note, text};
use super::sections;
use crate::calendar::rfc3339;
use crate::error::Result;
use crate::readable::count::counted;
use crate::readable::time::duration;

/// How the page looks.
const STYLE: &str = include_str!("style.css");

/// The page of a trace: HTML that asks for nothing else.
///
/// # Errors
/// [`ErrorKind::Internal`](crate::ErrorKind::Internal) when a chart cannot be drawn.
pub fn page(facts: &Facts) -> Result<String> {
    let name = text(&facts.record.trace);
    let mut parts = vec![
        ("about", "Recording", sections::about(facts)),
        ("timeline", "Events over time", sections::timeline(facts)?),
        ("lanes", "Buffers and losses", sections::lanes(facts)?),
    ];
    parts.extend(answers(facts)?);
    parts.extend([
        ("providers", "Providers", sections::providers(facts)),
        ("clocks", "Clocks", sections::clocks(facts)),
        ("findings", "Findings and advice", sections::findings(&facts.recorded)),
    ]);
    let contents = parts.iter().fold(String::new(), |mut contents, (id, heading, _)| {
        let _ = writeln!(contents, "<li><a href=\"#{id}\">{heading}</a></li>");
        contents
    });
    let main: String = parts.into_iter().map(|(_, _, section)| section).collect();
    Ok(format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"referrer\" content=\"no-referrer\">\n<title>{name} – trace report</title>\n\
         <style>\n{STYLE}</style>\n</head>\n<body>\n<a class=\"skip\" href=\"#about\">To the report</a>\n\
         <header>\n<h1>{name}</h1>\n<p class=\"lead\">{}</p>\n{}\
         <nav aria-label=\"Contents\"><ul>\n{contents}</ul></nav>\n</header>\n\
         <main>\n{main}</main>\n<footer>{}</footer>\n</body>\n</html>\n",
        when(facts),
        tiles(facts),
        footer(facts)
    ))
}

fn when(facts: &Facts) -> String {
    let (first, last) = (facts.axis.first(), facts.axis.last());
    match facts.recorded.span {
        Some(_) => format!("{} to {}", rfc3339(first), rfc3339(last)),
        None => "without an event".to_owned(),
    }
}

/// What is asked first.
fn tiles(facts: &Facts) -> String {
    let (events, lost) = (facts.record.events, &facts.record.lost);
    let is_whole = |kind: &str| kind.ends_with("/ok") || kind.ends_with("/padded");
    let decode = &facts.record.decode;
    let sum = |of: &dyn Fn(&str) -> bool| {
        decode.iter().filter(|(kind, _)| of(kind)).fold(0_u64, |sum, (_, rows)| sum.saturating_add(*rows))
    };
    let lost = match (lost.events_lost, &lost.unknown_because) {
        (Some(count), None) => counted(count, "events"),
        (Some(count), Some(_)) if count > 0 => format!("at least {}", counted(count, "events")),
        _ => "unknown".to_owned(),
    };
    let ranked = &facts.providers.by_dataset;
    let providers = ranked.shown.len() + ranked.rest.as_ref().map_or(0, |rest| rest.names);
    let tiles = [
        ("Events", HumanCount(events.written).to_string()),
        ("Length", duration(facts.axis.length())),
        ("Providers", HumanCount(providers as u64).to_string()),
        ("Decoded", share(sum(&is_whole), sum(&|_| true))),
        ("Lost", lost),
        ("Damaged", damage(facts)),
    ];
    let tiles = tiles.iter().fold(String::new(), |mut tiles, (name, value)| {
        let _ = writeln!(tiles, "<div><dt>{name}</dt><dd>{}</dd></div>", text(value));
        tiles
    });
    format!("<dl class=\"tiles\">\n{tiles}</dl>\n")
}

/// What could not be read, and what is not there.
fn damage(facts: &Facts) -> String {
    let events = facts.record.events;
    let parts = [
        (events.damaged_bytes, "bytes", ""),
        (events.damaged, "events", ""),
        (facts.lanes.absent_buffers, "buffers", " missing"),
    ];
    let parts = parts.into_iter().filter(|(count, ..)| *count > 0);
    let parts: Vec<String> = parts.map(|(count, things, what)| counted(count, things) + what).collect();
    if parts.is_empty() { "nothing".to_owned() } else { parts.join(", ") }
}

fn footer(facts: &Facts) -> String {
    let left_out = match facts.left_out {
        0 => String::new(),
        more => note(&format!(
            "{} had no room: their events stand under “unknown”.",
            counted(more, "spans of processes and threads")
        )),
    };
    format!("{left_out}<p>Made by etl2parquet {}. Times are UTC.</p>", text(&facts.record.tool_version))
}
