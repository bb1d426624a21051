//! `etl2parquet events`.

use std::io::{self, Write as _};

use arrow_array::{RecordBatch, RecordBatchReader as _};
use base::error::{Error, ErrorKind, Result};
use batch::schemas::LoadedSchemas;
use batch::{RunStatus, one_trace, status};
use conversion::job::one_stream::{AskedRows, OneStream};
use conversion::job::stream::{EventStream, of_stream};
use published::all_published;

use super::args::EventsArgs;
use super::rows::RowFormat;
use super::run::Run;
use super::{console, options};

/// Prints rows; returns the exit code.
///
/// # Errors
/// What keeps the run from starting, an input that is not one trace, a name that is not there, and rows that cannot be written.
pub(super) fn run(args: &EventsArgs) -> Result<u8> {
    let run = Run::start(&args.run)?;
    let options = options::of_events(args, &run);
    let schemas = LoadedSchemas::load(&args.schemas.choice(), options.language.as_deref(), &run)?;
    let found = one_trace(args.trace.clone(), schemas, options, &run);
    let (recording, options) = match found {
        Err(_) if all_published(std::slice::from_ref(&args.trace)).is_some() => return Err(converted()),
        found => found?,
    };
    run.interrupt.working(true);
    let select: Vec<&str> = args.select.iter().map(String::as_str).collect();
    let columns = (!select.is_empty()).then_some(&select[..]);
    let rows = AskedRows { columns, filter: &args.rows.options.filter };
    let choose = |names: &[&str]| dataset(names, args);
    let opened = run.job(&recording.name, |progress| rows.open(&recording, &options, choose, progress));
    run.interrupt.working(false);
    let OneStream { stream, is_damaged } = match opened {
        Ok(opened) => opened,
        // A name that is not there.
        Err(error) if error.kind() == ErrorKind::Usage => return Err(error),
        Err(error) => return Ok(run.failed(&error)),
    };
    let mut status = RunStatus::default();
    match print(stream, args) {
        Ok(Printed::Nothing) => {
            run.console.warning("no event passes the filters");
            return Ok(status::REFUSED);
        }
        Ok(Printed::Rows) => status.readable += 1,
        Err(error) => return Ok(run.failed(&error)),
    }
    status.damaged = is_damaged;
    if status.damaged {
        let message = "the trace is damaged: rows may be missing; `etl2parquet inspect` lists what cannot be read";
        run.console.warning(message);
    }
    Ok(status.code())
}

/// Why rows of a converted trace are not printed.
fn converted() -> Error {
    let error = Error::new(ErrorKind::Usage, "expected a trace that is not converted, found a converted one");
    error.with_hint("`etl2parquet query` asks those")
}

/// The dataset that is asked for, or the only one of these.
fn dataset(names: &[&str], args: &EventsArgs) -> Result<String> {
    if let Some(name) = &args.dataset {
        return Ok(name.clone());
    }
    match names {
        [only] => Ok((*only).to_owned()),
        _ => Err(Error::new(ErrorKind::Usage, "expected the name of a dataset: --dataset NAME")
            .with_hint(format!("the trace has {}", names.join(", ")))),
    }
}

/// What was printed.
enum Printed {
    /// All that was asked for, or as much as somebody read.
    Rows,
    /// No row: the filters pass none.
    Nothing,
}

/// Prints rows until there are enough, or nobody reads them.
///
/// # Errors
/// What keeps rows from being read or written.
fn print(stream: EventStream, args: &EventsArgs) -> Result<Printed> {
    let format = if args.jsonl { RowFormat::JsonLines } else { RowFormat::Csv };
    let limit = args.limit.unwrap_or(u64::MAX);
    let mut left = limit;
    let mut text = format.head(&stream.schema());
    let mut out = io::stdout().lock();
    let mut batches = stream.map(|batch| batch.map_err(of_stream));
    loop {
        let written = out.write_all(&text).and_then(|()| out.flush());
        if written.as_ref().is_err_and(|cause| cause.kind() == io::ErrorKind::BrokenPipe) {
            return Ok(Printed::Rows);
        }
        console::written(written)?;
        let batch = if left == 0 { None } else { batches.next().transpose()? };
        let Some(batch) = batch else { break };
        let batch = first_rows(&batch, left);
        left -= batch.num_rows() as u64;
        text.clear();
        format.append(&batch, &mut text).map_err(of_stream)?;
    }
    Ok(if left == limit && limit > 0 { Printed::Nothing } else { Printed::Rows })
}

fn first_rows(batch: &RecordBatch, rows: u64) -> RecordBatch {
    let rows = usize::try_from(rows).unwrap_or(usize::MAX);
    batch.slice(0, batch.num_rows().min(rows))
}
