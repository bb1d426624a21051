//! Views over published traces, wherever they are.

use std::path::{Path, PathBuf};

use base::disk::absolute;
use base::error::Result;
use columnar::output::{LocalStore, Store};
use conversion::views::{Dialect, Extent, Script, Statements, Traces};

use super::beside;
use super::lake::lake;
use super::trace::published;

/// The views of a trace, or of a folder with traces.
///
/// # Errors
/// What keeps traces from being read.
pub fn statements(path: &Path, dialect: Dialect, extent: Extent) -> Result<Statements> {
    let traces = published(&[path.to_owned()])?;
    let one = match &traces[..] {
        [one] if one.folder() == path => Some(parent_and_name(&one.folder())),
        _ => None,
    };
    let lake = lake(&traces, one.is_none().then_some(&LocalStore::new(path) as &dyn Store))?;
    let (local, traces) = match &one {
        Some((folder, name)) => (folder.clone(), Traces::One(name)),
        None => (absolute(path), Traces::Many),
    };
    let beside = beside::patterns(&LocalStore::new(&local));
    let root = local.display().to_string().replace('\\', "/");
    Ok(Script { dialect, lake: &lake, root: &root, traces, extent, beside: &beside }.statements())
}

/// The folder around a trace, and the trace's own name.
fn parent_and_name(folder: &Path) -> (PathBuf, String) {
    let absolute = absolute(folder);
    let name = absolute.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    (absolute.parent().map(Path::to_path_buf).unwrap_or_default(), name)
}
