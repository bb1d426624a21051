//! What many traces say, brought together.

use base::error::Result;
use base::progress::{Progress, stop_if_cancelled};
use columnar::output::manifest::CommitRecord;
use rayon::prelude::*;

use super::binding::Binding;
use super::event::{SidecarFact, read_events};
use super::footer::Footer;
use super::sidecar::Sidecar;
use super::trace::PublishedTrace;

/// What traces say, by the footers of all files that their manifests name and by their sidecars.
///
/// # Errors
/// [`ErrorKind::Output`](base::error::ErrorKind::Output) when one of these cannot be read,
/// [`ErrorKind::Interrupted`](base::error::ErrorKind::Interrupted) when the caller asked to stop.
pub fn compare(traces: &[PublishedTrace], progress: &dyn Progress) -> Result<Binding> {
    let of_trace = |trace: &PublishedTrace| {
        stop_if_cancelled(progress)?;
        let mut binding = Binding::default();
        let label = trace.label();
        let record = trace.record()?;
        for file in record.files.iter().filter(|file| file.is_table()) {
            let footer = Footer::read(&*trace.store, &file.path)?;
            binding.add_file(&format!("{label}/{}", file.path), &file.path, &footer);
        }
        add_events(&mut binding, trace, &record, progress)?;
        Ok(binding)
    };
    traces.par_iter().map(of_trace).try_reduce(Binding::default, |mut all, binding| {
        all.merge(binding);
        Ok(all)
    })
}

/// Adds what the sidecar of a trace says of events and their fields.
///
/// # Errors
/// [`ErrorKind::Output`](base::error::ErrorKind::Output) when it cannot be read,
/// [`ErrorKind::Interrupted`](base::error::ErrorKind::Interrupted) when the caller asked to stop.
pub fn add_events(
    binding: &mut Binding,
    trace: &PublishedTrace,
    record: &CommitRecord,
    progress: &dyn Progress,
) -> Result<()> {
    let [catalog, fields] = ["catalog", "fields"].map(|table| format!("{}/sidecar/{table}.parquet", trace.label()));
    read_events(&Sidecar::of(&*trace.store, record, progress), &mut |fact| match fact {
        SidecarFact::Event(event) => binding.add_event(&catalog, event),
        SidecarFact::Field(event, field) => binding.add_field(&fields, event, &field),
    })
}
