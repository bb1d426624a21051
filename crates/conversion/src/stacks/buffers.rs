//! Goes through buffers of one input, side by side.

use base::error::Result;
use base::progress::{Progress, Step, stop_if_cancelled, timed};
use etl::buffer::content::Scratch;
use etl::event::stack::{StackDescription, WalkedThread};
use etl::event::{TimedEvent, TimedStep};
use etl::reader::BufferReader;
use rayon::prelude::*;

use crate::survey::walks::FoundWalks;
use crate::survey::{BufferSummary, FileKey, FileSurvey, OneBehind, together};

/// Bytes of buffers that are read side by side: what is made of them may be as many, and of those before them.
const TOGETHER_BYTES: u64 = 16 << 20;

/// Bytes of buffers that one thread reads together.
const PORTION_BYTES: u64 = 1 << 20;

/// The buffers of an input.
pub(super) struct Buffers<'a> {
    pub(super) file: &'a FileSurvey,
    pub(super) reader: BufferReader<'a>,
    pub(super) progress: &'a dyn Progress,
}

impl Buffers<'_> {
    /// Reads buffers side by side, some at a time; `take` gets what `read` makes of them in the order of the file.
    ///
    /// # Errors
    /// When the input cannot be read, or when the caller asked to stop.
    pub(super) fn read<T: Default + Send>(
        &self,
        wanted: &[&BufferSummary],
        read: impl Fn(&BufferSummary, &mut Scratch, &mut T) -> Result<()> + Sync,
        mut take: impl FnMut(T) -> Result<()> + Send,
    ) -> Result<()> {
        let mut take = |made: Vec<T>| timed(self.progress, Step::Plan, || made.into_iter().try_for_each(&mut take));
        let mut behind = OneBehind::default();
        for together in wanted.chunk_by(together(TOGETHER_BYTES)) {
            stop_if_cancelled(self.progress)?;
            let portions: Vec<_> = together.chunk_by(self::together(PORTION_BYTES)).collect();
            let make = || {
                let made = portions.par_iter().map_init(Scratch::default, |scratch, portion| {
                    let mut made = T::default();
                    timed(self.progress, Step::Schema, || {
                        portion.iter().try_for_each(|buffer| read(buffer, scratch, &mut made))
                    })?;
                    Ok(made)
                });
                made.collect()
            };
            behind.turn(make, &mut take)?;
        }
        behind.end(take)
    }

    /// Visits the events of a buffer.
    ///
    /// # Errors
    /// When the input cannot be read.
    pub(super) fn visit(
        &self,
        buffer: &BufferSummary,
        scratch: &mut Scratch,
        mut visit: impl FnMut(&TimedEvent<'_>, FileKey),
    ) -> Result<()> {
        let rules = &self.reader.rules;
        let place = FileKey::in_buffer(rules, &buffer.extent);
        let content = self.reader.content(&buffer.extent, scratch)?;
        for step in rules.walk(content.bytes(), 0, buffer.gap) {
            if let TimedStep::Event(event) = step {
                visit(&event, place(event.ticks, event.raw.offset));
            }
        }
        Ok(())
    }

    /// Finds what the events of a buffer say of stacks: of the walks in a place, of events at a time in ticks, those that are `wanted`.
    ///
    /// # Errors
    /// When the input cannot be read.
    pub(super) fn find(
        &self,
        buffer: &BufferSummary,
        scratch: &mut Scratch,
        wanted: impl Fn(FileKey, i64) -> bool,
        found: &mut FoundWalks,
    ) -> Result<()> {
        let file = &self.reader.rules.context;
        self.visit(buffer, scratch, |TimedEvent { raw, inherited, .. }, at| match StackDescription::of(raw, file) {
            Some(StackDescription::Walk { event_ticks, .. }) if !wanted(at, event_ticks) => {}
            Some(described) => found.describe(at, &described),
            None if *inherited => {}
            None => WalkedThread::of(raw, file).into_iter().for_each(|thread| found.add_walked(at, thread)),
        })?;
        found.end(buffer.extent.ordinal, true);
        Ok(())
    }
}
