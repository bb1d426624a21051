//! Which rows of a published trace pass a filter.

use std::collections::HashSet;
use std::sync::Arc;

use arrow_array::{BooleanArray, RecordBatch};
use base::clock::ClockAnchor;
use base::error::Result;
use base::words::Words as _;
use conversion::plan::filter::{Filter, RowInfo, TimeWindow};
use conversion::read_columns;
use conversion::sidecar::ClockRow;
use conversion::sidecar::catalog::CatalogRow;
use conversion::sidecar::read::ReadRow;

use super::sidecar::Sidecar;

/// A filter over the rows of a trace.
#[derive(Debug)]
pub struct RowFilter {
    filter: Filter,
    window: TimeWindow,
    /// Shapes with a keyword of a name that is asked for.
    with_keyword: HashSet<u32>,
}

impl RowFilter {
    /// The columns that it looks at.
    pub const COLUMNS: &'static [&'static str] = FilterRow::COLUMNS;

    /// What a filter passes of a trace with that sidecar; `None` where it passes everything.
    ///
    /// # Errors
    /// [`ErrorKind::Output`](base::error::ErrorKind::Output) when the sidecar cannot be read.
    pub fn of(sidecar: &Sidecar<'_>, filter: &Filter) -> Result<Option<Arc<RowFilter>>> {
        if filter.is_empty() {
            return Ok(None);
        }
        let mut with_keyword = HashSet::new();
        if !filter.keyword_names.is_empty() {
            sidecar.rows::<CatalogRow<'_>>(|row| {
                let names = row.keyword_names.unwrap_or_default();
                if filter.keyword_names.iter().any(|wanted| wanted.matches_any(&names)) {
                    with_keyword.insert(row.shape);
                }
            })?;
        }
        let window = filter.window(start_ns(sidecar)?);
        Ok(Some(Arc::new(RowFilter { filter: filter.clone(), window, with_keyword })))
    }

    /// Whether a dataset may have rows that pass: by its name, and that and the GUID of its provider.
    pub fn passes_dataset(&self, dataset: &str, provider: Option<&str>, guid: Option<&str>) -> bool {
        self.filter.passes_dataset(dataset, provider, guid)
    }

    /// Which rows of a batch pass.
    ///
    /// # Errors
    /// Those of [`ReadRow::read`].
    pub fn passing(&self, batch: &RecordBatch) -> Result<BooleanArray> {
        let mut passing = Vec::with_capacity(batch.num_rows());
        FilterRow::read(batch, |row| {
            let is_in_time = row.timestamp_ns.is_none_or(|ns| self.window.contains(ns));
            let has_named_keyword = row.shape.is_some_and(|shape| self.with_keyword.contains(&shape));
            passing.push(is_in_time && self.filter.passes_row(&row.info(has_named_keyword)));
        })?;
        Ok(passing.into())
    }
}

/// When the recording starts, in Unix nanoseconds: at its earliest header event.
///
/// # Errors
/// Those of [`Sidecar::rows`].
pub(crate) fn start_ns(sidecar: &Sidecar<'_>) -> Result<i64> {
    let mut start = None;
    sidecar.rows::<ClockRow>(|row| {
        let by_boot = row.boot_anchor_ns.filter(|_| row.anchor == ClockAnchor::Boot.word());
        let at = by_boot.unwrap_or(row.start_anchor_ns);
        start = Some(start.map_or(at, |start: i64| start.min(at)));
    })?;
    Ok(start.unwrap_or_default())
}

read_columns! {
    /// What filters look at.
    struct FilterRow<'b> {
        timestamp_ns: Option<i64> = "timestamp_ns",
        event_id: Option<u16> = "event_id",
        event_name: Option<&'b str> = "event_name",
        level: Option<u8> = "level",
        keywords: Option<u64> = "keywords",
        signed_keywords: Option<i64> = "keywords",
        process_id: Option<u32> = "process_id",
        process_name: Option<&'b str> = "process_name",
        thread_id: Option<u32> = "thread_id",
        cpu: Option<u16> = "cpu",
        shape: Option<u32> = "shape",
    }
}

impl<'b> FilterRow<'b> {
    fn info(&self, has_named_keyword: bool) -> RowInfo<'b> {
        RowInfo {
            event_id: self.event_id,
            event_name: self.event_name,
            level: self.level,
            // Columns of portable integers have the highest keyword as the sign.
            keywords: self.keywords.or(self.signed_keywords.map(i64::cast_unsigned)),
            has_named_keyword,
            process_id: self.process_id,
            process_name: self.process_name,
            thread_id: self.thread_id,
            cpu: self.cpu,
        }
    }
}
