//! The conditions of a filter.

use etl::event::named_ids::{AttributedIds, NamedIds};
use etl::event::{Event, EventIdentity};
use etl::layout::header::HeaderFamily;
use etl::layout::kernel::{KERNEL_CLASSES, KernelClass};
use serde::{Deserialize, Serialize};

use super::bound::{TimeBound, TimeWindow};
use super::numbers::NumberSet;
use super::pattern::{EventPattern, NamePattern};

/// Which events become rows. The default is all.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Filter {
    /// Only events of these providers, if there are any.
    pub providers: Vec<NamePattern>,
    /// No events of these providers.
    pub excluded_providers: Vec<NamePattern>,
    /// Only these events, if there are any.
    pub events: Vec<EventPattern>,
    /// Only events of this level and more severe ones: with this number or a lower one.
    pub level: Option<u8>,
    /// Only events with any of these keywords, or one of [`Filter::keyword_names`].
    pub keywords: Option<u64>,
    /// Only events whose schema declares a keyword of such a name, or that have one of [`Filter::keywords`].
    #[serde(default)]
    pub keyword_names: Vec<NamePattern>,
    /// Only events of these processes, if there are any, or of those of [`Filter::process_names`].
    pub processes: Vec<NumberSet>,
    /// Only events of processes whose image files have such names, or that are in [`Filter::processes`].
    #[serde(default)]
    pub process_names: Vec<NamePattern>,
    /// Only events of these threads, if there are any.
    pub threads: Vec<NumberSet>,
    /// Only events recorded on these processors, if there are any.
    pub cpus: Vec<NumberSet>,
    /// Only events at this time or later.
    pub from: Option<TimeBound>,
    /// Only events before this time.
    pub to: Option<TimeBound>,
}

/// What the shape of an event says about whether it passes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum ShapeDecision {
    /// All events of the shape pass, as far as their headers decide it.
    Pass,
    /// None passes.
    Fail,
    /// Each event must be looked at.
    Look,
    /// The same, but its keywords are among those asked for.
    LookBesideKeywords,
}

/// What a filter needs to know of a shape.
#[derive(Clone, Copy, Debug)]
pub struct ShapeInfo<'a> {
    /// What its headers say.
    pub identity: &'a EventIdentity,
    /// The provider's name.
    pub provider_name: Option<&'a str>,
    /// The folder of its dataset.
    pub dataset: &'a str,
    /// The event's name.
    pub event_name: Option<&'a str>,
    /// The names of the keywords that its schema declares.
    pub keyword_names: &'a [String],
    /// Earliest and latest event, Unix nanoseconds.
    pub range: (i64, i64),
}

/// What the columns of a row say that filters look at; `None` is NULL.
#[derive(Clone, Copy, Debug, Default)]
pub struct RowInfo<'a> {
    /// The event id.
    pub event_id: Option<u16>,
    /// The event's name.
    pub event_name: Option<&'a str>,
    /// Its level.
    pub level: Option<u8>,
    /// Its keywords.
    pub keywords: Option<u64>,
    /// Whether its schema declares a keyword of [`Filter::keyword_names`].
    pub has_named_keyword: bool,
    /// Whose it is.
    pub process_id: Option<u32>,
    /// The name of the process.
    pub process_name: Option<&'a str>,
    /// The thread.
    pub thread_id: Option<u32>,
    /// The processor on which it was recorded.
    pub cpu: Option<u16>,
}

impl Filter {
    /// Whether all events pass.
    pub fn is_empty(&self) -> bool {
        *self == Filter::default()
    }

    /// What can be said of all events of a shape, but for where and when they were recorded.
    pub fn decision(&self, shape: &ShapeInfo<'_>) -> ShapeDecision {
        let family = shape.identity.family;
        let has_ids = !self.asks_whose() || may_have_thread(family) || NamedIds::of(shape.identity).is_some();
        let has_level = self.level.is_none() || family.is_event() || family.is_classic();
        let has_keywords = !self.asks_for_keywords() || family.is_event();
        let is_named = self.names_provider(shape) && self.names_event(shape);
        if !(is_named && has_ids && has_level && has_keywords) {
            return ShapeDecision::Fail;
        }
        let names_keyword = self.keyword_names.iter().any(|wanted| wanted.matches_any(shape.keyword_names));
        let looks_at_keywords = self.asks_for_keywords() && !names_keyword;
        let looks_at_others = self.level.is_some() || self.asks_whose();
        match (looks_at_keywords, looks_at_others) {
            (false, false) => ShapeDecision::Pass,
            (false, true) if names_keyword => ShapeDecision::LookBesideKeywords,
            _ => ShapeDecision::Look,
        }
    }

    /// Whether it matters whose an event is.
    pub fn asks_whose(&self) -> bool {
        self.asks_for_processes() || !self.threads.is_empty()
    }

    fn asks_for_processes(&self) -> bool {
        !self.processes.is_empty() || !self.process_names.is_empty()
    }

    /// Whether events of processes of a name pass.
    pub fn names_process(&self, name: &str) -> bool {
        self.process_names.iter().any(|wanted| wanted.matches(name))
    }

