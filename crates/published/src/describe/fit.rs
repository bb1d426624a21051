//! The document within a limit.
//!
//! Names come first, then what is said of them; each piece is there whole or not at all, and those that are not are counted.

use std::io;

use serde::Serialize;

use super::document::{DescribedColumn, DescribedDataset, DescribedView, Description, LeftOut};

/// Bytes that a document has at most, unless it is asked for whole.
pub const LIMIT_BYTES: usize = 20_000;

/// Datasets that are there in full at most.
const DATASETS_IN_FULL: usize = 50;

/// Columns and events of such a dataset.
const COLUMNS: usize = 24;
const EVENTS: usize = 8;

/// Traces that are named.
const TRACES: usize = 5;

/// The part of the limit that names of traces and of datasets each may take.
const SHARE_OF_NAMES: usize = 8;

/// The same document in at most so many bytes. `limit` is at least what is always there: counts, and the names of views.
pub fn within(whole: Description, limit: usize) -> Description {
    let mut cut = Description {
        format: whole.format,
        limit_bytes: Some(limit),
        left_out: MOST,
        events: whole.events,
        loss: whole.loss,
        views: whole.views.iter().map(brief_view).collect(),
        sidecar: whole.sidecar,
        ..Description::default()
    };
    cut.traces = whole.traces;
    let traces = std::mem::take(&mut cut.traces.named);
    let mut room = Room(limit.saturating_sub(bytes(&cut)));
    let mut left_out = LeftOut { traces: traces.len(), ..LeftOut::default() };
    cut.traces.named = room.names(traces, TRACES, limit / SHARE_OF_NAMES);
    left_out.traces -= cut.traces.named.len();
    left_out.common_columns = whole.common_columns.len();
    cut.common_columns.extend(whole.common_columns.into_iter().filter(|column| room.take(column)));
    left_out.common_columns -= cut.common_columns.len();
    let briefs = whole.datasets.iter().map(brief_dataset).collect::<Vec<_>>();
    cut.datasets = room.names(briefs, usize::MAX, limit / SHARE_OF_NAMES);
    left_out.datasets = whole.datasets.len() - cut.datasets.len();
    let full = (whole.view_columns, whole.views, whole.datasets);
    fill(&mut cut, full, &mut room, &mut left_out);
    left_out.views_in_full = cut.views.iter().filter(|view| view.columns.is_none()).count();
    left_out.datasets_in_full = cut.datasets.iter().filter(|dataset| dataset.columns.is_none()).count();
    cut.left_out = left_out;
    cut
}

/// Counts of as many digits as any have.
const MOST: LeftOut = LeftOut {
    traces: usize::MAX,
    datasets: usize::MAX,
    datasets_in_full: usize::MAX,
    columns: usize::MAX,
    events: usize::MAX,
    views_in_full: usize::MAX,
    common_columns: usize::MAX,
};

/// The columns that views share, the views and the datasets of a whole document.
type Full = (Vec<DescribedColumn>, Vec<DescribedView>, Vec<DescribedDataset>);

/// Puts views and datasets in full in the place of those that are named, in turns, each that there is room for.
fn fill(cut: &mut Description, (shared, views, datasets): Full, room: &mut Room, left_out: &mut LeftOut) {
    let mut views = cut.views.iter_mut().zip(views).filter(|(brief, _)| brief.answerable);
    let mut datasets = cut.datasets.iter_mut().zip(datasets).take(DATASETS_IN_FULL);
    loop {
        let (view, dataset) = (views.next(), datasets.next());
        if view.is_none() && dataset.is_none() {
            break;
        }
        if let Some((brief, full)) = view {
            let needed = needed(&full, &shared, &cut.view_columns);
            let with_them = needed.iter().map(|column| bytes(column).saturating_add(1)).sum();
            if room.replace(brief, full, with_them) {
                cut.view_columns.extend(needed);
            }
        }
        if let Some((brief, full)) = dataset {
            let (full, columns, events) = shortened(full);
            if room.replace(brief, full, 0) {
                left_out.columns += columns;
                left_out.events += events;
            }
        }
    }
}

/// Those of the shared columns that a view names, and that are not yet there.
fn needed(view: &DescribedView, shared: &[DescribedColumn], there: &[DescribedColumn]) -> Vec<DescribedColumn> {
    let columns = view.columns.iter().flatten().filter(|column| column.data_type.is_none());
    let is_new = |column: &&DescribedColumn| there.iter().all(|known| known.name != column.name);
    let find = |column: &DescribedColumn| shared.iter().find(|known| known.name == column.name).cloned();
    columns.filter(is_new).filter_map(find).collect()
}

/// A view by name, with what its rows are where there are some.
fn brief_view(view: &DescribedView) -> DescribedView {
    let DescribedView { view, answerable, traces, events, meaning, .. } = view.clone();
    let of_answer = |count: Option<u64>| count.filter(|_| answerable);
    DescribedView {
        view,
        answerable,
        traces: of_answer(traces),
        events: of_answer(events),
        meaning: meaning.filter(|_| answerable),
        needed: None,
        columns: None,
    }
}

fn brief_dataset(dataset: &DescribedDataset) -> DescribedDataset {
    let DescribedDataset { dataset, view, rows, traces, .. } = dataset;
    let (dataset, view) = (dataset.clone(), view.clone());
    DescribedDataset { dataset, view, rows: *rows, traces: *traces, columns: None, events: None }
}

