//! An opened recording, whose rows are read without files between.

use std::sync::Arc;
use std::{iter, slice};

use arrow_schema::{DataType, Field, Schema, SchemaRef};
use base::error::{Error, ErrorKind, Result};
use base::resources;
use base::suggest::nearest;
use columnar::columns::TypeOptions;
use etl::event::subject::Subject;
use etl::input::Inputs;
use rayon::ThreadPool;
use spill::SpillSpace;

use super::prepare::{self, Gathered, Needs, OfInputs, STREAM_ROWS};
use super::stream::{EventStream, Projections};
use crate::commit::account;
use crate::convert::ConvertOptions;
use crate::convert::partitions::Conversion;
use crate::convert::stream_sink::StreamSink;
use crate::convert::tables::table_schema;
use crate::convert::{JobProgress, Recording, Surveyed};
use crate::dimensions::Owners;
use crate::inspect::Inspection;
use crate::plan::filter::Filter;
use crate::plan::{CompiledFilter, PlannedInputs, PlannedTable};
use crate::sidecar::{SidecarBatches, SidecarFacts, table_names};
use crate::survey::{DescriptiveEvents, FileFacts, FileSurvey};
use crate::table::HeaderColumn;
use crate::table::batches::{Filled, Projection};
use crate::views::common;

/// A recording that was surveyed and planned: what is in it is known, and its events can be read as often as one likes.
///
/// Clones share what is known and the threads.
///
/// ```
/// use etl2parquet_conversion::convert::{ConvertOptions, Recording};
/// use etl2parquet_conversion::job::trace::Trace;
/// use etl2parquet_conversion::plan::Filter;
/// use base::progress::NoProgress;
///
/// # fn main() -> base::error::Result<()> {
/// let example = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/example.etl");
/// let trace = Trace::open(&Recording::of_file(example), &ConvertOptions::new(""), &NoProgress)?;
/// let columns = ["timestamp", "QueryName"];
/// let stream = trace.stream("Microsoft-Windows-DNS-Client", Some(&columns), &Filter::default())?;
/// let rows: usize = stream.map(|batch| batch.expect("a batch").num_rows()).sum();
/// assert_eq!(rows, 73);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct Trace(Arc<Opened>);

#[derive(Debug)]
struct Opened {
    name: String,
    pool: ThreadPool,
    inputs: Inputs,
    surveyed: Surveyed,
    gathered: Gathered,
    options: ConvertOptions,
    space: SpillSpace,
}

impl Trace {
    /// Surveys and plans a recording, and gathers what ids and stacks mean. Nothing is written, but for temporary files of what does not fit into memory.
    ///
    /// What the options say about the output is not used; each stream that is being read takes up to their memory.
    ///
    /// # Errors
    /// Of the kind `Input` when a file is no trace or cannot be read, `Usage` when the options have a filter: that is a
    /// stream's.
    pub fn open(recording: &Recording, options: &ConvertOptions, progress: &dyn JobProgress) -> Result<Trace> {
        Trace::open_for(recording, options, |_| Ok(Needs::of_all(None)), progress)
    }

    /// The same, with no more than what `needs` says of what was surveyed and planned.
    ///
    /// # Errors
    /// Those of [`Trace::open`] and of `needs`.
    pub(super) fn open_for(
        recording: &Recording,
        options: &ConvertOptions,
        needs: impl FnOnce(&Surveyed) -> Result<Needs>,
        progress: &dyn JobProgress,
    ) -> Result<Trace> {
        if !options.filter.is_empty() {
            let error = Error::new(ErrorKind::Usage, "a trace is opened whole, and its options have a filter");
            return Err(error.with_hint("give the filter to the stream"));
        }
        // Members of archives are unpacked to where temporary files go: there is no output beside which they could lie.
        let options = ConvertOptions { dry_run: true, ..options.clone() };
        let pool = resources::pool(options.threads)?;
        let (inputs, space) = (prepare::inputs(recording, &options, progress)?, SpillSpace::temporary());
        let wanted = OfInputs::of_subjects(&Subject::ALL);
        let files = prepare::survey(&pool, recording, &inputs, &options, &space, wanted, progress)?;
        let mut surveyed = prepare::plan(&pool, files, &inputs, &options, progress)?;
        let planned = PlannedInputs::of(&surveyed.files, &inputs);
        let needs = needs(&surveyed)?;
        let logs = prepare::take_walks(&mut surveyed.files);
        let gathered = prepare::gather(&pool, (&surveyed, logs), &planned, (&options, &needs), &space, progress)?;
        let gathered = gathered.noted_in(&mut surveyed.files);
        surveyed.files.iter_mut().for_each(|file| file.descriptive = DescriptiveEvents::default());
        let name = recording.name.clone();
        Ok(Trace(Arc::new(Opened { name, pool, inputs, surveyed, gathered, options, space })))
    }

    /// What it is called.
    pub fn name(&self) -> &str {
        &self.0.name
    }

