//! What is needed to read the buffers of an input without its survey.

use super::key::Key;
use crate::buffer::content::{self, Content, Scratch};
use crate::buffer::scan::BufferExtent;
use crate::clock::{Clock, Ticks};
use crate::error::{Error, Result};
use crate::event::{FileContext, TimedWalk};
use crate::input::LocalFile;
use crate::survey::{BufferSummary, FileKey, FileSurvey};

/// An input as the plan knows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlannedInput {
    /// The path relative to the input named by the user, with `/`.
    pub source: String,
    /// Its length in bytes.
    pub size: u64,
    /// BLAKE3 of the whole file in lower-case hexadecimal; `None` where it was not wanted.
    pub blake3: Option<String>,
    /// What is common to its events.
    pub context: FileContext,
    /// Whether the buffers of all processors form one stream.
    pub one_stream: bool,
    /// Whether the buffers of a stream stand in their order, whatever their numbers.
    pub in_file_order: bool,
    /// The largest size of an expanded buffer.
    pub max_buffer_size: u32,
    /// The time of a buffer in which no event has one.
    pub fallback_ticks: i64,
    /// Length of a timer tick in 100 ns.
    pub timer_resolution: u32,
    /// How many event shapes it has.
    pub shapes: u64,
    /// The conversion of its times.
    pub clock: Clock,
}

impl PlannedInput {
    /// What the survey of a file leaves to the plan.
    pub fn of(file: &FileSurvey) -> Self {
        let reader = file.reader();
        PlannedInput {
            source: file.name.clone(),
            size: file.source.len(),
            blake3: file.blake3.clone(),
            context: reader.context,
            one_stream: reader.one_stream,
            in_file_order: reader.in_file_order,
            max_buffer_size: reader.max_buffer_size,
            fallback_ticks: reader.fallback_ticks,
            timer_resolution: file.session.timer_resolution,
            shapes: file.shapes.len() as u64,
            clock: file.clock.clone(),
        }
    }

    /// The stream that a buffer belongs to.
    pub fn stream(&self, extent: &BufferExtent) -> u16 {
        if self.one_stream { 0 } else { extent.cpu }
    }

    /// The place of a buffer among those of its stream: its number in the session, or the same for all where the place
    /// in the file decides.
    pub fn sequence(&self, extent: &BufferExtent) -> i64 {
        if self.in_file_order { 0 } else { extent.sequence }
    }

    /// The processor whose events a buffer holds; `None` where all processors share one stream.
    pub fn cpu(&self, extent: &BufferExtent) -> Option<u16> {
        (!self.one_stream).then_some(extent.cpu)
    }

    /// Unix time in nanoseconds of a tick.
    #[inline]
    pub fn unix_ns(&self, ticks: i64) -> i64 {
        self.clock.to_unix(Ticks(ticks)).0
    }
}

/// The inputs of a recording: what is known of them, and how to read them.
#[derive(Debug)]
pub struct PlannedInputs<'a> {
    planned: Vec<PlannedInput>,
    sources: Vec<&'a LocalFile>,
}

impl<'a> PlannedInputs<'a> {
    /// The inputs of surveyed files.
    pub fn of(files: &'a [FileSurvey]) -> Self {
        PlannedInputs {
            planned: files.iter().map(PlannedInput::of).collect(),
            sources: files.iter().map(|file| &file.source).collect(),
        }
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.planned.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.planned.is_empty()
    }

    /// All of them, in the order of their numbers.
    pub fn iter(&self) -> std::slice::Iter<'_, PlannedInput> {
        self.planned.iter()
    }

    /// Whether distinct ticks of some clock can fall into one nanosecond.
    pub fn has_fine_clock(&self) -> bool {
        self.planned.iter().any(|input| input.clock.is_finer_than_ns())
    }

    /// What is known of an input.
    #[inline]
    pub fn get(&self, input: u16) -> &PlannedInput {
        &self.planned[usize::from(input)]
    }

    /// The bytes of an input.
    pub fn source(&self, input: u16) -> Result<&'a LocalFile> {
        Ok(self.sources[usize::from(input)])
    }

    /// A buffer of an input.
    pub fn buffer<'s>(&'s self, input: u16, buffer: &'s BufferSummary) -> BufferRef<'s> {
        BufferRef { inputs: self, input, planned: self.get(input), buffer }
    }
}

impl<'i> IntoIterator for &'i PlannedInputs<'_> {
    type Item = &'i PlannedInput;
    type IntoIter = std::slice::Iter<'i, PlannedInput>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

/// A buffer of an input of the recording.
#[derive(Clone, Copy, Debug)]
pub struct BufferRef<'a> {
    inputs: &'a PlannedInputs<'a>,
    pub(crate) input: u16,
    pub(crate) planned: &'a PlannedInput,
    pub(crate) buffer: &'a BufferSummary,
}

impl BufferRef<'_> {
    /// The key of an event of the buffer.
    pub fn key(&self, ticks: i64, offset: u32) -> Key {
        let extent = &self.buffer.extent;
        let (stream, sequence) = (self.planned.stream(extent), self.planned.sequence(extent));
        let at = FileKey { ticks, stream, sequence, ordinal: extent.ordinal, offset };
        Key::new(&self.planned.clock, self.input, at)
    }

    /// The least and the greatest key that an event of the buffer can have.
    pub fn key_range(&self) -> (Key, Key) {
        (self.key(self.buffer.first_ticks, 0), self.key(self.buffer.last_ticks, u32::MAX))
    }

    /// The event bytes of the buffer: as many as the survey found, since the ends of segments are taken from both.
    ///
    /// # Errors
    /// When the input cannot be read or has changed.
    pub fn content<'s>(&'s self, scratch: &'s mut Scratch) -> Result<Content<'s>> {
        let source = self.inputs.source(self.input)?;
        let content = content::read(source, &self.buffer.extent, self.planned.max_buffer_size, scratch)?;
        if content.bytes().len() != self.buffer.content_bytes as usize {
            return Err(self.changed());
        }
        Ok(content)
    }

    /// What is said where the buffer is not what the survey has seen.
    pub(crate) fn changed(&self) -> Error {
        let extent = &self.buffer.extent;
        match self.inputs.source(self.input) {
            Ok(source) => source.changed().in_buffer(extent.ordinal).at_offset(extent.offset),
            Err(error) => error,
        }
    }

    /// Goes through a part of the event bytes that begins at `from`.
    pub fn walk<'c>(&self, bytes: &'c [u8], from: u32) -> TimedWalk<'c> {
        TimedWalk::new(bytes, from, self.planned.fallback_ticks)
    }
}