/// A dataset with its first columns and largest events; and how many of them it lacks.
fn shortened(mut dataset: DescribedDataset) -> (DescribedDataset, usize, usize) {
    let columns = dataset.columns.as_mut().map_or(0, |columns| shorten(columns, COLUMNS));
    let events = dataset.events.as_mut().map_or(0, |events| shorten(events, EVENTS));
    (dataset, columns, events)
}

fn shorten<T>(list: &mut Vec<T>, most: usize) -> usize {
    let more = list.len().saturating_sub(most);
    list.truncate(most);
    more
}

/// Bytes that are left.
struct Room(usize);

impl Room {
    /// Takes what a piece of a list needs, if that is there.
    fn take(&mut self, piece: &impl Serialize) -> bool {
        self.take_bytes(bytes(piece).saturating_add(1))
    }

    fn take_bytes(&mut self, needed: usize) -> bool {
        let left = self.0.checked_sub(needed);
        self.0 = left.unwrap_or(self.0);
        left.is_some()
    }

    /// Puts a piece in the place of a smaller one, if there is room for it and `more` bytes.
    fn replace<T: Serialize>(&mut self, place: &mut T, piece: T, more: usize) -> bool {
        let is_room = self.take_bytes(bytes(&piece).saturating_sub(bytes(place)).saturating_add(more));
        if is_room {
            *place = piece;
        }
        is_room
    }

    /// The first of some pieces, up to the first that has no room in `share`.
    fn names<T: Serialize>(&mut self, pieces: Vec<T>, most: usize, share: usize) -> Vec<T> {
        let mut own = Room(share.min(self.0));
        let before = own.0;
        let taken: Vec<T> = pieces.into_iter().take(most).take_while(|piece| own.take(piece)).collect();
        self.0 -= before - own.0;
        taken
    }
}

/// How long the JSON of something is.
fn bytes(of: &impl Serialize) -> usize {
    let mut counted = Counted(0);
    // What cannot be written has no room.
    serde_json::to_writer(&mut counted, of).map_or(usize::MAX, |()| counted.0)
}

/// Counts what is written.
struct Counted(usize);

impl io::Write for Counted {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0 = self.0.saturating_add(bytes.len());
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn column(name: &str, kind: Option<&str>) -> DescribedColumn {
        DescribedColumn { name: name.to_owned(), data_type: kind.map(str::to_owned), unit: None, meaning: None }
    }

    fn dataset(number: usize, columns: usize) -> DescribedDataset {
        let columns = (0..columns).map(|column_number| column(&format!("Field{column_number}"), Some("INT64")));
        DescribedDataset {
            dataset: format!("Provider-{number:04}"),
            view: None,
            rows: 10_000 - number as u64,
            traces: 1,
            columns: Some(columns.collect()),
            events: Some(Vec::new()),
        }
    }

    fn view(name: &str, answerable: bool) -> DescribedView {
        DescribedView {
            view: name.to_owned(),
            answerable,
            traces: Some(2),
            events: Some(9),
            meaning: Some("What it is".to_owned()),
            needed: None,
            columns: Some(vec![column("trace", None), column("own", Some("BIGINT"))]),
        }
    }

    fn document(datasets: Vec<DescribedDataset>) -> Description {
        Description {
            view_columns: ["trace", "nobody"].map(|name| column(name, Some("VARCHAR"))).to_vec(),
            views: vec![view("waits", true), view("packets", false)],
            datasets,
            ..Description::default()
        }
    }

    #[test]
    fn what_fits_is_there_whole() {
        let cut = within(document(vec![dataset(0, 3)]), 5000);
        assert_eq!((cut.limit_bytes, cut.left_out), (Some(5000), LeftOut { views_in_full: 1, ..LeftOut::default() }));
        assert_eq!(cut.datasets, [dataset(0, 3)]);
        assert_eq!(cut.views[0], view("waits", true));
        // What nobody names is not described.
        assert_eq!(cut.view_columns, [column("trace", Some("VARCHAR"))]);
        let packets = serde_json::to_string(&cut.views[1]).unwrap();
        assert_eq!(packets, r#"{"view":"packets","answerable":false}"#);
    }

    #[test]
    fn no_document_is_longer_than_its_limit_and_what_it_lacks_is_counted() {
        for limit in [1200, 2000, 5000, 20_000] {
            for (count, columns) in [(0, 0), (1, 5000), (3, 30), (60, 1), (2000, 10)] {
                let cut = within(document((0..count).map(|number| dataset(number, columns)).collect()), limit);
                assert!(bytes(&cut) <= limit, "{limit} {count} {columns}: {}", bytes(&cut));
                assert_eq!(cut.datasets.len() + cut.left_out.datasets, count);
                let in_full = cut.datasets.iter().filter_map(|dataset| dataset.columns.as_ref());
                let there: usize = in_full.clone().map(Vec::len).sum();
                assert_eq!(there + cut.left_out.columns, in_full.clone().count() * columns);
                assert_eq!(in_full.count() + cut.left_out.datasets_in_full, cut.datasets.len());
            }
        }
    }

    #[test]
    fn fifty_datasets_are_there_in_full_at_most() {
        let cut = within(document((0..60).map(|number| dataset(number, 1)).collect()), 1_000_000);
        assert_eq!((cut.left_out.datasets, cut.left_out.datasets_in_full), (0, 10));
        assert!(cut.datasets[49].columns.is_some() && cut.datasets[50].columns.is_none());
    }
}
