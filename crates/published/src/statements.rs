//! Views over published traces, wherever they are.

use std::path::{Path, PathBuf};

use base::disk::absolute;
use base::error::Result;
use base::progress::NoProgress;
use columnar::output::{LocalStore, Store};
use conversion::views::{Dialect, Extent, Script, Statements, Traces};

use super::beside;
use super::lake::lake;
use super::messages::add_messages;
use super::published_lake::PublishedLake;
use super::trace::published;

/// The views of a trace, of a folder with traces, or of a lake. `with_messages`: with that of what events say in words, for which the
/// templates of all traces are read.
///
/// # Errors
/// What keeps traces from being read.
pub fn statements(path: &Path, dialect: Dialect, extent: Extent, with_messages: bool) -> Result<Statements> {
    if PublishedLake::is_at(path) {
        return of_lake(path, dialect, extent, with_messages);
    }
    let traces = published(&[path.to_owned()])?;
    let one = match &traces[..] {
        [one] if one.folder() == path => Some(parent_and_name(&one.folder())),
        _ => None,
    };
    let mut lake = lake(&traces, one.is_none().then_some(&LocalStore::new(path) as &dyn Store))?;
    for trace in traces.iter().filter(|_| with_messages) {
        add_messages(&mut lake, &*trace.store, (&["sidecar/catalog.parquet"], &["sidecar/fields.parquet"]))?;
    }
    let (local, traces) = match &one {
        Some((folder, name)) => (folder.clone(), Traces::One(name)),
        None => (absolute(path), Traces::Many),
    };
    let beside = beside::patterns(&LocalStore::new(&local));
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

/// The folder around a trace, and the trace's own name.
fn parent_and_name(folder: &Path) -> (PathBuf, String) {
    let absolute = absolute(folder);
    let name = absolute.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    (absolute.parent().map(Path::to_path_buf).unwrap_or_default(), name)
}
