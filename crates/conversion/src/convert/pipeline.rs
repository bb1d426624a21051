//! Pass 2 on one pool: slices in parallel, one ordered cutter, row groups in parallel.
//!
//! ```text
//!            ┌► slice ─┐            ┌► row group ─┐
//! plan ──────┼► slice ─┼─► cutter ──┼► row group ─┼──► sink: files, or a reader
//!            └► slice ─┘ in order   └► row group ─┘
//! ```
//!
//! The calling thread only counts and cuts; reading and decoding are tasks of the pool, and so is what the sink does with
//! a row group. Slices start while what is in flight fits into the budget; row groups are made of rows that are there
//! anyway, so they start at once and hold slices back instead, until the sink gives back what they are charged.
//!
//! Partitions follow one another without a pause: while the slices of one are converted, those of the next are laid out,
//! and they start while the row groups of the first are still encoded. Since slices pass the cutter in order, only one
//! partition has open row groups at a time.

use std::collections::{BTreeMap, VecDeque};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};

use base::error::{Error, Result};
use base::progress::{Progress, Step, stop_if_cancelled, timed};
use columnar::columns::RowSource as _;
use columnar::dataset::BATCH_ROWS;
use columnar::output::FileEntry;
use rayon::{Scope, ThreadPool};
use spill::SpillSpace;

use super::group_sink::{Charge, GroupSink};
use super::part_report::{PartCounts, PartReport};
use super::slice::{self, SliceContext, SliceRows, Workspace};
use super::sliced::SlicedPartition;
use super::slices::{Slice, Slices};
use crate::dimensions::TakesFacts;
use crate::plan::PartitionView;
use crate::table::{CompletedRowGroup, OPEN_WEIGHT, RowGroupCutter};

/// What bounds the work in flight.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Rows at which a row group closes.
    pub row_group_rows: u32,
    /// Bytes of memory.
    pub memory: u64,
}

/// Memory that is not slices and row groups in work: code, catalog, file buffers.
pub const RESERVE: u64 = 64 << 20;

/// The least that slices and row groups in work may take; below that nothing would run side by side.
const LEAST_IN_FLIGHT: u64 = 64 << 20;

/// What it takes to lay out the slices of a partition beside the work on another.
const LAYOUT_COST: u64 = 32 << 20;

/// Which threads do the work.
#[derive(Clone, Copy, Debug)]
pub enum Threads<'a> {
    /// All of a pool; the calling thread is none of them.
    Pool(&'a ThreadPool),
    /// The calling one, which may be of a pool: for recordings so small that handing over parts of them takes longer.
    Caller,
}

/// Converts partitions, in their order, into row groups for a sink, and says what became of each. Returns once the sink
/// has given back what all row groups are charged.
///
/// # Errors
/// The first failure of any part; [`ErrorKind::Interrupted`](base::error::ErrorKind::Interrupted) when the caller asked to stop.
pub fn run<S: GroupSink>(
    threads: Threads<'_>,
    context: SliceContext<'_>,
    partitions: &[PartitionView<'_>],
    sink: &S,
    limits: Limits,
    space: &SpillSpace,
    progress: &dyn Progress,
) -> Result<Vec<PartReport>> {
    let workspaces = Workspaces::default();
    let max_slices = match threads {
        Threads::Pool(pool) => 2 * pool.current_num_threads(),
        Threads::Caller => 1,
    };
    let (sender, receiver) = channel();
    let of_facts = context.late.map_or(0, TakesFacts::reserve);
    let reserve = (OPEN_WEIGHT + RESERVE + of_facts).saturating_add(sink.reserve());
    let mut state = State {
        context,
        partitions,
        sink,
        workspaces: &workspaces,
        space,
        sender,
        progress,
        allowance: limits.memory.saturating_sub(reserve).max(LEAST_IN_FLIGHT),
        max_slices,
        row_group_rows: limits.row_group_rows,
        laid_out: 0,
        is_laying_out: false,
        active: VecDeque::new(),
        waiting: BTreeMap::new(),
        rest: None,
        slices_in_flight: 0,
        groups_in_flight: 0,
        awaited: 0,
        cost_in_flight: 0,
        reports: Vec::new(),
        failure: None,
    };
    match threads {
        Threads::Pool(pool) => pool.in_place_scope(|scope| state.work(Tasks::Scope(scope), &receiver)),
        Threads::Caller => state.work(Tasks::AtOnce, &receiver),
    }
    state.failure.map_or(Ok(state.reports), Err)
}

/// Where tasks are done.
#[derive(Clone, Copy)]
enum Tasks<'s, 'scope> {
    /// In the pool of a scope.
    Scope(&'s Scope<'scope>),
    /// Where they come up.
    AtOnce,
}

/// What a task or a charge reports when it ends; partitions are named by their places in the list.
enum Done {
    /// The slices, and what is left out of them.
    LaidOut(usize, Result<(Slices, Vec<u64>)>),
    Slice(usize, usize, Result<Box<SliceRows>>),
    Group(usize, Result<()>),
    /// Bytes that a row group was charged.
    GivenBack(u64),
    Written(usize, Result<Vec<FileEntry>>),
}

/// A partition in work.
struct Active<'a, S: GroupSink> {
    place: usize,
    partition: Arc<SlicedPartition<'a>>,
    /// What takes its row groups, until it is being finished.
    part: Option<Arc<S::Part>>,
    cutter: RowGroupCutter,
    counts: PartCounts,
    next_slice: usize,
    /// The slice that the cutter takes next.
    next_accepted: usize,
    groups_in_flight: usize,
    /// Whether all row groups have been cut.
    is_cut: bool,
    files: Option<Vec<FileEntry>>,
}

