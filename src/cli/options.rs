//! From what was typed to what is meant.

use std::path::Path;

use base::error::Result;
use batch::BatchOptions;
use batch::schemas::with_lock;
use conversion::convert::{ConvertOptions, RawPolicy};
use conversion::plan::Filter;
use export::Packets;

use super::args::{EventsArgs, ExportArgs, InspectArgs, JobArgs, QueryArgs, ReportArgs};
use super::run::Run;

/// What a run of many recordings is asked for, but for the schemas of its conversions.
///
/// # Errors
/// [`crate::ErrorKind::Usage`] when the schema lock cannot be used.
pub(super) fn of_job(args: &JobArgs, run: &Run) -> Result<BatchOptions> {
    let (convert, inputs) = (chosen(args), args.input.inputs.clone());
    let mut convert = with_lock(convert, args.lock.schema_lock.as_deref())?.threads(run.threads).memory(run.memory);
    convert.recorded = args.batch.options.record();
    Ok(BatchOptions { convert, inputs, ..args.batch.options.clone() })
}

/// What is typed of the options of a conversion.
pub(super) fn chosen(args: &JobArgs) -> ConvertOptions {
    let mut options = args.convert.options.clone();
    options.out.clone_from(&args.output.output);
    options
}

/// The options of an inspection, but for its schemas: those of a conversion that writes nothing.
pub(super) fn of_inspect(args: &InspectArgs, run: &Run) -> ConvertOptions {
    let options = args.reading.options.clone().allow_repeated(true);
    options.threads(run.threads).memory(run.memory).dry_run(true)
}

/// The options of a trace whose rows are printed, but for its schemas.
pub(super) fn of_events(args: &EventsArgs, run: &Run) -> ConvertOptions {
    let options = args.rows.options.clone().filter(Filter::default()).allow_repeated(true);
    options.threads(run.threads).memory(run.memory)
}

/// The options of a conversion for a report, but for its schemas; what is packed is unpacked into `folder`.
pub(super) fn of_report(args: &ReportArgs, run: &Run, folder: &Path) -> ConvertOptions {
    unpacking_in(folder, args.reading.options.clone(), run)
}

/// The options of a conversion for a comparison, but for its schemas.
pub(super) fn of_comparison(run: &Run) -> ConvertOptions {
    unpacking_in(&std::env::temp_dir(), ConvertOptions::default(), run)
}

/// The options of a conversion for a question, but for its schemas.
pub(super) fn of_query(args: &QueryArgs, run: &Run) -> ConvertOptions {
    unpacking_in(&std::env::temp_dir(), args.rows.options.clone(), run)
}

/// The options of a conversion for an export, but for its schemas: of the whole trace, since what ids meant, and when threads
/// waited, follows from events that a filter may leave out.
pub(super) fn of_export(args: &ExportArgs, run: &Run) -> ConvertOptions {
    let mut options = unpacking_in(&std::env::temp_dir(), args.events.options.clone().filter(Filter::default()), run);
    if args.packets == Packets::Events {
        options.raw = RawPolicy::Always;
    }
    options
}

/// The options of a conversion for another command: what is packed is unpacked into a folder, unless they name another.
fn unpacking_in(folder: &Path, mut options: ConvertOptions, run: &Run) -> ConvertOptions {
    options.open = options.open.or_in(folder);
    options.threads(run.threads).memory(run.memory)
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;
    use crate::cli::args::{Cli, Command};

    #[test]
    fn the_defaults_are_those_of_the_library() {
        let cli = Cli::try_parse_from(["etl2parquet", "convert", "a.etl", "-o", "out"]).unwrap();
        let Command::Convert(args) = cli.command else { panic!("expected convert") };
        assert_eq!(format!("{:#?}", chosen(&args.job)), format!("{:#?}", ConvertOptions::new("out")));
    }
}
