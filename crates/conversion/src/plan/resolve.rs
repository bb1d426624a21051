//! Event shapes of a recording: all files' counts together, each with the layout it uses.

use std::collections::BTreeMap;
use std::sync::Arc;

use base::error::Result;
use base::guid::Guid;
use base::progress::{Progress, Step, stop_if_cancelled, timed};
use etl::event::Shape;
use etl::input::{InputId, Inputs};
use etl::layout::header::HeaderFamily;
use hashbrown::HashMap;
use rayon::prelude::*;
use schema::numbers::EventNumbers;
use schema::registry::{Candidate, string_candidate};
use schema::settle::EventName;
use schema::wpp::MessageFormat;
use schema::{DecodeSource, Registry};

use super::choose::{self, Choice, Unseen};
use super::event_names;
use super::images::Images;
use super::measure::Measures;
use super::preferred;
use super::samples::{Sample, Samples, Wanted};
use super::templates;
use crate::survey::{FileKey, FileSurvey, Issue, IssueCode, Severity, ShapeSummary, shapes};

/// An event shape with its layout.
#[derive(Debug)]
pub struct Resolved {
    /// What identifies it.
    pub key: Shape,
    /// The first input file that has an event of it.
    pub input: u16,
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
    /// What is settled of its name, whatever describes it.
    pub settled_name: EventName,
    /// The format of a WPP message.
    pub message: Option<Arc<MessageFormat>>,
    /// What the event says in words.
    pub template: Option<Arc<str>>,
    /// Whether its payloads have no bytes, as far as samples show.
    pub is_empty: bool,
}

/// What is known of the shapes of a recording.
#[derive(Debug)]
pub struct Resolution {
    /// All shapes in the order of their keys, which gives them their numbers.
    pub shapes: Vec<Resolved>,
    /// What the recording says of the images that wrote it.
    pub images: Images,
    /// Unusual issues per file.
    pub issues: Vec<Vec<Issue>>,
}

/// Finds the shapes of a recording and chooses their layouts.
///
/// # Errors
/// When a file cannot be read.
pub fn resolve(
    files: &[FileSurvey],
    inputs: &Inputs,
    registry: &Registry,
    progress: &dyn Progress,
) -> Result<Resolution> {
    let (shapes, rest) = timed(progress, Step::Plan, || all_shapes(files));
    let mut issues: Vec<Vec<Issue>> =
        rest.into_iter().map(|events| too_many_shapes(events).into_iter().collect()).collect();
    let mut samples = Samples::new(shapes.len());
    let wanted = timed(progress, Step::Plan, || wanted_samples(files, &shapes));
    for ((file, wanted), id) in files.iter().zip(wanted).zip((0..).map(InputId)) {
        samples.read(file, &*inputs.get(id)?, &wanted, progress)?;
    }
    let samples = samples.finish();
    for (input, unseen) in unsampled(&shapes, &samples) {
        issues[usize::from(input)].push(no_sample(unseen));
    }
    let mut images = Images::default();
    for ((key, totals), samples) in shapes.iter().zip(&samples) {
        images.read(&key.identity, samples, totals.events);
    }
    let (steps, measures) = (choose::steps(shapes.len()), &Measures::default());
    let resolve = |((key, totals), samples): ((Shape, Totals), Vec<Sample>)| {
        stop_if_cancelled(progress)?;
        Ok(timed(progress, Step::Schema, move || resolve_one(key, &totals, &samples, registry, (steps, measures))))
    };
    let shapes: Vec<_> = shapes.into_iter().zip(samples).collect();
    let shapes = shapes.into_par_iter().map(resolve).collect::<Result<_>>()?;
    Ok(Resolution { shapes, images, issues })
}

/// All shapes of a recording in the order of their keys, as many as are distinguished, and per file how many events are of
/// others.
fn all_shapes(files: &[FileSurvey]) -> (BTreeMap<Shape, Totals>, Vec<u64>) {
    let mut known: BTreeMap<&Shape, Totals> = BTreeMap::new();
    for (file, input) in files.iter().zip(0..) {
        for (key, summary) in &file.shapes {
            known.entry(key).or_insert_with(|| Totals::new(input)).add(file, summary);
        }
    }
    let distinguished = known.keys().copied().filter(|key| !key.identity.is_rest());
    let ceiling = shapes::first_beyond(distinguished, shapes::MAX_WEIGHT);
    let is_rest = |key: &Shape| key.identity.is_rest() || ceiling.is_some_and(|ceiling| key >= ceiling);
    let rest_of = |file: &FileSurvey| {
        let rest = file.shapes.iter().filter(|(key, _)| is_rest(key));
        rest.map(|(_, summary)| summary.events).sum()
    };
    let rest = files.iter().map(rest_of).collect();
    let mut all: BTreeMap<Shape, Totals> = BTreeMap::new();
    for (key, totals) in known {
        let key = if is_rest(key) { Shape::rest(key.identity.family) } else { key.clone() };
        all.entry(key).and_modify(|all| all.merge(&totals)).or_insert(totals);
    }
    (all, rest)
}

