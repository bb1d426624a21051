//! Annotations of the source code: texts that the intrinsic `__annotation` leaves beside the code, among them the formats of WPP
//! messages.
//!
//! A record `S_ANNOTATION` is an offset (u32), a segment (u16), the number of texts (u16), and the texts, each with a zero byte
//! behind it: `cvinfo.h` of microsoft/microsoft-pdb, `ANNOTATIONSYM`.

use std::collections::BTreeSet;

use super::directory::Dbi;
use super::records::{Records, S_ANNOTATION};
use crate::bytes::Bytes;
use crate::container::Streams;
use crate::found::Readable;

/// Hands on the annotations whose first text is `first`, without that one: those of the modules in their order, then those among
/// the globals. A module is in memory by itself, and each stream is read once, whatever the list of modules says: so all of it takes
/// no longer than reading the file.
pub(crate) fn each(streams: &Streams, dbi: &Dbi, first: &[u8], show: &mut dyn FnMut(&[&[u8]])) -> Readable<()> {
    let mut known = BTreeSet::new();
    for module in dbi.modules()? {
        if !known.insert(module.stream()) {
            continue;
        }
        let Some(module) = module.load(streams)? else { continue };
        // Behind the four bytes that say of which format the symbols are.
        among(Records::new(module.symbols()?, 4), first, show);
    }
    if known.insert(dbi.globals)
        && let Some(globals) = streams.named_by(dbi.globals)?
    {
        among(Records::new(&globals, 0), first, show);
    }
    Ok(())
}

fn among(records: Records<'_>, first: &[u8], show: &mut dyn FnMut(&[&[u8]])) {
    for record in records.filter(|record| record.kind == S_ANNOTATION) {
        let texts = texts(Bytes(record.data));
        if let Some((kind, rest)) = texts.split_first()
            && *kind == first
        {
            show(rest);
        }
    }
}

/// The texts of a record, which has no more of them than bytes.
fn texts(mut data: Bytes<'_>) -> Vec<&[u8]> {
    let head = |data: &mut Bytes<'_>| {
        data.skip(6)?;
        data.u16()
    };
    let count = head(&mut data).unwrap_or(0);
    let mut texts = Vec::new();
    while texts.len() < usize::from(count) && !data.is_empty() {
        texts.push(data.text());
    }
    texts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_are_no_more_texts_than_are_counted_and_there() {
        let head = |count: u8| [0, 0, 0, 0, 1, 0, count, 0];
        for (count, bytes, expected) in [
            (2, &b"TMF:\0a b\0pad\0"[..], &[&b"TMF:"[..], b"a b"][..]),
            (9, b"TMF:\0\0a", &[b"TMF:", b"", b"a"]),
            (0, b"TMF:\0", &[]),
            (3, b"", &[]),
        ] {
            assert_eq!(texts(Bytes(&[&head(count)[..], bytes].concat())), expected, "{bytes:?}");
        }
        assert_eq!(texts(Bytes(&[0; 7])), Vec::<&[u8]>::new());
    }
}
