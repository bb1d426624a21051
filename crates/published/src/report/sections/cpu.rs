//! Who used the processors, and with which code.

use std::fmt::Write as _;

use base::readable::count::{Count, counted};
use base::readable::time::duration;
use conversion::views::to_record;

use super::super::cpu::CpuUsage;
use super::super::executed::Executed;
use super::super::facts::Facts;
use super::super::figures::{Figure, share, zoomed};
use super::super::html::{Cell, Section, note, table, text};
use super::super::interrupts::{Interrupt, Interrupts};
use super::super::samples::CpuSamples;
use super::super::tally::{Amounts, Ranked};
use super::super::unit::Unit;
use super::rows::rows;

/// Who used the processors: by context switches, else by samples. `None` where there are neither.
pub(in super::super) fn cpu(facts: &Facts) -> Option<Section> {
    let content = match (&facts.usage, &facts.samples) {
        (Some(usage), _) => of_switches(facts, usage),
        (None, Some(samples)) => {
            let hint = note(&format!("Samples count; to see times, record {}.", to_record("cpu_intervals")));
            of_samples(facts, samples) + &hint
        }
        (None, None) => return None,
    };
    Some(Section::new("cpu", "CPU by process", content))
}

fn of_switches(facts: &Facts, usage: &CpuUsage) -> String {
    let ranked = &usage.by_process;
    let known = usage.known_ns();
    let words = Figure { id: "cpu", title: "Time on processors by process", things: "processes", unit: Unit::Time };
    let lead = format!(
        "<p>Context switches of {}: busy for {} of {} ({}). Known is {} of their time; who ran for the other {}, nobody knows.</p>\n",
        counted(usage.processors as u64, "processors"),
        duration(usage.busy_ns),
        duration(known),
        text(&share(usage.busy_ns, known)),
        text(&share(known, known.saturating_add(usage.unknown_ns))),
        duration(usage.unknown_ns)
    );
    let rows = rows(ranked, |amounts| {
        let [runs, ..] = amounts.counters;
        let runs = if runs == 0 { "–".to_owned() } else { Count(runs).to_string() };
        vec![duration(amounts.weight), share(amounts.weight, known), runs]
    });
    let table = table("Time on processors by process", &["process", "on processors", "of known time", "runs"], &rows);
    let sums = sums(usage, &facts.interrupts);
    format!("{lead}{}{table}{sums}", zoomed(words, &facts.axis, ranked, &usage.slices))
}

/// What the processors did in all: it adds up to what was recorded of them.
fn sums(usage: &CpuUsage, interrupts: &Interrupts) -> String {
    let all = usage.known_ns().saturating_add(usage.unknown_ns);
    let [dpc, isr] = usage.interrupts_ns;
    let of_interrupt = |interrupt, ns| interrupts.has(interrupt).then_some(ns);
    let kinds = [
        ("processes", Some(usage.busy_ns)),
        ("idle", Some(usage.idle_ns)),
        (Interrupt::Dpc.name(), of_interrupt(Interrupt::Dpc, dpc)),
        (Interrupt::Isr.name(), of_interrupt(Interrupt::Isr, isr)),
        ("unknown", Some(usage.unknown_ns)),
        ("in all", Some(all)),
    ];
    let rows: Vec<Vec<Cell>> = kinds
        .into_iter()
        .map(|(kind, ns)| {
            let amounts = match ns {
                Some(ns) => [duration(ns), share(ns, all)],
                None => ["not recorded".to_owned(), "–".to_owned()],
            };
            [Cell::text(kind)].into_iter().chain(amounts.map(Cell::Number)).collect()
        })
        .collect();
    let left_out = match interrupts.left_out {
        0 => String::new(),
        more => note(&format!(
            "{} had no room in this report: their time is that of what they interrupted.",
            counted(more, "runs of interrupts")
        )),
    };
    format!("<h3>All processors</h3>\n{}{left_out}", table("Time of all processors", &["", "time", "share"], &rows))
}

fn of_samples(facts: &Facts, samples: &CpuSamples) -> String {
    let all = samples.by_process.weight();
    let words =
        Figure { id: "samples", title: "Samples by process", things: "processes", unit: Unit::Things("samples") };
    // A profiler that takes samples of threads alone has none of idle processors.
    let busy = match samples.idle {
        0 => String::new(),
        idle => format!(": {} busy", text(&share(all, all.saturating_add(idle)))),
    };
    format!(
        "<p>{} of the profiler, and {} of idle processors{busy}.</p>\n{}{}",
        counted(all, "samples"),
        Count(samples.idle),
        zoomed(words, &facts.axis, &samples.by_process, &samples.slices),
        of_places("Samples by process", "process", &samples.by_process, all)
    )
}

fn of_places(caption: &str, head: &str, ranked: &Ranked, all: u64) -> String {
    let cells = |amounts: &Amounts| vec![Count(amounts.weight).to_string(), share(amounts.weight, all)];
    table(caption, &[head, "samples", "share"], &rows(ranked, cells))
}

/// Which code ran: methods of .NET and modules; `None` without samples.
pub(in super::super) fn code(facts: &Facts) -> Option<Section> {
    let Some(samples) = &facts.samples else { return None };
    let all = samples.by_process.weight();
    let mut content = String::new();
    if facts.usage.is_some() {
        content += &of_samples(facts, samples);
    }
    let methods = samples.by_method.weight();
    if methods > 0 {
        let lead = format!("{} of {} lie in methods of .NET.", Count(methods), counted(all, "samples"));
        let _ = writeln!(content, "<h3>Top methods</h3>\n<p>{lead}</p>");
        content += &of_places("Samples by method", "method of .NET", &samples.by_method, all);
    }
    if let Some(executed) = &facts.executed {
        content += &functions(executed, all);
    }
    content += "<h3>Top modules</h3>\n";
    content += &of_places("Samples by module", "module", &samples.by_module, all);
    if samples.left_out > 0 {
        let left_out = counted(samples.left_out, "spans of modules and methods");
        content += &note(&format!("{left_out} had no room in this report."));
    }
    Some(Section::new("code", "CPU by method and module", content))
}

/// The functions that executed, with stacks or without.
fn functions(executed: &Executed, all: u64) -> String {
    let left_out = match executed.left_out {
        0 => String::new(),
        more => note(&format!("{} had no room in this table.", counted(more, "further samples"))),
    };
    let table = of_places("Samples by function that executed", "function", &executed.by_function, all);
    format!("<h3>Top functions</h3>\n{table}{left_out}")
}

/// Which drivers' routines interrupted threads; `None` where none was recorded.
pub(in super::super) fn interrupts(facts: &Facts) -> Option<Section> {
    let Interrupts { by_driver, .. } = &facts.interrupts;
    let runs = by_driver.counter(0);
    if runs == 0 {
        return None;
    }
    let lead = format!(
        "<p>{} of {} in all; the longest took {}. One that another interrupted has that one's time, too.</p>\n",
        counted(runs, "runs"),
        duration(by_driver.weight()),
        duration(by_driver.all().map(|amounts| amounts.largest).max().unwrap_or(0))
    );
    let rows = rows(by_driver, |amounts| {
        let [runs, ..] = amounts.counters;
        vec![duration(amounts.weight), Count(runs).to_string(), duration(amounts.largest)]
    });
    let table = table("Interrupts by driver", &["driver", "time", "runs", "longest"], &rows);
    Some(Section::new("interrupts", "DPCs and interrupts by driver", lead + &table))
}
