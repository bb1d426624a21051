//! Goes through buffers of one input, side by side.

use base::error::Result;
use base::progress::{Progress, Step, stop_if_cancelled, timed};
use etl::buffer::content::Scratch;
use etl::event::{RawEvent, TimedEvent, TimedStep};
use etl::reader::BufferReader;
use rayon::prelude::*;

use crate::survey::{BufferSummary, DescriptiveKind, FileKey, FileSurvey, OneBehind, together};

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

    /// Visits the events of a buffer that have a time of their own.
    ///
    /// # Errors
    /// When the input cannot be read.
    pub(super) fn visit(
        &self,
        buffer: &BufferSummary,
        scratch: &mut Scratch,
        mut visit: impl FnMut(&RawEvent<'_>, FileKey),
    ) -> Result<()> {
        let (rules, extent) = (&self.reader.rules, &buffer.extent);
        let (stream, sequence, ordinal) = (rules.stream(extent), rules.sequence(extent), extent.ordinal);
        let content = self.reader.content(extent, scratch)?;
        for step in rules.walk(content.bytes(), 0, buffer.gap) {
            if let TimedStep::Event(TimedEvent { raw, ticks, inherited: false }) = step {
                visit(&raw, FileKey { ticks, stream, sequence, ordinal, offset: raw.offset });
            }
        }
        Ok(())
    }

    /// Visits the events of a buffer that describe the stacks of others, or all of them.
    ///
    /// # Errors
    /// When the input cannot be read.
    pub(super) fn visit_describing(
        &self,
        buffer: &BufferSummary,
        scratch: &mut Scratch,
        mut visit: impl FnMut(&RawEvent<'_>, FileKey),
    ) -> Result<()> {
        self.file.descriptive.visit(DescriptiveKind::OfStacks, &self.reader, buffer, scratch, |raw, at| {
            visit(raw, at);
            Ok(())
        })
    }
}
