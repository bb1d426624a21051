//! Which rows are not decoded, and what would help: one entry per missing description, most rows first.

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashSet};

use etl::event::EventIdentity;
use serde::Serialize;

use super::catalog::kind;
use super::way::{Way, way};
use crate::convert::ShapeCounts;
use crate::plan::datasets::DatasetKey;
use crate::plan::{CatalogEntry, DecodeSource, PlanResult, schema_needed};

/// Events of one entry that its text names; the rest is a number.
const NAMED: usize = 8;

/// Why rows are not decoded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Problem {
    /// Nothing describes them.
    NoSchema,
    /// What describes them does not fit their payloads.
    DoesNotFit,
}

/// Rows that one description would decode.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Undecoded {
    /// Why they are not decoded.
    pub problem: Problem,
    /// The provider's name, or what stands for it.
    pub name: String,
    /// The provider, event class or message class.
    pub provider_id: Option<String>,
    /// Where the description that does not fit came from.
    pub decode_source: &'static str,
    /// Rows.
    pub rows: u64,
    /// The events, most rows first: `107 v0`, for classic events `opcode 12 v2`, for messages the number.
    pub events: Vec<String>,
    /// What would help.
    pub fix: String,
    /// Where that usually lies, and what to type with it.
    #[serde(flatten)]
    pub way: Option<Way>,
}

/// Ranks what was not decoded. `counts` is what the conversion counted of each shape; without it, what the plan expects
/// of the shapes that may pass the filters.
pub fn undecoded(plan: &PlanResult, counts: &[ShapeCounts]) -> Vec<Undecoded> {
    rank(plan.catalog(), counts, |shape| plan.may_pass(shape))
}

