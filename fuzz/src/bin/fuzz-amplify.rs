//! Converts repeated blocks and prints what each further byte of input takes.
//!
//! ```text
//! fuzz-amplify [--only NAME]… [--doublings N] [--write FOLDER]
//! ```
//!
//! Without arguments each block is there 1, 2, 4, 8 and 16 times, which is 4 doublings. Exit status 1 where a block takes more
//! than it may. With `--write` the largest trace of each block and its schema files are written to a folder, for a look by
//! other means, and nothing is converted.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use etl2parquet_fuzz::amplify::{BLOCKS, Block, Taken, judge, measure};

fn main() -> ExitCode {
    let (mut only, mut doublings, mut folder) = (Vec::new(), 4, None);
    let mut words = std::env::args().skip(1);
    while let Some(flag) = words.next() {
        match (flag.as_str(), words.next()) {
            ("--only", Some(name)) => only.push(name),
            ("--doublings", Some(number)) if number.parse::<u32>().is_ok_and(|number| number < 24) => {
                doublings = number.parse().unwrap_or(doublings);
            }
            ("--write", Some(path)) => folder = Some(PathBuf::from(path)),
            _ => {
                eprintln!("usage: fuzz-amplify [--only NAME]… [--doublings N] [--write FOLDER]");
                return ExitCode::from(2);
            }
        }
    }
    let wanted = |block: &&Block| only.is_empty() || only.iter().any(|name| block.name.contains(name));
    let blocks = BLOCKS.iter().filter(wanted);
    if let Some(folder) = folder {
        blocks.for_each(|block| write(&folder, block, block.unit << doublings));
        return ExitCode::SUCCESS;
    }
    println!(
        "{:38} {:>10} {:>8} {:>9} {:>9} {:>9} {:>8}",
        "block", "input", "rows", "heap MiB", "heap/byte", "work/byte", "ns/byte"
    );
    let mut is_good = true;
    for block in blocks {
        let taken: Vec<Taken> = (0..=doublings).map(|n| measure(block, block.unit << n, None)).collect();
        print(block.name, &taken);
        for fault in judge(block, &taken) {
            println!("    AMPLIFIES: {fault}");
            is_good = false;
        }
    }
    ExitCode::from(u8::from(!is_good))
}

fn write(folder: &Path, block: &Block, blocks: usize) {
    let made = (block.make)(blocks);
    let trace = (format!("{}.etl", block.name.replace(' ', "_")), made.trace);
    for (name, content) in [trace].into_iter().chain(made.schemas) {
        std::fs::write(folder.join(&name), content).unwrap_or_else(|error| panic!("{name}: {error}"));
    }
}

/// What the last doubling took.
#[expect(clippy::cast_precision_loss, reason = "a rate is shown in a few digits")]
fn print(name: &str, taken: &[Taken]) {
    let (Some(all), Some(half)) = (taken.last(), taken.iter().rev().nth(1)) else { return };
    let bytes = (all.input - half.input).max(1) as f64;
    let rate = |all: usize, half: usize| (all as f64 - half as f64) / bytes;
    println!(
        "{name:38} {:>10} {:>8} {:>9} {:>9.1} {:>9.1} {:>8.1}",
        all.input,
        all.rows,
        all.memory >> 20,
        rate(all.memory, half.memory),
        rate(all.allocated, half.allocated),
        rate(all.time.as_nanos() as usize, half.time.as_nanos() as usize)
    );
}
