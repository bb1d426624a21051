//! The text of an argument: as a message shows it, and whole, as the list of arguments has it.
//!
//! Both agree where the message says everything. It does not where it rounds (doubles, time spans), drops line ends,
//! or shows digits in the way a format asks for.

use std::fmt::{Display, Write};
use std::net::{Ipv4Addr, Ipv6Addr};

use base::guid::Guid;
use base::sid::Sid;

use super::argument::ArgumentType;
use super::labels::LabelText;
use super::time::{push_filetime, push_span};
use crate::digits::{push_decimal, push_hexadecimal, push_octet, push_signed};
use crate::model::ValueMap;
use crate::pack::{CodeTable, Pack};
use crate::printf::{Spec, push_general};
use crate::text;

/// What `%g` shows of a double by default.
const SIGNIFICANT_DIGITS: usize = 6;

impl ArgumentType {
    /// Appends the value as the list of arguments has it. `conversion` is that of the argument's first insertion: numbers
    /// get its sign. `false` when the text is not all there is to the value.
    pub(super) fn write_whole(&self, value: &[u8], conversion: u8, out: &mut String) -> bool {
        match (self, conversion) {
            (ArgumentType::Integer { .. }, b'c' | b'C') => return push_character(value, out),
            (ArgumentType::Integer { .. } | ArgumentType::Hexadecimal { .. } | ArgumentType::Pointer, b'd' | b'i') => {
                push_signed(signed(value), out);
            }
            (ArgumentType::Hexadecimal { .. } | ArgumentType::Pointer, b'u')
            | (ArgumentType::Integer { .. }, b'u' | b'o' | b'x' | b'X' | b'p') => push_decimal(unsigned(value), out),
            (ArgumentType::Double, _) => push_double(double(value), out),
            (ArgumentType::TimeDelta, _) => push_span(signed(value), true, out),
            (ArgumentType::Text { wide, .. }, _) => return push_text(value, *wide, out),
            _ => return self.write_shown(value, out),
        }
        true
    }

    /// Appends the value as a message shows it where its format says nothing (`!s!`); `false` when that is not valid
    /// text or does not show the value.
    fn write_shown(&self, value: &[u8], out: &mut String) -> bool {
        let number = u32::try_from(unsigned(value)).unwrap_or(u32::MAX);
        match self {
            ArgumentType::Integer { signed: true, .. } => push_signed(signed(value), out),
            ArgumentType::Integer { .. } => push_decimal(unsigned(value), out),
            ArgumentType::Hexadecimal { .. } | ArgumentType::Pointer => push_hexadecimal(unsigned(value), 0, out),
            ArgumentType::List { names, .. } => return write_listed(number, names.map(), out),
            ArgumentType::Set { names, .. } => return write_set(number, names.map(), out),
            ArgumentType::Enumeration(names) => return write_enumerator(number, names.map(), out),
            ArgumentType::FlagsEnumeration(names) => return write_flags(number, names.map(), out),
            ArgumentType::Code(table) => write_code(*table, number, out),
            ArgumentType::Double => push_general(double(value), SIGNIFICANT_DIGITS, false, out),
            ArgumentType::Text { wide, trimmed: false, .. } => return push_text(value, *wide, out),
            ArgumentType::Text { wide, trimmed: true, .. } => return push_one_line(value, *wide, out),
            ArgumentType::Characters => return push_text(value, false, out),
            ArgumentType::HexDump | ArgumentType::Unknown(_) => value.iter().for_each(|&byte| push_octet(byte, out)),
            ArgumentType::Guid => push_displayed(&Guid(array(value)), out),
            ArgumentType::Sid => match Sid::read(value) {
                Some(sid) => push_displayed(&sid, out),
                None => out.push_str("NULL"),
            },
            ArgumentType::FileTime => write_filetime(value, out),
            ArgumentType::TimeDelta => push_span(signed(value), false, out),
            ArgumentType::Port => push_decimal(u16::from_be_bytes(array(value)).into(), out),
            ArgumentType::IPv4 => push_displayed(&Ipv4Addr::from(array::<4>(value)), out),
            ArgumentType::IPv6 => push_displayed(&Ipv6Addr::from(array::<16>(value)), out),
            ArgumentType::MacAddress => value.iter().zip(0..).for_each(|(&byte, at)| {
                out.push_str(if at == 0 { "" } else { "-" });
                push_octet(byte, out);
            }),
        }
        true
    }

