//! The whole document about some traces.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use base::disk::absolute;
use base::error::Result;
use base::progress::Progress;
use columnar::output::store_at;
use conversion::inspect::TimeRange;
use conversion::sidecar::table_names;
use conversion::table::COMMON;
use conversion::views::{Lake, LakeTable, ViewColumn, ViewMeaning, common_meaning, view_meanings, view_name};

use super::super::beside;
use super::super::lake::lake;
use super::super::trace::published;
use super::document::{
    DescribedColumn, DescribedDataset, DescribedEvent, DescribedTable, DescribedTraces, DescribedView, Description,
    FORMAT, LeftOut,
};
use super::facts::{AnswerFacts, DatasetFacts, Facts};
use super::gather::gather;
use super::said::Said;

/// Views that have a column of one meaning, from which on it is described once for all.
const MANY_VIEWS: usize = 3;

/// Describes a trace, or a folder with traces, by manifests, footers and sidecars. Of traces that have not changed the footers are not
/// read, where an earlier call has kept in the folder what they say.
///
/// # Errors
/// What keeps traces from being read; [`ErrorKind::Interrupted`](base::error::ErrorKind::Interrupted) when the caller asked to stop.
pub fn describe(path: &Path, progress: &dyn Progress) -> Result<Description> {
    let traces = published(&[path.to_owned()])?;
    let is_one = matches!(&traces[..], [one] if one.folder() == path);
    let out = store_at(path);
    let lake = lake(&traces, (!is_one).then_some(&*out))?;
    let root = match absolute(path).parent().filter(|_| is_one) {
        Some(parent) => store_at(parent),
        None => out,
    };
    Ok(whole(&lake, &beside::patterns(&*root), gather(&traces, progress)?))
}

fn whole(lake: &Lake, beside: &[&str], mut facts: Facts) -> Description {
    facts.traces.sort_by(|a, b| a.trace.cmp(&b.trace));
    let first = facts.traces.iter().filter_map(|trace| trace.first_time_ns).min();
    let last = facts.traces.iter().filter_map(|trace| trace.last_time_ns).max();
    let common = common_columns(lake);
    let (view_columns, views) = views(lake, beside, &mut facts.answers);
    Description {
        format: FORMAT,
        limit_bytes: None,
        left_out: LeftOut::default(),
        datasets: datasets(lake, &common, &mut facts.datasets),
        common_columns: common,
        view_columns,
        views,
        sidecar: sidecar(lake, &facts.sidecar),
        events: facts.events,
        loss: facts.loss,
        traces: DescribedTraces {
            count: facts.traces.len(),
            inputs: facts.inputs,
            machines: facts.machines,
            time: TimeRange::of(first.zip(last)),
            named: facts.traces,
        },
    }
}

/// The columns that all datasets have, of the types that the first one has.
fn common_columns(lake: &Lake) -> Vec<DescribedColumn> {
    let tables: Vec<&LakeTable> = lake.tables().filter(|table| table.is_event()).collect();
    let column = |name: &str| {
        let kind = tables.iter().find_map(|table| table.column(name).map(|(_, kind)| kind))?;
        Some(described(name, kind, [Said::Nothing, Said::Nothing]))
    };
    COMMON.iter().filter_map(|common| column(common.name())).collect()
}

/// A column with what traces say of it, else with what is known of a column of its name.
fn described(name: &str, kind: &str, [unit, meaning]: [Said; 2]) -> DescribedColumn {
    let is_said = unit != Said::Nothing || meaning != Said::Nothing;
    let known = common_meaning(name).filter(|_| !is_said);
    DescribedColumn {
        name: name.to_owned(),
        data_type: Some(kind.to_owned()),
        unit: unit.one().or_else(|| known?.unit.map(str::to_owned)),
        meaning: meaning.one().or_else(|| known.map(|known| known.text.to_owned())),
    }
}

