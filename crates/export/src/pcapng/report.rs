//! What a component of pktmon, or an interface of NDIS, says of a packet: a row each time.

use base::error::Result;
use conversion::read_columns;

use super::blocks::LinkType;
use super::fields::{Fields, Reading};
use crate::exported::Exported;
use crate::opened::Opened;
use crate::sorted::Sorted;

/// The dataset of pktmon.
pub(super) const PKTMON: &str = "Microsoft-Windows-PktMon";
/// The dataset of ndiscap.
pub(super) const NDIS: &str = "Microsoft-Windows-NDIS-PacketCapture";

/// Events of pktmon with the bytes of a frame: seen, dropped, dropped once more.
const FRAMES: [i64; 3] = [160, 170, 240];
/// Events of pktmon on a packet, without the bytes of its frame: what it has parsed, or a payload alone.
const PARSED: [i64; 8] = [120, 130, 140, 150, 200, 210, 220, 230];
/// Events of ndiscap with a part of a packet: of a network adapter, of a virtual switch.
const FRAGMENTS: [i64; 2] = [1001, 1003];

/// Keywords of ndiscap, from its manifest.
const WIRELESS_WAN_OR_TUNNEL: i64 = 0x200 | 0x8000;
const WIFI: i64 = 0x1_0000;
const TRUNCATED: i64 = 0x200_0000;
const PACKET_START: i64 = 0x4000_0000;
const PACKET_END: i64 = 0x8000_0000;
const SENT: i64 = 0x1_0000_0000;
const RECEIVED: i64 = 0x2_0000_0000;

/// Who reports.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum Reporter {
    /// A component of pktmon.
    Pktmon,
    /// An interface of NDIS.
    Ndis,
}

/// A report of a packet, or of a part of one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Report<'a> {
    /// Who reports.
    pub(super) reporter: Reporter,
    /// Unix nanoseconds.
    pub(super) time: i64,
    /// The machine.
    pub(super) machine: i64,
    /// The processor.
    pub(super) cpu: Option<i64>,
    /// The process that ran.
    pub(super) process: Option<i64>,
    /// The name of its image.
    pub(super) process_name: Option<&'a str>,
    /// The thread that ran.
    pub(super) thread: Option<i64>,
    /// The component, or the interface of the network adapter.
    pub(super) component: Option<i64>,
    /// The interface above that one, where a filter of NDIS reports.
    pub(super) lower: Option<i64>,
    /// The port of a virtual switch.
    pub(super) port: Option<&'a str>,
    /// What the bytes begin with.
    pub(super) link: LinkType,
    /// Whether it came in or went out.
    pub(super) is_inbound: Option<bool>,
    /// Why it was dropped (PKTMON_DROP_REASON), where it was.
    pub(super) drop_reason: Option<i64>,
    /// Where in the component (PKTMON_DROP_LOCATION).
    pub(super) drop_location: Option<i64>,
    /// The group of packets, and the number in it: the same for one packet at all components.
    pub(super) group: Option<i64>,
    /// See `group`.
    pub(super) number: Option<i64>,
    /// Bytes that the packet had, as far as the report says it.
    pub(super) length: Option<i64>,
    /// Whether the packet begins and ends with these bytes.
    pub(super) is_start: bool,
    /// See `is_start`.
    pub(super) is_end: bool,
    /// Whether the capture has cut it.
    pub(super) is_truncated: bool,
    /// The bytes.
    pub(super) bytes: &'a [u8],
}

impl<'a> Report<'a> {
    /// The record of it.
    fn fields(&self) -> Vec<u8> {
        let mut fields = Fields::default();
        let flag = |is_so: bool| Some(i64::from(is_so));
        for number in [
            flag(self.reporter == Reporter::Ndis),
            Some(self.time),
            Some(self.machine),
            self.cpu,
            self.process,
            self.thread,
            self.component,
            self.lower,
            Some(i64::from(self.link == LinkType::Wifi) + 2 * i64::from(self.link == LinkType::Raw)),
            self.is_inbound.map(i64::from),
            self.drop_reason,
            self.drop_location,
            self.group,
            self.number,
            self.length,
            flag(self.is_start),
            flag(self.is_end),
            flag(self.is_truncated),
        ] {
            fields.number(number);
        }
        fields.text(self.process_name);
        fields.text(self.port);
        fields.bytes(Some(self.bytes));
        fields.0
    }