    /// Whether a message shows under this format what the list of arguments has, given the conversion of the argument's
    /// first insertion: such text is made once.
    pub(super) fn shows_whole(&self, spec: &Spec, conversion: u8) -> bool {
        let is_number =
            matches!(self, ArgumentType::Integer { .. } | ArgumentType::Hexadecimal { .. } | ArgumentType::Pointer);
        let rounds =
            matches!(self, ArgumentType::Double | ArgumentType::TimeDelta | ArgumentType::Text { trimmed: true, .. });
        // Only numbers look at the conversions `d` and `u`; only texts and names are what `s` says.
        spec.is_bare()
            && spec.conversion == conversion
            && if is_number { spec.is_decimal() } else { !rounds && matches!(spec.conversion, b's' | b'S') }
    }

    /// Appends the value as a message shows it under a format. `scratch` is room to work in.
    pub(super) fn write_formatted(&self, value: &[u8], spec: &Spec, scratch: &mut String, out: &mut String) {
        let bits = u32::try_from(value.len()).unwrap_or(8).min(8) * 8;
        let written = match self {
            ArgumentType::Integer { .. }
            | ArgumentType::Hexadecimal { .. }
            | ArgumentType::Pointer
            | ArgumentType::List { .. }
            | ArgumentType::Set { .. }
            | ArgumentType::Enumeration(_)
            | ArgumentType::FlagsEnumeration(_)
            | ArgumentType::Code(_)
            | ArgumentType::TimeDelta
            | ArgumentType::FileTime => spec.write_integer(unsigned(value), bits, out),
            ArgumentType::Port => spec.write_integer(u64::from(u16::from_be_bytes(array(value))), 16, out),
            ArgumentType::Double => spec.write_float(double(value), out),
            _ => None,
        };
        if written.is_none() {
            scratch.clear();
            match self {
                ArgumentType::Integer { .. } if spec.is_character() => push_character(value, scratch),
                _ => self.write_shown(value, scratch),
            };
            spec.write_text(scratch, out);
        }
    }
}

/// The first `N` bytes, with zeros for what is missing; extents have made sure that nothing is.
fn array<const N: usize>(value: &[u8]) -> [u8; N] {
    value.first_chunk().copied().unwrap_or([0; N])
}

fn unsigned(value: &[u8]) -> u64 {
    value.iter().take(8).rev().fold(0, |number, &byte| (number << 8) | u64::from(byte))
}

fn signed(value: &[u8]) -> i64 {
    let unused = 64 - 8 * value.len().clamp(1, 8);
    (unsigned(value) << unused).cast_signed() >> unused
}

fn double(value: &[u8]) -> f64 {
    f64::from_bits(unsigned(value))
}

/// As a message shows it where those digits are all there are, else with as many as it takes.
fn push_double(value: f64, out: &mut String) {
    let start = out.len();
    push_general(value, SIGNIFICANT_DIGITS, false, out);
    let shown = out.get(start..).and_then(|text| text.parse::<f64>().ok());
    let is_exact = shown.is_some_and(|shown| shown.to_bits() == value.to_bits());
    if !is_exact && value.is_finite() {
        out.truncate(start);
        // Writing to a string cannot fail. Far from 1 the form without an exponent is hundreds of digits long.
        let _ = if (1e-5..1e17).contains(&value.abs()) { write!(out, "{value}") } else { write!(out, "{value:e}") };
    }
}

/// A FILETIME; one that would be negative is no time, and stays a number.
fn write_filetime(value: &[u8], out: &mut String) {
    match u64::try_from(signed(value)) {
        Ok(filetime) => push_filetime(filetime, out),
        Err(_) => push_signed(signed(value), out),
    }
}

fn push_displayed(value: &impl Display, out: &mut String) {
    // Writing to a string cannot fail.
    let _ = write!(out, "{value}");
}

/// One 8-bit character, or one UTF-16 unit; `false` when that is not the whole number.
fn push_character(value: &[u8], out: &mut String) -> bool {
    let (character, rest) = value.split_at(value.len().min(2));
    push_text(character, character.len() > 1, out) && rest.iter().all(|&byte| byte == 0)
}

/// `0x00000001(true)`
fn write_listed(number: u32, names: &ValueMap, out: &mut String) -> bool {
    push_hexadecimal(number.into(), 8, out);
    if let Some(label) = names.exact(number.into()) {
        out.push('(');
        LabelText::new(out).push("", label);
        out.push(')');
    }
    // The number shows the value.
    true
}

