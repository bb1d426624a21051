//! One trace, whatever names it: a file, a packed one, a member of an archive, a folder with one trace.

use std::ffi::OsString;
use std::fmt::Display;

use base::error::{Error, ErrorKind, Result};
use base::names::NameFrom;
use conversion::convert::{ConvertOptions, Recording};

use super::notice::Notice;
use super::observer::Observer;
use super::schemas::LoadedSchemas;
use super::{inputs, recordings};

/// The recording that an input leads to, and the options that it is opened with: those that are given, with its schemas.
///
/// # Errors
/// Why the input leads nowhere; [`ErrorKind::Usage`] where it leads to several traces, or to none.
pub fn one_trace(
    input: OsString,
    schemas: LoadedSchemas,
    options: ConvertOptions,
    observer: &dyn Observer,
) -> Result<(Recording, ConvertOptions)> {
    let mut found = inputs::find(&[input], options.open.clone());
    found.notes.iter().for_each(|note| observer.say(&Notice::warning(note)));
    let mut all = recordings::separate(&found.all(), NameFrom::Stem);
    found.settle(&mut all);
    let mut options = schemas.into_options(options, &found.schemas, observer);
    options.open = found.open;
    if !found.problems.is_empty() {
        return Err(found.problems.swap_remove(0));
    }
    match all.len() {
        1 => Ok((all.swap_remove(0), options)),
        found => Err(not_one(found, all.iter().find_map(|one| one.addresses().next()).map(|first| first.display()))),
    }
}

/// Why there is not the one trace that is asked for, with the first of those that there are.
pub fn not_one(found: usize, first: Option<impl Display>) -> Error {
    let error = Error::new(ErrorKind::Usage, format!("expected one trace, found {found}"));
    error.with_hint(first.map_or("name one".to_owned(), |first| format!("name one, such as {first}")))
}
