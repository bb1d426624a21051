//! A timeline from its rows to its lines.

use arrow_array::RecordBatch;
use base::error::Result;
use base::progress::stop_if_cancelled;
use conversion::job::stream::of_stream;
use conversion::sidecar::read::ReadRow as _;
use published::PublishedRows;

use super::entry::{EventRow, Of, values};
use super::lines::Form;
use super::message::{Has, Payloads};
use crate::exported::Exported;
use crate::opened::Opened;
use crate::output::Output;
use crate::request::{Fields, Request};
use crate::sorted::Sorted;
use crate::standards::{ActionRow, Documents, Standard};

/// Writes a line for each event of a trace, in the order of all events.
///
/// # Errors
/// [`ErrorKind::Output`] when the trace cannot be read, there is no room for a temporary file, or the lines cannot be written.
pub(crate) fn timeline(
    opened: &Opened<'_>,
    request: &Request,
    form: Form,
    output: &mut Output<'_>,
) -> Result<Exported> {
    let rows = PublishedRows::open(opened.trace.clone())?;
    let mut sorted = Sorted::begin()?;
    let mut exported = Exported::default();
    let mut documents = match request.fields {
        Fields::Event => None,
        Fields::Ecs => Some(Documents::of(opened, Standard::Ecs, &mut exported)?),
        Fields::Ocsf => Some(Documents::of(opened, Standard::Ocsf, &mut exported)?),
    };
    for dataset in rows.datasets() {
        let of = Of { trace: opened.name(), dataset: dataset.name, provider: dataset.provider_name };
        if !passes(opened, of) || (documents.is_some() && !Documents::may_have(of.folder())) {
            continue;
        }
        let schema = rows.projected(dataset.name, None)?;
        for batch in rows.stream_passing(dataset.name, schema, opened.filter.clone())? {
            stop_if_cancelled(opened.source.progress())?;
            let batch = batch.map_err(of_stream)?;
            let added = match &mut documents {
                None => add(&batch, of, form, &mut sorted)?,
                Some(documents) => add_documents(&batch, of, form, documents, &mut sorted)?,
            };
            exported.events = exported.events.saturating_add(added);
        }
    }
    if exported.events > 0 {
        let head = documents.as_ref().map_or_else(|| form.head(), |documents| form.head_of(documents.fields()));
        output.put(head.as_bytes())?;
    }
    if let Some(documents) = documents {
        documents.warn(&mut exported);
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
    filter.passes_dataset(of.folder(), of.provider, guid.as_deref())
}

/// Adds the lines of a batch; how many.
fn add(batch: &RecordBatch, of: Of<'_>, form: Form, sorted: &mut Sorted) -> Result<u64> {
    let payloads = Payloads::of(batch);
    let (mut number, mut count, mut failed) = (0usize, 0u64, Ok(()));
    EventRow::read(batch, |row| {
        if let Some((seq, time)) = row.seq.zip(row.time).filter(|_| failed.is_ok()) {
            let message = payloads.message(row.has(), number);
            failed = sorted.add(seq, form.line(&values(of, &row, time, &message)).as_bytes());
            count = count.saturating_add(1);
        }
        number = number.saturating_add(1);
    })?;
    failed.map(|()| count)
}

/// Adds the documents of a batch in a standard; how many.
fn add_documents(
    batch: &RecordBatch,
    of: Of<'_>,
    form: Form,
    documents: &mut Documents,
    sorted: &mut Sorted,
) -> Result<u64> {
    let payloads = Payloads::of(batch);
    let (mut number, mut count, mut failed) = (0usize, 0u64, Ok(()));
    ActionRow::read(batch, |row| {
        if let Some(seq) = row.seq.filter(|_| failed.is_ok()) {
            let has = Has { message: row.rendered.or(row.wpp), name: row.name, id: row.id };
            let message = || payloads.message(has, number);
            if let Some(document) = documents.document((of.trace, of.provider, of.folder()), &row, message) {
                let line = form.line_of(document, documents.fields());
                failed = sorted.add(seq, line.as_bytes());
                count = count.saturating_add(1);
            }
        }
        number = number.saturating_add(1);
    })?;
    failed.map(|()| count)
}
