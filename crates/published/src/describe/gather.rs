//! The facts of many traces, read side by side.

use base::error::Result;
use base::progress::{Progress, stop_if_cancelled};
use rayon::prelude::*;

use super::super::trace::PublishedTrace;
use super::facts::Facts;

/// Reads the facts of traces and adds them up, in their order; those of a few traces are in memory at a time.
///
/// # Errors
/// Those of [`Facts::read`].
pub(super) fn gather(traces: &[PublishedTrace], progress: &dyn Progress) -> Result<Facts> {
    let read = |trace: &PublishedTrace| {
        stop_if_cancelled(progress)?;
        Facts::read(trace, progress)
    };
    traces.par_iter().map(read).try_reduce(Facts::default, |mut all, facts| {
        all.merge(facts);
        Ok(all)
    })
}
