//! Makes a large trace from a small one, for measurements: its data buffers again and again, later each time.
//!
//! ```text
//! cargo run --locked --release --example enlarge -- INPUT OUTPUT SIZE [--cpus K]
//! enlarge recording.etl big.etl 1GB            the same CPUs, for longer
//! enlarge recording.etl big.etl 8GiB --cpus 16 sixteen copies side by side, each on CPUs of its own
//! ```
//!
//! The result is a valid uncompressed trace: all times of headers move on from copy to copy (and the ticks that stacks,
//! interrupts and deferred calls carry in their payload), buffers are numbered without gaps, the header event names the
//! new count, end and processors. Everything else, process numbers, addresses and texts, repeats, so that such a trace
//! is easier to compress than a recording of that length: use it for speed and memory, not for sizes. Memory does not
//! depend on SIZE.

mod copies;

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;
use std::process::ExitCode;

use copies::{Enlarged, Size, enlarge};
use etl::input::LocalFile;

const USAGE: &str = "usage: enlarge INPUT OUTPUT SIZE [--cpus K]
SIZE: bytes, or with KB, MB, GB, KiB, MiB, GiB. K: copies side by side, each on CPUs of its own (1).";

#[expect(clippy::print_stdout, reason = "what this program is for")]
fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let Some((input, output, size)) = wanted(&arguments) else {
        eprintln!("{USAGE}");
        return ExitCode::from(2);
    };
    match run(input, output, size) {
        Ok(Enlarged { bytes, buffers, events }) => {
            println!("{output}: {bytes} bytes, {buffers} buffers, {events} events");
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

fn run(input: &str, output: &str, size: Size) -> Result<Enlarged, Box<dyn std::error::Error>> {
    let source = LocalFile::open(Path::new(input))?;
    let mut out = BufWriter::with_capacity(1 << 20, File::create(output)?);
    let enlarged = enlarge(&source, size, &mut out)?;
    out.flush()?;
    Ok(enlarged)
}

fn wanted<'a>(arguments: &[&'a str]) -> Option<(&'a str, &'a str, Size)> {
    let (&[input, output, size], rest) = arguments.split_first_chunk()?;
    let cpus = match rest {
        [] => 1,
        ["--cpus", cpus] => cpus.parse().ok().filter(|&cpus| cpus > 0)?,
        _ => return None,
    };
    Some((input, output, Size { bytes: bytes(size)?, cpus }))
}

fn bytes(text: &str) -> Option<u64> {
    let digits = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let (number, unit) = text.split_at(digits);
    let unit = match unit {
        "" => 1,
        "KB" => 1000,
        "MB" => 1_000_000,
        "GB" => 1_000_000_000,
        "KiB" => 1 << 10,
        "MiB" => 1 << 20,
        "GiB" => 1 << 30,
        _ => return None,
    };
    number.parse::<u64>().ok()?.checked_mul(unit)
}
