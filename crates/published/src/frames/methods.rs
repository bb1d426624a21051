//! Names of methods of .NET.

use std::collections::HashSet;
use std::hash::BuildHasher;

use base::error::Result;
use conversion::read_columns;
use conversion::sidecar::dimensions::MethodRow;

use crate::source::Source;

read_columns! {
    /// The name of a method.
    struct MethodName<'b> of MethodRow<'static> {
        namespace: Option<&'b str>,
        name: Option<&'b str>,
    }
}

/// Hands over the names of methods, those that are asked for by the numbers of their rows.
///
/// # Errors
/// Those of [`namespaces_and_names_of`].
pub fn names_of<S: BuildHasher>(
    source: &Source<'_>,
    asked: &HashSet<u32, S>,
    mut each: impl FnMut(u32, &str),
) -> Result<()> {
    namespaces_and_names_of(source, asked, |number, space, name| match (space, name) {
        (Some(space), Some(name)) => each(number, &format!("{space}.{name}")),
        (None, Some(name)) => each(number, name),
        (space, None) => each(number, &format!("{}: method without a name", space.unwrap_or(".NET"))),
    })
}

/// Hands over the namespaces and names of methods, those that are asked for by the numbers of their rows. The table is read once more: of
/// so many methods only few names are wanted.
///
/// # Errors
/// [`ErrorKind::Output`](base::error::ErrorKind::Output) when it cannot be read.
pub fn namespaces_and_names_of<S: BuildHasher>(
    source: &Source<'_>,
    asked: &HashSet<u32, S>,
    mut each: impl FnMut(u32, Option<&str>, Option<&str>),
) -> Result<()> {
    if asked.is_empty() {
        return Ok(());
    }
    let mut number = 0_u32;
    source.sidecar::<MethodName<'_>>(|method| {
        if asked.contains(&number) {
            each(number, method.namespace, method.name);
        }
        number = number.saturating_add(1);
    })
}
