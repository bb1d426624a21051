//! The yardstick of the converter: how long arrow-rs takes to encode the same columns, ready made, into the same bytes.
//!
//! ```text
//! cargo run --release --example encode_baseline -- OUT/trace=NAME
//! ```
//!
//! Reads every event file of a converted trace back into Arrow, one row group at a time, and encodes it again with the
//! same settings on one thread. Only the encoding is timed. The new files must be those of the conversion, byte by
//! byte: what was timed then is the same work. Prints one JSON object.
//!
//! User CPU time comes from `/proc`, so this runs on Linux only.

use std::error::Error;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

use arrow_array::{Array, ArrayRef, RecordBatch, RecordBatchReader};
use arrow_select::concat::concat_batches;
use etl2parquet::dataset::{EncodeOptions, FileRule, RowGroup, TableSpec, TableWriter};
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use parquet::file::metadata::ParquetMetaData;
use sha2::{Digest, Sha256};

type Result<T> = std::result::Result<T, Box<dyn Error>>;

fn main() -> ExitCode {
    let Some(trace) = std::env::args_os().nth(1) else {
        eprintln!("usage: encode_baseline OUT/trace=NAME");
        return ExitCode::from(2);
    };
    match measure(Path::new(&trace)) {
        Ok(Totals { rows, bytes, files, same_files, user_seconds }) => {
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

#[derive(Debug, Default)]
struct Totals {
    rows: usize,
    bytes: u64,
    files: usize,
    /// Files that came out as they were.
    same_files: usize,
    user_seconds: f64,
}

fn measure(trace: &Path) -> Result<Totals> {
    let scratch = tempfile::tempdir()?;
    let mut totals = Totals::default();
    for table in folders(&trace.join("events"))? {
        for file in folders(&table)? {
            encode_again(&file, scratch.path(), &mut totals)?;
        }
    }
    if totals.files == 0 {
        return Err("no event files: is this the folder of a converted trace?".into());
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

fn encode_again(path: &Path, scratch: &Path, totals: &mut Totals) -> Result<()> {
    let pattern = ParquetRecordBatchReaderBuilder::try_new(File::open(path)?)?;
    let spec = TableSpec {
        folder: format!("file-{}", totals.files),
        files: FileRule::Parts,
        schema: Arc::clone(pattern.schema()),
        metadata: metadata(pattern.metadata()),
        provider_id: None,
        provider_name: None,
    };
    let options = EncodeOptions { max_file_size: u64::MAX, ..EncodeOptions::default() };
    let writer = TableWriter::new(scratch, spec, &options)?;
    for ordinal in 0..pattern.metadata().num_row_groups() {
        let group = Ready(read_group(path, ordinal)?);
        let before = user_seconds()?;
        let encoded = writer.encode(&group)?;
        writer.append(ordinal as u64, encoded)?;
        totals.user_seconds += user_seconds()? - before;
        totals.rows += group.rows();
    }
    let before = user_seconds()?;
    let files = writer.finish()?;
    totals.user_seconds += user_seconds()? - before;
    let [file] = files.as_slice() else { return Err("expected one file".into()) };
    totals.bytes += file.bytes;
    totals.files += 1;
    totals.same_files += usize::from(file.sha256 == hash(path)?);
    Ok(())
}

fn metadata(file: &ParquetMetaData) -> Vec<(String, String)> {
    let pairs = file.file_metadata().key_value_metadata().into_iter().flatten();
    pairs.map(|pair| (pair.key.clone(), pair.value.clone().unwrap_or_default())).collect()
}

fn read_group(path: &Path, ordinal: usize) -> Result<RecordBatch> {
    let builder = ParquetRecordBatchReaderBuilder::try_new(File::open(path)?)?;
    let rows = usize::try_from(builder.metadata().row_group(ordinal).num_rows())?;
    let reader = builder.with_row_groups(vec![ordinal]).with_batch_size(rows).build()?;
    let schema = reader.schema();
    let batches = reader.collect::<std::result::Result<Vec<_>, _>>()?;
    Ok(concat_batches(&schema, &batches)?)
}

fn hash(path: &Path) -> Result<String> {
    let mut hasher = Sha256::new();
    std::io::copy(&mut File::open(path)?, &mut HashWriter(&mut hasher))?;
    Ok(hasher.finalize().iter().map(|byte| format!("{byte:02x}")).collect())
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

/// A row group whose columns are there.
struct Ready(RecordBatch);

impl RowGroup for Ready {
    fn rows(&self) -> usize {
        self.0.num_rows()
    }

    fn column(&self, index: usize) -> etl2parquet::Result<ArrayRef> {
        Ok(Arc::clone(self.0.column(index)))
    }

    fn all_null(&self, index: usize) -> bool {
        self.0.column(index).null_count() == self.0.num_rows()
    }
}

/// User CPU time of this thread.
fn user_seconds() -> Result<f64> {
    let stat = fs::read_to_string("/proc/thread-self/stat")?;
    // The name, in brackets, may hold spaces; `utime` is the 12th field behind it, in ticks of 10 ms.
    let behind_name = stat.rsplit(')').next().unwrap_or_default();
    let ticks: u32 = behind_name.split_whitespace().nth(11).ok_or("no utime in stat")?.parse()?;
    Ok(f64::from(ticks) / 100.0)
}
