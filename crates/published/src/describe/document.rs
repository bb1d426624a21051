//! The document, as docs/describe.md has it.

use columnar::output::manifest::EventCounts;
use conversion::inspect::TimeRange;
use serde::Serialize;

/// The version of the document: another one has other keys, or other meanings of them.
pub(super) const FORMAT: u32 = 1;

/// What can be asked of some traces.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Description {
    /// The version of the document.
    pub format: u32,
    /// Bytes that it has at most; `None`: it is whole.
    pub limit_bytes: Option<usize>,
    /// What it would have besides without that limit.
    pub left_out: LeftOut,
    /// The traces.
    pub traces: DescribedTraces,
    /// What became of the events of all of them.
    pub events: EventCounts,
    /// What the recordings lost.
    pub loss: DescribedLoss,
    /// The columns that every dataset has.
    pub common_columns: Vec<DescribedColumn>,
    /// The datasets, most rows first.
    pub datasets: Vec<DescribedDataset>,
    /// The columns that many views have.
    pub view_columns: Vec<DescribedColumn>,
    /// The answers, those that these traces have first.
    pub views: Vec<DescribedView>,
    /// The tables beside the events.
    pub sidecar: Vec<DescribedTable>,
}

/// Counts of what a document leaves out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct LeftOut {
    /// Traces that are counted but not named.
    pub traces: usize,
    /// Datasets that are not even named.
    pub datasets: usize,
    /// Datasets that are named, without columns and events.
    pub datasets_in_full: usize,
    /// Columns of datasets that are there in full.
    pub columns: usize,
    /// Events of datasets that are there in full.
    pub events: usize,
    /// Views that are named, without columns.
    pub views_in_full: usize,
    /// Columns of all datasets that are not described.
    pub common_columns: usize,
}

/// Some traces.
#[derive(Clone, Debug, Default, Serialize)]
pub struct DescribedTraces {
    /// How many there are.
    pub count: usize,
    /// Inputs of their recordings.
    pub inputs: u64,
    /// Machines of each recording, added up: one that several traces are of counts in each.
    pub machines: u64,
    /// From the first to the last event of all.
    #[serde(flatten)]
    pub time: TimeRange,
    /// The first of them by name.
    pub named: Vec<DescribedTrace>,
}

/// A trace.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct DescribedTrace {
    /// What its rows have in the column `trace`.
    pub trace: String,
    /// Its rows.
    pub rows: u64,
    /// Its first event in Unix nanoseconds.
    pub first_time_ns: Option<i64>,
    /// Its last event in Unix nanoseconds.
    pub last_time_ns: Option<i64>,
}

/// What the recordings say they lost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct DescribedLoss {
    /// Events, of the inputs that say it; `None` where none does.
    pub events_lost: Option<u64>,
    /// Buffers, of the inputs that say it; `None` where none does.
    pub buffers_lost: Option<u64>,
    /// Inputs of which nobody knows what was lost, or whether that is all.
    pub unknown_inputs: u64,
}

/// A column.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct DescribedColumn {
    /// Its name; of a member of a structure its path, with dots between.
    pub name: String,
    /// Its type: of datasets in the words of docs/columns.md, of views in DuckDB's; `None` where the shared columns have it.
    #[serde(rename = "type", skip_serializing_if = "Option::is_none")]
    pub data_type: Option<String>,
    /// The unit of its values, where it is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unit: Option<String>,
    /// What it is, where that is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub meaning: Option<String>,
}

/// A dataset: the events of a provider.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct DescribedDataset {
    /// Its name, which is that of its view, too.
    pub dataset: String,
    /// What its view is called, where that is not so.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub view: Option<String>,
    /// Its rows in all traces.
    pub rows: u64,
    /// Traces that have it.
    pub traces: u64,
    /// The columns that it has besides the common ones.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub columns: Option<Vec<DescribedColumn>>,
    /// Its events by name, most rows first.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub events: Option<Vec<DescribedEvent>>,
}

/// An event.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct DescribedEvent {
    /// Its name; `None` of all that have none.
    pub event: Option<String>,
    /// Its rows in all traces.
    pub rows: u64,
}

/// An answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct DescribedView {
    /// Its name.
    pub view: String,
    /// Whether any of the traces has what its rows are made of.
    pub answerable: bool,
    /// Traces that have it, of a view that is a question which any trace knows.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub traces: Option<u64>,
    /// Events that it is made of in all traces, of a view that is a question which any trace knows.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub events: Option<u64>,
    /// What its rows are.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub meaning: Option<String>,
    /// What to record for it, where no trace answers it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub needed: Option<String>,
    /// Its columns.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub columns: Option<Vec<DescribedColumn>>,
}

/// A table of the sidecar.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct DescribedTable {
    /// What its view is called.
    pub view: String,
    /// Its rows in all traces.
    pub rows: u64,
}
