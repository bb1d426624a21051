//! Converts partitions of a plan: what one process does for all of them, or several for one each.

use std::sync::Arc;

use base::error::Result;
use columnar::output::Output;
use spill::SpillSpace;

use super::decoders::Decoders;
use super::part_report::PartReport;
use super::pipeline::{self, Limits, Threads};
use super::slice::SliceContext;
use super::tables::TableSetup;
use super::whose::AskedNames;
use super::write_options::WriteOptions;
use crate::dimensions::Owners;
use crate::plan::{PartitionView, PlanResult, PlannedInputs};
use crate::stacks::Stacks;
use crate::survey::Progress;

/// What a conversion of partitions needs besides them.
#[derive(Debug)]
pub struct Conversion<'a> {
    /// The plan.
    pub plan: &'a PlanResult,
    /// The inputs of the recording.
    pub inputs: &'a PlannedInputs<'a>,
    /// The processes of the recording and their threads.
    pub owners: &'a Owners<'a>,
    /// The stacks of events that others tell.
    pub stacks: &'a Stacks,
    /// How to write.
    pub options: &'a WriteOptions,
    /// Where to write.
    pub output: Arc<dyn Output>,
    /// Bytes of memory for what is in work.
    pub memory: u64,
    /// For what does not fit into memory.
    pub space: &'a SpillSpace,
}

impl Conversion<'_> {
    /// Converts partitions in their order: every event that the filters pass becomes a row of its table.
    ///
    /// # Errors
    /// Of the kind `Input` or `Internal` when an input cannot be read or has changed, `Output` when a file cannot be
    /// written, `Interrupted` when the caller asked to stop.
    pub fn run(
        &self,
        threads: Threads<'_>,
        partitions: &[PartitionView<'_>],
        progress: &dyn Progress,
    ) -> Result<Vec<PartReport>> {
        let Conversion { plan, inputs, owners, stacks, options, ref output, memory, space } = *self;
        let setup = TableSetup { plan, inputs, options, output: Arc::clone(output), names: owners.names() };
        let prepare = || Ok((setup.tables(progress)?, Decoders::new(plan, progress)?));
        let ((columns, writers), decoders) = match threads {
            Threads::Pool(pool) => pool.install(prepare),
            Threads::Caller => prepare(),
        }?;
        let asked = plan.filter.as_ref().map(|filter| AskedNames::of(filter, owners));
        let context = SliceContext {
            plan,
            decoders: &decoders,
            columns: &columns,
            owners,
            stacks,
            asked: asked.as_ref(),
            raw: options.raw,
        };
        let limits = Limits { row_group_rows: options.row_group_rows, memory };
        pipeline::run(threads, context, partitions, &writers, limits, space, progress)
    }
}
