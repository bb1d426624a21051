//! Blocks of pcapng, as draft-ietf-opsawg-pcapng has them: little-endian, each with its length in front and behind.

use crate::cut::cut;

/// The number of a block of each kind.
const SECTION_HEADER: u32 = 0x0a0d_0d0a;
const INTERFACE_DESCRIPTION: u32 = 1;
const ENHANCED_PACKET: u32 = 6;
/// By what a reader knows the order of bytes.
const BYTE_ORDER: u32 = 0x1a2b_3c4d;

/// Numbers of options.
const END_OF_OPTIONS: u16 = 0;
const COMMENT: u16 = 1;
const SHB_USER_APPLICATION: u16 = 4;
const IF_NAME: u16 = 2;
const IF_DESCRIPTION: u16 = 3;
const IF_IPV4: u16 = 4;
const IF_IPV6: u16 = 5;
const IF_MAC: u16 = 6;
const IF_TIME_RESOLUTION: u16 = 9;
const EPB_FLAGS: u16 = 2;
const EPB_PACKET_ID: u16 = 5;

/// Times are nanoseconds: 10 to the power of minus that.
const NANOSECONDS: u8 = 9;
/// Bytes of a text that an option gets; it has room for 65,535.
const MOST_TEXT: usize = 4096;
/// Bytes of a packet that readers take: the limit of libpcap and Wireshark for most link types.
pub(super) const MOST_PACKET: usize = 262_144;

/// What the bytes of a packet begin with: a `LINKTYPE_` of tcpdump.org.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum LinkType {
    /// A frame of Ethernet.
    Ethernet,
    /// An IP packet.
    Raw,
    /// A frame of 802.11.
    Wifi,
    /// An event of ETW behind a header of its own.
    Etw,
}

impl LinkType {
    /// Its number.
    fn number(self) -> u16 {
        match self {
            LinkType::Ethernet => 1,
            LinkType::Raw => 101,
            LinkType::Wifi => 105,
            LinkType::Etw => 290,
        }
    }
}

/// An interface: where packets were seen.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Interface {
    /// Its name.
    pub(super) name: String,
    /// What it is.
    pub(super) description: Option<String>,
    /// Its address of Ethernet.
    pub(super) mac: Option<[u8; 6]>,
    /// Its addresses of IPv4.
    pub(super) ipv4: Vec<[u8; 4]>,
    /// Its addresses of IPv6.
    pub(super) ipv6: Vec<[u8; 16]>,
}

/// A packet.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Packet<'a> {
    /// The number of its interface, in the order in which they are described.
    pub(super) interface: u32,
    /// When it was seen, Unix nanoseconds.
    pub(super) time: i64,
    /// Bytes that it had.
    pub(super) length: u32,
    /// Those that were recorded.
    pub(super) bytes: &'a [u8],
    /// Whether it came in or went out, where that is known.
    pub(super) is_inbound: Option<bool>,
    /// The same number for the same packet at several interfaces.
    pub(super) id: Option<u64>,
    /// What there is to say of it.
    pub(super) comments: &'a [String],
}

/// The block that begins a file.
pub(super) fn section(application: &str, comment: &str) -> Vec<u8> {
    let mut block = Block::begin(SECTION_HEADER);
    block.u32(BYTE_ORDER);
    block.u16(1);
    block.u16(0);
    // The section has no length: it is written as it comes.
    block.bytes.extend_from_slice(&u64::MAX.to_le_bytes());
    block.text(SHB_USER_APPLICATION, application);
    block.text(COMMENT, comment);
    block.end()
}

/// The block of an interface.
pub(super) fn interface(link: LinkType, interface: &Interface) -> Vec<u8> {
    let mut block = Block::begin(INTERFACE_DESCRIPTION);
    block.u16(link.number());
    block.u16(0);
    // No limit of the length of packets is known.
    block.u32(0);
    block.text(IF_NAME, &interface.name);
    if let Some(description) = &interface.description {
        block.text(IF_DESCRIPTION, description);
    }
    for address in &interface.ipv4 {
        // The format wants a mask; pktmon names none. This one says no more than the address.
        block.option(IF_IPV4, &[&address[..], &[0xff; 4]].concat());
    }
    for address in &interface.ipv6 {
        block.option(IF_IPV6, &[&address[..], &[128]].concat());
    }
    if let Some(address) = &interface.mac {
        block.option(IF_MAC, address);
    }
    block.option(IF_TIME_RESOLUTION, &[NANOSECONDS]);
    block.end()
}

/// The block of a packet. Of one that is longer than readers take, the first bytes.
pub(super) fn packet(packet: &Packet<'_>) -> Vec<u8> {
    let recorded = packet.bytes.get(..MOST_PACKET).unwrap_or(packet.bytes);
    let captured = u32::try_from(recorded.len()).unwrap_or(u32::MAX);
    let mut block = Block::begin(ENHANCED_PACKET);
    block.u32(packet.interface);
    // The format has no time before 1970.
    let time = packet.time.max(0).cast_unsigned();
    block.u32(u32::try_from(time >> 32).unwrap_or(0));
    block.u32(u32::try_from(time & u64::from(u32::MAX)).unwrap_or(0));
    block.u32(captured);
    let whole = u32::try_from(packet.bytes.len()).unwrap_or(u32::MAX);
    block.u32(packet.length.max(whole));
    block.padded(recorded);
    for comment in packet.comments {
        block.text(COMMENT, comment);
    }
    if let Some(is_inbound) = packet.is_inbound {
        block.option(EPB_FLAGS, &u32::from(if is_inbound { 1u8 } else { 2 }).to_le_bytes());
    }
    if let Some(id) = packet.id {
        block.option(EPB_PACKET_ID, &id.to_le_bytes());
    }
    block.end()
}

