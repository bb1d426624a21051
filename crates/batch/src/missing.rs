//! What filters name and no trace of a run has, with what may have been meant.

use std::collections::BTreeSet;

use base::calendar::rfc3339;
use base::suggest::nearest;
use conversion::convert::seen::RowOwners;
use conversion::convert::settings::FILTERS;
use conversion::convert::{ConvertOptions, Report};
use conversion::plan::CatalogEntry;
use conversion::plan::filter::{EventPattern, Filter, NamePattern, NumberSet};

/// Names that a message lists; the rest is a number.
const SHOWN: usize = 20;

/// Names of a kind that are kept: a file decides how many there are.
const KEPT: usize = 10_000;

/// A value of a filter.
#[derive(Clone, Debug)]
enum FilterValue {
    /// A provider.
    Provider(NamePattern),
    /// A provider whose events are left out.
    ExcludedProvider(NamePattern),
    /// An event.
    Event(EventPattern),
    /// A keyword.
    Keyword(NamePattern),
    /// Processors.
    Cpus(NumberSet),
    /// The name of processes.
    Process(NamePattern),
    /// Ids of processes.
    Processes(NumberSet),
    /// Ids of threads.
    Threads(NumberSet),
}

/// What the traces have that a filter can name.
#[derive(Debug, Default)]
struct Names {
    providers: BTreeSet<String>,
    events: BTreeSet<String>,
    keywords: BTreeSet<String>,
    cpus: BTreeSet<u16>,
    processes: BTreeSet<String>,
}

/// The values of a run's filters that nothing in its traces so far has.
#[derive(Debug)]
pub(crate) struct Missing {
    values: Vec<FilterValue>,
    names: Names,
    /// Whether all that the traces have is known.
    pub(crate) is_known: bool,
    /// Whether it is known whose all their rows are.
    is_whose_known: bool,
    /// Whether there is one filter alone.
    is_alone: bool,
}

impl Missing {
    /// Of a run that has seen no trace.
    pub(crate) fn of(filter: &Filter) -> Self {
        let (values, is_alone) = (FilterValue::all(filter), given(filter).count() == 1);
        Missing { values, names: Names::default(), is_known: true, is_whose_known: true, is_alone }
    }

    /// Takes away the values that a trace has.
    pub(crate) fn look(&mut self, report: &Report) {
        if self.values.is_empty() {
            return;
        }
        for entry in report.plan.catalog() {
            // Events that are not distinguished may be any.
            self.is_known &= !entry.shape.key.identity.is_rest();
            self.names.add(entry);
            self.values.retain(|value| !value.is_of(entry));
        }
        let streams = report.facts.iter().flat_map(|facts| &facts.streams).filter(|stream| stream.events > 0);
        self.names.cpus.extend(streams.filter_map(|stream| stream.cpu));
        let cpus = &self.names.cpus;
        self.values.retain(
            |value| !matches!(value, FilterValue::Cpus(set) if cpus.iter().any(|&cpu| set.contains(cpu.into()))),
        );
        match &report.owners {
            Some(owners) => self.look_at_rows(owners),
            None => self.is_whose_known = false,
        }
    }

    /// Takes away the processes and threads that rows are of.
    fn look_at_rows(&mut self, owners: &RowOwners) {
        self.is_whose_known &= !owners.seen.is_cut;
        self.names.processes.extend(owners.all_names.iter().cloned());
        self.values.retain(|value| match value {
            FilterValue::Process(name) => !owners.names.iter().any(|own| name.matches(own)),
            FilterValue::Processes(ids) => !owners.seen.processes.iter().any(|&id| ids.contains(id)),
            FilterValue::Threads(ids) => !owners.seen.threads.iter().any(|&id| ids.contains(id)),
            _ => true,
        });
    }

    /// A sentence for every value that is left; none where not all is known.
    pub(crate) fn sentences(&self) -> Vec<String> {
        let values = self.values.iter().filter(|value| self.is_known && (self.is_whose_known || !value.is_of_rows()));
        values.map(|value| self.names.without(value, self.is_alone)).collect()
    }
}

/// Why a trace is empty: what the filters name that it does not have.
pub(crate) fn nothing_passes(report: &Report, filter: &Filter) -> String {
    let mut missing = Missing::of(filter);
    missing.look(report);
    let mut why = missing.sentences();
    if let Some((from, to)) = report.time_range.filter(|_| filter.from.is_some() || filter.to.is_some()) {
        why.push(format!("the events are from {} to {}", rfc3339(from), rfc3339(to)));
    }
    if why.is_empty() {
        why.push(format!("none passes {}", given(filter).collect::<Vec<_>>().join(" and ")));
    }
    format!("no event passes the filters: {}", why.join("; "))
}

/// The options of the filters that are given.
fn given(filter: &Filter) -> impl Iterator<Item = String> {
    let options = ConvertOptions::default().filter(filter.clone());
    let given = FILTERS.settings.iter().filter(move |setting| setting.is_given(&options));
    given.map(|setting| format!("--{}", setting.name))
}

impl FilterValue {
    /// The values of a filter that a trace may have or not.
    fn all(filter: &Filter) -> Vec<FilterValue> {
        fn values<V: Clone>(values: &[V], of: fn(V) -> FilterValue) -> impl Iterator<Item = FilterValue> {
            values.iter().cloned().map(of)
        }
        let all = values(&filter.providers, FilterValue::Provider);
        let all = all.chain(values(&filter.excluded_providers, FilterValue::ExcludedProvider));
        let all = all.chain(values(&filter.events, FilterValue::Event));
        let all = all.chain(values(&filter.keyword_names, FilterValue::Keyword));
        let all = all.chain(values(&filter.cpus, FilterValue::Cpus));
        let all = all.chain(values(&filter.processes, FilterValue::Processes));
        let all = all.chain(values(&filter.process_names, FilterValue::Process));
        all.chain(values(&filter.threads, FilterValue::Threads)).collect()
    }

