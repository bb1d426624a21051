//! The yardstick of the converter: how long arrow-rs takes to encode the same columns, ready made, into the same bytes.
//!
//! ```text
//! cargo run --locked --release --example encode_baseline -- OUT/trace=NAME
//! ```
//!
//! Reads every file of a converted trace, of events and of the sidecar, back into Arrow, one row group at a time, and
//! encodes it again with the same settings on one thread. Only the encoding is timed. The new files must be those of the
//! conversion, byte by byte: what was timed then is the same work. Prints one JSON object.
//!
//! User CPU time comes from `/proc`, so this runs on Linux only.

mod ready;

use std::fmt::Write as _;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

use columnar::columns::RowSource;
use columnar::dataset::EncoderKind;
use columnar::output::LocalFolder;
use ready::{ReadyFile, Result};
use sha2::{Digest, Sha256};

#[expect(clippy::print_stdout, reason = "what this program is for")]
fn main() -> ExitCode {
    let Some(trace) = std::env::args_os().nth(1) else {
        eprintln!("usage: encode_baseline OUT/trace=NAME");
        return ExitCode::from(2);
    };
    match measure(Path::new(&trace)) {
        Ok(Totals { rows, bytes, files, same_files, time }) => {
            let user_seconds = time.user_seconds();
            println!(
                "{{\"rows\": {rows}, \"bytes\": {bytes}, \"files\": {files}, \"same_files\": {same_files}, \
                 \"user_seconds\": {user_seconds:.3}}}"
            );
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

#[derive(Default)]
struct Totals {
    rows: usize,
    bytes: u64,
    files: usize,
    /// Files that came out as they were.
    same_files: usize,
    time: CpuTime,
}

fn measure(trace: &Path) -> Result<Totals> {
    let scratch = tempfile::tempdir()?;
    let output = Arc::new(LocalFolder::create(scratch.path(), "again")?);
    let mut totals = Totals::default();
    for table in folders(&trace.join("events"))? {
        for file in folders(&table)? {
            encode_again(&file, &output, &mut totals)?;
        }
    }
    for file in folders(&trace.join("sidecar"))? {
        if file.extension().is_some_and(|extension| extension == "parquet") {
            encode_again(&file, &output, &mut totals)?;
        }
    }
    if totals.files == 0 {
        return Err("no files: is this the folder of a converted trace?".into());
    }
    Ok(totals)
}

fn folders(within: &Path) -> Result<Vec<PathBuf>> {
    let mut paths = fs::read_dir(within)?
        .map(|entry| Ok(entry?.path()))
        .collect::<std::result::Result<Vec<_>, std::io::Error>>()?;
    paths.sort();
    Ok(paths)
}

fn encode_again(path: &Path, output: &Arc<LocalFolder>, totals: &mut Totals) -> Result<()> {
    let ready = ReadyFile::open(path)?;
    let writer = ready.writer(output, format!("file-{}", totals.files), EncoderKind::Arrow)?;
    for ordinal in 0..ready.row_groups() {
        let group = ready.row_group(ordinal)?;
        let start = CpuTime::now()?;
        let encoded = writer.encode(&group)?;
        writer.append(ordinal as u64, encoded)?;
        totals.time.add_since(&start)?;
        totals.rows += group.rows();
    }
    let start = CpuTime::now()?;
    let files = writer.finish()?;
    totals.time.add_since(&start)?;
    let [file] = files.as_slice() else { return Err("expected one file".into()) };
    totals.bytes += file.bytes;
    totals.files += 1;
    totals.same_files += usize::from(file.sha256 == hash(path)?);
    Ok(())
}

fn hash(path: &Path) -> Result<String> {
    let mut hasher = Sha256::new();
    std::io::copy(&mut File::open(path)?, &mut HashWriter(&mut hasher))?;
    let mut text = String::new();
    for byte in hasher.finalize() {
        write!(text, "{byte:02x}")?;
    }
    Ok(text)
}

struct HashWriter<'a>(&'a mut Sha256);

impl std::io::Write for HashWriter<'_> {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.update(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// CPU time of this thread.
#[derive(Default)]
struct CpuTime {
    /// Nanoseconds on a processor, exact.
    total: u64,
    /// Ticks of 10 ms in the program and in the kernel: good for their ratio.
    user: u64,
    system: u64,
}

impl CpuTime {
    fn now() -> Result<CpuTime> {
        // The kernel adds up a thread's time when it leaves the processor.
        std::thread::yield_now();
        let total = fs::read_to_string("/proc/thread-self/schedstat")?;
        let stat = fs::read_to_string("/proc/thread-self/stat")?;
        // The name, in brackets, may hold spaces; user and system time are the 12th and 13th field behind it.
        let behind_name = stat.rsplit(')').next().unwrap_or_default();
        let mut ticks = behind_name.split_whitespace().skip(11).map(str::parse);
        let mut next = || ticks.next().ok_or("no CPU time in /proc/thread-self/stat");
        let (user, system) = (next()??, next()??);
        Ok(CpuTime { total: total.split_whitespace().next().ok_or("no time in schedstat")?.parse()?, user, system })
    }

    /// Adds what passed since `start`.
    fn add_since(&mut self, start: &CpuTime) -> Result<()> {
        let now = CpuTime::now()?;
        self.total += now.total - start.total;
        self.user += now.user - start.user;
        self.system += now.system - start.system;
        Ok(())
    }

    #[expect(clippy::cast_precision_loss, reason = "seconds with a few digits")]
    fn user_seconds(&self) -> f64 {
        let share = self.user as f64 / (self.user + self.system).max(1) as f64;
        self.total as f64 / 1e9 * share
    }
}
