//! What a run in steps stores, changed by somebody before the next step reads it.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use etl2parquet::steps::{CommitOutcome, PlanOutcome, StepOptions, commit, convert_partition, plan};
use etl2parquet::{ConvertOptions, Error, ErrorKind, IfExists, NoProgress, Outcome, Recording};

use crate::bytes::Bytes;
use crate::digest::Digest;
use crate::made;

/// Files by their path below a folder.
pub(super) type Files = BTreeMap<String, Vec<u8>>;

/// An honest run in steps.
#[derive(Debug)]
struct Honest {
    /// Where the trace lies, for as long as the program runs.
    _inputs: tempfile::TempDir,
    /// The name of the plan's folder.
    plan_name: String,
    /// The folder of the plan, before its partitions are converted and after.
    planned: Files,
    converted: Files,
    partitions: u32,
    /// What is published in the end.
    published: Files,
}

/// Bytes of a segment and of a span as a plan keeps them.
const SEGMENT: usize = 136;
const SPAN: usize = 136;

/// Bytes of the records of stacks: which event has which, where its addresses stand, an address.
const STACK_OF_EVENT: usize = 24;
const ADDRESS_LIST: usize = 24;
const ADDRESS: usize = 8;

const MANIFEST: &str = "sidecar/manifest.json";

/// A folder for temporary files, where possible in memory: every step brings its files to disk, which is not what is tried.
pub(super) fn folder_in_memory() -> tempfile::TempDir {
    let in_memory = tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir());
    in_memory.expect("a folder for temporary files")
}

fn options() -> StepOptions {
    StepOptions { threads: 1, memory: ConvertOptions::MIN_MEMORY, ..StepOptions::default() }
}

fn honest() -> &'static Honest {
    static HONEST: OnceLock<Honest> = OnceLock::new();
    HONEST.get_or_init(|| {
        let seed = made::all().into_iter().find(|seed| (seed.folder, seed.name) == ("trace", "described"));
        let inputs = folder_in_memory();
        let trace = inputs.path().join("made.etl");
        std::fs::write(&trace, seed.expect("the seed is there").bytes).expect("there is room for the trace");
        let out = folder_in_memory();
        let mut options = ConvertOptions::new(out.path()).threads(1).if_exists(IfExists::Replace);
        options.partition_bytes = Some(2000);
        let planned = plan(&Recording::of_file(trace), &options, &NoProgress).expect("stored: it can be planned");
        let PlanOutcome::Planned { folder, partitions } = planned else { panic!("stored: nothing keeps it from that") };
        let plan_name = folder.file_name().expect("it has a name").to_string_lossy().into_owned();
        let partitions = u32::try_from(partitions).expect("a few");
        let planned = read_all(&folder);
        assert!(planned.contains_key("stacks-lists"), "stored: the trace has stacks");
        convert_all(&folder, partitions).expect("stored: it can be converted");
        let converted = read_all(&folder);
        let published = published(commit(&folder, &self::options(), &NoProgress).expect("stored: it can be published"));
        Honest { _inputs: inputs, plan_name, planned, converted, partitions, published }
    })
}

fn convert_all(folder: &Path, partitions: u32) -> Result<(), Error> {
    (0..partitions).try_for_each(|number| convert_partition(folder, number, &options(), &NoProgress).map(drop))
}

pub(super) fn read_all(folder: &Path) -> Files {
    let mut files = Files::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(next) = folders.pop() {
        for entry in std::fs::read_dir(next).expect("it is a folder") {
            let path = entry.expect("it can be listed").path();
            if path.is_dir() {
                folders.push(path);
            } else if let (Ok(name), Ok(content)) = (path.strip_prefix(folder), std::fs::read(&path)) {
                files.insert(name.to_string_lossy().into_owned(), content);
            }
        }
    }
    files
}

pub(super) fn write_all(folder: &Path, files: &Files) {
    for (name, content) in files {
        let path = folder.join(name);
        std::fs::create_dir_all(path.parent().expect("it is below the folder")).expect("there is room");
        std::fs::write(path, content).expect("there is room");
    }
}

