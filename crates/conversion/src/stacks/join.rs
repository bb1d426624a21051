//! Gives events the walks that are theirs.

use base::clock::{Clock, Ticks};
use base::error::Result;
use base::progress::{Progress, stop_if_cancelled};
use spill::SpillWriter;

use super::matching::Sighting;
use super::result::StackOfEvent;
use super::unjoined::{Reason, Unjoined};
use crate::survey::walks::{Added, ListWriter, Lists, MAX_OF_EVENT, NO_PROCESS, Walk, WalkPart};
use crate::table::stack_id;

/// How long behind its event a walk may come: in the longest recordings that are known, 14 s.
pub(super) const MAX_BEHIND_NS: i64 = 16_000_000_000;

/// The thread that runs where no other does: on several processors at once.
const IDLE: u32 = 0;

/// Walks that are joined without a look at whether to stop.
const AT_ONCE: usize = 1 << 16;

/// Joins walks of one input to its events.
pub(super) struct Join<'a> {
    pub(super) input: u16,
    pub(super) clock: &'a Clock,
    /// The addresses of walks.
    pub(super) parts: &'a Lists,
    /// The events that they can be of, sorted by time, thread and place.
    pub(super) sightings: &'a [Sighting],
    pub(super) unjoined: &'a mut Unjoined,
    /// The stacks of events.
    pub(super) lists: &'a mut ListWriter,
    pub(super) events: &'a mut SpillWriter<StackOfEvent>,
    /// The addresses of the stack that walks are added to.
    pub(super) addresses: Vec<u64>,
}

/// The stack of an event while its walks are added.
#[derive(Clone, Copy)]
struct Stack<'a> {
    event: &'a Sighting,
    walks: usize,
    /// The process that all of them name.
    process: u32,
}

impl Stack<'_> {
    fn add(&mut self, walk: &Walk) {
        self.process = if self.walks == 0 || self.process == walk.process { walk.process } else { NO_PROCESS };
        self.walks += 1;
    }
}

impl<'a> Join<'a> {
    /// Joins walks that are sorted by time, thread and place.
    ///
    /// # Errors
    /// When there is no space, or when the caller asked to stop.
    pub(super) fn run(mut self, walks: &[Walk], progress: &dyn Progress) -> Result<()> {
        let mut done = 0;
        for walks in walks.chunk_by(|a, b| (a.event_ticks, a.thread) == (b.event_ticks, b.thread)) {
            done += walks.len();
            if done >= AT_ONCE {
                stop_if_cancelled(progress)?;
                done = 0;
            }
            self.join(walks)?;
        }
        Ok(())
    }

    /// Joins walks that name the same time and thread.
    fn join(&mut self, walks: &[Walk]) -> Result<()> {
        let Some(Walk { event_ticks, thread, .. }) = walks.first().copied() else { return Ok(()) };
        let at_time = self.pass_to(event_ticks);
        let of_thread = of_thread(at_time, thread);
        if thread == IDLE && walks.len() > 1 {
            // The kernel alone walks it, on the processor of the event.
            let mut by_stream = walks.to_vec();
            by_stream.sort_by_key(|walk| (walk.at.key().stream, walk.at.key()));
            let of_streams = by_stream.chunk_by(|a, b| a.at.key().stream == b.at.key().stream);
            return of_streams.into_iter().try_for_each(|walks| self.join_to(walks, at_time, of_thread));
        }
        self.join_to(walks, at_time, of_thread)
    }

    /// Joins them to events of their thread at their time.
    fn join_to(&mut self, walks: &[Walk], at_time: &[Sighting], of_thread: &'a [Sighting]) -> Result<()> {
        let mut stack: Option<Stack<'a>> = None;
        for walk in walks {
            let events = if walk.thread == IDLE { of_stream(of_thread, walk.at.key().stream) } else { of_thread };
            let before = events.partition_point(|event| event.at.key() < walk.at.key());
            let event = events[..before].last();
            if stack.as_ref().is_some_and(|stack| event.is_none_or(|event| event != stack.event)) {
                self.close(stack.take())?;
            }
            let part = match event {
                Some(_) => self.part(walk),
                None if of_thread.is_empty() && !at_time.is_empty() => Err(Reason::OtherThread),
                None => Err(Reason::NoEvent),
            };
            match (event, part) {
                (Some(event), Ok(part)) => {
                    stack.get_or_insert(Stack { event, walks: 0, process: NO_PROCESS }).add(walk);
                    self.addresses.extend_from_slice(part);
                }
                (_, Err(reason)) => self.unjoined.count(reason),
                (None, Ok(_)) => {}
            }
        }
        self.close(stack)
    }

    /// The events at a time, which is none before the last one that was asked for.
    fn pass_to(&mut self, ticks: i64) -> &'a [Sighting] {
        let before = self.sightings.iter().take_while(|event| event.at.ticks() < ticks).count();
        self.sightings = &self.sightings[before..];
        let count = self.sightings.partition_point(|event| event.at.ticks() <= ticks);
        &self.sightings[..count]
    }

    /// The addresses of a walk, behind those that its event has already.
    fn part(&self, walk: &Walk) -> std::result::Result<&'a [u64], Reason> {
        let ns = |ticks| self.clock.to_unix(Ticks(ticks)).0;
        if ns(walk.at.ticks()).saturating_sub(ns(walk.event_ticks)) > MAX_BEHIND_NS {
            return Err(Reason::TooLate);
        }
        let part = match walk.part() {
            WalkPart::List(list) => self.parts.get(list).0,
            other => return Err(Reason::of(other).unwrap_or(Reason::UnknownKey)),
        };
        if self.addresses.len() + part.len() > MAX_OF_EVENT { Err(Reason::TooLong) } else { Ok(part) }
    }

    /// Keeps a stack that is whole.
    fn close(&mut self, stack: Option<Stack<'_>>) -> Result<()> {
        let Some(Stack { event, walks, process }) = stack else { return Ok(()) };
        let added = self.lists.add(&self.addresses, |addresses| stack_id(addresses.iter().copied()))?;
        self.addresses.clear();
        match added {
            Added::Number(list) => self.events.push(StackOfEvent::new(self.input, event.at.key(), list, process)),
            Added::NoRoom => {
                (0..walks).for_each(|_| self.unjoined.count(Reason::NoRoom));
                Ok(())
            }
        }
    }
}

/// Those of events of one thread at one time that are of a stream: they are sorted by place.
fn of_stream(of_thread: &[Sighting], stream: u16) -> &[Sighting] {
    let from = of_thread.partition_point(|event| event.at.key().stream < stream);
    let behind = &of_thread[from..];
    &behind[..behind.partition_point(|event| event.at.key().stream == stream)]
}

/// Those of events at one time that are of a thread.
fn of_thread(at_time: &[Sighting], thread: u32) -> &[Sighting] {
    if thread == Sighting::OTHER {
        return &[];
    }
    let from = at_time.partition_point(|event| event.thread < thread);
    let behind = &at_time[from..];
    &behind[..behind.partition_point(|event| event.thread == thread)]
}
