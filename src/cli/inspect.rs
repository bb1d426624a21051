//! `etl2parquet inspect`.

use base::error::{Error, ErrorKind, Result};
use base::names::NameFrom;
use batch::schemas::LoadedSchemas;
use batch::{RunStatus, inputs, recordings};
use conversion::convert::settings;
use conversion::inspect::Inspection;
use conversion::job::inspect;
use published::{InspectedTrace, PublishedTrace, all_published};
use serde::Serialize;

use super::args::InspectArgs;
use super::console;
use super::fold::Width;
use super::overview::Overview;
use super::page::page;
use super::run::{Run, label};
use super::subjects::refuse_for_converted;
use super::{options, published_page};

/// Inspects; returns the exit code.
///
/// # Errors
/// What keeps the run from starting, and a report that cannot be written.
pub(super) fn run(args: &InspectArgs) -> Result<u8> {
    let run = Run::start(&args.run)?;
    let schemas = LoadedSchemas::load(&args.schemas.choice(), None, &run)?;
    let found = inputs::find(&args.input.inputs, args.reading.options.open.clone());
    if let (true, Some(traces)) = (found.all().is_empty(), all_published(&args.input.inputs)) {
        refuse_for_converted(args.reading.typed_of(&settings::CLOCK))?;
        return converted(&traces, args, run.interrupt.code());
    }
    let mut jobs = recordings::separate(&found.all(), NameFrom::Stem);
    found.settle(&mut jobs);
    let mut options = schemas.into_options(options::of_inspect(args, &run), &found.schemas, &run);
    options.open = found.open.clone();
    let mut status = RunStatus::default();
    let mut errors = Vec::new();
    let mut fail = |status: &mut RunStatus, error: &Error| {
        console::error(error);
        errors.push(error.to_string());
        status.fail(error.kind(), run.interrupt.code());
    };
    found.notes.iter().for_each(|note| run.console.warning(note));
    for problem in &found.problems {
        fail(&mut status, problem);
    }
    let (mut document, width) = (Vec::new(), Width::of_stdout());
    let mut overview = (jobs.len() > 1 && !args.json && !args.run.verbose).then(Overview::new);
    for (position, job) in jobs.iter().enumerate() {
        let inspection = run.job(&label(&job.name, position, jobs.len()), |progress| {
            inspect(job, &options, progress).map(|found| Inspection::of(&found.facts(&job.name)))
        });
        options.open.shared.forget(job.addresses());
        match (inspection, &mut overview) {
            (Ok(inspection), Some(overview)) => overview.add(&count(&mut status, inspection)),
            (Ok(inspection), None) if args.json => document.push(count(&mut status, inspection)),
            (Ok(inspection), None) => {
                console::page_to_stdout(&separated(position, width, page(&count(&mut status, inspection), width)))?;
            }
            (Err(error), _) => fail(&mut status, &error),
        }
        if run.interrupt.is_set() && position + 1 < jobs.len() {
            status.fail(ErrorKind::Interrupted, run.interrupt.code());
        }
        if status.is_stopped() {
            break;
        }
    }
    if let Some(overview) = overview.filter(|_| status.readable > 0) {
        console::page_to_stdout(&overview.page(width))?;
    }
    if status.is_stopped() {
        return Ok(status.code());
    }
    if args.json {
        console::to_stdout(&console::json(&Document { format: 1, traces: document, errors }))?;
    }
    Ok(status.code())
}

/// Says what traces are that are converted already; returns the exit code.
fn converted(traces: &[PublishedTrace], args: &InspectArgs, interrupted: u8) -> Result<u8> {
    let (mut status, mut errors, mut published) = (RunStatus::default(), Vec::new(), Vec::new());
    let closely = args.json || args.run.verbose || traces.len() == 1;
    for trace in traces {
        match InspectedTrace::read(trace, closely) {
            Ok(trace) => published.push(trace),
            Err(error) => {
                console::error(&error);
                status.fail(error.kind(), interrupted);
                errors.push(error.to_string());
            }
        }
    }
    status.readable = published.len() as u64;
    let width = Width::of_stdout();
    if args.json {
        console::to_stdout(&console::json(&ConvertedDocument { format: 1, published, errors }))?;
    } else if published.len() > 1 && !args.run.verbose {
        console::page_to_stdout(&published_page::overview(&published, width))?;
    } else {
        for (position, trace) in published.iter().enumerate() {
            console::page_to_stdout(&separated(position, width, published_page::page(trace, width)))?;
        }
    }
    Ok(status.code())
}

/// What `--json` prints of traces that are converted already.
#[derive(Serialize)]
struct ConvertedDocument {
    format: u32,
    published: Vec<InspectedTrace>,
    /// Traces whose manifest cannot be read, as their messages.
    errors: Vec<String>,
}

/// What `--json` prints.
#[derive(Serialize)]
struct Document {
    format: u32,
    traces: Vec<Inspection>,
    /// Inputs that could not be inspected, as their messages.
    errors: Vec<String>,
}

fn count(status: &mut RunStatus, inspection: Inspection) -> Inspection {
    status.readable += 1;
    status.damaged |= inspection.is_damaged;
    inspection
}

/// A line between two pages.
fn separated(position: usize, width: Width, page: String) -> String {
    if position == 0 { page } else { format!("{}\n\n{page}", "-".repeat(width.columns().min(72))) }
}
