//! How long a packet was that the capture has cut: its IP header says it.

use super::blocks::LinkType;

/// Bytes of a header of Ethernet.
const ETHERNET: usize = 14;
/// Bytes of a header of IPv6, which its length does not count.
const IPV6: u32 = 40;

/// Bytes that a packet had, as the header of IPv4 or IPv6 in it says; `None` where there is none, or one without a length, as those of
/// packets that the network adapter is to cut into many.
pub(super) fn stated(link: LinkType, bytes: &[u8]) -> Option<u32> {
    let (ether_type, ip) = match link {
        LinkType::Ethernet => (Some(word(bytes, 12)?), bytes.get(ETHERNET..)?),
        LinkType::Raw => (None, bytes),
        LinkType::Wifi | LinkType::Etw => return None,
    };
    let version = ip.first()? >> 4;
    let length = match (ether_type.unwrap_or(0), version) {
        (0x0800 | 0, 4) => Some(u32::from(word(ip, 2)?)).filter(|length| *length > 0),
        (0x86dd | 0, 6) => {
            Some(u32::from(word(ip, 4)?)).filter(|length| *length > 0).and_then(|length| length.checked_add(IPV6))
        }
        _ => None,
    }?;
    let before = if link == LinkType::Ethernet { ETHERNET } else { 0 };
    length.checked_add(u32::try_from(before).ok()?)
}

fn word(bytes: &[u8], at: usize) -> Option<u16> {
    bytes.get(at..)?.first_chunk().copied().map(u16::from_be_bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_of_ip_say_the_length() {
        let frame = |kind: [u8; 2], ip: &[u8]| [&[0; 12][..], &kind, ip].concat();
        let v4 = [0x45, 0, 0x05, 0xdc, 0, 0];
        let v6 = [0x60, 0, 0, 0, 0, 8, 6];
        assert_eq!(stated(LinkType::Ethernet, &frame([8, 0], &v4)), Some(1514));
        assert_eq!(stated(LinkType::Ethernet, &frame([0x86, 0xdd], &v6)), Some(62));
        assert_eq!([stated(LinkType::Raw, &v4), stated(LinkType::Raw, &v6)], [Some(1500), Some(48)]);
        for nothing in [frame([8, 6], &v4), frame([8, 0], &v6), frame([8, 0], &[0x45, 0, 0, 0]), frame([8, 0], &[0x45])]
        {
            assert_eq!(stated(LinkType::Ethernet, &nothing), None);
        }
        assert_eq!([stated(LinkType::Wifi, &v4), stated(LinkType::Raw, &[])], [None, None]);
    }
}
