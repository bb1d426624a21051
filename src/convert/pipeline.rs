//! Pass 2 on one pool: slices in parallel, rows cut in order, row groups in parallel.
//!
//! ```text
//!            ┌► slice ─┐          ┌► encode ► append ─┐
//! plan ──────┼► slice ─┼─► cut ───┼► encode ► append ─┼──► files
//!            └► slice ─┘ in order └► encode ► append ─┘ in order per table
//! ```
//!
//! The calling thread only counts and cuts; reading, decoding, encoding, hashing and writing are tasks of the pool.
//! Slices start while what is in flight fits into the budget; row groups are made of rows that are there anyway, so
//! they start at once and hold slices back instead.

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Mutex, PoisonError};

use rayon::{Scope, ThreadPool};

use super::job::{FileCounts, ShapeCounts};
use super::slice::{self, SliceContext, SliceRows, SlicedPartition, Workspace};
use super::slices::Slice;
use crate::dataset::{BATCH_ROWS, TableWriter};
use crate::error::{Error, ErrorKind, Result};
use crate::plan::DecodeSource;
use crate::survey::{Progress, Step, stop_if_cancelled, timed};
use crate::table::RowStatus;
use crate::table::{CompletedRowGroup, OPEN_WEIGHT, RowGroupCutter};

/// What bounds the work in flight.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Rows at which a row group closes.
    pub row_group_rows: u32,
    /// Bytes of memory.
    pub memory: u64,
}

/// What pass 2 counted.
#[derive(Debug, Default)]
pub struct Counts {
    /// Per file.
    pub files: Vec<FileCounts>,
    /// Per shape.
    pub shapes: Vec<ShapeCounts>,
    /// Rows per source and status.
    pub decode: BTreeMap<(DecodeSource, RowStatus), u64>,
    /// Time of the first and the last event.
    pub time_range: Option<(i64, i64)>,
}

/// Memory that is not slices and row groups in work: code, catalog, file buffers.
const RESERVE: u64 = 64 << 20;

/// Memory of a table to the end: schema, the settings of its writer, and the heads of its columns in open groups, which
/// their weight leaves out.
const TABLE_RESERVE: u64 = 48 << 10;

/// The least that slices and row groups in work may take; below that nothing would run side by side.
const LEAST_IN_FLIGHT: u64 = 64 << 20;

/// Groups with fewer rows are encoded by one thread.
const PARALLEL_ROWS: usize = 1 << 16;

/// Converts all slices of the plan into the tables of the writers (by table number).
///
/// # Errors
/// The first failure of any part; [`ErrorKind::Interrupted`] when the caller asked to stop.
pub fn run(
    pool: &ThreadPool,
    context: SliceContext<'_>,
    partition: &SlicedPartition<'_>,
    writers: &[TableWriter],
    limits: Limits,
    progress: &dyn Progress,
) -> Result<Counts> {
    let workspaces = Workspaces::default();
    pool.in_place_scope(|scope| {
        let (sender, receiver) = channel();
        let reserve = OPEN_WEIGHT + RESERVE + TABLE_RESERVE.saturating_mul(writers.len() as u64);
        let mut state = State {
            context,
            partition,
            writers,
            workspaces: &workspaces,
            sender,
            cutter: RowGroupCutter::new(context.columns, limits.row_group_rows),
            allowance: limits.memory.saturating_sub(reserve).max(LEAST_IN_FLIGHT),
            progress,
            max_slices: 2 * pool.current_num_threads(),
            next_slice: 0,
            next_absorbed: 0,
            waiting: BTreeMap::new(),
            rest: None,
            slices_in_flight: 0,
            groups_in_flight: 0,
            cost_in_flight: 0,
            counts: Counts {
                files: partition
                    .slices
                    .damaged
                    .iter()
                    .map(|&damaged| FileCounts { damaged, ..FileCounts::default() })
                    .collect(),
                shapes: vec![ShapeCounts::default(); context.plan.shapes.len()],
                ..Counts::default()
            },
            failure: None,
        };
        state.work(scope, &receiver);
        state.failure.map_or(Ok(state.counts), Err)
    })
}

/// A finished task.
enum Done {
    Slice(usize, Result<Box<SliceRows>>),
    Group(u64, Result<()>),
}

