//! Components of pktmon and interfaces of NDIS: their names and addresses, and which packets were dropped.

use std::collections::HashMap;
use std::net::IpAddr;

use base::error::Result;
use conversion::read_columns;

use super::blocks::Interface;
use super::report::{NDIS, PKTMON, Report, Reporter};
use crate::cut::cut;
use crate::exported::Exported;
use crate::opened::Opened;

/// Components that are distinguished; pktmon numbers them with 16 bits.
const MOST_COMPONENTS: usize = 1 << 16;
/// Addresses of a component of each kind.
const MOST_ADDRESSES: usize = 16;
/// Packets of which it is known that they were dropped.
const MOST_DROPS: usize = 1 << 20;
/// Bytes of a name that are kept.
const MOST_NAME: usize = 1024;

/// Events of pktmon on a component: what it is, and properties of it (addresses of IPv4, of IPv6, other bytes).
const COMPONENT: [i64; 2] = [20, 270];
const IPV4: i64 = 65;
const IPV6: i64 = 66;
const BINARY: i64 = 70;
/// The event of ndiscap that has the name of an interface.
const INTERFACE: i64 = 5101;

/// A packet of pktmon: the machine, the group, the number in it.
pub(super) type PacketId = (i64, i64, i64);

/// A drop of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Drop {
    /// Why (PKTMON_DROP_REASON).
    pub(super) reason: i64,
    /// Where in the component (PKTMON_DROP_LOCATION).
    pub(super) location: Option<i64>,
    /// The component that dropped it.
    pub(super) component: Option<i64>,
}

/// What is known beside the packets.
#[derive(Debug, Default)]
pub(super) struct Components {
    known: HashMap<(Reporter, i64, i64), Interface>,
    drops: HashMap<PacketId, Drop>,
}

read_columns! {
    /// A row of pktmon: of a component, or a drop.
    struct ComponentRow<'b> {
        id: Option<i64> = "event_id",
        input: Option<i64> = "input",
        own: Option<i64> = "Id",
        name: Option<&'b str> = "Name",
        description: Option<&'b str> = "Description",
        component: Option<i64> = "ComponentId",
        address: Option<i64> = "IpAddress",
        address_text: Option<&'b str> = "IpAddress",
        address_bytes: Option<&'b [u8]> = "IpAddress",
        address_binary: Option<&'b [u8]> = "IpAddress__binary",
        value: Option<&'b [u8]> = "Value",
        value_binary: Option<&'b [u8]> = "Value__binary",
        reason: Option<i64> = "DropReason",
        location: Option<i64> = "DropLocation",
        group: Option<i64> = "PktGroupId",
        number: Option<i64> = "PktNumber",
    }
}

read_columns! {
    /// A row of ndiscap on an interface.
    struct InterfaceRow<'b> {
        id: Option<i64> = "event_id",
        input: Option<i64> = "input",
        interface: Option<i64> = "IfIndex",
        name: Option<&'b str> = "SourceName",
    }
}

