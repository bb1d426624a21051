//! From flags to loaded schemas, with warnings about what is not used.

use std::collections::BTreeMap;
use std::env;
use std::path::{Path, PathBuf};

use super::args::{SchemaArgs, StoreArgs};
use crate::cli::console::Console;
use crate::error::{Error, ErrorCode, ErrorKind, Result};
use crate::output::lock_file::content;
use crate::schema::catalog::SchemaCatalog;
use crate::schema::files::SkippedSchema;
use crate::schema::load::{self, SchemaSet};
use crate::schema::lock::SchemaLock;
use crate::schema::store::{Store, default_folder};

/// Rejected declarations of one file that are shown; the rest is a number.
const SHOWN: usize = 5;

/// What the user gave: by path, and in the store.
#[derive(Debug, Default)]
pub(in crate::cli) struct LoadedSchemas {
    given: SchemaSet,
    store: SchemaSet,
}

impl LoadedSchemas {
    /// Loads what the flags name.
    ///
    /// # Errors
    /// [`ErrorKind::Usage`] when a path is no schema, or the store is damaged.
    pub(in crate::cli) fn load(args: &SchemaArgs, console: Console) -> Result<LoadedSchemas> {
        let given = load::load(&separated(&args.schemas, env::var_os("ETL2PARQUET_SCHEMAS").as_deref()))?;
        warn(&given.skipped, console);
        let folder = folder(&args.store).filter(|_| !args.no_store);
        let store = folder.map(|folder| Store::open(folder)?.load()).transpose()?.unwrap_or_default();
        if console.verbose && !store.is_empty() {
            console.line(format_args!("schema store: {} files", store.len()));
        }
        Ok(LoadedSchemas { given, store })
    }

    /// For a conversion: one set of descriptions.
    pub(in crate::cli) fn into_user(self) -> SchemaSet {
        let mut all = self.given;
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
    let content = content(file).map_err(|cause| failure("cannot read the schema lock").caused_by(cause))?;
    SchemaLock::read(&content).map_err(|fault| failure("expected a schema lock").caused_by(fault.to_string()))
}

/// The folder of the store, if it is named or the system has a place for it.
fn folder(args: &StoreArgs) -> Option<PathBuf> {
    args.store.clone().or_else(|| default_folder(|name| env::var_os(name)))
}

/// The store to write to.
///
/// # Errors
/// [`ErrorKind::Usage`] when nothing tells where it is.
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

    #[test]
    fn the_variable_holds_several_paths() {
        let joined = env::join_paths(["none/a", "none/b"]).unwrap();
        let paths = |names: &[&str]| names.iter().map(PathBuf::from).collect::<Vec<_>>();
        assert_eq!(separated(&[PathBuf::from(&joined)], Some(&joined)), paths(&["none/a", "none/b"]));
        assert_eq!(separated(&[PathBuf::from(&joined)], None), [PathBuf::from(&joined)]);
        assert_eq!(separated(&paths(&["x", "y"]), Some(&joined)), paths(&["x", "y"]));
        assert_eq!(separated(&[], Some(&joined)), paths(&[]));
    }
}
