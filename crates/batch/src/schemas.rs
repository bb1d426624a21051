//! The schemas of a run: those that somebody names, those that lie beside the traces, those of the store.

use std::collections::BTreeMap;
use std::env;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use base::error::{Error, ErrorCode, ErrorKind, Result};
use base::readable::count::counted;
use conversion::commit::lock_file::LOCK_NAME;
use conversion::convert::ConvertOptions;
use schema::catalog::SchemaCatalog;
use schema::files::SkippedSchema;
use schema::load::{self, SchemaSet};
use schema::lock::{MAX_LOCK, SchemaLock};
use schema::store::{Store, default_folder};
use serde_json::json;

use super::notice::Notice;
use super::observer::Observer;

/// Rejected declarations of one file, and files that are left out, that are shown; the rest is a number.
pub(super) const SHOWN: usize = 5;

/// The word for what lies beside the traces.
const AUTO: &str = "auto";
/// The word for no file.
const NONE: &str = "none";

/// Which schemas a run uses, besides those in the traces and in the program.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SchemaChoice {
    /// Manifests, TMF files, binaries, and folders or archives with such files; `auto` is what lies beside the traces, `none` nothing.
    /// Without any `auto` is meant.
    pub paths: Vec<PathBuf>,
    /// The folder of the schema store; `None` for the one that the system has a place for.
    pub store: Option<PathBuf>,
    /// Whether the store is left alone.
    pub no_store: bool,
}

/// Schemas that are read.
#[derive(Debug)]
pub struct LoadedSchemas {
    given: SchemaSet,
    /// Whether what lies beside the traces is taken.
    is_auto: bool,
    store: SchemaSet,
    /// The language of messages, where a file has them in it.
    language: Option<String>,
}

impl LoadedSchemas {
    /// Reads those that are named, and those of the store, with messages in a language (`de-DE`) where they have them in it.
    ///
    /// # Errors
    /// [`ErrorKind::Usage`] when a path is no schema, or the store is damaged.
    pub fn load(choice: &SchemaChoice, language: Option<&str>, observer: &dyn Observer) -> Result<LoadedSchemas> {
        let (paths, is_auto) = asked(choice.paths.clone())?;
        let given = load::load_in(&paths, language)?;
        warn(&given.skipped, observer);
        let folder = store_folder(choice.store.as_deref()).filter(|_| !choice.no_store);
        let store = folder.map(|folder| Store::open(folder)?.load(language)).transpose()?.unwrap_or_default();
        if observer.is_verbose() && !store.is_empty() {
            observer.say(&Notice::info(format_args!("schema store: {} files", store.len())));
        }
        Ok(LoadedSchemas { given, is_auto, store, language: language.map(str::to_owned) })
    }

    /// The options of a conversion with all of them: those that are named, those that lie beside the traces where these are
    /// asked for, which is said, and those of the store.
    pub fn into_options(
        self,
        mut options: ConvertOptions,
        found: &[(String, PathBuf)],
        observer: &dyn Observer,
    ) -> ConvertOptions {
        let schemas = self.with_found(found, observer);
        let files: Vec<_> =
            schemas.files().iter().map(|(name, hash)| json!({ "name": name, "blake3": hash })).collect();
        options.recorded.insert("schemas".to_owned(), files.into());
        options.schemas(schemas)
    }

    fn with_found(self, found: &[(String, PathBuf)], observer: &dyn Observer) -> SchemaSet {
        let say = |text: String| observer.say(&Notice::info(text));
        let mut all = self.given;
        if self.is_auto && !found.is_empty() {
            let beside = load::load_found(found, self.language.as_deref());
            warn(&beside.skipped, observer);
            if let Some((first, _)) = beside.files().first() {
                let files = counted(beside.len() as u64, "schema files");
                say(format!("beside the traces: {files}, {first} first (--schemas none leaves them alone)"));
            }
            all.append(beside);
        } else if let Some((first, _)) = found.first() {
            let files = counted(found.len() as u64, "schema files");
            say(format!("beside the traces, not read: {files}, {first} first (--schemas auto reads them)"));
        }
        all.append(self.store);
        all
    }

    /// For a look at them: with the built-in schemas.
    pub fn into_catalog(self) -> SchemaCatalog {
        SchemaCatalog::new(self.given.schemas, self.store.schemas)
    }
}

