//! What the manifest and the file footers say of a conversion.

use std::collections::BTreeSet;
use std::fmt::Display;
use std::path::{Path, PathBuf};
use std::time::{Instant, SystemTime};

use base::calendar;
use base::words::Words;
use columnar::output::IfExists;
use columnar::output::manifest::{CommitRecord, FORMAT_VERSION, InputEntry, LossCounts, RunInfo, options_hash};
use etl::input::split_address;
use serde_json::{Value, json};

use crate::convert::job::{Checks, InputFile, MaxLoss, Report};
use crate::convert::{ConvertOptions, LockFrom};
use crate::survey::loss::Ledger;
use crate::survey::{FileFacts, FileSurvey};

/// All that decides what is written besides the bytes of the inputs: the options, and what was said of single inputs.
///
/// `lock`: what tells the names that the trace has by a schema lock from others.
pub fn settings(options: &ConvertOptions, inputs: &[InputFile], lock: Option<&str>) -> Value {
    let mut settings = self::options(options, lock);
    let moved: Vec<i64> = inputs.iter().map(|input| input.offset_ns).collect();
    if let (true, Some(settings)) = (moved.iter().any(|ns| *ns != 0), settings.as_object_mut()) {
        settings.insert("offset_ns".to_owned(), json!(moved));
    }
    settings
}

/// The options that decide what is written, one key per flag.
fn options(options: &ConvertOptions, lock: Option<&str>) -> Value {
    let (types, filter) = (options.types, &options.filter);
    let mut settings = json!({
        "clock_anchor": options.anchor.word(),
        "columns": if options.all_columns { "declared" } else { "present" },
        "compression": options.compression.to_string(),
        "cpu": text(filter.cpus.as_ref()),
        "event": texts(&filter.events),
        "exclude_provider": texts(&filter.excluded_providers),
        "from": text(filter.from.as_ref()),
        "guid": types.guid.word(),
        "integers": types.integers.word(),
        "keywords": filter.keywords.map(|mask| format!("{mask:#x}")),
        "layout": options.layout.word(),
        "level": filter.level,
        "max_file_size": options.max_file_size,
        "pid": text(filter.processes.as_ref()),
        "provider": texts(&filter.providers),
        "raw": options.raw.word(),
        "row_group_rows": options.row_group_rows,
        "schema_lock": lock,
        "schemas_hash": options.schemas_hash,
        "stacks": options.stacks.word(),
        "tid": text(filter.threads.as_ref()),
        "timestamps": types.timestamps.word(),
        "to": text(filter.to.as_ref()),
    });
    if let (false, Some(settings)) = (filter.keyword_names.is_empty(), settings.as_object_mut()) {
        settings.insert("keyword_names".to_owned(), json!(texts(&filter.keyword_names)));
    }
    if let (false, Some(settings)) = (filter.process_names.is_empty(), settings.as_object_mut()) {
        settings.insert("process_names".to_owned(), json!(texts(&filter.process_names)));
    }
    if let (Some(bytes), Some(settings)) = (options.partition_bytes, settings.as_object_mut()) {
        settings.insert("partition_bytes".to_owned(), bytes.into());
    }
    settings
}

fn text(value: Option<&impl Display>) -> Option<String> {
    value.map(ToString::to_string)
}

/// The values of an option whose order and repetitions mean nothing.
fn texts(values: &[impl Display]) -> Vec<String> {
    let texts: BTreeSet<String> = values.iter().map(ToString::to_string).collect();
    texts.into_iter().collect()
}

/// The options that decide nothing about files of a trace: whether it is published, and how inputs are had; one key per
/// flag.
pub fn run_options(options: &ConvertOptions) -> Value {
    let mut all = publish_options(options.if_exists, &options.checks, options.lock_in_use());
    let absolute = |path: &PathBuf| absolute(path);
    if let Some(all) = all.as_object_mut() {
        all.insert("rehash".to_owned(), options.rehash.into());
        all.insert("allow_repeated".to_owned(), options.allow_repeated.into());
        all.insert("spool_dir".to_owned(), options.open.spool_dir.as_ref().map(absolute).into());
        all.insert("max_spool".to_owned(), options.open.max_spool.into());
        all.extend(options.recorded.clone());
    }
    all
}

/// The key of where a run had its schema lock from.
const SCHEMA_LOCK: &str = "schema_lock";

/// Where the run that wrote a trace had its schema lock from; `None` without one.
pub fn lock_of(record: &CommitRecord) -> Option<LockFrom> {
    serde_json::from_value(record.run.options.get(SCHEMA_LOCK)?.clone()).ok()
}

