//! IP addresses as they lie on disk, and their one text form.
//!
//! To format an address takes forty times as much as all else that is done with it, and what a row weighs depends on the
//! length of its text. So the digits are put together in one place, and the length is known without them where that is cheaper.

/// The longest text: eight groups of four digits.
const LONGEST: usize = 39;

/// Groups of an IPv6 address.
const GROUPS: usize = 8;

/// The digits of every octet and a dot behind them, and how many bytes these are.
const OCTETS: [([u8; 4], usize); 256] = {
    let mut octets = [([0; 4], 0); 256];
    let mut octet = 0u8;
    loop {
        let [hundreds, tens, ones] = [b'0' + octet / 100, b'0' + octet / 10 % 10, b'0' + octet % 10];
        octets[octet as usize] = match octet {
            0..10 => ([ones, b'.', 0, 0], 2),
            10..100 => ([tens, ones, b'.', 0], 3),
            _ => ([hundreds, tens, ones, b'.'], 4),
        };
        if octet == u8::MAX {
            break octets;
        }
        octet += 1;
    }
};

/// Appends the text of an IPv4 address in network order.
pub fn push_ipv4(address: [u8; 4], out: &mut Vec<u8>) {
    let (mut text, mut len) = ([0; 16], 0);
    for octet in address {
        let (digits, count) = OCTETS[usize::from(octet)];
        text[len..len + digits.len()].copy_from_slice(&digits);
        len += count;
    }
    out.extend_from_slice(&text[..len - 1]);
}

/// The bytes of the text of an IPv4 address.
#[inline]
pub fn ipv4_len(address: [u8; 4]) -> usize {
    address.iter().map(|octet| OCTETS[usize::from(*octet)].1).sum::<usize>() - 1
}

/// Appends the text of an IPv6 address in network order: the first longest row of more than one group of zeros is left out,
/// and an IPv4 address in the range for them is written as one.
pub fn push_ipv6(address: [u8; 16], out: &mut Vec<u8>) {
    if let [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, a, b, c, d] = address {
        out.extend_from_slice(b"::ffff:");
        return push_ipv4([a, b, c, d], out);
    }
    let (groups, zeros) = groups(address);
    let (mut text, mut len) = ([0; LONGEST], 0);
    let mut put = |byte| {
        text[len] = byte;
        len += 1;
    };
    let mut at = 0;
    while at < GROUPS {
        if at == zeros.start && !zeros.is_empty() {
            put(b':');
            if zeros.end == GROUPS {
                put(b':');
            }
            at = zeros.end;
            continue;
        }
        if at > 0 {
            put(b':');
        }
        (0..digits(groups[at])).rev().for_each(|place| put(HEX[usize::from(groups[at] >> (4 * place) & 0xf)]));
        at += 1;
    }
    out.extend_from_slice(&text[..len]);
}

/// The bytes of the text of an IPv6 address.
pub fn ipv6_len(address: [u8; 16]) -> usize {
    if let [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, a, b, c, d] = address {
        return "::ffff:".len() + ipv4_len([a, b, c, d]);
    }
    let (groups, zeros) = groups(address);
    // A group of zero has one digit. There is a colon between any two groups; of those that are left out, a colon before and
    // one behind are there in any case.
    let all = groups.iter().map(|&group| digits(group)).sum::<usize>() + GROUPS - 1;
    let (before, behind) = (usize::from(zeros.start == 0), usize::from(zeros.end == GROUPS));
    if zeros.is_empty() { all } else { all - (2 * zeros.len() - 1) + before + behind }
}

const HEX: &[u8; 16] = b"0123456789abcdef";

/// The hexadecimal digits of a group, without leading zeros.
fn digits(group: u16) -> usize {
    (u16::BITS - group.leading_zeros()).div_ceil(4).max(1) as usize
}

/// The groups of an address, and which of them are left out.
fn groups(address: [u8; 16]) -> ([u16; GROUPS], std::ops::Range<usize>) {
    let mut groups = [0; GROUPS];
    groups.iter_mut().zip(address.as_chunks().0).for_each(|(group, bytes)| *group = u16::from_be_bytes(*bytes));
    let (mut longest, mut start) = (0..0, 0);
    for (at, &group) in groups.iter().enumerate() {
        if group != 0 {
            start = at + 1;
        } else if at + 1 - start > longest.len() {
            longest = start..at + 1;
        }
    }
    (groups, if longest.len() > 1 { longest } else { 0..0 })
}

#[cfg(test)]
mod tests {
    use std::net::{Ipv4Addr, Ipv6Addr};

    use proptest::prelude::*;

    use super::*;

    #[test]
    fn every_octet_has_its_digits() {
        for octet in 0..=u8::MAX {
            let bytes = [octet, 255 - octet, octet / 3, 255];
            let mut text = Vec::new();
            push_ipv4(bytes, &mut text);
            assert_eq!(String::from_utf8(text).unwrap(), Ipv4Addr::from(bytes).to_string());
            assert_eq!(ipv4_len(bytes), Ipv4Addr::from(bytes).to_string().len());
        }
    }

    fn assert_text(groups: [u16; 8]) {
        let address = Ipv6Addr::from(groups);
        let mut text = Vec::new();
        push_ipv6(address.octets(), &mut text);
        assert_eq!(String::from_utf8(text).unwrap(), address.to_string());
        assert_eq!(ipv6_len(address.octets()), address.to_string().len(), "{address}");
    }

    #[test]
    fn zeros_are_left_out_once() {
        // Every choice of groups that are zero, of one digit, and of four.
        for choice in 0..3usize.pow(8) {
            let mut rest = choice;
            let next = |_| {
                let group = [0, 7, 0xfedc][rest % 3];
                rest /= 3;
                group
            };
            assert_text(std::array::from_fn(next));
        }
        assert_text([0, 0, 0, 0, 0, 0xffff, 0x7f00, 1]);
        assert_text([0, 0, 0, 0, 0xffff, 0, 0x7f00, 1]);
    }

    proptest! {
        #[test]
        fn addresses_are_written_as_the_standard_library_does(groups: [u16; 8]) {
            assert_text(groups);
        }
    }
}