struct State<'a> {
    context: SliceContext<'a>,
    partition: &'a SlicedPartition<'a>,
    writers: &'a [TableWriter],
    workspaces: &'a Workspaces,
    sender: Sender<Done>,
    progress: &'a dyn Progress,
    cutter: RowGroupCutter,
    /// Bytes that slices and groups in work may take together.
    allowance: u64,
    max_slices: usize,
    next_slice: usize,
    /// The slice that the cutter takes next.
    next_absorbed: usize,
    /// Slices, or first parts of them, that finished before their turn, and what they cost.
    waiting: BTreeMap<usize, (Box<SliceRows>, u64)>,
    /// Where the slice that the cutter takes next goes on, after a part of it was taken.
    rest: Option<usize>,
    slices_in_flight: usize,
    groups_in_flight: usize,
    cost_in_flight: u64,
    counts: Counts,
    failure: Option<Error>,
}

impl<'a> State<'a> {
    fn work<'scope>(&mut self, scope: &Scope<'scope>, receiver: &Receiver<Done>)
    where
        'a: 'scope,
    {
        let total = self.partition.slices.len();
        let mut is_flushed = false;
        loop {
            self.fail(stop_if_cancelled(self.progress).err());
            self.start_slices(scope);
            let is_absorbed = self.next_absorbed == total;
            if is_absorbed && !is_flushed && self.failure.is_none() {
                is_flushed = true;
                let groups = timed(self.progress, Step::Gate, || self.cutter.finish());
                groups.into_iter().for_each(|group| self.start_group(scope, group));
            }
            if self.slices_in_flight + self.groups_in_flight == 0 {
                return;
            }
            match receiver.recv().expect("this thread holds a sender itself") {
                Done::Slice(number, rows) => self.finish_slice(scope, number, rows),
                Done::Group(cost, outcome) => {
                    self.groups_in_flight -= 1;
                    self.cost_in_flight -= cost;
                    self.fail(outcome.err());
                }
            }
        }
    }

    fn fail(&mut self, error: Option<Error>) {
        if let (None, Some(error)) = (&self.failure, error) {
            self.failure = Some(error);
        }
    }

    fn start_slices<'scope>(&mut self, scope: &Scope<'scope>)
    where
        'a: 'scope,
    {
        let (context, partition) = (self.context, self.partition);
        while self.failure.is_none() && self.slices_in_flight < self.max_slices {
            let (number, from) = self.rest.map_or((self.next_slice, 0), |rest| (self.next_absorbed, rest));
            let Some(slice) = partition.slices.get(number) else { return };
            let cost = slice.cost();
            // What is more than the allowance goes alone: row groups in work end by themselves, and make room. What
            // other slices hold is given back only behind the rest of this one.
            let is_alone = if from > 0 { self.groups_in_flight == 0 } else { self.cost_in_flight == 0 };
            if !is_alone && self.cost_in_flight + cost > self.allowance {
                return;
            }
            if self.rest.take().is_none() {
                self.next_slice += 1;
            }
            self.slices_in_flight += 1;
            self.cost_in_flight += cost;
            let (sender, workspaces, progress) = (self.sender.clone(), self.workspaces, self.progress);
            scope.spawn(move |_| {
                let convert =
                    |workspace: &mut Workspace| slice::convert(context, partition, slice, from, workspace, progress);
                let rows = caught(|| workspaces.with(convert));
                // The receiver lives until every task is done.
                let _ = sender.send(Done::Slice(number, rows.map(Box::new)));
            });
        }
    }

    fn finish_slice<'scope>(&mut self, scope: &Scope<'scope>, number: usize, rows: Result<Box<SliceRows>>)
    where
        'a: 'scope,
    {
        self.slices_in_flight -= 1;
        match rows {
            Ok(rows) => {
                self.progress.advance(rows.events);
                let planned = self.partition.slices.get(number).map_or(0, Slice::cost);
                let cost = rows.weight().max(planned);
                self.cost_in_flight += cost - planned;
                self.waiting.insert(number, (rows, cost));
            }
            Err(error) => self.fail(Some(error)),
        }
        while let Some((rows, cost)) = self.waiting.remove(&self.next_absorbed) {
            self.cost_in_flight -= cost;
            self.rest = rows.rest;
            self.next_absorbed += usize::from(self.rest.is_none());
            let groups = timed(self.progress, Step::Gate, || self.absorb(*rows));
            groups.into_iter().for_each(|group| self.start_group(scope, group));
        }
    }

    /// Counts the rows of the next slice in order and passes them through the cutter.
    fn absorb(&mut self, rows: SliceRows) -> Vec<CompletedRowGroup> {
        let counts = &mut self.counts;
        if let (Some((first, input)), Some(last)) = (rows.first, rows.last_ns) {
            let tie = counts.time_range.is_some_and(|(_, previous)| previous == first);
            counts.files[usize::from(input)].ties += u64::from(tie);
            let earliest = counts.time_range.map_or(first, |(earliest, _)| earliest);
            counts.time_range = Some((earliest, last));
        }
        counts.files.iter_mut().zip(&rows.files).for_each(|(all, file)| all.add(file));
        for (shape, count) in rows.shapes {
            counts.shapes[shape as usize].add(&count);
        }
        for (key, count) in rows.decode {
            *counts.decode.entry(key).or_default() += count;
        }
        self.cutter.push(rows.chunks)
    }

    fn start_group<'scope>(&mut self, scope: &Scope<'scope>, closed: CompletedRowGroup)
    where
        'a: 'scope,
    {
        let CompletedRowGroup { table, ordinal, group, weight } = closed;
        let rows = group.parts.iter().map(|(_, range)| range.len()).sum::<usize>();
        // A batch of it becomes Arrow beside the packed values; of few and heavy rows, all of it does.
        let cost = weight.saturating_add(weight.saturating_mul(BATCH_ROWS as u64) / (rows.max(BATCH_ROWS) as u64));
        self.groups_in_flight += 1;
        self.cost_in_flight += cost;
        let (sender, writers, progress) = (self.sender.clone(), self.writers, self.progress);
        scope.spawn(move |_| {
            let outcome = caught(|| {
                let writer = &writers[table as usize];
                let encoded =
                    if rows < PARALLEL_ROWS { writer.encode(&group)? } else { writer.encode_parallel(&group)? };
                progress.worked(Step::Columns, encoded.time().columns);
                progress.worked(Step::Encode, encoded.time().encode);
                timed(progress, Step::Columns, || drop(group));
                timed(progress, Step::Write, || writer.append(ordinal, encoded))
            });
            let _ = sender.send(Done::Group(cost, outcome));
        });
    }
}

