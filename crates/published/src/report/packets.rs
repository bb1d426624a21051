//! Packets that pktmon and the packet capture of NDIS saw, and which were dropped where. The definitions are those of the views `packets`
//! and `packet_reports`.

use std::collections::HashMap;

use base::error::Result;
use conversion::read_columns;
use conversion::views::drop_reason_name;

use super::sums::Sums;
use super::tally::{Counters, Most, Ranked};
use crate::source::Source;

const PKTMON: &str = "Microsoft-Windows-PktMon";
const NDIS: &str = "Microsoft-Windows-NDIS-PacketCapture";
/// Events of pktmon that report a packet.
const PKTMON_REPORTS: [i64; 11] = [120, 130, 140, 150, 160, 170, 200, 210, 220, 230, 240];
/// Events of pktmon that name a component.
const PKTMON_COMPONENTS: [i64; 2] = [20, 270];
/// Events of NDIS that report a packet.
const NDIS_REPORTS: [i64; 2] = [1001, 1003];
/// Packets that are distinguished; a report of a further one counts as a packet.
const MOST_PACKETS: usize = 1 << 20;
/// Characters of a name that are held.
const LONGEST: usize = 200;
/// Components whose names are held.
const MOST_COMPONENTS: usize = 1 << 16;

/// Packets.
#[derive(Debug, Default)]
pub(super) struct Packets {
    /// By who recorded them: packets, bytes, packets that were dropped, reports, and packets whose size is not known.
    pub by_source: Ranked,
    /// By component or interface: reports, bytes of these, and drops.
    pub by_component: Ranked,
    /// Drops by reason and component, the first counter.
    pub drops: Ranked,
    /// Reports of packets that there was no room for.
    pub left_out: u64,
}

read_columns! {
    /// A row of pktmon.
    struct PktmonEvent<'b> {
        event: Option<i64> = "event_id",
        component: Option<i64> = "ComponentId",
        drop_reason: Option<i64> = "DropReason",
        bytes: Option<u64> = "OriginalPayloadSize",
        group: Option<i64> = "PktGroupId",
        number: Option<i64> = "PktNumber",
        count: Option<i64> = "PktCount",
        id: Option<i64> = "Id",
        name: Option<&'b str> = "Name",
        input: Option<i64> = "input",
    }
}

read_columns! {
    /// A row of the packet capture of NDIS.
    struct NdisEvent<'b> {
        event: Option<i64> = "event_id",
        interface: Option<i64> = "MiniportIfIndex",
        name: Option<&'b str> = "SourceNicName",
        bytes: Option<u64> = "FragmentSize",
    }
}

/// What reports of one packet say.
#[derive(Clone, Copy, Debug, Default)]
struct Packet {
    bytes: Option<u64>,
    is_dropped: bool,
}

impl Packet {
    /// Packets, bytes, dropped ones, reports and those of unknown size.
    fn counters(self, reports: u64) -> Counters {
        [1, self.bytes.unwrap_or(0), self.is_dropped.into(), reports, self.bytes.is_none().into(), 0]
    }
}

/// Who saw packets.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Seer {
    /// A component of pktmon on a machine.
    Component(i64, Option<i64>),
    /// An interface of NDIS, by its name or its number.
    Interface(Option<String>, Option<i64>),
}

/// Reads packets; `None` where there are none.
///
/// # Errors
/// [`ErrorKind::Output`](base::error::ErrorKind::Output) when a table cannot be read.
pub(super) fn packets(source: &Source<'_>, most: Most) -> Result<Option<Packets>> {
    let mut sums = PacketSums::default();
    let mut names = HashMap::new();
    source.events::<PktmonEvent<'_>>(PKTMON, |row| {
        let machine = source.machine(row.input);
        if row.event.is_some_and(|event| PKTMON_REPORTS.contains(&event)) {
            sums.add_pktmon(machine, &row);
        }
        if row.event.is_some_and(|event| PKTMON_COMPONENTS.contains(&event)) {
            add_name(&mut names, machine, &row);
        }
    })?;
    source.events::<NdisEvent<'_>>(NDIS, |row| {
        if row.event.is_some_and(|event| NDIS_REPORTS.contains(&event)) {
            sums.add_ndis(&row);
        }
    })?;
    Ok(sums.settled(&names, most))
}

/// Adds the name of a component of pktmon: of several names the last in their order, as the view has it.
fn add_name(names: &mut HashMap<(i64, i64), String>, machine: i64, row: &PktmonEvent<'_>) {
    let Some((id, name)) = row.id.zip(row.name) else { return };
    let key = (machine, id);
    if names.len() < MOST_COMPONENTS || names.contains_key(&key) {
        let (known, name) = (names.entry(key).or_default(), cut_name(name));
        if *known < name {
            *known = name;
        }
    }
}

/// As much of a name as is held: more than is shown.
fn cut_name(name: &str) -> String {
    name.chars().take(LONGEST).collect()
}

/// Packets that are added up.
#[derive(Debug, Default)]
struct PacketSums {
    /// Packets of pktmon that have numbers, by machine, group and number.
    numbered: HashMap<(i64, i64, i64), Packet>,
    /// Reports of these.
    numbered_reports: u64,
    by_source: Sums<&'static str>,
    by_component: Sums<Seer>,
    drops: Sums<(i64, Seer)>,
    left_out: u64,
}