    fn asks_for_keywords(&self) -> bool {
        self.keywords.is_some() || !self.keyword_names.is_empty()
    }

    fn names_provider(&self, shape: &ShapeInfo<'_>) -> bool {
        if self.providers.is_empty() && self.excluded_providers.is_empty() {
            return true;
        }
        let id = shape.identity.provider_id().map(|id| id.to_string());
        let folder = shape.dataset.split('/').next().unwrap_or_default();
        self.passes_dataset(folder, shape.provider_name, id.as_deref())
    }

    /// Whether events of a dataset pass, as far as the names and the GUID of its provider decide it.
    pub fn passes_dataset(&self, dataset: &str, provider: Option<&str>, guid: Option<&str>) -> bool {
        let names = [provider, Some(dataset), guid].map(|name| name.map(str::to_lowercase));
        let is = |pattern: &NamePattern| names.iter().flatten().any(|name| pattern.matches_folded(name));
        (self.providers.is_empty() || self.providers.iter().any(is)) && !self.excluded_providers.iter().any(is)
    }

    /// Whether events of the kernel may pass, as far as the names of their datasets decide it, at all times of a recording.
    pub fn may_pass_kernel(&self) -> bool {
        let passes = |class: &KernelClass| {
            self.passes_dataset(&format!("Kernel-{}", class.name), None, Some(&class.guid.to_string()))
        };
        let has_no_level = self.level.is_none() && !self.asks_for_keywords();
        has_no_level && (&self.from, &self.to) == (&None, &None) && KERNEL_CLASSES.iter().any(passes)
    }

    fn names_event(&self, shape: &ShapeInfo<'_>) -> bool {
        let id = shape.identity.event_id();
        self.events.is_empty() || self.events.iter().any(|pattern| pattern.matches(id, shape.event_name))
    }

    /// Whether the header of an event passes that is of a shape with [`ShapeDecision::Look`].
    #[inline]
    pub fn passes(&self, event: &Event<'_>) -> bool {
        let mask = self.keywords.unwrap_or(0);
        let has_keyword = || event.keywords.is_some_and(|own| own == 0 || own & mask != 0);
        (!self.asks_for_keywords() || has_keyword()) && self.passes_beside_keywords(event)
    }

    /// The same of a shape with [`ShapeDecision::LookBesideKeywords`].
    #[inline]
    pub fn passes_beside_keywords(&self, event: &Event<'_>) -> bool {
        self.level.is_none_or(|level| event.level.is_some_and(|own| own <= level))
    }

    /// Whether events pass whose thread and process are these; `is_asked` says of the number of a process's name whether
    /// [`Filter::names_process`] does.
    #[inline]
    pub fn passes_ids(&self, ids: &AttributedIds, is_asked: impl FnOnce(u32) -> bool) -> bool {
        let is_in = |sets: &[NumberSet], id: Option<u32>| id.is_some_and(|id| sets.iter().any(|set| set.contains(id)));
        (!self.asks_for_processes() || is_in(&self.processes, ids.process) || ids.name.is_some_and(is_asked))
            && (self.threads.is_empty() || is_in(&self.threads, ids.thread))
    }

    /// Whether a row of a converted trace passes, but for its provider and its time.
    pub fn passes_row(&self, row: &RowInfo<'_>) -> bool {
        let mask = self.keywords.unwrap_or(0);
        let is_in = |sets: &[NumberSet], id: Option<u32>| id.is_some_and(|id| sets.iter().any(|set| set.contains(id)));
        let has_keyword = || row.has_named_keyword || row.keywords.is_some_and(|own| own == 0 || own & mask != 0);
        let is_of_process =
            || is_in(&self.processes, row.process_id) || row.process_name.is_some_and(|name| self.names_process(name));
        (self.events.is_empty() || self.events.iter().any(|event| event.matches(row.event_id, row.event_name)))
            && self.level.is_none_or(|level| row.level.is_some_and(|own| own <= level))
            && (!self.asks_for_keywords() || has_keyword())
            && (!self.asks_for_processes() || is_of_process())
            && (self.threads.is_empty() || is_in(&self.threads, row.thread_id))
            && self.passes_cpu(row.cpu)
    }

    /// Whether events recorded on a processor pass; `None` where the session does not know it.
    pub fn passes_cpu(&self, cpu: Option<u16>) -> bool {
        self.cpus.is_empty() || cpu.is_some_and(|cpu| self.cpus.iter().any(|set| set.contains(cpu.into())))
    }

    /// The times that pass in a recording with the given start, in Unix nanoseconds.
    pub fn window(&self, start_ns: i64) -> TimeWindow {
        let at = |bound: &TimeBound| bound.at(start_ns);
        TimeWindow { from: self.from.as_ref().map_or(i64::MIN, at), to: self.to.as_ref().map(at) }
    }
}

/// Whether headers of a family can name a thread and a process.
fn may_have_thread(family: HeaderFamily) -> bool {
    use HeaderFamily::{Error, PerfInfo32, PerfInfo64, Timed, Wnode};
    !matches!(family, PerfInfo32 | PerfInfo64 | Timed | Error | Wnode)
}