    /// Holds that its files are as they were when it was opened.
    ///
    /// # Errors
    /// [`ErrorKind::Input`] when one is not.
    pub fn check_unchanged(&self) -> Result<()> {
        self.0.inputs.check_unchanged()
    }

    /// All that is known of it, as the document that `inspect --json` has.
    pub fn inspection(&self) -> Inspection {
        Inspection::of(&self.sidecar_facts())
    }

    /// A table of the sidecar, with the rows that a conversion would write; what only a conversion counts is NULL.
    ///
    /// # Errors
    /// [`ErrorKind::Usage`] when there is no such table.
    pub fn table(&self, name: &str) -> Result<SidecarBatches> {
        let found = SidecarBatches::of(&self.sidecar_facts(), name, self.0.options.types.integers)?;
        found.ok_or_else(|| absent(format!("the sidecar has no table {name}"), name, table_names()))
    }

    fn sidecar_facts(&self) -> SidecarFacts<'_> {
        let Opened { name, surveyed: Surveyed { files, facts, plan }, gathered, .. } = &*self.0;
        let dimensions = &gathered.dimensions;
        SidecarFacts { files, facts, file_counts: &[], plan, shape_counts: &[], dimensions, trace: name, events: &[] }
    }

    /// The files, as surveyed.
    pub fn files(&self) -> &[FileSurvey] {
        &self.0.surveyed.files
    }

    /// What is known of each file: its session, its clock, its losses.
    pub fn facts(&self) -> &[FileFacts] {
        &self.0.surveyed.facts
    }

    /// The datasets, always in the same order.
    pub fn datasets(&self) -> impl Iterator<Item = DatasetInfo<'_>> {
        let plan = &self.0.surveyed.plan;
        let events = |table: &PlannedTable| table.shapes.iter().map(|&shape| plan.shapes[shape as usize].events).sum();
        plan.tables.iter().map(move |table| DatasetInfo {
            name: &table.dataset,
            provider_name: table.provider_name.as_deref(),
            events: events(table),
        })
    }

    /// The names of the datasets that have events which a filter may pass.
    pub fn datasets_with(&self, filter: &Filter) -> impl Iterator<Item = &str> {
        let plan = &self.0.surveyed.plan;
        let has_some = |table: &&PlannedTable| {
            let compiled = plan.table_filter(slice::from_ref(*table), filter, self.files());
            table.shapes.iter().any(|&shape| compiled.may_pass(shape))
        };
        plan.tables.iter().filter(has_some).map(|table| table.dataset.as_str())
    }

    /// The columns of a dataset, whatever a filter passes.
    ///
    /// # Errors
    /// [`ErrorKind::Usage`] when there is no such dataset.
    pub fn schema(&self, dataset: &str) -> Result<SchemaRef> {
        Ok(table_schema(self.planned(dataset)?, &self.0.options.types))
    }

    /// The columns of a dataset that a stream of it has.
    ///
    /// # Errors
    /// [`ErrorKind::Usage`] when there is no such dataset or column.
    pub fn projected(&self, dataset: &str, columns: Option<&[&str]>) -> Result<SchemaRef> {
        let schema = self.schema(dataset)?;
        Ok(projection(&schema, columns, dataset)?.schema)
    }

    /// The rows of a dataset in the order of their times: those that the filter passes, and of all columns or of these.
    ///
    /// The stream begins to work at once, on the threads of the trace and one of its own, and stops while nobody reads it.
    ///
    /// # Errors
    /// [`ErrorKind::Usage`] when there is no such dataset or column. Whatever keeps rows from being read later comes from the stream.
    pub fn stream(&self, dataset: &str, columns: Option<&[&str]>, filter: &Filter) -> Result<EventStream> {
        let table = self.planned(dataset)?;
        let schema = table_schema(table, &self.0.options.types);
        let projection = projection(&schema, columns, dataset)?;
        let schema = SchemaRef::clone(&projection.schema);
        self.start(schema, Projections::Of { projection, from: 0 }, slice::from_ref(table), filter)
    }

    /// The columns that the events of all datasets have, those of the view `all_events`: `provider`, which is the name of the
    /// dataset, and what follows from headers.
    pub fn common_schema(&self) -> SchemaRef {
        common_schema(&self.0.options.types)
    }

    /// The rows of all datasets that the filter passes, with columns that all have, or with these of them. Rows of one batch are
    /// of one dataset and in the order of their times; batches come as they are made.
    ///
    /// # Errors
    /// Those of [`Trace::stream`].
    pub fn stream_all(&self, columns: Option<&[&str]>, filter: &Filter) -> Result<EventStream> {
        let common = projection(&self.common_schema(), columns, "all events")?.schema;
        let tables = &self.0.surveyed.plan.tables;
        let of_table = |table: &PlannedTable| {
            let schema = table_schema(table, &self.0.options.types);
            common_projection(&common, &schema, &table.dataset)
        };
        let projections = tables.iter().map(of_table).collect();
        self.start(common, Projections::OfAll(projections), tables, filter)
    }

    fn start(
        &self,
        schema: SchemaRef,
        projections: Projections,
        tables: &[PlannedTable],
        filter: &Filter,
    ) -> Result<EventStream> {
        let filter = self.0.surveyed.plan.table_filter(tables, filter, self.files());
        let opened = Arc::clone(&self.0);
        EventStream::start(schema, projections, move |sink, progress| opened.send(&filter, sink, progress))
    }

    fn planned(&self, dataset: &str) -> Result<&PlannedTable> {
        table_of(&self.0.surveyed.plan.tables, dataset)
    }
}

