//! The datasets of a trace: what was written, or what would be.

use std::collections::BTreeMap;

use columnar::output::manifest::FileEntry;
use conversion::convert::Report;
use conversion::plan::CatalogEntry;
use serde::Serialize;

/// Event bytes for one byte of Parquet: in the middle between traces of little and of much repetition, about half and twice of
/// which were seen in traces of the kernel, of .NET and of providers with manifests.
const EVENT_BYTES: u64 = 18;

/// What describes the values of a column in one row group, in bytes.
const COLUMN_BYTES: u64 = 200;

/// The rows of one dataset.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct DatasetSummary {
    /// Its name.
    pub dataset: String,
    /// Rows.
    pub rows: u64,
    /// What it would become, where nothing was written.
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    pub plan: Option<DatasetPlan>,
}

/// What a dataset would become.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct DatasetPlan {
    /// Columns of its table, those of all events among them.
    pub columns: u64,
    /// Partitions that may have rows of it.
    pub partitions: u64,
    /// Bytes of its files, more or less: what its part of the events usually takes.
    pub estimated_bytes: u64,
}

/// Rows per folder below `events`; most rows first.
pub fn written(files: &[FileEntry]) -> Vec<DatasetSummary> {
    let event_files = files.iter().filter_map(|file| {
        let (dataset, _) = file.path.strip_prefix("events/")?.rsplit_once('/')?;
        Some(DatasetSummary { dataset: dataset.to_owned(), rows: file.rows, plan: None })
    });
    add_up(event_files)
}

/// The shapes of which some events may pass the filters.
pub fn may_pass(report: &Report) -> impl Iterator<Item = CatalogEntry<'_>> {
    report.plan.catalog().zip(0..).filter(|(_, shape)| report.plan.may_pass(*shape)).map(|(entry, _)| entry)
}

/// Events per dataset of which the filters may pass some; how many of them pass is not known before they are read. Of a
/// dry run with what they would become.
pub fn planned(report: &Report) -> Vec<DatasetSummary> {
    let event_bytes: u64 = report.facts.iter().flat_map(|file| &file.streams).map(|stream| stream.bytes_used).sum();
    let partitions = report.partitions.filter(|_| report.written.is_empty());
    let mut datasets: BTreeMap<&str, (u64, u64)> = BTreeMap::new();
    for entry in may_pass(report) {
        let columns = (entry.table.header.len() + entry.table.columns.columns.len()) as u64;
        let (rows, _) = datasets.get(entry.dataset()).copied().unwrap_or_default();
        datasets.insert(entry.dataset(), (rows + entry.shape.events, columns));
    }
    let dataset = |(dataset, (rows, columns)): (&str, (u64, u64))| {
        let plan = partitions.map(|partitions| {
            let estimated_bytes = estimate(event_bytes, rows, report.events.found, columns.saturating_mul(partitions));
            DatasetPlan { columns, partitions: partitions.min(rows), estimated_bytes }
        });
        DatasetSummary { dataset: dataset.to_owned(), rows, plan }
    };
    add_up(datasets.into_iter().map(dataset))
}

/// Bytes of the files of so many of all events.
fn estimate(event_bytes: u64, rows: u64, all: u64, columns: u64) -> u64 {
    let part = u128::from(event_bytes) * u128::from(rows) / u128::from(all.max(1)) / u128::from(EVENT_BYTES);
    u64::try_from(part).unwrap_or(u64::MAX).saturating_add(columns.saturating_mul(COLUMN_BYTES))
}

/// Those of one name as one; most rows first.
pub fn add_up(all: impl Iterator<Item = DatasetSummary>) -> Vec<DatasetSummary> {
    let mut datasets: BTreeMap<String, (u64, Option<DatasetPlan>)> = BTreeMap::new();
    for DatasetSummary { dataset, rows, plan } in all {
        let sum = datasets.entry(dataset).or_default();
        sum.0 = sum.0.saturating_add(rows);
        sum.1 = match (sum.1, plan) {
            (Some(one), Some(other)) => Some(one.with(other)),
            (one, other) => one.or(other),
        };
    }
    let dataset = |(dataset, (rows, plan))| DatasetSummary { dataset, rows, plan };
    let mut datasets: Vec<_> = datasets.into_iter().map(dataset).collect();
    datasets.sort_by_key(|dataset| std::cmp::Reverse(dataset.rows));
    datasets
}

impl DatasetPlan {
    fn with(self, other: DatasetPlan) -> Self {
        DatasetPlan {
            columns: self.columns.max(other.columns),
            partitions: self.partitions.saturating_add(other.partitions),
            estimated_bytes: self.estimated_bytes.saturating_add(other.estimated_bytes),
        }
    }
}

/// Estimated bytes of all of them; `None` where nothing was estimated.
pub fn estimated_bytes<'a>(datasets: impl Iterator<Item = &'a DatasetSummary>) -> Option<u64> {
    let mut plans = datasets.filter_map(|dataset| dataset.plan).peekable();
    plans.peek()?;
    Some(plans.fold(0, |sum, plan| sum.saturating_add(plan.estimated_bytes)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_counted_per_dataset() {
        let file = |path: &str, rows| FileEntry { path: path.to_owned(), rows, bytes: 1000, ..FileEntry::default() };
        let files = [
            file("events/Small/part-00000-00000.parquet", 5),
            file("events/Big/part-00000-00000.parquet", 4),
            file("events/Big/part-00000-00001.parquet", 3),
            file("events/Big/Start/part-00000-00000.parquet", 1),
            file("sidecar/catalog.parquet", 99),
        ];
        let expected = [("Big", 7), ("Small", 5), ("Big/Start", 1)].map(|(name, rows)| DatasetSummary {
            dataset: name.into(),
            rows,
            plan: None,
        });
        assert_eq!(written(&files), expected);
    }

    #[test]
    fn what_is_planned_adds_up() {
        let plan = |columns, partitions, estimated_bytes| Some(DatasetPlan { columns, partitions, estimated_bytes });
        let of = |dataset: &str, rows, plan| DatasetSummary { dataset: dataset.to_owned(), rows, plan };
        let all = add_up(
            [of("A", 3, plan(20, 1, 2048)), of("B", 9, plan(30, 2, 512)), of("A", 4, plan(22, 1, 1024))].into_iter(),
        );
        assert_eq!(all, [of("B", 9, plan(30, 2, 512)), of("A", 7, plan(22, 2, 3072))]);
        assert_eq!((estimated_bytes(all.iter()), estimated_bytes([of("A", 1, None)].iter())), (Some(3584), None));
    }

    #[test]
    fn an_estimate_follows_the_events() {
        assert_eq!(estimate(180_000, 1, 4, 0), 2500);
        assert_eq!(estimate(180_000, 4, 4, 20), 10_000 + 4000);
        assert_eq!(estimate(u64::MAX, u64::MAX, 1, u64::MAX), u64::MAX);
        assert_eq!(estimate(0, 0, 0, 0), 0);
    }
}
