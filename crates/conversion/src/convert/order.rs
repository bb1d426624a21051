//! Brings the events of a slice into the order of the recording.
//!
//! The order is (time, input, tick, stream, buffer sequence, offset). The segments of a slice come by input, stream and
//! sequence, and within a segment events come by offset; so a stable sort by time alone yields it. The standard
//! library's stable sort finds the ascending runs and merges them: on what Windows writes, one run per stream, that
//! is a k-way merge, and on anything else it is still a sort.
//!
//! Where filters leave events out, only the others are sorted, and ranked among all.

use base::error::{Error, ErrorCode, ErrorKind, Result};
use etl::event::{Event, RawEvent, TimedStep};

use super::aside::{AsideOffsets, AsideWalk};
use super::attribution::{EventAttribution, Selection};
use super::entry::Entry;
use super::load::{LoadedSegments, SliceMemory};
use super::ranks::{self, Skipped};
use super::segments::SliceSegment;
use super::slice_stacks::SliceStacks;
use super::slices::{Slice, Slices};
use crate::plan::filter::Overlap;
use crate::plan::{CompiledFilter, PartitionView, ShapeFinder};
use crate::survey::BufferSummary;

/// The events of a slice in order, with their bytes.
#[derive(Debug)]
pub struct OrderedSlice<'a> {
    view: &'a PartitionView<'a>,
    slices: &'a Slices,
    segments: LoadedSegments,
    /// The events that become rows, in order.
    pub entries: Vec<Entry>,
    /// The rank of each among all events of the slice; `None` where all become rows.
    ranks: Option<Vec<u64>>,
    /// Events per input that could be recognised and not read.
    pub damaged: Vec<u64>,
    /// Events per input that the filters leave out.
    pub filtered: Vec<u64>,
}

impl<'a> OrderedSlice<'a> {
    /// Reads and orders a slice of a partition; with a filter, only the events that pass it.
    ///
    /// # Errors
    /// When an input cannot be read, or holds other events than the survey found.
    pub fn read(
        view: &'a PartitionView<'a>,
        selection: Option<Selection<'_>>,
        slices: &'a Slices,
        slice: &Slice,
        memory: &mut SliceMemory,
    ) -> Result<Self> {
        let mut ordered = OrderedSlice {
            view,
            slices,
            segments: LoadedSegments::new(slices.segments(slice).len(), memory),
            entries: Vec::new(),
            ranks: None,
            damaged: vec![0; view.inputs.len()],
            filtered: vec![0; view.inputs.len()],
        };
        match selection {
            None => ordered.take_all(slice)?,
            Some(selection) => ordered.select(slice, selection)?,
        }
        let found = ordered.entries.len() as u64 + ordered.filtered.iter().sum::<u64>();
        if found != slice.events {
            let message = format!("expected {} events in a slice, found {found}", slice.events);
            return Err(Error::new(ErrorKind::Internal, message)
                .with_code(ErrorCode::InputChanged)
                .with_hint("the input must not change while it is read"));
        }
        Ok(ordered)
    }

    /// Leaves the memory of the slice to the next one.
    pub fn recycle(self, memory: &mut SliceMemory) {
        self.segments.recycle(memory);
    }

    fn take_all(&mut self, slice: &Slice) -> Result<()> {
        for segment in self.slices.segments(slice) {
            self.load(segment)?;
        }
        let mut entries = std::mem::take(&mut self.entries);
        entries.reserve_exact(usize::try_from(slice.events).unwrap_or(0));
        let mut damaged = std::mem::take(&mut self.damaged);
        for (number, segment) in self.segments.iter() {
            let planned = self.view.inputs.get(segment.input);
            damaged[usize::from(segment.input)] += self.visit(number, |raw, ticks| {
                entries.push(Entry { ns: planned.unix_ns(ticks), ticks, segment: number, offset: raw.offset });
                Ok(())
            })?;
        }
        (self.entries, self.damaged) = (entries, damaged);
        self.sort();
        Ok(())
    }

    /// Input and buffer of each segment that was read, in order, and where its events stand in the buffer, if they were set
    /// aside.
    pub(super) fn places(&self) -> impl Iterator<Item = (u16, &BufferSummary, Option<AsideOffsets<'_>>)> {
        self.segments.iter().map(|(_, segment)| {
            let buffer = &self.view.segments[segment.segment as usize].buffer;
            let aside = segment.is_aside().then(|| self.slices.aside_offsets(segment));
            (segment.input, buffer, aside)
        })
    }

    fn load(&mut self, segment: &SliceSegment) -> Result<()> {
        match self.slices.aside(segment) {
            Some(events) => self.segments.push(segment, events),
            None => self.segments.read(self.view, segment)?,
        }
        Ok(())
    }

