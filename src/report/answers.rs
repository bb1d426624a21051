//! Sections on who used the processors, disks and networks, and on pauses of .NET.

use indicatif::{HumanBytes, HumanCount};

use super::cpu::{CpuSamples, CpuUsage};
use super::facts::Facts;
use super::figures::{Figure, Unit, figure, moment, rest, share};
use super::html::{Cell, note, section, table, text};
use super::pauses::Pauses;
use super::tally::{Amounts, Ranked};
use crate::error::Result;
use crate::readable::count::counted;
use crate::readable::time::duration;
use crate::views::to_record;

/// Those sections, with what each is called in the contents.
///
/// # Errors
/// [`ErrorKind::Internal`](crate::ErrorKind::Internal) when a chart cannot be drawn.
pub(super) fn answers(facts: &Facts) -> Result<Vec<(&'static str, &'static str, String)>> {
    let missing =
        |what: &str, question| note(&format!("This trace has no {what}. To see this, record {}.", to_record(question)));
    let usage = match &facts.usage {
        Some(found) => usage(facts, found)?,
        None => missing("context switches", "cpu_intervals"),
    };
    let samples = match &facts.samples {
        Some(found) => samples(facts, found)?,
        None => missing("samples of the profiler", "cpu_samples"),
    };
    let disk = match &facts.disk {
        Some(found) => bytes(facts, DISK, found)?,
        None => missing("disk operations", "disk_io"),
    };
    let network = match &facts.network {
        Some(found) => bytes(facts, NETWORK, found)?,
        None => missing("packets of TCP or UDP", "network"),
    };
    let pauses = match &facts.pauses {
        Some(found) => pauses(facts, found)?,
        None => missing("pauses of .NET", "gc_pauses"),
    };
    let sections = [
        ("cpu", "CPU by process", usage),
        ("samples", "CPU by module", samples),
        ("disk", "Disk by process", disk),
        ("network", "Network by process", network),
        ("pauses", "Pauses of .NET", pauses),
    ];
    Ok(sections.map(|(id, heading, content)| (id, heading, section(id, heading, &content))).into())
}

/// A row for each name, and one for the others.
fn rows(ranked: &Ranked, cells: impl Fn(&Amounts) -> Vec<String>) -> Vec<Vec<Cell>> {
    let row = |name: &str, amounts: &Amounts| {
        let cells = cells(amounts).into_iter().map(Cell::Number);
        [Cell::text(name)].into_iter().chain(cells).collect::<Vec<Cell>>()
    };
    let mut rows: Vec<Vec<Cell>> = ranked.shown.iter().map(|(name, amounts)| row(name, amounts)).collect();
    rows.extend(ranked.rest.iter().zip(rest(ranked)).map(|(more, name)| row(&name, &more.amounts)));
    rows
}

fn usage(facts: &Facts, usage: &CpuUsage) -> Result<String> {
    let ranked = &usage.by_process;
    let busy = ranked.weight();
    let known = busy.saturating_add(usage.idle_ns);
    let words = Figure { id: "cpu", title: "Time on processors by process", things: "processes", unit: Unit::Time };
    let lead = format!(
        "<p>Context switches of {}: busy for {} of {} ({}). Known is {} of their time; who ran for the other {}, nobody knows.</p>\n",
        counted(usage.processors as u64, "processors"),
        duration(busy),
        duration(known),
        text(&share(busy, known)),
        text(&share(known, known.saturating_add(usage.unknown_ns))),
        duration(usage.unknown_ns)
    );
    let rows = rows(ranked, |amounts| {
        let [runs, ..] = amounts.counters;
        vec![duration(amounts.weight), share(amounts.weight, known), HumanCount(runs).to_string()]
    });
    let table = table("Time on processors by process", &["process", "on processors", "of known time", "runs"], &rows);
    Ok(format!("{lead}{}{table}", figure(words, &facts.axis, ranked)?))
}

