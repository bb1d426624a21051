//! A folder with inputs and output, and conversions in it: through the library and through the program.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;

use base::clock::ClockAnchor;
use base::progress::NoProgress;
use columnar::columns::TypeOptions;
use columnar::dataset::properties::Compression;
use columnar::output::IfExists;
use conversion::convert::{Checks, ConvertOptions, InputFile, Outcome, RawPolicy, Recording, Report};
use conversion::job;
use conversion::plan::filter::Filter;

use super::table::Table;

/// A folder that is removed at the end.
#[derive(Debug)]
pub struct Sandbox(tempfile::TempDir);

/// What the program did.
#[derive(Debug)]
pub struct Ran {
    pub code: i32,
    pub out: String,
    pub err: String,
}

impl Sandbox {
    /// In memory where the system offers that: a conversion brings all its files to disk, and these tests make thousands.
    #[allow(clippy::new_without_default, reason = "it makes a folder")]
    pub fn new() -> Self {
        let memory = Path::new("/dev/shm");
        let folder = if memory.is_dir() { tempfile::tempdir_in(memory) } else { tempfile::tempdir() };
        Sandbox(folder.or_else(|_| tempfile::tempdir()).unwrap())
    }

    /// On disk, for more than some MB.
    pub fn large() -> Self {
        Sandbox(tempfile::tempdir().unwrap())
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// Writes an input.
    pub fn file(&self, name: &str, bytes: &[u8]) -> PathBuf {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, bytes).unwrap();
        path
    }

    /// Runs the program in the folder, with its arguments separated by blanks.
    pub fn run(&self, arguments: &str) -> Ran {
        let mut command = Command::new(env!("CARGO_BIN_EXE_etl2parquet"));
        for (name, _) in std::env::vars_os().filter(|(name, _)| name.to_string_lossy().starts_with("ETL2PARQUET_")) {
            command.env_remove(name);
        }
        let output = command.current_dir(self.0.path()).args(arguments.split_whitespace()).output().unwrap();
        let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
        Ran { code: output.status.code().unwrap(), out: text(&output.stdout), err: text(&output.stderr) }
    }

    /// Runs the program and expects an exit code.
    #[track_caller]
    pub fn t(&self, arguments: &str, code: i32) -> Ran {
        let ran = self.run(arguments);
        assert_eq!(ran.code, code, "{arguments}\n{}", ran.err);
        ran
    }

    /// A table of a published trace, `events/<dataset>` or `sidecar/<name>`.
    pub fn table(&self, trace: &str, name: &str) -> Table {
        read(&self.path(trace), name)
    }

    /// All files below a folder with their content, sorted by their paths below it.
    pub fn files(&self, folder: &str) -> Vec<(String, Vec<u8>)> {
        let mut found = Vec::new();
        let root = self.path(folder);
        let mut folders = vec![root.clone()];
        while let Some(folder) = folders.pop() {
            let Ok(entries) = fs::read_dir(folder) else { continue };
            for path in entries.map(|entry| entry.unwrap().path()) {
                if path.is_dir() {
                    folders.push(path);
                } else {
                    let name = path.strip_prefix(&root).unwrap().to_str().unwrap().replace('\\', "/");
                    found.push((name, fs::read(path).unwrap()));
                }
            }
        }
        found.sort();
        found
    }

    /// The names of the files below a folder.
    pub fn names(&self, folder: &str) -> Vec<String> {
        self.files(folder).into_iter().map(|(name, _)| name).collect()
    }
}

fn read(trace: &Path, name: &str) -> Table {
    match name.strip_prefix("sidecar/") {
        Some(_) => Table::read(&trace.join(format!("{name}.parquet"))),
        None => Table::read_folder(&trace.join(name)),
    }
}

/// A published trace.
#[derive(Debug)]
pub struct Converted {
    pub sandbox: Sandbox,
    pub report: Report,
}

impl Converted {
    /// A dataset.
    pub fn events(&self, dataset: &str) -> Table {
        read(&self.report.folder, &format!("events/{dataset}"))
    }

    /// A table of the sidecar.
    pub fn sidecar(&self, name: &str) -> Table {
        read(&self.report.folder, &format!("sidecar/{name}"))
    }

    /// The datasets, sorted.
    pub fn datasets(&self) -> Vec<String> {
        // A filter can leave nothing.
        let Ok(entries) = fs::read_dir(self.report.folder.join("events")) else { return Vec::new() };
        let mut names: Vec<_> = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    /// The named columns, which all datasets have, of all events in the order of the recording; without the header
    /// event.
    pub fn all(&self, columns: &str) -> Vec<String> {
        let columns = format!("seq {columns}");
        let mut rows: Vec<(i64, String)> = Vec::new();
        for dataset in self.datasets() {
            let table = self.events(&dataset);
            rows.extend(table.numbers("seq").into_iter().zip(table.lines(&columns)));
        }
        rows.sort();
        let seqs: Vec<i64> = rows.iter().map(|row| row.0).collect();
        assert_eq!(seqs, (0..).take(rows.len()).collect::<Vec<i64>>(), "seq is dense");
        rows.into_iter().map(|(_, line)| line.split_once('|').unwrap().1.to_owned()).collect()
    }

    /// The conservation proof: found, written, filtered, damaged events, damaged bytes.
    pub fn counts(&self) -> (u64, u64, u64, u64, u64) {
        let events = self.report.events;
        (events.found, events.written, events.filtered, events.damaged, events.damaged_bytes)
    }
}

/// The options that the command line has by default, on two threads.
pub fn options(out: PathBuf) -> ConvertOptions {
    ConvertOptions::new(out).allow_repeated(true).threads(2).memory(512 << 20)
}

/// Converts one file.
#[track_caller]
pub fn convert(bytes: &[u8]) -> Converted {
    convert_with(&[bytes], |_| {})
}

/// Converts files as one recording.
#[track_caller]
pub fn convert_all(files: &[&[u8]]) -> Converted {
    convert_with(files, |_| {})
}

/// Converts files as one recording with other options.
#[track_caller]
pub fn convert_with(files: &[&[u8]], change: impl FnOnce(&mut ConvertOptions)) -> Converted {
    let sandbox = Sandbox::new();
    let inputs = files.iter().zip(0..).map(|(bytes, number)| {
        let source = format!("{number}.etl");
        InputFile::new(sandbox.file(&source, bytes), source)
    });
    let job = Recording { name: "t".to_owned(), inputs: inputs.collect() };
    let mut options = options(sandbox.path("out"));
    change(&mut options);
    match job::convert(&job, &options, &NoProgress).unwrap() {
        Outcome::Published(report) => Converted { sandbox, report: *report },
        other => panic!("expected a published trace, found {other:?}"),
    }
}