    /// Whether a shape of events has it; no shape has a processor, process or thread.
    fn is_of(&self, entry: CatalogEntry<'_>) -> bool {
        let identity = &entry.shape.key.identity;
        match self {
            FilterValue::Provider(wanted) | FilterValue::ExcludedProvider(wanted) => {
                provider_names(entry).any(|name| wanted.matches(name))
                    || identity.provider_id().is_some_and(|id| wanted.matches(&id.to_string()))
            }
            FilterValue::Event(wanted) => wanted.matches(identity.event_id(), entry.event_name()),
            FilterValue::Keyword(wanted) => wanted.matches_any(entry.keyword_names()),
            _ => false,
        }
    }

    /// Whether it is known of rows alone who has it.
    fn is_of_rows(&self) -> bool {
        matches!(self, FilterValue::Process(_) | FilterValue::Processes(_) | FilterValue::Threads(_))
    }
}

/// The name of a shape's provider and that of its folder.
fn provider_names(entry: CatalogEntry<'_>) -> impl Iterator<Item = &str> {
    [entry.provider_name(), entry.dataset().split('/').next()].into_iter().flatten()
}

impl Names {
    fn add(&mut self, entry: CatalogEntry<'_>) {
        let add = |names: &mut BTreeSet<String>, name: &str| {
            if names.len() < KEPT && !names.contains(name) {
                names.insert(name.to_owned());
            }
        };
        provider_names(entry).for_each(|name| add(&mut self.providers, name));
        entry.event_name().into_iter().for_each(|name| add(&mut self.events, name));
        entry.keyword_names().iter().for_each(|name| add(&mut self.keywords, name));
    }

    /// A sentence for a value that is not among them; whose events are is known of those that pass the other filters, unless
    /// the value's own `is_alone`.
    fn without(&self, value: &FilterValue, is_alone: bool) -> String {
        let event = if is_alone { "event here" } else { "event that passes the other filters" };
        let near = |what: &str, wanted: &str, names: &BTreeSet<String>| {
            let guess = nearest(wanted, names.iter().map(String::as_str));
            let guess = guess.map_or(String::new(), |name| format!("; did you mean {name}?"));
            format!("no {what} {wanted}{guess}")
        };
        match value {
            FilterValue::Provider(wanted) => near("provider here is called", &wanted.to_string(), &self.providers),
            FilterValue::ExcludedProvider(wanted) => {
                near("provider to exclude is called", &wanted.to_string(), &self.providers)
            }
            FilterValue::Event(wanted) => match wanted.to_string() {
                id if id.parse::<u16>().is_ok() => format!("no event here has the id {id}"),
                name => near("event here is called", &name, &self.events),
            },
            FilterValue::Keyword(wanted) => {
                unknown_keyword(&wanted.to_string(), &self.keywords.iter().map(String::as_str).collect())
            }
            FilterValue::Cpus(wanted) => self.without_cpus(wanted),
            FilterValue::Process(wanted) => {
                near(&format!("{event} is of a process called"), &wanted.to_string(), &self.processes)
            }
            FilterValue::Processes(wanted) => format!("no {event} is of process {wanted}"),
            FilterValue::Threads(wanted) => format!("no {event} is of thread {wanted}"),
        }
    }

    fn without_cpus(&self, wanted: &NumberSet) -> String {
        let cpus: Vec<NumberSet> = self.cpus.iter().filter_map(|cpu| cpu.to_string().parse().ok()).collect();
        match NumberSet::union(cpus.iter()) {
            Some(cpus) => format!("no event here is of processor {wanted}; there are events of {cpus}"),
            None => format!("no event here is of processor {wanted}; of none is the processor known"),
        }
    }
}

fn unknown_keyword(keyword: &str, names: &BTreeSet<&str>) -> String {
    let what = format!("no event here has a keyword called {keyword}");
    if let Some(name) = nearest(keyword, names.iter().copied()) {
        return format!("{what}; did you mean {name}?");
    }
    if names.is_empty() {
        return format!("{what}, or any with a name; masks such as 0x30 work on all");
    }
    let shown: Vec<&str> = names.iter().take(SHOWN).copied().collect();
    let more = match names.len().saturating_sub(SHOWN) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    format!("{what}; there are {}{more}", shown.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unknown_keyword_is_reported_with_those_that_are_there() {
        let t = |keyword: &str, names: &[&str], expected: &str| {
            let message = unknown_keyword(keyword, &names.iter().copied().collect());
            assert_eq!(message, format!("no event here has a keyword called {keyword}{expected}"));
        };
        t("gcc", &["GC", "Loader", "Jit"], "; did you mean GC?");
        t("network", &["Loader", "GC"], "; there are GC, Loader");
        t("network", &[], ", or any with a name; masks such as 0x30 work on all");
        let many: Vec<String> = (10..35).map(|n| format!("K{n}")).collect();
        let many: Vec<&str> = many.iter().map(String::as_str).collect();
        assert!(unknown_keyword("network", &many.into_iter().collect()).ends_with("K28, K29 and 5 more"));
    }
}
