//! A filter made ready for one recording: what its shapes and times decide is decided once.

use base::error::Result;
use base::guid::Guid;
use etl::event::named_ids::AttributedIds;
use etl::event::{Event, FileContext, RawEvent};
use etl::layout::header::HeaderFamily;
use serde::{Deserialize, Serialize};

use super::bound::TimeWindow;
use super::conditions::{Filter, ShapeDecision, ShapeInfo};
use crate::plan::shape_ids::ShapeFinder;
use crate::survey::FileSurvey;

/// Decides which events of a recording become rows.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CompiledFilter {
    filter: Filter,
    window: TimeWindow,
    /// By number of the shape.
    decisions: Vec<ShapeDecision>,
    /// One bit per header family of which some shape does not fail. Most filters name events of one family, and an event of
    /// of another not even the shape need be known.
    families: u32,
    /// Providers of which some shape does not fail, each once; no more than it takes to see that they are not few.
    providers: Vec<Guid>,
}

/// As long as so few providers pass, comparing them is cheaper than to find the shape of an event.
const FEW_PROVIDERS: usize = 4;

impl CompiledFilter {
    /// The filter of a recording, for shapes that are still to be decided on; `None` where all events pass.
    pub fn new(filter: &Filter, files: &[FileSurvey], shapes: usize) -> Option<CompiledFilter> {
        (!filter.is_empty()).then(|| CompiledFilter::undecided(filter, files, shapes))
    }

    /// The filter of a recording, of which no event passes before its shape is decided on.
    pub fn undecided(filter: &Filter, files: &[FileSurvey], shapes: usize) -> CompiledFilter {
        CompiledFilter {
            filter: filter.clone(),
            window: filter.window(start_ns(files)),
            decisions: vec![ShapeDecision::Fail; shapes],
            families: 0,
            providers: Vec::new(),
        }
    }

    /// A filter that passes of these shapes what this one passes, and nothing of others.
    #[must_use]
    pub fn of_shapes(self, shapes: &[u32]) -> CompiledFilter {
        let mut decisions = vec![ShapeDecision::Fail; self.decisions.len()];
        for &shape in shapes {
            if let Some(decision) = self.decisions.get(shape as usize) {
                decisions[shape as usize] = *decision;
            }
        }
        CompiledFilter { decisions, ..self }
    }

    /// Decides on a shape by what is known of it; says whether any of its events can pass.
    pub fn decide(&mut self, shape: u32, info: &ShapeInfo<'_>) -> bool {
        let (first, last) = info.range;
        let is_outside = last < self.window.from || self.window.to.is_some_and(|to| to <= first);
        let decision = if is_outside { ShapeDecision::Fail } else { self.filter.decision(info) };
        self.decisions[shape as usize] = decision;
        if decision != ShapeDecision::Fail {
            self.families |= bit(info.identity.family);
            let provider = info.identity.provider;
            if info.identity.is_rest() {
                // Events of any providers.
                self.providers = vec![provider; FEW_PROVIDERS + 1];
            }
            if self.providers.len() <= FEW_PROVIDERS && !self.providers.contains(&provider) {
                self.providers.push(provider);
            }
        }
        decision != ShapeDecision::Fail
    }

    /// Whether any event of a shape can pass.
    pub fn may_pass(&self, shape: u32) -> bool {
        self.decisions[shape as usize] != ShapeDecision::Fail
    }

    /// How many shapes it knows.
    pub fn shapes(&self) -> usize {
        self.decisions.len()
    }

    /// The times that pass.
    pub fn window(&self) -> &TimeWindow {
        &self.window
    }

    /// Whether events recorded on a processor pass.
    pub fn passes_cpu(&self, cpu: Option<u16>) -> bool {
        self.filter.passes_cpu(cpu)
    }

    /// Whether events of processes of a name pass.
    pub fn names_process(&self, name: &str) -> bool {
        self.filter.names_process(name)
    }

    /// Whether it matters whose an event is.
    pub fn asks_whose(&self) -> bool {
        self.filter.asks_whose()
    }

    /// Whether events pass whose thread and process are these; `is_asked` says of the number of a process's name whether
    /// [`CompiledFilter::names_process`] does.
    pub fn passes_ids(&self, ids: &AttributedIds, is_asked: impl FnOnce(u32) -> bool) -> bool {
        self.filter.passes_ids(ids, is_asked)
    }

    /// Whether an event passes, wherever and whenever it was recorded. `is_theirs` says of an event and its shape whether it
    /// is of a thread and process that pass.
    ///
    /// # Errors
    /// [`ErrorKind::Internal`](base::error::ErrorKind::Internal) for an event of a shape without a number.
    #[inline]
    pub fn passes(
        &self,
        raw: &RawEvent<'_>,
        context: &FileContext,
        shapes: &mut ShapeFinder<'_>,
        is_theirs: impl FnOnce(&Event<'_>, u32) -> bool,
    ) -> Result<bool> {
        let is_other = |provider| !self.providers.contains(&provider);
        let is_few = self.providers.len() <= FEW_PROVIDERS;
        if self.families & bit(raw.family) == 0 || (is_few && raw.provider().is_some_and(is_other)) {
            return Ok(false);
        }
        let shape = shapes.find(raw, context)?;
        let decision = self.decisions[shape as usize];
        if matches!(decision, ShapeDecision::Pass | ShapeDecision::Fail) {
            return Ok(decision == ShapeDecision::Pass);
        }
        let event = Event::of(raw, context);
        let passes = match decision {
            ShapeDecision::LookBesideKeywords => self.filter.passes_beside_keywords(&event),
            _ => self.filter.passes(&event),
        };
        Ok(passes && (!self.filter.asks_whose() || is_theirs(&event, shape)))
    }
}

fn bit(family: HeaderFamily) -> u32 {
    // The types of headers end below 32.
    1_u32.unbounded_shl(family as u32)
}

/// When a recording starts: the time of the earliest header event, which is the session's start. Clocks that jump can
/// give other events times long before it.
fn start_ns(files: &[FileSurvey]) -> i64 {
    files.iter().map(|file| file.clock.to_unix(file.session.first_ticks).0).min().unwrap_or(0)
}
