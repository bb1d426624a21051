//! Binaries as sources of schemas.

use std::collections::HashMap;

use schema::model::EventSchema;
use schema::wevt::{self, Binary, Extract, MessageTable, Part, PartType};

use super::schemas::declared;
use crate::bytes::Bytes;
use crate::digest::Digest;
use crate::oracle;

/// American English.
const LANGUAGE: u16 = 0x409;

/// A message table behind its length in 16 bits, then the resource `WEVT_TEMPLATE`.
///
/// Oracles: those of manifests; what is kept of a binary reads back as it was; layouts take no more memory than they are allowed.
pub fn wevt(input: &[u8], digest: &mut Digest) {
    let mut bytes = Bytes::new(input);
    let len = bytes.u16();
    let table = bytes.take(len.into());
    let template = input.get(table.len() + 2..).unwrap_or_default();
    let part = |kind, bytes| Part { kind, language: LANGUAGE, bytes };
    let extract = Extract { parts: vec![part(PartType::Template, template), part(PartType::Messages, table)] };
    let file = extract.to_bytes();
    oracle::same(&Extract::parse(&file).as_ref(), &Ok(&extract));
    declarations(&file, input, digest);
}

fn declarations(file: &[u8], input: &[u8], digest: &mut Digest) {
    let manifest = wevt::parse(file).expect("what is kept of a binary can be read");
    digest.add((manifest.providers.len(), manifest.rejected.len()));
    let tail = &input[input.len().saturating_sub(64)..];
    let events = || manifest.providers.iter().flat_map(|provider| &provider.events);
    let kept: usize = events().map(|event| EventSchema::footprint(&event.schema)).sum();
    assert!(kept <= 96 << 20, "wevt: {kept} bytes of layouts");
    for provider in manifest.providers.iter().take(4) {
        declared(provider, tail, digest);
    }
    let is_read = events().next().is_some();
    digest.count("wevt", if is_read { "events" } else { "none" });
}

/// A message table.
///
/// Oracle: a plain reading of its blocks, one after the other, finds the same numbers.
pub fn message_table(input: &[u8], digest: &mut Digest) {
    let table = MessageTable::read(input, LANGUAGE);
    let plain = plain_entries(input);
    assert_eq!(table.len(), plain.len(), "message_table: texts");
    assert!(table.is_empty() == plain.is_empty() && table.len() <= input.len() / 4, "message_table: more than fit");
    let mut ids: Vec<u32> = plain.keys().copied().collect();
    ids.sort_unstable();
    for id in ids {
        let text = table.text(id).expect("a text that is there");
        assert!(text.len() <= 3 * plain[&id], "message_table: a text is no longer than its entry");
        digest.add(text);
    }
    for absent in [0, 1, 0x5000_0004, u32::MAX].into_iter().filter(|id| !plain.contains_key(id)) {
        assert_eq!(table.text(absent), None, "message_table: a text that is not there");
    }
}

/// The numbers of the texts, with the lengths of their entries.
fn plain_entries(input: &[u8]) -> HashMap<u32, usize> {
    let word = |at: usize| Some(u32::from_le_bytes(input.get(at..at + 4)?.try_into().ok()?));
    let half = |at: usize| Some(u16::from_le_bytes(input.get(at..at + 2)?.try_into().ok()?));
    let (mut found, mut seen) = (HashMap::new(), 0);
    for block in 0..word(0).unwrap_or(0) as usize {
        let head = 4 + block * 12;
        let (Some(first), Some(last), Some(place)) = (word(head), word(head + 4), word(head + 8)) else { break };
        let mut at = place as usize;
        for id in first..=last {
            let len = usize::from(half(at).unwrap_or(0));
            if seen == input.len() / 4 {
                return found;
            }
            if len < 4 || at + len > input.len() {
                break;
            }
            found.entry(id).or_insert(len);
            seen += 1;
            at += len;
        }
    }
    found
}

/// A binary with resources.
///
/// Oracles: those of `wevt`; what is kept of it are bytes of the file, and no more than once each name.
pub fn resources(input: &[u8], digest: &mut Digest) {
    let read = Binary::of_bytes("input.dll", input.to_vec());
    oracle::same(&Binary::of_bytes("input.dll", input.to_vec()), &read);
    let extract = match read.and_then(|binary| binary.extract()) {
        Ok(extract) => extract,
        Err(reason) => {
            return digest.count("resources", if reason == wevt::WITHOUT_EVENTS { "none" } else { "refused" });
        }
    };
    digest.count("resources", "kept");
    for part in Extract::parse(&extract).expect("what is kept of a binary can be read").parts {
        let is_inside = part.bytes.is_empty() || input.windows(part.bytes.len()).any(|bytes| bytes == part.bytes);
        assert!(is_inside, "resources: what is kept is no part of the file");
    }
    declarations(&extract, input, digest);
}