/// A dataset of a trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DatasetInfo<'a> {
    /// Its name, which is that of its folder below `events`.
    pub name: &'a str,
    /// The provider's name, if anything names it.
    pub provider_name: Option<&'a str>,
    /// How many events it has.
    pub events: u64,
}

/// The table of a dataset.
pub(super) fn table_of<'a>(tables: &'a [PlannedTable], dataset: &str) -> Result<&'a PlannedTable> {
    let found = tables.iter().find(|table| table.dataset == dataset);
    let names = tables.iter().map(|table| table.dataset.as_str());
    found.ok_or_else(|| absent(format!("the trace has no dataset {dataset}"), dataset, names))
}

pub(super) fn projection(schema: &Schema, columns: Option<&[&str]>, dataset: &str) -> Result<Projection> {
    let position = |name: &&str| {
        let names = schema.fields().iter().map(|field| field.name().as_str());
        schema.index_of(name).map_err(|_| absent(format!("{dataset} has no column {name}"), name, names))
    };
    let columns: Vec<usize> = match columns {
        Some(names) => names.iter().map(position).collect::<Result<_>>()?,
        None => (0..schema.fields().len()).collect(),
    };
    let fields: Vec<_> = columns.iter().map(|&index| Arc::clone(&schema.fields()[index])).collect();
    let columns = columns.into_iter().map(Filled::Column).collect();
    Ok(Projection { schema: Arc::new(Schema::new(fields)), columns })
}

/// The column with the name of the dataset among those that all events have.
const PROVIDER: &str = "provider";

fn common_schema(types: &TypeOptions) -> SchemaRef {
    let provider = Field::new(PROVIDER, DataType::Utf8, false);
    let fields = common().filter_map(HeaderColumn::common).map(|column| column.field(types));
    Arc::new(Schema::new(iter::once(provider).chain(fields).collect::<Vec<_>>()))
}

/// Those columns of a table.
fn common_projection(common: &SchemaRef, table: &Schema, dataset: &str) -> Projection {
    let dataset: Arc<str> = dataset.into();
    let filled = |field: &Arc<Field>| match table.index_of(field.name()) {
        // A field of some events may be called like it.
        _ if field.name() == PROVIDER => Filled::Text(Arc::clone(&dataset)),
        Ok(index) => Filled::Column(index),
        Err(_) => Filled::Nothing,
    };
    Projection { schema: SchemaRef::clone(common), columns: common.fields().iter().map(filled).collect() }
}

/// Names that an error lists; the rest is a number.
const LISTED: usize = 20;

/// The error about a name that is not there, with the one that was meant, or those that there are.
pub fn absent<'a>(message: String, typed: &str, names: impl Iterator<Item = &'a str> + Clone) -> Error {
    let hint = nearest(typed, names.clone()).map_or_else(
        || {
            let (listed, more) =
                (names.clone().take(LISTED).collect::<Vec<_>>().join(", "), names.skip(LISTED).count());
            if more == 0 { format!("it has {listed}") } else { format!("it has {listed} and {more} more") }
        },
        |name| format!("did you mean {name}?"),
    );
    Error::new(ErrorKind::Usage, message).with_hint(hint)
}

impl Opened {
    /// Converts the recording once more, and sends the row groups of the events that pass.
    fn send(&self, filter: &CompiledFilter, sink: StreamSink, progress: &dyn JobProgress) -> Result<()> {
        let Surveyed { files, plan, .. } = &self.surveyed;
        let planned = PlannedInputs::of(files, &self.inputs);
        let Gathered { dimensions, stacks, partitions } = &self.gathered;
        let mut write = prepare::write_options(&self.options, serde_json::Value::Null);
        write.row_group_rows = write.row_group_rows.min(STREAM_ROWS);
        let conversion = Conversion {
            plan,
            filter: Some(filter),
            inputs: &planned,
            owners: &Owners::of(dimensions),
            late: None,
            stacks,
            options: &write,
            memory: self.options.memory,
            space: &self.space,
        };
        let views: Vec<_> = partitions.list().iter().map(|partition| partitions.view(partition, &planned)).collect();
        let reports = conversion.send(&self.pool, &views, sink, progress)?;
        account::account(files, plan.shapes.len(), partitions.list(), &reports, account::rows_made)?;
        self.inputs.check_unchanged()
    }
}
