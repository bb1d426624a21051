//! The event shapes of a file and what is counted of each, in bounded memory.
//!
//! Real traces have some thousand shapes; a hostile one can have a new shape in every event. The shapes that come first
//! in the order of their keys are kept, as many as the limits allow; events of all others are counted by their header
//! family alone. That rule makes the split of the work invisible: a key that is too far behind among some of the events is
//! so among all of them, so what one worker gives up, no other one needs.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::ops::Range;

use etl::event::stack::Walkable;
use etl::event::{EventIdentity, FileContext, RawEvent, RecentShapes, Shape, ShapeRef};
use etl::layout::header::HeaderFamily;
use hashbrown::HashMap;
use serde::{Deserialize, Serialize};

use super::file_key::FileKey;
use super::marked::Mark;

/// How many events of a shape are kept as samples: the lowest in order.
pub const SAMPLES_PER_SHAPE: usize = 64;

/// How many samples all shapes have together, as long as each has one at least.
const SAMPLES: usize = 1 << 18;

/// What the shapes of a recording may weigh together: many times what real traces have.
pub const MAX_WEIGHT: usize = 1 << 16;

/// TraceLogging metadata that weighs as much as a shape without it.
const METADATA_PER_WEIGHT: usize = 128;

/// What a shape weighs: one, and more with much metadata.
pub fn weight(key: &Shape) -> usize {
    1 + key.metadata.len() / METADATA_PER_WEIGHT
}

/// How many samples each of some shapes has, by their weight.
pub fn samples_per_shape(weight: usize) -> usize {
    (SAMPLES / weight.next_power_of_two()).clamp(1, SAMPLES_PER_SHAPE)
}

/// What is counted of one event shape.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ShapeSummary {
    /// Events.
    pub events: u64,
    /// Smallest time in ticks.
    pub first_ticks: i64,
    /// Largest time in ticks.
    pub last_ticks: i64,
    /// The lowest events in order, ascending.
    pub samples: Vec<FileKey>,
    /// What is not later than this, in ticks, may be a sample.
    bar: i64,
    mark: Mark,
}

impl ShapeSummary {
    fn new(identity: &EventIdentity, ticks: i64) -> Self {
        ShapeSummary {
            events: 0,
            first_ticks: ticks,
            last_ticks: ticks,
            samples: Vec::new(),
            bar: i64::MAX,
            mark: Mark::of(identity),
        }
    }

    /// Counts an event; says whether it may be a sample.
    #[inline]
    fn count(&mut self, at: FileKey) -> bool {
        self.events += 1;
        self.first_ticks = self.first_ticks.min(at.ticks);
        self.last_ticks = self.last_ticks.max(at.ticks);
        at.ticks <= self.bar
    }

    /// Keeps the samples sorted and few. Events come nearly in order, so this is rare once there are enough.
    fn sample(&mut self, at: FileKey, limit: usize) {
        if self.samples.len() >= limit && self.samples.last().is_some_and(|last| *last < at) {
            return;
        }
        let place = self.samples.partition_point(|sample| *sample < at);
        self.samples.insert(place, at);
        self.limit(limit);
    }

    fn limit(&mut self, limit: usize) {
        self.samples.truncate(limit);
        if let Some(last) = limit.checked_sub(1).and_then(|last| self.samples.get(last)) {
            self.bar = last.ticks;
        }
    }

    fn add(&mut self, other: ShapeSummary, limit: usize) {
        self.events += other.events;
        self.first_ticks = self.first_ticks.min(other.first_ticks);
        self.last_ticks = self.last_ticks.max(other.last_ticks);
        self.samples.extend(other.samples);
        self.samples.sort_unstable();
        self.limit(limit);
    }
}

/// Event shapes by key.
#[derive(Debug)]
pub struct Shapes {
    max_weight: usize,
    /// The place of each among the summaries.
    known: HashMap<Shape, u32>,
    summaries: Vec<ShapeSummary>,
    /// Where events of each name the thread by which walks refer to them.
    walkable: Vec<Option<Walkable>>,
    /// The places of shapes that were counted last.
    recent: RecentShapes,
    /// Weight of those that are known.
    weight: usize,
    /// The first key that was given up; it and all behind it are not distinguished.
    ceiling: Option<Shape>,
    /// The events that are not distinguished, by header family.
    rest: BTreeMap<HeaderFamily, ShapeSummary>,
    /// How many samples each shape keeps.
    samples: usize,
}

impl Default for Shapes {
    fn default() -> Self {
        Shapes::limited(MAX_WEIGHT)
    }
}

