//! The recording: its buffers, its clocks, and what recorded it.

use std::fmt::Write as _;

use base::calendar::rfc3339;
use base::readable::count::{ByteCount, Count, counted};
use base::readable::time::duration;
use conversion::sidecar::{ClockRow, InputFacts, SessionRow, Time};

use super::super::charts::{Words, lane};
use super::super::facts::Facts;
use super::super::figures::scale;
use super::super::hover::of_lane;
use super::super::html::{Section, and_more, note, text, values};
use super::super::lanes::{Lane, Lanes};
use super::super::recorded::Recorded;

/// Buffers of each processor over time.
pub(in super::super) fn buffers(facts: &Facts) -> Section {
    let Lanes { shown, more, .. } = &facts.lanes;
    let mut rows = String::new();
    for (one, number) in shown.iter().zip(0..) {
        let name = name_of(one, &facts.recorded);
        let numbers = numbers_of(one);
        let title = format!("Buffers of {name} over time");
        let (id, hover) = (format!("lane-{number}"), of_lane(&facts.axis, one));
        let svg = lane(Words { id: &id, title: &title, description: &numbers, hover: &hover }, one);
        let _ = write!(rows, "<div><div class=\"head\"><span>{name}</span><span>{numbers}</span></div>\n{svg}</div>\n");
    }
    let lead = "<p>How full the fullest buffer was at each time, from empty to full; blank where no buffer has events.</p>\n\
        <ul class=\"legend\"><li><i class=\"c0\"></i>fill</li><li><i class=\"certain\"></i>lost for certain</li>\
        <li><i class=\"possible\"></i>possibly lost</li></ul>\n";
    let content =
        format!("{lead}<div class=\"rows\">\n{rows}</div>\n{}{}", scale(&facts.axis), and_more(*more, "processors"));
    Section::new("buffers", "Buffers", content)
}

fn name_of(lane: &Lane, recorded: &Recorded) -> String {
    let cpu = lane.cpu.map_or_else(|| "all processors".to_owned(), |cpu| format!("CPU {cpu}"));
    match recorded.inputs.get(lane.input).filter(|_| recorded.inputs.len() > 1) {
        Some(input) => format!("{}, {cpu}", text(&input.session.source)),
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

/// Clocks of the inputs.
pub(in super::super) fn clocks(facts: &Facts) -> Section {
    let mut content = String::new();
    let inputs = facts.recorded.shown();
    for InputFacts { clock, .. } in inputs {
        if inputs.len() > 1 {
            let _ = writeln!(content, "<h3>{}</h3>", text(&clock.source));
        }
        content += &values(&of_clock(clock));
    }
    Section::new("clocks", "Clocks", content)
}

fn of_clock(clock: &ClockRow) -> Vec<(&'static str, String)> {
    let quality = match &*clock.quality {
        "good" => "good: monotonic, does not see adjustments of the system time",
        "coarse" => "coarse: steps of the timer tick, so that many events share one time",
        "adjustable" => "adjustable: system time, which may have been set while this was recorded",
        "unreliable" => "unreliable: cycles of a processor whose rate is known in whole MHz",
        other => other,
    };
    let ns = |ns: i64| u64::try_from(ns).ok().map(duration);
    let not_recorded = || "not recorded".to_owned();
    let mut values = vec![("Clock", text(&clock.clock)), ("Quality", text(quality))];
    values.extend(clock.resolution_ns.and_then(ns).map(|resolution| ("Resolution", resolution)));
    let bias = clock.time_zone_bias_min;
    let sign = if bias > 0 { '−' } else { '+' };
    let (hours, minutes) = (bias.unsigned_abs() / 60, bias.unsigned_abs() % 60);
    let name = clock.time_zone_name.as_deref().map(text).unwrap_or_default();
    values.push(("Time zone", format!("UTC{sign}{hours:02}:{minutes:02} {name}")));
    let disorder = clock.disorder_in_buffer.saturating_add(clock.disorder_between_buffers);
    let largest = ns(clock.largest_step_back_ns).unwrap_or_else(not_recorded);
    let order = match disorder {
        0 => "every buffer in order".to_owned(),
        disorder => format!("{}, the largest of {largest}", counted(disorder, "steps back")),
    };
    values.push(("Order", order));
    let pause = ns(clock.largest_step_forward_ns).map(|pause| format!("{pause} between two buffers"));
    values.push(("Longest pause", pause.unwrap_or_else(not_recorded)));
    values
}

/// What recorded, where and when.
pub(in super::super) fn about(facts: &Facts) -> Section {
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
            machine
                .memory_mib
                .map(|mib| format!("{} of memory", ByteCount(u64::try_from(mib).unwrap_or(0).saturating_mul(1 << 20)))),
        ];
        about.push(("Hardware", hardware.into_iter().flatten().collect::<Vec<_>>().join(", ")));
        content += &values(&about);
    }
    for InputFacts { session, .. } in recorded.shown() {
        if recorded.inputs.len() > 1 {
            let _ = writeln!(content, "<h3>{}</h3>", text(&session.source));
        }
        content += &values(&of_session(session));
    }
    content += &and_more(recorded.more_inputs, "inputs");
    let events = facts.record.events;
    if events.filtered > 0 {
        content += &note(&format!("Filters left out {} of {} events.", Count(events.filtered), Count(events.found)));
    }
    Section::new("about", "Recording", content)
}

fn of_session(session: &SessionRow) -> Vec<(&'static str, String)> {
    let time = |time: Option<Time>| time.map_or_else(|| "not recorded".to_owned(), |Time(ns)| rfc3339(ns));
    let end = if session.closed { time(session.end_time) } else { "never closed".to_owned() };
    let known = |text_of: &Option<String>| text_of.as_deref().map_or_else(|| "not recorded".to_owned(), text);
    let system = format!("Windows {} build {}", session.os_version, session.os_build);
    let bits = u64::from(session.pointer_size).saturating_mul(8);
    let mut values = vec![
        ("File", format!("{} ({})", text(&session.source), ByteCount(session.size))),
        ("Session", known(&session.logger_name)),
        ("Written to", known(&session.log_file_name)),
        ("Started", time(session.start_time)),
        ("Ended", end),
        ("System booted", time(session.boot_time)),
        (
            "System",
            format!(
                "{}, {}, {}",
                text(&system),
                counted(bits, "bits"),
                counted(session.cpu_count.into(), "processors")
            ),
        ),
        (
            "Buffers",
            format!("{} of {}", counted(session.buffers_found, "buffers"), ByteCount(session.buffer_size.into())),
        ),
        ("Mode", text(&session.log_file_mode_names.join(", "))),
    ];
    if let Some(flags) = session.enable_flag_names.as_ref().filter(|flags| !flags.is_empty()) {
        values.push(("Kernel flags", text(&flags.join(", "))));
    }
    values.push(("Lost", lost(session)));
    if let Some(hash) = &session.blake3 {
        values.push(("BLAKE3", text(hash)));
    }
    values
}

fn lost(session: &SessionRow) -> String {
    let count = |count: Option<u32>, things| {
        count.map_or_else(|| format!("{things} not recorded"), |count| counted(count.into(), things))
    };
    let known = format!("{}, {}", count(session.events_lost, "events"), count(session.buffers_lost, "buffers"));
    match &session.loss_unknown_because {
        Some(reason) => format!("{known}; nobody can know all: {}", text(reason)),
        None => known,
    }
}
