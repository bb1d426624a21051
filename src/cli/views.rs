//! `etl2parquet views`.

use std::path::{Path, PathBuf};

use super::args::ViewsArgs;
use super::{console, exit};
use crate::error::Result;
use crate::published::{lake, published};
use crate::views::{Dialect, Extent, Script};

/// Prints the views; returns the exit code.
///
/// # Errors
/// What keeps traces from being read, and a script that cannot be written.
pub(super) fn run(args: &ViewsArgs) -> Result<u8> {
    let traces = published(std::slice::from_ref(&args.output))?;
    let lake = lake(&traces)?;
    let dialect = if args.spark { Dialect::Spark } else { Dialect::DuckDb };
    let (root, pattern) = match &traces[..] {
        [one] if one.folder == args.output => parent_and_name(&one.folder),
        _ => (args.output.clone(), "trace=*".to_owned()),
    };
    let root = root.display().to_string().replace('\\', "/");
    let script = Script { dialect, lake: &lake, root: &root, traces: &pattern, extent: Extent::Whole };
    console::to_stdout(&script.text())?;
    Ok(exit::SUCCESS)
}

/// The folder around a trace, and the trace's own name.
fn parent_and_name(folder: &Path) -> (PathBuf, String) {
    let absolute = std::path::absolute(folder).unwrap_or_else(|_| folder.to_owned());
    let name = absolute.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    (absolute.parent().map(Path::to_path_buf).unwrap_or_default(), name)
}
