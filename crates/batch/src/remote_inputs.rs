//! From the address of a store to traces: one object, those below an address, or those that a pattern matches.

use std::path::Path;

use base::error::{Error, ErrorKind, Result};
use base::names::{is_packed_name, is_tar_name, is_trace_name};
use base::remote::{self, Stop};
use etl::input::Address;
use glob::{MatchOptions, Pattern};

/// Objects that an argument leads to, with what they are called in their traces; sorted.
pub(crate) struct Found {
    pub(crate) objects: Vec<(Address, String)>,
    /// Whether the argument named one object.
    pub(crate) is_named: bool,
}

/// Finds the objects behind an address.
///
/// # Errors
/// Of the kind `Input` for an address that is none, or when the store cannot be asked or has nothing there.
pub(crate) fn find(address: &Address) -> Result<Found> {
    let url = remote::url_of(address).unwrap_or_default();
    // One of several inputs that cannot be read.
    let unread = |error: Error| {
        let of_input = Error::new(ErrorKind::Input, error.message()).in_file(remote::shown(&url));
        of_input.with_hint(error.hint().unwrap_or_default())
    };
    let client = remote::client(&url).map_err(unread)?;
    let failed = |cause: std::io::Error| {
        let error = Error::new(ErrorKind::Input, "the store cannot be asked").in_file(address).caused_by(cause);
        error.with_hint("check the address, the credentials and the network")
    };
    let (base, pattern) = split_pattern(&url);
    if pattern.is_none() {
        match client.head(&url, &Stop::default()) {
            Err(cause) if cause.kind() == std::io::ErrorKind::NotFound => {}
            found => {
                found.map_err(failed)?;
                let name = url.rsplit('/').next().unwrap_or_default().to_owned();
                return Ok(Found { objects: vec![(address.clone(), name)], is_named: true });
            }
        }
    }
    let listed = client.list(base, true, &Stop::default()).map_err(failed)?;
    let options = MatchOptions { require_literal_separator: true, ..MatchOptions::new() };
    let paths = listed.into_iter().map(|object| object.path);
    let mut objects: Vec<String> = match &pattern {
        Some(pattern) => paths.filter(|path| pattern.matches_with(path, options)).collect(),
        None => paths.filter(|path| is_input(path)).collect(),
    };
    objects.sort();
    if objects.is_empty() {
        let message =
            if pattern.is_some() { "nothing matches this pattern" } else { "there is no trace below this address" };
        return Err(Error::new(ErrorKind::Input, message).in_file(address));
    }
    let objects = objects.into_iter().map(|path| (Address::from(format!("{base}/{path}")), path));
    Ok(Found { objects: objects.collect(), is_named: false })
}

/// Whether an object is called like a trace, or what traces are packed in, and is no part of what this program has written.
fn is_input(path: &str) -> bool {
    let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
    let in_output = folder.split('/').any(|part| part.starts_with("trace=") || part.starts_with(".etl2parquet"));
    !in_output && !is_tar_name(name) && (is_trace_name(name) || is_packed_name(name))
}

/// The address before the first part with a wildcard, and the pattern behind it.
fn split_pattern(url: &str) -> (&str, Option<Pattern>) {
    let Some(first) = url.find(['*', '?', '[']) else { return (url, None) };
    let cut = url[..first].rfind('/').unwrap_or(0);
    match Pattern::new(&url[cut + 1..]) {
        Ok(pattern) if Path::new(&url[..cut]).components().count() > 1 => (&url[..cut], Some(pattern)),
        _ => (url, None),
    }
}
