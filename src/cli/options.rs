//! From what was typed to what is meant.

use std::path::PathBuf;

use super::args::{ConvertArgs, InspectArgs};
use super::choices::{Columns, FailOn};
use super::run::Run;
use super::schema::load::LoadedSchemas;
use crate::columns::TypeOptions;
use crate::convert::job::{ConvertOptions, Gates, MaxLoss, RawPolicy};
use crate::dataset::properties::Compression;
use crate::error::Result;
use crate::output::folder::IfExists;
use crate::plan::{DatasetSplit, Filter};

/// The options of a conversion.
///
/// # Errors
/// [`crate::ErrorKind::Usage`] when schemas cannot be used.
pub(super) fn of_convert(args: &ConvertArgs, run: &Run) -> Result<ConvertOptions> {
    let (schemas, schemas_hash) = LoadedSchemas::load(&args.schemas, run.console)?.into_user();
    let (columns, files) = (&args.columns, &args.files);
    Ok(ConvertOptions {
        out: args.output.output.clone(),
        if_exists: args.output.if_exists,
        types: TypeOptions { unsigned: columns.unsigned, guid: columns.guid, timestamps: columns.timestamps },
        anchor: columns.clock.clock_anchor,
        raw: columns.raw,
        all_columns: columns.columns == Columns::Declared,
        layout: columns.layout,
        schemas,
        schemas_hash,
        filter: args.filters.filter(),
        compression: files.compression,
        row_group_rows: files.row_group_rows,
        max_file_size: files.max_file_size,
        allow_repeated: args.output.allow_repeated,
        gates: gates(args.checks.max_loss, &args.checks.fail_on),
        threads: run.threads,
        memory: run.memory,
        dry_run: args.dry_run,
        partition_bytes: args.files.partition_bytes,
    })
}

/// The options of an inspection: those of a conversion that writes nothing.
///
/// # Errors
/// [`crate::ErrorKind::Usage`] when schemas cannot be used.
pub(super) fn of_inspect(args: &InspectArgs, run: &Run) -> Result<ConvertOptions> {
    let (schemas, schemas_hash) = LoadedSchemas::load(&args.schemas, run.console)?.into_user();
    Ok(ConvertOptions {
        out: PathBuf::new(),
        if_exists: IfExists::default(),
        types: TypeOptions::default(),
        anchor: args.clock.clock_anchor,
        raw: RawPolicy::default(),
        all_columns: false,
        layout: DatasetSplit::default(),
        schemas,
        schemas_hash,
        filter: Filter::default(),
        compression: Compression::default(),
        row_group_rows: 1 << 20,
        max_file_size: 512 << 20,
        allow_repeated: true,
        gates: Gates::default(),
        threads: run.threads,
        memory: run.memory,
        dry_run: true,
        partition_bytes: None,
    })
}

fn gates(max_loss: Option<MaxLoss>, fail_on: &[FailOn]) -> Gates {
    let has = |what| fail_on.contains(&what);
    Gates {
        max_loss,
        loss: has(FailOn::Loss),
        known_loss: has(FailOn::KnownLoss),
        disorder: has(FailOn::Disorder),
        undecoded: has(FailOn::Undecoded),
        damage: has(FailOn::Damage),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gates_are_those_named() {
        let expected = Gates { disorder: true, undecoded: true, ..Gates::default() };
        assert_eq!(gates(None, &[FailOn::Undecoded, FailOn::Disorder]), expected);
        let expected = Gates { known_loss: true, ..Gates::default() };
        assert_eq!(gates(None, &[FailOn::KnownLoss]), expected);
        let expected = Gates { max_loss: Some(MaxLoss::Events(3)), loss: true, damage: true, ..Gates::default() };
        assert_eq!(gates(Some(MaxLoss::Events(3)), &[FailOn::Loss, FailOn::Damage]), expected);
    }
}
