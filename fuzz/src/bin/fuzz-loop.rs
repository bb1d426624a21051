//! Runs all targets over a fixed number of inputs, each in a process of its own, and prints what came of it.
//!
//! ```text
//! fuzz-loop [--only NAME]… [--from N] [--count N] [--percent N] [--jobs N] [--limit-ms N] [--list]
//! ```
//!
//! Two runs make the same inputs and print the same hash of all outcomes. An input that does not hold is saved below
//! `target/fuzz` and named; then the exit status is 1. `--plant FAULT@N` makes a fault at input N of each target, to show
//! that it is found.

use std::fmt::Write as _;
use std::fs::File;
use std::io::Read;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use etl2parquet_fuzz::mutate;
use etl2parquet_fuzz::planted::Fault;
use etl2parquet_fuzz::run::{Share, Watchdog};
use etl2parquet_fuzz::seeds;
use etl2parquet_fuzz::target::{ALL, Limits, Target};

/// What was asked for.
#[derive(Clone, Debug)]
struct Arguments {
    lists: bool,
    only: Vec<String>,
    from: u64,
    count: Option<u64>,
    percent: u64,
    jobs: usize,
    plant: Option<String>,
    /// Milliseconds that an input may take, in the place of its target's limit.
    limit: Option<u64>,
    /// Of a child: where it writes the number of the input that it is at.
    child: Option<PathBuf>,
}

fn main() -> ExitCode {
    let arguments = match arguments() {
        Ok(arguments) => arguments,
        Err(message) => {
            eprintln!("{message}");
            return ExitCode::from(2);
        }
    };
    let targets: Vec<&Target> = ALL
        .iter()
        .filter(|target| arguments.only.is_empty() || arguments.only.iter().any(|name| name == target.name))
        .collect();
    if arguments.lists {
        targets.iter().for_each(|target| println!("{} {} {}", target.name, target.seeds, target.max_len));
        return ExitCode::SUCCESS;
    }
    if let (Some(place), [target]) = (&arguments.child, &targets[..]) {
        return child(target, &arguments, place);
    }
    parent(&targets, &arguments)
}

fn arguments() -> Result<Arguments, String> {
    let jobs = std::thread::available_parallelism().map_or(1, usize::from);
    let mut found = Arguments {
        lists: false,
        only: Vec::new(),
        from: 0,
        count: None,
        percent: 100,
        jobs,
        plant: None,
        limit: None,
        child: None,
    };
    let mut words = std::env::args().skip(1);
    while let Some(flag) = words.next() {
        if flag == "--list" {
            found.lists = true;
            continue;
        }
        let value = words.next().ok_or_else(|| format!("expected a value behind {flag}"))?;
        let number = || value.parse::<u64>().map_err(|_| format!("expected a number behind {flag}, found {value}"));
        match flag.as_str() {
            "--only" if Target::find(&value).is_some() => found.only.push(value),
            "--only" => return Err(format!("expected a name that --list prints, found {value}")),
            "--from" => found.from = number()?,
            "--count" => found.count = Some(number()?),
            "--percent" => found.percent = number()?,
            "--jobs" => found.jobs = number()?.clamp(1, 64) as usize,
            "--limit-ms" => found.limit = Some(number()?),
            "--plant" => found.plant = Some(value),
            "--child" => found.child = Some(value.into()),
            _ => return Err(format!("unexpected argument {flag}")),
        }
    }
    Ok(found)
}

fn count_of(target: &Target, arguments: &Arguments) -> u64 {
    arguments.count.unwrap_or(target.count * arguments.percent / 100)
}

/// Where inputs that do not hold are saved.
fn findings() -> PathBuf {
    let target = std::env::var_os("CARGO_TARGET_DIR").map_or_else(
        || Path::new(env!("CARGO_MANIFEST_DIR")).parent().map_or_else(PathBuf::new, |root| root.join("target")),
        PathBuf::from,
    );
    target.join("fuzz")
}

/// Saves an input; says where.
fn save(target: &Target, number: u64) -> String {
    let input = mutate::input(target, &seeds::of(target), number);
    let path = findings().join(format!("{}-{number}", target.name));
    let saved = std::fs::create_dir_all(findings()).and_then(|()| std::fs::write(&path, input));
    saved.map_or_else(|error| format!("not saved: {error}"), |()| path.display().to_string())
}

fn fault(name: &str, limits: Limits) -> Option<Fault> {
    Some(match name {
        "panic" => Fault::Panic,
        "worker-panic" => Fault::WorkerPanic,
        "overflow" => Fault::Overflow,
        "memory" => Fault::Memory(limits.memory + 1),
        "time" => Fault::Time(limits.time.as_millis() as u64 + 100),
        "endless" => Fault::Endless,
        "abort" => Fault::Abort,
        _ => return None,
    })
}