impl PacketSums {
    fn add_pktmon(&mut self, machine: i64, row: &PktmonEvent<'_>) {
        let drop_reason = row.drop_reason.filter(|reason| *reason != 0);
        let seer = Seer::Component(machine, row.component);
        self.by_component.add(seer.clone(), [1, row.bytes.unwrap_or(0), drop_reason.is_some().into(), 0, 0, 0]);
        if let Some(reason) = drop_reason {
            self.drops.add((reason, seer), [1, 0, 0, 0, 0, 0]);
        }
        let seen = Packet { bytes: row.bytes, is_dropped: drop_reason.is_some() };
        let Some((group, number)) = row.group.zip(row.number.or(row.count)) else {
            return self.by_source.add("pktmon", seen.counters(1));
        };
        let key = (machine, group, number);
        if self.numbered.len() >= MOST_PACKETS && !self.numbered.contains_key(&key) {
            self.left_out = self.left_out.saturating_add(1);
            return self.by_source.add("pktmon", seen.counters(1));
        }
        self.numbered_reports = self.numbered_reports.saturating_add(1);
        let packet = self.numbered.entry(key).or_default();
        packet.bytes = packet.bytes.max(seen.bytes);
        packet.is_dropped |= seen.is_dropped;
    }

    fn add_ndis(&mut self, row: &NdisEvent<'_>) {
        self.by_source.add("NDIS", Packet { bytes: row.bytes, is_dropped: false }.counters(1));
        let seer = Seer::Interface(row.name.map(cut_name), row.interface);
        self.by_component.add(seer, [1, row.bytes.unwrap_or(0), 0, 0, 0, 0]);
    }

    fn settled(mut self, names: &HashMap<(i64, i64), String>, most: Most) -> Option<Packets> {
        for packet in self.numbered.values() {
            self.by_source.add("pktmon", packet.counters(0));
        }
        if self.numbered_reports > 0 {
            self.by_source.add("pktmon", [0, 0, 0, self.numbered_reports, 0, 0]);
        }
        let first = |[first, ..]: &Counters| *first;
        let by_source = self.by_source.ranked(most.places, first, |name| (*name).to_owned());
        let drop_name = |(reason, seer): &(i64, Seer)| {
            let name = drop_reason_name(*reason)
                .map_or_else(|| format!("reason {reason}"), |name| format!("{name} ({reason})"));
            format!("{name}, {}", seer.name(names))
        };
        (!by_source.shown.is_empty()).then(|| Packets {
            by_source,
            by_component: self.by_component.ranked(most.places, first, |seer| seer.name(names)),
            drops: self.drops.ranked(most.places, first, drop_name),
            left_out: self.left_out,
        })
    }
}

impl Seer {
    fn name(&self, names: &HashMap<(i64, i64), String>) -> String {
        match self {
            Seer::Component(_, None) => "no component recorded".to_owned(),
            Seer::Component(machine, Some(id)) => match names.get(&(*machine, *id)) {
                Some(name) => format!("{name} (component {id})"),
                None => format!("component {id}"),
            },
            Seer::Interface(Some(name), Some(number)) => format!("{name} (interface {number})"),
            Seer::Interface(Some(name), None) => name.clone(),
            Seer::Interface(None, Some(number)) => format!("interface {number}"),
            Seer::Interface(None, None) => "no interface recorded".to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_packet_counts_once_whatever_it_passes() {
        let mut sums = PacketSums::default();
        let row = |component, drop_reason, number, bytes| PktmonEvent {
            event: Some(160),
            component: Some(component),
            drop_reason: Some(drop_reason),
            bytes,
            group: Some(7),
            number,
            count: None,
            id: None,
            name: None,
            input: None,
        };
        for row in [
            row(1, 0, Some(1), Some(100)),
            row(2, 8, Some(1), None),
            row(1, 0, Some(2), None),
            row(1, 0, None, Some(5)),
        ] {
            sums.add_pktmon(0, &row);
        }
        sums.add_ndis(&NdisEvent { event: Some(1001), interface: Some(4), name: None, bytes: Some(60) });
        let names = HashMap::from([((0, 2), "filter".to_owned())]);
        let packets = sums.settled(&names, Most::OF_A_PAGE).unwrap();
        let rows =
            |ranked: &Ranked| ranked.shown.iter().map(|(name, a)| (name.clone(), a.counters)).collect::<Vec<_>>();
        assert_eq!(
            rows(&packets.by_source),
            [("pktmon".to_owned(), [3, 105, 1, 4, 1, 0]), ("NDIS".to_owned(), [1, 60, 0, 1, 0, 0])]
        );
        let components: Vec<String> = rows(&packets.by_component).into_iter().map(|(name, _)| name).collect();
        assert_eq!(components, ["component 1", "filter (component 2)", "interface 4"]);
        assert_eq!(rows(&packets.drops), [("Filtered (8), filter (component 2)".to_owned(), [1, 0, 0, 0, 0, 0])]);
    }
}
