//! What traces say that the columns of their tables do not: counts, names of events, what columns mean, which questions they answer.

use std::collections::{BTreeMap, BTreeSet};

use base::error::Result;
use base::progress::Progress;
use columnar::output::CommitRecord;
use columnar::output::manifest::EventCounts;
use conversion::read_columns;
use conversion::sidecar::catalog::CatalogRow;
use conversion::sidecar::fields::FieldRow;
use conversion::sidecar::{AnswerRow, SessionRow};

use super::super::sidecar::{Sidecar, sidecar_table};
use super::super::trace::PublishedTrace;
use super::document::{DescribedLoss, DescribedTrace};
use super::said::Said;

/// What one trace says, or several together.
#[derive(Debug, Default)]
pub(super) struct Facts {
    /// The traces.
    pub traces: Vec<DescribedTrace>,
    /// Inputs of their recordings.
    pub inputs: u64,
    /// Machines of each recording, added up.
    pub machines: u64,
    /// What became of events.
    pub events: EventCounts,
    /// What was lost.
    pub loss: DescribedLoss,
    /// By name in lower case.
    pub datasets: BTreeMap<String, DatasetFacts>,
    /// By question.
    pub answers: BTreeMap<String, AnswerFacts>,
    /// Rows of the tables of the sidecar by name.
    pub sidecar: BTreeMap<String, u64>,
}

/// What is said of a dataset.
#[derive(Debug, Default)]
pub(super) struct DatasetFacts {
    /// Its rows.
    pub rows: u64,
    /// Traces that have it.
    pub traces: u64,
    /// Rows by name of the event.
    pub events: BTreeMap<Option<String>, u64>,
    /// Unit and meaning of columns, by path in lower case.
    pub columns: BTreeMap<String, [Said; 2]>,
}

/// What is said of a question.
#[derive(Debug, Default)]
pub(super) struct AnswerFacts {
    /// Traces that answer it.
    pub traces: u64,
    /// Events for it.
    pub events: u64,
    /// What the first trace needs that says so.
    pub needed: Option<String>,
}

impl Facts {
    /// Reads manifest and sidecar of a trace.
    ///
    /// # Errors
    /// [`ErrorKind::Output`](base::error::ErrorKind::Output) when one of these cannot be read,
    /// [`ErrorKind::Interrupted`](base::error::ErrorKind::Interrupted) when the caller asked to stop.
    pub(super) fn read(trace: &PublishedTrace, progress: &dyn Progress) -> Result<Facts> {
        let record = trace.record()?;
        let mut facts = Facts { events: record.events, ..Facts::default() };
        facts.add_files(&record);
        let range = record.files.iter().filter(|file| file.path.starts_with("events/"));
        let first = range.clone().filter_map(|file| file.min_timestamp_ns).min();
        facts.traces.push(DescribedTrace {
            trace: trace.name().unwrap_or_else(|| record.trace.clone()),
            rows: record.events.written,
            first_time_ns: first,
            last_time_ns: range.filter_map(|file| file.max_timestamp_ns).max(),
        });
        let tables = Sidecar::of(&*trace.store, &record, progress);
        facts.add_sessions(&tables)?;
        facts.add_shapes(&tables)?;
        tables.rows::<AnswerRow>(|row| {
            let answer = facts.answers.entry(row.question.clone().into_owned()).or_default();
            answer.traces += u64::from(row.answerable);
            answer.events = answer.events.saturating_add(row.events);
            answer.needed = answer.needed.take().or(row.needed);
        })?;
        Ok(facts)
    }

    fn add_files(&mut self, record: &CommitRecord) {
        let mut here = BTreeMap::<String, u64>::new();
        for file in record.files.iter().filter(|file| file.is_table()) {
            if let Some(table) = sidecar_table(&file.path) {
                add(self.sidecar.entry(table.to_owned()).or_default(), file.rows);
            } else if let Some(dataset) = file.path.strip_prefix("events/").and_then(|path| path.split('/').next()) {
                add(here.entry(dataset.to_lowercase()).or_default(), file.rows);
            }
        }
        for (dataset, rows) in here {
            self.datasets.insert(dataset, DatasetFacts { rows, traces: 1, ..DatasetFacts::default() });
        }
    }