/// What was published, without what the manifest says of the run.
fn published(outcome: CommitOutcome) -> Files {
    let CommitOutcome::Done(Outcome::Published(report)) = outcome else { panic!("stored: {outcome:?} of a new plan") };
    let mut files = read_all(&report.folder);
    let manifest = files.get_mut(MANIFEST).expect("stored: there is a manifest");
    let mut value: serde_json::Value = serde_json::from_slice(manifest).expect("stored: the manifest is JSON");
    value.as_object_mut().and_then(|value| value.remove("run")).expect("stored: the manifest records the run");
    *manifest = value.to_string().into_bytes();
    files
}

/// Changes a file of a plan, before its partitions are converted or after, and goes on. In half of the cases every hash is
/// made right again, so that what stands behind the hashes is tried, too.
///
/// Oracle: with a hash that is wrong, what is published is what would have been, or there is an error that blames the files,
/// and of a changed report the file. With all hashes right a plan may say another thing: then nothing is asked but that it
/// does not panic.
pub fn stored(input: &[u8], digest: &mut Digest) {
    let honest = honest();
    let mut bytes = Bytes::new(input);
    let is_converted = bytes.below(2) == 0;
    let is_resealed = bytes.below(2) == 0;
    let mut files = if is_converted { honest.converted.clone() } else { honest.planned.clone() };
    // Pages of event files are what readers look at: their hashes stand in the manifest.
    let names: Vec<String> =
        files.keys().filter(|name| !name.ends_with(".parquet") && !name.contains("parquet")).cloned().collect();
    let name = bytes.pick(&names).clone();
    let content = files.get_mut(&name).expect("it is there");
    change(content, &mut bytes);
    let mut plan_name = honest.plan_name.clone();
    if is_resealed {
        reseal(&mut files, &mut plan_name);
    }
    let out = folder_in_memory();
    let folder: PathBuf = out.path().join(&plan_name);
    write_all(&folder, &files);
    let ended = convert_all(&folder, honest.partitions).and_then(|()| commit(&folder, &options(), &NoProgress));
    let outcome = match ended {
        Err(error) => {
            let is_of_files = matches!(error.kind(), ErrorKind::Input | ErrorKind::Output | ErrorKind::Usage);
            assert!(is_of_files || is_resealed, "stored: {name}: {error}");
            let is_blamed = is_resealed || !name.starts_with("report-") || error.to_string().contains(&name);
            assert!(is_blamed, "stored: {name} is not blamed: {error}");
            "refused"
        }
        Ok(outcome) => {
            let found = published(outcome);
            let is_same = found == honest.published;
            let differing = found.iter().find(|(path, content)| honest.published.get(*path) != Some(content));
            assert!(is_same || is_resealed, "stored: {name}: {:?} differs", differing.map(|(path, _)| path));
            if is_same { "the same" } else { "another" }
        }
    };
    digest.add(outcome);
    let class = if is_resealed { "resealed" } else { "changed" };
    digest.count(class, outcome);
}

/// One change: a number in a text gets another value, or bytes change without a thought of what they are.
pub(super) fn change(content: &mut Vec<u8>, bytes: &mut Bytes<'_>) {
    const NUMBERS: &[&str] =
        &["0", "1", "-1", "255", "65536", "4294967295", "18446744073709551615", "1e400", "null", "[]"];
    let at = bytes.u32() as usize % content.len().max(1);
    match bytes.below(6) {
        0 => content.truncate(at),
        1 => content.extend_from_slice(bytes.short()),
        2 if !content.is_empty() => content[at] ^= 1 << bytes.below(8),
        3 if !content.is_empty() => {
            let end = content.len().min(at + 1 + bytes.below(64));
            content[at..end].fill(*bytes.pick(&[0, 0xFF, b' ', b'9']));
        }
        _ => {
            let is_digit = |byte: &u8| byte.is_ascii_digit();
            let Some(start) = content[at..].iter().position(is_digit).map(|ahead| at + ahead) else { return };
            let len = content[start..].iter().take_while(|byte| is_digit(byte)).count();
            content.splice(start..start + len, bytes.pick(NUMBERS).bytes());
        }
    }
}

