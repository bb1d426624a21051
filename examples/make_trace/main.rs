//! Makes traces on disk: the committed example, and inputs of any size for benches.
//!
//! ```text
//! cargo run --locked --release --example make_trace -- example examples/example.etl
//! cargo run --locked --release --example make_trace -- bulk big.etl EVENTS [PROVIDERS [CPUS [SEED [compressed]]]]
//! cargo run --locked --release --example make_trace -- wide wide.etl EVENTS [FIELDS]
//! cargo run --locked --release --example make_trace -- kind KIND kind.etl EVENTS
//! cargo run --locked --release --example make_trace -- tmf kind.tmf
//! ```

#![allow(clippy::print_stdout, reason = "a program prints")]
#![allow(unreachable_pub, reason = "its modules are its own")]

#[path = "../../tests/synth/mod.rs"]
mod synth;

mod apps;
mod kernel;
mod recording;
mod scenes;

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::process::ExitCode;

use synth::kinds::wpp::TMF;
use synth::{Trace, bulk, kind, wide};

const USAGE: &str = "usage: make_trace example FILE
       make_trace bulk FILE EVENTS [PROVIDERS [CPUS [SEED [compressed]]]]
       make_trace wide FILE EVENTS [FIELDS]
       make_trace kind KIND FILE EVENTS
       make_trace tmf FILE
Defaults: 8 providers, 8 CPUs, seed 1, not compressed; 1500 fields.
KIND: dotnet, eventsource, kernel, network, tracelogging or wpp; `tmf` writes what the last is read by.";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let (file, saved) = match (arguments.as_slice(), wanted(&arguments)) {
        (_, Some((file, trace))) => (file, save(&trace, file)),
        (["tmf", file], None) => (*file, fs::write(file, TMF)),
        _ => {
            eprintln!("{USAGE}");
            return ExitCode::from(2);
        }
    };
    match saved {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{file}: {error}");
            ExitCode::FAILURE
        }
    }
}

/// The file to write and the trace for it; `None` when the arguments make no sense.
fn wanted<'a>(arguments: &[&'a str]) -> Option<(&'a str, Trace)> {
    match *arguments {
        ["example", file] => Some((file, example())),
        ["bulk", file, events, ref rest @ ..] => Some((file, bulk_trace(events, rest)?)),
        ["wide", file, events] => Some((file, wide_trace(events, "1500")?)),
        ["wide", file, events, fields] => Some((file, wide_trace(events, fields)?)),
        ["kind", name, file, events] => Some((file, kind(name, events.parse().ok()?)?)),
        _ => None,
    }
}

/// The example; what it holds goes to standard output, as the rows of its description.
fn example() -> Trace {
    let recording = scenes::record();
    for (kind, count) in recording.contents() {
        println!("| {kind} | {count} |");
    }
    recording.trace()
}

fn bulk_trace(events: &str, rest: &[&str]) -> Option<Trace> {
    let (numbers, compressed) = match rest {
        [numbers @ .., "compressed"] => (numbers, true),
        numbers => (numbers, false),
    };
    let mut values = [8, 8, 1];
    if numbers.len() > values.len() {
        return None;
    }
    for (value, text) in values.iter_mut().zip(numbers) {
        *value = text.parse().ok()?;
    }
    let [providers, cpus, seed] = values;
    let (providers, cpus) = (u32::try_from(providers).ok()?, u16::try_from(cpus).ok()?);
    let positive = providers > 0 && cpus > 0;
    positive.then_some(bulk(events.parse().ok()?, providers, cpus, seed).compressed(compressed).trace())
}

fn wide_trace(events: &str, fields: &str) -> Option<Trace> {
    let fields: u32 = fields.parse().ok()?;
    (fields > 0).then_some(wide(events.parse().ok()?, fields).trace())
}

fn save(trace: &Trace, path: &str) -> io::Result<()> {
    let mut file = BufWriter::new(File::create(path)?);
    trace.write(&mut file)?;
    file.flush()
}