fn samples(facts: &Facts, samples: &CpuSamples) -> Result<String> {
    let all = samples.by_process.weight();
    let words =
        Figure { id: "samples", title: "Samples by process", things: "processes", unit: Unit::Things("samples") };
    let count = |amounts: &Amounts| vec![HumanCount(amounts.weight).to_string(), share(amounts.weight, all)];
    let left_out = match samples.left_out {
        0 => String::new(),
        more => note(&format!("{} had no room in this report.", counted(more, "spans of modules and methods"))),
    };
    let processes = rows(&samples.by_process, count);
    let modules = rows(&samples.by_module, count);
    Ok(format!(
        "<p>{} of the profiler, and {} of idle processors.</p>\n{}<h3>Top modules</h3>\n{}{left_out}<h3>Processes</h3>\n{}",
        counted(all, "samples"),
        HumanCount(samples.idle),
        figure(words, &facts.axis, &samples.by_process)?,
        table("Samples by module", &["module", "samples", "share"], &modules),
        table("Samples by process", &["process", "samples", "share"], &processes)
    ))
}

/// A section on bytes that went two ways.
#[derive(Clone, Copy, Debug)]
struct Ways {
    figure: Figure<'static>,
    heads: [&'static str; 4],
    /// What the third counter counts.
    operations: &'static str,
    /// Whether the fourth counter is a time.
    has_time: bool,
}

const DISK: Ways = Ways {
    figure: Figure { id: "disk", title: "Bytes read and written by process", things: "processes", unit: Unit::Bytes },
    heads: ["process", "read", "written", "operations"],
    operations: "operations",
    has_time: true,
};

const NETWORK: Ways = Ways {
    figure: Figure {
        id: "network",
        title: "Bytes sent and received by process",
        things: "processes",
        unit: Unit::Bytes,
    },
    heads: ["process", "sent", "received", "events"],
    operations: "events",
    has_time: false,
};

fn bytes(facts: &Facts, ways: Ways, ranked: &Ranked) -> Result<String> {
    let sum = |counter: usize| {
        ranked.all().filter_map(|amounts| amounts.counters.get(counter)).fold(0_u64, |sum, x| sum.saturating_add(*x))
    };
    let [_, there, back, _] = ways.heads;
    let lead = format!(
        "<p>{} {there} and {} {back} in {}.</p>\n",
        HumanBytes(sum(0)),
        HumanBytes(sum(1)),
        counted(sum(2), ways.operations)
    );
    let rows = rows(ranked, |amounts| {
        let [there, back, operations, took] = amounts.counters;
        let mut cells =
            vec![HumanBytes(there).to_string(), HumanBytes(back).to_string(), HumanCount(operations).to_string()];
        if ways.has_time {
            cells.push(duration(took.checked_div(operations).unwrap_or(0)));
        }
        cells
    });
    let mut heads = ways.heads.to_vec();
    if ways.has_time {
        heads.push("mean time");
    }
    let chart = figure(ways.figure, &facts.axis, ranked)?;
    Ok(format!("{lead}{chart}{}", table(ways.figure.title, &heads, &rows)))
}

fn pauses(facts: &Facts, pauses: &Pauses) -> Result<String> {
    let ranked = &pauses.by_process;
    let count = ranked.all().fold(0_u64, |sum, amounts| sum.saturating_add(amounts.counters[0]));
    let words =
        Figure { id: "pauses", title: "Time that threads of .NET were stopped", things: "processes", unit: Unit::Time };
    let longest = pauses.longest.first().map_or(0, |pause| pause.length);
    let lead = format!(
        "<p>{} of {} in all; the longest took {}.</p>\n",
        counted(count, "pauses"),
        duration(ranked.weight()),
        duration(longest)
    );
    let by_process =
        rows(ranked, |amounts| vec![HumanCount(amounts.counters[0]).to_string(), duration(amounts.weight)]);
    let longest: Vec<Vec<Cell>> = pauses
        .longest
        .iter()
        .map(|pause| {
            vec![
                Cell::text(&pause.process),
                Cell::number(&duration(pause.length)),
                Cell::number(&moment(&facts.axis, pause.from)),
                Cell::text(pause.reason.as_deref().unwrap_or("–")),
            ]
        })
        .collect();
    let left_out = match pauses.left_out {
        0 => String::new(),
        more => note(&format!("{} had no room in this report.", text(&counted(more, "further marks of pauses")))),
    };
    Ok(format!(
        "{lead}{}{}<h3>Longest pauses</h3>\n{}{left_out}",
        figure(words, &facts.axis, ranked)?,
        table("Pauses by process", &["process", "pauses", "in all"], &by_process),
        table("Longest pauses", &["process", "length", "at", "reason"], &longest)
    ))
}