    fn add_sessions(&mut self, tables: &Sidecar<'_>) -> Result<()> {
        let (mut inputs, mut machines, mut loss) = (0, BTreeSet::new(), DescribedLoss::default());
        tables.rows::<InputOfTrace<'_>>(|row| {
            inputs += 1;
            machines.insert(row.machine.unwrap_or(0));
            add_known(&mut loss.events_lost, row.events_lost);
            add_known(&mut loss.buffers_lost, row.buffers_lost);
            let is_known =
                row.events_lost.is_some() && row.buffers_lost.is_some() && row.loss_unknown_because.is_none();
            loss.unknown_inputs += u64::from(!is_known);
        })?;
        (self.inputs, self.machines, self.loss) = (inputs, machines.len() as u64, loss);
        Ok(())
    }

    fn add_shapes(&mut self, tables: &Sidecar<'_>) -> Result<()> {
        // By number of the shape; of one without rows none.
        let mut datasets = BTreeMap::<u32, String>::new();
        tables.rows::<ShapeOfTrace<'_>>(|row| {
            let rows = row.rows.unwrap_or(0);
            let dataset = row.dataset.split('/').next().unwrap_or_default().to_lowercase();
            let Some(facts) = self.datasets.get_mut(&dataset).filter(|_| rows > 0) else { return };
            add(facts.events.entry(row.event_name.map(str::to_owned)).or_default(), rows);
            datasets.insert(row.shape, dataset);
        })?;
        tables.rows::<FieldOfTrace<'_>>(|row| {
            let facts = datasets.get(&row.shape).and_then(|dataset| self.datasets.get_mut(dataset));
            let Some((facts, column)) = facts.zip(row.column) else { return };
            if row.unit.is_none() && row.description.is_none() {
                return;
            }
            let [unit, meaning] = facts.columns.entry(column.to_lowercase()).or_default();
            unit.add(row.unit);
            meaning.add(row.description);
        })
    }

    /// Adds what other traces say, which come behind.
    pub(super) fn merge(&mut self, other: Facts) {
        self.traces.extend(other.traces);
        add(&mut self.inputs, other.inputs);
        add(&mut self.machines, other.machines);
        let EventCounts { found, written, filtered, damaged, damaged_bytes } = other.events;
        add(&mut self.events.found, found);
        add(&mut self.events.written, written);
        add(&mut self.events.filtered, filtered);
        add(&mut self.events.damaged, damaged);
        add(&mut self.events.damaged_bytes, damaged_bytes);
        add_known(&mut self.loss.events_lost, other.loss.events_lost);
        add_known(&mut self.loss.buffers_lost, other.loss.buffers_lost);
        add(&mut self.loss.unknown_inputs, other.loss.unknown_inputs);
        for (name, facts) in other.datasets {
            self.datasets.entry(name).or_default().merge(facts);
        }
        for (question, facts) in other.answers {
            let own = self.answers.entry(question).or_default();
            add(&mut own.traces, facts.traces);
            add(&mut own.events, facts.events);
            own.needed = own.needed.take().or(facts.needed);
        }
        for (table, rows) in other.sidecar {
            add(self.sidecar.entry(table).or_default(), rows);
        }
    }
}

impl DatasetFacts {
    fn merge(&mut self, other: DatasetFacts) {
        add(&mut self.rows, other.rows);
        add(&mut self.traces, other.traces);
        for (name, rows) in other.events {
            add(self.events.entry(name).or_default(), rows);
        }
        for (path, [unit, meaning]) in other.columns {
            let [own_unit, own_meaning] = self.columns.entry(path).or_default();
            own_unit.merge(unit);
            own_meaning.merge(meaning);
        }
    }
}

/// Adds to a count, which stops at its end.
fn add(count: &mut u64, more: u64) {
    *count = count.saturating_add(more);
}

/// Adds what is known.
fn add_known(count: &mut Option<u64>, more: Option<u64>) {
    if let Some(more) = more {
        add(count.get_or_insert(0), more);
    }
}

read_columns! {
    /// An input of a trace.
    struct InputOfTrace<'b> of SessionRow {
        machine: Option<u64>,
        events_lost: Option<u64>,
        buffers_lost: Option<u64>,
        loss_unknown_because: Option<&'b str>,
    }
}

read_columns! {
    /// An event shape, and how many rows of it there are.
    struct ShapeOfTrace<'b> of CatalogRow<'static> {
        shape: u32,
        dataset: &'b str,
        event_name: Option<&'b str>,
        rows: Option<u64>,
    }
}

read_columns! {
    /// What a column of an event shape means.
    struct FieldOfTrace<'b> of FieldRow {
        shape: u32,
        column: Option<&'b str>,
        unit: Option<&'b str>,
        description: Option<&'b str>,
    }
}
