//! Files that are not published yet: `parts/<path in the trace>.<attempt>.tmp`.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use base::disk;
use base::error::{Error, ErrorKind, Result};
use base::listing::entries;
use base::names::stays_below;

use super::system::{files_below, relative, remove, remove_file};
use crate::output::append::AppendFile;
use crate::output::errors::output_error;
use crate::output::interface::{StagedFile, StagedName};

/// What a file name ends in until the trace is published: no reader's glob for `.parquet` matches it.
const STAGED_SUFFIX: &str = ".tmp";

/// The folder of the unpublished files of a trace.
#[derive(Clone, Debug)]
pub(super) struct Parts {
    pub(super) root: PathBuf,
}

impl Parts {
    /// Those of a staging folder.
    pub(super) fn of(staging: &Path) -> Self {
        Parts { root: staging.join("parts") }
    }

    /// Gives the folder another name. What has it goes.
    pub(super) fn rename_to(&self, root: &Path) -> Result<Self> {
        remove(root).map_err(|cause| output_error("remove", root, cause))?;
        disk::rename(&self.root, root).map_err(|cause| output_error("rename", &self.root, cause))?;
        Ok(Parts { root: root.to_owned() })
    }

    /// Where a file is.
    pub(super) fn locate(&self, name: &StagedName) -> Result<PathBuf> {
        let StagedName { path, attempt } = name;
        if !is_attempt(attempt) || !stays_below(path) {
            let message =
                format!("expected a file of a trace, found {path:?} of attempt {attempt:?}, which leads out of it");
            return Err(Error::new(ErrorKind::Output, message).in_file(&self.root));
        }
        Ok(self.root.join(format!("{path}.{attempt}{STAGED_SUFFIX}")))
    }

    /// Creates a file, and the folders around it, but not the one of all files: where that has gone, so has the trace.
    pub(super) fn create(&self, name: &StagedName) -> Result<AppendFile> {
        let path = self.locate(name)?;
        let created = match AppendFile::create(path.clone()) {
            // Most folders are there, because another file is in them.
            Err(cause) if cause.kind() == io::ErrorKind::NotFound => {
                let folder = path.parent().unwrap_or(&self.root);
                create_below(&self.root, folder).map_err(|cause| output_error("create the folder", folder, cause))?;
                AppendFile::create(path.clone())
            }
            created => created,
        };
        created.map_err(|cause| output_error("create the file", &path, cause))
    }

    /// All files; what has no name of an unpublished file is none.
    pub(super) fn list(&self) -> Result<Vec<StagedFile>> {
        let found = files_below(&self.root).map_err(|cause| output_error("list", &self.root, cause))?;
        Ok(found.iter().filter_map(|(file, bytes)| staged(&relative(&self.root, file)?, *bytes)).collect())
    }

    /// Removes all that an attempt has written.
    pub(super) fn remove_attempt(&self, attempt: &str) -> io::Result<()> {
        let suffix = format!(".{attempt}{STAGED_SUFFIX}");
        let found = files_below(&self.root)?;
        let own = found.into_iter().map(|(file, _)| file);
        own.filter(|file| file.to_string_lossy().ends_with(&suffix)).try_for_each(|file| remove_file(&file))
    }
}

/// Removes what an attempt has begun in the folder of a plan itself, beside the files of the trace.
pub(super) fn remove_staged(folder: &Path, attempt: &str) -> io::Result<()> {
    let suffix = format!(".{attempt}{STAGED_SUFFIX}");
    for entry in entries(folder)? {
        if entry.file_name().to_string_lossy().ends_with(&suffix) {
            let is_folder = entry.file_type()?.is_dir();
            if is_folder { remove(&entry.path())? } else { remove_file(&entry.path())? }
        }
    }
    Ok(())
}

/// Whether a word can be that of an attempt.
pub fn is_attempt(word: &str) -> bool {
    !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_alphanumeric())
}

fn staged(path: &str, bytes: u64) -> Option<StagedFile> {
    let (path, attempt) = path.strip_suffix(STAGED_SUFFIX)?.rsplit_once('.')?;
    Some(StagedFile { path: path.to_owned(), attempt: Some(attempt.to_owned()), bytes })
}

/// Makes a folder and those on the way to it from `root`, which is not made.
fn create_below(root: &Path, folder: &Path) -> io::Result<()> {
    if folder == root {
        return Ok(());
    }
    let made = match fs::create_dir(folder) {
        Err(cause) if cause.kind() == io::ErrorKind::NotFound => {
            let parent = folder.parent().filter(|parent| parent.starts_with(root) && *parent != root).ok_or(cause)?;
            create_below(root, parent)?;
            fs::create_dir(folder)
        }
        made => made,
    };
    match made {
        // There before, or made by another thread in the same moment.
        Err(cause) if cause.kind() == io::ErrorKind::AlreadyExists && folder.is_dir() => Ok(()),
        made => made,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::output::interface::OutputFile;

    fn name(path: &str, attempt: &str) -> StagedName {
        StagedName { path: path.to_owned(), attempt: attempt.to_owned() }
    }

    #[test]
    fn attempts_do_not_meet_and_go_one_by_one() {
        let folder = tempfile::tempdir().unwrap();
        let parts = Parts::of(folder.path());
        fs::create_dir(&parts.root).unwrap();
        for attempt in ["a1", "b2"] {
            parts.create(&name("events/A/part.parquet", attempt)).unwrap().append(attempt.as_bytes()).unwrap();
        }
        parts.create(&name("events/B/part.parquet", "a1")).unwrap();
        assert!(parts.create(&name("events/B/part.parquet", "a1")).is_err());
        fs::write(parts.root.join("stray"), "").unwrap();
        let listed = || {
            let name = |file: &StagedFile| format!("{} {} {}", file.path, file.attempt.as_deref().unwrap(), file.bytes);
            parts.list().unwrap().iter().map(name).collect::<Vec<_>>()
        };
        let of_b2 = "events/A/part.parquet b2 2";
        assert_eq!(listed(), ["events/A/part.parquet a1 2", of_b2, "events/B/part.parquet a1 0"]);
        parts.remove_attempt("a1").unwrap();
        assert_eq!(listed(), [of_b2]);
    }

    #[test]
    fn no_name_leads_out_of_the_trace() {
        let parts = Parts::of(Path::new("x"));
        for path in ["../a", "a/../../b", "/a", "a//b", "", ".", "a\\b", "a/"] {
            assert!(parts.locate(&name(path, "a1")).is_err(), "{path:?}");
        }
        for attempt in ["", "../a", "a.b", "a/b"] {
            assert!(parts.locate(&name("a", attempt)).is_err(), "{attempt:?}");
        }
        assert_eq!(parts.locate(&name("a/b", "c1")).unwrap(), Path::new("x/parts/a/b.c1.tmp"));
    }

    #[test]
    fn a_folder_that_has_gone_is_not_made_again() {
        let folder = tempfile::tempdir().unwrap();
        let parts = Parts::of(folder.path());
        assert!(parts.create(&name("events/A/part.parquet", "a1")).is_err());
        assert!(parts.create(&name("part.parquet", "a1")).is_err());
        assert!(!parts.root.exists());
    }
}
