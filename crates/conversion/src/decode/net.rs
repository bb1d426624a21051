//! Text forms of addresses.

use std::io::Write;
use std::net::{Ipv4Addr, Ipv6Addr};

use base::address;

use super::text::push_hex;

const AF_INET: u16 = 2;
const AF_INET6: u16 = 23;

/// Writes without allocation beyond the buffer; a vector takes every write.
fn push(out: &mut Vec<u8>, text: std::fmt::Arguments<'_>) {
    out.write_fmt(text).expect("writing to memory does not fail");
}

/// An IPv4 address of 4 bytes in network order, else the bytes in hexadecimal.
pub(super) fn push_ipv4(bytes: &[u8], out: &mut Vec<u8>) {
    match <[u8; 4]>::try_from(bytes) {
        Ok(address) => address::push_ipv4(address, out),
        Err(_) => push_hex(bytes, out),
    }
}

/// An IPv6 address of 16 bytes in network order, else the bytes in hexadecimal.
pub(super) fn push_ipv6(bytes: &[u8], out: &mut Vec<u8>) {
    match <[u8; 16]>::try_from(bytes) {
        Ok(address) => address::push_ipv6(address, out),
        Err(_) => push_hex(bytes, out),
    }
}

/// The bytes of a `SOCKADDR` by its family, as far as they are there: 16, 28 or all.
pub(super) fn socket_address_size(bytes: &[u8]) -> Option<usize> {
    let family = u16::from_le_bytes(*bytes.first_chunk()?);
    match family {
        AF_INET if bytes.len() < 8 => None,
        AF_INET => Some(bytes.len().min(16)),
        AF_INET6 if bytes.len() < 28 => None,
        AF_INET6 => Some(28),
        _ => Some(bytes.len()),
    }
}

/// A `SOCKADDR` as `1.2.3.4:80`, `[fe80::1%3]:80`, or in hexadecimal. Returns whether the text says all of it.
pub(super) fn push_socket_address(bytes: &[u8], out: &mut Vec<u8>) -> bool {
    let zero = |rest: &[u8]| rest.iter().all(|&byte| byte == 0);
    match bytes {
        &[2, 0, p0, p1, a, b, c, d, ref rest @ ..] => {
            push(out, format_args!("{}:{}", Ipv4Addr::new(a, b, c, d), u16::from_be_bytes([p0, p1])));
            zero(rest)
        }
        &[23, 0, p0, p1, f0, f1, f2, f3, ref rest @ ..] if rest.len() >= 20 => {
            let (address, rest) = rest.split_first_chunk::<16>().expect("20 bytes hold 16");
            let (scope, rest) = rest.split_first_chunk::<4>().expect("20 bytes hold 16 and 4");
            let (address, port) = (Ipv6Addr::from(*address), u16::from_be_bytes([p0, p1]));
            match u32::from_le_bytes(*scope) {
                0 => push(out, format_args!("[{address}]:{port}")),
                scope => push(out, format_args!("[{address}%{scope}]:{port}")),
            }
            zero(rest) && zero(&[f0, f1, f2, f3])
        }
        other => {
            push_hex(other, out);
            true
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(write: impl FnOnce(&mut Vec<u8>)) -> String {
        let mut out = Vec::new();
        write(&mut out);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn addresses() {
        assert_eq!(text(|out| push_ipv4(&[127, 0, 0, 1], out)), "127.0.0.1");
        assert_eq!(text(|out| push_ipv4(&[127, 0], out)), "7f00");
        let mut address = [0; 16];
        (address[0], address[1], address[15]) = (0xfe, 0x80, 1);
        assert_eq!(text(|out| push_ipv6(&address, out)), "fe80::1");
        assert_eq!(text(|out| push_ipv6(&[1], out)), "01");
    }

    #[test]
    fn socket_addresses() {
        let mut v4 = vec![2, 0, 0x1f, 0x90, 10, 0, 0, 1];
        let exact = |bytes: &[u8], out: &mut Vec<u8>| assert!(push_socket_address(bytes, out));
        assert_eq!(text(|out| exact(&v4, out)), "10.0.0.1:8080");
        v4.resize(16, 0);
        assert_eq!(text(|out| exact(&v4, out)), "10.0.0.1:8080");
        assert_eq!(socket_address_size(&v4), Some(16));
        v4[15] = 1;
        assert!(!push_socket_address(&v4, &mut Vec::new()));
        let mut v6 = vec![23, 0, 0, 80, 0, 0, 0, 0];
        v6.extend([0; 15]);
        v6.extend([1, 0, 0, 0, 0]);
        assert_eq!(text(|out| exact(&v6, out)), "[::1]:80");
        assert_eq!(socket_address_size(&v6), Some(28));
        assert_eq!(socket_address_size(&v6[..27]), None);
        v6[24] = 3;
        assert_eq!(text(|out| exact(&v6, out)), "[::1%3]:80");
        v6[4] = 1;
        assert!(!push_socket_address(&v6, &mut Vec::new()));
        assert_eq!(text(|out| exact(&[1, 0, 0x2f], out)), "01002f");
        assert_eq!(socket_address_size(&[1]), None);
    }
}
