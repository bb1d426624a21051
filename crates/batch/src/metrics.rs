//! `--metrics`: what came of a run in the text format of Prometheus, for a collector that reads files.
//!
//! All of it is about the last run, and so a gauge. No label has a value of which there may be many.

use std::fmt::{Display, Write as _};

use conversion::inspect::LossTotals;

use super::summary::{STATUSES, Summary, TraceResult};

/// Metrics, each with its help and type.
#[derive(Debug, Default)]
struct Exposition(String);

impl Exposition {
    /// A metric of one value.
    fn one(&mut self, name: &str, help: &str, value: impl Display) {
        self.several(name, help, [(String::new(), value)]);
    }

    /// A metric of several, with their labels.
    fn several<V: Display>(&mut self, name: &str, help: &str, values: impl IntoIterator<Item = (String, V)>) {
        // Writing to a string cannot fail.
        let _ = writeln!(self.0, "# HELP etl2parquet_run_{name} {help}\n# TYPE etl2parquet_run_{name} gauge");
        for (labels, value) in values {
            let _ = writeln!(self.0, "etl2parquet_run_{name}{labels} {value}");
        }
    }
}

/// `{name="value",…}`.
fn labels(pairs: &[(&str, &str)]) -> String {
    let escaped = |text: &str| text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n");
    let pairs: Vec<String> = pairs.iter().map(|(name, value)| format!("{name}=\"{}\"", escaped(value))).collect();
    format!("{{{}}}", pairs.join(","))
}

/// Milliseconds as seconds.
fn seconds(ms: u64) -> String {
    format!("{}.{:03}", ms / 1000, ms % 1000)
}

/// The text of the file.
pub fn exposition(summary: &Summary) -> String {
    let mut text = Exposition::default();
    run(&mut text, summary);
    traces(&mut text, summary);
    events(&mut text, summary);
    text.0
}

fn run(text: &mut Exposition, summary: &Summary) {
    let run = &summary.run;
    let named = [("version", run.tool_version), ("run_id", run.run_id.as_deref().unwrap_or_default())];
    text.several("info", "Version of the program and name of the run.", [(labels(&named), 1)]);
    let (started, ended) = run.unix_ms();
    text.one("start_timestamp_seconds", "When the run started, since 1970.", seconds(started));
    text.one("end_timestamp_seconds", "When the run ended, since 1970.", seconds(ended));
    text.one("duration_seconds", "How long the run took.", seconds(run.duration_ms));
    text.one("exit_code", "The exit code; 0 is success.", run.exit_code);
    if let Some(bytes) = run.peak_memory_bytes {
        text.one("peak_memory_bytes", "The most memory held at a time.", bytes);
    }
    text.one("input_bytes", "Bytes of the recordings that were read.", summary.input_bytes);
    text.one("output_bytes", "Bytes of the files that were published.", summary.output_bytes);
}

fn traces(text: &mut Exposition, summary: &Summary) {
    let of_status = |status: &str| summary.traces.iter().filter(|trace| trace.status == status).count();
    let counts = STATUSES.map(|status| (labels(&[("status", status)]), of_status(status)));
    text.several("traces", "Traces by what became of them.", counts);
    text.one("inputs", "Inputs found.", summary.inputs.len());
    text.one("quarantined_inputs", "Inputs that cannot be read as a trace.", summary.quarantined.len());
    text.one("errors", "Errors that were reported.", summary.errors.len());
}

fn events(text: &mut Exposition, summary: &Summary) {
    let results = || summary.traces.iter().filter_map(|trace| trace.result.as_ref());
    let sum = |of: fn(&TraceResult) -> u64| results().map(of).sum::<u64>();
    let outcomes = [
        ("found", sum(|of| of.events.found)),
        ("written", sum(|of| of.events.written)),
        ("filtered", sum(|of| of.events.filtered)),
        ("damaged", sum(|of| of.events.damaged)),
    ];
    let counts = outcomes.map(|(name, events)| (labels(&[("outcome", name)]), events));
    text.several("events", "Events of the traces read, by what became of them.", counts);
    text.one("damaged_bytes", "Bytes in which no events can be counted.", sum(|of| of.events.damaged_bytes));
    text.one("undecoded_rows", "Rows that are not decoded whole.", sum(|of| of.undecoded_rows.unwrap_or(0)));
    text.one("warnings", "Issues of the traces read but those for information.", sum(|of| of.warnings));
    let lost = |of: fn(&LossTotals) -> u64| results().map(|result| of(&result.lost)).sum::<u64>();
    text.one("lost_events", "Events known to be lost by the recordings.", lost(|lost| lost.known_events));
    text.one("lost_buffers", "Buffers known to be lost by the recordings.", lost(|lost| lost.known_buffers));
    let unknown = lost(|lost| u64::from(lost.counts.unknown_because.is_some()));
    text.one("loss_unknown_traces", "Traces whose loss cannot be known.", unknown);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_cannot_break_out_of_their_quotes() {
        assert_eq!(labels(&[("a", r#"x"y\z"#), ("b", "1\n2")]), r#"{a="x\"y\\z",b="1\n2"}"#);
        assert_eq!(labels(&[("a", "größe")]), "{a=\"größe\"}");
    }

    #[test]
    fn milliseconds_are_parts_of_seconds() {
        assert_eq!([0, 7, 1_000, 1_464_293_842_478].map(seconds), ["0.000", "0.007", "1.000", "1464293842.478"]);
    }
}