impl<S: GroupSink> Active<'_, S> {
    fn is_started(&self) -> bool {
        self.next_slice == self.partition.slices.len()
    }

    fn is_accepted(&self) -> bool {
        self.next_accepted == self.partition.slices.len()
    }

    /// Counts the rows of the next slice in order and passes them through the cutter.
    fn accept(&mut self, rows: SliceRows) -> Vec<CompletedRowGroup> {
        self.next_accepted += usize::from(rows.rest.is_none());
        self.counts.add(&rows);
        self.cutter.push(rows.chunks)
    }
}

struct State<'a, S: GroupSink> {
    context: SliceContext<'a>,
    partitions: &'a [PartitionView<'a>],
    sink: &'a S,
    workspaces: &'a Workspaces,
    space: &'a SpillSpace,
    sender: Sender<Done>,
    progress: &'a dyn Progress,
    /// Bytes that slices and groups in work may take together.
    allowance: u64,
    max_slices: usize,
    row_group_rows: u32,
    /// Partitions whose slices are laid out, or are being so.
    laid_out: usize,
    is_laying_out: bool,
    /// In order.
    active: VecDeque<Active<'a, S>>,
    /// Slices, or first parts of them, that finished before their turn, and what they cost.
    waiting: BTreeMap<(usize, usize), (Box<SliceRows>, u64)>,
    /// Where the slice that a cutter takes next goes on, after a part of it was taken.
    rest: Option<(usize, usize, usize)>,
    slices_in_flight: usize,
    /// Row groups that the sink has not given back.
    groups_in_flight: usize,
    /// Tasks and charges that will report.
    awaited: usize,
    cost_in_flight: u64,
    reports: Vec<PartReport>,
    failure: Option<Error>,
}

impl<'a, S: GroupSink> State<'a, S> {
    fn work<'scope>(&mut self, tasks: Tasks<'_, 'scope>, receiver: &Receiver<Done>)
    where
        'a: 'scope,
    {
        loop {
            self.fail(stop_if_cancelled(self.progress).err());
            if self.failure.is_none() {
                self.lay_out(tasks);
                self.start_slices(tasks);
                self.cut_last_groups(tasks);
                self.close(tasks);
            }
            if self.awaited == 0 {
                return;
            }
            let done = receiver.recv().expect("this thread holds a sender itself");
            self.awaited -= 1;
            match done {
                Done::LaidOut(place, partition) => self.begin(place, partition),
                Done::Slice(place, number, rows) => self.finish_slice(tasks, place, number, rows),
                Done::GivenBack(cost) => {
                    self.groups_in_flight -= 1;
                    self.cost_in_flight -= cost;
                }
                Done::Group(place, outcome) => {
                    if let Some(active) = self.active_at(place) {
                        active.groups_in_flight -= 1;
                    }
                    self.fail(outcome.err());
                }
                Done::Written(place, files) => self.finish(place, files),
            }
        }
    }

    fn fail(&mut self, error: Option<Error>) {
        if let (None, Some(error)) = (&self.failure, error) {
            self.failure = Some(error);
        }
    }

