//! What a trace has of each measure, by name.

use std::collections::{BTreeMap, HashMap};

use base::error::Result;
use base::progress::Progress;
use columnar::output::manifest::CommitRecord;
use conversion::read_columns;
use conversion::sidecar::catalog::CatalogRow;

use super::super::axis::Axis;
use super::super::cpu::usage;
use super::super::file_paths::{FileKeys, FilePaths};
use super::super::flame::{Flame, FunctionSums, flame};
use super::super::interrupts::interrupts;
use super::super::io::{disk, network};
use super::super::pauses::pauses;
use super::super::profile::Profile;
use super::super::recorded::{Recorded, recorded};
use super::super::samples::samples;
use super::super::starts::Starts;
use super::super::tally::{Most, Ranked};
use super::super::waits::waits;
use super::loss::Loss;
use super::measure::{By, Measure};
use crate::PublishedTrace;
use crate::event_names::is_finished_disk_operation;
use crate::frames::Modules;
use crate::sampling::Sampling;
use crate::source::Source;
use crate::symbols::{StoredNames, root_of};
use crate::who::{Who, is_nameless};

/// What a trace has.
#[derive(Clone, Debug, Default)]
pub struct TraceAmounts {
    /// Its name.
    pub trace: String,
    /// Nanoseconds from its first event to its last; where times are left out, of those that are there.
    pub length_ns: u64,
    /// How many these may be where what was lost lies before or behind; `None` where nothing bounds that.
    pub longest_ns: Option<u64>,
    /// What was lost, for certain: its amounts may be larger than what it records.
    pub lost: Option<String>,
    /// Why nobody knows whether anything was lost, where nothing says that it was.
    pub unproven: Option<String>,
    /// Events that a filter left out of it.
    pub filtered: u64,
    /// What the options of its conversion hash to.
    pub options_hash: String,
    /// How far its samples are apart, where samples are compared.
    pub sampling: Sampling,
    /// What there is of each measure; `None` where the trace does not record it.
    pub(super) measures: Vec<(Measure, Option<Amounts>)>,
}

/// Amounts by name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Amounts {
    pub by_name: BTreeMap<String, u64>,
    /// What any of them may be larger by, at most; `None` where nothing bounds it.
    pub missing: Option<u64>,
    /// All of them together.
    pub total: u64,
    /// How the trace spells the names that it spells in another way.
    pub spelled: BTreeMap<String, String>,
}

impl Amounts {
    /// Of names and amounts; those of one name add up.
    fn of(names: impl IntoIterator<Item = (String, u64)>, missing: Option<u64>) -> Amounts {
        let mut amounts = Amounts { missing, ..Amounts::default() };
        for (name, amount) in names {
            amounts.total = amounts.total.saturating_add(amount);
            let sum = amounts.by_name.entry(name).or_default();
            *sum = sum.saturating_add(amount);
        }
        amounts
    }

    /// Of the weights of names; those that are not distinguished may be any of them.
    fn of_ranked(ranked: &Ranked, missing: Option<u64>) -> Amounts {
        let named = ranked.shown.iter().map(|(name, sums)| {
            let name = if is_nameless(name) { NAMELESS } else { name };
            (name.to_owned(), sums.weight)
        });
        let rest = ranked.rest.as_ref().map_or(0, |rest| rest.amounts.weight);
        let mut amounts = Amounts::of(named, missing.and_then(|missing| missing.checked_add(rest)));
        amounts.total = amounts.total.saturating_add(rest);
        amounts
    }
}

/// What processes and threads are listed under whose names the trace does not record: their ids mean nothing in another one.
const NAMELESS: &str = "(name not recorded)";

