//! Enumerations of the source code: the names of their values.
//!
//! Layout: `LF_ENUM`, `LF_FIELDLIST` and `LF_ENUMERATE` in `cvinfo.h` of microsoft/microsoft-pdb, and
//! <https://llvm.org/docs/PDB/TpiStream.html>.

use std::collections::{BTreeMap, BTreeSet};

use super::directory::TYPES;
use super::ids::{LF_ENUM, each, up_to};
use crate::bytes::{Bytes, shown};
use crate::container::Streams;
use crate::found::Readable;

const LF_FIELDLIST: u16 = 0x1203;
const LF_ENUMERATE: u16 = 0x1502;
/// A list goes on in another, which has a lower number.
const LF_INDEX: u16 = 0x1404;
/// Bytes from here on stand for padding.
const PADDING: u8 = 0xF0;
/// A declaration without values, which the compiler leaves where it has not seen them.
const IS_FORWARD: u16 = 0x80;
/// Lists that one enumeration may go on in.
const MOST_LISTS: usize = 16;
/// Names of values that are kept. Lists may be shared, so that a small file could ask for any number; what is beyond has none.
const MOST_VALUES: usize = 1 << 20;

/// The names of values, in the order of the source.
pub(crate) type Enumeration = Vec<(u64, String)>;

/// A list of names of values, and the list that it goes on in.
type Part = (Enumeration, Option<u32>);

/// The enumerations of these names that the stream of types has; of several of one name the first.
pub(crate) fn named(streams: &Streams, wanted: &BTreeSet<String>) -> Readable<BTreeMap<String, Enumeration>> {
    if wanted.is_empty() {
        return Ok(BTreeMap::new());
    }
    let Some(types) = streams.stream(TYPES)? else { return Ok(BTreeMap::new()) };
    let mut lists: BTreeMap<String, u32> = BTreeMap::new();
    up_to(&types, u32::MAX, |_, kind, data| {
        if let Some((list, name)) = enumeration(kind, Bytes(data)).filter(|(_, name)| wanted.contains(name)) {
            lists.entry(name).or_insert(list);
        }
    });
    let parts = parts(&types, lists.values().copied().collect());
    let mut left = MOST_VALUES;
    let mut within = |values: &Enumeration| {
        left = left.saturating_sub(values.len());
        left > 0
    };
    let whole = lists.into_iter().map(|(name, list)| (name, whole(list, &parts)));
    Ok(whole.take_while(|(_, values)| within(values)).collect())
}

/// The lists of these numbers, and those that they go on in.
fn parts(types: &[u8], mut asked: BTreeSet<u32>) -> BTreeMap<u32, Part> {
    let mut parts: BTreeMap<u32, Part> = BTreeMap::new();
    let mut kept = 0_usize;
    for _ in 0..MOST_LISTS {
        let mut further = BTreeSet::new();
        each(types, &asked, |id, kind, data| {
            let room = MOST_VALUES.saturating_sub(kept);
            let Some((values, next)) = part(kind, Bytes(data), room) else { return };
            kept = kept.saturating_add(values.len());
            further.extend(next);
            parts.insert(id, (values, next));
        });
        asked = further.into_iter().filter(|next| !parts.contains_key(next)).collect();
        if asked.is_empty() {
            break;
        }
    }
    parts
}

/// The list of an enumeration, and its name.
fn enumeration(kind: u16, mut data: Bytes<'_>) -> Option<(u32, String)> {
    if kind != LF_ENUM {
        return None;
    }
    let (_count, properties, _type, list) = (data.u16()?, data.u16()?, data.u32()?, data.u32()?);
    (properties & IS_FORWARD == 0).then(|| (list, shown(data.text())))
}

/// A list, as far as there is room for it.
fn part(kind: u16, mut data: Bytes<'_>, room: usize) -> Option<Part> {
    if kind != LF_FIELDLIST {
        return None;
    }
    let mut values = Vec::new();
    while values.len() < room
        && let Some(member) = data.u16()
    {
        match member {
            LF_ENUMERATE => {
                let Some((value, name)) = enumerator(&mut data) else { break };
                values.push((value, name));
            }
            LF_INDEX => return Some((values, data.skip(2).and_then(|()| data.u32()))),
            // Of an enumeration there are no others.
            _ => break,
        }
        while data.0.first().is_some_and(|&byte| byte >= PADDING) {
            data.skip(1)?;
        }
    }
    Some((values, None))
}

fn enumerator(data: &mut Bytes<'_>) -> Option<(u64, String)> {
    data.skip(2)?;
    let value = number(data)?;
    Some((value, shown(data.text())))
}

/// A number that stands for itself, or a kind with the number behind it; negative ones as the complement of two.
fn number(data: &mut Bytes<'_>) -> Option<u64> {
    let signed = |value: i64| value.cast_unsigned();
    Some(match data.u16()? {
        own @ 0..0x8000 => own.into(),
        0x8000 => signed(data.u8()?.cast_signed().into()),
        0x8001 => signed(data.u16()?.cast_signed().into()),
        0x8002 => data.u16()?.into(),
        0x8003 => signed(data.u32()?.cast_signed().into()),
        0x8004 => data.u32()?.into(),
        0x8009 | 0x800A => data.u64()?,
        _ => return None,
    })
}

/// What stands in a list and in those that it goes on in.
fn whole(list: u32, parts: &BTreeMap<u32, Part>) -> Enumeration {
    let mut values = Vec::new();
    let mut next = Some(list);
    for _ in 0..MOST_LISTS {
        let Some((own, further)) = next.and_then(|next| parts.get(&next)) else { break };
        values.extend_from_slice(own);
        next = *further;
    }
    values
}
