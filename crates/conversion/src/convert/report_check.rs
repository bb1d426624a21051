//! Whether a report that was read can be what became of a partition: what comes from a file is not believed.

use std::collections::{HashMap, HashSet};

use columnar::dataset::part_path;

use super::part_report::PartReport;
use crate::plan::{DecodeSource, Partition, PlanFile};
use crate::table::RowStatus;

/// What a report on a partition of a plan may name.
#[derive(Debug)]
pub struct ReportRules<'a> {
    inputs: usize,
    shapes: usize,
    datasets: HashSet<&'a str>,
    /// All `<source>/<status>`.
    outcomes: HashSet<String>,
}

impl<'a> ReportRules<'a> {
    /// What the reports on the partitions of this plan may name.
    pub fn of(plan: &'a PlanFile) -> Self {
        let outcome = |source: DecodeSource| RowStatus::ALL.map(|status| PartReport::outcome(source, status));
        ReportRules {
            inputs: plan.inputs.len(),
            shapes: plan.result.shapes.len(),
            datasets: plan.result.tables.iter().map(|table| table.dataset.as_str()).collect(),
            outcomes: DecodeSource::ALL.into_iter().flat_map(outcome).collect(),
        }
    }

    /// Makes sure that a report is of this partition, names nothing that is not there, and that its counts agree.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn check(&self, report: &PartReport, partition: &Partition) -> Result<(), &'static str> {
        let ids = |count: usize, numbers: &[usize]| {
            numbers.is_sorted_by(|a, b| a < b) && numbers.iter().all(|number| *number < count)
        };
        let inputs: Vec<usize> = report.inputs.iter().map(|(input, _)| usize::from(*input)).collect();
        let shapes: Vec<usize> = report.shapes.iter().map(|(shape, _)| *shape as usize).collect();
        match () {
            () if report.partition != partition.number => Err("another partition"),
            () if !self.has_own_files(report) => Err("files of another partition or of none of its tables"),
            () if !ids(self.inputs, &inputs) => Err("inputs that the plan does not have"),
            () if !ids(self.shapes, &shapes) => Err("event shapes that the plan does not have"),
            () if !report.decode.keys().all(|outcome| self.outcomes.contains(outcome)) => {
                Err("outcomes of decoding that there are not")
            }
            () if report.shapes.iter().any(|(_, counts)| counts.ok_rows > counts.rows) => {
                Err("more decoded rows than rows")
            }
            () => self.check_rows(report, partition),
        }
    }

    /// Whether the files are those that the tables of the partition have, each once and in order.
    fn has_own_files(&self, report: &PartReport) -> bool {
        let mut files: HashMap<&str, usize> = HashMap::new();
        report.files.iter().all(|file| {
            let place = file.path.rsplit_once('/').map(|(folder, _)| folder);
            let Some(folder) = place else { return false };
            let number = files.entry(folder).or_default();
            let is_next = file.path == part_path(folder, report.partition, *number);
            *number += 1;
            is_next && folder.strip_prefix("events/").is_some_and(|dataset| self.datasets.contains(dataset))
        })
    }

    /// The rows of files, shapes and outcomes are the same, have times if there are any, and with what was left out they are
    /// the events of the partition.
    fn check_rows(&self, report: &PartReport, partition: &Partition) -> Result<(), &'static str> {
        let in_files = report.files.iter().map(|file| file.rows).try_fold(0, u64::checked_add);
        let of_shapes = report.shapes.iter().map(|(_, counts)| counts.rows).try_fold(0, u64::checked_add);
        let decoded = report.decode.values().copied().try_fold(0, u64::checked_add);
        let Some(rows) = in_files else { return Err("more rows than can be counted") };
        if of_shapes != in_files {
            return Err("other rows of event shapes than in files");
        }
        if decoded != in_files {
            return Err("other rows of decoding than in files");
        }
        let left_out = report.inputs.iter().flat_map(|(_, counts)| [counts.filtered, counts.damaged]);
        if left_out.chain([rows]).try_fold(0, u64::checked_add) != partition.events.checked_add(partition.damaged) {
            return Err("other events than the plan has");
        }
        match (report.first_row, report.last_row) {
            (None, None) if rows == 0 => Ok(()),
            (Some((first, input)), Some(last)) if rows > 0 && first <= last && usize::from(input) < self.inputs => {
                Ok(())
            }
            _ => Err("other times than those of its rows"),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use columnar::output::FileEntry;

    use super::*;
    use crate::convert::{InputCounts, ShapeCounts};
    use crate::plan::KeyRange;

    fn file(path: &str, rows: u64) -> FileEntry {
        FileEntry { path: path.to_owned(), rows, bytes: 9, ..FileEntry::default() }
    }

    fn partition(events: u64) -> Partition {
        Partition {
            number: 2,
            range: KeyRange::default(),
            first_seq: 9,
            events,
            damaged: 1,
            slice_bytes: 0,
            segments: 0,
        }
    }

    fn report() -> PartReport {
        let counts = |rows| ShapeCounts { rows, ok_rows: rows, payload_bytes: 0 };
        PartReport {
            partition: 2,
            files: vec![
                file("events/A/part-00002-00000.parquet", 3),
                file("events/A/part-00002-00001.parquet", 1),
                file("events/B/part-00002-00000.parquet", 2),
            ],
            inputs: vec![(1, InputCounts { damaged: 1, filtered: 4, ..InputCounts::default() })],
            shapes: vec![(0, counts(4)), (3, counts(2))],
            decode: BTreeMap::from([("kernel/ok".to_owned(), 5), ("none/no_schema".to_owned(), 1)]),
            first_row: Some((7, 1)),
            last_row: Some(7),
            ..PartReport::default()
        }
    }

    #[test]
    fn a_report_that_contradicts_itself_or_the_plan_is_refused() {
        let outcomes = ["kernel/ok", "none/no_schema"].map(str::to_owned).into();
        let rules = ReportRules { inputs: 2, shapes: 4, datasets: ["A", "B"].into(), outcomes };
        assert_eq!(rules.check(&report(), &partition(10)), Ok(()));
        let t = |expected: &'static str, change: &dyn Fn(&mut PartReport)| {
            let mut report = report();
            change(&mut report);
            assert_eq!(rules.check(&report, &partition(10)), Err(expected));
        };
        t("another partition", &|report| report.partition = 1);
        let files = "files of another partition or of none of its tables";
        t(files, &|report| report.files.swap(0, 1));
        t(files, &|report| report.files[2].path = "events/C/part-00002-00000.parquet".to_owned());
        t(files, &|report| report.files[2].path = "events/A/part-00002-00001.parquet".to_owned());
        t(files, &|report| report.files[2].path = "events/B/part-00003-00000.parquet".to_owned());
        t(files, &|report| report.files[2].path = "part-00002-00000.parquet".to_owned());
        t("inputs that the plan does not have", &|report| report.inputs[0].0 = 2);
        t("inputs that the plan does not have", &|report| report.inputs.push((1, InputCounts::default())));
        t("event shapes that the plan does not have", &|report| report.shapes[1].0 = 4);
        t("event shapes that the plan does not have", &|report| report.shapes[1].0 = 0);
        t("outcomes of decoding that there are not", &|report| _ = report.decode.insert("kernel/none".to_owned(), 0));
        t("more decoded rows than rows", &|report| report.shapes[1].1.ok_rows = 3);
        t("more rows than can be counted", &|report| report.files[0].rows = u64::MAX);
        t("other rows of event shapes than in files", &|report| report.shapes[0].1.rows = 5);
        t("other rows of decoding than in files", &|report| _ = report.decode.insert("kernel/ok".to_owned(), 6));
        let times = "other times than those of its rows";
        t(times, &|report| report.first_row = None);
        t(times, &|report| report.last_row = Some(6));
        t(times, &|report| report.first_row = Some((7, 2)));
        t("other events than the plan has", &|report| report.inputs[0].1.filtered = 3);
        t("other events than the plan has", &|report| report.inputs[0].1.filtered = u64::MAX);
        let none = PartReport { files: Vec::new(), shapes: Vec::new(), decode: BTreeMap::new(), ..report() };
        assert_eq!(rules.check(&none, &partition(4)), Err(times));
        let none = PartReport { first_row: None, last_row: None, ..none };
        assert_eq!(rules.check(&none, &partition(4)), Ok(()));
    }
}
