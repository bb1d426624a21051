//! More cuts, where slices turned out to hold more than they may.
//!
//! A sample of the events of such a slice says where they lie: each event is in it with a chance in proportion to the
//! work that it makes, so that equal numbers of samples stand for equal work. Which events are drawn depends on their places
//! and on the content of the input alone, so cuts do, too.

use base::error::Result;
use base::progress::{Progress, Step, stop_if_cancelled, timed};
use etl::buffer::content::Scratch;
use rayon::prelude::*;

use super::cost::EVENT_COST;
use super::segments::{PlacedSegment, windows};
use crate::plan::{Key, PartitionView, PlannedInput, part_of};

/// Samples that stand for as much work as a slice may be.
const SAMPLES: u64 = 128;

/// A slice that holds too much.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Overfull {
    /// Its number among the slices between the cuts that there are.
    pub(super) slice: usize,
    pub(super) events: u64,
    pub(super) cost: u64,
}

/// Keys of events that cut slices into parts of about half of `max_cost`, where there are such.
///
/// # Errors
/// When a file cannot be read, and when the caller asked to stop.
pub(super) fn cuts(
    view: &PartitionView<'_>,
    cuts: &[Key],
    overfull: &[Overfull],
    max_cost: u64,
    progress: &dyn Progress,
) -> Result<Vec<Key>> {
    if overfull.is_empty() {
        return Ok(Vec::new());
    }
    let seeds = view.inputs.iter().map(seed).collect();
    let sampling = Sampling { cuts, overfull, step: (max_cost / SAMPLES).max(1), seeds };
    let mut samples = Vec::new();
    for window in windows(view) {
        stop_if_cancelled(progress)?;
        let sampled = window.par_iter().map_init(Scratch::default, |scratch, place| {
            timed(progress, Step::Cut, || sampling.samples(place, scratch))
        });
        samples.extend(sampled.collect::<Result<Vec<_>>>()?.into_iter().flatten());
    }
    samples.sort_unstable();
    let parts = samples.chunk_by(|a, b| a.0 == b.0);
    let every = usize::try_from(SAMPLES / 2).unwrap_or(1);
    Ok(parts.flat_map(|part| part.iter().skip(every).step_by(every).map(|(_, key)| *key)).collect())
}

struct Sampling<'a> {
    cuts: &'a [Key],
    overfull: &'a [Overfull],
    /// Step that a sample stands for.
    step: u64,
    /// Of every input, what the lots of its events are drawn with.
    seeds: Vec<u64>,
}

impl Sampling<'_> {
    /// The events of a buffer that are in the sample, each with the number of its slice.
    fn samples(&self, place: &PlacedSegment<'_>, scratch: &mut Scratch) -> Result<Vec<(usize, Key)>> {
        let mut samples = Vec::new();
        if place.segment.events == 0 {
            return Ok(samples);
        }
        let (first, last) = place.span(self.cuts);
        let touched = self.overfull.partition_point(|slice| slice.slice < first);
        if self.overfull.get(touched).is_none_or(|slice| slice.slice > last) {
            return Ok(samples);
        }
        place.keys(scratch, |key, event| {
            let slice = part_of(self.cuts, &key);
            if let Ok(at) = self.overfull.binary_search_by_key(&slice, |slice| slice.slice)
                && self.takes(&key, event.bytes.len() as u64, &self.overfull[at])
            {
                samples.push((slice, key));
            }
        })?;
        Ok(samples)
    }

    /// Whether an event of so many bytes is in the sample.
    fn takes(&self, key: &Key, bytes: u64, slice: &Overfull) -> bool {
        // What the slice costs beside events is spread over them.
        let own = bytes.saturating_mul(2).saturating_add(EVENT_COST);
        let cost = own.max(slice.cost / slice.events.max(1));
        let chance = u128::from(cost) << u64::BITS;
        u128::from(scattered(key, self.seeds[usize::from(key.input)])) * u128::from(self.step) < chance
    }
}

/// A number that follows from the content of an input: who makes a file cannot choose which of its events are in the
/// sample, since whatever is changed in it changes all of them.
fn seed(input: &PlannedInput) -> u64 {
    let content = input.blake3.as_deref().unwrap_or_default();
    let hash = blake3::hash(format!("{content} {}", input.identity.size).as_bytes());
    hash.as_bytes().first_chunk().map_or(0, |bytes| u64::from_le_bytes(*bytes))
}

/// The place of an event as a number that looks as if drawn by lot: the finalizer of SplitMix64 over buffer and offset.
fn scattered(key: &Key, seed: u64) -> u64 {
    let place = key.at.ordinal.wrapping_mul(1 << 24).wrapping_add(u64::from(key.at.offset));
    let mixed = place.wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ seed;
    let mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    mixed ^ (mixed >> 31)
}
