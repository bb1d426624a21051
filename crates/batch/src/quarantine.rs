//! What `--quarantine-dir` keeps: one small JSON record for each input that could not be read as a trace. The inputs
//! themselves stay where they are.

use std::collections::HashSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use base::calendar::rfc3339_of;
use base::disk::absolute;
use base::error::{Error, ErrorKind, Result};
use base::names::safe_name;
use columnar::output::folder::CleanupRegistry;
use columnar::output::whole_file;
use conversion::commit::record::modified;
use etl::input::{Address, Unopened};
use serde::{Deserialize, Serialize};

/// Version of the form of a record.
const FORMAT_VERSION: u32 = 1;

/// Hexadecimal digits that distinguish inputs of one file name.
const HASH_DIGITS: usize = 16;

/// An input in quarantine.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Record {
    format_version: u32,
    tool_version: String,
    /// When this was first found, RFC 3339 in UTC.
    quarantined_at: String,
    /// The absolute path, with `!/` before a member of an archive; `-` for standard input.
    input: String,
    /// The trace that it would have become; `None` where it was not got so far.
    trace: Option<String>,
    /// Bytes of the file; `None` for a member and for standard input.
    size: Option<u64>,
    /// When the file was last written, or the archive.
    modified: Option<String>,
    /// What is wrong with it, as a word that stays.
    code: String,
    /// The same for people.
    reason: String,
}

/// What is wrong with an input.
#[derive(Clone, Copy, Debug)]
pub struct BadInput<'a> {
    /// Its address.
    pub input: &'a Path,
    /// The trace that it would have become.
    pub trace: Option<&'a str>,
    /// As a word that stays.
    pub code: &'a str,
    /// For people.
    pub reason: &'a str,
}

/// The folder with the records, if there is one.
#[derive(Debug, Default)]
pub struct Quarantine {
    folder: Option<PathBuf>,
    /// Names of records that this run found to be true.
    current: HashSet<String>,
}

impl Quarantine {
    /// Makes the folder where it is missing.
    ///
    /// # Errors
    /// [`ErrorKind::Output`] when it cannot be made.
    pub fn in_folder(folder: Option<&Path>) -> Result<Self> {
        if let Some(folder) = folder {
            fs::create_dir_all(folder).map_err(|cause| {
                let error = Error::new(ErrorKind::Output, "the quarantine folder cannot be made");
                error.in_file(folder).caused_by(cause)
            })?;
        }
        Ok(Quarantine { folder: folder.map(Path::to_owned), current: HashSet::new() })
    }

    /// Puts an input into quarantine: its record is there whole or not at all. One that says the same already stays. What leads
    /// to no file has none.
    ///
    /// # Errors
    /// [`ErrorKind::Output`] when the record cannot be written.
    pub fn add(&mut self, bad: &BadInput<'_>) -> Result<()> {
        let Some(folder) = &self.folder else { return Ok(()) };
        let Some(record) = Record::of(bad) else { return Ok(()) };
        let name = record_name(&Address::from(bad.input));
        let path = folder.join(&name);
        self.current.insert(name);
        if Record::read(&path).is_some_and(|before| before.says_the_same_as(&record)) {
            return Ok(());
        }
        let text = serde_json::to_string_pretty(&record)
            .map_err(|error| Error::bug("a record is no JSON").caused_by(error))?;
        whole_file::write(&path, (text + "\n").as_bytes(), &CleanupRegistry::default()).map_err(|cause| {
            Error::new(ErrorKind::Output, "the file cannot be written").in_file(&path).caused_by(cause)
        })
    }

    /// Removes the record of an input that is read, and that of the archive that it lies in.
    ///
    /// # Errors
    /// [`ErrorKind::Output`] when a record cannot be removed.
    pub fn release(&mut self, input: &Address) -> Result<()> {
        let Some(folder) = &self.folder else { return Ok(()) };
        let archive = input.split().map(|(archive, _)| archive);
        for address in std::iter::once(input).chain(&archive) {
            let name = record_name(address);
            if self.current.contains(&name) {
                continue;
            }
            match fs::remove_file(folder.join(&name)) {
                Err(cause) if cause.kind() != io::ErrorKind::NotFound => {
                    let error = Error::new(ErrorKind::Output, "a record of the quarantine cannot be removed");
                    return Err(error.in_file(folder.join(&name)).caused_by(cause));
                }
                _ => {}
            }
        }
        Ok(())
    }
}

impl Record {
    /// `None` where there is no file.
    fn of(bad: &BadInput<'_>) -> Option<Record> {
        let address = Address::from(bad.input);
        let (size, at) = match Unopened::at(&address) {
            Some(found) => (found.size, found.modified),
            None if address.is_stdin() => (None, None),
            None => return None,
        };
        let input = if address.is_stdin() { address.display().to_string() } else { address.absolute() };
        Some(Record {
            format_version: FORMAT_VERSION,
            tool_version: env!("CARGO_PKG_VERSION").to_owned(),
            quarantined_at: rfc3339_of(SystemTime::now()),
            input,
            trace: bad.trace.map(str::to_owned),
            size,
            modified: modified(at),
            code: bad.code.to_owned(),
            reason: bad.reason.to_owned(),
        })
    }

    /// What is there; `None` where nothing is, or nothing that can be understood.
    fn read(path: &Path) -> Option<Record> {
        serde_json::from_slice(&fs::read(path).ok()?).ok()
    }

    fn says_the_same_as(&self, other: &Record) -> bool {
        *self == Record { quarantined_at: self.quarantined_at.clone(), ..other.clone() }
    }
}

/// `boot.etl~1a2b3c4d5e6f7081.json`: the same for every spelling of an address, another for every other input.
fn record_name(input: &Address) -> String {
    let name = input.file_name().unwrap_or(input.as_os_str()).to_string_lossy();
    let address = absolute(&input.canonical());
    let hash = blake3::hash(address.as_os_str().as_encoded_bytes()).to_hex();
    format!("{}~{}.json", safe_name(&name), &hash[..HASH_DIGITS])
}
