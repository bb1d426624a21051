//! Where the texts of a binary lie: `<language>/<file>.mui`.

use std::fs;
use std::path::{Path, PathBuf};

use base::listing::entries;

use super::language::rank_of_folder;

/// The file with the texts of a binary: of American English, else of the language whose folder comes first.
pub(super) fn texts_of(binary: &Path) -> Option<PathBuf> {
    let folder = binary.parent()?;
    let name = format!("{}.mui", binary.file_name()?.to_str()?);
    let usual = folder.join("en-US").join(&name);
    if usual.is_file() {
        return Some(usual);
    }
    let mut folders: Vec<_> = entries(folder)
        .ok()?
        .into_iter()
        .filter_map(|entry| {
            let language = rank_of_folder(entry.file_name().to_str()?)?;
            Some((language, entry.path()))
        })
        .collect();
    folders.sort();
    folders.into_iter().find_map(|(_, folder)| named(&folder, &name))
}

/// The file of this name, in any case of letters.
fn named(folder: &Path, name: &str) -> Option<PathBuf> {
    let exact = folder.join(name);
    if exact.is_file() {
        return Some(exact);
    }
    let is_it = |entry: &fs::DirEntry| entry.file_name().to_str().is_some_and(|own| own.eq_ignore_ascii_case(name));
    let mut found: Vec<_> = entries(folder).ok()?.into_iter().filter(is_it).map(|entry| entry.path()).collect();
    found.sort();
    found.into_iter().find(|path| path.is_file())
}

/// The binary, in lower case, whose texts the member of an archive has if it is called like such, and what orders languages.
pub(super) fn binary_of(member: &str) -> Option<(String, (u8, String))> {
    let member = member.to_ascii_lowercase();
    let (folders, file) = member.strip_suffix(".mui")?.rsplit_once('/')?;
    let (folder, language) = folders.rsplit_once('/').map_or(("", folders), |(folder, language)| (folder, language));
    let rank = rank_of_folder(language)?;
    Some((if folder.is_empty() { file.to_owned() } else { format!("{folder}/{file}") }, rank))
}