/// Reads a schema lock.
///
/// # Errors
/// [`ErrorKind::Usage`] when it cannot be read or is none.
fn read_lock(file: &Path) -> Result<SchemaLock> {
    let failure = |what: &str| Error::new(ErrorKind::Usage, what).with_code(ErrorCode::UnusableSchema).in_file(file);
    // A pipe will do: how long it is shows when it has been read.
    let mut content = Vec::new();
    let read = File::open(file).and_then(|open| open.take(MAX_LOCK as u64 + 1).read_to_end(&mut content));
    read.map_err(|cause| failure("cannot read the schema lock").caused_by(cause))?;
    SchemaLock::read(&content).map_err(|fault| failure("expected a schema lock").caused_by(fault.to_string()))
}

/// Options with the schema lock that is named, `none` being none, else the one of the output folder, if it has one.
///
/// # Errors
/// [`ErrorKind::Usage`] when the lock cannot be read or is none.
pub fn with_lock(options: ConvertOptions, named: Option<&Path>) -> Result<ConvertOptions> {
    let of_folder = options.out.join(LOCK_NAME);
    Ok(match named {
        Some(none) if none == Path::new(NONE) => options,
        Some(file) => options.schema_lock(read_lock(file)?),
        None if of_folder.exists() => options.folder_lock(read_lock(&of_folder)?),
        None => options,
    })
}

/// The folder of the store, if it is named or the system has a place for it.
fn store_folder(named: Option<&Path>) -> Option<PathBuf> {
    named.map(Path::to_owned).or_else(|| default_folder(|name| env::var_os(name)))
}

/// The store to write to, in the folder that is named, or where the system has a place for it.
///
/// # Errors
/// [`ErrorKind::Usage`] when nothing shows where it is.
pub fn open_store(named: Option<&Path>) -> Result<Store> {
    let nowhere = || Error::new(ErrorKind::Usage, "no folder for the schema store").with_hint("name one with --store");
    Store::open(store_folder(named).ok_or_else(nowhere)?)
}

/// The paths without the words among them, and whether what lies beside the traces is asked for.
fn asked(mut paths: Vec<PathBuf>) -> Result<(Vec<PathBuf>, bool)> {
    let is = |word: &'static str| move |path: &PathBuf| path.as_os_str() == word;
    if paths.iter().any(is(NONE)) && paths.len() > 1 {
        let message = "--schemas none is given beside other schemas";
        return Err(Error::new(ErrorKind::Usage, message).with_hint("a file of this name is ./none"));
    }
    let is_auto = paths.is_empty() || paths.iter().any(is(AUTO));
    paths.retain(|path| !is(AUTO)(path) && !is(NONE)(path));
    Ok((paths, is_auto))
}

/// Says what is not used: the first few of each file, and how many more.
fn warn(skipped: &[SkippedSchema], observer: &dyn Observer) {
    let warning = |text: String| observer.say(&Notice::warning(text));
    let mut files: BTreeMap<&str, usize> = BTreeMap::new();
    for one in skipped {
        let file = match one {
            SkippedSchema::Rejected { file, .. } => file,
            SkippedSchema::Skipped { .. } => "",
            SkippedSchema::WithoutEvents { .. } => {
                warning(one.to_string());
                continue;
            }
        };
        let count = files.entry(file).or_default();
        *count += 1;
        if *count <= SHOWN {
            warning(one.to_string());
        }
    }
    for (file, count) in files.into_iter().filter(|(_, count)| *count > SHOWN) {
        let more = count - SHOWN;
        match file {
            "" => warning(format!("{more} more files are left out")),
            file => warning(format!("{file}: {more} more declarations are not used")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(unix)]
    #[test]
    fn a_lock_may_come_through_a_pipe() {
        use std::io::Write;
        use std::os::fd::AsRawFd;
        let (from, mut to) = std::io::pipe().unwrap();
        to.write_all(format!("{}\n", SchemaLock::FIRST_LINE).as_bytes()).unwrap();
        drop(to);
        assert!(read_lock(Path::new(&format!("/dev/fd/{}", from.as_raw_fd()))).is_ok());
    }

    #[test]
    fn words_stand_for_what_lies_beside_and_for_nothing() {
        let t = |typed: &[&str]| asked(typed.iter().map(PathBuf::from).collect());
        let paths = |names: &[&str]| names.iter().map(PathBuf::from).collect::<Vec<_>>();
        assert_eq!(t(&[]).unwrap(), (vec![], true));
        assert_eq!(t(&["a"]).unwrap(), (paths(&["a"]), false));
        assert_eq!(t(&["a", "auto", "b"]).unwrap(), (paths(&["a", "b"]), true));
        assert_eq!(t(&["none"]).unwrap(), (vec![], false));
        assert_eq!(t(&["./none", "./auto"]).unwrap(), (paths(&["./none", "./auto"]), false));
        assert_eq!(t(&["none", "a"]).unwrap_err().kind(), ErrorKind::Usage);
    }
}
