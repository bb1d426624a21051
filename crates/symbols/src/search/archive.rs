//! A zip archive with symbols, such as the one that a trace comes in: `symbols/<pdb>/<id>/<pdb>`, or any other folders.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use base::progress::NoProgress;
use etl::input::LocalFile;
use etl::input::container::{Archive, Format};

use super::candidate::Candidate;
use crate::found::{Readable, Reason};

/// An archive, whose directory is read when something is looked for in it.
#[derive(Debug)]
pub(super) struct ZipFile {
    path: PathBuf,
    directory: OnceLock<Readable<Directory>>,
}

#[derive(Debug)]
struct Directory {
    archive: Arc<Archive>,
    /// The members by their file names in lower case.
    by_name: HashMap<String, Vec<usize>>,
}

impl ZipFile {
    pub(super) fn new(path: PathBuf) -> ZipFile {
        ZipFile { path, directory: OnceLock::new() }
    }

    /// The members that are called so, those first whose folder is called like one of the identities.
    pub(super) fn candidates(&self, name: &str, ids: &[&str]) -> Vec<Candidate> {
        let directory = match self.directory.get_or_init(|| read(&self.path)) {
            Ok(directory) => directory,
            Err(reason) => return vec![Candidate::Told(self.path.clone(), reason.clone())],
        };
        let Directory { archive, by_name } = directory;
        let mut found = by_name.get(&name.to_ascii_lowercase()).cloned().unwrap_or_default();
        let is_of_another = |index: &usize| {
            let path = archive.members().get(*index).map(|member| member.name.to_ascii_lowercase());
            !path.is_some_and(|path| ids.iter().any(|id| path.contains(&id.to_ascii_lowercase())))
        };
        found.sort_by_key(is_of_another);
        found.into_iter().map(|index| Candidate::Member(self.path.clone(), Arc::clone(archive), index)).collect()
    }
}

fn read(path: &Path) -> Readable<Directory> {
    let archive = Archive::open(Arc::new(LocalFile::open(path)?), Format::Zip, &NoProgress).map_err(Reason::from)?;
    let mut by_name: HashMap<String, Vec<usize>> = HashMap::new();
    for (index, member) in archive.members().iter().enumerate() {
        let name = member.name.rsplit(['/', '\\']).next().unwrap_or_default();
        by_name.entry(name.to_ascii_lowercase()).or_default().push(index);
    }
    Ok(Directory { archive: Arc::new(archive), by_name })
}
