//! The rows of a trace: in order in each file and over all of them, every number of `seq` there, and what they add up to.

use std::collections::BTreeMap;
use std::sync::Arc;

use base::error::Result;
use base::progress::Progress;
use columnar::output::Store;
use conversion::read_columns;
use rayon::prelude::*;

use super::finding::{Finding, FindingKind};
use super::slots::{Placed, Slots};
use crate::TableFile;

/// A file of events.
pub(super) struct EventFile {
    pub path: String,
    /// The files of its trace.
    pub store: Arc<dyn Store>,
    /// What it is called in messages.
    pub label: String,
    /// Its folder below `events`.
    pub dataset: String,
    /// Of each row group the least and greatest `seq`.
    pub groups: Vec<(i64, i64)>,
}

/// What rows add up to.
#[derive(Debug, Default)]
pub(super) struct RowCounts {
    /// Rows by shape and dataset.
    pub shapes: BTreeMap<(i64, String), u64>,
    /// Rows by `<decode_source>/<decode_status>`.
    pub decode: BTreeMap<String, u64>,
    /// All rows.
    pub rows: u64,
}

impl RowCounts {
    fn merge(mut self, other: RowCounts) -> RowCounts {
        for (shape, rows) in other.shapes {
            *self.shapes.entry(shape).or_default() += rows;
        }
        for (outcome, rows) in other.decode {
            *self.decode.entry(outcome).or_default() += rows;
        }
        self.rows += other.rows;
        self
    }
}

/// Numbers that are held in memory at a time, 8 bytes each.
const STRETCH: u64 = 1 << 23;

read_columns! {
    /// What a row of events is checked by.
    struct EventRow<'b> {
        time: Option<i64> = "timestamp_ns",
        seq: Option<i64> = "seq",
        shape: Option<i64> = "shape",
        decode_source: Option<&'b str> = "decode_source",
        decode_status: Option<&'b str> = "decode_status",
    }
}

/// Reads all rows of a trace with so many readable events. `is_dense`: each of them has to have a row.
///
/// # Errors
/// Those of reading; [`ErrorKind::Interrupted`](base::error::ErrorKind::Interrupted) when the caller asked to stop.
pub(super) fn check(
    files: &[EventFile],
    label: &str,
    (readable, is_dense): (u64, bool),
    progress: &dyn Progress,
    findings: &mut Vec<Finding>,
) -> Result<RowCounts> {
    let (mut counts, mut last) = (RowCounts::default(), i64::MIN);
    let mut start = 0;
    while start < readable {
        let length = STRETCH.min(readable - start);
        let slots = Slots::new(start, usize::try_from(length).unwrap_or(usize::MAX));
        let of_files = files.par_iter().map(|file| file.read(start..start + length, &slots, progress));
        for (of_file, found) in of_files.collect::<Result<Vec<_>>>()? {
            counts = counts.merge(of_file);
            findings.extend(found);
        }
        findings.extend(check_order(&slots, label, is_dense, &mut last));
        start += length;
    }
    Ok(counts)
}

/// What is missing in a stretch, or out of order over all files: the first of each.
fn check_order(slots: &Slots, label: &str, is_dense: bool, last: &mut i64) -> Vec<Finding> {
    let (mut missing, mut early) = (None, None);
    for (seq, time) in slots.all() {
        match time {
            None if is_dense => missing = missing.or(Some(seq)),
            None => {}
            Some(time) => {
                if time < *last {
                    early = early.or(Some(seq));
                }
                *last = time;
            }
        }
    }
    let missing = missing.map(|seq| (FindingKind::Sequence, format!("no row has the seq {seq}")));
    let early =
        early.map(|seq| (FindingKind::Order, format!("the row of seq {seq} is earlier than the one before it")));
    let found = [missing, early].into_iter().flatten();
    found.map(|(kind, reason)| Finding::new(kind, format!("{label}/events"), reason)).collect()
}

impl EventFile {
    /// Reads the rows in a stretch.
    fn read(
        &self,
        stretch: std::ops::Range<u64>,
        slots: &Slots,
        progress: &dyn Progress,
    ) -> Result<(RowCounts, Vec<Finding>)> {
        let is_in = |&(least, greatest): &(i64, i64)| {
            let bound = |value: i64| u64::try_from(value).unwrap_or(0);
            bound(least) < stretch.end && bound(greatest) >= stretch.start
        };
        let groups: Vec<usize> = (0..).zip(&self.groups).filter(|(_, range)| is_in(range)).map(|(at, _)| at).collect();
        let mut reading = FileReading::new(self);
        if !groups.is_empty() {
            let file = TableFile::open(&*self.store, &self.path)?;
            file.rows::<EventRow<'_>>(Some(groups), progress, |row| reading.row(&row, slots))?;
        }
        Ok((reading.counts(), reading.fault.into_iter().collect()))
    }
}

/// A file while it is read.
struct FileReading<'a> {
    file: &'a EventFile,
    /// Rows by shape.
    shapes: BTreeMap<i64, u64>,
    /// Rows by `<decode_source>/<decode_status>`.
    decode: BTreeMap<String, u64>,
    /// Where such a key is put together.
    key: String,
    /// Number and time of the row before.
    last: Option<(i64, i64)>,
    /// The first fault.
    fault: Option<Finding>,
}

impl<'a> FileReading<'a> {
    fn new(file: &'a EventFile) -> Self {
        let (shapes, decode) = (BTreeMap::new(), BTreeMap::new());
        FileReading { file, shapes, decode, key: String::new(), last: None, fault: None }
    }

    fn counts(&mut self) -> RowCounts {
        let shapes = std::mem::take(&mut self.shapes).into_iter();
        let shapes: BTreeMap<_, _> = shapes.map(|(shape, rows)| ((shape, self.file.dataset.clone()), rows)).collect();
        RowCounts { rows: shapes.values().sum(), shapes, decode: std::mem::take(&mut self.decode) }
    }

    fn row(&mut self, row: &EventRow<'_>, slots: &Slots) {
        let Some((time, seq)) = row.time.zip(row.seq) else {
            self.fault(FindingKind::Order, "a row has no timestamp_ns or seq".to_owned());
            return;
        };
        if self.last.is_some_and(|(last_seq, last)| seq <= last_seq || time < last) {
            self.fault(FindingKind::Order, format!("the row of seq {seq} is not behind the one before it"));
        }
        self.last = Some((seq, time));
        match slots.place(seq, time) {
            Placed::Outside => return,
            Placed::Twice => self.fault(FindingKind::Sequence, format!("another row has the seq {seq}, too")),
            Placed::New => {}
        }
        *self.shapes.entry(row.shape.unwrap_or(-1)).or_default() += 1;
        self.key.clear();
        self.key.push_str(row.decode_source.unwrap_or_default());
        self.key.push('/');
        self.key.push_str(row.decode_status.unwrap_or_default());
        match self.decode.get_mut(&self.key) {
            Some(rows) => *rows += 1,
            None => drop(self.decode.insert(self.key.clone(), 1)),
        }
    }

    fn fault(&mut self, kind: FindingKind, reason: String) {
        self.fault.get_or_insert_with(|| Finding::new(kind, &self.file.label, reason));
    }
}
