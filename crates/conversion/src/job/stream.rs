//! The rows of a dataset, or of all of them, as record batches.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::Poll;
use std::thread::{Builder, JoinHandle};
use std::time::Duration;

use arrow_array::{RecordBatch, RecordBatchReader};
use arrow_schema::{ArrowError, SchemaRef};
use base::error::{Error, ErrorKind, Result};
use base::progress::Progress;
use base::remote;
use columnar::columns::RowSource as _;
use columnar::dataset::BATCH_ROWS;

use crate::convert::stream_sink::{GroupOrder, GroupReader, SentGroup, StreamSink};
use crate::convert::{JobProgress, Stage};
use crate::table::batches::Projection;

/// The rows of a dataset in the order of their times, or those of all datasets with the columns that all have, as Arrow batches
/// of up to 16,384 rows.
///
/// Rows that nobody has taken yet are held within the memory of the trace's options; while they fill it, the work behind
/// the stream waits. A stream that is dropped ends that work. After an error the stream is over.
pub struct EventStream {
    schema: SchemaRef,
    projections: Projections,
    /// `None` once the stream is over.
    groups: Option<GroupReader>,
    open: Option<OpenGroup>,
    worker: Option<JoinHandle<Result<()>>>,
    stop: Arc<AtomicBool>,
}

/// How long a reader that has all the time waits at once.
const STEP: Duration = Duration::from_secs(3600);

/// The row group that is being read, which stays charged until its last batch is taken.
struct OpenGroup {
    sent: SentGroup,
    next_row: usize,
}

/// What the rows of a stream are made of.
#[derive(Debug)]
pub(super) enum Projections {
    /// Columns of one table, in the order of its rows, from a partition on.
    Of { projection: Projection, from: u32 },
    /// The same columns of each table, by its number; the row groups come as they are made.
    OfAll(Vec<Projection>),
}

impl Projections {
    fn of(&self, table: u32) -> &Projection {
        match self {
            Projections::Of { projection, .. } => projection,
            Projections::OfAll(all) => &all[table as usize],
        }
    }

    fn order(&self) -> GroupOrder {
        match self {
            Projections::Of { from, .. } => GroupOrder::OfRows { from: *from },
            Projections::OfAll(_) => GroupOrder::AsMade,
        }
    }
}

impl EventStream {
    /// Starts a thread that does the work and sends row groups into the sink.
    pub(super) fn start(
        schema: SchemaRef,
        projections: Projections,
        work: impl FnOnce(StreamSink, &dyn JobProgress) -> Result<()> + Send + 'static,
    ) -> Result<EventStream> {
        let (sink, groups) = StreamSink::new(projections.order());
        let stop = Arc::new(AtomicBool::new(false));
        let progress = Stop(Arc::clone(&stop));
        let worker = Builder::new().name("stream".into()).spawn(move || work(sink, &progress));
        let worker =
            worker.map_err(|error| Error::new(ErrorKind::Internal, "the system gives no thread").caused_by(error))?;
        Ok(EventStream { schema, projections, groups: Some(groups), open: None, worker: Some(worker), stop })
    }

    /// As [`next`](Iterator::next), but waits no longer than about so long: pending where there is no batch by then.
    pub fn next_within(&mut self, time: Duration) -> Poll<Option<std::result::Result<RecordBatch, ArrowError>>> {
        self.next_batch(time).map(|next| {
            let next = next?;
            if next.is_err() {
                self.stop.store(true, Ordering::Relaxed);
                // The first error counts.
                let _ = self.end();
            }
            Some(next.map_err(|error| ArrowError::ExternalError(Box::new(error))))
        })
    }

    fn next_batch(&mut self, time: Duration) -> Poll<Option<Result<RecordBatch>>> {
        loop {
            if let Some(open) = &mut self.open {
                let SentGroup { table, group, .. } = &open.sent;
                let rows = open.next_row..group.rows().min(open.next_row + BATCH_ROWS);
                if !rows.is_empty() {
                    open.next_row = rows.end;
                    return Poll::Ready(Some(self.projections.of(*table).batch(group, rows)));
                }
            }
            self.open = None;
            let Some(groups) = &mut self.groups else { return Poll::Ready(None) };
            match groups.next_group(time) {
                Poll::Ready(Some(sent)) => self.open = Some(OpenGroup { sent, next_row: 0 }),
                Poll::Ready(None) => return Poll::Ready(self.end().err().map(Err)),
                Poll::Pending => return Poll::Pending,
            }
        }
    }

    /// Lets go of what was sent, and waits for the thread to end.
    fn end(&mut self) -> Result<()> {
        (self.open, self.groups) = (None, None);
        let Some(worker) = self.worker.take() else { return Ok(()) };
        worker.join().unwrap_or_else(|_| Err(Error::bug("the thread of a stream failed")))
    }
}

impl Iterator for EventStream {
    type Item = std::result::Result<RecordBatch, ArrowError>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            if let Poll::Ready(next) = self.next_within(STEP) {
                return next;
            }
        }
    }
}

impl RecordBatchReader for EventStream {
    fn schema(&self) -> SchemaRef {
        SchemaRef::clone(&self.schema)
    }
}

impl Drop for EventStream {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        // Nobody asks any more what became of it.
        let _ = self.end();
    }
}

impl fmt::Debug for EventStream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("EventStream").field("projections", &self.projections).finish_non_exhaustive()
    }
}

/// The failure behind an error of a stream.
pub fn of_stream(error: ArrowError) -> Error {
    match error {
        ArrowError::ExternalError(cause) => {
            cause.downcast::<Error>().map_or_else(|cause| Error::bug(cause.to_string()), |error| *error)
        }
        other => Error::bug(other.to_string()),
    }
}

/// Says nothing of how far a stream is, and when it should stop.
struct Stop(Arc<AtomicBool>);

impl Progress for Stop {
    fn advance(&self, _amount: u64) {}

    fn is_cancelled(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    fn stop(&self) -> remote::Stop {
        let stop = Arc::clone(&self.0);
        remote::Stop::when(move || stop.load(Ordering::Relaxed))
    }
}

impl JobProgress for Stop {
    fn stage(&self, _stage: Stage) {}
}