impl Shapes {
    fn limited(max_weight: usize) -> Self {
        Shapes {
            max_weight,
            known: HashMap::new(),
            summaries: Vec::new(),
            walkable: Vec::new(),
            recent: RecentShapes::default(),
            weight: 0,
            ceiling: None,
            rest: BTreeMap::new(),
            samples: SAMPLES_PER_SHAPE,
        }
    }

    /// Counts an event of a file; says why it is worth remembering, and where walks find it, if they may.
    #[inline]
    pub fn count(&mut self, event: &RawEvent<'_>, file: &FileContext, at: FileKey) -> (Mark, Option<Walkable>) {
        match self.recent.find(event, file) {
            Ok(place) => self.count_at(place, at),
            Err(shape) => {
                let of_event = ShapeRef::of(event, file);
                let (mark, place) = self.count_shape(&of_event, at);
                if let Some(place) = place {
                    self.recent.remember(&shape, place);
                }
                (mark, Walkable::of(&of_event.identity))
            }
        }
    }

    #[inline]
    fn count_at(&mut self, place: u32, at: FileKey) -> (Mark, Option<Walkable>) {
        let summary = &mut self.summaries[place as usize];
        if summary.count(at) {
            summary.sample(at, self.samples);
        }
        (summary.mark, self.walkable[place as usize])
    }

    /// Counts an event; says its mark and where its shape is counted, unless that was given up.
    #[cold]
    fn count_shape(&mut self, shape: &ShapeRef<'_>, at: FileKey) -> (Mark, Option<u32>) {
        if let Some(&place) = self.known.get(shape) {
            return (self.count_at(place, at).0, Some(place));
        }
        let mut summary = ShapeSummary::new(&shape.identity, at.ticks);
        summary.count(at);
        let mark = summary.mark;
        if self.is_given_up(shape) {
            add_rest(&mut self.rest, shape.identity.family, summary);
            return (mark, None);
        }
        summary.sample(at, self.samples);
        self.insert(shape.to_key(), summary);
        // Rarely, it was given up at once.
        (mark, self.known.get(shape).copied())
    }

    fn is_given_up(&self, shape: &ShapeRef<'_>) -> bool {
        self.ceiling.as_ref().is_some_and(|ceiling| *shape >= ceiling.as_ref())
    }

    fn insert(&mut self, key: Shape, summary: ShapeSummary) {
        self.add_known(key, summary);
        // At twice the limit, so that shapes are sorted once for many that are new.
        if self.weight > 2 * self.max_weight {
            self.trim();
        }
        self.share_samples();
    }

    fn add_known(&mut self, key: Shape, summary: ShapeSummary) {
        self.weight += weight(&key);
        // No more than twice the limit.
        let place = u32::try_from(self.summaries.len()).unwrap_or(u32::MAX);
        self.walkable.push(Walkable::of(&key.identity));
        self.known.insert(key, place);
        self.summaries.push(summary);
    }

    /// Takes all out that are known.
    fn take_known(&mut self) -> impl Iterator<Item = (Shape, ShapeSummary)> + use<> {
        self.recent.clear();
        self.walkable.clear();
        self.weight = 0;
        let mut keys: Vec<_> = self.known.drain().map(|(key, place)| (place, key)).collect();
        keys.sort_unstable_by_key(|(place, _)| *place);
        keys.into_iter().map(|(_, key)| key).zip(std::mem::take(&mut self.summaries))
    }

    /// Gives up what is beyond the limit.
    fn trim(&mut self) {
        if self.weight <= self.max_weight {
            return;
        }
        let mut keys: Vec<&Shape> = self.known.keys().collect();
        keys.sort_unstable();
        let ceiling = first_beyond(keys.into_iter(), self.max_weight).cloned();
        if let Some(ceiling) = ceiling {
            self.give_up(ceiling);
        }
    }

    /// Gives up what is at the ceiling and above.
    fn give_up(&mut self, ceiling: Shape) {
        for (key, summary) in self.take_known() {
            if key < ceiling {
                self.add_known(key, summary);
            } else {
                add_rest(&mut self.rest, key.identity.family, summary);
            }
        }
        self.ceiling = Some(ceiling);
    }

    /// Many shapes have fewer samples each. As the shapes of a recording only become more the more of it is seen, none
    /// lacks a sample that it had to give back.
    fn share_samples(&mut self) {
        let seen = if self.ceiling.is_some() { self.max_weight } else { self.weight.min(self.max_weight) };
        let samples = samples_per_shape(seen);
        if samples < self.samples {
            self.samples = samples;
            self.summaries.iter_mut().for_each(|summary| summary.limit(samples));
        }
    }

    /// Adds the shapes of other events.
    pub fn add(&mut self, mut other: Shapes) {
        if let Some(ceiling) = other.ceiling.take()
            && self.ceiling.as_ref().is_none_or(|own| ceiling < *own)
        {
            self.give_up(ceiling);
            self.share_samples();
        }
        for (key, summary) in other.take_known() {
            self.add_shape(key, summary);
        }
        for (family, summary) in other.rest {
            add_rest(&mut self.rest, family, summary);
        }
    }