    /// Visits the events of a segment, each with its time in ticks; says how many could be recognised and not read.
    #[inline]
    fn visit(&self, number: u32, mut visit: impl FnMut(&RawEvent<'_>, i64) -> Result<()>) -> Result<u64> {
        let segment = self.segments.segment(number);
        let bytes = self.segments.bytes(number);
        if segment.is_aside() {
            AsideWalk::new(bytes).try_for_each(|(ticks, raw)| visit(&raw, ticks))?;
            return Ok(self.damaged(segment));
        }
        let buffer = self.view.buffer(&self.view.segments[segment.segment as usize]);
        for step in buffer.walk(bytes, segment.from) {
            if let TimedStep::Event(event) = step {
                visit(&event.raw, event.ticks)?;
            }
        }
        Ok(self.damaged(segment))
    }

    /// Events of its buffer that could be recognised and not read, as far as they are counted for a segment.
    fn damaged(&self, segment: &SliceSegment) -> u64 {
        let buffer = &self.view.segments[segment.segment as usize].buffer;
        if segment.owns_end() { buffer.damaged_events.into() } else { 0 }
    }

    fn sort(&mut self) {
        let segments = &self.segments;
        let input = |entry: &Entry| segments.segment(entry.segment).input;
        // Several ticks of a fast clock share a nanosecond, and all times beyond the limits of 64 bits do.
        if self.view.inputs.has_fine_clock() || self.entries.iter().any(is_saturated) {
            self.entries.sort_by_key(|entry| (entry.ns, input(entry), entry.ticks));
        } else {
            self.entries.sort_by_key(|entry| entry.ns);
        }
    }

    /// Reads the slice, keeps what passes the filter in order, and counts the rest. Buffers outside of the time that
    /// passes are not read: the survey has counted their events.
    fn select(&mut self, slice: &Slice, selection: Selection<'_>) -> Result<()> {
        let mut before = 0;
        for segment in self.slices.segments(slice) {
            match self.overlap(segment, slice, selection.filter) {
                Overlap::Before => before += self.skip(segment),
                Overlap::After => _ = self.skip(segment),
                Overlap::Inside | Overlap::Across => self.load(segment)?,
            }
        }
        let skipped = self.partition_events(slice, selection)?;
        self.sort();
        self.ranks = Some(self.ranks(&skipped, before));
        Ok(())
    }

    /// How the time of a segment lies to the time that passes.
    fn overlap(&self, segment: &SliceSegment, slice: &Slice, filter: &CompiledFilter) -> Overlap {
        self.view.overlap(&self.view.segments[segment.segment as usize], &slice.range, filter.window())
    }

    /// Counts the events of a segment that is not read; says how many they are.
    fn skip(&mut self, segment: &SliceSegment) -> u64 {
        let input = usize::from(segment.input);
        self.damaged[input] += self.damaged(segment);
        self.filtered[input] += u64::from(segment.events);
        u64::from(segment.events)
    }

    /// Finds the events that pass, in no order yet, and those that do not.
    fn partition_events(&mut self, slice: &Slice, selection: Selection<'_>) -> Result<Skipped> {
        let Selection { filter, asked, decoders, owners, stacks } = selection;
        let (mut entries, mut skipped) = (std::mem::take(&mut self.entries), Skipped::default());
        let (mut damaged, mut filtered) = (std::mem::take(&mut self.damaged), std::mem::take(&mut self.filtered));
        let (mut shapes, mut attribution) = (ShapeFinder::new(&decoders.ids), EventAttribution::new(decoders, owners));
        let mut stacks = filter.asks_whose().then(|| SliceStacks::of(stacks, self.places()));
        skipped.events.reserve_exact(usize::try_from(slice.events).unwrap_or(0));
        for (number, segment) in self.segments.iter() {
            let input = usize::from(segment.input);
            let planned = self.view.inputs.get(segment.input);
            let extent = &self.view.segments[segment.segment as usize].buffer.extent;
            let passes_cpu = filter.passes_cpu(planned.rules.cpu(extent));
            let is_inside = self.overlap(segment, slice, filter) == Overlap::Inside;
            let before = skipped.events.len();
            damaged[input] += self.visit(number, |raw, ticks| {
                let ns = || planned.unix_ns(ticks);
                let context = &planned.rules.context;
                let is_theirs = |event: &Event<'_>, shape| {
                    let walked = || stacks.as_mut()?.get(number, raw.offset)?.process;
                    let ids = attribution.ids(planned.machine, event, (raw, context), shape, walked, ns());
                    filter.passes_ids(&ids, |name| asked.contains(name))
                };
                let passes = passes_cpu && filter.passes(raw, context, &mut shapes, is_theirs)?;
                if passes && (is_inside || filter.window().contains(ns())) {
                    entries.push(Entry { ns: ns(), ticks, segment: number, offset: raw.offset });
                } else {
                    skipped.events.push((ticks, raw.offset));
                }
                Ok(())
            })?;
            skipped.ends.push(skipped.events.len());
            filtered[input] += (skipped.events.len() - before) as u64;
        }
        (self.entries, self.damaged, self.filtered) = (entries, damaged, filtered);
        Ok(skipped)
    }

    /// The ranks of the sorted entries among all events, of which so many before them were not read.
    fn ranks(&self, skipped: &Skipped, before: u64) -> Vec<u64> {
        let inputs = self.view.inputs;
        if inputs.len() == 1 {
            // One clock: its ticks are in the order of the times that they stand for.
            return ranks::ranks(&self.entries, skipped, before, |ticks, _| ticks);
        }
        ranks::ranks(&self.entries, skipped, before, |ticks, segment| {
            let input = self.segments.segment(segment).input;
            (inputs.get(input).unix_ns(ticks), input, ticks)
        })
    }

    /// The rank of an entry among all events of the slice, whether they become rows or not.
    pub fn rank(&self, entry: usize) -> u64 {
        self.ranks.as_ref().map_or(entry as u64, |ranks| ranks[entry])
    }

    /// An event's bytes and the segment it lies in.
    #[expect(clippy::inline_always, reason = "an event that goes through memory costs more than to find it")]
    #[inline(always)]
    pub fn event(&self, entry: &Entry) -> (RawEvent<'_>, &SliceSegment) {
        let segment = self.segments.segment(entry.segment);
        let bytes = self.segments.bytes(entry.segment);
        let at = (entry.offset - segment.from) as usize;
        let raw = RawEvent::at(bytes.get(at..).unwrap_or_default(), entry.offset)
            .expect("the walk has found an event at this offset of the same bytes");
        (raw, segment)
    }
}

fn is_saturated(entry: &Entry) -> bool {
    matches!(entry.ns, i64::MIN | i64::MAX)
}
