//! Which packets of pktmon have been written: one passes several components, and each of them reports it.

use std::collections::HashMap;
use std::mem;

use super::components::PacketId;

/// Packets that are remembered, half of them at least: the reports of a packet follow within milliseconds.
const MOST_PACKETS: usize = 1 << 21;

/// Packets that have been reported, with a number for each.
#[derive(Debug, Default)]
pub(super) struct Seen {
    recent: HashMap<PacketId, u64>,
    before: HashMap<PacketId, u64>,
    last: u64,
}

impl Seen {
    /// The number of a packet, and whether this is its first report. One without an id is always new.
    pub(super) fn report(&mut self, id: Option<PacketId>) -> (u64, bool) {
        let known = id.and_then(|id| self.recent.get(&id).or_else(|| self.before.get(&id)).copied());
        let number = known.unwrap_or_else(|| {
            self.last = self.last.saturating_add(1);
            self.last
        });
        if let Some(id) = id {
            if self.recent.len() >= MOST_PACKETS / 2 {
                self.before = mem::take(&mut self.recent);
            }
            self.recent.insert(id, number);
        }
        (number, known.is_none())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_packet_is_new_once() {
        let mut seen = Seen::default();
        let ids = [Some((0, 7, 1)), Some((0, 7, 2)), Some((1, 7, 1)), Some((0, 7, 1)), None, None];
        let found = ids.map(|id| seen.report(id));
        assert_eq!(found, [(1, true), (2, true), (3, true), (1, false), (4, true), (5, true)]);
    }

    #[test]
    fn old_packets_are_forgotten() {
        let mut seen = Seen::default();
        let count = i64::try_from(MOST_PACKETS).unwrap();
        (0..=count).for_each(|number| _ = seen.report(Some((0, number, 0))));
        assert!(!seen.report(Some((0, count, 0))).1);
        assert!(seen.report(Some((0, 0, 0))).1);
        assert!(seen.recent.len() + seen.before.len() <= MOST_PACKETS);
    }
}
