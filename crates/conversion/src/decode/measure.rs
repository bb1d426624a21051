//! How far values reach: measuring and checking before anything is decoded.

use base::sid::Sid;

use super::net;
use super::program::{Counter, FieldBody, FieldExtent, LengthRule, Node, Number, Repeat, Slot};
use super::text;

/// Values of no bytes that one payload may hold in all, besides one per byte and field: a count must not conjure more out
/// of nothing, because each takes a place in its column.
const MAX_EMPTY_VALUES: usize = 256;

/// The value does not fit what is left of the payload.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct DoesNotFit;

/// One payload being walked.
pub(super) struct Cursor<'a> {
    pub payload: &'a [u8],
    /// Values of length and count fields met so far.
    pub slots: &'a mut [u64],
    empty_values_left: usize,
    is_overdrawn: bool,
}

impl<'a> Cursor<'a> {
    pub(super) fn new(payload: &'a [u8], slots: &'a mut [u64], fields: usize) -> Self {
        let empty_values_left = MAX_EMPTY_VALUES + payload.len() + fields;
        Cursor { payload, slots, empty_values_left, is_overdrawn: false }
    }

    pub(super) fn rest(&self, at: usize) -> &'a [u8] {
        self.payload.get(at..).unwrap_or_default()
    }

    pub(super) fn bytes(&self, span: FieldExtent) -> &'a [u8] {
        self.payload.get(span.start..span.end).unwrap_or_default()
    }

    /// The reach of a whole field: one value, all members of a structure or all items of a list. Remembers the value
    /// of a field that others refer to.
    #[expect(clippy::inline_always, reason = "a span that goes through memory costs more than to find it")]
    #[inline(always)]
    pub(super) fn measure(&mut self, node: &Node, at: usize) -> Result<FieldExtent, DoesNotFit> {
        let span = match node.repeat {
            Repeat::One => self.measure_item(node, at)?,
            Repeat::Times(number) => self.measure_items(node, at, self.number(number)?)?,
            Repeat::Prefixed => {
                let count = self.rest(at).first_chunk().ok_or(DoesNotFit)?;
                self.measure_items(node, at + 2, usize::from(u16::from_le_bytes(*count)))?
            }
            Repeat::Rest => self.measure_rest(node, at)?,
        };
        if let Some(slot) = node.slot {
            self.remember(slot, span);
        }
        if span.next == at {
            self.count_empty(1)?;
        }
        Ok(span)
    }

    /// Whether a field did not fit because it asks for more values without bytes than the payload may hold.
    pub(super) fn is_overdrawn(&self) -> bool {
        self.is_overdrawn
    }

    /// Runs over what was measured before, without counting its empty values again.
    pub(super) fn measured<T>(&mut self, run: impl FnOnce(&mut Self) -> T) -> T {
        let left = std::mem::replace(&mut self.empty_values_left, usize::MAX);
        let result = run(self);
        self.empty_values_left = left;
        result
    }

    pub(super) fn remember(&mut self, slot: Slot, span: FieldExtent) {
        if let Some(place) = self.slots.get_mut(slot.index) {
            *place = read_integer(self.payload.get(span.start..span.end).unwrap_or_default(), slot.signed);
        }
    }

    fn number(&self, number: Number) -> Result<usize, DoesNotFit> {
        match number {
            Number::Constant(value) => Ok(value),
            Number::Slot(slot) => self.slots.get(slot).and_then(|&value| usize::try_from(value).ok()).ok_or(DoesNotFit),
        }
    }

    fn measure_items(&mut self, node: &Node, start: usize, items: usize) -> Result<FieldExtent, DoesNotFit> {
        let least = items.checked_mul(node.item_min).ok_or(DoesNotFit)?;
        if least > self.rest(start).len() {
            return Err(DoesNotFit);
        }
        if node.item_fixed {
            self.count_empty(items.checked_mul(node.item_empty).ok_or(DoesNotFit)?)?;
            return Ok(FieldExtent { start, end: start + least, next: start + least, items });
        }
        let mut at = start;
        for _ in 0..items {
            let next = self.measure_item(node, at)?.next;
            if next == at {
                self.count_empty(1)?;
            }
            at = next;
        }
        Ok(FieldExtent { start, end: at, next: at, items })
    }

    fn measure_rest(&mut self, node: &Node, start: usize) -> Result<FieldExtent, DoesNotFit> {
        let left = self.rest(start).len();
        if node.item_fixed && node.item_min > 0 {
            let whole = left.is_multiple_of(node.item_min);
            return if whole { self.measure_items(node, start, left / node.item_min) } else { Err(DoesNotFit) };
        }
        let (mut at, mut items) = (start, 0);
        while at < self.payload.len() {
            let next = self.measure_item(node, at)?.next;
            if next == at {
                return Err(DoesNotFit);
            }
            (at, items) = (next, items + 1);
        }
        Ok(FieldExtent { start, end: at, next: at, items })
    }

    /// The reach of one value, or of one structure's members.
    #[inline]
    pub(super) fn measure_item(&mut self, node: &Node, at: usize) -> Result<FieldExtent, DoesNotFit> {
        match &node.item {
            FieldBody::Leaf(extent) => self.extent(*extent, at),
            FieldBody::Struct(members) => self.measure_members(members, at),
            FieldBody::Unreadable => Err(DoesNotFit),
        }
    }

    fn measure_members(&mut self, members: &[Node], at: usize) -> Result<FieldExtent, DoesNotFit> {
        let mut end = at;
        for member in members {
            end = self.measure(member, end)?.next;
        }
        Ok(FieldExtent::one(at, end, end))
    }

    fn count_empty(&mut self, count: usize) -> Result<(), DoesNotFit> {
        let left = self.empty_values_left.checked_sub(count);
        self.is_overdrawn |= left.is_none();
        self.empty_values_left = left.ok_or(DoesNotFit)?;
        Ok(())
    }

    #[inline]
    fn extent(&self, extent: LengthRule, at: usize) -> Result<FieldExtent, DoesNotFit> {
        let rest = self.rest(at);
        match extent {
            LengthRule::Fixed(size) => self.take(at, size),
            LengthRule::NulUtf16 => terminated(at, rest.len(), text::find_nul_utf16(rest), 2),
            LengthRule::NulAnsi => terminated(at, rest.len(), text::find_nul(rest), 1),
            LengthRule::Units { count, unit } => {
                self.take(at, self.number(count)?.checked_mul(unit).ok_or(DoesNotFit)?)
            }
            LengthRule::Counted { counter, unit, per_unit } => {
                let (count, prefix) = counter.read(rest).ok_or(DoesNotFit)?;
                let size = if per_unit { count.checked_mul(unit).ok_or(DoesNotFit)? } else { count };
                let whole = size.is_multiple_of(unit);
                if whole { self.take(at + prefix, size) } else { Err(DoesNotFit) }
            }
            LengthRule::Rest { unit } if rest.len().is_multiple_of(unit) => self.take(at, rest.len()),
            LengthRule::Rest { .. } => Err(DoesNotFit),
            LengthRule::Sid => self.take(at, Sid::read(rest).ok_or(DoesNotFit)?.size()),
            LengthRule::WbemSid { skip } => match rest.get(skip..).and_then(Sid::read) {
                _ if is_absent_sid(rest, skip) => Ok(FieldExtent::one(at, at, at + 4)),
                Some(sid) => self.take(at + skip, sid.size()),
                None => Err(DoesNotFit),
            },
            LengthRule::SocketAddress => self.take(at, net::socket_address_size(rest).ok_or(DoesNotFit)?),
        }
    }

    fn take(&self, at: usize, size: usize) -> Result<FieldExtent, DoesNotFit> {
        match at.checked_add(size) {
            Some(end) if end <= self.payload.len() => Ok(FieldExtent::one(at, end, end)),
            _ => Err(DoesNotFit),
        }
    }
}