    /// The report of a record.
    pub(super) fn of(record: &'a [u8]) -> Report<'a> {
        let mut fields = Reading(record);
        let is_ndis = fields.number() == Some(1);
        Report {
            reporter: if is_ndis { Reporter::Ndis } else { Reporter::Pktmon },
            time: fields.number().unwrap_or_default(),
            machine: fields.number().unwrap_or_default(),
            cpu: fields.number(),
            process: fields.number(),
            thread: fields.number(),
            component: fields.number(),
            lower: fields.number(),
            link: match fields.number() {
                Some(1) => LinkType::Wifi,
                Some(2) => LinkType::Raw,
                _ => LinkType::Ethernet,
            },
            is_inbound: fields.number().map(|value| value == 1),
            drop_reason: fields.number(),
            drop_location: fields.number(),
            group: fields.number(),
            number: fields.number(),
            length: fields.number(),
            is_start: fields.number() == Some(1),
            is_end: fields.number() == Some(1),
            is_truncated: fields.number() == Some(1),
            process_name: fields.text(),
            port: fields.text(),
            bytes: fields.bytes().unwrap_or_default(),
        }
    }
}

read_columns! {
    /// A row of pktmon.
    struct PktmonRow<'b> {
        id: Option<i64> = "event_id",
        seq: Option<i64> = "seq",
        time: Option<i64> = "timestamp_ns",
        input: Option<i64> = "input",
        cpu: Option<i64> = "cpu",
        process: Option<i64> = "process_id",
        process_name: Option<&'b str> = "process_name",
        thread: Option<i64> = "thread_id",
        component: Option<i64> = "ComponentId",
        direction: Option<i64> = "DirTag",
        kind: Option<i64> = "PacketType",
        drop_reason: Option<i64> = "DropReason",
        drop_location: Option<i64> = "DropLocation",
        group: Option<i64> = "PktGroupId",
        number: Option<i64> = "PktNumber",
        length: Option<i64> = "OriginalPayloadSize",
        bytes: Option<&'b [u8]> = "Payload__field",
    }
}

read_columns! {
    /// A row of ndiscap.
    struct NdisRow<'b> {
        id: Option<i64> = "event_id",
        seq: Option<i64> = "seq",
        time: Option<i64> = "timestamp_ns",
        input: Option<i64> = "input",
        cpu: Option<i64> = "cpu",
        process: Option<i64> = "process_id",
        process_name: Option<&'b str> = "process_name",
        thread: Option<i64> = "thread_id",
        keywords: Option<i64> = "keywords",
        miniport: Option<i64> = "MiniportIfIndex",
        lower: Option<i64> = "LowerIfIndex",
        port: Option<&'b str> = "SourcePortName",
        nic: Option<&'b str> = "SourceNicName",
        bytes: Option<&'b [u8]> = "Fragment",
    }
}

/// Gathers the reports of a trace that are asked for.
///
/// # Errors
/// [`ErrorKind::Output`](base::error::ErrorKind::Output) when a table cannot be read, or there is no room for a temporary file.
pub(super) fn reports(opened: &Opened<'_>, exported: &mut Exported) -> Result<Sorted> {
    let mut sorted = Sorted::begin()?;
    let mut failed = Ok(());
    let (mut parsed, mut other) = (0u64, 0u64);
    opened.events::<PktmonRow<'_>>(PKTMON, |row| {
        let Some((seq, id)) = row.seq.zip(row.id).filter(|_| failed.is_ok()) else { return };
        parsed = parsed.saturating_add(u64::from(PARSED.contains(&id)));
        if !FRAMES.contains(&id) {
            return;
        }
        match pktmon(opened, &row) {
            Some(report) => failed = sorted.add(seq, &report.fields()),
            None => other = other.saturating_add(1),
        }
    })?;
    opened.events::<NdisRow<'_>>(NDIS, |row| {
        let is_fragment = row.id.is_some_and(|id| FRAGMENTS.contains(&id));
        let Some(seq) = row.seq.filter(|_| failed.is_ok() && is_fragment) else { return };
        match ndis(opened, &row) {
            Some(report) => failed = sorted.add(seq, &report.fields()),
            None => other = other.saturating_add(1),
        }
    })?;
    failed?;
    exported.warn_of(
        parsed,
        "reports of packets are left out: pktmon has recorded what it has parsed, without the packets' bytes",
    );
    exported.warn_of(other, "reports of packets are left out: they have no bytes of a frame of Ethernet, 802.11 or IP");
    Ok(sorted)
}

