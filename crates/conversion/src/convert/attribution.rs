//! Whose events are, and whether that is asked for.

use etl::event::named_ids::{AttributedIds, Ids, NamedIds};
use etl::event::{Event, EventIdentity, FileContext, RawEvent};

use super::decoders::Decoders;
use crate::dimensions::{Attributor, Owners};
use crate::plan::CompiledFilter;
use crate::stacks::Stacks;

/// The names of processes that a filter asks for: of each name of the recording, by number, whether it does.
#[derive(Debug)]
pub struct MatchingNames(Vec<bool>);

impl MatchingNames {
    /// Those of a filter.
    pub fn of(filter: &CompiledFilter, owners: &Owners<'_>) -> Self {
        MatchingNames(owners.names().texts().map(|name| name.is_some_and(|name| filter.names_process(name))).collect())
    }

    /// Whether a name is asked for.
    pub(super) fn contains(&self, name: u32) -> bool {
        self.0.get(name as usize).copied().unwrap_or(false)
    }
}

/// What distinguishes the events that become rows from the others.
#[derive(Clone, Copy, Debug)]
pub struct Selection<'a> {
    /// The conditions.
    pub filter: &'a CompiledFilter,
    /// The names of processes among them.
    pub asked: &'a MatchingNames,
    /// The shapes.
    pub decoders: &'a Decoders,
    /// The processes of the recording and their threads.
    pub owners: &'a Owners<'a>,
    /// The stacks of the events that other events record.
    pub stacks: &'a Stacks,
}

/// Says whose events are.
pub(super) struct EventAttribution<'a> {
    decoders: &'a Decoders,
    attributor: Attributor<'a>,
}

impl<'a> EventAttribution<'a> {
    pub(super) fn new(decoders: &'a Decoders, owners: &'a Owners<'a>) -> Self {
        EventAttribution { decoders, attributor: Attributor::new(owners) }
    }

    /// Whose an event of a machine and of a shape is, at a time in Unix nanoseconds; `walked` is the process that the walk of
    /// its stack names.
    #[expect(clippy::inline_always, reason = "ids that go through memory cost more than to find them")]
    #[inline(always)]
    pub(super) fn ids(
        &mut self,
        machine: u16,
        event: &Event<'_>,
        (raw, context): (&RawEvent<'_>, &FileContext),
        shape: u32,
        walked: impl FnOnce() -> Option<u32>,
        ns: i64,
    ) -> AttributedIds {
        let header = Ids { process: event.process_id, thread: event.thread_id };
        let decoder = &self.decoders.shapes[shape as usize];
        let named = || {
            // Events of many kinds have the shape of a rest.
            let of_rest = decoder.is_other.then(|| NamedIds::of(&EventIdentity::of(raw, context))).flatten();
            decoder.named_ids.or(of_rest).map(|named| named.read(event.payload)).unwrap_or_default()
        };
        self.attributor.attribute(machine, header, named, walked, ns)
    }
}
