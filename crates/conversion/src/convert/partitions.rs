//! Converts partitions of a plan: what one process does for all of them, or several for one each.

use std::sync::Arc;

use base::error::Result;
use base::progress::Progress;
use columnar::output::Output;
use rayon::ThreadPool;
use spill::SpillSpace;

use super::attribution::MatchingNames;
use super::decoders::Decoders;
use super::file_sink::FileSink;
use super::group_sink::GroupSink;
use super::part_report::PartReport;
use super::pipeline::{self, Limits, Threads};
use super::slice::SliceContext;
use super::stream_sink::StreamSink;
use super::tables::TableSetup;
use super::write_options::WriteOptions;
use crate::dimensions::{Owners, TakesFacts};
use crate::plan::{CompiledFilter, PartitionView, PlanResult, PlannedInputs};
use crate::stacks::Stacks;
use crate::table::TableColumns;

/// What a conversion of partitions needs besides them.
#[derive(Debug)]
pub struct Conversion<'a> {
    /// The plan.
    pub plan: &'a PlanResult,
    /// Which events become rows; `None` where all of them do.
    pub filter: Option<&'a CompiledFilter>,
    /// The inputs of the recording.
    pub inputs: &'a PlannedInputs<'a>,
    /// The processes of the recording and their threads.
    pub owners: &'a Owners<'a>,
    /// What takes the facts of subjects of which no row asks, where they are not gathered yet.
    pub late: Option<&'a dyn TakesFacts>,
    /// The stacks of events that other events record.
    pub stacks: &'a Stacks,
    /// How rows are made, and files written.
    pub options: &'a WriteOptions,
    /// Bytes of memory for what is in work.
    pub memory: u64,
    /// For what does not fit into memory.
    pub space: &'a SpillSpace,
}

impl Conversion<'_> {
    /// Converts partitions in their order to files: every event that the filter passes becomes a row of its table.
    ///
    /// # Errors
    /// Of the kind `Input` or `Internal` when an input cannot be read or has changed, `Output` when a file cannot be
    /// written, `Interrupted` when the caller asked to stop.
    pub fn write(
        &self,
        threads: Threads<'_>,
        partitions: &[PartitionView<'_>],
        output: &Arc<dyn Output>,
        progress: &dyn Progress,
    ) -> Result<Vec<PartReport>> {
        let setup = self.tables();
        let sink = |columns: &[Arc<TableColumns>]| Ok(FileSink { writers: setup.writers(columns, output, progress)? });
        self.run(threads, partitions, &setup, sink, progress)
    }

    /// Converts partitions in their order, and hands the row groups to a reader.
    ///
    /// # Errors
    /// Those of [`Conversion::write`]; [`ErrorKind::Interrupted`](base::error::ErrorKind::Interrupted), too, when the
    /// reader is gone.
    pub fn send(
        &self,
        pool: &ThreadPool,
        partitions: &[PartitionView<'_>],
        sink: StreamSink,
        progress: &dyn Progress,
    ) -> Result<Vec<PartReport>> {
        self.run(Threads::Pool(pool), partitions, &self.tables(), |_| Ok(sink), progress)
    }

    fn tables(&self) -> TableSetup<'_> {
        let Conversion { plan, inputs, options, owners, .. } = *self;
        TableSetup { plan, inputs, options, names: owners.names() }
    }

    fn run<S: GroupSink + Send>(
        &self,
        threads: Threads<'_>,
        partitions: &[PartitionView<'_>],
        setup: &TableSetup<'_>,
        sink: impl FnOnce(&[Arc<TableColumns>]) -> Result<S> + Send,
        progress: &dyn Progress,
    ) -> Result<Vec<PartReport>> {
        let Conversion { plan, filter, owners, late, stacks, options, memory, space, .. } = *self;
        let prepare = || {
            let columns = setup.columns(progress)?;
            let sink = sink(&columns)?;
            Ok((columns, sink, Decoders::new(plan, progress)?))
        };
        let (columns, sink, decoders) = match threads {
            Threads::Pool(pool) => pool.install(prepare),
            Threads::Caller => prepare(),
        }?;
        let asked = filter.map(|filter| MatchingNames::of(filter, owners));
        let context = SliceContext {
            plan,
            filter,
            decoders: &decoders,
            columns: &columns,
            owners,
            stacks,
            asked: asked.as_ref(),
            raw: options.raw,
            late,
        };
        let limits = Limits { row_group_rows: options.row_group_rows, memory };
        pipeline::run(threads, context, partitions, &sink, limits, space, progress)
    }
}
