//! The names of functions that are inlined: by numbers of the stream of identities, which leads to scopes and to classes.

use std::collections::{BTreeMap, BTreeSet};

use super::decorated::with_anonymous;
use super::directory::{IDS, TYPES};
use super::records::Records;
use crate::bytes::{Bytes, from, shown};
use crate::container::Streams;
use crate::found::Readable;

const LF_FUNC_ID: u16 = 0x1601;
const LF_MFUNC_ID: u16 = 0x1602;
const LF_STRING_ID: u16 = 0x1605;
/// Classes, structures, interfaces and unions have their names behind a size, enumerations behind two numbers.
const LF_CLASS: [u16; 3] = [0x1504, 0x1505, 0x1519];
const LF_UNION: u16 = 0x1506;
pub(crate) const LF_ENUM: u16 = 0x1507;

/// What a name is made of.
#[derive(Clone, Debug)]
enum Scope {
    None,
    /// A text of the stream of identities.
    Text(u32),
    /// A type of the stream of types.
    Class(u32),
}

/// The names of functions by their numbers; what has no name is left out.
pub(crate) fn names(streams: &Streams, wanted: &BTreeSet<u32>) -> Readable<BTreeMap<u32, String>> {
    let mut functions = BTreeMap::new();
    if wanted.is_empty() {
        return Ok(BTreeMap::new());
    }
    let Some(ids) = streams.stream(IDS)? else { return Ok(BTreeMap::new()) };
    each(&ids, wanted, |id, kind, data| {
        functions.extend(function(kind, Bytes(data)).map(|(scope, name)| (id, (scope, shown(name)))));
    });
    let text = |scope: &Scope| if let Scope::Text(id) = scope { Some(*id) } else { None };
    let class = |scope: &Scope| if let Scope::Class(id) = scope { Some(*id) } else { None };
    let mut texts = BTreeMap::new();
    each(&ids, &functions.values().filter_map(|(scope, _)| text(scope)).collect(), |id, kind, data| {
        texts.extend(string(kind, Bytes(data)).map(|text| (id, shown(text))));
    });
    drop(ids);
    let classes: BTreeSet<u32> = functions.values().filter_map(|(scope, _)| class(scope)).collect();
    let mut types = BTreeMap::new();
    if let Some(stream) = if classes.is_empty() { None } else { streams.stream(TYPES)? } {
        each(&stream, &classes, |id, kind, data| {
            types.extend(class_name(kind, Bytes(data)).map(|name| (id, shown(name))));
        });
    }
    let full = |(scope, name): (Scope, String)| {
        let scope = match scope {
            Scope::None => None,
            Scope::Text(id) => texts.get(&id),
            Scope::Class(id) => types.get(&id),
        };
        with_anonymous(&scope.map_or_else(|| name.clone(), |scope| format!("{scope}::{name}")))
    };
    Ok(functions.into_iter().map(|(id, function)| (id, full(function))).collect())
}

/// Goes once through a stream of types, and shows those that are wanted, with their kinds and what stands behind.
pub(crate) fn each(stream: &[u8], wanted: &BTreeSet<u32>, mut show: impl FnMut(u32, u16, &[u8])) {
    let Some(&last) = wanted.last() else { return };
    up_to(stream, last, |id, kind, data| {
        if wanted.contains(&id) {
            show(id, kind, data);
        }
    });
}

/// Goes once through a stream of types, and shows those up to the number `last`.
pub(crate) fn up_to(stream: &[u8], last: u32, mut show: impl FnMut(u32, u16, &[u8])) {
    let header = |mut bytes: Bytes<'_>| {
        let (_version, header, first, _behind) = (bytes.u32()?, bytes.u32()?, bytes.u32()?, bytes.u32()?);
        Some((header, first, bytes.u32()?))
    };
    let Some((header, first, len)) = header(Bytes(stream)) else { return };
    let Some(records) = from(stream, header).and_then(|mut bytes| bytes.take_u32(len)) else { return };
    for (record, id) in Records::new(records, 0).zip(first..=last) {
        show(id, record.kind, record.data);
    }
}

fn function(kind: u16, mut data: Bytes<'_>) -> Option<(Scope, &[u8])> {
    let (scope, _type) = (data.u32()?, data.u32()?);
    let scope = match kind {
        LF_FUNC_ID if scope == 0 => Scope::None,
        LF_FUNC_ID => Scope::Text(scope),
        LF_MFUNC_ID => Scope::Class(scope),
        _ => return None,
    };
    Some((scope, data.text()))
}

fn string(kind: u16, mut data: Bytes<'_>) -> Option<&[u8]> {
    let _parts = data.u32()?;
    (kind == LF_STRING_ID).then(|| data.text())
}

fn class_name(kind: u16, mut data: Bytes<'_>) -> Option<&[u8]> {
    let numbers = match kind {
        _ if LF_CLASS.contains(&kind) => 16,
        LF_UNION => 8,
        LF_ENUM => 12,
        _ => return None,
    };
    data.skip(numbers)?;
    if kind != LF_ENUM {
        size(&mut data)?;
    }
    Some(data.text())
}

/// A number that stands for itself, or a kind with the number behind it.
fn size(data: &mut Bytes<'_>) -> Option<()> {
    let len = match data.u16()? {
        0..0x8000 => 0,
        0x8000 => 1,
        0x8001 | 0x8002 => 2,
        0x8003 | 0x8004 => 4,
        0x8009 | 0x800A => 8,
        _ => return None,
    };
    data.skip(len)
}