/// Whether a zero `u32` stands in the place of a SID. It can also begin a `TOKEN_USER` of zeros, behind which is one.
fn is_absent_sid(rest: &[u8], skip: usize) -> bool {
    let is_token = || {
        let (token, sid) = rest.split_at_checked(skip)?;
        Some(token.iter().all(|&byte| byte == 0) && Sid::read(sid).is_some())
    };
    rest.first_chunk() == Some(&[0; 4]) && is_token() != Some(true)
}

/// Up to a terminator of `unit` bytes. A text that the payload's end cuts off is accepted if it has whole units.
fn terminated(at: usize, left: usize, nul: Option<usize>, unit: usize) -> Result<FieldExtent, DoesNotFit> {
    match nul {
        Some(length) => Ok(FieldExtent::one(at, at + length, at + length + unit)),
        None if left > 0 && left.is_multiple_of(unit) => Ok(FieldExtent::one(at, at + left, at + left)),
        None => Err(DoesNotFit),
    }
}

impl Counter {
    /// The count and its own size.
    fn read(self, bytes: &[u8]) -> Option<(usize, usize)> {
        Some(match self {
            Counter::U16 => (usize::from(u16::from_le_bytes(*bytes.first_chunk()?)), 2),
            Counter::BigEndianU16 => (usize::from(u16::from_be_bytes(*bytes.first_chunk()?)), 2),
            Counter::U32 => (usize::try_from(u32::from_le_bytes(*bytes.first_chunk()?)).ok()?, 4),
        })
    }