fn pktmon<'b>(opened: &Opened<'_>, row: &PktmonRow<'b>) -> Option<Report<'b>> {
    // PKTMON_PACKET_TYPE.
    let link = match row.kind {
        Some(1) => LinkType::Ethernet,
        Some(2) => LinkType::Wifi,
        Some(3) => LinkType::Raw,
        _ => return None,
    };
    Some(Report {
        reporter: Reporter::Pktmon,
        time: row.time?,
        machine: opened.source.machine(row.input),
        cpu: row.cpu,
        process: row.process,
        process_name: row.process_name,
        thread: row.thread,
        component: row.component,
        lower: None,
        port: None,
        link,
        // PKTMON_DIRECTION_TAG: in, out; receive, transmit; ingress, egress.
        is_inbound: row.direction.filter(|tag| (1..=6).contains(tag)).map(|tag| tag % 2 == 1),
        drop_reason: row.drop_reason.filter(|reason| *reason != 0),
        drop_location: row.drop_location.filter(|location| *location != 0),
        group: row.group,
        number: row.number,
        length: row.length,
        is_start: true,
        is_end: true,
        is_truncated: false,
        bytes: row.bytes?,
    })
}

fn ndis<'b>(opened: &Opened<'_>, row: &NdisRow<'b>) -> Option<Report<'b>> {
    let keywords = row.keywords.unwrap_or(0);
    let has = |bits: i64| keywords & bits != 0;
    let link = if has(WIFI) {
        LinkType::Wifi
    } else if has(WIRELESS_WAN_OR_TUNNEL) {
        LinkType::Raw
    } else {
        LinkType::Ethernet
    };
    Some(Report {
        reporter: Reporter::Ndis,
        time: row.time?,
        machine: opened.source.machine(row.input),
        cpu: row.cpu,
        process: row.process,
        process_name: row.process_name,
        thread: row.thread,
        component: row.miniport,
        lower: row.lower,
        port: row.port.filter(|port| !port.is_empty()).or(row.nic),
        link,
        is_inbound: if has(RECEIVED) { Some(true) } else { has(SENT).then_some(false) },
        drop_reason: None,
        drop_location: None,
        group: None,
        number: None,
        length: None,
        is_start: has(PACKET_START),
        is_end: has(PACKET_END),
        is_truncated: has(TRUNCATED),
        bytes: row.bytes?,
    })
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    pub(in crate::pcapng) const SEEN: Report<'static> = Report {
        reporter: Reporter::Ndis,
        time: 5,
        machine: 0,
        cpu: Some(1),
        process: Some(4),
        process_name: Some("System"),
        thread: Some(8),
        component: Some(11),
        lower: Some(12),
        port: None,
        link: LinkType::Raw,
        is_inbound: Some(false),
        drop_reason: None,
        drop_location: Some(-1),
        group: Some(i64::MIN),
        number: Some(3),
        length: Some(60),
        is_start: true,
        is_end: false,
        is_truncated: true,
        bytes: b"packet",
    };

    #[test]
    fn a_report_comes_back_from_its_record() {
        let pktmon =
            Report { reporter: Reporter::Pktmon, link: LinkType::Wifi, is_inbound: None, port: Some("p"), ..SEEN };
        for report in [SEEN, pktmon] {
            assert_eq!(Report::of(&report.fields()), report);
        }
    }
}
