//! A run: from the traces that are named and the lake as it is to the lake as it is to be.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use base::calendar::rfc3339;
use base::error::{Error, ErrorKind, Result};
use base::progress::{Progress, stop_if_cancelled};
use base::suggest::nearest;
use base::words::Words;
use columnar::dataset::EncodeOptions;
use columnar::output::folder::CleanupRegistry;
use columnar::output::manifest::CommitRecord;
use columnar::output::{Output, Store, store_at};
use published::lake_manifest::{By, LAKE_PATH, LakeFile, LakeManifest, LakeTrace};
use published::{Mismatch, PublishedLake, PublishedTrace, published};
use rayon::prelude::*;
use serde::Serialize;

use super::bucket;
use super::folder::check;
use super::members::{Member, read_manifest};
use super::place::LakePlace;
use super::table::StagedFile;

/// Buckets of a new lake by the hash of a name: adding a trace to a day writes an eighth of it.
const BUCKETS: u32 = 8;

/// Bytes of a file of a new lake where nothing else is asked for.
const TARGET_SIZE: u64 = 256 << 20;

/// What is asked for.
#[derive(Clone, Debug, Default)]
pub struct Request {
    /// Traces, or folders of them.
    pub outputs: Vec<PathBuf>,
    /// The folder of the lake; made if missing.
    pub lake: PathBuf,
    /// What traces are put into buckets by; a lake that is there keeps its own.
    pub by: Option<By>,
    /// A file ends before it would have more bytes; a lake that is there keeps its own.
    pub target_size: Option<u64>,
    /// Traces that the lake is not to have any more.
    pub forget: Vec<String>,
}

/// What came of it.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Compacted {
    /// The version of this document.
    pub format: u32,
    /// The folder of the lake.
    pub lake: PathBuf,
    /// The traces that it has now.
    pub traces: u64,
    /// Those that are new.
    pub added: Vec<String>,
    /// Those that were converted anew.
    pub replaced: Vec<String>,
    /// Those that are gone.
    pub forgotten: Vec<String>,
    /// The files that it has now.
    pub files: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Files that were written.
    pub written_files: u64,
    /// Their bytes.
    pub written_bytes: u64,
    /// Files that are gone: what was replaced, and what a run had left that was killed.
    pub removed_files: u64,
    /// What keeps the traces from reading as one table; their rows stand in files side by side.
    pub mismatches: Vec<Mismatch>,
    /// What is not as it should be about the folder.
    pub warnings: Vec<String>,
}

/// Brings traces into a lake. Call it in the pool whose threads it should use. Readers find the lake as it was, or as it is to be,
/// whenever the run ends.
///
/// # Errors
/// [`ErrorKind::Usage`] for a request that makes no sense, [`ErrorKind::Output`] when a trace cannot be read or the lake cannot be
/// written, [`ErrorKind::Interrupted`] when the caller asked to stop. Then the lake is as it was.
pub fn compact(request: &Request, cleanup: &CleanupRegistry, progress: &dyn Progress) -> Result<Compacted> {
    check(&*store_at(&request.lake))?;
    let place = LakePlace::begin(&request.lake, cleanup, progress)?;
    let before = is_there(&*place.store).then(|| PublishedLake::open(&request.lake)).transpose()?;
    let mut manifest = asked(request, before.as_ref().map(|lake| &lake.manifest))?;
    let plan = Plan::of(request, &manifest, progress)?;
    let output: Arc<dyn Output> = Arc::clone(&place.staging) as Arc<dyn Output>;
    let options = EncodeOptions { max_file_size: manifest.target_size, ..EncodeOptions::default() };
    let mut written: Vec<StagedFile> = Vec::new();
    for (name, members) in plan.buckets() {
        stop_if_cancelled(progress)?;
        written.extend(bucket::write(&name, &members, before.as_ref(), (&output, &options), progress)?);
    }
    manifest.files.retain(|file| !plan.changed.contains(&file.bucket));
    manifest.files.extend(written.iter().map(|staged| staged.file.clone()));
    manifest.files.sort();
    manifest.traces = plan.members.values().map(|member| member.trace.clone()).collect();
    if before.as_ref().is_none_or(|lake| lake.manifest != manifest) {
        place.publish(&written, &manifest, progress).inspect_err(|_| clear_away(&place))?;
    }
    let removed = remove(&place, before.as_ref().map(|lake| &lake.manifest), &manifest);
    let lake = PublishedLake { manifest, store: Arc::clone(&place.store) };
    let mismatches = lake.binding(progress).map(|binding| binding.mismatches()).unwrap_or_default();
    let bytes =
        |files: &mut dyn Iterator<Item = &LakeFile>| files.fold(0u64, |sum, file| sum.saturating_add(file.bytes));
    let mut warnings: Vec<String> = place.staging.warnings().collect();
    warnings.extend(removed.1);
    Ok(Compacted {
        format: 1,
        lake: request.lake.clone(),
        traces: lake.manifest.traces.len() as u64,
        added: plan.added,
        replaced: plan.replaced,
        forgotten: plan.forgotten,
        files: lake.manifest.files.len() as u64,
        bytes: bytes(&mut lake.manifest.files.iter()),
        written_files: written.len() as u64,
        written_bytes: bytes(&mut written.iter().map(|staged| &staged.file)),
        removed_files: removed.0,
        mismatches,
        warnings,
    })
}