/// Per file, the samples that are wanted: of each shape those that are lowest in the order of all files.
fn wanted_samples(files: &[FileSurvey], shapes: &BTreeMap<Shape, Totals>) -> Vec<Vec<Wanted>> {
    let per_shape = shapes::samples_per_shape(shapes.keys().map(shapes::weight).sum());
    let mut lowest: Vec<Vec<(i64, u16, FileKey)>> = vec![Vec::new(); shapes.len()];
    let numbers: HashMap<&Shape, usize> = shapes.keys().zip(0..).collect();
    for (file, input) in files.iter().zip(0..) {
        for (key, summary) in &file.shapes {
            let Some(&number) = numbers.get(key) else { continue };
            let samples = summary.samples.iter().map(|at| (file.unix_ns(at.ticks), input, *at));
            lowest[number].extend(samples);
            lowest[number].sort_unstable();
            lowest[number].truncate(per_shape);
        }
    }
    let mut wanted: Vec<Vec<Wanted>> = vec![Vec::new(); files.len()];
    for (shape, lowest) in lowest.into_iter().enumerate() {
        for ((_, input, at), rank) in lowest.into_iter().zip(0..) {
            wanted[usize::from(input)].push(Wanted { shape, rank, at });
        }
    }
    wanted
}

fn too_many_shapes(events: u64) -> Option<Issue> {
    let message = format!(
        "{events} events are not decoded and stand in the dataset Other: expected event shapes of a total weight of at \
         most {}, where one without metadata weighs 1, found more; those that come first in the order of their providers \
         are told apart",
        shapes::MAX_WEIGHT
    );
    (events > 0).then(|| Issue::new(Severity::Warning, IssueCode::TooManyShapes, message))
}

/// How many shapes have no sample because others took the room, by the first file that has events of them.
fn unsampled(shapes: &BTreeMap<Shape, Totals>, samples: &[Vec<Sample>]) -> BTreeMap<u16, u64> {
    let mut unsampled = BTreeMap::new();
    for ((key, totals), samples) in shapes.iter().zip(samples) {
        if samples.is_empty() && !key.identity.is_rest() {
            *unsampled.entry(totals.input).or_default() += 1;
        }
    }
    unsampled
}

fn no_sample(shapes: u64) -> Issue {
    let message = format!(
        "the layouts of {shapes} event shapes are chosen without a look at their events: the samples of the others are \
         too large together"
    );
    Issue::new(Severity::Warning, IssueCode::ShapesWithoutSample, message)
}

/// What is counted of a shape in all files.
#[derive(Debug)]
struct Totals {
    /// The first file with an event of it.
    input: u16,
    events: u64,
    range: Option<(i64, i64)>,
}

impl Totals {
    fn new(input: u16) -> Totals {
        Totals { input, events: 0, range: None }
    }

    fn add(&mut self, file: &FileSurvey, summary: &ShapeSummary) {
        let unix = |ticks| file.unix_ns(ticks);
        let range = Some((unix(summary.first_ticks), unix(summary.last_ticks)));
        self.merge(&Totals { input: self.input, events: summary.events, range });
    }

    fn merge(&mut self, other: &Totals) {
        self.input = self.input.min(other.input);
        self.events += other.events;
        self.range = match (self.range, other.range) {
            (Some((from, to)), Some((first, last))) => Some((from.min(first), to.max(last))),
            (own, other) => own.or(other),
        };
    }
}

fn resolve_one(
    key: Shape,
    totals: &Totals,
    samples: &[Sample],
    registry: &Registry,
    (steps, measures): (u64, &Measures),
) -> Resolved {
    let traits = samples.iter().find_map(|sample| sample.traits.as_ref());
    let schema_provider = traits.and_then(|traits| traits.decode).unwrap_or(key.identity.provider);
    let candidates = candidates(&key, schema_provider, samples, registry);
    let (choice, unseen) = choose::choose(&candidates, samples, key.identity.pointer_size, steps, measures);
    let choice = choice.map(|choice| with_settled_maps(choice, &key, &schema_provider, registry));
    let task = samples.iter().find_map(|sample| sample.task);
    let numbers = EventNumbers { task, opcode: Some(key.identity.opcode) };
    let choice = choice.map(|choice| event_names::named(choice, &candidates, numbers));
    let message = registry.message(&key.identity).cloned();
    let template = templates::template(&candidates, choice.as_ref());
    let (first_ns, last_ns) = totals.range.unwrap_or_default();
    let settled_name = settled_name(&key, choice.as_ref(), &schema_provider, registry);
    Resolved {
        settled_name,
        input: totals.input,
        events: totals.events,
        first_ns,
        last_ns,
        traits_name: traits.map(|traits| traits.name.clone()).filter(|name| !name.is_empty()),
        schema_provider,
        candidates: candidates.len() + usize::from(message.is_some()),
        choice: choice.filter(|choice| describes(choice, samples)),
        unseen,
        message,
        template,
        is_empty: samples.iter().all(|sample| sample.payload.is_empty()),
        key,
    }
}

