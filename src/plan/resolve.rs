//! Event shapes of a recording: all files' tallies together, each with the layout it uses.

use std::collections::BTreeMap;
use std::sync::Arc;

use rayon::prelude::*;

use super::binaries::Binaries;
use super::choose::{self, Choice, Unseen};
use super::evidence::{self, Sample};
use crate::clock::Ticks;
use crate::error::{Error, ErrorKind, Result};
use crate::event::ShapeKey;
use crate::guid::Guid;
use crate::layout::header::HeaderKind;
use crate::schema::Registry;
use crate::schema::registry::{Candidate, string_candidate};
use crate::schema::wpp::MessageFormat;
use crate::survey::tally::SAMPLES_PER_SHAPE;
use crate::survey::{FileSurvey, Progress, Work, timed};

/// An event shape with its layout.
#[derive(Debug)]
pub struct Resolved {
    /// What identifies it.
    pub key: ShapeKey,
    /// Readable events.
    pub events: u64,
    /// Earliest event, Unix nanoseconds.
    pub first_ns: i64,
    /// Latest event, Unix nanoseconds.
    pub last_ns: i64,
    /// The provider's name in the traits of its events.
    pub traits_name: Option<String>,
    /// The identity under which schemas are looked up; another than the provider's where its traits say so.
    pub schema_provider: Guid,
    /// How many layouts were considered.
    pub candidates: usize,
    /// Which of them, and of the samples, were not looked at.
    pub unseen: Unseen,
    /// The layout.
    pub choice: Option<Choice>,
    /// The format of a WPP message.
    pub message: Option<Arc<MessageFormat>>,
    /// Whether its payloads have no bytes, as far as samples tell.
    pub is_empty: bool,
}

/// All shapes of a recording in the order of their keys, which gives them their numbers, and what the recording says of
/// the binaries that wrote it.
///
/// # Errors
/// When a file cannot be read.
pub fn resolve(
    files: &[FileSurvey],
    registry: &Registry,
    progress: &dyn Progress,
) -> Result<(Vec<Resolved>, Binaries)> {
    let mut shapes = Shapes::new();
    for file in files {
        let samples = evidence::samples(file, progress)?;
        timed(progress, Work::Plan, || add_shapes(&mut shapes, file, samples));
    }
    let mut binaries = Binaries::default();
    for (key, (totals, samples)) in &shapes {
        binaries.read(&key.identity, samples, totals.events);
    }
    let steps = choose::steps(shapes.len());
    let resolve = |(key, (totals, samples)): (&ShapeKey, (Totals, Vec<Sample>))| {
        if progress.is_cancelled() {
            return Err(Error::new(ErrorKind::Interrupted, "interrupted"));
        }
        Ok(timed(progress, Work::Schema, move || resolve_one(key, &totals, &samples, registry, steps)))
    };
    let shapes: Vec<_> = shapes.into_iter().collect();
    Ok((shapes.into_par_iter().map(resolve).collect::<Result<_>>()?, binaries))
}

/// Shapes by key, each with its totals and samples.
type Shapes<'a> = BTreeMap<&'a ShapeKey, (Totals, Vec<Sample>)>;

fn add_shapes<'a>(shapes: &mut Shapes<'a>, file: &'a FileSurvey, samples: Vec<Vec<Sample>>) {
    for ((key, tally), samples) in file.shapes.iter().zip(samples) {
        let unix = |ticks| file.clock.to_unix(Ticks(ticks)).0;
        let (totals, all) = shapes.entry(key).or_default();
        totals.add(tally.events, unix(tally.first_ticks), unix(tally.last_ticks));
        all.extend(samples);
        all.truncate(SAMPLES_PER_SHAPE);
    }
}

#[derive(Default)]
struct Totals {
    events: u64,
    range: Option<(i64, i64)>,
}

impl Totals {
    fn add(&mut self, events: u64, first: i64, last: i64) {
        self.events += events;
        let (from, to) = self.range.unwrap_or((first, last));
        self.range = Some((from.min(first), to.max(last)));
    }
}

fn resolve_one(key: &ShapeKey, totals: &Totals, samples: &[Sample], registry: &Registry, steps: u64) -> Resolved {
    let traits = samples.iter().find_map(|sample| sample.traits.as_ref());
    let schema_provider = traits.and_then(|traits| traits.decode).unwrap_or(key.identity.provider);
    let candidates = candidates(key, schema_provider, samples, registry);
    let (choice, unseen) = choose::choose(&candidates, samples, key.identity.pointer_size, steps);
    let (first_ns, last_ns) = totals.range.unwrap_or_default();
    Resolved {
        key: key.clone(),
        events: totals.events,
        first_ns,
        last_ns,
        traits_name: traits.map(|traits| traits.name.clone()).filter(|name| !name.is_empty()),
        schema_provider,
        candidates: candidates.len(),
        choice: choice.filter(|choice| describes(choice, samples)),
        unseen,
        message: registry.message(&key.identity).cloned(),
        is_empty: samples.iter().all(|sample| sample.payload.is_empty()),
    }
}

fn candidates(key: &ShapeKey, provider: Guid, samples: &[Sample], registry: &Registry) -> Vec<Candidate> {
    if !samples.is_empty() && samples.iter().all(|sample| sample.string_only) {
        return vec![string_candidate()];
    }
    if matches!(key.identity.kind, HeaderKind::Message) {
        return Vec::new();
    }
    let mut shape = key.as_ref();
    shape.identity.provider = provider;
    let processes: Vec<u32> = samples.iter().filter_map(|sample| sample.process_id).collect();
    registry.candidates(shape, &processes)
}

/// A description without fields says nothing of events that have a payload.
fn describes(choice: &Choice, samples: &[Sample]) -> bool {
    !choice.candidate.schema.fields.is_empty() || samples.iter().any(|sample| sample.payload.is_empty())
}
