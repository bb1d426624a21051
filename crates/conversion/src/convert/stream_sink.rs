//! Row groups to a reader: through a channel, and those of one table behind it in the order of their rows.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::task::Poll;
use std::time::Duration;

use base::error::{Error, ErrorKind, Result};
use base::progress::Progress;
use columnar::output::FileEntry;

use super::group_sink::{Charge, GroupSink};
use crate::table::{CompletedRowGroup, RowGroup};

/// Sends row groups to a [`GroupReader`]. What waits in the channel stays charged, so a reader that stops stops the conversion.
#[derive(Debug)]
pub struct StreamSink(Sender<Sent>);

/// Takes row groups from a [`StreamSink`].
#[derive(Debug)]
pub struct GroupReader {
    receiver: Receiver<Sent>,
    order: GroupOrder,
    /// Partition and number of the row group that comes next.
    next: (u32, u64),
    /// What came before its turn.
    early: BTreeMap<(u32, u64), SentGroup>,
    /// How many row groups a partition has, of those that have ended.
    ended: BTreeMap<u32, u64>,
}

/// In which order row groups are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GroupOrder {
    /// Those of one table, in the order of their rows, from the partition with this number on.
    OfRows {
        /// The partition.
        from: u32,
    },
    /// Those of all tables, as they are made.
    AsMade,
}

/// A row group that was sent, and how much memory it takes.
#[derive(Debug)]
pub struct SentGroup {
    /// Number of the table.
    pub table: u32,
    /// Its rows.
    pub group: RowGroup,
    /// Gives its memory back.
    pub charge: Charge,
}

#[derive(Debug)]
enum Sent {
    /// A row group, by partition and number.
    Group((u32, u64), SentGroup),
    /// A partition has so many row groups.
    End(u32, u64),
}

/// A partition whose row groups are sent.
#[derive(Debug)]
pub struct SentPart {
    partition: u32,
    groups: AtomicU64,
}

impl StreamSink {
    /// A sink, and the reader of what is sent through it.
    pub fn new(order: GroupOrder) -> (StreamSink, GroupReader) {
        let (sender, receiver) = channel();
        let (early, ended) = (BTreeMap::new(), BTreeMap::new());
        let from = if let GroupOrder::OfRows { from } = order { from } else { 0 };
        (StreamSink(sender), GroupReader { receiver, order, next: (from, 0), early, ended })
    }

    fn send(&self, sent: Sent) -> Result<()> {
        self.0.send(sent).map_err(|_| Error::new(ErrorKind::Interrupted, "nobody reads the stream any more"))
    }
}

impl GroupSink for StreamSink {
    type Part = SentPart;

    fn reserve(&self) -> u64 {
        0
    }

    fn part(&self, partition: u32) -> SentPart {
        SentPart { partition, groups: AtomicU64::new(0) }
    }

    fn take(&self, part: &SentPart, group: CompletedRowGroup, charge: Charge, _: &dyn Progress) -> Result<()> {
        part.groups.fetch_add(1, Ordering::Relaxed);
        let CompletedRowGroup { table, ordinal, group, .. } = group;
        self.send(Sent::Group((part.partition, ordinal), SentGroup { table, group, charge }))
    }

    fn finish(&self, part: SentPart, _: &dyn Progress) -> Result<Vec<FileEntry>> {
        self.send(Sent::End(part.partition, part.groups.into_inner()))?;
        Ok(Vec::new())
    }
}

impl GroupReader {
    /// Waits for the next row group, in steps of so long; ready with `None` once the sink is gone.
    pub fn next_group(&mut self, step: Duration) -> Poll<Option<SentGroup>> {
        loop {
            let (partition, ordinal) = self.next;
            if let Some(next) = self.early.remove(&self.next) {
                self.next = (partition, ordinal + 1);
                return Poll::Ready(Some(next));
            }
            if self.ended.get(&partition) == Some(&ordinal) {
                self.next = (partition.saturating_add(1), 0);
                continue;
            }
            match self.receiver.recv_timeout(step) {
                Ok(Sent::Group(_, group)) if self.order == GroupOrder::AsMade => return Poll::Ready(Some(group)),
                Ok(Sent::Group(place, group)) => _ = self.early.insert(place, group),
                Ok(Sent::End(partition, groups)) => _ = self.ended.insert(partition, groups),
                Err(RecvTimeoutError::Timeout) => return Poll::Pending,
                Err(RecvTimeoutError::Disconnected) => return Poll::Ready(None),
            }
        }
    }
}
