//! An export from its request to its last byte.

use std::io::Write;

use base::error::Result;
use base::progress::Progress;
use flate2::Compression;
use flate2::write::GzEncoder;
use published::PublishedTrace;

use crate::exported::Exported;
use crate::firefox::firefox;
use crate::folded::folded;
use crate::format::Format;
use crate::opened::Opened;
use crate::output::{Output, failure};
use crate::pcapng::pcapng;
use crate::perfetto::perfetto;
use crate::pprof::pprof;
use crate::request::Request;
use crate::speedscope::speedscope;
use crate::timeline::{Form, timeline};

/// Writes a published trace in another format.
///
/// # Errors
/// [`ErrorKind::Output`](base::error::ErrorKind::Output) when the trace cannot be read, or the bytes cannot be written;
/// [`ErrorKind::Usage`](base::error::ErrorKind::Usage) when there is more than the format has room for;
/// [`ErrorKind::Interrupted`](base::error::ErrorKind::Interrupted) when the caller asked to stop.
pub fn export(
    trace: &PublishedTrace,
    request: &Request,
    writer: &mut dyn Write,
    progress: &dyn Progress,
) -> Result<Exported> {
    if !request.is_compressed {
        return written(trace, request, writer, progress);
    }
    let mut compressed = GzEncoder::new(writer, Compression::default());
    let exported = written(trace, request, &mut compressed, progress)?;
    compressed.finish().map_err(failure)?;
    Ok(exported)
}

fn written(
    trace: &PublishedTrace,
    request: &Request,
    writer: &mut dyn Write,
    progress: &dyn Progress,
) -> Result<Exported> {
    let opened = Opened::open(trace, request, progress)?;
    let mut output = Output::to(writer);
    let exported = match request.format {
        Format::Folded => folded(&opened, request.of, &mut output),
        Format::Speedscope => speedscope(&opened, request.of, &mut output),
        Format::Pprof => pprof(&opened, request.of, &mut output),
        Format::Timeline => timeline(&opened, request, Form::Csv, &mut output),
        Format::TimelineJsonl => timeline(&opened, request, Form::Json, &mut output),
        Format::Perfetto => perfetto(&opened, &mut output),
        Format::Pcapng => pcapng(&opened, request.packets, &mut output),
        Format::Firefox => firefox(&opened, &request.filter, &mut output),
    }?;
    output.finish()?;
    Ok(exported)
}