/// `[read,write]`; bits without a label follow in hexadecimal.
fn write_set(number: u32, names: &ValueMap, out: &mut String) -> bool {
    out.push('[');
    let mut text = LabelText::new(out);
    let (mut left, mut separator) = (number, "");
    for (mask, label) in masks(number, names) {
        left &= !mask;
        if !text.push(separator, label) {
            break;
        }
        separator = ",";
    }
    let is_whole = text.is_whole();
    if left != 0 && is_whole {
        let _ = write!(out, "{separator}{left:#x}");
    }
    out.push(']');
    is_whole
}

/// The name alone; `0x2A` where there is none.
fn write_enumerator(number: u32, names: &ValueMap, out: &mut String) -> bool {
    match names.exact(number.into()) {
        Some(label) => LabelText::new(out).push("", label),
        None => write!(out, "{number:#X}").is_ok(),
    }
}

/// `Read | Write(0x3)`; `0x3` where no flag has a name.
fn write_flags(number: u32, names: &ValueMap, out: &mut String) -> bool {
    let mut text = LabelText::new(out);
    let mut separator = "";
    for (_, label) in masks(number, names) {
        let has_room = text.push(separator, label);
        separator = " | ";
        if !has_room {
            break;
        }
    }
    let _ = if separator.is_empty() { write!(out, "{number:#X}") } else { write!(out, "({number:#X})") };
    // The number shows the value.
    true
}

/// The masks whose bits are all set, with their names.
fn masks(number: u32, names: &ValueMap) -> impl Iterator<Item = (u32, &str)> {
    let masks = names.distinct().filter_map(|(mask, label)| Some((u32::try_from(mask).ok()?, label)));
    masks.filter(move |&(mask, _)| mask != 0 && number & mask == mask)
}

/// `0x00000103(STATUS_PENDING)`, Win32 errors in decimal; success has no number.
fn write_code(table: CodeTable, code: u32, out: &mut String) {
    let name = Pack::builtin().status_name(table, code);
    match (table, code, name) {
        (CodeTable::NtStatus, 0, Some(name)) | (CodeTable::HResult, 0 | 1, Some(name)) => return out.push_str(name),
        (CodeTable::Win32, ..) => push_signed(code.cast_signed().into(), out),
        _ => push_hexadecimal(code.into(), 8, out),
    }
    if let Some(name) = name {
        out.extend(["(", name, ")"]);
    }
}

/// Text on one line: tabs and line ends become blanks, and those at the end go.
fn push_one_line(value: &[u8], wide: bool, out: &mut String) -> bool {
    let start = out.len();
    let is_valid = push_text(value, wide, out);
    let is_space = |c| matches!(c, ' ' | '\t' | '\r' | '\n');
    let end = start + out.get(start..).map_or(0, |text| text.trim_end_matches(is_space).len());
    out.truncate(end);
    if out.get(start..).is_some_and(|text| text.contains(['\t', '\r', '\n'])) {
        let text = out.split_off(start);
        out.extend(text.chars().map(|c| if is_space(c) { ' ' } else { c }));
    }
    is_valid
}

fn push_text(value: &[u8], wide: bool, out: &mut String) -> bool {
    if wide { push_utf16(value, out) } else { push_ansi(value, out) }
}

fn push_utf16(value: &[u8], out: &mut String) -> bool {
    let (mut units, mut ascii) = (value.as_chunks::<2>().0, [0; 32]);
    while let Some((chunk, rest)) = units.split_at_checked(ascii.len().min(units.len()).max(1))
        && chunk.iter().all(|&[low, high]| high == 0 && low.is_ascii())
    {
        ascii.iter_mut().zip(chunk).for_each(|(character, &[low, _])| *character = low);
        out.push_str(ascii.get(..chunk.len()).and_then(|text| std::str::from_utf8(text).ok()).unwrap_or_default());
        units = rest;
    }
    let mut valid = true;
    out.extend(char::decode_utf16(units.iter().map(|&unit| u16::from_le_bytes(unit))).map(|c| {
        valid &= c.is_ok();
        c.unwrap_or(char::REPLACEMENT_CHARACTER)
    }));
    valid
}

fn push_ansi(value: &[u8], out: &mut String) -> bool {
    let text = text::ansi(value);
    out.push_str(&text);
    matches!(text, std::borrow::Cow::Borrowed(_))
}