/// A block that is being written.
struct Block {
    bytes: Vec<u8>,
    has_options: bool,
}

impl Block {
    fn begin(kind: u32) -> Block {
        let mut block = Block { bytes: Vec::new(), has_options: false };
        block.u32(kind);
        block.u32(0);
        block
    }

    fn u16(&mut self, value: u16) {
        self.bytes.extend_from_slice(&value.to_le_bytes());
    }

    fn u32(&mut self, value: u32) {
        self.bytes.extend_from_slice(&value.to_le_bytes());
    }

    /// Bytes, filled up to 32 bits.
    fn padded(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
        let length = self.bytes.len().next_multiple_of(4);
        self.bytes.resize(length, 0);
    }

    fn option(&mut self, code: u16, value: &[u8]) {
        let value = value.get(..usize::from(u16::MAX)).unwrap_or(value);
        self.u16(code);
        self.u16(u16::try_from(value.len()).unwrap_or(u16::MAX));
        self.padded(value);
        self.has_options = true;
    }

    /// An option that is a text: one that is too long ends early.
    fn text(&mut self, code: u16, text: &str) {
        self.option(code, cut(text, MOST_TEXT).as_bytes());
    }

    fn end(mut self) -> Vec<u8> {
        if self.has_options {
            self.u16(END_OF_OPTIONS);
            self.u16(0);
        }
        let length = u32::try_from(self.bytes.len()).unwrap_or(u32::MAX).saturating_add(4);
        self.u32(length);
        if let Some(place) = self.bytes.get_mut(4..8) {
            place.copy_from_slice(&length.to_le_bytes());
        }
        self.bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(block: &[u8]) -> Vec<u32> {
        block.chunks(4).map(|word| u32::from_le_bytes(word.try_into().unwrap())).collect()
    }

    /// Laid out by hand after the figures of the draft.
    #[test]
    fn blocks_are_laid_out_as_the_draft_has_them() {
        assert_eq!(
            section("a", "bc").as_slice(),
            [
                &[0x0a, 0x0d, 0x0d, 0x0a, 48, 0, 0, 0, 0x4d, 0x3c, 0x2b, 0x1a, 1, 0, 0, 0][..],
                &[0xff; 8],
                &[4, 0, 1, 0, b'a', 0, 0, 0, 1, 0, 2, 0, b'b', b'c', 0, 0, 0, 0, 0, 0, 48, 0, 0, 0],
            ]
            .concat()
        );
        let whole = Interface {
            name: "eth".to_owned(),
            description: Some("d".to_owned()),
            mac: Some([1, 2, 3, 4, 5, 6]),
            ipv4: vec![[10, 0, 0, 1]],
            ipv6: vec![[9; 16]],
        };
        let block = interface(LinkType::Wifi, &whole);
        assert_eq!(words(&block)[..4], [1, u32::try_from(block.len()).unwrap(), 105, 0]);
        let options = [
            &[2, 0, 3, 0, b'e', b't', b'h', 0, 3, 0, 1, 0, b'd', 0, 0, 0, 4, 0, 8, 0, 10, 0, 0, 1, 255, 255, 255, 255]
                [..],
            &[5, 0, 17, 0],
            &[9; 16],
            &[128, 0, 0, 0, 6, 0, 6, 0, 1, 2, 3, 4, 5, 6, 0, 0, 9, 0, 1, 0, 9, 0, 0, 0, 0, 0, 0, 0],
        ]
        .concat();
        assert_eq!(block[16..block.len() - 4], options);
        let comments = ["x".to_owned()];
        let seen = Packet {
            interface: 3,
            time: 0x0102_0304_0506_0708,
            length: 9,
            bytes: b"12345",
            is_inbound: Some(false),
            id: Some(7),
            comments: &comments,
        };
        let block = packet(&seen);
        assert_eq!(words(&block)[..7], [6, 72, 3, 0x0102_0304, 0x0506_0708, 5, 9]);
        let rest = [
            &b"12345\0\0\0"[..],
            &[1, 0, 1, 0, b'x', 0, 0, 0, 2, 0, 4, 0, 2, 0, 0, 0, 5, 0, 8, 0, 7, 0, 0, 0, 0, 0, 0, 0],
        ];
        assert_eq!(block[28..64], [&rest.concat()[..], &[0; 4][..]].concat()[..36]);
        assert_eq!(words(&block)[17], 72);
    }

    #[test]
    fn what_is_too_long_is_cut() {
        let long = "ä".repeat(MOST_TEXT);
        let named = Interface { name: format!("x{long}"), ..Interface::default() };
        let block = interface(LinkType::Raw, &named);
        // One byte less, since the last letter does not fit.
        assert_eq!(words(&block)[4], (4095 << 16) | 2);
        let bytes = vec![1; MOST_PACKET + 1];
        let block = packet(&Packet { length: 5, bytes: &bytes, ..Packet::default() });
        assert_eq!(words(&block)[5..7], [262_144, 262_145]);
        let nothing = packet(&Packet::default());
        assert_eq!(words(&nothing), [6, 32, 0, 0, 0, 0, 0, 32]);
    }
}
