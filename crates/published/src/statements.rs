//! Views over published traces, wherever they are.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use base::disk::absolute;
use base::error::Result;
use base::progress::NoProgress;
use base::remote;
use columnar::output::store_at;
use conversion::views::{Dialect, Extent, Lake, Script, Statements, Traces};

use super::beside;
use super::lake::lake;
use super::messages::add_messages;
use super::published_lake::PublishedLake;
use super::trace::{PublishedTrace, published};

/// The views of a trace, of a folder with traces, or of a lake. `with_messages`: with that of what events say in words, for which the
/// templates of all traces are read.
///
/// # Errors
/// What keeps traces from being read.
pub fn statements(path: &Path, dialect: Dialect, extent: Extent, with_messages: bool) -> Result<Statements> {
    if PublishedLake::is_at(path) {
        return of_lake(path, dialect, extent, with_messages);
    }
    let found = published(&[path.to_owned()])?;
    let one = match &found[..] {
        [one] if one.folder() == path => Some(place_of(one)?),
        _ => None,
    };
    let mut lake = lake(&found, one.is_none().then_some(&*store_at(path)))?;
    for trace in found.iter().filter(|_| with_messages) {
        add_messages(&mut lake, &*trace.store, (&["sidecar/catalog.parquet"], &["sidecar/fields.parquet"]))?;
    }
    let is_remote = remote::url_of(path).is_some();
    let (local, traces) = match &one {
        Some((folder, name)) => (folder.clone(), Traces::One(name)),
        None => (absolute(path), if is_remote { Traces::Listed } else { Traces::Many }),
    };
    if is_remote && one.is_none() {
        set_places(&mut lake, &found)?;
    }
    let beside = beside::patterns(&*store_at(&local));
    let root = local.display().to_string().replace('\\', "/");
    Ok(Script { dialect, lake: &lake, root: &root, traces, extent, beside: &beside }.statements())
}

/// The views of a lake.
fn of_lake(path: &Path, dialect: Dialect, extent: Extent, with_messages: bool) -> Result<Statements> {
    let lake = PublishedLake::open(path)?;
    let root = absolute(path).display().to_string().replace('\\', "/");
    let (mut tables, beside) = (lake.tables(&NoProgress)?, beside::patterns(&*lake.store));
    if with_messages {
        let files = |table: &str| {
            let files = lake.manifest.files.iter().filter(|file| file.table() == table);
            files.map(|file| file.path.as_str()).collect::<Vec<_>>()
        };
        add_messages(&mut tables, &*lake.store, (&files("sidecar/catalog"), &files("sidecar/fields")))?;
    }
    Ok(Script { dialect, lake: &tables, root: &root, traces: Traces::Lake, extent, beside: &beside }.statements())
}

/// The folder around a trace, and where its files are below it.
fn place_of(trace: &PublishedTrace) -> Result<(PathBuf, String)> {
    let (folder, name) = parent_and_name(&trace.folder());
    if remote::url_of(&folder).is_none() {
        return Ok((folder, name));
    }
    let data = trace.record()?.run.data;
    Ok((folder, data.map_or_else(|| name.clone(), |data| format!("{name}/{data}"))))
}

/// Lets tables name the folders that the files of traces are in.
fn set_places(lake: &mut Lake, traces: &[PublishedTrace]) -> Result<()> {
    let mut places = BTreeMap::<String, Vec<String>>::new();
    for trace in traces {
        let (_, place) = place_of(trace)?;
        let folders: BTreeSet<String> =
            trace.record()?.files.iter().filter_map(|file| Lake::folder_of(&file.path)).collect();
        folders.into_iter().for_each(|folder| places.entry(folder).or_default().push(place.clone()));
    }
    lake.set_places(|folder| places.get(folder).cloned().unwrap_or_default());
    Ok(())
}

/// The folder around a trace, and the trace's own name.
fn parent_and_name(folder: &Path) -> (PathBuf, String) {
    let absolute = absolute(folder);
    let name = absolute.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    (absolute.parent().map(Path::to_path_buf).unwrap_or_default(), name)
}
