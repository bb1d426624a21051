//! `etl2parquet describe`.

use std::collections::BTreeMap;

use base::calendar::rfc3339;
use base::error::Result;
use base::progress::NoProgress;
use base::readable::count::{Count, counted};
use batch::status;
use published::describe::{DescribedDataset, DescribedView, Description, LIMIT_BYTES, describe, within};

use super::args::DescribeArgs;
use super::console;
use super::fold::Width;
use super::page::section;
use super::text_table::{Align, TextTable};

/// Describes; returns the exit code.
///
/// # Errors
/// What keeps traces from being read, and a document that cannot be written.
pub(super) fn run(args: &DescribeArgs) -> Result<u8> {
    let whole = describe(&args.traces, &NoProgress)?;
    if args.json {
        let description = if args.full { whole } else { within(whole, LIMIT_BYTES) };
        console::to_stdout(&console::json_line(&description))?;
    } else {
        console::page_to_stdout(&page(&whole, args.full, Width::of_stdout()))?;
    }
    Ok(status::SUCCESS)
}

/// The same for people, without columns unless all is asked for.
fn page(described: &Description, is_full: bool, width: Width) -> String {
    let parts = [
        section("Traces", &traces(described).render(width)),
        section("Datasets", &datasets(&described.datasets).render(width)),
        section("Views", &views(&described.views).render(width)),
    ];
    let mut text = parts.concat();
    if is_full {
        text += &columns(described, width);
    }
    text
}

fn traces(described: &Description) -> TextTable {
    let mut table = TextTable::of_values();
    let (traces, loss) = (&described.traces, &described.loss);
    table.value("traces", counted(traces.count as u64, "traces"));
    let time = traces.time.ns().map(|(first, last)| format!("{} to {}", rfc3339(first), rfc3339(last)));
    table.value("time", time.unwrap_or_else(|| "-".to_owned()));
    table.value("rows", Count(described.events.written).to_string());
    let lost = |lost: Option<u64>| lost.map_or_else(|| "unknown".to_owned(), |lost| Count(lost).to_string());
    table.value("events lost", lost(loss.events_lost));
    table.value("buffers lost", lost(loss.buffers_lost));
    table.value("loss unknown of", counted(loss.unknown_inputs, "inputs"));
    table
}

fn datasets(datasets: &[DescribedDataset]) -> TextTable {
    let mut table = TextTable::new([("DATASET", Align::Left), ("ROWS", Align::Right), ("COLUMNS", Align::Right)]);
    for dataset in datasets {
        let columns = dataset.columns.as_ref().map_or(0, Vec::len) as u64;
        table.row([dataset.dataset.clone(), Count(dataset.rows).to_string(), Count(columns).to_string()]);
    }
    table
}

/// Those that these traces answer.
fn views(views: &[DescribedView]) -> TextTable {
    let mut table =
        TextTable::new([("VIEW", Align::Whole), ("EVENTS", Align::Right), ("WHAT ITS ROWS ARE", Align::Left)]);
    for view in views.iter().filter(|view| view.answerable) {
        let events = view.events.map(|events| Count(events).to_string());
        table.row([view.view.clone(), events.unwrap_or_default(), view.meaning.clone().unwrap_or_default()]);
    }
    table
}

/// A section for each dataset and view.
fn columns(described: &Description, width: Width) -> String {
    let shared = described.common_columns.iter().chain(&described.view_columns);
    let shared: BTreeMap<&str, _> = shared.map(|column| (&*column.name, column)).collect();
    let of_datasets = described.datasets.iter().map(|dataset| (&dataset.dataset, &dataset.columns));
    let of_views = described.views.iter().filter(|view| view.answerable).map(|view| (&view.view, &view.columns));
    let with_columns = of_datasets.chain(of_views).filter_map(|(name, columns)| Some((name, columns.as_ref()?)));
    let common = [("Columns of all datasets".to_owned(), &described.common_columns)];
    let parts = common.into_iter().chain(with_columns.map(|(name, columns)| (format!("Columns of {name}"), columns)));
    let part = |(title, columns): (String, &Vec<published::describe::DescribedColumn>)| {
        let mut table = TextTable::new([
            ("COLUMN", Align::Left),
            ("TYPE", Align::Left),
            ("UNIT", Align::Left),
            ("MEANING", Align::Left),
        ]);
        for column in columns {
            let known =
                if column.data_type.is_some() { column } else { shared.get(&*column.name).copied().unwrap_or(column) };
            let text = |text: &Option<String>| text.clone().unwrap_or_default();
            table.row([column.name.clone(), text(&known.data_type), text(&known.unit), text(&known.meaning)]);
        }
        section(&title, &table.render(width))
    };
    parts.map(part).collect()
}
