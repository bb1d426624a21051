//! A timeline from its rows to its lines.

use arrow_array::RecordBatch;
use base::error::{Error, ErrorKind, Result};
use base::progress::stop_if_cancelled;
use conversion::plan::Filter;
use conversion::sidecar::read::ReadRow as _;
use published::PublishedRows;

use super::entry::{EventRow, Of, values};
use super::lines::Form;
use super::message::Payloads;
use crate::exported::Exported;
use crate::opened::Opened;
use crate::output::Output;
use crate::sorted::Sorted;

/// Writes a line for each event of a trace, in the order of all events.
///
/// # Errors
/// [`ErrorKind::Output`] when the trace cannot be read, there is no room for a temporary file, or the lines cannot be written.
pub(crate) fn timeline(opened: &Opened<'_>, filter: &Filter, form: Form, output: &mut Output<'_>) -> Result<Exported> {
    let rows = PublishedRows::open(opened.trace.clone())?;
    let mut sorted = Sorted::begin()?;
    let mut exported = Exported::default();
    for dataset in rows.datasets() {
        let of = Of { trace: opened.name(), dataset: dataset.name, provider: dataset.provider_name };
        if !passes(opened, of) {
            continue;
        }
        let schema = rows.projected(dataset.name, None)?;
        for batch in rows.stream(dataset.name, schema, filter)? {
            stop_if_cancelled(opened.source.progress())?;
            let message = "the events of the trace cannot be read";
            let batch = batch.map_err(|cause| Error::new(ErrorKind::Output, message).caused_by(cause))?;
            exported.events = exported.events.saturating_add(add(&batch, of, form, &mut sorted)?);
        }
    }
    if exported.events > 0 {
        output.put(form.head().as_bytes())?;
    }
    sorted.each(opened.source.progress(), |line| output.put(line))?;
    Ok(exported)
}

/// Whether a filter passes a dataset, by its name and its provider.
fn passes(opened: &Opened<'_>, of: Of<'_>) -> bool {
    let Some(filter) = opened.filter.as_deref() else { return true };
    let prefix = format!("events/{}/", of.dataset);
    let file = opened.source.record.files.iter().find(|file| file.path.starts_with(&prefix));
    let guid = file.and_then(|file| file.provider_id).map(|id| id.to_string());
    let name = of.dataset.split('/').next().unwrap_or(of.dataset);
    filter.passes_dataset(name, of.provider, guid.as_deref())
}

/// Adds the lines of a batch; how many.
fn add(batch: &RecordBatch, of: Of<'_>, form: Form, sorted: &mut Sorted) -> Result<u64> {
    let payloads = Payloads::of(batch);
    let (mut number, mut count, mut failed) = (0usize, 0u64, Ok(()));
    EventRow::read(batch, |row| {
        if let Some((seq, time)) = row.seq.zip(row.time).filter(|_| failed.is_ok()) {
            let message = payloads.message(&row, number);
            failed = sorted.add(seq, form.line(&values(of, &row, time, &message)).as_bytes());
            count = count.saturating_add(1);
        }
        number = number.saturating_add(1);
    })?;
    failed.map(|()| count)
}