/// Runs one target; prints one line for each input that does not hold, and one with the sums.
fn child(target: &'static Target, arguments: &Arguments, place: &Path) -> ExitCode {
    let time = arguments.limit.map_or(target.limits.time, Duration::from_millis);
    let limits = Limits { time, ..target.limits };
    let planted = arguments.plant.as_deref().and_then(|plant| plant.split_once('@'));
    let planted = planted.and_then(|(name, at)| Some((at.parse().ok()?, fault(name, limits)?)));
    let place = File::create(place).expect("the parent has made the folder");
    let seeds = seeds::of(target);
    let numbers = arguments.from..arguments.from + count_of(target, arguments);
    let watchdog = Watchdog::watch(limits.time, move |number| {
        println!("FAILED\t{}\t{number}\tno end\t{}", target.name, save(target, number));
        std::process::exit(1);
    });
    let share = Share { limits, planted, ..Share::new(target, &seeds, numbers) };
    let summary = share.run(|number| {
        watchdog.begins(number);
        // An abort or an overflow of the stack leaves nothing but this.
        place.write_all_at(&number.to_le_bytes(), 0).expect("there is room for 8 bytes");
    });
    watchdog.rest();
    for (number, failure) in summary.failures.iter().take(20) {
        println!("FAILED\t{}\t{number}\t{failure}\t{}", target.name, save(target, *number));
    }
    for ((class, outcome), count) in &summary.classes {
        println!("    {class:12} {outcome:12} {count:>9}");
    }
    let (seconds, mib) = (summary.time.as_secs_f64(), summary.most.memory >> 20);
    #[expect(clippy::cast_precision_loss, reason = "a rate is shown in a few digits")]
    let rate = summary.inputs as f64 / seconds.max(0.001);
    println!(
        "{:18} {:>9} {:>7} {seconds:>8.1} {rate:>10.0} {mib:>6} {:>9.3} {:016x}",
        target.name,
        summary.inputs,
        summary.failures.len(),
        summary.most.time.as_secs_f64(),
        summary.hash
    );
    ExitCode::from(u8::from(!summary.failures.is_empty()))
}

fn parent(targets: &[&'static Target], arguments: &Arguments) -> ExitCode {
    println!("target                inputs  failed  seconds  per second    MiB  longest hash of outcomes");
    let folder = tempfile::tempdir().expect("a folder for temporary files");
    // The longest first, so that none is left alone at the end; lines are printed in order.
    let mut order: Vec<usize> = (0..targets.len()).collect();
    order.sort_by_key(|&index| std::cmp::Reverse(targets[index].limits.memory));
    let (next, lines) = (AtomicUsize::new(0), Mutex::new(vec![None; targets.len()]));
    std::thread::scope(|scope| {
        for _ in 0..arguments.jobs.min(targets.len()) {
            scope.spawn(|| {
                while let Some(&index) = order.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let ran = run_child(targets[index], arguments, folder.path());
                    lines.lock().expect("no thread panics")[index] = Some(ran);
                }
            });
        }
    });
    let mut hash = etl2parquet_fuzz::digest::Digest::default();
    let mut is_good = true;
    for (text, succeeded) in lines.into_inner().expect("no thread panics").into_iter().flatten() {
        print!("{text}");
        hash.add(text.lines().last().and_then(|line| line.split_whitespace().last()).unwrap_or_default());
        is_good &= succeeded;
    }
    println!("hash of all outcomes: {:016x}", hash.value());
    ExitCode::from(u8::from(!is_good))
}

/// What a child printed, and whether all held.
fn run_child(target: &'static Target, arguments: &Arguments, folder: &Path) -> (String, bool) {
    let place = folder.join(target.name);
    let mut command = Command::new(std::env::current_exe().expect("a program knows itself"));
    command.args(["--only", target.name, "--from", &arguments.from.to_string()]);
    command.args(["--count", &count_of(target, arguments).to_string()]).arg("--child").arg(&place);
    command.args(arguments.limit.iter().flat_map(|limit| ["--limit-ms".to_owned(), limit.to_string()]));
    command.args(arguments.plant.iter().flat_map(|plant| ["--plant", plant]));
    let output = command.stderr(Stdio::inherit()).output().expect("a program can start itself");
    let mut text = String::from_utf8_lossy(&output.stdout).into_owned();
    if output.status.code().is_none_or(|code| code > 1) {
        let mut number = [0; 8];
        let _ = File::open(&place).and_then(|mut file| file.read_exact(&mut number));
        let number = u64::from_le_bytes(number);
        let place = save(target, number);
        let _ = writeln!(text, "FAILED\t{}\t{number}\tended by {}\t{place}", target.name, output.status);
    }
    (text, output.status.success())
}