/// The manifest of the lake as it is, or of a new one; what is asked for must be what the lake has.
fn asked(request: &Request, before: Option<&LakeManifest>) -> Result<LakeManifest> {
    let Some(before) = before else {
        let target_size = request.target_size.unwrap_or(TARGET_SIZE);
        return Ok(LakeManifest::empty(BUCKETS, request.by.unwrap_or_default(), target_size));
    };
    let refused = |what: &str, asked: String, found: String| {
        let message = format!("expected {what} {found}, which the lake was made with, found {asked}");
        let hint = "leave the option out, or compact the traces into another folder";
        Err(Error::new(ErrorKind::Usage, message).in_file(&request.lake).with_hint(hint))
    };
    match (request.by, request.target_size) {
        (Some(by), _) if by != before.by => refused("--by", by.word().to_owned(), before.by.word().to_owned()),
        (_, Some(size)) if size != before.target_size => {
            refused("--target-size", size.to_string(), before.target_size.to_string())
        }
        _ => Ok(LakeManifest { written_by: LakeManifest::empty(0, before.by, 0).written_by, ..before.clone() }),
    }
}

/// What the lake is to have.
struct Plan {
    /// All its traces, by name.
    members: BTreeMap<String, Member>,
    /// The buckets whose files are written anew, or go.
    changed: BTreeSet<String>,
    added: Vec<String>,
    replaced: Vec<String>,
    forgotten: Vec<String>,
}

impl Plan {
    fn of(request: &Request, before: &LakeManifest, progress: &dyn Progress) -> Result<Plan> {
        let kept = |trace: &LakeTrace| (trace.trace.clone(), Member { trace: trace.clone(), folder: None });
        let mut plan = Plan {
            members: before.traces.iter().map(kept).collect(),
            changed: BTreeSet::new(),
            added: Vec::new(),
            replaced: Vec::new(),
            forgotten: Vec::new(),
        };
        let given = given(request, before, progress)?;
        for name in &request.forget {
            match plan.members.remove(name) {
                Some(member) => {
                    plan.changed.insert(member.trace.bucket_name());
                    plan.forgotten.push(name.clone());
                }
                None if given.contains_key(name) || plan.forgotten.contains(name) => {}
                None => return Err(unknown(name, plan.members.keys().map(String::as_str))),
            }
        }
        for (name, member) in given.into_iter().filter(|(name, _)| !request.forget.contains(name)) {
            match plan.members.get(&name) {
                Some(known) if known.trace == member.trace => continue,
                Some(known) => {
                    plan.changed.insert(known.trace.bucket_name());
                    plan.replaced.push(name.clone());
                }
                None => plan.added.push(name.clone()),
            }
            plan.changed.insert(member.trace.bucket_name());
            plan.members.insert(name, member);
        }
        Ok(plan)
    }

    /// The buckets that change, with the traces that they are to have.
    fn buckets(&self) -> BTreeMap<String, Vec<&Member>> {
        let mut buckets: BTreeMap<String, Vec<&Member>> = BTreeMap::new();
        for member in self.members.values() {
            let name = member.trace.bucket_name();
            if self.changed.contains(&name) {
                buckets.entry(name).or_default().push(member);
            }
        }
        buckets
    }
}

