//! What the jobs of a run share: one pool that computes, one memory budget, the threads that wait for disks.
//!
//! Any number of threads may each drive a job. They compute in the pool alone, and wait for disks outside of it, so that the
//! files of one trace are on their way to disk while the next ones are converted.

use std::num::NonZero;

use base::error::Result;
use base::progress::Progress;
use base::resources::pool;
use columnar::output::folder::Disks;
use etl::input::{Inputs, OpenOptions, room_to_unpack};
use rayon::ThreadPool;

use super::memory_gate::{MemoryGate, Ticket};
use crate::convert::ConvertOptions;
use crate::convert::file_sink::TABLE_RESERVE;
use crate::convert::pipeline::RESERVE;
use crate::convert::{Recording, Surveyed};
use crate::plan::room_to_plan;
use crate::survey::FileSurvey;

/// Bytes of inputs up to which a job can be let in beside others.
const SMALL_INPUT: u64 = 16 << 20;

/// What the survey of such a job takes at most: lists that grow with the input, each in memory up to 32 MiB, of which the
/// records of so few bytes fill a part.
const SURVEY_ROOM: u64 = 48 << 20;

/// What planning takes at most where the room of the survey is enough for it.
const PLAN_ROOM: u64 = 24 << 20;

/// What a job takes besides its events: encoders, the catalog, the sidecar.
const JOB_ROOM: u64 = 24 << 20;

/// Memory that a byte of an event may come to: its own and its row's, in a row group, in a batch and in pages. A byte that
/// is a number is eight in its column.
const PER_BYTE: u64 = 8;

/// The same for an event without a payload: its place in the order and its common columns, in work and in a row group.
const PER_EVENT: u64 = 320;

/// Bytes of events that one thread has converted before others would have taken a part of them.
const ONE_TASK: u64 = 1 << 20;

/// Threads and memory for any number of jobs, one after another or side by side.
#[derive(Debug)]
pub struct Workers {
    pub(super) pool: ThreadPool,
    pub(super) disks: Disks,
    turnstile: MemoryGate,
}

impl Workers {
    /// As many threads as the options say, and as much memory.
    ///
    /// # Errors
    /// [`ErrorKind::Internal`](base::error::ErrorKind::Internal) when the system gives no threads.
    pub fn new(options: &ConvertOptions) -> Result<Workers> {
        let turnstile = MemoryGate::new(options.memory.saturating_sub(RESERVE));
        Ok(Workers { pool: pool(options.threads)?, disks: Disks::default(), turnstile })
    }

    /// How many jobs are worth driving at a time: as many small ones as there is room for or the threads keep up with, and
    /// some that wait for disks.
    pub fn lanes(&self) -> NonZero<usize> {
        let threads = self.pool.current_num_threads();
        let room = usize::try_from(self.turnstile.room() / SURVEY_ROOM).unwrap_or(usize::MAX);
        NonZero::<usize>::MIN.saturating_add(room.min(2 * threads) + WAITING)
    }

    /// Waits until there is room to unpack what is packed of a job, a container at a time; `None` where nothing is. Who has
    /// unpacked goes on before all who have not begun, so that few members lie unpacked at a time.
    pub(super) fn admit_unpacking(
        &self,
        job: &Recording,
        open: &OpenOptions,
        progress: &dyn Progress,
    ) -> Result<Option<Ticket<'_>>> {
        let room = job.inputs.iter().map(|input| room_to_unpack(&input.address, open)).max().unwrap_or_default();
        (room > 0).then(|| self.turnstile.enter(room, progress)).transpose()
    }

    /// Waits until there is room to survey a job, which may have had room to unpack. A large one has all of it, and so is
    /// alone.
    pub(super) fn admit<'a>(
        &'a self,
        unpacked: Option<Ticket<'a>>,
        inputs: &Inputs,
        progress: &dyn Progress,
    ) -> Result<Ticket<'a>> {
        let bytes = inputs.identities().fold(0_u64, |bytes, input| bytes.saturating_add(input.size));
        let room = if bytes > SMALL_INPUT { u64::MAX } else { SURVEY_ROOM };
        match unpacked {
            None => self.turnstile.enter(room, progress),
            Some(ticket) => Ok(self.turnstile.reduce(self.turnstile.exchange(ticket, room, progress)?, room)),
        }
    }

    /// Waits until there is room to plan a job and to convert its events, now that it is known how many there are: a small file can
    /// hold gigabytes of them, and what is planned would be in memory while it waits.
    pub(super) fn admit_planning<'a>(
        &'a self,
        ticket: Ticket<'a>,
        files: &[FileSurvey],
        progress: &dyn Progress,
    ) -> Result<Ticket<'a>> {
        let room = room_to_plan(files);
        // A few samples lie where the survey was at work.
        let room = if room > PLAN_ROOM { SURVEY_ROOM.saturating_add(room) } else { SURVEY_ROOM };
        self.turnstile.exchange(ticket, room.max(room_for_events(files)), progress)
    }

    /// Waits until there is room to convert a job, now that it is known how much is in it: compressed buffers can hold very
    /// much more than their file.
    pub(super) fn readmit<'a>(
        &'a self,
        ticket: Ticket<'a>,
        surveyed: &Surveyed,
        progress: &dyn Progress,
    ) -> Result<Ticket<'a>> {
        self.turnstile.exchange(ticket, room_for(surveyed), progress)
    }
}

/// Jobs whose files are on their way to disk while others compute.
const WAITING: usize = 8;

/// Whether a recording is converted by one thread from end to end, which changes none of its bytes.
pub(super) fn is_one_task(surveyed: &Surveyed) -> bool {
    let buffers = surveyed.files.iter().flat_map(|file| file.buffers.iter());
    buffers.map(|buffer| u64::from(buffer.content_bytes)).sum::<u64>() <= ONE_TASK
}

/// The most that converting a recording takes.
fn room_for(surveyed: &Surveyed) -> u64 {
    let tables = TABLE_RESERVE.saturating_mul(surveyed.plan.tables.len() as u64);
    room_for_events(&surveyed.files).saturating_add(tables)
}

/// The same but for what each table takes.
fn room_for_events(files: &[FileSurvey]) -> u64 {
    let (mut bytes, mut events, mut largest) = (0_u64, 0_u64, 0);
    for buffer in files.iter().flat_map(|file| file.buffers.iter()) {
        bytes = bytes.saturating_add(u64::from(buffer.content_bytes));
        events = events.saturating_add(u64::from(buffer.events));
        largest = largest.max(u64::from(buffer.extent.used_len));
    }
    let rows = bytes.saturating_mul(PER_BYTE).saturating_add(events.saturating_mul(PER_EVENT));
    rows.saturating_add(largest).saturating_add(JOB_ROOM)
}
