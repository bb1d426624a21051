//! The datasets of a trace as a table: what was written, or what would be.

use base::readable::count::{ByteCount, Count};
use batch::datasets::{DatasetSummary, estimated_bytes};

use super::fold::Width;
use super::text_table::{Align, TextTable};

/// Datasets that a table shows; the rest is a number.
const SHOWN: usize = 10;

/// The largest ones as a table; nothing where there are none.
pub(super) fn table(datasets: &[DatasetSummary], width: Width) -> String {
    let is_planned = datasets.iter().any(|dataset| dataset.plan.is_some());
    let mut table = if is_planned {
        let [dataset, events, columns, partitions, bytes] =
            ["DATASET", "EVENTS", "COLUMNS", "PARTITIONS", "ESTIMATED"].map(|name| (name, Align::Right));
        TextTable::new([(dataset.0, Align::Left), events, columns, partitions, bytes])
    } else {
        TextTable::new([("DATASET", Align::Left), ("EVENTS", Align::Right)])
    };
    let number = |number: u64| Count(number).to_string();
    for DatasetSummary { dataset, rows, plan } in datasets.iter().take(SHOWN) {
        let plan = plan
            .map(|plan| [number(plan.columns), number(plan.partitions), ByteCount(plan.estimated_bytes).to_string()]);
        table.row([dataset.clone(), number(*rows)].into_iter().chain(plan.into_iter().flatten()));
    }
    if let Some(rest @ [_, ..]) = datasets.get(SHOWN..) {
        let rows = rest.iter().map(|dataset| dataset.rows).sum();
        let bytes =
            estimated_bytes(rest.iter()).map(|bytes| [String::new(), String::new(), ByteCount(bytes).to_string()]);
        let cells = [format!("{} more", rest.len()), number(rows)];
        table.row(cells.into_iter().chain(bytes.into_iter().flatten()));
    }
    if datasets.is_empty() { String::new() } else { table.render(width) }
}

#[cfg(test)]
mod tests {
    use batch::datasets::DatasetPlan;

    use super::*;

    #[test]
    fn what_is_planned_is_shown() {
        let plan = |columns, partitions, estimated_bytes| Some(DatasetPlan { columns, partitions, estimated_bytes });
        let of = |dataset: &str, rows, plan| DatasetSummary { dataset: dataset.to_owned(), rows, plan };
        let all = [of("B", 9, plan(30, 2, 512)), of("A", 7, plan(22, 2, 3072))];
        let expected = "  DATASET  EVENTS  COLUMNS  PARTITIONS  ESTIMATED
  B             9       30           2      512 B
  A             7       22           2   3.00 KiB
";
        assert_eq!(table(&all, Width::UNBOUNDED), expected);
    }
}