/// The traces that are named, by their names.
fn given(request: &Request, lake: &LakeManifest, progress: &dyn Progress) -> Result<BTreeMap<String, Member>> {
    let traces = published(&request.outputs)?;
    let member = |trace: &PublishedTrace| {
        stop_if_cancelled(progress)?;
        let (_, manifest_sha256, record) = read_manifest(trace)?;
        let day = (lake.by == By::Day).then(|| day_of(&record)).flatten();
        let bucket = bucket_of(&record.trace, lake.buckets);
        let found = LakeTrace { trace: record.trace, day, bucket, manifest_sha256 };
        Ok(Member { trace: found, folder: Some(trace.clone()) })
    };
    let mut given: BTreeMap<String, Member> = BTreeMap::new();
    for member in traces.par_iter().map(member).collect::<Result<Vec<_>>>()? {
        let name = member.trace.trace.clone();
        let place = member.folder.as_ref().map(PublishedTrace::folder).unwrap_or_default();
        if given.insert(name.clone(), member).is_some() {
            let message = format!("two of the traces are called {name}, which would be one");
            let hint = "convert them with --name-from path, or into one folder";
            return Err(Error::new(ErrorKind::Usage, message).in_file(place).with_hint(hint));
        }
    }
    Ok(given)
}

fn unknown<'n>(name: &str, known: impl Iterator<Item = &'n str>) -> Error {
    let error = Error::new(ErrorKind::Usage, format!("expected a trace of the lake, found {name}"));
    match nearest(name, known) {
        Some(known) => error.with_hint(format!("there is {known}")),
        None => error.with_hint("lake.json lists them"),
    }
}

/// The day of the first event; `None` where there is none, or in no year of four digits.
fn day_of(record: &CommitRecord) -> Option<String> {
    let events = record.files.iter().filter(|file| file.path.starts_with("events/"));
    let first = events.filter_map(|file| file.min_timestamp_ns).min()?;
    rfc3339(first).split_once('T').map(|(day, _)| day.to_owned()).filter(|day| day.len() == 10)
}

fn bucket_of(name: &str, buckets: u32) -> u32 {
    let hash = blake3::hash(name.as_bytes());
    let number = hash.as_bytes().first_chunk().map_or(0, |bytes| u64::from_le_bytes(*bytes));
    u32::try_from(number % u64::from(buckets.max(1))).unwrap_or(0)
}

/// Whether there is a lake, or something in its place.
fn is_there(store: &dyn Store) -> bool {
    !store.kind(LAKE_PATH).is_err_and(|cause| cause.kind() == io::ErrorKind::NotFound)
}

/// Removes what a run has named that did not come to its end, where the manifest that is there can be read.
fn clear_away(place: &LakePlace) {
    let nothing = LakeManifest::empty(BUCKETS, By::default(), TARGET_SIZE);
    let manifest = if is_there(&*place.store) { LakeManifest::read(&*place.store).ok() } else { Some(nothing) };
    manifest.into_iter().for_each(|manifest| _ = remove(place, None, &manifest));
}

/// Removes what the lake has no more; how many files, and what could not be removed.
fn remove(place: &LakePlace, before: Option<&LakeManifest>, now: &LakeManifest) -> (u64, Option<String>) {
    let paths = place.superfluous(before, now);
    let outcomes: Vec<Result<()>> = paths.iter().map(|path| place.store.remove(path)).collect();
    let removed = outcomes.iter().filter(|outcome| outcome.is_ok()).count() as u64;
    let failed = outcomes.into_iter().find_map(Result::err);
    (removed, failed.map(|error| format!("{error} (the next run tries again)")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_has_one_bucket_and_names_spread_over_all() {
        let buckets: Vec<u32> = (0..1000).map(|number| bucket_of(&format!("trace{number}"), 8)).collect();
        for bucket in 0..8 {
            let share = buckets.iter().filter(|found| **found == bucket).count();
            assert!((80..180).contains(&share), "{bucket}: {share}");
        }
        assert_eq!(bucket_of("trace1", 8), buckets[1]);
    }

    #[test]
    fn a_lake_keeps_what_it_was_made_with() {
        let before = LakeManifest::empty(8, By::None, 1 << 20);
        let request = |by, target_size| Request { by, target_size, ..Request::default() };
        assert_eq!(asked(&request(None, None), Some(&before)).unwrap().by, By::None);
        assert!(asked(&request(Some(By::Day), None), Some(&before)).is_err());
        assert!(asked(&request(Some(By::None), Some(2 << 20)), Some(&before)).is_err());
        assert_eq!(asked(&request(None, None), None).unwrap().target_size, TARGET_SIZE);
    }
}