/// Names of values are the pack's where a source has none.
fn with_settled_maps(mut choice: Choice, key: &Shape, provider: &Guid, registry: &Registry) -> Choice {
    use DecodeSource::{EventInfo, EventSource, User};
    if matches!(choice.candidate.source, EventSource | EventInfo | User) && key.metadata.is_empty() {
        let completed = registry.with_settled_maps(&choice.candidate.schema, &key.identity, provider);
        choice.candidate.schema = completed.map_or(choice.candidate.schema, Arc::new);
    }
    choice
}

/// What is settled of the name of a shape; nothing of events that bring theirs along.
pub(super) fn settled_name(key: &Shape, choice: Option<&Choice>, provider: &Guid, registry: &Registry) -> EventName {
    let is_own = |choice: &Choice| choice.candidate.source == DecodeSource::String;
    if key.identity.is_rest() || !key.metadata.is_empty() || choice.is_some_and(is_own) {
        return EventName::Open;
    }
    registry.settled_event_name(&key.identity, provider)
}

impl Resolved {
    /// Whether it stands for events that are not distinguished.
    pub fn is_rest(&self) -> bool {
        self.key.identity.is_rest()
    }

    /// The name people know the event by, also where only its name is known.
    pub fn event_name(&self, registry: &Registry) -> Option<String> {
        if self.is_rest() {
            return None;
        }
        match &self.settled_name {
            EventName::Named(name) => Some(name.clone()),
            EventName::Unnamed => None,
            EventName::Open => {
                let own = self.choice.as_ref().filter(|choice| !choice.names_another);
                let declared = own.and_then(|choice| choice.candidate.schema.event_name.clone());
                declared.or_else(|| registry.classic_name(&self.key.identity))
            }
        }
    }

    /// What the user knows its events by: the event's name, or the provider and a number, and the version.
    pub(super) fn title(&self, registry: &Registry) -> String {
        let identity = &self.key.identity;
        let unnamed = || {
            let provider = registry.provider_name(&identity.provider).unwrap_or_else(|| identity.provider.to_string());
            format!("{provider} event {}", identity.event_id().unwrap_or(u16::from(identity.opcode)))
        };
        format!("{} version {}", self.event_name(registry).unwrap_or_else(unnamed), identity.version)
    }

    /// Forgets how its events are decoded.
    pub fn forget_layout(&mut self) {
        (self.choice, self.message, self.template, self.candidates) = (None, None, None, 0);
    }
}

fn candidates(key: &Shape, provider: Guid, samples: &[Sample], registry: &Registry) -> Vec<Candidate> {
    if key.identity.is_rest() {
        return Vec::new();
    }
    if !samples.is_empty() && samples.iter().all(|sample| sample.string_only) {
        return vec![string_candidate()];
    }
    if matches!(key.identity.family, HeaderFamily::Message) {
        return Vec::new();
    }
    let processes: Vec<u32> = samples.iter().filter_map(|sample| sample.process_id).collect();
    ranked(key, provider, &processes, registry)
}

/// The layouts that are known of a shape, the first to try first; `provider` as for [`settled_name`], `processes` wrote
/// sample events of it.
pub(super) fn ranked(key: &Shape, provider: Guid, processes: &[u32], registry: &Registry) -> Vec<Candidate> {
    let mut shape = key.as_ref();
    shape.identity.provider = provider;
    let mut candidates = registry.candidates(shape, processes);
    if let Some((settled, number)) = registry.settled_layouts(&key.identity, &provider) {
        preferred::prefer(&mut candidates, settled.layouts(number, key.identity.version));
    }
    candidates
}

/// A description without fields says nothing of events that have a payload.
fn describes(choice: &Choice, samples: &[Sample]) -> bool {
    !choice.candidate.schema.fields.is_empty() || samples.iter().any(|sample| sample.payload.is_empty())
}
