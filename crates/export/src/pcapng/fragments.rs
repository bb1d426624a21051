//! Packets that ndiscap has recorded in several events: before Windows 8.1 one for each piece of memory that a packet lay in.
//!
//! The first has the keyword `PacketStart`, the last `PacketEnd`. They are written one behind the other by one thread on one processor,
//! and events of others may stand between.

use std::collections::{BTreeMap, HashMap};

use super::blocks::MOST_PACKET;
use super::report::Report;

/// Packets that are put together at a time.
const MOST_OPEN: usize = 1 << 8;

/// By what the fragments of a packet are known: machine, processor, thread, interface and filter, direction.
type Key = (i64, Option<i64>, Option<i64>, Option<i64>, Option<i64>, Option<bool>);

/// A packet with the record of its first fragment.
pub(super) type Joined = (Whole, Vec<u8>);

/// A packet whose bytes are all there, or that will get no more.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Whole {
    /// When its first fragment was recorded, Unix nanoseconds.
    pub(super) time: i64,
    /// Its bytes, at most as many as readers take.
    pub(super) bytes: Vec<u8>,
    /// How many it had.
    pub(super) length: usize,
    /// Whether its first fragment is there.
    pub(super) has_start: bool,
    /// Whether its last one is.
    pub(super) has_end: bool,
}

impl Whole {
    fn begin(report: &Report<'_>) -> Whole {
        Whole { time: report.time, has_start: report.is_start, ..Whole::default() }
    }

    fn add(&mut self, report: &Report<'_>) {
        self.length = self.length.saturating_add(report.bytes.len());
        let room = MOST_PACKET.saturating_sub(self.bytes.len());
        self.bytes.extend_from_slice(report.bytes.get(..room).unwrap_or(report.bytes));
        self.has_end = report.is_end;
    }
}

/// Packets of which fragments are still to come.
#[derive(Debug, Default)]
pub(super) struct Fragments {
    open: HashMap<Key, (u64, Joined)>,
    /// In the order in which they began.
    order: BTreeMap<u64, Key>,
    count: u64,
}

impl Fragments {
    /// Takes a fragment; hands over what it makes whole, and what will not become so.
    pub(super) fn add(&mut self, report: &Report<'_>, record: &[u8]) -> Vec<Joined> {
        let key = (report.machine, report.cpu, report.thread, report.component, report.lower, report.is_inbound);
        let mut done = Vec::new();
        // A packet that begins anew leaves the one before without its end.
        if report.is_start {
            done.extend(self.close(&key));
        }
        if !self.open.contains_key(&key) {
            let oldest = self.order.values().next().copied().filter(|_| self.open.len() >= MOST_OPEN);
            done.extend(oldest.and_then(|key| self.close(&key)));
            self.count = self.count.saturating_add(1);
            self.order.insert(self.count, key);
        }
        let begin = || (self.count, (Whole::begin(report), record.to_vec()));
        let (_, (whole, _)) = self.open.entry(key).or_insert_with(begin);
        whole.add(report);
        if report.is_end {
            done.extend(self.close(&key));
        }
        done
    }

    fn close(&mut self, key: &Key) -> Option<Joined> {
        let (number, joined) = self.open.remove(key)?;
        self.order.remove(&number);
        Some(joined)
    }

    /// The packets whose ends did not come, in their order.
    pub(super) fn rest(mut self) -> Vec<Joined> {
        let order = std::mem::take(&mut self.order);
        order.into_values().filter_map(|key| self.close(&key)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::super::report::tests::SEEN;
    use super::*;

    fn fragment(thread: i64, flags: &str, bytes: &'static [u8]) -> Report<'static> {
        let (is_start, is_end) = (flags.contains('s'), flags.contains('e'));
        Report { thread: Some(thread), is_start, is_end, bytes, ..SEEN }
    }

    #[test]
    fn fragments_are_joined_by_whom_they_are_of() {
        let mut fragments = Fragments::default();
        let mut found = Vec::new();
        let all = [
            fragment(1, "s", b"ab"),
            fragment(2, "s", b"x"),
            fragment(1, "", b"cd"),
            fragment(2, "e", b"y"),
            fragment(1, "e", b"ef"),
            fragment(3, "e", b"end"),
            fragment(4, "s", b"begin"),
            fragment(4, "se", b"one"),
            fragment(5, "s", b"never"),
        ];
        for report in &all {
            found.extend(fragments.add(report, b""));
        }
        found.extend(fragments.rest());
        let text = |whole: &Whole| {
            let flags = (if whole.has_start { "s" } else { "" }, if whole.has_end { "e" } else { "" });
            format!("{} {}{}", String::from_utf8_lossy(&whole.bytes), flags.0, flags.1)
        };
        let found: Vec<String> = found.iter().map(|(whole, _)| text(whole)).collect();
        assert_eq!(found, ["xy se", "abcdef se", "end e", "begin s", "one se", "never s"]);
    }

    #[test]
    fn open_packets_and_their_lengths_are_bounded() {
        let mut fragments = Fragments::default();
        let count = i64::try_from(MOST_OPEN).unwrap();
        let given_up: usize = (0..count + 5).map(|thread| fragments.add(&fragment(thread, "s", b"a"), b"").len()).sum();
        assert_eq!((given_up, fragments.open.len()), (5, MOST_OPEN));
        let long: &[u8] = vec![7; 200_000].leak();
        let mut fragments = Fragments::default();
        fragments.add(&fragment(1, "s", long), b"");
        let (whole, _) = fragments.add(&fragment(1, "e", long), b"").pop().unwrap();
        assert_eq!((whole.bytes.len(), whole.length), (MOST_PACKET, 400_000));
    }
}
