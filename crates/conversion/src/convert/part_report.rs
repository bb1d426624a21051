//! What became of a partition, and how that of several adds up.

use std::collections::BTreeMap;

use columnar::output::FileEntry;
use serde::{Deserialize, Serialize};

use super::counts::{InputCounts, ShapeCounts};
use super::seen::SeenIds;
use super::slice::SliceRows;
use super::sliced::SlicedPartition;
use crate::plan::DecodeSource;
use crate::table::RowStatus;

/// What became of a partition.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PartReport {
    /// Number of the partition.
    pub partition: u32,
    /// Its files, by table.
    pub files: Vec<FileEntry>,
    /// What was counted, by number of the input.
    pub inputs: Vec<(u16, InputCounts)>,
    /// What was counted, by number of the shape.
    pub shapes: Vec<(u32, ShapeCounts)>,
    /// Rows by `<source>/<status>`.
    pub decode: BTreeMap<String, u64>,
    /// Whose the rows are, where filters ask for that.
    #[serde(default)]
    pub seen: SeenIds,
    /// Time in nanoseconds and input of the first row.
    pub first_row: Option<(i64, u16)>,
    /// Time of the last row in nanoseconds.
    pub last_row: Option<i64>,
}

impl PartReport {
    /// The name of what became of a row: `<source>/<status>`.
    pub(super) fn outcome(source: DecodeSource, status: RowStatus) -> String {
        format!("{}/{}", source.name(), status.name())
    }
}

/// What is counted while a partition is converted.
#[derive(Debug, Default)]
pub(super) struct PartCounts {
    inputs: Vec<InputCounts>,
    shapes: Vec<ShapeCounts>,
    decode: BTreeMap<(DecodeSource, RowStatus), u64>,
    seen: SeenIds,
    first_row: Option<(i64, u16)>,
    last_row: Option<i64>,
}

impl PartCounts {
    /// What is known before the first slice.
    pub(super) fn new(partition: &SlicedPartition<'_>, shapes: usize) -> Self {
        let counts = partition.slices.damaged.iter().zip(&partition.skipped);
        let inputs = counts.map(|(&damaged, &filtered)| InputCounts { damaged, filtered, ..InputCounts::default() });
        PartCounts { inputs: inputs.collect(), shapes: vec![ShapeCounts::default(); shapes], ..PartCounts::default() }
    }

    /// Adds the rows of the next slice in order.
    pub(super) fn add(&mut self, rows: &SliceRows) {
        if let (Some((first, input)), Some(last)) = (rows.first, rows.last_ns) {
            self.inputs[usize::from(input)].ties += u64::from(self.last_row == Some(first));
            self.first_row = self.first_row.or(rows.first);
            self.last_row = Some(last);
        }
        self.inputs.iter_mut().zip(&rows.inputs).for_each(|(all, input)| all.add(input));
        self.seen.merge(&rows.seen);
        for (&shape, count) in &rows.shapes {
            self.shapes[shape as usize].add(count);
        }
        for (&key, count) in &rows.decode {
            *self.decode.entry(key).or_default() += count;
        }
    }

    /// The report, once the files are written.
    pub(super) fn report(self, partition: u32, files: Vec<FileEntry>) -> PartReport {
        let named =
            |((source, status), rows): ((DecodeSource, RowStatus), u64)| (PartReport::outcome(source, status), rows);
        let shapes = (0..).zip(self.shapes).filter(|(_, counts)| *counts != ShapeCounts::default());
        let inputs = (0..=u16::MAX).zip(self.inputs).filter(|(_, counts)| *counts != InputCounts::default());
        PartReport {
            partition,
            files,
            inputs: inputs.collect(),
            shapes: shapes.collect(),
            decode: self.decode.into_iter().map(named).collect(),
            seen: self.seen,
            first_row: self.first_row,
            last_row: self.last_row,
        }
    }
}

