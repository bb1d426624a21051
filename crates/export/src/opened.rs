//! A trace that is exported.

use std::sync::Arc;

use base::error::Result;
use base::progress::Progress;
use conversion::sidecar::read::ReadRow;
use published::{PublishedTrace, RowFilter, Source};

use crate::request::Request;

/// A trace whose manifest has been read, and which of its events are asked for.
#[derive(Debug)]
pub(crate) struct Opened<'a> {
    /// Where it is.
    pub(crate) trace: &'a PublishedTrace,
    /// Its tables.
    pub(crate) source: Source<'a>,
    /// Which events are asked for; `None`: all.
    pub(crate) filter: Option<Arc<RowFilter>>,
}

impl<'a> Opened<'a> {
    /// Reads the manifest.
    ///
    /// # Errors
    /// [`ErrorKind::Output`](base::error::ErrorKind::Output) when it, or the sidecar, cannot be read.
    pub(crate) fn open(trace: &'a PublishedTrace, request: &Request, progress: &'a dyn Progress) -> Result<Opened<'a>> {
        let source = Source::open(trace, progress)?;
        let filter = source.filter(&request.filter)?;
        Ok(Opened { trace, source, filter })
    }

    /// What the trace is called.
    pub(crate) fn name(&self) -> &str {
        &self.source.record.trace
    }

    /// Hands over the rows of a dataset that are asked for, in the order of their times. Says whether there is such a dataset.
    ///
    /// # Errors
    /// [`ErrorKind::Output`](base::error::ErrorKind::Output) when it cannot be read;
    /// [`ErrorKind::Interrupted`](base::error::ErrorKind::Interrupted) when the caller asked to stop.
    pub(crate) fn events<R: ReadRow>(&self, dataset: &str, mut each: impl for<'b> FnMut(R::Row<'b>)) -> Result<bool> {
        self.source.events_passing::<R>(dataset, self.filter.as_deref(), |passes, row| {
            if passes {
                each(row);
            }
        })
    }
}
