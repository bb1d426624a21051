//! From flags to loaded schemas, with warnings about what is not used.

use std::collections::BTreeMap;
use std::env;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use base::error::{Error, ErrorCode, ErrorKind, Result};
use base::readable::count::counted;
use schema::catalog::SchemaCatalog;
use schema::files::SkippedSchema;
use schema::load::{self, SchemaSet};
use schema::lock::{MAX_LOCK, SchemaLock};
use schema::store::{Store, default_folder};

use super::args::{SchemaArgs, StoreArgs};
use crate::cli::console::Console;

/// Rejected declarations of one file that are shown; the rest is a number.
const SHOWN: usize = 5;

/// The word for what lies beside the traces.
const AUTO: &str = "auto";
/// The word for no file.
const NONE: &str = "none";

/// What the user gave: by path, and in the store.
#[derive(Debug)]
pub(in crate::cli) struct LoadedSchemas {
    given: SchemaSet,
    /// Whether what lies beside the traces is taken.
    is_auto: bool,
    store: SchemaSet,
}

impl LoadedSchemas {
    /// Loads what the flags name.
    ///
    /// # Errors
    /// [`ErrorKind::Usage`] when a path is no schema, or the store is damaged.
    pub(in crate::cli) fn load(args: &SchemaArgs, console: Console) -> Result<LoadedSchemas> {
        let (paths, is_auto) = asked(separated(&args.schemas, env::var_os("ETL2PARQUET_SCHEMAS").as_deref()))?;
        let given = load::load(&paths)?;
        warn(&given.skipped, console);
        let folder = folder(&args.store).filter(|_| !args.no_store);
        let store = folder.map(|folder| Store::open(folder)?.load()).transpose()?.unwrap_or_default();
        if console.verbose && !store.is_empty() {
            console.line(format_args!("schema store: {} files", store.len()));
        }
        Ok(LoadedSchemas { given, is_auto, store })
    }

    /// For a conversion: one set of descriptions, with what lies beside the traces where that is asked for, which is said.
    pub(in crate::cli) fn with_found(self, found: &[(String, PathBuf)], console: Console) -> SchemaSet {
        let mut all = self.given;
        if self.is_auto && !found.is_empty() {
            let beside = load::load_found(found);
            warn(&beside.skipped, console);
            if let Some((first, _)) = beside.files().first() {
                let files = counted(beside.len() as u64, "schema files");
                console
                    .line(format_args!("beside the traces: {files}, {first} first (--schemas none leaves them alone)"));
            }
            all.append(beside);
        } else if let Some((first, _)) = found.first() {
            let files = counted(found.len() as u64, "schema files");
            console
                .line(format_args!("beside the traces, not read: {files}, {first} first (--schemas auto reads them)"));
        }
        all.append(self.store);
        all
    }

    /// For a look at them: with the built-in schemas.
    pub(in crate::cli) fn into_catalog(self) -> SchemaCatalog {
        SchemaCatalog::new(self.given.schemas, self.store.schemas)
    }
}

/// Reads a schema lock.
///
/// # Errors
/// [`ErrorKind::Usage`] when it cannot be read or is none.
pub(in crate::cli) fn read_lock(file: &Path) -> Result<SchemaLock> {
    let failure = |what: &str| Error::new(ErrorKind::Usage, what).with_code(ErrorCode::UnusableSchema).in_file(file);
    // A pipe will do: how long it is shows when it has been read.
    let mut content = Vec::new();
    let read = File::open(file).and_then(|open| open.take(MAX_LOCK as u64 + 1).read_to_end(&mut content));
    read.map_err(|cause| failure("cannot read the schema lock").caused_by(cause))?;
    SchemaLock::read(&content).map_err(|fault| failure("expected a schema lock").caused_by(fault.to_string()))
}

/// The folder of the store, if it is named or the system has a place for it.
fn folder(args: &StoreArgs) -> Option<PathBuf> {
    args.store.clone().or_else(|| default_folder(|name| env::var_os(name)))
}

/// The store to write to.
///
/// # Errors
/// [`ErrorKind::Usage`] when nothing shows where it is.
pub(super) fn open_store(args: &StoreArgs) -> Result<Store> {
    let nowhere = || Error::new(ErrorKind::Usage, "no folder for the schema store").with_hint("name one with --store");
    Store::open(folder(args).ok_or_else(nowhere)?)
}

/// The paths; those of the environment variable, which is one value to the parser, taken apart.
fn separated(typed: &[PathBuf], variable: Option<&std::ffi::OsStr>) -> Vec<PathBuf> {
    match (typed, variable) {
        ([only], Some(variable)) if only.as_os_str() == variable && !Path::new(variable).exists() => {
            env::split_paths(variable).filter(|path| !path.as_os_str().is_empty()).collect()
        }
        _ => typed.to_vec(),
    }
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
fn warn(skipped: &[SkippedSchema], console: Console) {
    let mut files: BTreeMap<&str, usize> = BTreeMap::new();
    for one in skipped {
        let file = match one {
            SkippedSchema::Rejected { file, .. } => file,
            SkippedSchema::Skipped { .. } => "",
        };
        let count = files.entry(file).or_default();
        *count += 1;
        if *count <= SHOWN {
            console.warning(one);
        }
    }
    for (file, count) in files.into_iter().filter(|(_, count)| *count > SHOWN) {
        let more = count - SHOWN;
        match file {
            "" => console.warning(format_args!("{more} more files are left out")),
            file => console.warning(format_args!("{file}: {more} more declarations are not used")),
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
    fn the_variable_holds_several_paths() {
        let joined = env::join_paths(["none/a", "none/b"]).unwrap();
        let paths = |names: &[&str]| names.iter().map(PathBuf::from).collect::<Vec<_>>();
        assert_eq!(separated(&[PathBuf::from(&joined)], Some(&joined)), paths(&["none/a", "none/b"]));
        assert_eq!(separated(&[PathBuf::from(&joined)], None), [PathBuf::from(&joined)]);
        assert_eq!(separated(&paths(&["x", "y"]), Some(&joined)), paths(&["x", "y"]));
        assert_eq!(separated(&[], Some(&joined)), paths(&[]));
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
