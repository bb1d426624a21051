//! Row groups to Parquet files: encoded on any thread, appended in the order of their rows.

use base::error::Result;
use base::progress::{Progress, Step, stop_if_cancelled, timed};
use columnar::columns::RowSource as _;
use columnar::dataset::TableWriter;
use columnar::output::FileEntry;
use rayon::prelude::*;

use super::group_sink::{Charge, GroupSink};
use crate::table::CompletedRowGroup;

/// Groups with fewer rows are encoded by one thread.
const PARALLEL_ROWS: usize = 1 << 16;

/// Memory of a table to the end: schema, the settings of its writer, and the heads of its columns in open groups, which
/// their weight leaves out.
pub const TABLE_RESERVE: u64 = 48 << 10;

/// Writes the row groups of every table to files of the table.
#[derive(Debug)]
pub struct FileSink {
    /// By number of the table.
    pub writers: Vec<TableWriter>,
}

impl GroupSink for FileSink {
    type Part = Vec<TableWriter>;

    fn reserve(&self) -> u64 {
        TABLE_RESERVE.saturating_mul(self.writers.len() as u64)
    }

    fn part(&self, partition: u32) -> Self::Part {
        self.writers.iter().map(|writer| writer.for_partition(partition)).collect()
    }

    fn take(&self, part: &Self::Part, closed: CompletedRowGroup, _: Charge, progress: &dyn Progress) -> Result<()> {
        let CompletedRowGroup { table, ordinal, group, .. } = closed;
        let writer = &part[table as usize];
        let encoded =
            if group.rows() < PARALLEL_ROWS { writer.encode(&group)? } else { writer.encode_parallel(&group)? };
        progress.worked(Step::Columns, encoded.time().columns);
        progress.worked(Step::Encode, encoded.time().encode);
        timed(progress, Step::Columns, || drop(group));
        timed(progress, Step::Write, || writer.append(ordinal, encoded))
    }

    /// The files are listed in the order of tables.
    fn finish(&self, part: Self::Part, progress: &dyn Progress) -> Result<Vec<FileEntry>> {
        let finish = |writer: TableWriter| {
            stop_if_cancelled(progress)?;
            timed(progress, Step::Write, || writer.finish())
        };
        let files: Vec<Vec<FileEntry>> = part.into_par_iter().map(finish).collect::<Result<_>>()?;
        Ok(files.into_iter().flatten().collect())
    }
}
