//! Connections, and what goes through them. Which end is whose is that of the view `network`.

use std::net::IpAddr;

use super::action::{Action, End, Step, Traffic, Way, What};
use super::known::Known;
use super::row::ActionRow;

/// A connection, or what went through it, of the dataset with its events.
pub(super) fn action<'a>(known: &'a Known, row: &ActionRow<'a>, dataset: &str) -> Option<Action<'a>> {
    let machine = known.machines.of(row.input);
    let name = row.name?;
    let is_tcp = match dataset {
        "Kernel-UdpIp" => false,
        "Kernel-TcpIp" => true,
        _ => !name.starts_with("KERNEL_NETWORK_TASK_UDPIP/"),
    };
    let (step, way) = step(name)?;
    let (own, other) = (End { address: row.saddr, port: row.sport }, End { address: row.daddr, port: row.dport });
    // Windows writes the own end of a TCP connection first, whoever sends; of a datagram that came in now the one, now the other,
    // but a group of receivers is nobody's own address.
    let (ends, is_way_known) = match way {
        Some(Way::Out) => ([own, other], true),
        Some(Way::In) if is_tcp => ([other, own], true),
        Some(Way::In) => ([own, other], row.daddr.is_some_and(is_group)),
        None => ([own, other], false),
    };
    let bytes = row.bytes.filter(|_| step == Step::Moved);
    let actor = row.owner.map(|id| known.processes.at(machine, id, row.time.unwrap_or(0)));
    Some(Action { machine, actor, what: What::Network(Traffic { step, is_tcp, way, ends, is_way_known, bytes }) })
}

/// What an event of either provider says. Copies of what was received, and what was sent again, are nothing new.
fn step(name: &str) -> Option<(Step, Option<Way>)> {
    let operation = name.split_once('/').map_or(name, |(_, operation)| operation);
    let operation = operation.strip_prefix("KERNEL_NETWORK_OPCODE_").unwrap_or(operation);
    let operation = operation.trim_end_matches("IPV4").trim_end_matches("IPV6");
    Some(match operation {
        "Send" | "SEND" | "SENDUDP" => (Step::Moved, Some(Way::Out)),
        "Recv" | "RECV" | "RECVUDP" => (Step::Moved, Some(Way::In)),
        "Connect" | "CONNECT" => (Step::Opened, Some(Way::Out)),
        "Accept" | "ACCEPT" => (Step::Opened, Some(Way::In)),
        "Disconnect" | "DISCONNECT" => (Step::Closed, None),
        _ => return None,
    })
}

/// Whether an address is that of a group: multicast, or the broadcast of a network.
fn is_group(address: &str) -> bool {
    match address.parse::<IpAddr>() {
        Ok(IpAddr::V4(address)) => address.is_multicast() || address.is_broadcast(),
        Ok(IpAddr::V6(address)) => address.is_multicast(),
        Err(_) => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_both_providers_say_the_same() {
        let sent = Some((Step::Moved, Some(Way::Out)));
        let names = ["TcpIp/SendIPV4", "UdpIp/SendIPV6", "KERNEL_NETWORK_TASK_UDPIP/KERNEL_NETWORK_OPCODE_SENDUDP"];
        assert_eq!(names.map(step), [sent; 3]);
        let name = "KERNEL_NETWORK_TASK_TCPIP/KERNEL_NETWORK_OPCODE_DISCONNECT";
        assert_eq!([name, "TcpIp/DisconnectIPV6"].map(step), [Some((Step::Closed, None)); 2]);
        assert_eq!(["TcpIp/TCPCopyIPV4", "TcpIp/RetransmitIPV4", "UdpIp/Fail"].map(step), [None; 3]);
        let groups = ["239.255.255.250", "255.255.255.255", "ff02::c", "10.0.0.1", "::1", "?"].map(is_group);
        assert_eq!(groups, [true, true, true, false, false, false]);
    }
}