/// Reads what a trace has.
///
/// # Errors
/// [`ErrorKind::Output`](base::error::ErrorKind::Output) when it cannot be read;
/// [`ErrorKind::Interrupted`](base::error::ErrorKind::Interrupted) when the caller asked to stop.
pub fn amounts_of(trace: &PublishedTrace, by: By, progress: &dyn Progress) -> Result<TraceAmounts> {
    let source = Source::open(trace, progress)?;
    let recorded = recorded(&source)?;
    let (first, last) = recorded.span.unwrap_or((0, 0));
    let axis = Axis::new(first, last);
    let loss = Loss::of(&source, &recorded.inputs)?;
    let gather = Gather { source: &source, axis, recorded: &recorded, loss: &loss, trace, progress };
    let measures = match by {
        By::Process => gather.by_process()?,
        By::Function => gather.by_function()?,
        By::Event => gather.by_event()?,
        By::File => gather.by_file()?,
        By::Provider => gather.by_provider()?,
    };
    let has_samples = measures.iter().any(|(measure, amounts)| measure.is_sampled() && amounts.is_some());
    Ok(TraceAmounts {
        trace: source.record.trace.clone(),
        length_ns: kept_length(&source.record).unwrap_or_else(|| axis.length()),
        longest_ns: loss.longest(&axis, &recorded.inputs),
        lost: loss.lost,
        unproven: loss.unproven,
        filtered: source.record.events.filtered,
        options_hash: source.record.options_hash.clone(),
        sampling: if has_samples { Sampling::of(&source)? } else { Sampling::NotSaid },
        measures,
    })
}

/// Nanoseconds from the first event that is kept to the last, where limits of time left out others.
fn kept_length(record: &CommitRecord) -> Option<u64> {
    let is_limited = ["from", "to"].iter().any(|limit| record.options.get(limit).is_some_and(|limit| !limit.is_null()));
    if !is_limited || record.events.filtered == 0 {
        return None;
    }
    let events = || record.files.iter().filter(|file| file.path.starts_with("events/"));
    let first = events().filter_map(|file| file.min_timestamp_ns).min();
    let last = events().filter_map(|file| file.max_timestamp_ns).max();
    Some(first.zip(last).map_or(0, |(first, last)| last.abs_diff(first)))
}

/// A trace that is read.
struct Gather<'a> {
    source: &'a Source<'a>,
    axis: Axis,
    recorded: &'a Recorded,
    loss: &'a Loss,
    trace: &'a PublishedTrace,
    progress: &'a dyn Progress,
}

type Measures = Vec<(Measure, Option<Amounts>)>;

