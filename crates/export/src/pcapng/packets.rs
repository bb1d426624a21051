//! Packets of a trace as a file of pcapng.

use std::collections::HashMap;

use base::error::Result;
use conversion::views::drop_reason_name;

use super::blocks::{Interface, LinkType, Packet, interface, packet, section};
use super::components::{Components, Drop, PacketId};
use super::fragments::{Fragments, Joined};
use super::lengths::stated;
use super::report::{Report, Reporter, reports};
use super::seen::Seen;
use crate::exported::Exported;
use crate::opened::Opened;
use crate::output::Output;

/// Interfaces that are distinguished.
const MOST_INTERFACES: usize = 1 << 16;
/// The flag of a frame of 802.11, in its second byte, that says that it is encrypted.
const PROTECTED: u8 = 0x40;

/// Writes the packets of a trace: each once, where it was seen first, or each time that a component has seen it.
///
/// # Errors
/// [`ErrorKind::Output`](base::error::ErrorKind::Output) when the trace cannot be read, or the file cannot be written.
pub(super) fn packets(opened: &Opened<'_>, is_once: bool, output: &mut Output<'_>) -> Result<Exported> {
    let mut exported = Exported::default();
    let components = Components::read(opened, &mut exported)?;
    let sorted = reports(opened, &mut exported)?;
    let mut capture = Capture {
        components: &components,
        section: section(&application(), &format!("packets of the trace {}", opened.name())),
        is_once,
        seen: Seen::default(),
        interfaces: HashMap::new(),
        exported,
        left_out: 0,
        output,
    };
    let mut fragments = Fragments::default();
    sorted.each(opened.source.progress(), |record| {
        let report = Report::of(record);
        if report.reporter == Reporter::Pktmon || (report.is_start && report.is_end) {
            return capture.put(&report, Vec::new());
        }
        fragments.add(&report, record).iter().try_for_each(|joined| capture.put_joined(joined))
    })?;
    fragments.rest().iter().try_for_each(|joined| capture.put_joined(joined))?;
    let Capture { mut exported, left_out, .. } = capture;
    exported.warn_of(left_out, "packets are left out: there are too many interfaces");
    Ok(exported)
}

/// The program that has written a file.
pub(super) fn application() -> String {
    format!("etl2parquet {}", env!("CARGO_PKG_VERSION"))
}

/// A file that is being written.
struct Capture<'a, 'o> {
    components: &'a Components,
    /// The block that begins the file: it comes with the first interface, so that nothing is written of a trace without packets.
    section: Vec<u8>,
    is_once: bool,
    seen: Seen,
    /// The numbers of interfaces.
    interfaces: HashMap<(Reporter, LinkType, Interface), u32>,
    exported: Exported,
    left_out: u64,
    output: &'a mut Output<'o>,
}

impl Capture<'_, '_> {
    fn put_joined(&mut self, (whole, record): &Joined) -> Result<()> {
        let first = Report::of(record);
        let length = i64::try_from(whole.length).ok();
        let mut comments = Vec::new();
        if !whole.has_start {
            comments.push("the beginning of the packet is not recorded".to_owned());
        }
        if !whole.has_end {
            comments.push("the end of the packet is not recorded".to_owned());
        }
        self.put(&Report { time: whole.time, bytes: &whole.bytes, length, ..first }, comments)
    }

    /// Writes a packet, if it is to be written.
    fn put(&mut self, report: &Report<'_>, mut comments: Vec<String>) -> Result<()> {
        let id = packet_id(report);
        let (number, is_first) = self.seen.report(id);
        if self.is_once && !is_first {
            return Ok(());
        }
        let Some(interface) = self.interface(report)? else {
            self.left_out = self.left_out.saturating_add(1);
            return Ok(());
        };
        let own = report.drop_reason.map(|reason| Drop {
            reason,
            location: report.drop_location,
            component: report.component,
        });
        let drop = if self.is_once { self.components.dropped(id).or(own) } else { own };
        comments.extend(drop.map(|drop| self.dropped(report.machine, drop)));
        comments.extend(ran(report));
        let bytes = decrypted(report, &mut comments);
        if report.is_truncated {
            comments.push("the capture has cut the packet".to_owned());
        }
        let bytes = bytes.as_deref().unwrap_or(report.bytes);
        let length = report.length.and_then(|length| u32::try_from(length).ok());
        let length = length.max(stated(report.link, bytes).filter(|_| report.reporter == Reporter::Ndis));
        let seen = Packet {
            interface,
            time: report.time,
            length: length.unwrap_or(0),
            bytes,
            is_inbound: report.is_inbound,
            id: id.filter(|_| !self.is_once).map(|_| number),
            comments: &comments,
        };
        self.exported.events = self.exported.events.saturating_add(1);
        self.output.put(&packet(&seen))
    }

    /// The number of the interface of a packet. One that is new is described first.
    fn interface(&mut self, report: &Report<'_>) -> Result<Option<u32>> {
        let key = (report.reporter, report.link, self.components.interface(report));
        if let Some(number) = self.interfaces.get(&key) {
            return Ok(Some(*number));
        }
        if self.interfaces.len() >= MOST_INTERFACES {
            return Ok(None);
        }
        let number = u32::try_from(self.interfaces.len()).unwrap_or(u32::MAX);
        self.output.put(&std::mem::take(&mut self.section))?;
        self.output.put(&interface(report.link, &key.2))?;
        self.interfaces.insert(key, number);
        Ok(Some(number))
    }

    /// What there is to say of a drop.
    fn dropped(&self, machine: i64, drop: Drop) -> String {
        let reason = match drop_reason_name(drop.reason) {
            Some(name) => format!("{name} ({})", drop.reason),
            None => format!("reason {}", drop.reason),
        };
        let location = drop.location.map(|location| format!(", location {location:#x}")).unwrap_or_default();
        let component = drop.component.map_or_else(String::new, |component| {
            let name = self.components.name(machine, component).map(|name| format!(" ({name})")).unwrap_or_default();
            format!(", by component {component}{name}")
        });
        format!("dropped: {reason}{location}{component}")
    }
}

/// By what pktmon knows a packet.
fn packet_id(report: &Report<'_>) -> Option<PacketId> {
    let (group, number) = report.group.zip(report.number).filter(|_| report.reporter == Reporter::Pktmon)?;
    Some((report.machine, group, number))
}

/// Which process ran. Packets come in and go out while any process runs, and drivers have threads of their own.
fn ran(report: &Report<'_>) -> Option<String> {
    let id = report.process?;
    let name = report.process_name.map(|name| format!(" ({name})")).unwrap_or_default();
    let thread = report.thread.map(|thread| format!(", thread {thread}")).unwrap_or_default();
    Some(format!("while process {id}{name}{thread} ran, whose packet it need not be"))
}

/// The bytes of a frame of 802.11 of ndiscap without the flag that says that they are encrypted: they are recorded decrypted, and a reader
/// would take them for noise.
fn decrypted(report: &Report<'_>, comments: &mut Vec<String>) -> Option<Vec<u8>> {
    let is_marked = report.bytes.get(1).is_some_and(|flags| flags & PROTECTED != 0);
    if report.reporter != Reporter::Ndis || report.link != LinkType::Wifi || !is_marked {
        return None;
    }
    comments.push("the flag Protected Frame is cleared: the frame was recorded decrypted".to_owned());
    let mut bytes = report.bytes.to_vec();
    bytes.iter_mut().skip(1).take(1).for_each(|flags| *flags &= !PROTECTED);
    Some(bytes)
}