/// The options that decide whether a trace is published.
pub fn publish_options(if_exists: IfExists, checks: &Checks, lock: Option<LockFrom>) -> Value {
    let gates = [
        (checks.loss, "loss"),
        (checks.known_loss, "known-loss"),
        (checks.disorder, "disorder"),
        (checks.undecoded, "undecoded"),
        (checks.damage, "damage"),
    ];
    json!({
        "fail_on": gates.iter().filter(|(is_on, _)| *is_on).map(|(_, name)| *name).collect::<Vec<_>>(),
        "if_exists": if_exists.word(),
        "max_loss": checks.max_loss.map(|limit| match limit {
            MaxLoss::Events(most) => most.to_string(),
            MaxLoss::Percent(most) => format!("{most}%"),
        }),
        SCHEMA_LOCK: lock,
        "schema_lock_mode": if checks.new_names { "strict" } else { "extend" },
    })
}

/// What a run says of itself.
#[derive(Clone, Debug)]
pub struct RunContext {
    /// Threads.
    pub threads: usize,
    /// Budget in bytes for what is in memory.
    pub memory: u64,
    /// Folder of the output.
    pub out: PathBuf,
    /// What the caller calls the run.
    pub id: Option<String>,
    /// [`run_options`], or [`publish_options`] of a run in steps.
    pub options: Value,
    /// Hash of the plan, of a run in steps.
    pub plan: Option<String>,
}

/// What varies from run to run.
pub fn run(context: &RunContext, files: &[FileSurvey], started: (SystemTime, Instant)) -> RunInfo {
    RunInfo {
        id: context.id.clone(),
        created: calendar::rfc3339_of(started.0),
        duration_ms: u64::try_from(started.1.elapsed().as_millis()).unwrap_or(u64::MAX),
        threads: context.threads as u64,
        memory_bytes: context.memory,
        host: host_name(),
        output: absolute(&context.out),
        inputs: files.iter().map(|file| absolute(&file.identity.source)).collect(),
        modified: files.iter().map(|file| modified(file.identity.modified)).collect(),
        options: context.options.clone(),
        plan: context.plan.clone(),
    }
}

/// The same path from any folder.
fn absolute(path: &Path) -> String {
    std::path::absolute(path).unwrap_or_else(|_| path.to_owned()).display().to_string()
}

/// Whether an input of a published trace, by its recorded absolute path, is what `now` leads to: by the same path, or by
/// another spelling of it, such as one through a symbolic link.
pub fn is_at(recorded: &str, now: &Path) -> bool {
    absolute(now) == recorded || resolved(Path::new(recorded)).is_some_and(|there| resolved(now) == Some(there))
}

/// An address without links: of a file, or of a container with the name of the member.
fn resolved(address: &Path) -> Option<(PathBuf, Option<String>)> {
    let (file, member) = match split_address(address) {
        Some((container, member)) => (container, Some(member)),
        None => (address.to_owned(), None),
    };
    Some((std::fs::canonicalize(file).ok()?, member))
}

/// When an input was last written, RFC 3339 in UTC.
pub fn modified(at: Option<i64>) -> Option<String> {
    at.map(calendar::rfc3339)
}

fn host_name() -> Option<String> {
    #[cfg(unix)]
    let name = Some(rustix::system::uname().nodename().to_string_lossy().into_owned());
    #[cfg(not(unix))]
    let name = std::env::var("COMPUTERNAME").ok();
    name.filter(|name| !name.is_empty())
}

/// The commit record.
pub fn manifest(name: &str, settings: Value, report: &Report, run: RunInfo) -> CommitRecord {
    let files = &report.files;
    let inputs = files.iter().map(|file| InputEntry {
        source: file.name.clone(),
        size: file.identity.size,
        blake3: file.blake3.clone().unwrap_or_default(),
    });
    CommitRecord {
        trace: name.to_owned(),
        format_version: FORMAT_VERSION,
        tool_version: env!("CARGO_PKG_VERSION").to_owned(),
        options_hash: options_hash(&settings),
        options: settings,
        inputs: inputs.collect(),
        events: report.events,
        decode: report.decode.clone(),
        lost: lost(&report.facts),
        files: report.written.clone(),
        run,
    }
}

/// The counters of all files; unknown as soon as one of them is.
pub fn lost(facts: &[FileFacts]) -> LossCounts {
    let sum = |counter: fn(&Ledger) -> Option<u32>| facts.iter().map(|file| counter(&file.ledger).map(u64::from)).sum();
    let reasons: BTreeSet<&str> = facts.iter().filter_map(|file| file.ledger.unknown_because).collect();
    LossCounts {
        events_lost: sum(|ledger| ledger.events_lost),
        buffers_lost: sum(|ledger| ledger.buffers_lost),
        unknown_because: (!reasons.is_empty()).then(|| Vec::from_iter(reasons).join("; ")),
    }
}
