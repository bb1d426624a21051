//! The rows of one dataset of a recording, for whoever asks for nothing else of it.

use std::slice;

use base::error::Result;
use etl::event::subject::Subject;

use super::prepare::Needs;
use super::stream::EventStream;
use super::trace::{Trace, projection, table_of};
use crate::convert::tables::table_schema;
use crate::convert::{ConvertOptions, JobProgress, Recording, Surveyed};
use crate::plan::filter::Filter;
use crate::plan::{CompiledFilter, PlannedTable};
use crate::survey::FileSurvey;
use crate::table::HeaderColumn;

/// What is known of processes by their rows: names, and the process of a thread.
const OWNERS: &[Subject] = &[Subject::Process, Subject::Thread];

/// Columns that need it.
const OF_OWNERS: [HeaderColumn; 3] = [HeaderColumn::ProcessId, HeaderColumn::ProcessName, HeaderColumn::Attribution];

/// Columns that stacks fill.
const OF_STACKS: [HeaderColumn; 2] = [HeaderColumn::Stack, HeaderColumn::StackId];

/// Some rows of a recording.
#[derive(Clone, Copy, Debug)]
pub struct AskedRows<'a> {
    /// Their columns; `None` for all of them.
    pub columns: Option<&'a [&'a str]>,
    /// Which rows.
    pub filter: &'a Filter,
}

/// A stream, and what is known of the recording that it is of.
#[derive(Debug)]
pub struct OneStream {
    /// The rows.
    pub stream: EventStream,
    /// Whether part of the recording cannot be read.
    pub is_damaged: bool,
}

impl AskedRows<'_> {
    /// Opens a recording for one stream of it, of the dataset that `choose` names among those that there are. It costs less than
    /// [`Trace::open`]: of what ids and stacks mean, only what its rows need is gathered.
    ///
    /// # Errors
    /// Those of [`Trace::open`], [`Trace::stream`] and `choose`.
    pub fn open(
        &self,
        recording: &Recording,
        options: &ConvertOptions,
        choose: impl FnOnce(&[&str]) -> Result<String>,
        progress: &dyn JobProgress,
    ) -> Result<OneStream> {
        let mut dataset = String::new();
        let needs = |surveyed: &Surveyed| {
            let tables = &surveyed.plan.tables;
            dataset = choose(&tables.iter().map(|table| table.dataset.as_str()).collect::<Vec<_>>())?;
            self.needs(surveyed, table_of(tables, &dataset)?, options)
        };
        let trace = Trace::open_for(recording, options, needs, progress)?;
        let is_damaged = trace.files().iter().any(FileSurvey::is_damaged);
        Ok(OneStream { stream: trace.stream(&dataset, self.columns, self.filter)?, is_damaged })
    }

    /// What rows of a table need.
    fn needs(&self, surveyed: &Surveyed, table: &PlannedTable, options: &ConvertOptions) -> Result<Needs> {
        projection(&table_schema(table, &options.types), self.columns, &table.dataset)?;
        let filter = surveyed.plan.table_filter(slice::from_ref(table), self.filter, &surveyed.files);
        let has = |wanted: &[HeaderColumn]| {
            self.columns.is_none_or(|names| wanted.iter().any(|column| names.contains(&column.name())))
        };
        let owners = has(&OF_OWNERS) || CompiledFilter::asks_whose(&filter);
        // The walk of an event may name its process.
        let stacks = owners || has(&OF_STACKS);
        Ok(Needs { subjects: if owners { OWNERS } else { &[] }, stacks, filter: Some(filter) })
    }
}

#[cfg(test)]
mod tests {
    use base::error::Error;
    use base::progress::NoProgress;

    use super::*;

    const EXAMPLE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/example.etl");

    /// Whether rows of a dataset need owners, and stacks.
    fn needed(columns: Option<&[&str]>, filter: &Filter) -> (bool, bool) {
        let (asked, options, mut found) = (AskedRows { columns, filter }, ConvertOptions::new(""), None);
        let needs = |surveyed: &Surveyed| {
            let table = table_of(&surveyed.plan.tables, "Microsoft-Windows-DNS-Client")?;
            let needs = asked.needs(surveyed, table, &options)?;
            found = Some((!needs.subjects.is_empty(), needs.stacks));
            Err(Error::bug("nothing is to be gathered"))
        };
        let opened = Trace::open_for(&Recording::of_file(EXAMPLE), &options, needs, &NoProgress);
        assert!(opened.is_err());
        found.unwrap()
    }

    #[test]
    fn rows_need_what_their_columns_and_filters_ask_for() {
        let all = Filter::default();
        assert_eq!(needed(None, &all), (true, true));
        assert_eq!(needed(Some(&["seq", "thread_id", "QueryName"]), &all), (false, false));
        assert_eq!(needed(Some(&["seq", "stack_id"]), &all), (false, true));
        for column in ["process_id", "process_name", "attribution"] {
            assert_eq!(needed(Some(&[column]), &all), (true, true), "{column}");
        }
        let of_process = Filter { process_names: vec!["svchost.exe".parse().unwrap()], ..Filter::default() };
        assert_eq!(needed(Some(&["seq"]), &of_process), (true, true));
    }
}
