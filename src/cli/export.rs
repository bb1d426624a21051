//! `etl2parquet export`.

use std::io::{self, IsTerminal as _, Write};
use std::path::Path;

use base::error::{Error, ErrorKind, Result};
use base::words::Words as _;
use batch::{RunStatus, status};
use columnar::output::whole_file::WholeFile;
use conversion::convert::{JobProgress, Stage, settings};
use export::{Exported, Request};
use published::PublishedTrace;

use super::args::ExportArgs;
use super::run::Run;
use super::subjects::{Staging, Subject, Subjects, refuse_for_converted};
use super::{options, output_file};

/// Writes a trace for a viewer; returns the exit code.
///
/// # Errors
/// What keeps the run from starting, and an input that is not one trace.
pub(super) fn run(args: &ExportArgs) -> Result<u8> {
    output_file::check(&args.output, std::slice::from_ref(&args.trace))?;
    let is_file = args.output != Path::new("-");
    if !is_file && !args.format.is_text() && io::stdout().is_terminal() {
        let message = format!("a terminal cannot show {}", args.format.word());
        return Err(Error::new(ErrorKind::Usage, message).with_hint("name a file with -o"));
    }
    let run = Run::start(&args.run)?;
    run.interrupt.working(true);
    let done = written(args, &run);
    run.interrupt.working(false);
    match done {
        Ok((exported, _)) if exported.events == 0 => {
            run.console.warning(nothing(args));
            Ok(status::REFUSED)
        }
        Ok((exported, status)) => {
            exported.warnings.iter().for_each(|warning| run.console.warning(warning));
            if is_file {
                run.console.line(format_args!("wrote {}", args.output.display()));
            }
            Ok(status.code())
        }
        Err(error) => Ok(run.failed(&error)),
    }
}

/// Why nothing is written.
fn nothing(args: &ExportArgs) -> String {
    let filter = &args.events.options.filter;
    let missing = if filter.is_empty() { "the trace has nothing for" } else { "no event passes the filters for" };
    format!("{missing} {}: {}", args.format.word(), args.format.needs())
}

/// Finds the trace, converts it if it is not converted, and writes it; counts what lay beside it and leads nowhere.
fn written(args: &ExportArgs, run: &Run) -> Result<(Exported, RunStatus)> {
    let options = options::of_export(args, run);
    let subjects = Subjects::of(std::slice::from_ref(&args.trace), &args.schemas, options, run)?;
    if let [(_, subject)] = &subjects.traces[..] {
        let mut status = RunStatus::with_readable(1);
        subjects.problems.iter().for_each(|problem| run.fail(&mut status, problem));
        let exported = match subject {
            Subject::Published(trace) => {
                refuse_for_converted(args.events.typed_of(&settings::CLOCK))?;
                write(args, trace, run)
            }
            Subject::Recording(recording) => {
                let staging = Staging::make_in(&std::env::temp_dir(), run)?;
                write(args, &subjects.convert_into(&staging, recording, run)?, run)
            }
        };
        return Ok((exported?, status));
    }
    let names: Vec<&str> = subjects.traces.iter().map(|(name, _)| name.as_str()).collect();
    let message = format!("expected one trace, found {}", names.len());
    Err(Error::new(ErrorKind::Usage, message).with_hint(format!("name one of {}", names.join(", "))))
}

/// Writes a published trace to where it is asked for: a file is there whole or not at all.
fn write(args: &ExportArgs, trace: &PublishedTrace, run: &Run) -> Result<Exported> {
    let ExportArgs { format, of, packets, fields, .. } = *args;
    let filter = args.events.options.filter.clone();
    let request = Request { of, packets, fields, filter, ..Request::new(format) }.for_file(&args.output);
    let export = |writer: &mut dyn Write| {
        run.job("export", |progress: &dyn JobProgress| {
            progress.stage(Stage::Publish);
            export::export(trace, &request, writer, progress)
        })
    };
    if args.output == Path::new("-") {
        let mut stdout = Reader { stdout: io::stdout(), is_gone: false };
        return export(&mut stdout);
    }
    let failure =
        |cause| Error::new(ErrorKind::Output, "the file cannot be written").in_file(&args.output).caused_by(cause);
    let mut file = WholeFile::begin(&args.output, &run.interrupt.cleanup()).map_err(failure)?;
    let exported = export(&mut file)?;
    if exported.events > 0 {
        file.finish().map_err(failure)?;
    }
    Ok(exported)
}

/// Whoever reads standard output; who has seen enough is no failure.
struct Reader {
    stdout: io::Stdout,
    is_gone: bool,
}

impl Write for Reader {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.is_gone {
            return Ok(bytes.len());
        }
        match self.stdout.write(bytes) {
            Err(cause) if cause.kind() == io::ErrorKind::BrokenPipe => {
                self.is_gone = true;
                Ok(bytes.len())
            }
            done => done,
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self.stdout.flush() {
            Err(cause) if cause.kind() != io::ErrorKind::BrokenPipe => Err(cause),
            _ => Ok(()),
        }
    }
}
