//! From what was typed to what is meant.

use std::path::{Path, PathBuf};

use base::error::Result;
use base::words::Words;
use batch::BatchOptions;
use columnar::columns::TypeOptions;
use conversion::commit::lock_file::LOCK_NAME;
use conversion::convert::ConvertOptions;
use conversion::convert::job::{Checks, MaxLoss, StackPolicy};
use etl::input::OpenOptions;
use serde_json::{Map, Value, json};

use super::args::{InspectArgs, JobArgs, ReportArgs, SpoolArgs};
use super::choices::{Columns, FailOn, LockMode};
use super::run::Run;
use super::schema::load::{LoadedSchemas, read_lock};

/// The options of a conversion, but for its schemas.
///
/// # Errors
/// [`crate::ErrorKind::Usage`] when the schema lock cannot be used.
pub(super) fn of_job(args: &JobArgs, run: &Run) -> Result<ConvertOptions> {
    let mut options = with_lock(chosen(args), args.lock.schema_lock.as_deref())?;
    options.recorded = recorded(args);
    Ok(options.threads(run.threads).memory(run.memory))
}

/// With the lock that is named, else the one of the output folder, if it has one.
fn with_lock(options: ConvertOptions, named: Option<&Path>) -> Result<ConvertOptions> {
    let of_folder = options.out.join(LOCK_NAME);
    Ok(match named {
        Some(none) if none == Path::new("none") => options,
        Some(file) => options.schema_lock(read_lock(file)?),
        None if of_folder.exists() => options.folder_lock(read_lock(&of_folder)?),
        None => options,
    })
}

/// The options without what the machine and files decide.
fn chosen(args: &JobArgs) -> ConvertOptions {
    let (columns, files) = (&args.columns, &args.files);
    let types = TypeOptions { integers: columns.integers, guid: columns.guid, timestamps: columns.timestamps };
    let mut options = ConvertOptions::new(&args.output.output)
        .if_exists(args.output.if_exists)
        .rehash(args.output.rehash)
        .types(types)
        .anchor(columns.clock.clock_anchor)
        .raw(columns.raw)
        .stacks(columns.stacks)
        .all_columns(columns.columns == Columns::Declared)
        .layout(columns.layout)
        .filter(args.filters.filter())
        .compression(files.compression)
        .row_group_rows(files.row_group_rows)
        .max_file_size(files.max_file_size)
        .allow_repeated(args.output.allow_repeated)
        .checks(Checks {
            new_names: args.lock.schema_lock_mode == LockMode::Strict,
            ..checks(args.checks.max_loss, &args.checks.fail_on)
        });
    options.partition_bytes = files.partition_bytes;
    options.encoder = files.encoder;
    options
}

/// What a run of many recordings is asked for.
pub(super) fn of_batch(args: &JobArgs, run_id: Option<&str>) -> BatchOptions {
    let JobArgs { input, output, checks, .. } = args;
    BatchOptions {
        inputs: input.inputs.clone(),
        open: open(&args.spool),
        output: output.output.clone(),
        if_exists: output.if_exists,
        merge: output.merge.clone(),
        name_from: output.name_from,
        filters: args.filters.as_given(),
        on_bad_input: checks.on_bad_input,
        quarantine_dir: checks.quarantine_dir.clone(),
        run_id: run_id.map(str::to_owned),
    }
}

/// What was chosen that the library knows nothing of.
fn recorded(args: &JobArgs) -> Map<String, Value> {
    let absolute = |path: &PathBuf| std::path::absolute(path).unwrap_or_else(|_| path.clone()).display().to_string();
    let recorded = [
        ("on_bad_input", json!(args.checks.on_bad_input.word())),
        ("quarantine_dir", json!(args.checks.quarantine_dir.as_ref().map(absolute))),
        ("merge", json!(args.output.merge)),
        ("name_from", json!(args.output.name_from.word())),
    ];
    recorded.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
}

/// The options of an inspection, but for its schemas: those of a conversion that writes nothing.
pub(super) fn of_inspect(args: &InspectArgs, run: &Run) -> ConvertOptions {
    let options = ConvertOptions::new("").anchor(args.clock.clock_anchor).allow_repeated(true);
    options.threads(run.threads).memory(run.memory).dry_run(true)
}

/// The options of a conversion for a report, but for its schemas.
pub(super) fn of_report(args: &ReportArgs, run: &Run) -> ConvertOptions {
    let options = ConvertOptions::new("").anchor(args.clock.clock_anchor);
    // A report shows no stacks.
    options.stacks(StackPolicy::Keep).threads(run.threads).memory(run.memory)
}

/// The options with the schemas: those that were named, those that lie beside the traces, and those of the store.
pub(super) fn with_schemas(
    mut options: ConvertOptions,
    loaded: LoadedSchemas,
    found: &[(String, PathBuf)],
    run: &Run,
) -> ConvertOptions {
    let schemas = loaded.with_found(found, run.console);
    let files: Vec<_> = schemas.files().iter().map(|(name, hash)| json!({ "name": name, "blake3": hash })).collect();
    options.recorded.insert("schemas".to_owned(), files.into());
    options.schemas(schemas)
}

/// How inputs are opened. What is packed lies in the folder named, else where whoever opens it says.
pub(super) fn open(args: &SpoolArgs) -> OpenOptions {
    OpenOptions { spool_dir: args.spool_dir.clone(), max_spool: args.max_spool, ..OpenOptions::default() }
}

fn checks(max_loss: Option<MaxLoss>, fail_on: &[FailOn]) -> Checks {
    let has = |what| fail_on.contains(&what);
    Checks {
        max_loss,
        loss: has(FailOn::Loss),
        known_loss: has(FailOn::KnownLoss),
        disorder: has(FailOn::Disorder),
        undecoded: has(FailOn::Undecoded),
        damage: has(FailOn::Damage),
        new_names: false,
    }
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

    #[test]
    fn gates_are_those_named() {
        let expected = Checks { disorder: true, undecoded: true, ..Checks::default() };
        assert_eq!(checks(None, &[FailOn::Undecoded, FailOn::Disorder]), expected);
        let expected = Checks { known_loss: true, ..Checks::default() };
        assert_eq!(checks(None, &[FailOn::KnownLoss]), expected);
        let expected = Checks { max_loss: Some(MaxLoss::Events(3)), loss: true, damage: true, ..Checks::default() };
        assert_eq!(checks(Some(MaxLoss::Events(3)), &[FailOn::Loss, FailOn::Damage]), expected);
    }
}
