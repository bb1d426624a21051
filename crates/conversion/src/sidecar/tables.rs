//! All tables of the sidecar, for whoever writes or reads them.

use std::cell::OnceCell;
use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_schema::{Field, Schema, SchemaRef};
use base::error::{Error, Result};
use columnar::columns::{IntegerType, RowSource as _};

use super::declared::{DeclaredColumn, declared_columns};
use super::dimensions::DimensionRows;
use super::facts::SidecarFacts;
use super::row::SidecarRow;
use super::table::{RowBatch, schema};
use super::{answers, buffers, catalog, clock, fields, issues, lost_events, sessions, streams};

/// Takes tables, one after another.
pub(super) trait TakeTables {
    /// Takes the rows of a table that every trace has.
    fn take<R: SidecarRow>(&mut self, rows: impl Iterator<Item = R>) -> Result<()>;

    /// Takes the rows of a table that traces without such rows need not have.
    fn take_optional<R: SidecarRow>(&mut self, rows: impl Iterator<Item = R>) -> Result<()> {
        self.take(rows)
    }
}

/// Hands over all tables. Those of what ids meant are optional: most recordings have no rows of them, and many recordings
/// are small.
///
/// # Errors
/// Those of who takes them.
pub(super) fn each_table(facts: &SidecarFacts<'_>, taker: &mut impl TakeTables) -> Result<()> {
    let SidecarFacts { files, facts: all, file_counts, plan, shape_counts, dimensions, .. } = *facts;
    let shown = OnceCell::new();
    let rows = DimensionRows { dimensions, plan, shown: &shown };
    let both = || files.iter().zip(all);
    taker.take(both().map(|(file, facts)| sessions::row(file, facts)))?;
    taker.take(files.iter().zip(0..).map(|(file, input)| clock::row(file, file_counts.get(input))))?;
    taker.take(all.iter().flat_map(lost_events::rows))?;
    taker.take(all.iter().flat_map(streams::rows))?;
    taker.take(catalog::rows(plan, shape_counts))?;
    taker.take(fields::rows(plan))?;
    taker.take(answers::rows(plan, shape_counts).into_iter())?;
    taker.take(files.iter().flat_map(buffers::rows))?;
    taker.take(both().flat_map(|(file, facts)| issues::rows(file).chain(issues::advice(facts))))?;
    taker.take_optional(rows.processes())?;
    taker.take_optional(rows.threads())?;
    taker.take_optional(rows.images())?;
    taker.take_optional(rows.files())?;
    taker.take_optional(rows.methods())
}

/// A table of the sidecar in memory.
#[derive(Clone, Debug)]
pub struct SidecarBatches {
    /// Its columns.
    pub schema: SchemaRef,
    /// Its rows.
    pub batches: Vec<RecordBatch>,
}

impl SidecarBatches {
    /// A table without rows, with portable integers.
    pub fn empty(table: &str) -> SidecarBatches {
        let field = |column: &DeclaredColumn| Field::new(column.name, column.portable.clone(), true);
        let fields: Vec<_> = declared_columns(table).iter().map(field).collect();
        SidecarBatches { schema: Arc::new(Schema::new(fields)), batches: Vec::new() }
    }

    /// The table of a name; `None` where none is called so.
    ///
    /// # Errors
    /// [`Internal`](base::error::ErrorKind::Internal) where columns do not make a table, which is a bug.
    pub fn of(facts: &SidecarFacts<'_>, table: &str, integers: IntegerType) -> Result<Option<SidecarBatches>> {
        let mut one = OneTable { name: table, integers, found: None };
        each_table(facts, &mut one)?;
        Ok(one.found)
    }
}

/// Keeps one of the tables.
struct OneTable<'a> {
    name: &'a str,
    integers: IntegerType,
    found: Option<SidecarBatches>,
}

impl TakeTables for OneTable<'_> {
    fn take<R: SidecarRow>(&mut self, mut rows: impl Iterator<Item = R>) -> Result<()> {
        if R::TABLE != self.name {
            return Ok(());
        }
        let columns = R::columns(self.integers);
        let (schema, mut batches) = (Arc::new(schema(&columns)), Vec::new());
        loop {
            let batch = RowBatch::next(&columns, self.integers, &mut rows);
            if batch.rows() == 0 {
                break;
            }
            let made = RecordBatch::try_new(SchemaRef::clone(&schema), batch.arrays());
            batches.push(made.map_err(|error| Error::bug("columns make no table").caused_by(error))?);
        }
        self.found = Some(SidecarBatches { schema, batches });
        Ok(())
    }
}
