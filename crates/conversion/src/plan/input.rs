//! What is needed to read the buffers of an input without its survey.

use std::sync::Arc;

use base::clock::{Clock, Ticks};
use base::error::{Error, Result};
use etl::buffer::content::{Content, Scratch};
use etl::event::TimedWalk;
use etl::input::{Identity, Input, InputId, Inputs};
use etl::reader::BufferReader;
use etl::reader::ReadRules;
use serde::{Deserialize, Serialize};

use super::key::Key;
use crate::survey::{BufferSummary, FileKey, FileSurvey, machines};

/// An input as the plan knows it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlannedInput {
    /// The input that was surveyed.
    pub identity: Identity,
    /// The path relative to the input named by the user, with `/`.
    pub name: String,
    /// BLAKE3 of the whole file in lower-case hexadecimal; `None` where it was not wanted.
    pub blake3: Option<String>,
    /// What it takes to read its buffers.
    pub rules: ReadRules,
    /// Length of a timer tick in 100 ns.
    pub timer_resolution: u32,
    /// How many event shapes it has.
    pub shapes: u64,
    /// The number of its machine in the recording: where it is another, an id means something else.
    pub machine: u16,
    /// The conversion of its times.
    pub clock: Clock,
}

impl PlannedInput {
    /// What the survey of a file, which is of this machine, leaves to the plan.
    pub fn of(file: &FileSurvey, machine: u16) -> Self {
        PlannedInput {
            identity: file.identity.clone(),
            name: file.name.clone(),
            blake3: file.blake3.clone(),
            rules: file.rules(),
            timer_resolution: file.session.timer_resolution,
            shapes: file.shapes.len() as u64,
            machine,
            clock: file.clock.clone(),
        }
    }

    /// The same without the time of its last change, by which copies of an input differ.
    #[must_use]
    pub fn without_time(&self) -> Self {
        PlannedInput { identity: Identity { modified: None, tag: None, ..self.identity.clone() }, ..self.clone() }
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
    inputs: &'a Inputs,
}

impl<'a> PlannedInputs<'a> {
    /// The inputs of surveyed files.
    pub fn of(files: &[FileSurvey], inputs: &'a Inputs) -> Self {
        let planned = files.iter().zip(machines(files)).map(|(file, machine)| PlannedInput::of(file, machine));
        PlannedInputs { planned: planned.collect(), inputs }
    }

    /// Inputs that were planned before.
    pub fn new(planned: Vec<PlannedInput>, inputs: &'a Inputs) -> Self {
        PlannedInputs { planned, inputs }
    }

    /// What is known of all of them, in the order of their numbers.
    pub fn into_planned(self) -> Vec<PlannedInput> {
        self.planned
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
    ///
    /// # Errors
    /// Those of [`Inputs::get`].
    pub fn open(&self, input: u16) -> Result<Arc<dyn Input>> {
        self.inputs.get(InputId(input))
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
    /// The input by number.
    pub input: u16,
    /// What the plan has of it.
    pub planned: &'a PlannedInput,
    /// What the survey found in the buffer.
    pub buffer: &'a BufferSummary,
}

impl BufferRef<'_> {
    /// The key of an event of the buffer.
    pub fn key(&self, ticks: i64, offset: u32) -> Key {
        let at = FileKey::in_buffer(&self.planned.rules, &self.buffer.extent)(ticks, offset);
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
    pub fn content<'s>(&self, scratch: &'s mut Scratch) -> Result<Content<'s>> {
        let input = self.inputs.open(self.input)?;
        let reader = BufferReader { rules: self.planned.rules, input: &*input };
        let content = reader.content(&self.buffer.extent, scratch)?;
        if content.bytes().len() != self.buffer.content_bytes as usize {
            return Err(self.changed());
        }
        Ok(content)
    }

    /// What is said where the buffer is not what the survey has seen.
    pub fn changed(&self) -> Error {
        let extent = &self.buffer.extent;
        match self.inputs.open(self.input) {
            Ok(input) => input.changed().in_buffer(extent.ordinal).at_offset(extent.offset),
            Err(error) => error,
        }
    }

    /// Goes through a part of the event bytes that begins at `from`.
    pub fn walk<'c>(&self, bytes: &'c [u8], from: u32) -> TimedWalk<'c> {
        self.planned.rules.walk(bytes, from, self.buffer.gap)
    }
}