/// What became of all events of a recording.
#[derive(Debug, Default)]
pub struct JoinedCounts {
    /// Per input.
    pub inputs: Vec<InputCounts>,
    /// Per shape.
    pub shapes: Vec<ShapeCounts>,
    /// Rows by `<source>/<status>`.
    pub decode: BTreeMap<String, u64>,
    /// Whose the rows are, where filters ask for that.
    pub seen: SeenIds,
    /// Time in nanoseconds of the first and the last row.
    pub time_range: Option<(i64, i64)>,
}

impl JoinedCounts {
    /// Adds up the reports of partitions, which come in their order. Sums end at the largest number: a report that was
    /// stored may say anything. What names an input or a shape that is not there is
    /// left out.
    pub fn of(reports: &[PartReport], inputs: usize, shapes: usize) -> Self {
        let mut joined = JoinedCounts {
            inputs: vec![InputCounts::default(); inputs],
            shapes: vec![ShapeCounts::default(); shapes],
            ..JoinedCounts::default()
        };
        for report in reports {
            joined.add(report);
        }
        joined
    }

    fn add(&mut self, report: &PartReport) {
        self.seen.merge(&report.seen);
        for (input, counts) in &report.inputs {
            if let Some(all) = self.inputs.get_mut(usize::from(*input)) {
                all.add(counts);
            }
        }
        for (shape, counts) in &report.shapes {
            if let Some(all) = self.shapes.get_mut(*shape as usize) {
                all.add(counts);
            }
        }
        for (key, rows) in &report.decode {
            let all = self.decode.entry(key.clone()).or_default();
            *all = all.saturating_add(*rows);
        }
        let (Some((first, input)), Some(last)) = (report.first_row, report.last_row) else { return };
        if let (Some((_, previous)), Some(all)) = (self.time_range, self.inputs.get_mut(usize::from(input))) {
            all.ties = all.ties.saturating_add(u64::from(previous == first));
        }
        self.time_range = Some((self.time_range.map_or(first, |(earliest, _)| earliest), last));
    }
}

impl InputCounts {
    fn add(&mut self, other: &InputCounts) {
        self.damaged = self.damaged.saturating_add(other.damaged);
        self.filtered = self.filtered.saturating_add(other.filtered);
        self.ties = self.ties.saturating_add(other.ties);
        self.saturated_times = self.saturated_times.saturating_add(other.saturated_times);
        if other.double_formula_error_ns.unsigned_abs() > self.double_formula_error_ns.unsigned_abs() {
            self.double_formula_error_ns = other.double_formula_error_ns;
        }
    }
}

impl ShapeCounts {
    fn add(&mut self, other: &ShapeCounts) {
        self.rows = self.rows.saturating_add(other.rows);
        self.ok_rows = self.ok_rows.saturating_add(other.ok_rows);
        self.payload_bytes = self.payload_bytes.saturating_add(other.payload_bytes);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn report(partition: u32, rows: Option<((i64, u16), i64)>, counts: InputCounts) -> PartReport {
        let (first_row, last_row) = rows.unzip();
        PartReport { partition, inputs: vec![(1, counts)], first_row, last_row, ..PartReport::default() }
    }

    #[test]
    fn equal_times_at_a_seam_are_ties_of_the_input_behind_it() {
        let ties = |ties| InputCounts { ties, ..InputCounts::default() };
        let reports = [
            report(0, Some(((10, 1), 20)), ties(2)),
            report(1, None, ties(0)),
            report(2, Some(((20, 0), 20)), ties(1)),
            report(3, Some(((21, 1), 30)), ties(0)),
        ];
        let joined = JoinedCounts::of(&reports, 2, 0);
        assert_eq!([joined.inputs[0].ties, joined.inputs[1].ties], [1, 3]);
        assert_eq!(joined.time_range, Some((10, 30)));
    }

    #[test]
    fn the_largest_error_is_the_first_of_equals() {
        let error = |error| InputCounts { double_formula_error_ns: error, ..InputCounts::default() };
        let reports = [report(0, None, error(-100)), report(1, None, error(100)), report(2, None, error(50))];
        assert_eq!(JoinedCounts::of(&reports, 2, 0).inputs[1].double_formula_error_ns, -100);
    }
}