    fn add_shape(&mut self, key: Shape, summary: ShapeSummary) {
        if self.is_given_up(&key.as_ref()) {
            add_rest(&mut self.rest, key.identity.family, summary);
        } else if let Some(&place) = self.known.get(&key) {
            self.summaries[place as usize].add(summary, self.samples);
        } else {
            self.insert(key, summary);
        }
    }

    /// All that is counted, to be added up elsewhere.
    pub(super) fn into_stored(mut self) -> StoredShapes {
        self.trim();
        let (samples, ceiling) = (self.samples, self.ceiling.take());
        let mut known: Vec<_> = self.take_known().collect();
        known.iter_mut().for_each(|(_, summary)| summary.limit(samples));
        known.sort_unstable_by(|a, b| a.0.cmp(&b.0));
        StoredShapes { known, ceiling, rest: self.rest }
    }

    /// Adds the shapes of other events, of buffers whose numbers are higher by `shift`.
    pub(super) fn add_stored(&mut self, stored: StoredShapes, shift: u64) {
        let StoredShapes { known, ceiling, rest } = stored;
        let mut other = Shapes { ceiling, rest, ..Shapes::limited(self.max_weight) };
        for (key, mut summary) in known {
            summary.samples.iter_mut().for_each(|at| at.ordinal = at.ordinal.saturating_add(shift));
            other.add_known(key, summary);
        }
        self.add(other);
    }

    /// All shapes in the order of their keys; behind them, one for each header family whose events are not all distinguished.
    pub fn finish(mut self) -> Vec<(Shape, ShapeSummary)> {
        self.trim();
        let samples = self.samples;
        let limited = |(key, mut summary): (Shape, ShapeSummary)| {
            summary.limit(samples);
            summary.samples.shrink_to_fit();
            (key, summary)
        };
        let known = self.take_known();
        let rest = self.rest.into_iter().map(|(family, summary)| (Shape::rest(family), summary));
        let mut shapes: Vec<_> = known.map(limited).chain(rest).collect();
        shapes.sort_unstable_by(|a, b| a.0.cmp(&b.0));
        shapes
    }
}

/// What [`Shapes`] have counted.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct StoredShapes {
    /// Those that are kept, in the order of their keys.
    known: Vec<(Shape, ShapeSummary)>,
    ceiling: Option<Shape>,
    rest: BTreeMap<HeaderFamily, ShapeSummary>,
}

impl StoredShapes {
    /// Whether they may be those of so many events in buffers with these numbers: what comes from a file is not believed.
    pub(super) fn may_be_of(&self, buffers: &Range<u64>, events: u64) -> bool {
        let summaries = || self.known.iter().map(|(_, summary)| summary).chain(self.rest.values());
        let are_few = |summary: &ShapeSummary| {
            summary.samples.len() <= SAMPLES_PER_SHAPE
                && summary.samples.is_sorted()
                && summary.samples.iter().all(|at| buffers.contains(&at.ordinal))
        };
        let is_below = |key: &Shape| self.ceiling.as_ref().is_none_or(|ceiling| key < ceiling);
        let last = self.known.last();
        self.known.is_sorted_by(|a, b| a.0 < b.0)
            && last.is_none_or(|(key, _)| is_below(key))
            && self.known.iter().map(|(key, _)| weight(key)).sum::<usize>() <= MAX_WEIGHT
            && self.rest.values().all(|summary| summary.samples.is_empty())
            && summaries().all(are_few)
            && summaries().map(|summary| summary.events).try_fold(0, u64::checked_add) == Some(events)
    }
}

/// Of keys in ascending order, the first that goes beyond a weight together with those before it.
pub fn first_beyond<'a>(mut keys: impl Iterator<Item = &'a Shape>, max_weight: usize) -> Option<&'a Shape> {
    let mut all = 0;
    keys.find(|key| {
        all += weight(key);
        all > max_weight
    })
}

/// Adds the events of a shape to those of their header family that are not distinguished; such have no samples.
fn add_rest(rest: &mut BTreeMap<HeaderFamily, ShapeSummary>, family: HeaderFamily, summary: ShapeSummary) {
    match rest.entry(family) {
        Entry::Vacant(vacant) => {
            vacant.insert(ShapeSummary { samples: Vec::new(), ..summary });
        }
        Entry::Occupied(mut all) => all.get_mut().add(summary, 0),
    }
}

#[cfg(test)]
mod tests {
    use base::guid::Guid;
    use proptest::prelude::*;

    use super::*;