impl Gather<'_> {
    fn by_process(&self) -> Result<Measures> {
        let Gather { source, axis, recorded, loss, .. } = self;
        let (most, sums) = (Most::ALL, loss.of_sums());
        let who = Who::read(source)?;
        let (modules, starts) = (Modules::default(), &mut Starts::default());
        let (waits, _) = waits(source, axis, &who, starts, most)?;
        let (samples, _) = samples(source, axis, &who, &modules, starts, most, None)?;
        let interrupts = interrupts(source, &modules)?;
        let usage = usage(source, axis, &who, &interrupts, &recorded.inputs, starts, most)?;
        let of_usage = usage.map(|usage| {
            Amounts::of_ranked(&usage.by_process, sums.and_then(|missing| missing.checked_add(usage.unknown_ns)))
        });
        let of_waits = waits.map(|waits| Amounts::of_ranked(&waits.by_process, sums.filter(|_| waits.left_out == 0)));
        Ok(vec![
            (Measure::CpuNs, of_usage),
            (Measure::Samples, samples.map(|samples| Amounts::of_ranked(&samples.by_process, loss.events))),
            (Measure::WaitNs, of_waits),
            (Measure::DiskBytes, disk(source, axis, &who, starts, most)?.map(|(ranked, _)| sized(&ranked, sums))),
            (Measure::NetworkBytes, network(source, axis, &who, most)?.map(|ranked| sized(&ranked, sums))),
            (
                Measure::GcPauseNs,
                pauses(source, axis, &who, most)?
                    .map(|pauses| Amounts::of_ranked(&pauses.by_process, sums.filter(|_| pauses.left_out == 0))),
            ),
        ])
    }

    fn by_function(&self) -> Result<Measures> {
        let Gather { source, axis, loss, trace, progress, .. } = self;
        let who = Who::read(source)?;
        let (modules, starts) = (Modules::read(source)?, &mut Starts::default());
        let names = StoredNames::beside(&root_of(&trace.folder()), modules.ids(), *progress)?;
        let resolved = |profile: &Profile<'_>| flame(source, &modules, &names, profile, Most::ALL);
        let (_, of_samples) = samples(source, axis, &who, &modules, starts, Most::ALL, None)?;
        let samples = resolved(&of_samples)?;
        drop(of_samples);
        let (_, of_waits) = waits(source, axis, &who, starts, Most::ALL)?;
        let waits = resolved(&of_waits)?;
        drop(of_waits);
        let of = |flame: &Option<Flame>, missing: Option<u64>, amount: fn(&FunctionSums) -> u64| {
            flame.as_ref().map(|flame| functions(flame, missing, amount))
        };
        Ok(vec![
            (Measure::OwnSamples, of(&samples, loss.events, |sums| sums.own)),
            (Measure::AllSamples, of(&samples, loss.events, |sums| sums.all)),
            (Measure::AllWaitNs, of(&waits, loss.of_sums(), |sums| sums.all)),
        ])
    }

    fn by_event(&self) -> Result<Measures> {
        let mut events = Vec::new();
        self.source.sidecar::<ShapeCount<'_>>(|shape| {
            events.push((format!("{} {}", shape.provider(), shape.name()), shape.rows.unwrap_or(0)));
        })?;
        Ok(vec![(Measure::Events, Some(Amounts::of(events, self.loss.events)))])
    }

    fn by_provider(&self) -> Result<Measures> {
        let (mut events, mut bytes) = (Vec::new(), Vec::new());
        self.source.sidecar::<ShapeCount<'_>>(|shape| {
            events.push((shape.provider().to_owned(), shape.rows.unwrap_or(0)));
            bytes.push((shape.provider().to_owned(), shape.payload_bytes.unwrap_or(0)));
        })?;
        Ok(vec![
            (Measure::Events, Some(Amounts::of(events, self.loss.events))),
            (Measure::PayloadBytes, Some(Amounts::of(bytes, self.loss.of_sums()))),
        ])
    }

    fn by_file(&self) -> Result<Measures> {
        let mut keys = FileKeys::default();
        self.source.events::<DiskOperation<'_>>("Kernel-DiskIo", |row| {
            keys.add(self.source.machine(row.input), row.file);
        })?;
        let paths = FilePaths::read(self.source, &keys)?;
        let mut sums = HashMap::<Option<usize>, DiskSums>::new();
        let is_there = self.source.events::<DiskOperation<'_>>("Kernel-DiskIo", |row| {
            let Some(time) = row.time.filter(|_| row.name.is_some_and(is_finished_disk_operation)) else { return };
            sums.entry(paths.at(self.source.machine(row.input), row.file, time)).or_default().add(&row);
        })?;
        let of = |amount: fn(&DiskSums) -> u64, unknown: fn(&DiskSums) -> u64| {
            let is_whole = sums.values().all(|sums| unknown(sums) == 0);
            let named = sums.iter().map(|(number, sums)| (paths.text(*number).to_owned(), amount(sums)));
            is_there.then(|| Amounts::of(named, self.loss.of_sums().filter(|_| is_whole)))
        };
        Ok(vec![
            (Measure::DiskBytes, of(|sums| sums.bytes, |sums| sums.without_bytes)),
            (Measure::DiskNs, of(|sums| sums.ns, |sums| sums.without_ns)),
        ])
    }
}

/// Disk operations of one file.
#[derive(Clone, Copy, Debug, Default)]
struct DiskSums {
    bytes: u64,
    ns: u64,
    /// Operations of which one of these is not known.
    without_bytes: u64,
    without_ns: u64,
}

impl DiskSums {
    fn add(&mut self, row: &DiskOperation<'_>) {
        let is_flush = row.name == Some("DiskIo/FlushBuffers");
        self.bytes = self.bytes.saturating_add(row.bytes.unwrap_or(0));
        self.ns = self.ns.saturating_add(row.took_ns.unwrap_or(0));
        self.without_bytes = self.without_bytes.saturating_add(u64::from(row.bytes.is_none() && !is_flush));
        self.without_ns = self.without_ns.saturating_add(u64::from(row.took_ns.is_none()));
    }
}

