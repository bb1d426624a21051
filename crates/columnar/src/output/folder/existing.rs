//! What stands in the place of a trace already.

use std::io;
use std::path::{Path, PathBuf};

use base::error::{Error, ErrorCode, ErrorKind, Result};
use base::remote;

use super::system::exists;
use crate::output::errors::output_error;
use crate::output::interface::IfExists;
use crate::output::local_store::LocalStore;
use crate::output::manifest::{CommitRecord, LAKE_PATH, MANIFEST_PATH};
use crate::output::refusal;
use crate::output::remote_store::store_at;
use crate::output::store::StoreEntry;

/// The folder of a published trace.
pub fn trace_folder(out: &Path, name: &str) -> PathBuf {
    out.join(format!("trace={name}"))
}

/// The names of all published traces of an output folder, sorted; none where it cannot be listed.
pub fn published(out: &Path) -> Vec<String> {
    let entries = store_at(out).list("").into_iter().flatten();
    let name = |entry: StoreEntry| Some(entry.name.strip_prefix("trace=")?.to_owned());
    let mut names: Vec<String> = entries.filter_map(name).collect();
    names.sort();
    names
}

/// Whether a folder is a lake. Only the presence of its manifest is looked at.
pub fn is_lake(folder: &Path) -> bool {
    folder.join(LAKE_PATH).is_file()
}

/// Whether a folder is one that this program makes: a published trace, one in work, what is remembered of inputs that became none, or
/// a lake. Only names and the presence of a manifest are looked at.
pub fn is_of_output(folder: &Path) -> bool {
    let name = folder.file_name().unwrap_or_default().to_string_lossy();
    let is_trace = || name.starts_with("trace=") && folder.join(MANIFEST_PATH).is_file();
    let in_work = name.strip_prefix(refusal::FOLDER).is_some_and(|rest| rest.is_empty() || rest.starts_with('-'));
    in_work || is_trace() || is_lake(folder)
}

/// Whether the published trace is what this run would write: same inputs in the same order (BLAKE3, lower-case
/// hexadecimal), same format version, same options. `false` when there is none.
///
/// Ask when the output has been opened, which repairs what an interrupted run left.
///
/// # Errors
/// [`ErrorKind::Output`] when there is a different one, or one whose manifest cannot be read.
pub fn is_current(
    out: &Path,
    name: &str,
    input_hashes: &[String],
    format_version: u32,
    options_hash: &str,
) -> Result<bool> {
    let target = trace_folder(out, name);
    if !is_taken(&target)? {
        return Ok(false);
    }
    let way_out = "choose --if-exists replace, or another name or output folder";
    let there = CommitRecord::read(&*store_at(&target)).map_err(|error| error.with_hint(way_out))?;
    let differs = if there.format_version != format_version {
        "with another format version"
    } else if !there.inputs.iter().map(|input| &input.blake3).eq(input_hashes) {
        "from other input"
    } else if there.options_hash != options_hash {
        "with other options"
    } else {
        return Ok(true);
    };
    let message = format!("this trace is there already, but made {differs}");
    Err(Error::new(ErrorKind::Output, message).with_code(ErrorCode::OutputExists).in_file(target).with_hint(way_out))
}

/// Refuses what stands in the place of a trace and may not be replaced, before any work is done.
///
/// # Errors
/// [`ErrorKind::Output`] when there is a trace already and it is not to be skipped or replaced, or anything that is no
/// trace of this program.
pub fn check_absent(out: &Path, name: &str, if_exists: IfExists) -> Result<()> {
    match if_exists {
        // Whether it may be skipped is known when the input is hashed.
        IfExists::Skip => refuse_foreign(&trace_folder(out, name)),
        other => may_publish(&trace_folder(out, name), other),
    }
}

pub(super) fn may_publish(target: &Path, if_exists: IfExists) -> Result<()> {
    refuse_foreign(target)?;
    if !if_exists.replaces() && is_taken(target)? { Err(is_there(target)) } else { Ok(()) }
}

/// Whether something stands in the place of a trace; in a store that is its manifest.
fn is_taken(target: &Path) -> Result<bool> {
    if remote::url_of(target).is_none() {
        return exists(target);
    }
    match store_at(target).kind(MANIFEST_PATH) {
        Err(cause) if cause.kind() == io::ErrorKind::NotFound => Ok(false),
        found => found.map(|_| true).map_err(|cause| output_error("look for the trace", target, cause)),
    }
}

/// Refuses to touch what this program has not made.
fn refuse_foreign(target: &Path) -> Result<()> {
    // What lies in a store beside a manifest harms nobody.
    if remote::url_of(target).is_some() || !exists(target)? || CommitRecord::is_in(&LocalStore::new(target)) {
        return Ok(());
    }
    let found = match target.join(MANIFEST_PATH).is_file() {
        true => "a folder with a damaged or foreign",
        false if target.is_dir() => "a folder without our",
        false => "something else than a folder with a",
    };
    let message = format!("expected a trace made by this program, found {found} {MANIFEST_PATH}");
    let hint = "move it away, or choose another name or output folder";
    Err(Error::new(ErrorKind::Output, message).with_code(ErrorCode::OutputExists).in_file(target).with_hint(hint))
}

pub(in crate::output) fn is_there(target: &Path) -> Error {
    Error::new(ErrorKind::Output, "this trace is there already")
        .with_code(ErrorCode::OutputExists)
        .in_file(target)
        .with_hint("choose --if-exists skip, replace or update, or another name or output folder")
}