/// The workspaces that no slice is using; there are never more than workers.
#[derive(Default)]
struct Workspaces(Mutex<Vec<Workspace>>);

impl Workspaces {
    fn with<T>(&self, work: impl FnOnce(&mut Workspace) -> Result<T>) -> Result<T> {
        // Only whole workspaces are put back, so a poisoned list is whole, too.
        let idle = || self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let mut workspace = idle().pop().unwrap_or_default();
        let done = work(&mut workspace)?;
        idle().push(workspace);
        Ok(done)
    }
}

/// A panic is a bug; it must not leave the other tasks waiting for this one.
fn caught<T>(work: impl FnOnce() -> Result<T>) -> Result<T> {
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|panic| {
        let text = panic.downcast_ref::<String>().map(String::as_str).or(panic.downcast_ref::<&str>().copied());
        let message = format!("a worker failed: {}", text.unwrap_or("no reason given"));
        Err(Error::new(ErrorKind::Internal, message).with_hint("this is a bug: please report it"))
    })
}

impl FileCounts {
    fn add(&mut self, other: &FileCounts) {
        self.damaged += other.damaged;
        self.filtered += other.filtered;
        self.ties += other.ties;
        self.saturated_times += other.saturated_times;
        if other.double_formula_error_ns.unsigned_abs() > self.double_formula_error_ns.unsigned_abs() {
            self.double_formula_error_ns = other.double_formula_error_ns;
        }
    }
}

impl ShapeCounts {
    fn add(&mut self, other: &ShapeCounts) {
        self.rows += other.rows;
        self.ok_rows += other.ok_rows;
        self.payload_bytes += other.payload_bytes;
    }
}
