//! What SQL can call: which columns that has, and where their rows come from.

use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;
use std::vec;

use arrow_array::{ArrayRef, Int64Array, RecordBatch, StringArray};
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use base::error::{Error, ErrorKind, Result};
use batch::keywords::{self, Arguments, Keyword};
use conversion::job::stream::{EventStream, of_stream};
use conversion::job::trace::{Trace, absent};
use conversion::plan::filter::Filter;

use super::interrupt::is_pressed;
use super::opened::open;

/// How often a query that waits for rows looks whether it is to stop.
const LOOK: Duration = Duration::from_millis(100);

/// The function that a file in the place of a table leads to.
pub(crate) const OF_FILES: &str = "read_etl";

/// The dataset whose rows are read.
const DATASET: &str = "dataset";
/// The same, by its provider.
const PROVIDER: &str = "provider";

/// A function of SQL, all of which have a path as their first argument.
pub(crate) struct TableFunction {
    /// What it is called.
    pub name: &'static str,
    /// How many texts its other arguments without a name are.
    pub others: usize,
    /// The calls whose options are its named arguments.
    pub calls: &'static [&'static str],
    /// Its named arguments besides.
    pub named: &'static [&'static str],
    bound: fn(&[String], Arguments) -> Result<Bound>,
}

/// All functions.
pub(crate) static FUNCTIONS: [TableFunction; 3] = [
    TableFunction {
        name: OF_FILES,
        others: 0,
        calls: &["open", "rows"],
        named: &[DATASET, PROVIDER],
        bound: |texts, arguments| events(&texts[0], arguments),
    },
    TableFunction {
        name: "etl_datasets",
        others: 0,
        calls: &["open"],
        named: &[],
        bound: |texts, arguments| datasets(&texts[0], arguments),
    },
    TableFunction {
        name: "etl_table",
        others: 1,
        calls: &["open"],
        named: &[],
        bound: |texts, arguments| table(&texts[0], &texts[1], arguments),
    },
];

/// Options that would change the types of columns beyond what a query can say itself.
const OF_TYPES: [&str; 2] = ["guid", "timestamps"];

impl TableFunction {
    /// The options that are named arguments of it.
    pub(crate) fn options(&self) -> impl Iterator<Item = Keyword> {
        keywords::all()
            .into_iter()
            .filter(|option| self.calls.contains(&option.call) && !OF_TYPES.contains(&option.name.as_str()))
    }

    /// What it returns for its arguments: the texts without a name, and those with one.
    ///
    /// # Errors
    /// Why there are no rows.
    pub(crate) fn bind(&self, texts: &[String], arguments: Arguments) -> Result<Bound> {
        (self.bound)(texts, arguments)
    }
}

/// What a call of a function returns.
#[derive(Debug)]
pub(crate) struct Bound {
    /// Its columns.
    pub schema: SchemaRef,
    /// How many rows there are, if that is known.
    pub count: Option<u64>,
    rows: Rows,
}

#[derive(Debug)]
enum Rows {
    /// Those of a dataset, or of all of them.
    Events { trace: Trace, dataset: Option<String>, filter: Box<Filter> },
    /// Those at hand.
    Held(Vec<RecordBatch>),
}

/// Rows on their way.
#[derive(Debug)]
pub(crate) enum Source {
    Events(Box<EventStream>),
    Held(vec::IntoIter<RecordBatch>),
}

impl Bound {
    /// Begins to read some of the columns, called by their numbers.
    ///
    /// # Errors
    /// Why that is not possible.
    pub(crate) fn start(&self, columns: &[usize]) -> Result<Source> {
        match &self.rows {
            Rows::Events { trace, dataset, filter } => {
                let names: Vec<&str> =
                    columns.iter().map(|&column| self.schema.field(column).name().as_str()).collect();
                let stream = match dataset {
                    Some(dataset) => trace.stream(dataset, Some(&names), filter),
                    None => trace.stream_all(Some(&names), filter),
                };
                Ok(Source::Events(Box::new(stream?)))
            }
            Rows::Held(batches) => {
                let projected = batches.iter().map(|batch| batch.project(columns)).collect::<Result<Vec<_>, _>>();
                let batches = projected.map_err(|cause| Error::bug("a column is not there").caused_by(cause))?;
                Ok(Source::Held(batches.into_iter()))
            }
        }
    }
}

impl Source {
    /// The next rows, as soon as there are some.
    ///
    /// # Errors
    /// Whatever keeps them from being read; [`ErrorKind::Interrupted`] after Ctrl-C.
    pub(crate) fn next_batch(&mut self) -> Result<Option<RecordBatch>> {
        loop {
            if is_pressed() {
                return Err(Error::new(ErrorKind::Interrupted, "interrupted"));
            }
            let next = match self {
                Source::Events(stream) => stream.next_within(LOOK),
                Source::Held(batches) => Poll::Ready(batches.next().map(Ok)),
            };
            if let Poll::Ready(next) = next {
                return next.transpose().map_err(of_stream);
            }
        }
    }
}