/// Bytes by process; the last counter has events whose size is not known.
fn sized(ranked: &Ranked, missing: Option<u64>) -> Amounts {
    let is_whole = ranked.counter(5) == 0;
    Amounts::of_ranked(ranked, missing.filter(|_| is_whole))
}

fn functions(flame: &Flame, missing: Option<u64>, amount: fn(&FunctionSums) -> u64) -> Amounts {
    let missing = missing.and_then(|missing| missing.checked_add(flame.left_out));
    let named = || flame.by_all.iter().map(|sums| (flame.labels.text(sums.label), amount(sums)));
    let mut amounts = Amounts::of(named().map(|(name, amount)| (folded(name), amount)), missing);
    for (name, _) in named() {
        let key = folded(name);
        if key != name {
            amounts.spelled.entry(key).or_insert_with(|| name.to_owned());
        }
    }
    amounts.total = flame.tree.weight();
    amounts
}

/// The name of a function, its module in lower case: Windows does not distinguish names of files by case.
fn folded(name: &str) -> String {
    match name.split_once('!') {
        Some((module, function)) => format!("{}!{function}", module.to_lowercase()),
        None => name.to_owned(),
    }
}

read_columns! {
    /// An event shape, and what was counted of it.
    struct ShapeCount<'b> of CatalogRow<'static> {
        dataset: &'b str,
        event_name: Option<&'b str>,
        event_id: Option<i64>,
        opcode: Option<i64>,
        rows: Option<u64>,
        payload_bytes: Option<u64>,
    }
}

impl ShapeCount<'_> {
    /// The folder of the provider; that of an event lies in it, where each has one.
    fn provider(&self) -> &str {
        self.dataset.split_once('/').map_or(self.dataset, |(provider, _)| provider)
    }

    fn name(&self) -> String {
        match (self.event_name, self.event_id, self.opcode) {
            (Some(name), ..) => name.to_owned(),
            (None, Some(id), _) => format!("event {id}"),
            (None, None, Some(opcode)) => format!("opcode {opcode}"),
            (None, None, None) => "event without a number".to_owned(),
        }
    }
}

read_columns! {
    /// A row of `Kernel-DiskIo`.
    struct DiskOperation<'b> {
        name: Option<&'b str> = "event_name",
        time: Option<i64> = "timestamp_ns",
        file: Option<i64> = "FileObject",
        bytes: Option<u64> = "TransferSize",
        took_ns: Option<u64> = "HighResResponseTime_ns",
        input: Option<i64> = "input",
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::call_tree::CallTree;
    use super::super::super::labels::{LabelKind, Labels};
    use super::*;

    #[test]
    fn modules_are_the_same_whatever_their_case() {
        let mut labels = Labels::default();
        let named = [("MpEngine.dll!Scan", 3), ("mpengine.DLL!Scan", 4), ("mpengine.dll!scan", 5), ("Shop.Price", 6)];
        let sums =
            |(name, own): (&str, u64)| FunctionSums { label: labels.number(name, LabelKind::Program), own, all: own };
        let by_all: Vec<FunctionSums> = named.into_iter().map(sums).collect();
        let mut tree = CallTree::default();
        tree.add(by_all.iter().map(|sums| sums.label), 18);
        let by_own = by_all.clone();
        let flame = Flame { tree, labels, walked: 18, by_own, by_all, functions: 4, left_out: 0 };
        let amounts = functions(&flame, Some(1), |sums| sums.own);
        let expected = [("Shop.Price", 6), ("mpengine.dll!Scan", 7), ("mpengine.dll!scan", 5)];
        assert_eq!(amounts.by_name, BTreeMap::from(expected.map(|(name, own)| (name.to_owned(), own))));
        let spelled = [("mpengine.dll!Scan".to_owned(), "MpEngine.dll!Scan".to_owned())];
        assert_eq!((amounts.spelled, amounts.total, amounts.missing), (BTreeMap::from(spelled), 18, Some(1)));
    }
}