    fn key(provider: u8, id: u16, metadata: usize) -> Shape {
        let identity = EventIdentity {
            provider: Guid([provider; 16]),
            group: 0,
            id,
            version: 0,
            opcode: 0,
            property: 0,
            pointer_size: 8,
            family: HeaderFamily::Event64,
        };
        Shape { identity, metadata: vec![1; metadata].into() }
    }

    fn at(ordinal: u64) -> FileKey {
        FileKey { ticks: i64::try_from(ordinal / 2).unwrap(), stream: 0, sequence: 0, ordinal, offset: 0 }
    }

    fn counted<'a>(limit: usize, events: impl Iterator<Item = (u64, &'a Shape)>) -> Shapes {
        let mut shapes = Shapes::limited(limit);
        events.for_each(|(place, key)| {
            shapes.count_shape(&key.as_ref(), at(place));
        });
        shapes
    }

    #[test]
    fn keys_beyond_the_limit_are_counted_by_header_kind() {
        let keys = [key(3, 1, 0), key(1, 2, 0), key(2, 1, 0), key(1, 1, 0), key(3, 1, 0), key(2, 1, 0), key(9, 1, 0)];
        let shapes = counted(2, (0..).zip(&keys)).finish();
        let found: Vec<_> =
            shapes.iter().map(|(key, summary)| (key.clone(), summary.events, summary.samples.len())).collect();
        let rest = Shape::rest(HeaderFamily::Event64);
        assert_eq!(found, [(key(1, 1, 0), 1, 1), (key(1, 2, 0), 1, 1), (rest, 5, 0)]);
        assert_eq!((shapes[2].1.first_ticks, shapes[2].1.last_ticks), (0, 3));
    }

    #[test]
    fn metadata_weighs() {
        let keys = [key(1, 1, 4 * METADATA_PER_WEIGHT), key(2, 1, 0), key(3, 1, 0)];
        let shapes = counted(6, (0..).zip(&keys)).finish();
        let found: Vec<_> = shapes.iter().map(|(key, _)| key.clone()).collect();
        assert_eq!(found, [keys[0].clone(), keys[1].clone(), Shape::rest(HeaderFamily::Event64)]);
    }

    #[test]
    fn many_shapes_have_few_samples_each() {
        let keys: Vec<_> = (0..=u16::MAX).map(|id| key(1, id, 0)).collect();
        let events = (0u64..8).flat_map(|round| keys.iter().map(move |key| (round, key)));
        let shapes = counted(MAX_WEIGHT, (0..).zip(events).map(|(place, (_, key))| (place, key))).finish();
        assert_eq!(shapes.len(), 1 << 16);
        assert!(shapes.iter().all(|(_, summary)| summary.events == 8 && summary.samples.len() == 4));
        let first: Vec<u64> = shapes[7].1.samples.iter().map(|sample| sample.ordinal).collect();
        assert_eq!(first, [7, (1 << 16) + 7, (2 << 16) + 7, (3 << 16) + 7]);
    }

    proptest! {
        /// However the events are split among workers, and in whatever order these are added up.
        #[test]
        fn the_split_of_the_work_does_not_show(
            events in prop::collection::vec((0u8..4, 0u16..6, 0usize..3, 0usize..3), 0..60),
            limit in 1usize..20,
        ) {
            let keys: Vec<(Shape, usize)> = events
                .iter()
                .map(|&(provider, id, metadata, worker)| (key(provider, id, metadata * METADATA_PER_WEIGHT), worker))
                .collect();
            let of = |worker: usize| (0..).zip(&keys).filter(move |(_, (_, own))| *own == worker);
            let fields = |shapes: &[(Shape, ShapeSummary)]| -> Vec<_> {
                let fields = |(key, summary): &(Shape, ShapeSummary)| {
                    (key.clone(), summary.events, summary.first_ticks, summary.last_ticks, summary.samples.clone())
                };
                shapes.iter().map(fields).collect()
            };
            let whole = counted(limit, (0..).zip(&keys).map(|(place, (key, _))| (place, key))).finish();
            let mut joined = Shapes::limited(limit);
            for worker in [1, 0, 2] {
                let counted = counted(limit, of(worker).map(|(place, (key, _))| (place, key)));
                let text = serde_json::to_string(&counted.into_stored()).unwrap();
                joined.add_stored(serde_json::from_str(&text).unwrap(), 0);
            }
            prop_assert_eq!(fields(&joined.finish()), fields(&whole));
            for order in [[0, 1, 2], [2, 1, 0], [1, 0, 2]] {
                let mut sum = Shapes::limited(limit);
                for worker in order {
                    sum.add(counted(limit, of(worker).map(|(place, (key, _))| (place, key))));
                }
                prop_assert_eq!(fields(&sum.finish()), fields(&whole));
            }
        }
    }
}