impl Components {
    /// Reads them. Filters leave none out: they are of packets.
    ///
    /// # Errors
    /// [`ErrorKind::Output`](base::error::ErrorKind::Output) when a table cannot be read.
    pub(super) fn read(opened: &Opened<'_>, exported: &mut Exported) -> Result<Components> {
        let mut components = Components::default();
        let mut left_out = 0u64;
        opened.source.events::<ComponentRow<'_>>(PKTMON, |row| {
            let machine = opened.source.machine(row.input);
            components.describe(machine, &row);
            left_out = left_out.saturating_add(u64::from(!components.drop(machine, &row)));
        })?;
        opened.source.events::<InterfaceRow<'_>>(NDIS, |row| {
            let interface = row.interface.filter(|_| row.id == Some(INTERFACE));
            let Some((interface, name)) = interface.zip(row.name) else { return };
            let machine = opened.source.machine(row.input);
            if let Some(found) = components.get((Reporter::Ndis, machine, interface)) {
                found.name = short(name);
            }
        })?;
        exported.warn_of(left_out, "drops of packets are not said: there are too many");
        Ok(components)
    }

    fn get(&mut self, key: (Reporter, i64, i64)) -> Option<&mut Interface> {
        if self.known.len() >= MOST_COMPONENTS && !self.known.contains_key(&key) {
            return None;
        }
        Some(self.known.entry(key).or_default())
    }

    fn describe(&mut self, machine: i64, row: &ComponentRow<'_>) {
        let Some(event) = row.id else { return };
        let is_component = COMPONENT.contains(&event);
        if !is_component && ![IPV4, IPV6, BINARY].contains(&event) {
            return;
        }
        let Some(id) = (if is_component { row.own } else { row.component }) else { return };
        let Some(known) = self.get((Reporter::Pktmon, machine, id)) else { return };
        if is_component {
            // A component may be described anew; the view takes the greatest name, too.
            if let Some(name) = row.name.map(short).filter(|name| *name >= known.name) {
                known.description = row.description.filter(|text| !text.is_empty()).map(short);
                known.name = name;
            }
        } else if event == BINARY {
            let bytes = row.value.or(row.value_binary).and_then(|bytes| <[u8; 6]>::try_from(bytes).ok());
            known.mac = known.mac.or(bytes.filter(|bytes| *bytes != [0; 6]));
        } else {
            match address(row) {
                Some(IpAddr::V4(address)) => add(&mut known.ipv4, address.octets()),
                Some(IpAddr::V6(address)) => add(&mut known.ipv6, address.octets()),
                None => {}
            }
        }
    }

    /// Notes that a packet was dropped; says whether there was room.
    fn drop(&mut self, machine: i64, row: &ComponentRow<'_>) -> bool {
        let Some((reason, packet)) = row.reason.filter(|reason| *reason != 0).zip(row.group.zip(row.number)) else {
            return true;
        };
        let id = (machine, packet.0, packet.1);
        if self.drops.len() >= MOST_DROPS && !self.drops.contains_key(&id) {
            return false;
        }
        let drop = Drop { reason, location: row.location.filter(|at| *at != 0), component: row.component };
        let known = self.drops.entry(id).or_insert(drop);
        // Of several the one that the view `packets` names.
        if drop.reason > known.reason {
            *known = drop;
        }
        true
    }

    /// Where and why a packet was dropped, at whatever component.
    pub(super) fn dropped(&self, packet: Option<PacketId>) -> Option<Drop> {
        self.drops.get(&packet?).copied()
    }

    /// The name of a component of pktmon.
    pub(super) fn name(&self, machine: i64, component: i64) -> Option<&str> {
        let known = self.known.get(&(Reporter::Pktmon, machine, component))?;
        Some(known.name.as_str()).filter(|name| !name.is_empty())
    }

    /// The interface at which a packet was seen.
    pub(super) fn interface(&self, report: &Report<'_>) -> Interface {
        let known = report.component.and_then(|id| self.known.get(&(report.reporter, report.machine, id)));
        let mut interface = known.cloned().unwrap_or_default();
        if interface.name.is_empty() {
            let kind = if report.reporter == Reporter::Ndis { "interface" } else { "component" };
            interface.name = report.component.map_or_else(|| format!("unknown {kind}"), |id| format!("{kind} {id}"));
        }
        if let Some(port) = report.port {
            interface.name = format!("{}, port {port}", interface.name);
        }
        if let Some(lower) = report.lower.filter(|lower| report.component != Some(*lower)) {
            interface.description = Some(format!("filter with interface {lower} over {}", interface.name));
        }
        if report.machine != 0 {
            interface.name = format!("{}, machine {}", interface.name, report.machine);
        }
        interface
    }
}

/// The address of a row, in whichever form the schema of the trace has it.
fn address(row: &ComponentRow<'_>) -> Option<IpAddr> {
    let bytes = row.address_bytes.or(row.address_binary);
    let of_bytes = bytes.and_then(|bytes| match bytes.len() {
        4 => <[u8; 4]>::try_from(bytes).ok().map(IpAddr::from),
        16 => <[u8; 16]>::try_from(bytes).ok().map(IpAddr::from),
        _ => None,
    });
    // A number has the bytes of the address as they lie in memory.
    let of_number = row.address.and_then(|number| u32::try_from(number).ok()).map(|number| number.to_le_bytes().into());
    row.address_text.and_then(|text| text.parse().ok()).or(of_bytes).or(of_number)
}

fn add<T: PartialEq + Default>(addresses: &mut Vec<T>, address: T) {
    if addresses.len() < MOST_ADDRESSES && address != T::default() && !addresses.contains(&address) {
        addresses.push(address);
    }
}

fn short(text: &str) -> String {
    cut(text, MOST_NAME).to_owned()
}
