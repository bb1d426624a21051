//! The way of finished files into the published trace: to disk, under their names, one rename.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use base::disk;
use base::error::{Error, Result};
use base::progress::{Progress, stop_if_cancelled};

use super::disks::{Disks, Item};
use super::existing::is_there;
use super::parts::Parts;
use super::system::{Tree, exchange, exists, remove_file, rename_no_replace_at_once, tree};
use crate::output::errors::output_error;
use crate::output::interface::StagedName;

/// A file that is to be published: where it lies, and where it is to lie.
struct Move {
    staged: PathBuf,
    named: PathBuf,
}

/// Makes `new` the folder of these files and no others. What an interrupted publication has taken already stays.
pub(super) fn assemble(
    parts: &Parts,
    new: &Path,
    files: &[StagedName],
    disks: &Disks,
    progress: &dyn Progress,
) -> Result<()> {
    let moves = moves(parts, new, files)?;
    sync_files(&moves, disks, progress)?;
    let folders: BTreeSet<&Path> = moves.iter().filter_map(|file| file.named.parent()).collect();
    for folder in folders {
        fs::create_dir_all(folder).map_err(|cause| output_error("create the folder", folder, cause))?;
    }
    name_files(new, &moves, disks, progress)
}

/// As [`assemble`], of parts that are this trace's alone: their folder becomes `new`.
pub(super) fn assemble_in_place(
    parts: &Parts,
    new: &Path,
    files: &[StagedName],
    disks: &Disks,
    progress: &dyn Progress,
) -> Result<()> {
    sync_files(&moves(parts, new, files)?, disks, progress)?;
    let parts = parts.rename_to(new)?;
    name_files(new, &moves(&parts, new, files)?, disks, progress)
}

fn moves(parts: &Parts, new: &Path, files: &[StagedName]) -> Result<Vec<Move>> {
    let moves = files.iter().map(|file| Ok(Move { staged: parts.locate(file)?, named: new.join(&file.path) }));
    moves.collect()
}

/// On disk first: once names end in .parquet, readers may look.
fn sync_files(moves: &[Move], disks: &Disks, progress: &dyn Progress) -> Result<()> {
    let staged = moves.iter().map(|file| Item::File { path: file.staged.clone(), or: Some(file.named.clone()) });
    disks.sync_all(staged, progress)
}

/// Gives files their names, removes all else, and brings the names to disk.
fn name_files(new: &Path, moves: &[Move], disks: &Disks, progress: &dyn Progress) -> Result<()> {
    let names: BTreeSet<&Path> = moves.iter().map(|file| file.named.as_path()).collect();
    if names.len() < moves.len() {
        return Err(Error::bug("two files of a trace have one name").in_file(new));
    }
    for file in moves {
        stop_if_cancelled(progress)?;
        take(file)?;
    }
    let Tree { mut folders, files: found } = tree(new).map_err(|cause| output_error("list", new, cause))?;
    for (other, _) in found.iter().filter(|(file, _)| !names.contains(file.as_path())) {
        remove_file(other).map_err(|cause| output_error("remove", other, cause))?;
    }
    // Those of files that were begun and are not wanted, the innermost first.
    let wanted: BTreeSet<&Path> = names.iter().flat_map(|file| file.ancestors()).collect();
    for empty in folders.extract_if(.., |folder| !wanted.contains(folder.as_path())).collect::<Vec<_>>().iter().rev() {
        fs::remove_dir(empty).map_err(|cause| output_error("remove", empty, cause))?;
    }
    disks.sync_all(folders.into_iter().map(Item::Folder), progress)
}

/// Gives files, each by itself, their names below `root`, on disk before that and with the folders that they are in after it. A file of
/// such a name is replaced.
pub(super) fn place(
    parts: &Parts,
    root: &Path,
    files: &[(StagedName, String)],
    disks: &Disks,
    progress: &dyn Progress,
) -> Result<()> {
    let moves = files.iter().map(|(file, path)| Ok(Move { staged: parts.locate(file)?, named: root.join(path) }));
    let moves = moves.collect::<Result<Vec<_>>>()?;
    sync_files(&moves, disks, progress)?;
    let folders: BTreeSet<&Path> = moves.iter().flat_map(|file| file.named.ancestors().skip(1)).collect();
    let folders: Vec<&Path> = folders.into_iter().filter(|folder| folder.starts_with(root)).collect();
    for folder in &folders {
        fs::create_dir_all(folder).map_err(|cause| output_error("create the folder", folder, cause))?;
    }
    for file in &moves {
        stop_if_cancelled(progress)?;
        take(file)?;
    }
    disks.sync_all(folders.into_iter().map(|folder| Item::Folder(folder.to_owned())), progress)
}

/// Brings the files of an attempt to disk, and the folders that they are in.
pub(super) fn sync_attempt(parts: &Parts, attempt: &str, disks: &Disks, progress: &dyn Progress) -> Result<()> {
    let own = parts.list()?.into_iter().filter(|file| file.attempt.as_deref() == Some(attempt));
    let own = own.map(|file| parts.locate(&StagedName { path: file.path, attempt: attempt.to_owned() }));
    let own = own.collect::<Result<Vec<_>>>()?;
    disks.sync_all(own.iter().map(|file| Item::File { path: file.clone(), or: None }), progress)?;
    let folders: BTreeSet<&Path> = own.iter().flat_map(|file| file.ancestors().skip(1)).collect();
    let folders = folders.into_iter().filter(|folder| folder.starts_with(&parts.root));
    disks.sync_all(folders.map(|folder| Item::Folder(folder.to_owned())), progress)
}

/// Gives a file its name.
fn take(Move { staged, named }: &Move) -> Result<()> {
    match disk::rename(staged, named) {
        Err(cause) if cause.kind() == io::ErrorKind::NotFound && exists(named)? => Ok(()),
        renamed => renamed.map_err(|cause| output_error("rename", staged, cause)),
    }
}

/// Puts `new` in the place of the published trace; the old one is in `new` or in `old` then.
pub(super) fn replace(new: &Path, old: &Path, target: &Path) -> Result<()> {
    match exchange(new, target) {
        Ok(true) => Ok(()),
        Ok(false) => replace_in_two_steps(new, old, target),
        Err(cause) => Err(output_error("replace the trace", target, cause)),
    }
}

/// For systems that cannot exchange two folders. A reader may find no trace for a moment.
pub(super) fn replace_in_two_steps(new: &Path, old: &Path, target: &Path) -> Result<()> {
    let failed = |cause| output_error("replace the trace", target, cause);
    disk::rename(target, old).map_err(failed)?;
    disk::rename(new, target).map_err(|cause| {
        // Back to where it was; should that fail too, the next run does it.
        let _ = disk::rename(old, target);
        failed(cause)
    })
}

/// Renames a folder to a name that nothing has; never replaces.
pub(super) fn rename_no_replace(from: &Path, to: &Path) -> Result<()> {
    let renamed = match rename_no_replace_at_once(from, to) {
        Some(outcome) => outcome,
        None if exists(to)? => return Err(is_there(to)),
        None => disk::rename(from, to),
    };
    match renamed {
        Err(cause) if cause.kind() == io::ErrorKind::AlreadyExists => Err(is_there(to)),
        other => other.map_err(|cause| output_error("publish the trace", to, cause)),
    }
}
