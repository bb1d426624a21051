//! From the measured bytes of one value to one entry of a builder.

use std::io::Write;

use arrow_schema::TimeUnit;
use base::guid::Guid;
use base::sid::Sid;
use columnar::columns::packed::{BytesValues, FixedValues, Packed};

use super::TraceClock;
use super::measure::read_integer;
use super::program::Convert;
use super::{label, net, text, time};

/// What is noted while a payload is decoded.
pub(super) struct RowNotes<'a> {
    pub clock: &'a dyn TraceClock,
    /// Whether the columns represent every value so far exactly.
    pub exact: bool,
    /// Arrow bytes appended so far.
    pub weight: u64,
}

impl<'a> RowNotes<'a> {
    /// Nothing noted yet.
    pub(super) fn new(clock: &'a dyn TraceClock) -> Self {
        RowNotes { clock, exact: true, weight: 0 }
    }

    pub(super) fn add(&mut self, bytes: usize) {
        self.weight = self.weight.saturating_add(bytes as u64);
    }
}

/// Appends one value. `false`: it is NULL, and nothing was appended.
#[inline]
pub(super) fn write(op: &Convert, bytes: &[u8], builder: &mut Packed, notes: &mut RowNotes<'_>) -> bool {
    match builder {
        Packed::Fixed(fixed) => write_fixed(op, bytes, fixed, notes),
        Packed::Bytes(target) => write_bytes(op, bytes, target, notes),
        // Lists and structures are taken apart before this.
        Packed::List(_) | Packed::Struct(_) => false,
    }
}

fn write_fixed(op: &Convert, bytes: &[u8], fixed: &mut FixedValues, notes: &mut RowNotes<'_>) -> bool {
    if let Convert::GuidBytes = op {
        return write_guid_bytes(bytes, fixed, notes);
    }
    let Some(value) = number(op, bytes, notes) else { return false };
    fixed.push(value);
    notes.add(fixed.width);
    true
}

/// The bits of a number that a column takes.
#[inline]
pub(super) fn number(op: &Convert, bytes: &[u8], notes: &mut RowNotes<'_>) -> Option<u64> {
    match op {
        Convert::Copy(_) => Some(read_integer(bytes, false)),
        Convert::Integer { signed, .. } => Some(read_integer(bytes, *signed)),
        Convert::Port { .. } => bytes.first_chunk().map(|port| u64::from(u16::from_be_bytes(*port))),
        Convert::Boolean => {
            let value = read_integer(bytes, false);
            notes.exact &= value <= 1;
            Some(u64::from(value != 0))
        }
        Convert::FloatToDouble => bytes.first_chunk().map(|float| f64::from(f32::from_le_bytes(*float)).to_bits()),
        Convert::FileTime(unit) => time::from_filetime(read_integer(bytes, false), *unit).map(i64::cast_unsigned),
        Convert::SystemTime(unit) => system_time(bytes, *unit, notes),
        Convert::TraceTime => trace_time(bytes, notes),
        Convert::TickSpan => notes.clock.span_ns(read_integer(bytes, false)).map(i64::cast_unsigned),
        _ => None,
    }
}

fn system_time(bytes: &[u8], unit: TimeUnit, notes: &mut RowNotes<'_>) -> Option<u64> {
    let (words, _) = bytes.as_chunks::<2>();
    let parts = <[[u8; 2]; 8]>::try_from(words).ok()?.map(u16::from_le_bytes);
    let time = time::from_systemtime(parts, unit);
    notes.exact &= matches!(time, Some((_, true)));
    time.map(|(time, _)| time.cast_unsigned())
}

fn trace_time(bytes: &[u8], notes: &mut RowNotes<'_>) -> Option<u64> {
    let time = notes.clock.unix_ns(read_integer(bytes, false).cast_signed());
    notes.exact &= time.is_some() && notes.clock.is_reversible();
    time.map(i64::cast_unsigned)
}

fn write_guid_bytes(bytes: &[u8], fixed: &mut FixedValues, notes: &mut RowNotes<'_>) -> bool {
    let Ok(bytes) = bytes.try_into() else { return false };
    fixed.bytes.extend_from_slice(&Guid(bytes).to_text_order());
    notes.add(16);
    true
}

fn write_bytes(op: &Convert, bytes: &[u8], target: &mut BytesValues, notes: &mut RowNotes<'_>) -> bool {
    let before = target.bytes.len();
    let found = push_bytes(op, bytes, &mut target.bytes, notes);
    let size = target.bytes.len() - before;
    if !found {
        return false;
    }
    if !target.end() {
        notes.exact = false;
        return false;
    }
    notes.add(size + 4);
    true
}

/// Appends the text or the bytes that a column takes; `false`: it is NULL.
#[inline]
pub(super) fn push_bytes(op: &Convert, bytes: &[u8], out: &mut Vec<u8>, notes: &mut RowNotes<'_>) -> bool {
    match op {
        Convert::Utf16 { cut } => {
            let shown = if *cut { cut_at(bytes, text::find_nul_utf16(bytes), notes) } else { bytes };
            notes.exact &= text::push_utf16(shown, out);
            true
        }
        Convert::Ansi { cut, utf8 } => {
            let shown = if *cut { cut_at(bytes, text::find_nul(bytes), notes) } else { bytes };
            notes.exact &= text::push_ansi(shown, *utf8, out);
            true
        }
        Convert::Bytes => {
            out.extend_from_slice(bytes);
            true
        }
        Convert::GuidText => bytes.try_into().is_ok_and(|bytes| {
            out.extend_from_slice(&Guid(bytes).to_text());
            true
        }),
        // A WBEM SID that is absent has no bytes.
        Convert::Sid => {
            let sid = Sid::read(bytes);
            notes.exact &= bytes.is_empty() || sid.is_some_and(|sid| sid.size() == bytes.len());
            // A vector takes every write.
            sid.is_some_and(|sid| write!(out, "{sid}").is_ok())
        }
        Convert::IPv4 => {
            net::push_ipv4(bytes, out);
            true
        }
        Convert::IPv6 => {
            net::push_ipv6(bytes, out);
            true
        }
        Convert::SocketAddress => {
            notes.exact &= net::push_socket_address(bytes, out);
            true
        }
        Convert::Label(map) => label::push(map, read_integer(bytes, false), out),
        Convert::Status(table) => label::push_status(*table, read_integer(bytes, false), out),
        _ => false,
    }
}

/// Text of given length up to its first NUL; what is behind it and not zero is not represented.
fn cut_at<'a>(bytes: &'a [u8], nul: Option<usize>, notes: &mut RowNotes<'_>) -> &'a [u8] {
    let Some((shown, behind)) = nul.and_then(|nul| bytes.split_at_checked(nul)) else { return bytes };
    notes.exact &= behind.iter().all(|&byte| byte == 0);
    shown
}