    fn active_at(&mut self, place: usize) -> Option<&mut Active<'a, S>> {
        self.active.iter_mut().find(|active| active.place == place)
    }

    /// Does some work as a task of the pool.
    fn spawn<'scope>(&mut self, tasks: Tasks<'_, 'scope>, work: impl FnOnce() -> Done + Send + 'scope)
    where
        'a: 'scope,
    {
        self.awaited += 1;
        // The receiver lives until every task is done.
        match tasks {
            Tasks::AtOnce => _ = self.sender.send(work()),
            Tasks::Scope(scope) => {
                let sender = self.sender.clone();
                scope.spawn(move |_| _ = sender.send(work()));
            }
        }
    }

    /// Lays out the slices of the next partition when those of the last one are being converted.
    fn lay_out<'scope>(&mut self, tasks: Tasks<'_, 'scope>)
    where
        'a: 'scope,
    {
        let is_ahead = self.active.back().is_some_and(|last| last.next_slice == 0 && !last.is_started());
        if self.is_laying_out || is_ahead {
            return;
        }
        let (context, space, progress, place) = (self.context, self.space, self.progress, self.laid_out);
        let Some(view) = self.partitions.get(place).copied() else { return };
        self.is_laying_out = true;
        self.laid_out += 1;
        self.cost_in_flight += LAYOUT_COST;
        self.spawn(tasks, move || {
            let partition = caught(|| SlicedPartition::new(view, context.filter, space, progress));
            Done::LaidOut(place, partition.map(|partition| (partition.slices, partition.skipped)))
        });
    }

    /// Takes up a partition whose slices are laid out.
    fn begin(&mut self, place: usize, slices: Result<(Slices, Vec<u64>)>) {
        self.is_laying_out = false;
        self.cost_in_flight -= LAYOUT_COST;
        let (slices, skipped) = match slices {
            Ok(slices) => slices,
            Err(error) => return self.fail(Some(error)),
        };
        let partition = SlicedPartition { view: self.partitions[place], slices, skipped };
        let part = self.sink.part(partition.view.partition.number);
        self.active.push_back(Active {
            place,
            counts: PartCounts::new(&partition, self.context.plan.shapes.len()),
            partition: Arc::new(partition),
            part: Some(Arc::new(part)),
            cutter: RowGroupCutter::new(self.context.columns, self.row_group_rows),
            next_slice: 0,
            next_accepted: 0,
            groups_in_flight: 0,
            is_cut: false,
            files: None,
        });
    }

    fn start_slices<'scope>(&mut self, tasks: Tasks<'_, 'scope>)
    where
        'a: 'scope,
    {
        while self.slices_in_flight < self.max_slices {
            let next = || {
                let active = self.active.iter().find(|active| !active.is_started())?;
                Some((active.place, active.next_slice, 0))
            };
            let Some((place, number, from)) = self.rest.or_else(next) else { return };
            let Some(active) = self.active.iter_mut().find(|active| active.place == place) else { return };
            let Some(slice) = active.partition.slices.get(number) else { return };
            let cost = slice.cost();
            // What is more than the allowance goes alone: row groups in work end by themselves, and make room. What
            // other slices hold is given back only behind the rest of this one.
            let is_alone = if from > 0 { self.groups_in_flight == 0 } else { self.cost_in_flight == 0 };
            if !is_alone && self.cost_in_flight + cost > self.allowance {
                return;
            }
            if self.rest.take().is_none() {
                active.next_slice += 1;
            }
            self.slices_in_flight += 1;
            self.cost_in_flight += cost;
            let partition = Arc::clone(&active.partition);
            let (context, workspaces, progress) = (self.context, self.workspaces, self.progress);
            self.spawn(tasks, move || {
                let convert =
                    |workspace: &mut Workspace| slice::convert(context, &partition, number, from, workspace, progress);
                let rows = caught(|| workspaces.with(convert));
                drop(partition);
                Done::Slice(place, number, rows.map(Box::new))
            });
        }
    }

    fn finish_slice<'scope>(
        &mut self,
        tasks: Tasks<'_, 'scope>,
        place: usize,
        number: usize,
        rows: Result<Box<SliceRows>>,
    ) where
        'a: 'scope,
    {
        self.slices_in_flight -= 1;
        match rows {
            Ok(rows) => {
                self.progress.advance(rows.events);
                let planned = self.active_at(place).and_then(|active| active.partition.slices.get(number));
                let planned = planned.map_or(0, Slice::cost);
                let cost = rows.weight().max(planned);
                self.cost_in_flight += cost - planned;
                self.waiting.insert((place, number), (rows, cost));
            }
            Err(error) => self.fail(Some(error)),
        }
        self.accept_waiting(tasks);
    }

    /// Passes the slices whose turn it is through the cutter of their partition.
    fn accept_waiting<'scope>(&mut self, tasks: Tasks<'_, 'scope>)
    where
        'a: 'scope,
    {
        loop {
            let Some(active) = self.active.iter_mut().find(|active| !active.is_accepted()) else { return };
            let (place, number) = (active.place, active.next_accepted);
            let Some((mut rows, cost)) = self.waiting.remove(&(place, number)) else { return };
            let described = std::mem::take(&mut rows.described);
            self.cost_in_flight -= cost;
            self.rest = rows.rest.map(|rest| (place, number, rest));
            let groups = timed(self.progress, Step::CutRows, || active.accept(*rows));
            if let Some(late) = self.context.late.filter(|_| !described.is_empty()) {
                self.fail(timed(self.progress, Step::Plan, || late.take(described)).err());
            }
            groups.into_iter().for_each(|group| self.start_group(tasks, place, group));
            if self.active_at(place).is_some_and(|active| active.is_accepted()) {
                // Before slices of the next partition open groups of theirs.
                self.cut_last_groups(tasks);
            }
        }
    }

    /// Closes the open groups of partitions whose slices have all passed.
    fn cut_last_groups<'scope>(&mut self, tasks: Tasks<'_, 'scope>)
    where
        'a: 'scope,
    {
        let done = |active: &&mut Active<'_, S>| active.is_accepted() && !active.is_cut;
        while let Some(active) = self.active.iter_mut().find(done) {
            active.is_cut = true;
            let place = active.place;
            let groups = timed(self.progress, Step::CutRows, || active.cutter.finish());
            groups.into_iter().for_each(|group| self.start_group(tasks, place, group));
        }
    }

    fn start_group<'scope>(&mut self, tasks: Tasks<'_, 'scope>, place: usize, closed: CompletedRowGroup)
    where
        'a: 'scope,
    {
        let Some(active) = self.active_at(place) else { return };
        let Some(part) = active.part.clone() else { return };
        active.groups_in_flight += 1;
        let (rows, weight) = (closed.group.rows().max(BATCH_ROWS) as u64, closed.weight);
        // A batch of it becomes Arrow beside the packed values; of few and heavy rows, all of it does.
        let cost = weight.saturating_add(weight.saturating_mul(BATCH_ROWS as u64) / rows);
        self.groups_in_flight += 1;
        self.cost_in_flight += cost;
        self.awaited += 1;
        let sender = self.sender.clone();
        let charge = Charge::new(move || _ = sender.send(Done::GivenBack(cost)));
        let (sink, progress) = (self.sink, self.progress);
        self.spawn(tasks, move || {
            let outcome = caught(|| sink.take(&part, closed, charge, progress));
            drop(part);
            Done::Group(place, outcome)
        });
    }

    /// Finishes the partitions whose row groups were all taken.
    fn close<'scope>(&mut self, tasks: Tasks<'_, 'scope>)
    where
        'a: 'scope,
    {
        let is_taken = |active: &Active<'_, S>| active.is_cut && active.groups_in_flight == 0;
        while let Some(active) = self.active.iter_mut().find(|active| active.part.is_some() && is_taken(active)) {
            let Some(part) = active.part.take() else { return };
            let (place, sink, progress) = (active.place, self.sink, self.progress);
            self.spawn(tasks, move || Done::Written(place, caught(|| finish_part(sink, part, progress))));
        }
    }

    fn finish(&mut self, place: usize, files: Result<Vec<FileEntry>>) {
        match files {
            Ok(files) => {
                if let Some(active) = self.active_at(place) {
                    active.files = Some(files);
                }
            }
            Err(error) => self.fail(Some(error)),
        }
        while let Some(files) = self.active.front_mut().and_then(|first| first.files.take()) {
            if let Some(Active { partition, counts, .. }) = self.active.pop_front() {
                self.reports.push(counts.report(partition.view.partition.number, files));
            }
        }
    }
}

/// Ends a partition; returns its files.
fn finish_part<S: GroupSink>(sink: &S, part: Arc<S::Part>, progress: &dyn Progress) -> Result<Vec<FileEntry>> {
    let part = Arc::into_inner(part).ok_or_else(|| Error::bug("a partition is finished while row groups are taken"))?;
    sink.finish(part, progress)
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
        Err(Error::bug(format!("a worker failed: {}", text.unwrap_or("no reason given"))))
    })
}
