//! The rows of one partition of a plan as record batches: for readers that share a large trace.

use std::path::{Path, PathBuf};
use std::slice;
use std::sync::Arc;

use arrow_schema::SchemaRef;
use base::error::Result;
use base::resources::pool;
use columnar::output::store_at;
use spill::SpillSpace;

use super::plan_folder::StoredPlan;
use super::prepare::STREAM_ROWS;
use super::steps::{StepOptions, StoredPart};
use super::stream::{EventStream, Projections};
use super::trace::{projection, table_of};
use crate::convert::JobProgress;
use crate::convert::stream_sink::StreamSink;
use crate::convert::tables::table_schema;
use crate::plan::filter::Filter;
use crate::plan::{CompiledFilter, PlanResult, PlannedTable};

/// A partition of a plan, whose rows can be read as often as one likes while the folder of the plan is there.
///
/// The plan may be a copy: its own files and those of the partition, in a folder of any name.
#[derive(Clone, Debug)]
pub struct PlannedPart(Arc<Part>);

#[derive(Debug)]
struct Part {
    folder: PathBuf,
    number: u32,
    options: StepOptions,
    stored: StoredPlan,
}

impl PlannedPart {
    /// Opens a partition of the plan in a folder.
    ///
    /// # Errors
    /// Of the kind `Output` when the plan is not there, `Usage` when there is no such partition.
    pub fn open(folder: &Path, number: u32, options: StepOptions) -> Result<PlannedPart> {
        let mut stored = StoredPlan::read(&*store_at(folder))?;
        stored.partition(number)?;
        let rows = &mut stored.job.write.row_group_rows;
        *rows = STREAM_ROWS.min(*rows);
        Ok(PlannedPart(Arc::new(Part { folder: folder.to_owned(), number, options, stored })))
    }

    /// The columns of a dataset that a stream of it has.
    ///
    /// # Errors
    /// [`ErrorKind::Usage`](base::error::ErrorKind::Usage) when the plan has no such dataset or column.
    pub fn projected(&self, dataset: &str, columns: Option<&[&str]>) -> Result<SchemaRef> {
        let schema = table_schema(self.0.table(dataset)?, &self.0.stored.job.write.types);
        Ok(projection(&schema, columns, dataset)?.schema)
    }

    /// The rows of a dataset in the partition, in the order of their times: those that the plan leaves, with all columns or with these.
    ///
    /// # Errors
    /// Those of [`PlannedPart::projected`]. Whatever keeps rows from being read later comes from the stream.
    pub fn stream(&self, dataset: &str, columns: Option<&[&str]>) -> Result<EventStream> {
        let part = Arc::clone(&self.0);
        let table = part.table(dataset)?;
        let schema = table_schema(table, &part.stored.job.write.types);
        let projection = projection(&schema, columns, dataset)?;
        let filter = of_table(&part.stored.plan.result, table);
        let (schema, from) = (SchemaRef::clone(&projection.schema), part.number);
        let projections = Projections::Of { projection, from };
        EventStream::start(schema, projections, move |sink, progress| part.send(&filter, sink, progress))
    }
}

impl Part {
    fn table(&self, dataset: &str) -> Result<&PlannedTable> {
        table_of(&self.stored.plan.result.tables, dataset)
    }

    fn send(&self, filter: &CompiledFilter, sink: StreamSink, progress: &dyn JobProgress) -> Result<()> {
        let Part { folder, number, options, stored } = self;
        let (pool, space, plan) = (pool(options.threads)?, SpillSpace::temporary(), store_at(folder));
        let (open, filter) = (&options.open, Some(filter));
        let part = StoredPart { stored, number: *number, plan: &*plan, space: &space, open, filter };
        part.convert(options.memory, progress, |conversion, view| {
            conversion.send(&pool, &[view], sink, progress).map(drop)
        })
    }
}

/// What of the events that a plan leaves belongs to a table.
fn of_table(plan: &PlanResult, table: &PlannedTable) -> CompiledFilter {
    match &plan.filter {
        Some(filter) => filter.clone().of_shapes(&table.shapes),
        None => plan.table_filter(slice::from_ref(table), &Filter::default(), &[]),
    }
}
