//! A folder with symbols, in any of the layouts that debuggers, symbol stores and their caches have.
//!
//! Below the folder, its folder `symbols`, and in both a folder called like the extension of the file, a file may lie as
//!
//! ```text
//! <file>                              beside others
//! <file>/<id>/<file>                  in a symbol store
//! <first two letters>/<file>/<id>/…   in one of two levels, which has a file `index2.txt`
//! <file>/<id>/<file with _>           packed, as a cabinet
//! <file>/<id>/file.ptr                somewhere else, which the text names
//! <file>/<id>/msfz0/<file>            as MSFZ, beside one that is not
//! ```
//!
//! Names are compared without regard to the case of ASCII letters, also where the file system makes a difference.

use std::collections::HashMap;
use std::ffi::OsString;
use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use super::candidate::Candidate;
use crate::found::Reason;

/// Entries of a folder that are remembered; in a larger one names are found only in the case in which they are asked for.
const MOST_ENTRIES: usize = 1 << 18;
/// Bytes of a `file.ptr` that are read.
const MOST_POINTER: u64 = 4096;

/// Entries by their names in lower case; `None` where there are too many.
type Listing = Option<HashMap<String, Vec<OsString>>>;

/// A folder, and what it was found to hold.
#[derive(Debug)]
pub(super) struct Folder {
    path: PathBuf,
    /// What the folders hold that are asked again and again.
    listings: Mutex<HashMap<PathBuf, Arc<Listing>>>,
}

impl Folder {
    pub(super) fn new(path: PathBuf) -> Folder {
        Folder { path, listings: Mutex::default() }
    }

    /// The files that are called so, in the order in which they are tried; in a store those of the identities alone.
    pub(super) fn candidates(&self, name: &str, ids: &[&str]) -> Vec<Candidate> {
        let mut found = Vec::new();
        let extension = name.rsplit_once('.').map_or("", |(_, extension)| extension);
        let mut bases = vec![self.path.clone()];
        bases.extend(self.named(&self.path, "symbols"));
        for base in bases {
            self.below(&base, name, ids, &mut found);
            let of_extension = if extension.is_empty() { Vec::new() } else { self.named(&base, extension) };
            of_extension.iter().for_each(|folder| self.below(folder, name, ids, &mut found));
        }
        found
    }

    fn below(&self, base: &Path, name: &str, ids: &[&str], found: &mut Vec<Candidate>) {
        for entry in self.named(base, name) {
            if entry.is_dir() {
                in_store(&entry, name, ids, found);
            } else {
                found.push(Candidate::File(entry));
            }
        }
        let first_two: String = name.chars().take(2).collect();
        for level in self.named(base, &first_two) {
            for entry in named_in(&level, name) {
                in_store(&entry, name, ids, found);
            }
        }
        found.extend(self.named(base, &packed_name(name)).into_iter().map(Candidate::Cabinet));
    }

    /// The entries of a folder that are called so, those of exactly this name first.
    fn named(&self, folder: &Path, name: &str) -> Vec<PathBuf> {
        let mut listings = self.listings.lock().unwrap_or_else(PoisonError::into_inner);
        let listing = listings.entry(folder.to_owned()).or_insert_with(|| Arc::new(list(folder)));
        match &**listing {
            Some(entries) => in_listing(entries, folder, name),
            None => Some(folder.join(name)).filter(|path| path.exists()).into_iter().collect(),
        }
    }
}

/// The files in the folder `<file>` of a store.
fn in_store(folder: &Path, name: &str, ids: &[&str], found: &mut Vec<Candidate>) {
    for folder in ids.iter().flat_map(|id| named_in(folder, id)) {
        let folders = [vec![folder.clone()], named_in(&folder, "msfz0")].concat();
        for folder in folders {
            found.extend(named_in(&folder, name).into_iter().map(Candidate::File));
            found.extend(named_in(&folder, &packed_name(name)).into_iter().map(Candidate::Cabinet));
        }
        found.extend(named_in(&folder, "file.ptr").iter().filter_map(|path| pointed(path, name)));
    }
}

/// `name.pd_`: the last letter of the extension becomes `_`, and a name without one gets it.
pub(super) fn packed_name(name: &str) -> String {
    match name.rsplit_once('.') {
        Some((stem, extension)) if extension.chars().count() >= 3 => {
            let kept: String = extension.chars().take(extension.chars().count().saturating_sub(1)).collect();
            format!("{stem}.{kept}_")
        }
        _ => format!("{name}_"),
    }
}

fn named_in(folder: &Path, name: &str) -> Vec<PathBuf> {
    match list(folder) {
        Some(entries) => in_listing(&entries, folder, name),
        None => Some(folder.join(name)).filter(|path| path.exists()).into_iter().collect(),
    }
}

fn in_listing(entries: &HashMap<String, Vec<OsString>>, folder: &Path, name: &str) -> Vec<PathBuf> {
    let found = entries.get(&name.to_ascii_lowercase()).map(Vec::as_slice).unwrap_or_default();
    let mut found: Vec<&OsString> = found.iter().collect();
    found.sort_by_key(|entry| (entry.as_os_str() != name, entry.as_os_str()));
    found.into_iter().map(|entry| folder.join(entry)).collect()
}

/// What a folder holds; one that cannot be read holds nothing.
fn list(folder: &Path) -> Listing {
    let mut entries: HashMap<String, Vec<OsString>> = HashMap::new();
    let Ok(found) = fs::read_dir(folder) else { return Some(entries) };
    for (count, entry) in found.flatten().enumerate() {
        if count >= MOST_ENTRIES {
            return None;
        }
        let name = entry.file_name();
        // What is no text is asked for by nobody.
        if let Some(text) = name.to_str() {
            entries.entry(text.to_ascii_lowercase()).or_default().push(name);
        }
    }
    Some(entries)
}

/// What a `file.ptr` says: `PATH:` and a path, `MSG:` and a reason why there is none, or a path alone.
fn pointed(pointer: &Path, name: &str) -> Option<Candidate> {
    let mut text = Vec::new();
    fs::File::open(pointer).ok()?.take(MOST_POINTER).read_to_end(&mut text).ok()?;
    let text = String::from_utf8_lossy(&text);
    let text = text.trim_end_matches(['\0', '\r', '\n']).trim();
    if let Some(message) = text.strip_prefix("MSG:") {
        let reason = Reason::damaged(format!("the symbol store has none: {}", message.trim()));
        return Some(Candidate::Told(pointer.to_owned(), reason));
    }
    let path = text.strip_prefix("PATH:").unwrap_or(text).trim();
    // Names of other machines: asking for one would be a request to it, of whoever wrote this file.
    if path.starts_with(r"\\") || path.starts_with("//") {
        let reason = Reason::unsupported(format!("a pointer to another machine: {path}"));
        return Some(Candidate::Told(pointer.to_owned(), reason));
    }
    let target = pointer.parent()?.join(path);
    let is_packed = target.file_name().and_then(|file| file.to_str())?.eq_ignore_ascii_case(&packed_name(name));
    Some(if is_packed { Candidate::Cabinet(target) } else { Candidate::File(target) })
}
