//! What interrupted attempts have left in a store, removed.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use base::error::Result;
use base::progress::{Progress, stop_if_cancelled};
use base::remote::{ListedObject, Objects};
use serde_json::Value;

use super::folder::{plan_folder_name, plan_name};
use super::manifest::{LAKE_FOLDERS, LAKE_PATH, MANIFEST_PATH, MAX_MANIFEST, is_lake_file, is_short_hash};
use super::remote_output::DATA;
use super::remote_store::RemoteStore;
use super::store::{Store as _, joined};

/// What was removed, or would be.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cleaned {
    /// Objects.
    pub objects: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Objects that may be of an attempt that is under way: they are too young.
    pub young: u64,
}

/// Removes objects below an output's address that no manifest names: files of attempts, and plans. `age`: how long nobody has written to
/// an attempt that has ended. `dry_run`: nothing is removed.
///
/// # Errors
/// [`ErrorKind::Output`](base::error::ErrorKind::Output) when the store cannot be read or written.
pub fn clean(store: &RemoteStore, age: Duration, dry_run: bool, progress: &dyn Progress) -> Result<Cleaned> {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let before = i64::try_from(now.saturating_sub(age).as_nanos()).unwrap_or(i64::MAX);
    let attempts = unnamed(store)?;
    // Nobody knows how old an object is of which the store does not say it.
    let is_old = |folder: &str| {
        let times = attempts.get(folder).into_iter().flatten().map(|object| object.facts.as_ref()?.modified);
        times.max().is_none_or(|last| last.is_some_and(|last| last <= before))
    };
    let mut cleaned = Cleaned::default();
    for (folder, objects) in &attempts {
        // Files of a plan's partitions are as young as the plan.
        if !is_old(folder) || plan_of(folder).is_some_and(|plan| !is_old(&plan)) {
            cleaned.young += objects.len() as u64;
            continue;
        }
        for object in objects {
            stop_if_cancelled(progress)?;
            if !dry_run {
                remove(store, &object.path)?;
            }
            cleaned.objects += 1;
            cleaned.bytes += object.facts.as_ref().map_or(0, |facts| facts.size);
        }
    }
    Ok(cleaned)
}

/// The objects that no manifest names, by the attempt or the plan that they are of; of a lake each by itself.
fn unnamed(store: &RemoteStore) -> Result<BTreeMap<String, Vec<ListedObject>>> {
    let (mut attempts, mut published) = (BTreeMap::<String, Vec<ListedObject>>::new(), BTreeSet::new());
    // In this order: what is published meanwhile is in the list with its manifest, or not at all.
    let (objects, lake) = (list(store, "")?, lake_files(store)?);
    for object in objects {
        let attempt = match (&lake, &object.path.split('/').collect::<Vec<_>>()[..]) {
            (Some(named), [folder, .., name]) if LAKE_FOLDERS.contains(folder) && is_lake_file(name) => {
                Some(object.path.clone()).filter(|path| !named.contains(path))
            }
            (None, [trace, ..]) if object.path == format!("{trace}/{MANIFEST_PATH}") => {
                published.insert((*trace).to_owned());
                None
            }
            (None, [trace, data, _, ..]) if trace.starts_with("trace=") && is_data(data) => {
                Some(format!("{trace}/{data}"))
            }
            (None, [plan, _, ..]) if plan_name(plan.as_ref()).is_some() => Some((*plan).to_owned()),
            _ => None,
        };
        attempt.into_iter().for_each(|attempt| attempts.entry(attempt).or_default().push(object.clone()));
    }
    for trace in published {
        let data = store.data_of(&trace).map_err(|cause| store.failed("read the manifest", &trace, cause))?;
        data.map(|data| attempts.remove(&format!("{trace}/{data}")));
    }
    Ok(attempts)
}

/// Whether a folder of a trace is called like that of an attempt's files.
fn is_data(folder: &str) -> bool {
    folder.strip_prefix(DATA).is_some_and(is_short_hash)
}

/// The folder of the plan that an attempt's files may be of.
fn plan_of(folder: &str) -> Option<String> {
    let (trace, hash) = folder.strip_prefix("trace=")?.split_once(&format!("/{DATA}"))?;
    Some(plan_folder_name(trace, hash))
}

/// The files that the manifest of a lake names; `None` where there is no lake.
fn lake_files(store: &RemoteStore) -> Result<Option<BTreeSet<String>>> {
    let failed = |cause| store.failed("read the manifest", LAKE_PATH, cause);
    let text = match store.get(LAKE_PATH, MAX_MANIFEST) {
        Err(cause) if cause.kind() == io::ErrorKind::NotFound => return Ok(None),
        text => text.map_err(failed)?,
    };
    let manifest: Value = serde_json::from_slice(&text).map_err(|cause| failed(cause.into()))?;
    let files = manifest["files"].as_array().ok_or_else(|| failed(io::ErrorKind::InvalidData.into()))?;
    Ok(Some(files.iter().filter_map(|file| file["path"].as_str().map(str::to_owned)).collect()))
}

/// Removes all objects below a folder.
///
/// # Errors
/// Those of [`clean`].
pub fn remove_below(store: &RemoteStore, folder: &str) -> Result<()> {
    let listed = list(store, folder)?;
    listed.iter().try_for_each(|object| remove(store, &joined(folder, &object.path)))
}

fn list(store: &RemoteStore, folder: &str) -> Result<Vec<ListedObject>> {
    let listed = store.ask(folder, |client, url| client.list(url, true, store.stop()));
    listed.map_err(|cause| store.failed("list", folder, cause))
}

fn remove(store: &RemoteStore, path: &str) -> Result<()> {
    store.write(("remove", path), |client: &dyn Objects, url: &str| client.remove(url, store.stop()))
}
