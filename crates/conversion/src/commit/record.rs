//! What the manifest and the file footers say of a conversion.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::time::{Instant, SystemTime};

use base::calendar;
use base::settings::{self, Recorded};
use columnar::output::IfExists;
use columnar::output::manifest::{
    BytesRead, CommitRecord, FORMAT_VERSION, InputEntry, LossCounts, RunInfo, options_hash,
};
use etl::input::Address;
use serde_json::{Map, Value, json};

use crate::convert::settings::ALL;
use crate::convert::{Checks, ConvertOptions, InputFile, LockFrom, Report};
use crate::survey::loss::Ledger;
use crate::survey::{FileFacts, FileSurvey};

/// All that decides what is written besides the bytes of the inputs: the options, and how much the clock of each input is moved.
///
/// `lock`: what distinguishes the names that the trace has by a schema lock from others.
pub fn settings(options: &ConvertOptions, inputs: &[InputFile], lock: Option<&str>) -> Value {
    let mut settings = self::options(options, lock);
    let moved: Vec<i64> = inputs.iter().map(|input| input.offset_ns).collect();
    if let (true, Some(settings)) = (moved.iter().any(|ns| *ns != 0), settings.as_object_mut()) {
        settings.insert("offset_ns".to_owned(), json!(moved));
    }
    settings
}

/// The options that decide what is written, one key for each.
fn options(options: &ConvertOptions, lock: Option<&str>) -> Value {
    let mut record = settings::record(&ALL, options, Recorded::Files);
    record.insert(SCHEMA_LOCK.to_owned(), lock.into());
    record.insert("schemas_hash".to_owned(), options.schemas_hash.clone().into());
    record.into()
}

/// The options that decide nothing about files of a trace: whether it is published, and how inputs are had; one key for each.
pub fn run_options(options: &ConvertOptions) -> Value {
    let mut record = publication(options, options.lock_in_use());
    record.extend(settings::record(&ALL, options, Recorded::Run));
    record.extend(options.recorded.clone());
    record.into()
}

/// The key of the names that a trace has by a schema lock, and of where a run had the lock from.
const SCHEMA_LOCK: &str = "schema_lock";

/// Where the run that wrote a trace had its schema lock from; `None` without one.
pub fn lock_of(record: &CommitRecord) -> Option<LockFrom> {
    serde_json::from_value(record.run.options.get(SCHEMA_LOCK)?.clone()).ok()
}

/// The options that decide whether a trace is published, of a run in steps.
pub fn publish_options(if_exists: IfExists, checks: Checks, lock: Option<LockFrom>) -> Value {
    publication(&ConvertOptions::new("").if_exists(if_exists).checks(checks), lock).into()
}

fn publication(options: &ConvertOptions, lock: Option<LockFrom>) -> Map<String, Value> {
    let mut record = settings::record(&ALL, options, Recorded::Publication);
    record.insert(SCHEMA_LOCK.to_owned(), json!(lock));
    record
}

/// What a run says of itself.
#[derive(Clone, Debug)]
pub struct RunContext {
    /// Threads.
    pub threads: usize,
    /// Budget in bytes for what is in memory.
    pub memory: u64,
    /// What was read of the inputs, of a run in one process.
    pub bytes_read: Option<BytesRead>,
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
        bytes_read: context.bytes_read,
        host: host_name(),
        output: base::disk::absolute_text(&context.out),
        inputs: files.iter().map(|file| file.identity.source.absolute()).collect(),
        modified: files.iter().map(|file| modified(file.identity.modified)).collect(),
        options: context.options.clone(),
        plan: context.plan.clone(),
        data: None,
    }
}

/// Whether an input of a published trace, by its recorded absolute address, is what `now` leads to: by the same address, or
/// by another spelling of it, such as one through a symbolic link.
pub fn is_at(recorded: &str, now: &Address) -> bool {
    now.absolute() == recorded || Address::from(recorded).leads_where(now)
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