    /// The least size of a value behind this counter.
    pub(super) fn size(self) -> usize {
        match self {
            Counter::U16 | Counter::BigEndianU16 => 2,
            Counter::U32 => 4,
        }
    }
}

/// A little-endian integer of up to 8 bytes, extended to 64 bits by its sign or by zeros.
#[inline]
pub(super) fn read_integer(bytes: &[u8], signed: bool) -> u64 {
    // One load for each of the sizes that integers have; a copy of a length that is not known is a call.
    let value = match bytes.len() {
        1 => bytes.first().map(|byte| u64::from(*byte)),
        2 => bytes.first_chunk().map(|bytes| u16::from_le_bytes(*bytes).into()),
        4 => bytes.first_chunk().map(|bytes| u32::from_le_bytes(*bytes).into()),
        8 => bytes.first_chunk().map(|bytes| u64::from_le_bytes(*bytes)),
        _ => None,
    };
    let Some(value) = value else { return read_odd_integer(bytes, signed) };
    let unused = 8 * (size_of::<u64>() - bytes.len());
    if signed { ((value << unused).cast_signed() >> unused).cast_unsigned() } else { value }
}

fn read_odd_integer(bytes: &[u8], signed: bool) -> u64 {
    let negative = signed && bytes.last().is_some_and(|&last| last >= 0x80);
    let mut value = [if negative { 0xff } else { 0 }; 8];
    for (place, byte) in value.iter_mut().zip(bytes) {
        *place = *byte;
    }
    u64::from_le_bytes(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reaches() {
        let span = |start, end, next| Ok(FieldExtent::one(start, end, next));
        let counted = |counter, unit, per_unit| LengthRule::Counted { counter, unit, per_unit };
        let sid = [0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 0, 0, 0, 0, 0, 5, 18, 0, 0, 0];
        let table: [(LengthRule, &[u8], Result<FieldExtent, DoesNotFit>); 24] = [
            (LengthRule::Fixed(4), &[1, 2, 3, 4, 5], span(0, 4, 4)),
            (LengthRule::Fixed(4), &[1, 2, 3], Err(DoesNotFit)),
            (LengthRule::NulUtf16, b"A\0B\0\0\0C", span(0, 4, 6)),
            (LengthRule::NulUtf16, b"\0A\0\0\0\0", span(0, 2, 4)),
            (LengthRule::NulUtf16, b"A\0B\0", span(0, 4, 4)),
            (LengthRule::NulUtf16, b"A\0B", Err(DoesNotFit)),
            (LengthRule::NulUtf16, b"", Err(DoesNotFit)),
            (LengthRule::NulAnsi, b"AB\0C", span(0, 2, 3)),
            (LengthRule::NulAnsi, b"AB", span(0, 2, 2)),
            (LengthRule::NulAnsi, b"", Err(DoesNotFit)),
            (LengthRule::Units { count: Number::Constant(2), unit: 2 }, &[0; 5], span(0, 4, 4)),
            (LengthRule::Units { count: Number::Slot(0), unit: 1 }, &[0; 5], span(0, 3, 3)),
            (LengthRule::Units { count: Number::Slot(1), unit: 2 }, &[0; 5], Err(DoesNotFit)),
            (counted(Counter::U16, 1, false), &[2, 0, 7, 8, 9], span(2, 4, 4)),
            (counted(Counter::U16, 2, false), &[1, 0, 7], Err(DoesNotFit)),
            (counted(Counter::U16, 2, true), &[1, 0, 7, 8], span(2, 4, 4)),
            (counted(Counter::BigEndianU16, 1, false), &[0, 1, 7, 8], span(2, 3, 3)),
            (counted(Counter::U32, 1, false), &[1, 0, 0, 0, 7, 8], span(4, 5, 5)),
            (counted(Counter::U32, 1, false), &[1, 0, 0, 1, 7, 8], Err(DoesNotFit)),
            (LengthRule::Rest { unit: 2 }, &[1, 2, 3, 4], span(0, 4, 4)),
            (LengthRule::Rest { unit: 2 }, &[1, 2, 3], Err(DoesNotFit)),
            (LengthRule::WbemSid { skip: 8 }, &[0, 0, 0, 0, 9], span(0, 0, 4)),
            (LengthRule::WbemSid { skip: 8 }, &[1; 8], Err(DoesNotFit)),
            (LengthRule::Sid, &sid[8..], span(0, 12, 12)),
        ];
        for (extent, payload, expected) in table {
            let mut slots = [3, u64::MAX];
            let cursor = Cursor::new(payload, &mut slots, 1);
            assert_eq!(cursor.extent(extent, 0), expected, "{extent:?} {payload:?}");
        }
        let mut user = sid;
        user[0] = 1;
        let cursor = Cursor::new(&user, &mut [], 1);
        assert_eq!(cursor.extent(LengthRule::WbemSid { skip: 8 }, 0), span(8, 20, 20));
        // A token of zeros, and zeros that are none because no SID is behind them.
        let mut zeros = sid;
        zeros[7] = 0;
        let cursor = Cursor::new(&zeros, &mut [], 1);
        assert_eq!(cursor.extent(LengthRule::WbemSid { skip: 8 }, 0), span(8, 20, 20));
        let cursor = Cursor::new(&zeros[..19], &mut [], 1);
        assert_eq!(cursor.extent(LengthRule::WbemSid { skip: 8 }, 0), span(0, 0, 4));
        let cursor = Cursor::new(&zeros, &mut [], 1);
        assert_eq!(cursor.extent(LengthRule::WbemSid { skip: 16 }, 0), span(0, 0, 4));
    }

    #[test]
    fn integers_extend_by_sign_or_zeros() {
        assert_eq!(read_integer(&[0xfe, 0xff], true), u64::MAX - 1);
        assert_eq!(read_integer(&[0xfe, 0xff], false), 0xfffe);
        assert_eq!(read_integer(&[1, 0, 0, 0, 0, 0, 0, 0x80], true), 0x8000_0000_0000_0001);
        assert_eq!(read_integer(&[], true), 0);
        assert_eq!(read_integer(&[0x80], true), (-0x80_i64).cast_unsigned());
        assert_eq!(read_integer(&[0x80], false), 0x80);
        assert_eq!(read_integer(&[1, 0, 0x80], true), (-0x7f_ffff_i64).cast_unsigned());
        assert_eq!(read_integer(&[1, 2, 3, 0x84], true), (-0x7bfc_fdff_i64).cast_unsigned());
        assert_eq!(read_integer(&[1, 2, 3, 0x84], false), 0x8403_0201);
    }
}
