//! The same recording twice among the files of one trace would double its rows.

use std::collections::HashMap;

use base::error::{Error, ErrorCode, ErrorKind, Result};

use crate::survey::{FileSurvey, Issue, IssueCode, Severity};

/// Files of the same content are an issue of the later one, and refused where that is not allowed. Files that are not
/// hashed are not compared.
///
/// # Errors
/// [`ErrorKind::Usage`], naming the first two.
pub fn check(files: &mut [FileSurvey], is_allowed: bool) -> Result<()> {
    for (later, earlier) in repetitions(files.iter().map(|file| file.blake3.as_deref())) {
        let message = format!("the same bytes as {}", files[earlier].name);
        if !is_allowed {
            let hint = "leave one of them out, or say --allow-repeated";
            let message = format!("{message}: every event would be in the trace twice");
            return Err(Error::new(ErrorKind::Usage, message)
                .with_code(ErrorCode::RepeatedInput)
                .in_file(&files[later].identity.source)
                .with_hint(hint));
        }
        files[later].issues.push(Issue::new(Severity::Warning, IssueCode::RepeatedInput, message));
    }
    Ok(())
}

/// The places of hashes that were there before, each with the first place of the hash.
fn repetitions<'a>(hashes: impl Iterator<Item = Option<&'a str>>) -> Vec<(usize, usize)> {
    let mut first = HashMap::new();
    let known = hashes.enumerate().filter_map(|(place, hash)| Some((place, hash?)));
    known
        .map(|(place, hash)| (place, *first.entry(hash).or_insert(place)))
        .filter(|(place, first)| place != first)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_repetition_names_the_first() {
        let hashes = [Some("a"), None, Some("b"), Some("a"), None, Some("a"), Some("c")];
        assert_eq!(repetitions(hashes.into_iter()), [(3, 0), (5, 0)]);
    }
}
