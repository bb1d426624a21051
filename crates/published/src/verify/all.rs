//! All that paths name: traces, folders of them, and lakes.

use std::path::PathBuf;

use base::error::Result;
use base::progress::Progress;

use super::lake;
use super::run::{Verified, verify};
use crate::{PublishedLake, published};

/// Verifies what paths name: the traces together, and each lake by itself. Call it in the pool whose threads it should use.
///
/// # Errors
/// [`ErrorKind::Usage`](base::error::ErrorKind::Usage) for a path that names none of these,
/// [`ErrorKind::Interrupted`](base::error::ErrorKind::Interrupted) when the caller asked to stop. What is wrong is a finding.
pub fn verify_all(paths: &[PathBuf], quick: bool, progress: &dyn Progress) -> Result<Verified> {
    let (lakes, others): (Vec<PathBuf>, Vec<PathBuf>) =
        paths.iter().cloned().partition(|path| PublishedLake::is_at(path));
    let mut all = match (lakes.is_empty(), others.is_empty()) {
        (false, true) => Verified::default(),
        _ => verify(&published(&others)?, quick, progress)?,
    };
    for lake in lakes {
        let Verified { traces, files, bytes, older, findings } = lake::verify(&lake, quick, progress)?;
        all.traces += traces;
        all.files += files;
        all.bytes = all.bytes.saturating_add(bytes);
        all.older += older;
        all.findings.extend(findings);
    }
    all.findings.sort();
    Ok(all)
}