fn datasets(
    lake: &Lake,
    common: &[DescribedColumn],
    facts: &mut BTreeMap<String, DatasetFacts>,
) -> Vec<DescribedDataset> {
    let is_common = |name: &str, kind: &str| {
        common.iter().any(|column| column.name == name && column.data_type.as_deref() == Some(kind))
    };
    let dataset = |table: &LakeTable| {
        let mut facts = facts.remove(&table.name().to_lowercase()).unwrap_or_default();
        let columns = table.columns_and_members().into_iter();
        let columns = columns.filter(|(path, kind)| !is_common(path, kind) && !path.starts_with("extended."));
        let columns = columns.map(|(path, kind)| {
            let said = facts.columns.remove(&path.to_lowercase()).unwrap_or_default();
            described(&path, kind, said)
        });
        let columns = columns.collect();
        let events = facts.events.into_iter().map(|(event, rows)| DescribedEvent { event, rows });
        let mut events: Vec<DescribedEvent> = events.collect();
        events.sort_by_key(|event| Reverse(event.rows));
        let view = view_name(lake, table);
        DescribedDataset {
            dataset: table.name().to_owned(),
            view: Some(view).filter(|view| view != table.name()),
            rows: facts.rows,
            traces: facts.traces,
            columns: Some(columns),
            events: Some(events),
        }
    };
    let mut datasets: Vec<DescribedDataset> = lake.tables().filter(|table| table.is_event()).map(dataset).collect();
    datasets.sort_by_key(|dataset| Reverse(dataset.rows));
    datasets
}

/// The columns that many views have, and the views.
fn views(
    lake: &Lake,
    beside: &[&str],
    answers: &mut BTreeMap<String, AnswerFacts>,
) -> (Vec<DescribedColumn>, Vec<DescribedView>) {
    // Traces of an older program do not know all questions.
    let is_answered = |question: &str| answers.get(question).is_none_or(|answer| answer.traces > 0);
    let known = view_meanings(lake, beside, is_answered);
    let shared = shared_columns(&known);
    let view = |known: &ViewMeaning| {
        let answer = answers.remove(known.name);
        let column = |column: &ViewColumn| {
            let is_shared = shared.contains(column);
            if is_shared { named(column.name) } else { of_view(column) }
        };
        DescribedView {
            view: known.name.to_owned(),
            answerable: !known.is_empty,
            traces: answer.as_ref().map(|answer| answer.traces),
            events: answer.as_ref().map(|answer| answer.events),
            meaning: Some(known.text.clone()),
            needed: answer.and_then(|answer| answer.needed).filter(|_| known.is_empty),
            columns: Some(known.columns.iter().map(column).collect()),
        }
    };
    let mut views: Vec<DescribedView> = known.iter().map(view).collect();
    views.sort_by_key(|view| (!view.answerable, view.events.is_none(), Reverse(view.events)));
    (shared.iter().map(of_view).collect(), views)
}

/// Those of views that these traces answer; of two that are called alike, the one that more views have.
fn shared_columns(views: &[ViewMeaning]) -> Vec<ViewColumn> {
    let all = || views.iter().filter(|view| !view.is_empty).flat_map(|view| &view.columns);
    let mut names = BTreeSet::new();
    let mut shared: Vec<(usize, ViewColumn)> = Vec::new();
    for column in all().filter(|column| names.insert((column.name, column.data_type, text_of(column)))) {
        let count = all().filter(|other| *other == column).count();
        match shared.iter_mut().find(|(_, other)| other.name == column.name) {
            Some(known) if known.0 < count => *known = (count, *column),
            Some(_) => {}
            None => shared.push((count, *column)),
        }
    }
    shared.retain(|(count, _)| *count >= MANY_VIEWS);
    shared.into_iter().map(|(_, column)| column).collect()
}

fn text_of(column: &ViewColumn) -> &'static str {
    column.meaning.map_or("", |meaning| meaning.text)
}

fn of_view(column: &ViewColumn) -> DescribedColumn {
    DescribedColumn {
        name: column.name.to_owned(),
        data_type: Some(column.data_type.to_owned()),
        unit: column.meaning.and_then(|meaning| meaning.unit).map(str::to_owned),
        meaning: column.meaning.map(|meaning| meaning.text.to_owned()),
    }
}

/// A column that is described elsewhere.
fn named(name: &str) -> DescribedColumn {
    DescribedColumn { name: name.to_owned(), data_type: None, unit: None, meaning: None }
}

/// The tables of the sidecar that are there, in the order of the page.
fn sidecar(lake: &Lake, rows: &BTreeMap<String, u64>) -> Vec<DescribedTable> {
    let found = table_names().filter(|name| lake.table(&format!("sidecar/{name}")).is_some());
    found
        .map(|name| DescribedTable { view: format!("sidecar/{name}"), rows: rows.get(name).copied().unwrap_or(0) })
        .collect()
}
