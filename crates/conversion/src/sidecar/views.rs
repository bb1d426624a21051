//! `views.sql` and `views.spark.sql`: views over the tables of the trace, each for an engine.
//!
//! They are what `etl2parquet views` prints of the trace, without the views of single events, which would be most of them.

use arrow_schema::Field;
use base::error::Result;
use columnar::output::FileEntry;

use super::answers::AnswerRow;
use super::dimensions::{FileRow, ImageRow, MethodRow, ProcessRow, ThreadRow};
use super::facts::SidecarFacts;
use super::lost_events::LossRow;
use super::row::SidecarRow;
use super::sessions::SessionRow;
use super::streams::StreamRow;
use super::target::SidecarTarget;
use crate::convert::ViewScripts;
use crate::plan::PlannedTable;
use crate::views::{Dialect, Extent, Lake, Script, Traces, common, is_asked};

/// Where the traces lie, unless a variable says so: the folder in which the script is run. Anything else would vary from
/// machine to machine.
const ROOT: &str = ".";

/// Writes those that are asked for. `tables`: the files of the sidecar.
///
/// # Errors
/// [`Output`](base::error::ErrorKind::Output) when a file cannot be written.
pub(super) fn write(
    target: &SidecarTarget<'_>,
    facts: &SidecarFacts<'_>,
    tables: &[FileEntry],
) -> Result<Vec<FileEntry>> {
    let scripts = scripts(target.scripts);
    if scripts.is_empty() {
        return Ok(Vec::new());
    }
    let (lake, traces) = (lake(target, facts, tables), format!("trace={}", facts.trace));
    let write = |&(path, dialect): &(&str, Dialect)| {
        let script = Script {
            dialect,
            lake: &lake,
            root: ROOT,
            traces: Traces::One(&traces),
            extent: Extent::Short,
            beside: &[],
        };
        target.write_text(path, &script.text())
    };
    scripts.iter().map(write).collect()
}

/// The scripts that are asked for, each with its engine.
fn scripts(asked: ViewScripts) -> &'static [(&'static str, Dialect)] {
    const BOTH: &[(&str, Dialect)] =
        &[("sidecar/views.sql", Dialect::DuckDb), ("sidecar/views.spark.sql", Dialect::Spark)];
    match asked {
        ViewScripts::None => &[],
        ViewScripts::DuckDb => &BOTH[..1],
        ViewScripts::Spark => &BOTH[1..],
        ViewScripts::Both => BOTH,
    }
}

/// The tables that have files, with those of their columns that answers ask for.
fn lake(target: &SidecarTarget<'_>, facts: &SidecarFacts<'_>, tables: &[FileEntry]) -> Lake {
    let mut lake = Lake::default();
    lake.set_of_one_machine(facts.facts.iter().all(|file| file.machine == 0));
    for file in facts.events.iter().chain(tables) {
        lake.add_file(&file.path);
    }
    for table in &facts.plan.tables {
        add_columns(&mut lake, table, target);
    }
    add_table::<ProcessRow<'_>>(&mut lake, target);
    add_table::<ThreadRow<'_>>(&mut lake, target);
    add_table::<ImageRow<'_>>(&mut lake, target);
    add_table::<FileRow<'_>>(&mut lake, target);
    add_table::<MethodRow<'_>>(&mut lake, target);
    add_table::<LossRow>(&mut lake, target);
    add_table::<StreamRow>(&mut lake, target);
    add_table::<AnswerRow>(&mut lake, target);
    add_table::<SessionRow>(&mut lake, target);
    lake
}

/// The columns of a dataset, if it has files.
fn add_columns(lake: &mut Lake, table: &PlannedTable, target: &SidecarTarget<'_>) {
    let provider = table.dataset.split('/').next().unwrap_or_default();
    let Some(found) = lake.table_mut(provider) else { return };
    for column in table.header.iter().filter(|column| common().any(|name| name == column.name())) {
        found.add_field(&column.field(&target.types));
    }
    if is_asked(provider) {
        table.columns.columns.iter().for_each(|column| found.add_field(&column.field));
    }
}

/// The columns of a table of the sidecar, if it has a file.
fn add_table<R: SidecarRow>(lake: &mut Lake, target: &SidecarTarget<'_>) {
    let Some(found) = lake.table_mut(&format!("sidecar/{}", R::TABLE)) else { return };
    for column in R::columns(target.types.integers) {
        found.add_field(&Field::new(column.name, column.data_type, true));
    }
}