fn hash(parts: &[&[u8]]) -> String {
    let mut hasher = blake3::Hasher::new();
    parts.iter().for_each(|part| _ = hasher.update(part));
    hasher.finalize().to_hex().to_string()
}

/// Makes every hash right, from the innermost to the name of the folder; what is no JSON any more stays as it is.
fn reseal(files: &mut Files, plan_name: &mut String) {
    use serde_json::{Value, from_slice};
    let buffers = files.get("survey.buffers").map(|content| (content.len(), hash(&[content])));
    if let (Some(survey), Some((len, buffers))) = (files.get_mut("survey.json"), buffers)
        && let Some((seal, facts)) = survey.split_at_checked(512)
        && let Ok(mut seal) = from_slice::<Value>(seal)
    {
        seal["facts"] = serde_json::json!({ "bytes": facts.len(), "blake3": hash(&[facts]) });
        seal["buffers"] = serde_json::json!({ "bytes": len, "blake3": buffers });
        *survey = [format!("{:<511}\n", seal.to_string()).as_bytes(), facts].concat();
    }
    let Some(Ok(mut job)) = files.get("job.json").map(|job| from_slice::<Value>(job)) else { return };
    if let Some(plan) = files.get_mut("plan.json")
        && let Some(end) = plan.iter().position(|&byte| byte == b'\n')
        && let Ok(mut head) = from_slice::<Value>(&plan[..end])
    {
        let version = format!("{}\n{}\n", head["tool_version"].as_str().unwrap_or_default(), head["format_version"]);
        let sum = hash(&[version.as_bytes(), &plan[end + 1..]]);
        head["hash"] = sum.clone().into();
        job["plan_blake3"] = sum.into();
        *plan = [head.to_string().as_bytes(), &plan[end..]].concat();
    }
    let records =
        |content: &[u8], size| serde_json::json!({ "count": content.len() / size, "blake3": hash(&[content]) });
    let segments = files.iter().filter(|(name, _)| name.starts_with("segments-"));
    job["segments"] = segments.map(|(_, content)| records(content, SEGMENT)).collect();
    for (name, content) in files.iter() {
        if let Some(table) = name.strip_prefix("dimensions-") {
            job["dimensions"][table] = records(content, if table == "texts" { 1 } else { SPAN });
        }
    }
    let stacks = |name: &str| files.get(&format!("stacks-{name}")).map_or(&[][..], Vec::as_slice);
    let of_partitions = files.iter().filter(|(name, _)| name.starts_with("stacks-0"));
    job["stacks"] = serde_json::json!({
        "events": of_partitions.map(|(_, content)| records(content, STACK_OF_EVENT)).collect::<Vec<_>>(),
        "lists": records(stacks("lists"), ADDRESS_LIST),
        "addresses": records(stacks("addresses"), ADDRESS),
    });
    let text = job.to_string().into_bytes();
    let sum = hash(&[&text]);
    files.insert("job.json".to_owned(), text);
    for (_, report) in files.iter_mut().filter(|(name, _)| name.starts_with("report-")) {
        let value = report.splitn(2, |&byte| byte == b'\n').last().unwrap_or_default();
        let value = match from_slice::<Value>(value) {
            Ok(mut value) if value.is_object() => {
                value["plan"] = sum.clone().into();
                value.to_string().into_bytes()
            }
            _ => value.to_vec(),
        };
        *report = format!("{}\n", serde_json::json!({ "blake3": hash(&[&value]) })).into_bytes();
        report.extend(value);
    }
    let kept = plan_name.len().saturating_sub(16);
    plan_name.truncate(kept);
    plan_name.push_str(&sum[..16]);
}