/// `read_etl`: the rows of a dataset, or what all events have.
fn events(path: &str, arguments: Arguments) -> Result<Bound> {
    let [of_open, of_rows, named] = separate(arguments);
    let filter = keywords::of_rows(of_rows)?;
    let trace = open(path, of_open)?;
    let dataset = dataset_of(&trace, &named)?;
    let schema = match &dataset {
        Some(dataset) => trace.schema(dataset)?,
        None => trace.common_schema(),
    };
    let is_meant = |name: &str| dataset.as_deref().is_none_or(|dataset| dataset == name);
    let count = trace.datasets().filter(|of| is_meant(of.name)).map(|of| of.events).sum();
    let count = filter.is_empty().then_some(count);
    Ok(Bound { schema, count, rows: Rows::Events { trace, dataset, filter: Box::new(filter) } })
}

/// Arguments of opening a trace, those of a filter, and the others.
fn separate(arguments: Arguments) -> [Arguments; 3] {
    let mut separate = [const { Vec::new() }; 3];
    let rows: Vec<String> =
        keywords::all().into_iter().filter(|option| option.call == "rows").map(|option| option.name).collect();
    for (name, value) in arguments {
        let place = match name.as_str() {
            DATASET | PROVIDER => 2,
            name if rows.iter().any(|row| row == name) => 1,
            _ => 0,
        };
        separate[place].push((name, value));
    }
    separate
}

/// The dataset that is meant, if one is.
fn dataset_of(trace: &Trace, named: &Arguments) -> Result<Option<String>> {
    let given = |wanted: &str| {
        let found = named.iter().find(|(name, _)| name == wanted);
        found.map(|(_, value)| value.to_string_lossy().into_owned())
    };
    match (given(DATASET), given(PROVIDER)) {
        (Some(dataset), None) => Ok(Some(dataset)),
        (None, Some(provider)) => of_provider(trace, &provider).map(Some),
        (Some(_), Some(_)) => Err(Error::new(ErrorKind::Usage, "expected a dataset or a provider, found both")),
        (None, None) => Ok(None),
    }
}

/// The one dataset of a provider.
fn of_provider(trace: &Trace, provider: &str) -> Result<String> {
    let pattern = provider.parse();
    let pattern = pattern.map_err(|why| Error::new(ErrorKind::Usage, format!("{PROVIDER} {provider:?}: {why}")))?;
    let filter = Filter { providers: vec![pattern], ..Filter::default() };
    let found: Vec<&str> = trace.datasets_with(&filter).collect();
    match found[..] {
        [one] => Ok(one.to_owned()),
        [] => {
            let names = trace.datasets().map(|of| of.provider_name.unwrap_or(of.name)).collect::<Vec<_>>();
            Err(absent(format!("the trace has no events of {provider}"), provider, names.into_iter()))
        }
        _ => {
            let message = format!("{provider} has {} datasets, of which one is to be named by {DATASET}", found.len());
            Err(absent(message, "", found.into_iter()))
        }
    }
}

/// `etl_datasets`: what can be read.
fn datasets(path: &str, arguments: Arguments) -> Result<Bound> {
    let trace = open(path, arguments)?;
    let names = StringArray::from_iter_values(trace.datasets().map(|of| of.name));
    let providers: StringArray = trace.datasets().map(|of| of.provider_name).collect();
    let events = Int64Array::from_iter_values(trace.datasets().map(|of| of.events.cast_signed()));
    let schema = Arc::new(Schema::new(vec![
        Field::new(DATASET, DataType::Utf8, false),
        Field::new(PROVIDER, DataType::Utf8, true),
        Field::new("events", DataType::Int64, false),
    ]));
    let columns: Vec<ArrayRef> = vec![Arc::new(names), Arc::new(providers), Arc::new(events)];
    let batch = RecordBatch::try_new(Arc::clone(&schema), columns);
    let batch = batch.map_err(|cause| Error::bug("datasets are no table").caused_by(cause))?;
    Ok(held(schema, vec![batch]))
}

/// `etl_table`: a table of the sidecar.
fn table(path: &str, name: &str, arguments: Arguments) -> Result<Bound> {
    let table = open(path, arguments)?.table(name)?;
    Ok(held(table.schema, table.batches))
}

fn held(schema: SchemaRef, batches: Vec<RecordBatch>) -> Bound {
    let count = batches.iter().map(|batch| batch.num_rows() as u64).sum();
    Bound { schema, count: Some(count), rows: Rows::Held(batches) }
}