fn rank<'a>(
    catalog: impl Iterator<Item = CatalogEntry<'a>>,
    counts: &[ShapeCounts],
    may_pass: impl Fn(u32) -> bool,
) -> Vec<Undecoded> {
    let mut groups: BTreeMap<_, Vec<(u64, CatalogEntry<'_>)>> = BTreeMap::new();
    for (entry, number) in catalog.zip(0..) {
        let rows = match counts.get(number as usize) {
            Some(count) => count.undecoded(),
            None if entry.shape.fix_hint.is_some() && may_pass(number) => entry.shape.events,
            None => 0,
        };
        if rows > 0 {
            let identity = &entry.shape.key.identity;
            let key = (DatasetKey::of(identity), identity.provider, problem(entry), entry.shape.decode_source);
            groups.entry(key).or_default().push((rows, entry));
        }
    }
    let mut ranked: Vec<Undecoded> = groups
        .into_values()
        .filter_map(|mut shapes| {
            shapes.sort_by_key(|(rows, _)| Reverse(*rows));
            entry(&shapes)
        })
        .collect();
    ranked.sort_by_key(|entry| Reverse(entry.rows));
    ranked
}

fn problem(entry: CatalogEntry<'_>) -> Problem {
    match entry.shape.decode_source {
        DecodeSource::None => Problem::NoSchema,
        _ => Problem::DoesNotFit,
    }
}

/// The entry of shapes that lack the same description, most rows first.
fn entry(shapes: &[(u64, CatalogEntry<'_>)]) -> Option<Undecoded> {
    let &(_, first) = shapes.first()?;
    let mut known = HashSet::new();
    let labels = shapes.iter().map(|(_, shape)| label(&shape.shape.key.identity));
    let events: Vec<String> = labels.filter(|label| known.insert(label.clone())).collect();
    let identity = &first.shape.key.identity;
    let dataset = first.dataset().split('/').next().unwrap_or_default();
    let name = first.provider_name().unwrap_or(dataset).to_owned();
    let problem = problem(first);
    Some(Undecoded {
        problem,
        fix: fix(problem, &name, shapes, &events),
        way: way(identity, first.provider_name(), first.shape.decode_source).filter(|_| !first.table.is_other()),
        name,
        provider_id: identity.provider_id().map(|id| id.to_string()),
        decode_source: first.shape.decode_source.name(),
        rows: shapes.iter().map(|(rows, _)| rows).sum(),
        events,
    })
}

/// What an event is called that has no name: `107 v0`, for classic events `opcode 12 v2`, for messages the number.
pub fn label(identity: &EventIdentity) -> String {
    let EventIdentity { id, version, opcode, .. } = *identity;
    event_label(kind(identity.family), id.into(), version.into(), opcode.into())
}

/// The same by the columns of the catalog.
pub fn event_label(kind: &str, id: u64, version: u64, opcode: u64) -> String {
    match kind {
        "message" => id.to_string(),
        "event" => format!("{id} v{version}"),
        _ => format!("opcode {opcode} v{version}"),
    }
}

/// What would help all of the shapes. One shape says it best itself, and so do messages of one class.
fn fix(problem: Problem, name: &str, shapes: &[(u64, CatalogEntry<'_>)], events: &[String]) -> String {
    let (_, first) = shapes[0];
    let is_common =
        || problem == Problem::NoSchema && shapes.iter().all(|(_, shape)| shape.shape.fix_hint == first.shape.fix_hint);
    let hint = first.shape.fix_hint.as_ref().filter(|_| shapes.len() == 1 || is_common());
    if let Some(hint) = hint {
        return hint.clone();
    }
    let what = schema_needed(&first.shape.key.identity, name);
    let events = listed(events);
    match problem {
        Problem::NoSchema => format!("{what} with events {events}"),
        Problem::DoesNotFit => format!(
            "{what} of the build that wrote it, with --schemas: the layouts from {} do not fit events {events}",
            first.shape.decode_source.name()
        ),
    }
}

fn listed(events: &[String]) -> String {
    let named = events.iter().take(NAMED).map(String::as_str).collect::<Vec<_>>().join(", ");
    match events.len().checked_sub(NAMED) {
        None | Some(0) => named,
        Some(more) => format!("{named} and {more} more"),
    }
}

#[cfg(test)]
mod tests {
    use base::guid::Guid;
    use etl::event::Shape;
    use etl::layout::header::HeaderFamily;

    use super::*;
    use crate::plan::{PlannedShape, PlannedTable};

    fn shape(
        family: HeaderFamily,
        provider: u8,
        id: u16,
        source: DecodeSource,
        hint: Option<&str>,
    ) -> (PlannedShape, PlannedTable) {
        let identity = EventIdentity {
            provider: Guid([provider; 16]),
            group: 0,
            id,
            version: 2,
            opcode: 9,
            property: 0,
            pointer_size: 8,
            family,
        };
        let key = Shape { identity, metadata: Box::default() };
        let fix_hint = hint.map(str::to_owned);
        let table = PlannedTable {
            provider_name: (family != HeaderFamily::Message).then(|| format!("P{provider}")),
            dataset: if family == HeaderFamily::Message { "WPP" } else { "folder/event" }.to_owned(),
            ..PlannedTable::default()
        };
        (PlannedShape { fix_hint, events: 100, ..PlannedShape::bare(key, source) }, table)
    }

    const P1: &str = "01010101-0101-0101-0101-010101010101";

    #[test]
    fn what_is_missing_most_comes_first() {
        use HeaderFamily::{Classic64, Event64, Message};
        let catalog = [
            shape(Event64, 1, 5, DecodeSource::None, Some("a")),
            shape(Event64, 1, 6, DecodeSource::None, Some("b")),
            shape(Event64, 1, 7, DecodeSource::Pack, Some("c")),
            shape(Event64, 1, 8, DecodeSource::Pack, None),
            shape(Message, 2, 3, DecodeSource::None, Some("TMF")),
            shape(Message, 2, 4, DecodeSource::None, Some("TMF")),
            shape(Classic64, 3, 0, DecodeSource::Kernel, None),
        ];
        let of = |rows, ok_rows| ShapeCounts { rows, ok_rows, payload_bytes: 0 };
        let counts = [of(10, 0), of(30, 0), of(50, 49), of(50, 45), of(4, 0), of(5, 0), of(70, 70)];
        let entries =
            || catalog.iter().map(|(shape, table)| CatalogEntry { shape, table, schema: None, template: None });
        let found = rank(entries(), &counts, |_| true);
        let show = |entry: &Undecoded| {
            format!("{} {:?} {} {} {:?}", entry.rows, entry.problem, entry.name, entry.fix, entry.events)
        };
        let expected = [
            format!(r#"40 NoSchema P1 manifest of provider {P1} (P1) with events 6 v2, 5 v2 ["6 v2", "5 v2"]"#),
            r#"9 NoSchema WPP TMF ["4", "3"]"#.to_owned(),
            format!(
                "6 DoesNotFit P1 manifest of provider {P1} (P1) of the build that wrote it, with --schemas: the \
                 layouts from pack do not fit events 8 v2, 7 v2 [\"8 v2\", \"7 v2\"]"
            ),
        ];
        assert_eq!(found.iter().map(show).collect::<Vec<_>>(), expected);
        assert_eq!(found[1].provider_id.as_deref(), Some("02020202-0202-0202-0202-020202020202"));
        // Before the conversion, what the plan expects.
        let planned: Vec<_> =
            rank(entries(), &[], |shape| shape != 4).iter().map(|entry| (entry.rows, entry.fix.clone())).collect();
        let planned: Vec<_> = planned.iter().map(|(rows, fix)| (*rows, fix.as_str())).collect();
        let manifest = format!("manifest of provider {P1} (P1) with events 5 v2, 6 v2");
        assert_eq!(planned, [(200, manifest.as_str()), (100, "c"), (100, "TMF")]);
    }

    #[test]
    fn many_events_are_a_number() {
        let events: Vec<String> = (0..10).map(|number| number.to_string()).collect();
        assert_eq!(listed(&events), "0, 1, 2, 3, 4, 5, 6, 7 and 2 more");
        assert_eq!(listed(&events[..8]), "0, 1, 2, 3, 4, 5, 6, 7");
    }
}
